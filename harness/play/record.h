/* SPDX-License-Identifier: MIT */
/* What happens under a gate, told as the steps of a race. */
#ifndef RR_RECORD_H
#define RR_RECORD_H

#include "rehearsal.h"

/* A race without steps for a rehearsal's clients, servers and keys; NULL when
 * out of memory. */
struct rr_race *rr_record_race(const struct rr_rehearsal_setup *setup);

/* Tells an event of the gate: as one step, as several or as none. */
void rr_record_event(struct rr_rehearsal *rehearsal,
		     const struct rr_gate_event *event);

/* Those whose increments have been acknowledged since the last call. */
void rr_record_counts(struct rr_rehearsal *rehearsal);

/* A server comes back empty. */
void rr_record_restart(struct rr_rehearsal *rehearsal, int server);

void rr_record_note(struct rr_rehearsal *rehearsal, const char *text);

#endif

/* SPDX-License-Identifier: MIT */
/* What the files that tell a rehearsal share. */
#ifndef RR_RECORD_PARTS_H
#define RR_RECORD_PARTS_H

#include "record.h"

/* A copy that lives as long as the race; NULL, and the rehearsal has failed. */
char *record_keep(struct rr_rehearsal *rehearsal, const char *text);

/* Another step and its event; NULL, and the rehearsal is full. */
struct rr_event *record_add(struct rr_rehearsal *rehearsal,
			    enum rr_step_kind kind, int actor,
			    struct rr_step **step);

/* Looks at the keys and the lock after a step; `remark` says what it broke. */
void record_look(struct rr_rehearsal *rehearsal, struct rr_event *event,
		 char remark[RR_REMARK_SIZE]);

/* A command that was executed, and its reply. */
void record_command(struct rr_rehearsal *rehearsal, int client,
		    const struct rr_gate_event *gate_event);

#endif

/* SPDX-License-Identifier: MIT */
/* A strategy's clients under a gate on private servers, moved by a script. */
#ifndef RR_TEST_GATED_H
#define RR_TEST_GATED_H

#include "../support.h"

#include "scheduler/choosers.h"
#include "scheduler/subject.h"

struct gated {
	struct support support;
	struct rr_subject *subject;
	struct rr_subject_result result;
	char *trace; /* of the last run, tokens masked */
};

/* Two clients, one increment each, separate processes, keys counter:0 and
 * lock:0; `change` may change that, or is NULL. */
void gated_open(struct gated *gated, const char *strategy,
		void (*change)(struct rr_subject_config *config));
void gated_close(struct gated *gated);

/* One run, which must not fail. */
void gated_run(struct gated *gated, rr_choose choose, void *context);

/* One run by a script, one word per choice: "A" or "A'" takes a step, "!A"
 * crashes, "?A" loses a reply, "~A" stands still until 5 s, "." lets time pass
 * until somebody can go on, "+" one hour. Afterwards the others go on one after
 * the other, until time would have to pass for the 50th time. */
void gated_play(struct gated *gated, const char *script);

/* How everything stood when the last run ended. */
const struct rr_view *gated_view(const struct gated *gated);

/* Where a line stands in the trace, from 0; -1 = nowhere. */
int gated_line(const struct gated *gated, const char *part);

#endif

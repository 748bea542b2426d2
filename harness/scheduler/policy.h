/* SPDX-License-Identifier: MIT */
/*
 * What a client does when it does not get the lock: the three ways of document
 * 001 (QF-1 to QF-3), and the one of this program.
 */
#ifndef RR_POLICY_H
#define RR_POLICY_H

#include "base/random.h"
#include "strategy.h"

enum rr_policy {
	RR_POLICY_BACKOFF,     /* waits longer every time, at random; asks again */
	RR_POLICY_FAIL_FAST,   /* gives this increment up */
	RR_POLICY_SLEEP,       /* waits for a fixed time, asks again */
	RR_POLICY_DELAY_QUEUE, /* puts it off, goes on with the next one */
	RR_POLICIES
};

enum { RR_POLICY_TEXT_SIZE = 48 };

/* "backoff", "fail-fast", "sleep", "delay-queue". */
extern const char *const rr_policy_names[RR_POLICIES];

/* What is in use when `asked` is asked for: a strategy that refuses nobody
 * has no use for any, and then it is the default. */
enum rr_policy rr_policy_for(enum rr_policy asked,
			     const struct rr_strategy *strategy);

/* Why the strategy cannot be run so, with so many workers to be killed; NULL
 * when it can. */
const char *rr_policy_objection(enum rr_policy asked,
				const struct rr_strategy *strategy, long kills);

/* With its figures, "sleep:400us"; "none" for a strategy that refuses nobody. */
const char *rr_policy_text(enum rr_policy policy,
			   const struct rr_strategy *strategy,
			   char text[RR_POLICY_TEXT_SIZE]);

/* How long to wait after so many refusals in a row before this one. */
int64_t rr_policy_wait_ns(enum rr_policy policy, const struct rr_wait *wait,
			  uint64_t refusals, struct rr_random *random);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * One attempt at one increment: asked for the lock once, if there is one, counted
 * if it was granted, given back. Every driver of a strategy makes it: bench at full
 * speed, the scheduler step by step. It allocates, locks and prints nothing.
 */
#ifndef RR_ATTEMPT_H
#define RR_ATTEMPT_H

#include "base/random.h"
#include "strategy.h"

/* What a driver is told meanwhile; any of them may be NULL. */
struct rr_attempt_hooks {
	void (*enter)(void *context); /* it is granted; before the mark */
	/* Instead of the strategy's own, in the critical section. */
	enum rdl_outcome (*increment)(void *context);
	void (*leave)(void *context);       /* after the mark, before the release */
	void (*acknowledge)(void *context); /* its write was answered */
	/* Asked after a lock was granted and after the write was answered: is that
	 * as safe as it is to be? False: the lock is given back as if it had been
	 * refused, and of the write nothing is known. */
	bool (*confirm)(void *context);
};

struct rr_attempt {
	const struct rr_strategy *strategy;
	struct rr_client *client;
	const struct rr_attempt_hooks *hooks;
	void *context;             /* of the hooks */
	bool entered;              /* it got its lock ... */
	enum rdl_outcome released; /* ... and gave it back; RDL_OK: it had none */
};

/* What became of the increment. An acquire without a known end has counted nothing:
 * RDL_LOST. */
enum rdl_outcome rr_attempt_make(struct rr_attempt *attempt);

/* ---- Between attempts ------------------------------------------------------ */

/* What a client does when it does not get the lock: the three ways of document
 * 001 (QF-1 to QF-3), and the one of this program. */
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
enum rr_policy rr_policy_for(enum rr_policy asked, const struct rr_strategy *strategy);

/* Why the strategy cannot be run so, with so many workers to be killed; NULL
 * when it can. */
const char *rr_policy_objection(enum rr_policy asked, const struct rr_strategy *strategy,
				long kills);

/* With its figures, "sleep:400us"; "none" for a strategy that refuses nobody. */
const char *rr_policy_text(enum rr_policy policy, const struct rr_strategy *strategy,
			   char text[RR_POLICY_TEXT_SIZE]);

/* How long to wait after so many refusals in a row before this one. */
int64_t rr_policy_wait_ns(enum rr_policy policy, const struct rr_wait *wait, uint64_t refusals,
			  struct rr_random *random);

#endif

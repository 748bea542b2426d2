/* SPDX-License-Identifier: MIT */
/*
 * One attempt at one increment: asked for the lock once, if there is one, counted
 * if it was granted, given back. Every driver of a strategy makes it: bench at full
 * speed, the scheduler step by step. It allocates, locks and prints nothing.
 */
#ifndef RR_ATTEMPT_H
#define RR_ATTEMPT_H

#include "strategy.h"

/* What a driver is told meanwhile; any of them may be NULL. */
struct rr_attempt_hooks {
	void (*enter)(void *context); /* it is granted; before the mark */
	/* Instead of the strategy's own, in the critical section. */
	enum rl_outcome (*increment)(void *context);
	void (*leave)(void *context); /* after the mark, before the release */
	void (*acknowledge)(void *context); /* its write was answered */
};

struct rr_attempt {
	const struct rr_strategy *strategy;
	struct rr_client *client;
	const struct rr_attempt_hooks *hooks;
	void *context;           /* of the hooks */
	bool entered;            /* it got its lock ... */
	enum rl_outcome released; /* ... and gave it back; RL_OK: it had none */
};

/* What became of the increment. An acquire without a known end has counted nothing:
 * RL_LOST. */
enum rl_outcome rr_attempt_make(struct rr_attempt *attempt);

#endif

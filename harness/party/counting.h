/* SPDX-License-Identifier: MIT */
/*
 * A strategy's clients as programs: each adds 1 to the counter so many times and
 * ends. One attempt of an increment is what the strategy's comment shows; who is
 * refused begins another.
 */
#ifndef RR_COUNTING_H
#define RR_COUNTING_H

#include "client_run.h"
#include "term/term.h"
#include "cluster/cluster.h"
#include "strategy.h"

struct rr_counting {
	const struct rr_strategy *strategy;
	size_t n_servers;
	long increments; /* of each */
	long ttl_ms, hold_us;
	bool repeats; /* an increment of which it does not know, too */
	char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];
	bool cannot_open; /* a client's open failed */
	struct rr_terms *terms;
	struct rr_exchange exchanges[RR_RUN_CLIENTS]; /* of the first client and each */
};

/* Fills in make, run and free of `program`, whose context must be `counting`. */
void rr_counting_init(struct rr_counting *counting, struct rr_program *program);
void rr_counting_release(struct rr_counting *counting);

/* Clients are taken for equal but for their random values: what is known of the first is
 * known of all. */
void rr_counting_share(struct rr_counting *counting, struct rr_program *program);

#endif

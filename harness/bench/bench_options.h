/* SPDX-License-Identifier: MIT */
/* What `redrace bench` was asked to do. */
#ifndef RR_BENCH_OPTIONS_H
#define RR_BENCH_OPTIONS_H

#include "cluster/cluster.h"
#include "scheduler/policy.h"
#include "strategy.h"

enum { RR_CHOSEN_MAX = 64, RR_SWEEP_MAX = 16, RR_CLIENTS_MAX = 4096 };

enum rr_pin { RR_PIN_DEFAULT, RR_PIN_SAME, RR_PIN_NONE };

struct rr_bench_options {
	const struct rr_strategy *strategies[RR_CHOSEN_MAX];
	size_t n_strategies;
	bool all; /* strategies, by name or not */
	long threads[RR_SWEEP_MAX]; /* a run for each */
	size_t n_threads;
	long processes, increments, repeats, warmup, keys, ttl_ms, hold_us;
	uint64_t seed;
	enum rr_policy policy;
	long kill_workers;
	enum rr_persistence persistence;
	enum rr_pin pin;
	const char *redis_server;
	struct rl_address
		redis[RR_CLUSTER_SERVERS]; /* the user's own, n_redis > 0 */
	size_t n_redis;
	const char *output; /* NULL = a fresh directory under results/ */
};

/* Reads the command line; does not return when it is wrong (exit 64, one line)
 * or asks for help (exit 0). `argv[0]` is what messages begin with. */
void rr_bench_options_parse(struct rr_bench_options *options, int argc,
			    char **argv);

/* Prints the help page to stdout. */
void rr_bench_options_help(void);

#endif

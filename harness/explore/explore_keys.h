/* SPDX-License-Identifier: MIT */
/* The options of `redrace explore`, as argp knows them. */
#ifndef RR_EXPLORE_KEYS_H
#define RR_EXPLORE_KEYS_H

#include <argp.h>

enum {
	KEY_CLIENTS = 0x100,
	KEY_INCREMENTS,
	KEY_PROCESSES,
	KEY_ALL,
	KEY_CRASHES,
	KEY_EXPIRIES,
	KEY_PAUSES,
	KEY_LOST,
	KEY_RESTARTS,
	KEY_STAYS_AWAY,
	KEY_JUMPS,
	KEY_LATE,
	KEY_SKEW,
	KEY_SLOW_WORK,
	KEY_LOCK_SERVERS,
	KEY_ROUNDS,
	KEY_TTL,
	KEY_MOST,
	KEY_MEMORY,
	KEY_AUDIT,
	KEY_MUTANTS,
	KEY_STATS,
	KEY_DOT,
	KEY_JSON,
	KEY_RANDOM,
	KEY_SEED,
	KEY_DEPTH,
	KEY_JOBS,
	KEY_SAVE,
	KEY_REDIS_SERVER,
};

extern const struct argp_option rr_explore_keys[];

#endif

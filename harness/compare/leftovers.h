/* SPDX-License-Identifier: MIT */
/*
 * What a crashed client leaves on the server that it would have taken away itself.
 *
 * Its leases are keys with a time to live that it wrote last, and that its own complete run
 * removes or puts back: a lock. They end by themselves, so that nothing else may depend on them:
 * without them, and only without them, the data must be those of a serial execution.
 *
 * Its records are keys or members without a time to live that its complete run leaves as they were:
 * an entry of a processing list, a member of a sorted set, a pending entry of a stream. They stay
 * until somebody removes them; that is the business of a successor, the program once more.
 *
 * Whatever a complete run leaves otherwise than it was is work, of which all must be done or none.
 * What complete runs do is seen in serial executions, part by part: each member of a set, sorted
 * set or list, each field of a hash and each pending entry of a consumer is compared by itself.
 */
#ifndef RR_LEFTOVERS_H
#define RR_LEFTOVERS_H

#include "contents.h"

struct rr_serial;

/* Which parts the complete runs of each operation take away again. */
struct rr_upkeep {
	struct rr_intern parts; /* operation, key, member */
	uint8_t *fates;         /* of each, bits */
	struct rr_intern seen;  /* what was compared */
	bool is_known;
};

/* Looks at all turns of serial executions. False: contents->table->error. */
bool rr_upkeep_learn(struct rr_upkeep *upkeep, const struct rr_serial *serial,
		     struct rr_contents *contents);
void rr_upkeep_release(struct rr_upkeep *upkeep);

enum { RR_LEASES_MAX = 32 };

/* Of the operations that crashed before a state was reached. */
struct rr_leftovers {
	struct rr_contents *contents;
	uint32_t cleared; /* what the state holds without them, a number of the terms' replies */
	size_t n_leases;
	const struct rdl_reply *leases[RR_LEASES_MAX]; /* their keys, RR_KEY_PARTS elements each */
	size_t n_records;
	int64_t lapse_ns; /* that has passed since the crash: keys have so much less time left */
	/* Of keys that are locks: who wrote each last (struct rr_common). NULL = nobody looked. */
	const struct rr_locks *locks;
	const uint16_t *makers;
};

/* `left` has contents, lapse and locks, and gets the rest. `crashed`: operations, as bits. False: the
 * table's error. */
bool rr_leftovers_find(struct rr_leftovers *left, const struct rr_upkeep *upkeep, uint32_t server,
		       uint32_t crashed);

/* What the state holds without leftovers, with the times of keys that another one has (a number),
 * as far as time has passed. */
uint32_t rr_leftovers_beside(const struct rr_leftovers *left, uint32_t other);

/* The server's state when the leases have ended; RR_NO_ID: the table's error. */
uint32_t rr_leftovers_end_leases(const struct rr_leftovers *left, uint32_t server);

/* How the rest differs from what a serial execution leaves, a number. */
enum rr_shortfall {
	RR_SHORT_OF_WORK,  /* in some other way */
	RR_SHORT_OF_TIMES, /* keys have no end that have one there */
	RR_SHORT_OF_PARTS  /* there is less, and nothing else */
};
enum rr_shortfall rr_leftovers_shortfall(const struct rr_leftovers *left, uint32_t other);

#endif

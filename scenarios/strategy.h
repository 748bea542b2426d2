/* SPDX-License-Identifier: MIT */
/*
 * What a strategy is: one way of adding 1 to a counter that others add to as
 * well. Each is one file of this folder; strategies.c lists them all, and
 * `list`, `bench`, the tests and the documentation read that list.
 *
 * How a driver uses one (bench at full speed, others step by step):
 *
 *	open      once per client and key, before anything else
 *	acquire   ask for the lock, once:    RDL_BUSY = wait, then ask again
 *	increment read, work, write, once:   RDL_BUSY = nothing stored, again
 *	release   give the lock back, whatever increment said; with
 *	          writes_at_release increment only queues its write, and
 *	          release sends it, answers for it, and leaves in
 *	          client->given_back what became of the lock
 *	close     once, at the end; the lock is not held
 *
 * An op that is NULL is left out. A strategy without acquire claims no
 * exclusion, only the count. Waiting, repeating, counting and output are the
 * driver's: a strategy contains none of it. All ops of one client are called
 * from one thread.
 *
 * To add a strategy: write scenarios/NAME.c, ending in
 * `const struct rr_strategy rr_NAME`, and add one line to strategies.c and one
 * to expected.c: what breaks it.
 */
#ifndef RR_STRATEGY_H
#define RR_STRATEGY_H

#include "driver.h"
#include "redislock.h"

/* One client of the counter, as a strategy sees it. */
struct rr_client {
	struct rdl_link *data;        /* the server that holds the counter */
	struct rdl_link **lock_nodes; /* lock servers of their own, or NULL */
	size_t n_lock_nodes;
	const char *counter;         /* the counter's key */
	const char *lock;            /* the key of the lock around it */
	struct rdl_mutex *mutex;     /* this process's mutex around it */
	long ttl_ms;                 /* the lease a lock is taken for */
	long hold_us;                /* work between reading and writing */
	char token[RDL_TOKEN_SIZE];  /* of a token lock: what its key holds */
	void *state;                 /* the strategy's own, made by open */
	enum rdl_outcome given_back; /* of a release that writes, too */
};

/* What a strategy is there for. */
enum rr_group {
	RR_BEYOND,   /* what the documents do not speak of */
	RR_EIGHT,    /* one of the eight that the documents compare */
	RR_BROKEN,   /* a mistake of theirs or of their readers, on purpose */
	RR_REPAIRED, /* a broken one, put right as far as it goes */
	RR_GROUPS
};

/* What keeps others out of the critical section. */
enum rr_lock_kind {
	RR_LOCK_NONE,      /* nothing does; only the count is promised */
	RR_LOCK_MUTEX,     /* a mutex of the process, and no key */
	RR_LOCK_KEY,       /* a key that is there while the lock is held */
	RR_LOCK_TIMESTAMP, /* the key's value: the second at which it ends */
	RR_LOCK_COUNTER,   /* the key's value: everybody who asks adds 1 */
	RR_LOCK_QUORUM,    /* a key on each of several lock servers */
	RR_LOCK_QUEUE,     /* a key that is handed on to the first in line:
			    * acquire waits for the message that says so */
	RR_LOCK_KINDS
};

/* "none", "mutex", "key", ... */
extern const char *const rr_lock_kind_names[RR_LOCK_KINDS];

/* Does the lock run out by itself, and after what? */
enum rr_lease { RR_LEASE_NONE, RR_LEASE_IN_MS, RR_LEASE_IN_SECONDS };

struct rr_lock {
	enum rr_lock_kind kind;
	enum rr_lease lease;
	size_t servers;      /* lock servers, besides the data server */
	unsigned leases_max; /* in a row, where it is renewed; 0 = 1 */
	bool has_renewer;    /* a thread with a connection of its own */
	bool is_fenced;      /* the store refuses who is late, so that a late
			      * holder may be inside with the next one */
};

/* How a waiter waits after RDL_BUSY, as data: the n-th wait in a row is random
 * between half of min_us * 2^n and all of it, and never above max_us. */
struct rr_wait {
	long min_us;
	long max_us;
};

struct rr_strategy {
	const char *name;     /* file stem, command line, CSV and plot label */
	const char *summary;  /* the commands, in one line */
	const char *document; /* where it is from */
	enum rr_group group;
	bool is_basic; /* bench runs it with the eight, when no name is given */
	struct rr_lock lock;
	struct rr_wait wait;
	size_t connections;     /* that it opens besides those it gets */
	const char *remedy;     /* one that does without faults what this one
				 * fails to, to be compared; NULL = none */
	bool writes_at_release; /* increment's write goes out with it */

	enum rdl_outcome (*open)(struct rr_client *client);
	enum rdl_outcome (*acquire)(struct rr_client *client);
	enum rdl_outcome (*increment)(struct rr_client *client);
	enum rdl_outcome (*release)(struct rr_client *client);
	void (*close)(struct rr_client *client);
	/* NULL: data's, or that too few lock servers have answered */
	const char *(*error)(const struct rr_client *client);
	/* What the server would need for it, as in "this server has no DELEX";
	 * NULL: all there. May write and expire the spare key. */
	const char *(*lacks)(struct rdl_link *data, const char *spare_key);
};

/* ---- The table (strategies.c) ------------------------------------------ */

extern const struct rr_strategy *const rr_strategies[];
extern const size_t rr_n_strategies;

/* By name; NULL when there is none. */
const struct rr_strategy *rr_strategy_find(const char *name);

/* The name of the one with this index; NULL behind the last one. */
const char *rr_strategy_name(size_t index);

/* Was an attempt refused, so that to wait and to ask again is all there is to
 * do? From a quorum that is also an error before the client got in: too few
 * servers answered. */
bool rr_was_refused(const struct rr_strategy *strategy, enum rdl_outcome outcome, bool has_entered);

/* ---- The counter (counter.c) ------------------------------------------- */

/* The count in a reply to GET; no key counts as 0. False: it is no number. */
bool rr_count_of(const struct rdl_reply *reply, long long *value);

/* GET, where no key reads as 0. */
enum rdl_outcome rr_get_counter(struct rr_client *client, long long *value);

/* SET. */
enum rdl_outcome rr_set_counter(struct rr_client *client, long long value);

/* MULTI, SET, EXEC. RDL_BUSY: a key that was watched has been written. */
enum rdl_outcome rr_set_in_transaction(struct rr_client *client, long long value);

/* The work that lies between reading and writing: `hold_us` of it. */
void rr_work(struct rr_client *client);

/* GET, work, SET value + 1: the increment that needs a lock around it. */
enum rdl_outcome rr_get_add_set(struct rr_client *client);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What every lock of the library promises, tested from one table: a row says
 * how a lock is made and used, a case is run once with each row. A new lock
 * gets all cases by a row in locks_table.c.
 */
#ifndef RR_TEST_CONFORMANCE_H
#define RR_TEST_CONFORMANCE_H

#include "../support.h"

#include <criterion/parameterized.h>

enum { STAGE_SERVERS_MAX = 5, STAGE_KEY_SIZE = 32 };

struct lock_row {
	const char *name;
	size_t n_servers;               /* that it stands on */
	const char *acl;                /* what its user may not do; NULL = the default user */
	enum rdl_release_method method; /* its release then; UNTRIED = any */
	bool may_be_unknown;            /* a lost reply to try is not made up for, but said */
	bool is_got_again;              /* by its own holder, who asks for it again */
	long pause_max_us;              /* of waiters that are many; 0 = the lock's own */

	/* hold_max_ms is for locks that renew themselves. */
	void *(*make)(struct rdl_link **links, size_t n, const char *key, long hold_max_ms);
	enum rdl_outcome (*try)(void *lock, long ttl_ms);
	enum rdl_outcome (*acquire)(void *lock, long ttl_ms, const struct rdl_policy *policy);
	enum rdl_outcome (*extend)(void *lock, long ttl_ms); /* or NULL */
	/* rdl_renewer_add() of its kind; NULL = no renewer takes it. */
	enum rdl_outcome (*renew)(struct rdl_renewer *renewer, void *lock, long hold_max_ms);
	long (*remaining_ms)(const void *lock);
	enum rdl_outcome (*release)(void *lock);
	void (*free)(void *lock);
	const struct rdl_stats *(*stats)(const void *lock);
};

extern const struct lock_row lock_rows[];
extern const size_t n_lock_rows;

/* ---- The scene (scene.c) -------------------------------------------------- */

/* Private servers for one row, and a look at them past the lock. */
struct scene {
	struct support support;
	const struct lock_row *row;
	size_t n_servers;
	struct rdl_link *admins[STAGE_SERVERS_MAX];
	long hold_max_ms; /* for the parties that are opened next */
};
void scene_open(struct scene *scene, size_t row);
void scene_close(struct scene *scene);

/* Where a party finds server `i`: as the row's user. */
struct rdl_address scene_address(const struct scene *scene, size_t i);

/* Sends a command to every server; fails the test when one refuses it. */
void scene_command(struct scene *scene, const char *command);

/* On how many servers the key is. */
size_t scene_count(struct scene *scene, const char *key);

/* kill -9 of all servers; and empty ones in their places, as before. */
void scene_kill(struct scene *scene);
void scene_restart(struct scene *scene);

/* One who wants the lock: links and a lock object of its own. */
struct rival {
	const struct scene *scene;
	struct rdl_link *links[STAGE_SERVERS_MAX];
	void *lock;
};
void rival_open(struct scene *scene, struct rival *party, const char *key);
void rival_close(struct rival *party);

enum rdl_outcome rival_try(struct rival *party, long ttl_ms);
enum rdl_outcome rival_release(struct rival *party);
long rival_remaining_ms(const struct rival *party);

/* Acquires with wait_ms and nothing else. */
enum rdl_outcome rival_wait(struct rival *party, long ttl_ms, long wait_ms);

/* Holds it afterwards, or the test has failed. */
void rival_get(struct rival *party, long ttl_ms);

/* Releases again while the answer is that there is none. */
enum rdl_outcome rival_settle(struct rival *party);

/* The test fails, naming the row, unless `got` is `wanted`. */
void scene_expect(const struct scene *scene, const char *what, enum rdl_outcome got,
		  enum rdl_outcome wanted);

/* As many servers have the key as a held lock needs; or none has. */
void scene_expect_held(struct scene *scene, const char *key);
void scene_expect_free(struct scene *scene, const char *key);

/* Milliseconds of the monotonic clock, and a pause. */
int64_t scene_now_ms(const struct scene *scene);
void scene_sleep_ms(const struct scene *scene, long ms);

/* ---- Cases ---------------------------------------------------------------- */

/* The indices of all rows, as parameters. */
struct criterion_test_params every_lock(void);

#define FOR_EVERY_LOCK(suite, name)              \
	ParameterizedTestParameters(suite, name) \
	{                                        \
		return every_lock();             \
	}                                        \
	ParameterizedTest(size_t *row, suite, name)

#endif

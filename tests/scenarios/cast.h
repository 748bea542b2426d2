/* SPDX-License-Identifier: MIT */
/*
 * Clients of one strategy on a private server, moved step by step by a test:
 * something may happen just before a client's command, and the clock of all of
 * them stands where the test puts it.
 */
#ifndef RR_TEST_CAST_H
#define RR_TEST_CAST_H

#include "../support.h"

struct cast;

struct actor {
	struct cast *cast;
	struct support_client client;
	struct rl_driver driver;
	const char *before;         /* once, before this command goes out, */
	void (*act)(struct cast *); /* this happens, if it is not NULL, */
	bool dies;                  /* and the client sends no more */
	bool loses_a_reply;         /* the next one, once */
};

struct cast {
	struct support support;
	const struct rr_strategy *strategy;
	struct actor a, b, c;
	struct rl_link *other; /* somebody else */
	int64_t clock_s;       /* 1000 to begin with */
};

void cast_open(struct cast *cast, const char *strategy);
void cast_close(struct cast *cast);

enum rl_outcome cast_acquire(struct actor *actor);
enum rl_outcome cast_increment(struct actor *actor);
enum rl_outcome cast_release(struct actor *actor);

/* A's `operation`, one of these, when `act` happens just before its `command`.
 * The test fails unless A sends that. */
enum rl_outcome cast_interrupt(struct cast *cast,
			       enum rl_outcome (*operation)(struct actor *),
			       const char *command, void (*act)(struct cast *));

/* After A's release C gets the lock, although B took it over just before A's
 * DEL, by `takes_over`: A's release is not atomic. */
void cast_assert_release_deletes_bs_lock(const char *strategy,
					 void (*takes_over)(struct cast *));

/* What somebody else is answered; support_ask(). */
const char *cast_ask(struct cast *cast, const char *command, const char *key);

/* Somebody else writes. */
void cast_set(struct cast *cast, const char *key, const char *value);

/* The lease of the lock ends now. */
void cast_expire(struct cast *cast);

#endif

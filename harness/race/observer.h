/* SPDX-License-Identifier: MIT */
/*
 * Watches a race and finds what it breaks: who is inside, whose lock it is, what
 * was counted, what was there before a fault. It is told what happened and what
 * the keys hold, and asks nobody.
 */
#ifndef RR_OBSERVER_H
#define RR_OBSERVER_H

#include "trace.h"

enum { RR_REMARK_SIZE = 160, RR_VALUE_SIZE = 512 };

/* What a lock's key holds; expires_ns of virtual time, -1 = never. */
struct rr_lock_state {
	char value[RR_VALUE_SIZE]; /* "(nil)" = not there */
	int64_t expires_ns;
};

struct rr_observer {
	const struct rr_race *race;
	rr_findings findings;
	char conclusion[RR_FINDINGS][RR_REMARK_SIZE];
	bool inside[RR_ACTORS_MAX];
	bool crashed[RR_ACTORS_MAX];
	int owner;             /* who made the lock; -1 = nobody we know of */
	bool owner_entered;    /* since then */
	struct rr_lock_state lock;
	long long counted;
	char together[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE]; /* at the beginning */
};

void rr_observer_begin(struct rr_observer *observer,
		       const struct rr_race *race);

/* A mark: enters, leaves, counts, crashes, connects. `remark` says what it
 * broke, "" = nothing; so below. */
void rr_observer_mark(struct rr_observer *observer, const struct rr_step *step,
		      char remark[RR_REMARK_SIZE]);

/* The lock after a step of `actor` (-1 = time, a fault); now_s is the second
 * of the epoch that a client would read. */
void rr_observer_lock(struct rr_observer *observer, int actor,
		      const struct rr_lock_state *lock, long long now_s,
		      char remark[RR_REMARK_SIZE]);

/* A client has read the reply to a command of somebody else's. */
void rr_observer_crossed(struct rr_observer *observer, int reader, int sender,
			 char remark[RR_REMARK_SIZE]);

/* A key that held `before` holds `after` when the server is back. */
void rr_observer_survived(struct rr_observer *observer, const char *key,
			  const char *before, const char *after,
			  char remark[RR_REMARK_SIZE]);

/* At the end: the counter's value, and those of the keys that belong together,
 * as rr_wire prints them. */
void rr_observer_end(struct rr_observer *observer, const char *counter,
		     char *together[RR_KEYS_SHOWN_MAX]);

#endif

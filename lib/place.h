/* SPDX-License-Identifier: MIT */
/*
 * A place: a token with a lease that scripts put into keys which several clients share. What
 * the semaphore and the read-write lock have in common.
 */
#ifndef RDL_PLACE_H
#define RDL_PLACE_H

#include "hold.h"
#include "inspect.h"
#include "renewer.h"

/*
 * The arguments of each: the place's keys; its token, and ttl in ms. Each answers 1 or 0. A token
 * that is there already is granted with the lease that it has, so that the question may be
 * repeated.
 */
struct rdl_place_scripts {
	const char *enter;  /* 1: the token is there; 0: refused. Has two more arguments */
	const char *extend; /* 1: its lease lasted, and lasts ttl ms from now; 0: it had ended */
	const char *leave;  /* 1: its lease lasted, and it is gone; 0: it had ended */
};

struct rdl_place {
	struct rdl_link *link;
	struct rdl_hold hold;
	const struct rdl_place_scripts *scripts; /* by which the token came in; NULL = none did */
	const char *keys[3];                     /* the last two NULL: one key */
	char label[RDL_LABEL_SIZE];
	long ttl_ms; /* of the attempt on its way */
	char token[RDL_LABELLED_SIZE];
};

/* A script's microseconds of the server, as `now`. */
#define RDL_PLACE_NOW "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2] "

/* Removes the tokens whose lease has ended from the sorted set, token -> end. */
#define RDL_PLACE_SWEEP(set) "redis.call('ZREMRANGEBYSCORE', " set ", '-inf', now) "

/* clang-format off */
/* Gives ARGV[1] a lease in the sorted set, which expires after its last lease. */
#define RDL_PLACE_LEASE(set)                                                           \
	"redis.call('ZADD', " set ", now + ARGV[2] * 1000, ARGV[1]) "                  \
	"local last = redis.call('ZRANGE', " set ", -1, -1, 'WITHSCORES')[2] "         \
	"redis.call('PEXPIRE', " set ", math.ceil((last - now) / 1000) + 1) return 1"

/* Extends the lease of ARGV[1] in the sorted set, and gives it back. */
#define RDL_PLACE_EXTEND(set)                                                          \
	RDL_PLACE_NOW RDL_PLACE_SWEEP(set)                                             \
	"if not redis.call('ZSCORE', " set ", ARGV[1]) then return 0 end "             \
	RDL_PLACE_LEASE(set)
#define RDL_PLACE_LEAVE(set)                                                           \
	RDL_PLACE_NOW RDL_PLACE_SWEEP(set)                                             \
	"return redis.call('ZREM', " set ", ARGV[1])"
/* clang-format on */

/* What a lock asks with, beside its token and lease. */
struct rdl_place_request {
	const struct rdl_place_scripts *scripts;
	long number;      /* an argument of `enter` */
	const char *word; /* another one, of a place with three keys */
};

/* As rdl_lock_try(); ttl_ms from 1 ms to ten years. */
enum rdl_outcome rdl_place_try(struct rdl_place *place, const struct rdl_place_request *request,
			       long ttl_ms);

/* As rdl_lock_extend() and rdl_lock_release(). */
enum rdl_outcome rdl_place_extend(struct rdl_place *place, long ttl_ms);
enum rdl_outcome rdl_place_release(struct rdl_place *place);

/* What a renewer needs to know of `lock`, which has this place. */
struct rdl_renewable rdl_place_renewable(struct rdl_place *place, void *lock);

#endif

/* SPDX-License-Identifier: MIT */
/* A fair lock's inside, for its files. */
#ifndef RL_FAIR_H
#define RL_FAIR_H

#include "hold.h"

enum { RL_FAIR_TOKEN_SIZE = RL_TOKEN_SIZE + 48 };

/* Ten years; in nanoseconds, and in per mille of them, still a number. */
#define RL_FAIR_TTL_MAX_MS (INT64_C(3650) * 24 * 3600 * 1000)

struct rl_fair {
	struct rl_link *link;
	struct rl_link *wake; /* subscribed to this object's channel */
	struct rl_hold hold;
	uint64_t subscribed_on; /* the wake link's connection; 0 = none */
	pid_t owner;            /* the process that `object` was made in */
	unsigned long attempts;
	bool in_line;       /* `token` may stand there, or hold the lock */
	bool asked;         /* and did so before this attempt */
	bool indeterminate; /* and a request with it may arrive yet */
	bool giving_back;   /* a release was sent, and not answered */
	long ttl_ms;
	char object[RL_TOKEN_SIZE];
	char token[RL_FAIR_TOKEN_SIZE];
	char *key, *line, *channel;
	char *data; /* the key whose value comes along, or NULL */
	struct rl_reply carried;
};

/* Before standing in line: who does not listen is passed over. */
enum rl_outcome rl_fair_subscribe(struct rl_fair *fair);

/*
 * Before a question is repeated, and after its time was taken: throws away the
 * messages of hand-overs before it. They have the same token, and their lease
 * may be over: counted from the new question it would seem to have just begun.
 */
enum rl_outcome rl_fair_catch_up(struct rl_fair *fair);

/* rl_fair_wait() that ends as well when `cancel_fd` is readable; -1 = none. */
enum rl_outcome rl_fair_stand(struct rl_fair *fair, int64_t wait_ns, int cancel_fd);

/* Never, as far as anybody can tell, and still a number in nanoseconds. */
int64_t rl_fair_wait_ns(long wait_ms);

/* Out of the line. RL_OK: the lock had come to us, and is given on. RL_LOST: it
 * had not. */
enum rl_outcome rl_fair_leave_line(struct rl_fair *fair);

#endif

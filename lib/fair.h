/* SPDX-License-Identifier: MIT */
/* A fair lock's inside, for its two files. */
#ifndef RL_FAIR_H
#define RL_FAIR_H

#include "hold.h"

enum { RL_FAIR_TOKEN_SIZE = RL_TOKEN_SIZE + 48 };

struct rl_fair {
	struct rl_link *link;
	struct rl_link *wake; /* subscribed to this object's channel */
	struct rl_hold hold;
	uint64_t subscribed_on; /* the wake link's connection; 0 = none */
	pid_t owner;            /* the process that `object` was made in */
	unsigned long attempts;
	bool in_line;     /* `token` may stand there, or hold the lock */
	bool asked;       /* and did so before this attempt */
	bool in_doubt;    /* and a request with it may arrive yet */
	long ttl_ms;
	char object[RL_TOKEN_SIZE];
	char token[RL_FAIR_TOKEN_SIZE];
	char *key, *line, *channel;
	char *data;       /* the key whose value comes along, or NULL */
	struct rl_reply carried;
};

/* Out of the line. RL_OK: the lock had come to us, and is given on. RL_LOST: it
 * had not. */
enum rl_outcome rl_fair_leave_line(struct rl_fair *fair);

#endif

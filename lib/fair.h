/* SPDX-License-Identifier: MIT */
/* A fair lock's inside, for its files. */
#ifndef RDL_FAIR_H
#define RDL_FAIR_H

#include "hold.h"
#include "inspect.h"

enum { RDL_FAIR_TOKEN_SIZE = RDL_LABELLED_SIZE + 48 };

struct rdl_fair {
	struct rdl_link *link;
	struct rdl_link *wake; /* subscribed to this object's channel */
	struct rdl_hold hold;
	uint64_t subscribed_on; /* the wake link's connection; 0 = none */
	pid_t owner;            /* the process that `object` was made in */
	unsigned long attempts;
	bool in_line;       /* `token` may stand there, or hold the lock */
	bool asked;         /* and did so before this attempt */
	bool indeterminate; /* and a request with it may arrive yet */
	bool wants_number;  /* the attempt is to draw a fencing number */
	bool draws_number;  /* `token` does */
	long long number;   /* drawn with the hold; 0 = none */
	long ttl_ms;
	char label[RDL_LABEL_SIZE];
	char object[RDL_TOKEN_SIZE];
	char token[RDL_FAIR_TOKEN_SIZE];
	char *key, *line, *fence, *channel;
	char *data; /* the key whose value comes along, or NULL */
	struct rdl_reply carried;
};

/* rdl_fair_try() that draws a fencing number if `wants_number` is set. */
enum rdl_outcome rdl_fair_ask(struct rdl_fair *fair, long ttl_ms);

/* Before standing in line: who does not listen is passed over. */
enum rdl_outcome rdl_fair_subscribe(struct rdl_fair *fair);

/*
 * Before a question is repeated, and after its time was taken: throws away the
 * messages of hand-overs before it. They have the same token, and their lease
 * may be over: counted from the new question it would seem to have just begun.
 */
enum rdl_outcome rdl_fair_catch_up(struct rdl_fair *fair);

/* rdl_fair_wait() that ends as well when `*cancel_fd` is readable; NULL = none. */
enum rdl_outcome rdl_fair_stand(struct rdl_fair *fair, int64_t wait_ns, const int *cancel_fd);

/* Never, as far as anybody can tell, and still a number in nanoseconds. */
int64_t rdl_fair_wait_ns(long wait_ms);

/* Out of the line. RDL_OK: the lock had come to us, and is given on. RDL_LOST: it
 * had not. */
enum rdl_outcome rdl_fair_leave_line(struct rdl_fair *fair);

#endif

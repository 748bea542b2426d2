/* SPDX-License-Identifier: MIT */
/*
 * INCR: reading, adding and writing are one command, done by the server.
 *
 *	A> INCR counter   => 42
 *	B> INCR counter   => 43
 *
 * Guarantees: an exact count; nothing is held, so nothing can be left behind.
 * Does not guarantee: that a command whose reply was lost may be sent again.
 * A client that repeats it may count twice.
 *
 * It is what a program should use; the library has no version of it.
 */
#include "strategy.h"

static enum rdl_outcome increment(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "INCR %s", client->counter);
}

const struct rr_strategy rr_incr = {
	.name = "incr",
	.summary = "INCR",
	.document = "002",
	.group = RR_EIGHT,
	.increment = increment,
};

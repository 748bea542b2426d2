/* SPDX-License-Identifier: MIT */
/*
 * The optimistic update of multi-watch.c as the library has it: rdl_update_try
 * (lib/transaction.c).
 *
 *	A> WATCH counter, GET counter           in one write
 *	A> MULTI, SET counter 42, EXEC          in one write
 *
 * Guarantees what multi-watch does, in two round trips instead of three, and
 * besides: where the connection was replaced between GET and EXEC, which ends
 * its WATCH, nothing is sent.
 */
#include <stdio.h>

#include "strategy.h"

/* The counter's next value. */
static enum rdl_outcome add_one(void *context, const struct rdl_reply *old, char *value,
				size_t size)
{
	struct rr_client *client = context;
	long long count;

	if (!rr_count_of(old, &count))
		return RDL_ERROR;
	rr_work(client);
	snprintf(value, size, "%lld", count + 1);
	return RDL_OK;
}

static enum rdl_outcome increment(struct rr_client *client)
{
	return rdl_update_try(client->data, client->counter, add_one, client);
}

const struct rr_strategy rr_watch_library = {
	.name = "watch-library",
	.summary = "multi-watch by the library: rdl_update_try",
	.document = "-",
	.group = RR_BEYOND,
	.wait = { .min_us = 400, .max_us = 5000 },
	.increment = increment,
};

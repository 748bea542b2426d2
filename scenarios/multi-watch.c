/* SPDX-License-Identifier: MIT */
/*
 * Optimistic: WATCH the counter, and let EXEC refuse if somebody wrote it in
 * between. It is libredislock's rl_update_try.
 *
 *	A> WATCH counter
 *	A> GET counter       => "41"
 *	                               B> SET counter 42
 *	A> MULTI, SET counter 42
 *	A> EXEC              => (nil)  nothing stored: A starts again
 *
 * Guarantees: an exact count, whoever stalls or crashes; there is no lock
 * that could be left behind.
 * Does not guarantee: exclusion, or progress of any one client. Under
 * contention most attempts are thrown away.
 */
#include <stdio.h>

#include "strategy.h"

/* The counter's next value. */
static enum rl_outcome add_one(void *context, const struct rl_reply *old, char *value, size_t size)
{
	struct rr_client *client = context;
	long long count;

	if (!rr_count_of(old, &count))
		return RL_ERROR;
	rr_work(client);
	snprintf(value, size, "%lld", count + 1);
	return RL_OK;
}

static enum rl_outcome increment(struct rr_client *client)
{
	return rl_update_try(client->data, client->counter, add_one, client);
}

const struct rr_strategy rr_multi_watch = {
	.name = "multi-watch",
	.summary = "WATCH, GET, MULTI, SET, EXEC, until it holds",
	.document = "002",
	.group = RR_EIGHT,
	.is_basic = true,
	.breaks = {
		[RR_LOST_REPLY] = RR_BREAKS_COUNT,
	},
	.wait = { .min_us = 400, .max_us = 5000 },
	.increment = increment,
};

/* SPDX-License-Identifier: MIT */
/*
 * Optimistic: WATCH the counter, and let EXEC refuse if another client wrote it
 * in between.
 *
 *	A> WATCH counter
 *	A> GET counter       => "41"
 *	                               B> SET counter 42
 *	A> MULTI, SET counter 42
 *	A> EXEC              => (nil)  nothing stored: A starts again
 *
 * Guarantees: an exact count, whichever client stalls or crashes; there is no
 * lock that could be orphaned.
 * Does not guarantee: exclusion, or progress of any one client. Under
 * contention most attempts are thrown away.
 *
 * The library's version: rdl_update_try, lib/transaction.c (watch-library.c).
 */
#include "strategy.h"

static enum rdl_outcome increment(struct rr_client *client)
{
	struct rdl_link *link = client->data;
	struct rdl_reply reply;
	long long value;
	enum rdl_outcome outcome = rdl_run(link, &reply, "WATCH %s", client->counter);

	if (outcome == RDL_OK)
		outcome = rdl_run(link, &reply, "GET %s", client->counter);
	if (outcome != RDL_OK)
		return outcome;
	if (!rr_count_of(&reply, &value)) {
		rdl_run(link, &reply, "UNWATCH");
		return RDL_ERROR;
	}
	rr_work(client);
	outcome = rdl_queue(link, "MULTI");
	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "SET %s %lld", client->counter, value + 1);
	if (outcome == RDL_OK)
		outcome = rdl_exec(link, 2, &reply); /* sends EXEC; its reply */
	return outcome == RDL_OK && rdl_reply_is_nil(&reply) ? RDL_BUSY : outcome;
}

const struct rr_strategy rr_multi_watch = {
	.name = "multi-watch",
	.summary = "WATCH, GET, MULTI, SET, EXEC, until it holds",
	.document = "002",
	.group = RR_EIGHT,
	.wait = { .min_us = 400, .max_us = 5000 },
	.increment = increment,
};

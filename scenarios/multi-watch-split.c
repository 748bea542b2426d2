/* SPDX-License-Identifier: MIT */
/*
 * WATCH in the wrong place: after the GET whose value it should protect.
 *
 * 	A> GET counter                     => "41"
 * 	                                   B> SET counter 42
 * 	A> WATCH counter                   from here on, too late
 * 	A> MULTI, SET counter 42, EXEC     => [OK]     B's increment is gone
 *
 * Guarantees: that EXEC fails if somebody writes between WATCH and EXEC.
 * Does not guarantee the count: a write between GET and WATCH goes unnoticed
 * (WA-8, the race watch-after-get). multi-watch.c has the order that holds.
 */
#include "strategy.h"

static enum rdl_outcome increment(struct rr_client *client)
{
	struct rdl_reply reply;
	long long value;
	enum rdl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RDL_OK)
		return outcome;
	rr_work(client);
	/* RACE: what was read before this is not watched (WA-8) */
	outcome = rdl_run(client->data, &reply, "WATCH %s", client->counter);
	if (outcome != RDL_OK)
		return outcome;
	return rr_set_in_transaction(client, value + 1);
}

const struct rr_strategy rr_multi_watch_split = {
	.name = "multi-watch-split",
	.summary = "GET, WATCH, MULTI, SET, EXEC, until it holds",
	.document = "-",
	.group = RR_BROKEN,
	.remedy = "multi-watch",
	.wait = { .min_us = 400, .max_us = 5000 },
	.increment = increment,
};

/* SPDX-License-Identifier: MIT */
/*
 * No protection: read the counter, add 1, write it back.
 *
 *	A> GET counter      => "41"
 *	B> GET counter      => "41"
 *	A> SET counter 42   => OK
 *	B> SET counter 42   => OK      A's increment is gone
 *
 * Each command is atomic; the two together are not. This is the program that
 * all the documents open with.
 *
 * The library has no version of it: rdl_update_try repeats a write that would be
 * lost (watch-library.c).
 */
#include "strategy.h"

static enum rdl_outcome increment(struct rr_client *client)
{
	struct rdl_reply reply;
	long long value;
	const enum rdl_outcome outcome = rdl_run(client->data, &reply, "GET %s", client->counter);

	if (outcome != RDL_OK)
		return outcome;
	if (!rr_count_of(&reply, &value))
		return RDL_ERROR;
	rr_work(client);
	/* RACE: lost update (LU-1) */
	return rdl_run(client->data, &reply, "SET %s %lld", client->counter, value + 1);
}

const struct rr_strategy rr_none = {
	.name = "none",
	.summary = "GET, SET",
	.document = "000, 001, 002",
	.group = RR_EIGHT,
	.remedy = "multi-watch",
	.increment = increment,
};

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
 */
#include "strategy.h"

static enum rl_outcome increment(struct rr_client *client)
{
	long long value;
	enum rl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RL_OK)
		return outcome;
	rr_work(client);
	return rr_set_counter(client, value + 1); /* RACE: lost update (LU-1) */
}

const struct rr_strategy rr_none = {
	.name = "none",
	.summary = "GET, SET",
	.document = "000, 001, 002",
	.group = RR_EIGHT,
	.remedy = "multi-watch",
	.increment = increment,
};

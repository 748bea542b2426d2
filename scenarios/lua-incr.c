/* SPDX-License-Identifier: MIT */
/*
 * Reading, adding and writing in a script: the server runs nothing else
 * meanwhile.
 *
 * 	A> EVALSHA <get, add 1, set> 1 counter   => 42
 * 	B> EVALSHA <get, add 1, set> 1 counter   => 43
 *
 * Guarantees: an exact count (SC-2); nothing is held, so nothing can be left
 * behind. The computation may be any that Lua can do, where INCR can only add.
 * Does not guarantee: that a call whose reply was lost may be sent again.
 * Whoever repeats it may count twice. An error in the middle of a script does
 * not undo what was written before it (SC-3).
 */
#include "strategy.h"

/* One script, because between a GET and a SET others may write. */
static const char get_add_set[] = "local value = (redis.call('GET', KEYS[1]) or 0) + 1 "
				  "redis.call('SET', KEYS[1], value) "
				  "return value";

static enum rdl_outcome increment(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run_script(client->data, &reply, get_add_set, "1 %s", client->counter);
}

const struct rr_strategy rr_lua_incr = {
	.name = "lua-incr",
	.summary = "GET, SET in one script",
	.document = "002",
	.group = RR_REPAIRED,
	.increment = increment,
};

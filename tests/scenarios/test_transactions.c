/* SPDX-License-Identifier: MIT */
/* Increments without a lock: transactions and scripts. */
#include <string.h>

#include "cast.h"

static void somebody_adds_one(struct cast *cast)
{
	cast_ask(cast, "INCR", "counter");
}

/* A's increment of 41, when somebody else adds 1 before `command`; the counter
 * afterwards. */
static enum rl_outcome increment_beside(const char *strategy,
					const char *command, char value[32])
{
	enum rl_outcome outcome;
	struct cast cast;

	cast_open(&cast, strategy);
	cast_set(&cast, "counter", "41");
	outcome = cast_interrupt(&cast, cast_increment, command,
				 somebody_adds_one);
	strcpy(value, cast_ask(&cast, "GET", "counter"));
	cast_close(&cast);
	return outcome;
}

Test(transactions, without_watch_an_update_is_lost)
{
	char value[32];

	cr_assert_eq(increment_beside("multi", "MULTI", value), RL_OK);
	cr_assert_str_eq(value, "42");
	cr_assert_eq(increment_beside("multi", "EXEC", value), RL_OK);
	cr_assert_str_eq(value, "42");
}

Test(transactions, watch_after_get_leaves_a_hole)
{
	char value[32];

	cr_assert_eq(increment_beside("multi-watch-split", "WATCH", value),
		     RL_OK);
	cr_assert_str_eq(value, "42");
	cr_assert_eq(increment_beside("multi-watch-split", "MULTI", value),
		     RL_BUSY);
	cr_assert_str_eq(value, "42");
}

Test(transactions, watch_before_get_leaves_none)
{
	char value[32];

	cr_assert_eq(increment_beside("multi-watch", "WATCH", value), RL_OK);
	cr_assert_str_eq(value, "43");
	cr_assert_eq(increment_beside("multi-watch", "MULTI", value), RL_BUSY);
	cr_assert_str_eq(value, "42");
}

Test(transactions, script_counts_from_nothing_and_after_a_flush)
{
	struct cast cast;

	cast_open(&cast, "lua-incr");
	cr_assert_eq(cast_increment(&cast.a), RL_OK);
	cr_assert_str_eq(cast_ask(&cast, "GET", "counter"), "1");
	cast_ask(&cast, "SCRIPT", "FLUSH");
	cr_assert_eq(cast_increment(&cast.a), RL_OK);
	cr_assert_str_eq(cast_ask(&cast, "GET", "counter"), "2");
	cast_set(&cast, "counter", "9999999999999");
	cr_assert_eq(cast_increment(&cast.a), RL_OK);
	cr_assert_str_eq(cast_ask(&cast, "GET", "counter"), "10000000000000");
	cast_set(&cast, "counter", "many");
	cr_assert_eq(cast_increment(&cast.a), RL_ERROR);
	cr_assert_str_eq(cast_ask(&cast, "GET", "counter"), "many");
	cast_close(&cast);
}

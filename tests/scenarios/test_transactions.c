/* SPDX-License-Identifier: MIT */
/* Increments without a lock: transactions and scripts. */
#include "clients.h"

static void somebody_adds_one(struct clients *clients)
{
	clients_ask(clients, "INCR", "counter");
}

/* A's increment of 41, when somebody else adds 1 before `command`, ends with
 * `outcome`, and leaves `value` in the counter. */
static void assert_increment_beside(const char *strategy, const char *command,
				    enum rdl_outcome outcome, const char *value)
{
	struct clients clients;

	clients_open(&clients, strategy);
	clients_set(&clients, "counter", "41");
	cr_assert_eq(clients_interrupt(&clients, clients_increment, command, somebody_adds_one),
		     outcome, "%s, before %s", strategy, command);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), value, "%s, before %s", strategy,
			 command);
	clients_close(&clients);
}

Test(transactions, without_watch_an_update_is_lost)
{
	assert_increment_beside("multi", "MULTI", RDL_OK, "42");
	assert_increment_beside("multi", "EXEC", RDL_OK, "42");
}

Test(transactions, watch_after_get_leaves_a_hole)
{
	assert_increment_beside("multi-watch-split", "WATCH", RDL_OK, "42");
	assert_increment_beside("multi-watch-split", "MULTI", RDL_BUSY, "42");
}

Test(transactions, watch_before_get_leaves_none)
{
	assert_increment_beside("multi-watch", "WATCH", RDL_OK, "43");
	assert_increment_beside("multi-watch", "MULTI", RDL_BUSY, "42");
}

Test(transactions, script_counts_from_nothing_and_after_a_flush)
{
	struct clients clients;

	clients_open(&clients, "lua-incr");
	cr_assert_eq(clients_increment(&clients.a), RDL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "1");
	clients_ask(&clients, "SCRIPT", "FLUSH");
	cr_assert_eq(clients_increment(&clients.a), RDL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "2");
	clients_set(&clients, "counter", "9999999999999");
	cr_assert_eq(clients_increment(&clients.a), RDL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "10000000000000");
	clients_set(&clients, "counter", "many");
	cr_assert_eq(clients_increment(&clients.a), RDL_ERROR);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "many");
	clients_close(&clients);
}

/* SPDX-License-Identifier: MIT */
/* Increments without a lock: transactions and scripts. */
#include <string.h>

#include "clients.h"

static void somebody_adds_one(struct clients *clients)
{
	clients_ask(clients, "INCR", "counter");
}

/* A's increment of 41, when somebody else adds 1 before `command`; the counter
 * afterwards. */
static enum rl_outcome increment_beside(const char *strategy,
					const char *command, char value[32])
{
	enum rl_outcome outcome;
	struct clients clients;

	clients_open(&clients, strategy);
	clients_set(&clients, "counter", "41");
	outcome = clients_interrupt(&clients, clients_increment, command,
				    somebody_adds_one);
	strcpy(value, clients_ask(&clients, "GET", "counter"));
	clients_close(&clients);
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
	struct clients clients;

	clients_open(&clients, "lua-incr");
	cr_assert_eq(clients_increment(&clients.a), RL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "1");
	clients_ask(&clients, "SCRIPT", "FLUSH");
	cr_assert_eq(clients_increment(&clients.a), RL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "2");
	clients_set(&clients, "counter", "9999999999999");
	cr_assert_eq(clients_increment(&clients.a), RL_OK);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "100000000000"
								  "00");
	clients_set(&clients, "counter", "many");
	cr_assert_eq(clients_increment(&clients.a), RL_ERROR);
	cr_assert_str_eq(clients_ask(&clients, "GET", "counter"), "many");
	clients_close(&clients);
}

/* SPDX-License-Identifier: MIT */
/* The timestamp locks: what each does with a dead lock, and in whose way. */
#include <string.h>

#include "clients.h"

static const char *const all[] = { "setnx-getset", "setnx-getset-checked", "setnx-del-takeover",
				   "watch-getset" };
enum { ALL = sizeof(all) / sizeof(all[0]) };

Test(timestamp, is_taken_when_free_and_given_back)
{
	for (size_t i = 0; i < ALL; i++) {
		struct clients clients;

		clients_open(&clients, all[i]);
		cr_assert_eq(clients_acquire(&clients.a), RDL_OK, "%s", all[i]);
		cr_assert_str_eq(clients_ask(&clients, "GET", "lock"), "1011");
		cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY, "%s", all[i]);
		cr_assert_eq(clients_release(&clients.a), RDL_OK, "%s", all[i]);
		cr_assert_str_eq(clients_ask(&clients, "EXISTS", "lock"), "0", "%s", all[i]);
		clients_close(&clients);
	}
}

/* What was written may have run out before this second, not in it (GS-9). */
Test(timestamp, waits_for_the_living_and_takes_over_the_dead)
{
	for (size_t i = 0; i < ALL; i++) {
		struct clients clients;

		clients_open(&clients, all[i]);
		cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
		clients.clock_s = 1011;
		cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY, "%s", all[i]);
		cr_assert_str_eq(clients_ask(&clients, "GET", "lock"), "1011");
		clients.clock_s = 1012;
		cr_assert_eq(clients_acquire(&clients.b), RDL_OK, "%s", all[i]);
		cr_assert_str_eq(clients_ask(&clients, "GET", "lock"), "1023");
		clients_close(&clients);
	}
}

static void five_seconds_pass(struct clients *clients)
{
	clients->clock_s += 5;
}

/* The lease begins when the lock is taken over, not when A first asked. */
Test(timestamp, takeover_writes_an_end_of_its_own_time)
{
	for (size_t i = 0; i < ALL; i++) {
		struct clients clients;

		clients_open(&clients, all[i]);
		clients_set(&clients, "lock", "900");
		cr_assert_eq(clients_interrupt(&clients, clients_acquire, "GET", five_seconds_pass),
			     RDL_OK, "%s", all[i]);
		cr_assert_str_eq(clients_ask(&clients, "GET", "lock"), "1016", "%s", all[i]);
		clients_close(&clients);
	}
}

/* ---- Two find the same dead lock ------------------------------------------ */

/* A stalls for five seconds; B takes the dead lock over. */
static void b_is_faster(struct clients *clients)
{
	clients->clock_s = 1025;
	cr_assert_eq(clients_acquire(&clients->b), RDL_OK);
	cr_assert_str_eq(clients_ask(clients, "GET", "lock"), "1036");
}

/* B takes a dead lock over just before `command` of A's take-over; what A is
 * told, and the lock afterwards. */
static enum rdl_outcome a_is_slower(const char *strategy, const char *command, char value[32])
{
	enum rdl_outcome outcome;
	struct clients clients;

	clients_open(&clients, strategy);
	clients_set(&clients, "lock", "1011");
	clients.clock_s = 1020;
	outcome = clients_interrupt(&clients, clients_acquire, command, b_is_faster);
	strcpy(value, clients_ask(&clients, "GET", "lock"));
	clients_close(&clients);
	return outcome;
}

Test(timestamp, del_takeover_gives_a_dead_lock_to_two)
{
	char value[32];

	cr_assert_eq(a_is_slower("setnx-del-takeover", "DEL", value), RDL_OK);
}

/* An older timestamp than B's is in B's lock then (GS-4). */
Test(timestamp, getset_takeover_has_one_winner_but_the_loser_writes)
{
	char value[32];

	cr_assert_eq(a_is_slower("setnx-getset", "GETSET", value), RDL_BUSY);
	cr_assert_str_eq(value, "1031");
	cr_assert_eq(a_is_slower("setnx-getset-checked", "GETSET", value), RDL_BUSY);
	cr_assert_str_eq(value, "1031");
}

Test(timestamp, watch_takeover_has_one_winner_and_the_loser_writes_nothing)
{
	char value[32];

	cr_assert_eq(a_is_slower("watch-getset", "MULTI", value), RDL_BUSY);
	cr_assert_str_eq(value, "1036");
	cr_assert_eq(a_is_slower("watch-getset", "EXEC", value), RDL_BUSY);
	cr_assert_str_eq(value, "1036");
}

/* ---- The dead lock is deleted during a take-over ------------------------------ */

static void lock_is_deleted(struct clients *clients)
{
	cr_assert_str_eq(clients_ask(clients, "DEL", "lock"), "1");
}

/* GS-3: is there a lock that nobody holds, when it is deleted before
 * `command`? */
static bool leaves_a_ghost(const char *strategy, const char *command)
{
	struct clients clients;
	bool ghost;

	clients_open(&clients, strategy);
	clients_set(&clients, "lock", "900");
	cr_assert_eq(clients_interrupt(&clients, clients_acquire, command, lock_is_deleted),
		     RDL_BUSY);
	ghost = clients_acquire(&clients.b) == RDL_BUSY;
	clients_close(&clients);
	return ghost;
}

Test(timestamp, getset_leaves_a_ghost_lock_as_printed)
{
	cr_assert(leaves_a_ghost("setnx-getset", "GETSET"));
	cr_assert(leaves_a_ghost("setnx-getset-checked", "GETSET"));
	cr_assert_not(leaves_a_ghost("watch-getset", "MULTI"));
}

/* ---- A holder slower than its lease ------------------------------------------- */

/* A holds, the lease ends, B takes over, A gives back: may C come in? */
static enum rdl_outcome c_after_slow_holder(const char *strategy)
{
	enum rdl_outcome outcome;
	struct clients clients;

	clients_open(&clients, strategy);
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	clients.clock_s = 1020;
	cr_assert_eq(clients_acquire(&clients.b), RDL_OK);
	clients_release(&clients.a);
	outcome = clients_acquire(&clients.c);
	clients_close(&clients);
	return outcome;
}

Test(timestamp, slow_holder_deletes_its_successors_lock)
{
	cr_assert_eq(c_after_slow_holder("setnx-getset"), RDL_OK);
	cr_assert_eq(c_after_slow_holder("setnx-del-takeover"), RDL_OK);
	cr_assert_eq(c_after_slow_holder("watch-getset"), RDL_OK);
}

Test(timestamp, holder_that_checks_leaves_its_successors_lock)
{
	cr_assert_eq(c_after_slow_holder("setnx-getset-checked"), RDL_BUSY);
}

/* A's lock is `value` (NULL: gone) at `clock_s` when A gives it back. */
static enum rdl_outcome checked_release(const char *value, int64_t clock_s)
{
	enum rdl_outcome outcome;
	struct clients clients;

	clients_open(&clients, "setnx-getset-checked");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	if (value)
		clients_set(&clients, "lock", value);
	else
		lock_is_deleted(&clients);
	clients.clock_s = clock_s;
	outcome = clients_release(&clients.a);
	cr_assert_str_eq(clients_ask(&clients, "EXISTS", "lock"),
			 value && outcome == RDL_LOST ? "1" : "0");
	clients_close(&clients);
	return outcome;
}

Test(timestamp, checked_release_deletes_only_what_it_wrote_and_in_time)
{
	cr_assert_eq(checked_release("1011", 1011), RDL_OK);
	cr_assert_eq(checked_release("1011", 1012), RDL_LOST);
	cr_assert_eq(checked_release("1012", 1000), RDL_LOST);
	cr_assert_eq(checked_release("nonsense", 1000), RDL_LOST);
	cr_assert_eq(checked_release(NULL, 1000), RDL_LOST);
}

/* A take-over must be remembered as what was written, too. */
Test(timestamp, checked_release_after_a_takeover)
{
	struct clients clients;

	clients_open(&clients, "setnx-getset-checked");
	clients_set(&clients, "lock", "900");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_release(&clients.a), RDL_OK);
	cr_assert_str_eq(clients_ask(&clients, "EXISTS", "lock"), "0");
	clients_close(&clients);
}

static void b_takes_over(struct clients *clients)
{
	clients->clock_s = 1020;
	cr_assert_eq(clients_acquire(&clients->b), RDL_OK);
}

/* GS-7: A looks in time, and deletes too late. */
Test(timestamp, checked_release_is_not_atomic)
{
	clients_assert_release_deletes_bs_lock("setnx-getset-checked", b_takes_over);
}

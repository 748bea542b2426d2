/* SPDX-License-Identifier: MIT */
/* Each broken strategy, in the interleaving that it is there for. */
#include <stdlib.h>
#include <string.h>

#include "clients.h"

/* ---- Locks without a lease, and leases that are not the lock's ----------------- */

Test(faults, setnx_of_a_dead_holder_stays_for_ever)
{
	struct clients clients;

	clients_open(&clients, "setnx");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_str_eq(clients_ask(&clients, "TTL", "lock"), "-1");
	cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY);
	cr_assert_eq(clients_release(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_OK);
	clients_close(&clients);
}

/* A dies before `command`, and B asks; the lock's TTL, -2 without a lock. */
static int ttl_after_death(const char *strategy, const char *command, enum rdl_outcome b_expects)
{
	struct clients clients;
	int ttl_s;

	clients_open(&clients, strategy);
	clients.a.before = command;
	clients.a.dies = true;
	cr_assert_eq(clients_acquire(&clients.a), RDL_ERROR, "%s", strategy);
	cr_assert_eq(clients_acquire(&clients.b), b_expects, "%s", strategy);
	ttl_s = atoi(clients_ask(&clients, "TTL", "lock"));
	clients_close(&clients);
	return ttl_s;
}

Test(faults, death_before_expire_leaves_a_lock_without_end)
{
	cr_assert_eq(ttl_after_death("setnx-expire", "EXPIRE", RDL_BUSY), -1);
	cr_assert_eq(ttl_after_death("incr-lock", "EXPIRE", RDL_BUSY), -1);
}

Test(faults, death_before_expire_is_repaired_where_everybody_expires)
{
	cr_assert_geq(ttl_after_death("setnx-expire-all", "EXPIRE", RDL_BUSY), 0);
	cr_assert_geq(ttl_after_death("incr-lock-all", "EXPIRE", RDL_BUSY), 0);
}

Test(faults, death_before_exec_leaves_no_lock)
{
	cr_assert_geq(ttl_after_death("setnx-expire-multi", "EXEC", RDL_OK), 0);
}

/* Does B's asking prolong the lease of a lock with 50 of its 100 s left? */
static bool loser_prolongs(const char *strategy)
{
	struct rdl_reply reply;
	struct clients clients;
	int ttl_s;

	clients_open(&clients, strategy);
	clients.a.client.client.ttl_ms = clients.b.client.client.ttl_ms = 100000;
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK, "%s", strategy);
	cr_assert_gt(atoi(clients_ask(&clients, "TTL", "lock")), 50, "%s", strategy);
	cr_assert_eq(rdl_run(clients.other, &reply, "EXPIRE lock 50"), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY, "%s", strategy);
	ttl_s = atoi(clients_ask(&clients, "TTL", "lock"));
	cr_assert_eq(clients_release(&clients.a), RDL_OK, "%s", strategy);
	cr_assert_eq(clients_acquire(&clients.b), RDL_OK, "%s", strategy);
	clients_close(&clients);
	return ttl_s > 50;
}

Test(faults, losers_keep_a_lock_alive_where_everybody_expires)
{
	cr_assert(loser_prolongs("setnx-expire-all"));
	cr_assert(loser_prolongs("setnx-expire-multi"));
	cr_assert(loser_prolongs("incr-lock-all"));
}

Test(faults, losers_leave_the_lease_alone_elsewhere)
{
	cr_assert_not(loser_prolongs("setnx-expire"));
	cr_assert_not(loser_prolongs("incr-lock"));
	cr_assert_not(loser_prolongs("set-nx-ex"));
}

/* ---- Holders slower than their lease -------------------------------------------- */

/* A holds, its lease ends, B gets the lock, A gives back: may C come in? */
static enum rdl_outcome c_after_slow_holder(const char *strategy)
{
	enum rdl_outcome outcome;
	struct clients clients;

	clients_open(&clients, strategy);
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK, "%s", strategy);
	clients_expire(&clients);
	cr_assert_eq(clients_acquire(&clients.b), RDL_OK, "%s", strategy);
	clients_release(&clients.a);
	outcome = clients_acquire(&clients.c);
	clients_close(&clients);
	return outcome;
}

Test(faults, plain_delete_removes_a_successors_lock)
{
	static const char *const names[] = {
		"setnx-expire",  "setnx-expire-all", "setnx-expire-multi", "incr-lock",
		"incr-lock-all", "set-nx-ex",        "reentrant-naive",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_assert_eq(c_after_slow_holder(names[i]), RDL_OK, "%s", names[i]);
}

Test(faults, comparing_leaves_a_successors_lock)
{
	cr_assert_eq(c_after_slow_holder("get-compare-del"), RDL_BUSY);
	cr_assert_eq(c_after_slow_holder("lua-delifequals"), RDL_BUSY);
}

static void b_gets_the_expired_lock(struct clients *clients)
{
	clients_expire(clients);
	cr_assert_eq(clients_acquire(&clients->b), RDL_OK);
}

/* TL-8: A finds its own token, and deletes when it is B's. */
Test(faults, compare_and_delete_in_two_commands_is_not_atomic)
{
	clients_assert_release_deletes_bs_lock("get-compare-del", b_gets_the_expired_lock);
}

Test(faults, get_compare_del_tells_when_the_lock_is_lost)
{
	struct clients clients;

	clients_open(&clients, "get-compare-del");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY);
	clients_expire(&clients);
	cr_assert_eq(clients_release(&clients.a), RDL_LOST);
	clients_close(&clients);
}

Test(faults, get_compare_del_gives_back_what_it_may_have_got)
{
	struct clients clients;

	clients_open(&clients, "get-compare-del");
	clients.a.loses_a_reply = true;
	cr_assert_eq(clients_acquire(&clients.a), RDL_UNKNOWN);
	cr_assert_str_eq(clients_ask(&clients, "EXISTS", "lock"), "0");
	clients_close(&clients);
}

/* ---- Locking again ---------------------------------------------------------------- */

Test(faults, reentrant_lock_is_free_after_the_last_unlock)
{
	struct clients clients;

	clients_open(&clients, "reentrant-naive");
	cr_assert_eq(clients_release(&clients.b), RDL_LOST, "it was never locked");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY);
	cr_assert_eq(clients_release(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_BUSY);
	cr_assert_eq(clients_release(&clients.a), RDL_OK);
	cr_assert_eq(clients_acquire(&clients.b), RDL_OK);
	clients_close(&clients);
}

/* TL-13: A's increment locks again, while B holds. */
Test(faults, reentrant_lock_does_not_look_whether_it_is_held)
{
	struct clients clients;

	clients_open(&clients, "reentrant-naive");
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	b_gets_the_expired_lock(&clients);
	cr_assert_eq(clients_acquire(&clients.a), RDL_OK);
	cr_assert_eq(clients_increment(&clients.a), RDL_OK);
	cr_assert_eq(clients_increment(&clients.b), RDL_OK);
	clients_close(&clients);
}

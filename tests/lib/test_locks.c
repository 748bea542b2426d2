/* SPDX-License-Identifier: MIT */
/* The token lock, the quorum lock and the optimistic update, one by one. */
#include "../support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"

static struct support support;

static void setup(void)
{
	support_open(&support, 5);
}

static void teardown(void)
{
	support_close(&support);
}

TestSuite(locks, .init = setup, .fini = teardown);

Test(locks, one_holder_at_a_time)
{
	struct rl_link *a = support_link(&support, 0);
	struct rl_link *b = support_link(&support, 0);
	struct rl_lock *mine = rl_lock_new(a, "lock");
	struct rl_lock *theirs = rl_lock_new(b, "lock");

	cr_assert_eq(rl_lock_try(mine, 1000), RL_OK);
	cr_assert_eq(rl_lock_try(theirs, 1000), RL_BUSY);
	cr_assert_eq(rl_lock_release(theirs), RL_LOST);
	cr_assert_eq(rl_lock_release(mine), RL_OK);
	cr_assert_eq(rl_lock_try(theirs, 1000), RL_OK);
	rl_lock_free(mine);
	rl_lock_free(theirs);
	rl_link_free(a);
	rl_link_free(b);
}

/* After A's lease B holds the lock; A releases. Is B's lock still there? */
static bool late_release_spares_the_next_holder(const struct rl_driver *driver)
{
	struct rl_link *a = support_link(&support, 0);
	struct rl_link *b = support_link(&support, 0);
	struct rl_lock *late = rl_lock_new(a, "lock");
	struct rl_lock *next = rl_lock_new(b, "lock");
	bool spared;

	rl_link_set_driver(a, driver);
	cr_assert_eq(rl_lock_try(late, 20), RL_OK);
	rl_sleep_ns(b, 40000000);
	cr_assert_eq(rl_lock_try(next, 5000), RL_OK);
	rl_lock_release(late);
	spared = strcmp(support_ask(b, "EXISTS", "lock"), "1") == 0;
	rl_lock_free(late);
	rl_lock_free(next);
	rl_link_free(a);
	rl_link_free(b);
	return spared;
}

Test(locks, release_by_non_owner_reports_lost)
{
	cr_assert(late_release_spares_the_next_holder(NULL));
}

Test(locks, planted_compare_dropped_is_seen)
{
	cr_assert_not(late_release_spares_the_next_holder(&planted_no_compare));
}

Test(locks, lost_reply_leaves_an_unknown_lock_that_release_gives_back)
{
	struct rl_link *a = support_link(&support, 0);
	struct rl_link *b = support_link(&support, 0);
	struct rl_lock *lock = rl_lock_new(a, "lock");

	rl_link_set_driver(a, &planted_lost_reply);
	cr_assert_eq(rl_lock_try(lock, 60000), RL_UNKNOWN);
	cr_assert_str_eq(support_ask(b, "EXISTS", "lock"), "1");
	rl_link_set_driver(a, NULL);
	cr_assert_eq(rl_lock_release(lock), RL_OK);
	cr_assert_str_eq(support_ask(b, "EXISTS", "lock"), "0");
	rl_lock_free(lock);
	rl_link_free(a);
	rl_link_free(b);
}

/* ---- Quorum -------------------------------------------------------------- */

static struct rl_quorum *five(struct rl_link *nodes[5])
{
	for (size_t i = 0; i < 5; i++)
		nodes[i] = support_link(&support, i);
	return rl_quorum_new(nodes, 5, "lock", 100);
}

static void free_five(struct rl_quorum *quorum, struct rl_link *nodes[5])
{
	rl_quorum_free(quorum);
	for (size_t i = 0; i < 5; i++)
		rl_link_free(nodes[i]);
}

static void kill_node(size_t i)
{
	cr_assert(rr_guardian_kill(&support.session.guardian,
				   &support.fleet.wards[i]));
}

Test(locks, quorum_excludes_and_leaves_nothing_behind)
{
	struct rl_link *a[5], *b[5];
	struct rl_quorum *mine = five(a), *theirs = five(b);

	cr_assert_eq(rl_quorum_try(mine, 10000), RL_OK);
	cr_assert_gt(rl_quorum_remaining_ms(mine), 9000);
	cr_assert_leq(rl_quorum_remaining_ms(mine), 10000 - 102);
	cr_assert_eq(rl_quorum_try(theirs, 10000), RL_BUSY);
	cr_assert_eq(rl_quorum_release(mine), RL_OK);
	for (size_t i = 0; i < 5; i++)
		cr_assert_str_eq(support_ask(b[i], "EXISTS", "lock"), "0");
	cr_assert_eq(rl_quorum_try(theirs, 10000), RL_OK);
	free_five(mine, a);
	free_five(theirs, b);
}

Test(locks, quorum_works_with_two_of_five_dead)
{
	struct rl_link *nodes[5];
	struct rl_quorum *quorum = five(nodes);

	kill_node(0);
	kill_node(3);
	cr_assert_eq(rl_quorum_try(quorum, 10000), RL_OK, "%s",
		     rl_quorum_error(quorum));
	cr_assert_eq(rl_quorum_release(quorum), RL_OK);
	free_five(quorum, nodes);
}

Test(locks, quorum_refuses_with_three_of_five_dead)
{
	struct rl_link *nodes[5];
	struct rl_quorum *quorum = five(nodes);

	for (size_t i = 0; i < 3; i++)
		kill_node(i);
	cr_assert_eq(rl_quorum_try(quorum, 10000), RL_ERROR);
	cr_assert_neq(rl_quorum_error(quorum)[0], '\0');
	cr_assert_str_eq(support_ask(nodes[4], "EXISTS", "lock"), "0");
	free_five(quorum, nodes);
}

Test(locks, quorum_with_a_hung_node_costs_its_time_out)
{
	struct rl_link *nodes[5];
	struct rl_quorum *quorum = five(nodes);
	int64_t start_ns, spent_ms;

	kill(support.fleet.wards[2].pid, SIGSTOP);
	start_ns = rl_now_ns(nodes[0], RL_CLOCK_MONOTONIC);
	cr_assert_eq(rl_quorum_try(quorum, 10000), RL_OK);
	spent_ms = (rl_now_ns(nodes[0], RL_CLOCK_MONOTONIC) - start_ns) /
		   1000000;
	cr_assert_geq(spent_ms, 99);
	cr_assert_lt(spent_ms, 1000);
	kill(support.fleet.wards[2].pid, SIGCONT);
	cr_assert_eq(rl_quorum_release(quorum), RL_OK);
	free_five(quorum, nodes);
}

Test(locks, quorum_without_time_left_is_not_held)
{
	struct rl_link *nodes[5];
	struct rl_quorum *quorum = five(nodes);

	cr_assert_eq(rl_quorum_try(quorum, 2), RL_BUSY);
	free_five(quorum, nodes);
}

Test(locks, quorum_release_survives_forgotten_scripts)
{
	struct rl_link *nodes[5];
	struct rl_quorum *quorum = five(nodes);
	struct rl_reply reply;

	cr_assert_eq(rl_quorum_try(quorum, 10000), RL_OK);
	cr_assert_eq(rl_quorum_release(quorum), RL_OK);
	for (size_t i = 0; i < 5; i++)
		rl_run(nodes[i], &reply, "SCRIPT FLUSH");
	cr_assert_eq(rl_quorum_try(quorum, 10000), RL_OK);
	cr_assert_eq(rl_quorum_release(quorum), RL_OK);
	free_five(quorum, nodes);
}

/* ---- Optimistic update ----------------------------------------------------- */

struct change {
	struct rl_link *intruder; /* writes in between, if not NULL */
};

static enum rl_outcome append_x(void *context, const struct rl_reply *old,
				char *value, size_t size)
{
	struct change *change = context;

	snprintf(value, size, "%sx", rl_reply_is_nil(old) ? "" : old->text);
	if (change->intruder) {
		struct rl_reply reply;

		rl_run(change->intruder, &reply, "SET k intruder");
	}
	return RL_OK;
}

static enum rl_outcome give_up(void *context, const struct rl_reply *old,
			       char *value, size_t size)
{
	(void)context;
	(void)old;
	(void)value;
	(void)size;
	return RL_LOST;
}

Test(locks, update_holds_when_nobody_writes)
{
	struct rl_link *link = support_link(&support, 0);
	struct change change = { NULL };

	cr_assert_eq(rl_update_try(link, "k", append_x, &change), RL_OK);
	cr_assert_eq(rl_update_try(link, "k", append_x, &change), RL_OK);
	cr_assert_str_eq(support_ask(link, "GET", "k"), "xx");
	rl_link_free(link);
}

Test(locks, update_is_refused_when_somebody_writes)
{
	struct rl_link *link = support_link(&support, 0);
	struct change change = { support_link(&support, 0) };

	cr_assert_eq(rl_update_try(link, "k", append_x, &change), RL_BUSY);
	cr_assert_str_eq(support_ask(link, "GET", "k"), "intruder");
	rl_link_free(change.intruder);
	rl_link_free(link);
}

Test(locks, update_given_up_leaves_no_watch_and_no_reply_behind)
{
	struct rl_link *link = support_link(&support, 0);
	struct change change = { NULL };

	cr_assert_eq(rl_update_try(link, "k", give_up, NULL), RL_LOST);
	cr_assert_eq(rl_update_try(link, "k", append_x, &change), RL_OK);
	rl_link_free(link);
}

/* Writes over the very link, and loses its connection: what must not be. */
static enum rl_outcome break_the_rule(void *context, const struct rl_reply *old,
				      char *value, size_t size)
{
	(void)old;
	snprintf(value, size, "unwatched");
	rl_link_disconnect(context);
	rl_link_connect(context);
	return RL_OK;
}

Test(locks, update_never_goes_on_without_its_watch)
{
	struct rl_link *link = support_link(&support, 0);

	cr_assert_eq(rl_update_try(link, "k", break_the_rule, link), RL_BUSY);
	cr_assert_str_eq(support_ask(link, "EXISTS", "k"), "0");
	rl_link_free(link);
}

Test(locks, update_of_a_key_of_another_type_is_an_error)
{
	struct rl_link *link = support_link(&support, 0);
	struct change change = { NULL };
	struct rl_reply reply;

	cr_assert_eq(rl_run(link, &reply, "LPUSH k v"), RL_OK);
	cr_assert_eq(rl_update_try(link, "k", append_x, &change), RL_ERROR);
	cr_assert(strstr(rl_link_error(link), "WRONGTYPE"));
	cr_assert_eq(rl_run(link, &reply, "ECHO next"), RL_OK);
	cr_assert_str_eq(reply.text, "next");
	rl_link_free(link);
}

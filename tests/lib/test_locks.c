/* SPDX-License-Identifier: MIT */
/* The token lock and the optimistic update, one by one. */
#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"

static struct support support;

static void setup(void)
{
	support_open(&support, 1);
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

/* ---- Optimistic update ----------------------------------------------------- */

struct change {
	struct rl_link *intruder; /* writes in between, if not NULL */
};

static enum rl_outcome append_x(void *context, const struct rl_reply *old, char *value, size_t size)
{
	struct change *change = context;

	snprintf(value, size, "%sx", rl_reply_is_nil(old) ? "" : old->text);
	if (change->intruder) {
		struct rl_reply reply;

		rl_run(change->intruder, &reply, "SET k intruder");
	}
	return RL_OK;
}

static enum rl_outcome give_up(void *context, const struct rl_reply *old, char *value, size_t size)
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
static enum rl_outcome break_the_rule(void *context, const struct rl_reply *old, char *value,
				      size_t size)
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

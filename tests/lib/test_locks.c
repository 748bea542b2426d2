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
	struct rdl_link *a = support_link(&support, 0);
	struct rdl_link *b = support_link(&support, 0);
	struct rdl_lock *mine = rdl_lock_new(a, "lock");
	struct rdl_lock *theirs = rdl_lock_new(b, "lock");

	cr_assert_eq(rdl_lock_try(mine, 60000), RDL_OK);
	cr_assert_eq(rdl_lock_try(theirs, 60000), RDL_BUSY);
	cr_assert_eq(rdl_lock_release(theirs), RDL_LOST);
	cr_assert_eq(rdl_lock_release(mine), RDL_OK);
	cr_assert_eq(rdl_lock_try(theirs, 60000), RDL_OK);
	rdl_lock_free(mine);
	rdl_lock_free(theirs);
	rdl_link_free(a);
	rdl_link_free(b);
}

/* After A's lease B holds the lock; A releases. Is B's lock still there? */
static bool late_release_spares_the_next_holder(const struct rdl_driver *driver)
{
	struct rdl_link *a = support_link(&support, 0);
	struct rdl_link *b = support_link(&support, 0);
	struct rdl_lock *late = rdl_lock_new(a, "lock");
	struct rdl_lock *next = rdl_lock_new(b, "lock");
	const struct rdl_policy policy = { .wait_ms = 60000 };
	bool spared;

	rdl_link_set_driver(a, driver);
	cr_assert_eq(rdl_lock_acquire(late, 20, &policy), RDL_OK);
	cr_assert_eq(rdl_lock_acquire(next, 60000, &policy), RDL_OK);
	rdl_lock_release(late);
	spared = strcmp(support_ask(b, "EXISTS", "lock"), "1") == 0;
	rdl_lock_free(late);
	rdl_lock_free(next);
	rdl_link_free(a);
	rdl_link_free(b);
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
	struct rdl_link *a = support_link(&support, 0);
	struct rdl_link *b = support_link(&support, 0);
	struct rdl_lock *lock = rdl_lock_new(a, "lock");

	rdl_link_set_driver(a, &planted_lost_reply);
	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_UNKNOWN);
	cr_assert_str_eq(support_ask(b, "EXISTS", "lock"), "1");
	rdl_link_set_driver(a, NULL);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_str_eq(support_ask(b, "EXISTS", "lock"), "0");
	rdl_lock_free(lock);
	rdl_link_free(a);
	rdl_link_free(b);
}

/* ---- Optimistic update ----------------------------------------------------- */

struct change {
	struct rdl_link *intruder; /* writes in between, if not NULL */
};

static enum rdl_outcome append_x(void *context, const struct rdl_reply *old, char *value,
				 size_t size)
{
	struct change *change = context;

	snprintf(value, size, "%sx", rdl_reply_is_nil(old) ? "" : old->text);
	if (change->intruder) {
		struct rdl_reply reply;

		rdl_run(change->intruder, &reply, "SET k intruder");
	}
	return RDL_OK;
}

static enum rdl_outcome give_up(void *context, const struct rdl_reply *old, char *value,
				size_t size)
{
	(void)context;
	(void)old;
	(void)value;
	(void)size;
	return RDL_LOST;
}

Test(locks, update_holds_when_nobody_writes)
{
	struct rdl_link *link = support_link(&support, 0);
	struct change change = { NULL };

	cr_assert_eq(rdl_update_try(link, "k", append_x, &change), RDL_OK);
	cr_assert_eq(rdl_update_try(link, "k", append_x, &change), RDL_OK);
	cr_assert_str_eq(support_ask(link, "GET", "k"), "xx");
	rdl_link_free(link);
}

Test(locks, update_is_refused_when_somebody_writes)
{
	struct rdl_link *link = support_link(&support, 0);
	struct change change = { support_link(&support, 0) };

	cr_assert_eq(rdl_update_try(link, "k", append_x, &change), RDL_BUSY);
	cr_assert_str_eq(support_ask(link, "GET", "k"), "intruder");
	rdl_link_free(change.intruder);
	rdl_link_free(link);
}

Test(locks, update_given_up_leaves_no_watch_and_no_reply_behind)
{
	struct rdl_link *link = support_link(&support, 0);
	struct change change = { NULL };

	cr_assert_eq(rdl_update_try(link, "k", give_up, NULL), RDL_LOST);
	cr_assert_eq(rdl_update_try(link, "k", append_x, &change), RDL_OK);
	rdl_link_free(link);
}

/* Writes over the very link, and loses its connection: what must not be. */
static enum rdl_outcome break_the_rule(void *context, const struct rdl_reply *old, char *value,
				       size_t size)
{
	(void)old;
	snprintf(value, size, "unwatched");
	rdl_link_disconnect(context);
	rdl_link_connect(context);
	return RDL_OK;
}

Test(locks, update_never_goes_on_without_its_watch)
{
	struct rdl_link *link = support_link(&support, 0);

	cr_assert_eq(rdl_update_try(link, "k", break_the_rule, link), RDL_BUSY);
	cr_assert_str_eq(support_ask(link, "EXISTS", "k"), "0");
	rdl_link_free(link);
}

Test(locks, update_of_a_key_of_another_type_is_an_error)
{
	struct rdl_link *link = support_link(&support, 0);
	struct change change = { NULL };
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link, &reply, "LPUSH k v"), RDL_OK);
	cr_assert_eq(rdl_update_try(link, "k", append_x, &change), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(link), "WRONGTYPE"));
	cr_assert_eq(rdl_run(link, &reply, "ECHO next"), RDL_OK);
	cr_assert_str_eq(reply.text, "next");
	rdl_link_free(link);
}

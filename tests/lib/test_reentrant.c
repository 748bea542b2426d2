/* SPDX-License-Identifier: MIT */
/* The re-entrant lock: its levels, and a loss among them. */
#include "pair.h"

static struct rdl_reentrant *lock;

static void setup(void)
{
	pair_setup();
	lock = rdl_reentrant_new(link_, "lock");
}

static void teardown(void)
{
	rdl_reentrant_free(lock);
	pair_teardown();
}

TestSuite(reentrant, .init = setup, .fini = teardown);

static void enter(unsigned levels, long ttl_ms)
{
	for (unsigned i = 0; i < levels; i++)
		cr_assert_eq(rdl_reentrant_try(lock, ttl_ms), RDL_OK, "level %u", i + 1);
	cr_assert_eq(rdl_reentrant_depth(lock), levels);
}

Test(reentrant, three_levels_in_and_out)
{
	enter(3, 60000);
	for (unsigned depth = 3; depth-- > 0;) {
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "1");
		cr_assert_eq(rdl_reentrant_release(lock), RDL_OK);
		cr_assert_eq(rdl_reentrant_depth(lock), depth);
	}
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rdl_reentrant_release(lock), RDL_LOST);
	cr_assert_eq(rdl_reentrant_depth(lock), 0);
}

Test(reentrant, every_level_renews_the_lease)
{
	enter(1, 10000);
	cr_assert_leq(rdl_reentrant_remaining_ms(lock), 10000);
	cr_assert_eq(rdl_reentrant_try(lock, 60000), RDL_OK);
	cr_assert_gt(rdl_reentrant_remaining_ms(lock), 10000);
}

static void assert_every_release_is_lost(unsigned levels)
{
	for (unsigned i = 0; i < levels; i++)
		cr_assert_eq(rdl_reentrant_release(lock), RDL_LOST, "release %u of %u", i + 1,
			     levels);
	cr_assert_eq(rdl_reentrant_depth(lock), 0);
}

Test(reentrant, loss_is_told_by_the_next_level_and_every_release)
{
	enter(3, 60000);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(rdl_reentrant_try(lock, 60000), RDL_LOST);
	cr_assert_eq(rdl_reentrant_depth(lock), 3);
	cr_assert_eq(rdl_reentrant_try(lock, 60000), RDL_LOST);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	assert_every_release_is_lost(3);
	enter(2, 60000);
	cr_assert_eq(rdl_reentrant_release(lock), RDL_OK);
	cr_assert_eq(rdl_reentrant_release(lock), RDL_OK);
}

/* Nobody asked the server: the clock says that it is over. */
Test(reentrant, lease_that_ran_out_is_lost_at_every_level)
{
	enter(2, 1000);
	rdl_sleep_ns(other, 1050000000);
	assert_every_release_is_lost(2);
}

Test(reentrant, unanswered_level_does_not_count)
{
	enter(1, 60000);
	cr_assert(rr_guardian_kill(&support.session.guardian, &support.cluster.servers[0].process));
	cr_assert_neq(rdl_reentrant_try(lock, 60000), RDL_OK);
	cr_assert_eq(rdl_reentrant_depth(lock), 1);
}

/* SPDX-License-Identifier: MIT */
/* Extending, asking about and giving back a quorum lock that is held. */
#include <signal.h>
#include <string.h>

#include "../party.h"

static struct support support;
static struct party party;

static void setup(void)
{
	support_open(&support, 5);
	party_open(&party, support.addresses, 5, NODE_MS);
	cr_assert_eq(rdl_quorum_try(party.quorum, LONG_MS / 2), RDL_OK);
}

static void teardown(void)
{
	party_close(&party);
	support_close(&support);
}

TestSuite(quorum_held, .init = setup, .fini = teardown);

Test(quorum_held, extension_begins_a_new_lease)
{
	cr_assert_eq(rdl_quorum_extend(party.quorum, LONG_MS), RDL_OK);
	cr_assert_gt(rdl_quorum_remaining_ms(party.quorum), LONG_MS / 2);
	cr_assert_leq(rdl_quorum_remaining_ms(party.quorum), LONG_MS - LONG_MS / 100 - 2);
}

Test(quorum_held, extension_by_a_majority_is_enough)
{
	lock_write(&support, 0, 1, NULL);
	lock_write(&support, 1, 1, "theirs");
	cr_assert_eq(rdl_quorum_extend(party.quorum, LONG_MS), RDL_OK);
	cr_assert_gt(rdl_quorum_remaining_ms(party.quorum), LONG_MS / 2);
	cr_assert_eq(locks_left(&support, 5), 4);
}

Test(quorum_held, extension_without_a_majority_is_lost_and_makes_no_keys)
{
	lock_write(&support, 0, 2, NULL);
	lock_write(&support, 2, 1, "theirs");
	cr_assert_eq(rdl_quorum_extend(party.quorum, LONG_MS), RDL_LOST);
	cr_assert_eq(rdl_quorum_remaining_ms(party.quorum), 0);
	cr_assert_eq(rdl_quorum_stats(party.quorum)->lost, 1);
	cr_assert_str_eq(lock_at(&support, 2), "theirs");
	cr_assert_eq(locks_left(&support, 5), 1);
}

Test(quorum_held, extension_without_enough_answers_leaves_the_old_lease)
{
	for (size_t i = 0; i < 3; i++)
		server_crash(&support, i, false);
	cr_assert_eq(rdl_quorum_extend(party.quorum, LONG_MS), RDL_UNKNOWN);
	cr_assert_neq(rdl_quorum_error(party.quorum)[0], '\0');
	cr_assert_gt(rdl_quorum_remaining_ms(party.quorum), 0);
	cr_assert_lt(rdl_quorum_remaining_ms(party.quorum), LONG_MS / 2);
}

/* It may have been carried out somewhere. */
Test(quorum_held, shorter_extension_without_enough_answers_counts_as_done)
{
	for (size_t i = 0; i < 3; i++)
		server_crash(&support, i, false);
	cr_assert_eq(rdl_quorum_extend(party.quorum, 5000), RDL_UNKNOWN);
	cr_assert_gt(rdl_quorum_remaining_ms(party.quorum), 0);
	cr_assert_lt(rdl_quorum_remaining_ms(party.quorum), 5000);
}

Test(quorum_held, majority_of_our_token_is_ours)
{
	lock_write(&support, 0, 2, "theirs");
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_OK);
	lock_write(&support, 2, 1, "theirs");
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_LOST);
}

Test(quorum_held, two_dead_servers_do_not_hide_a_majority)
{
	server_crash(&support, 0, false);
	server_crash(&support, 3, false);
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_OK);
	server_crash(&support, 1, false);
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_UNKNOWN);
	cr_assert(strstr(rdl_quorum_error(party.quorum), "redis.sock"));
}

Test(quorum_held, release_of_a_lost_lock_spares_the_next_holder)
{
	lock_write(&support, 0, 3, "theirs");
	cr_assert_eq(party_release(&party, NULL), RDL_LOST);
	for (size_t i = 0; i < 3; i++)
		cr_assert_str_eq(lock_at(&support, i), "theirs");
	cr_assert_eq(locks_left(&support, 5), 3);
}

/* They hang right between their grant and the first release. */
Test(quorum_held, release_waits_for_hung_servers_once)
{
	long spent_ms;

	servers_signal(&support, 1, 2, SIGSTOP);
	cr_assert_eq(party_release(&party, &spent_ms), RDL_OK);
	servers_signal(&support, 1, 2, SIGCONT);
	cr_assert_lt(spent_ms, ONE_WAIT_MS);
	cr_assert(server_has_deleted(&support, 2, 1));
	cr_assert(server_has_deleted(&support, 1, 1));
	cr_assert_eq(locks_left(&support, 5), 0);
}

Test(quorum_held, release_that_few_answered_is_unknown_until_more_have)
{
	servers_signal(&support, 0, 3, SIGSTOP);
	cr_assert_eq(party_release(&party, NULL), RDL_UNKNOWN);
	cr_assert_eq(party_release(&party, NULL), RDL_UNKNOWN);
	servers_signal(&support, 0, 3, SIGCONT);
	for (size_t i = 0; i < 3; i++)
		cr_assert(server_has_deleted(&support, i, 1));
	cr_assert_eq(locks_left(&support, 5), 0);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	cr_assert_eq(rdl_quorum_remaining_ms(party.quorum), 0);
}

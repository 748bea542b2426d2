/* SPDX-License-Identifier: MIT */
/* A server that forgets all scripts in the middle of whatever lock (SCRIPT FLUSH, as a restart
 * does): each next step is as without it. */
#include "pair.h"

#include "../party.h"

TestSuite(scripts, .init = pair_setup, .fini = pair_teardown);

static void flush_scripts(void)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "SCRIPT FLUSH"), RDL_OK);
}

Test(scripts, token_and_fenced_locks_go_on)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_reply reply;
	long long number;

	for (int i = 1; i <= 3; i++) {
		flush_scripts();
		cr_assert_eq(rdl_lock_try_fenced(lock, LONG_MS, &number), RDL_OK);
		cr_assert_eq(number, i, "drawn twice");
		flush_scripts();
		cr_assert_eq(rdl_fenced_set(link_, "data", number, "x"), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_fenced_get(link_, "data", number, &reply), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	}
	rdl_lock_free(lock);
}

Test(scripts, renewers_go_on)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "renewed", LONG_MS);
	struct rdl_renewer *renewer = rdl_renewer_new(link_, NULL, NULL);
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");

	cr_assert_eq(rdl_renewed_try(renewed, 300), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, 300), RDL_OK);
	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_OK);
	for (int i = 0; i < 20; i++) {
		flush_scripts();
		rdl_sleep_ns(other, 50000000);
		cr_assert_eq(rdl_renewed_check(renewed), RDL_OK);
		cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	}
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_lock_free(lock);
	rdl_renewer_free(renewer);
	rdl_renewed_free(renewed);
}

Test(scripts, fair_lock_is_handed_over)
{
	struct rdl_link *third = support_link(&support, 0);
	struct rdl_fair *fairs[] = { rdl_fair_new(link_, "lock", NULL),
				     rdl_fair_new(third, "lock", NULL) };
	long long number;

	cr_assert_eq(rdl_fair_try_fenced(fairs[0], LONG_MS, &number), RDL_OK);
	for (int i = 0; i < 6; i++) {
		struct rdl_fair *now = fairs[i % 2], *next = fairs[(i + 1) % 2];

		flush_scripts();
		cr_assert_eq(rdl_fair_extend(now, LONG_MS), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_fair_try_fenced(next, LONG_MS, &number), RDL_BUSY);
		flush_scripts();
		cr_assert_eq(rdl_fair_release(now), RDL_OK);
		cr_assert_eq(rdl_fair_wait(next, 10000), RDL_OK, "no message");
		cr_assert_eq(rdl_fair_number(next), i + 2);
	}
	flush_scripts();
	cr_assert_eq(rdl_fair_queue_release(fairs[0]), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_fair_receive_release(fairs[0]), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_fair_free(fairs[0]);
	rdl_fair_free(fairs[1]);
	rdl_link_free(third);
}

Test(scripts, quorum_and_forced_release_go_on)
{
	struct rdl_quorum *quorum = rdl_quorum_new(&link_, 1, "lock", RR_TIMEOUT_MS);
	struct rdl_holder holder;

	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rdl_quorum_try(quorum, LONG_MS), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_quorum_extend(quorum, LONG_MS), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_quorum_release(quorum), RDL_OK);
		cr_assert_eq(rdl_quorum_try(quorum, LONG_MS), RDL_OK);
		cr_assert_eq(rdl_quorum_inspect(quorum, &holder), RDL_OK);
		flush_scripts();
		cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_OK);
		cr_assert_eq(rdl_quorum_release(quorum), RDL_LOST);
	}
	rdl_quorum_free(quorum);
}

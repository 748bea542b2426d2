/* SPDX-License-Identifier: MIT */
/* Who holds a lock, by whose label, for how long, and taking it away. */
#include "pair.h"

#include <signal.h>
#include <string.h>

#include "../party.h"

static const char label[] = "web-1:4711#7";

TestSuite(inspect, .init = pair_setup, .fini = pair_teardown);

static struct rdl_holder look(void)
{
	struct rdl_holder holder;

	cr_assert_eq(rdl_inspect(other, "lock", &holder), RDL_OK, "%s", rdl_link_error(other));
	return holder;
}

static void assert_held(const struct rdl_holder *holder, const char *by)
{
	cr_assert(holder->is_held);
	cr_assert_str_eq(holder->label, by);
	cr_assert_str_eq(holder->token, support_ask(other, "GET", "lock"));
	cr_assert_gt(holder->remaining_ms, LONG_MS - 20000);
	cr_assert_leq(holder->remaining_ms, LONG_MS);
}

Test(inspect, free_lock_has_no_holder)
{
	const struct rdl_holder holder = look();

	cr_assert_not(holder.is_held);
	cr_assert_str_eq(holder.token, "");
	cr_assert_eq(holder.n_waiting, 0);
	cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_LOST);
}

Test(inspect, token_lock_shows_its_label)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_holder holder;
	long long number;

	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	holder = look();
	assert_held(&holder, "");
	cr_assert(rdl_lock_set_label(lock, label));
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_OK, "the token changed with its label");
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	holder = look();
	assert_held(&holder, label);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_lock_try_fenced(lock, LONG_MS, &number), RDL_OK);
	holder = look();
	assert_held(&holder, label);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert(rdl_lock_set_label(lock, NULL));
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_eq(strlen(look().token), 40);
	rdl_lock_free(lock);
}

Test(inspect, label_has_its_limits)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	char longest[65] = "";

	memset(longest, 'x', 63);
	cr_assert(rdl_lock_set_label(lock, longest));
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_str_eq(look().label, longest);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	longest[63] = 'x';
	cr_assert_not(rdl_lock_set_label(lock, longest));
	cr_assert_not(rdl_lock_set_label(lock, "a b"));
	cr_assert_not(rdl_lock_set_label(lock, "a\n"));
	cr_assert(rdl_lock_set_label(lock, "a@b"));
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_str_eq(look().label, "a@b");
	rdl_lock_free(lock);
}

Test(inspect, renewed_and_reentrant_locks_show_theirs)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", LONG_MS);
	struct rdl_reentrant *reentrant = rdl_reentrant_new(link_, "lock");
	struct rdl_holder holder;

	cr_assert(rdl_renewed_set_label(renewed, label));
	cr_assert_eq(rdl_renewed_try(renewed, LONG_MS), RDL_OK);
	holder = look();
	assert_held(&holder, label);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	cr_assert(rdl_reentrant_set_label(reentrant, label));
	cr_assert_eq(rdl_reentrant_try(reentrant, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_reentrant_try(reentrant, LONG_MS), RDL_OK);
	holder = look();
	assert_held(&holder, label);
	cr_assert_eq(rdl_reentrant_release(reentrant), RDL_OK);
	cr_assert_eq(rdl_reentrant_release(reentrant), RDL_OK);
	rdl_reentrant_free(reentrant);
	rdl_renewed_free(renewed);
}

Test(inspect, fair_lock_shows_its_line_and_hands_over_to_a_label)
{
	struct rdl_link *third = support_link(&support, 0);
	struct rdl_fair *fair = rdl_fair_new(link_, "lock", NULL);
	struct rdl_fair *next = rdl_fair_new(third, "lock", NULL);
	struct rdl_holder holder;
	long long number;

	cr_assert(rdl_fair_set_label(fair, label));
	cr_assert(rdl_fair_set_label(next, "5:6f@x=1#2"));
	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_fair_try_fenced(next, LONG_MS, &number), RDL_BUSY);
	holder = look();
	assert_held(&holder, label);
	cr_assert_eq(holder.n_waiting, 1);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	cr_assert_eq(rdl_fair_wait(next, 10000), RDL_OK);
	cr_assert_eq(rdl_fair_number(next), 1);
	holder = look();
	assert_held(&holder, "5:6f@x=1#2");
	cr_assert_eq(holder.n_waiting, 0);
	cr_assert_eq(rdl_fair_release(next), RDL_OK);
	rdl_fair_free(fair);
	rdl_fair_free(next);
	rdl_link_free(third);
}

Test(inspect, lock_of_another_library_and_what_is_none)
{
	char text[300];
	struct rdl_holder holder;
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "SET lock uuid-1"), RDL_OK);
	holder = look();
	cr_assert(holder.is_held);
	cr_assert_eq(holder.remaining_ms, -1);
	cr_assert_str_eq(holder.token, "uuid-1");
	cr_assert_eq(rdl_run(link_, &reply, "SET lock:line mine"), RDL_OK);
	cr_assert_eq(look().n_waiting, 0);
	memset(text, 'x', sizeof(text));
	cr_assert_eq(rdl_run(link_, &reply, "SET lock %.*s", 256, text), RDL_OK);
	cr_assert_eq(rdl_inspect(other, "lock", &holder), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(other), RDL_REASON_TYPE);
	cr_assert_not(holder.is_held);
	cr_assert_eq(rdl_run(link_, &reply, "SET lock %.*s", 3, "a\0b"), RDL_OK);
	cr_assert_eq(rdl_inspect(other, "lock", &holder), RDL_ERROR);
	cr_assert_eq(rdl_run(link_, &reply, "DEL lock"), RDL_OK);
	cr_assert_eq(rdl_run(link_, &reply, "LPUSH lock x"), RDL_OK);
	cr_assert_eq(rdl_inspect(other, "lock", &holder), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(other), RDL_REASON_TYPE);
	cr_assert_eq(rdl_run(other, &reply, "PING"), RDL_OK, "a transaction is left open");
}

Test(inspect, forced_release_takes_it_from_that_holder_only)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock"), *next = rdl_lock_new(other, "lock");
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", LONG_MS);
	struct rdl_holder holder;

	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	holder = look();
	cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_OK);
	cr_assert_eq(rdl_lock_try(next, LONG_MS), RDL_OK);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0, "it cannot know yet");
	cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_LOST);
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_LOST);
	cr_assert_eq(rdl_lock_release(next), RDL_OK);
	cr_assert_eq(rdl_renewed_try(renewed, 2000), RDL_OK);
	holder = look();
	cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_OK);
	for (int i = 0; rdl_renewed_check(renewed) == RDL_OK; i++) {
		cr_assert_lt(i, 1000, "the renewer notices nothing");
		rdl_sleep_ns(other, 10000000);
	}
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0", "made again");
	cr_assert_eq(rdl_renewed_release(renewed), RDL_LOST);
	rdl_renewed_free(renewed);
	rdl_lock_free(next);
	rdl_lock_free(lock);
}

Test(inspect, waiter_gets_a_fair_lock_that_was_taken)
{
	struct rdl_fair *fair = rdl_fair_new(link_, "lock", NULL);
	struct rdl_link *third = support_link(&support, 0);
	struct rdl_fair *next = rdl_fair_new(third, "lock", "data");
	const struct rdl_policy policy = { .wait_ms = LONG_MS };
	struct rdl_holder holder;
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "SET data value"), RDL_OK);
	cr_assert_eq(rdl_fair_try(fair, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_fair_try(next, LONG_MS), RDL_BUSY);
	holder = look();
	cr_assert_eq(rdl_force_release(other, "lock", &holder), RDL_OK);
	cr_assert_eq(rdl_fair_acquire(next, LONG_MS, &policy), RDL_OK);
	cr_assert_str_eq(rdl_fair_carried(next)->text, "value");
	cr_assert_eq(rdl_fair_release(fair), RDL_LOST);
	cr_assert_eq(rdl_fair_release(next), RDL_OK);
	rdl_fair_free(fair);
	rdl_fair_free(next);
	rdl_link_free(third);
}

/* ---- Several holders --------------------------------------------------------- */

static size_t look_at_all(struct rdl_holder *holders, size_t size)
{
	size_t n;

	cr_assert_eq(rdl_inspect_all(other, "lock", holders, size, &n), RDL_OK, "%s",
		     rdl_link_error(other));
	return n;
}

Test(inspect, each_permit_shows_its_label_and_lease)
{
	struct rdl_semaphore *permits[3];
	struct rdl_holder holders[3], none[1] = { { .is_held = true } };
	const char *const labels[] = { "web-1", NULL, "web-3" };
	const struct rdl_policy policy = { .wait_ms = LONG_MS };

	cr_assert_eq(look_at_all(holders, 3), 0);
	for (int i = 0; i < 3; i++) {
		permits[i] = rdl_semaphore_new(link_, "lock", 3);
		cr_assert(rdl_semaphore_set_label(permits[i], labels[i]));
		cr_assert_eq(rdl_semaphore_try(permits[i], LONG_MS * (i + 1)), RDL_OK);
	}
	cr_assert_eq(look_at_all(holders, 3), 3);
	for (int i = 0; i < 3; i++) {
		cr_assert(holders[i].is_held);
		cr_assert_str_eq(holders[i].label, labels[i] ? labels[i] : "");
		cr_assert_leq(holders[i].remaining_ms, LONG_MS * (i + 1));
		cr_assert_gt(holders[i].remaining_ms, LONG_MS * (i + 1) - 20000);
	}
	cr_assert_eq(look_at_all(holders, 1), 3, "there are more than fit");
	cr_assert_eq(look_at_all(none, 0), 3);
	cr_assert(none[0].is_held, "no place, and yet written");
	cr_assert_not(rdl_semaphore_set_label(permits[0], "a b"));
	cr_assert_eq(rdl_semaphore_extend(permits[0], LONG_MS), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(permits[0]), RDL_OK);
	cr_assert_eq(look_at_all(holders, 3), 2);
	cr_assert_str_eq(holders[1].label, "web-3");
	cr_assert_eq(rdl_semaphore_acquire(permits[0], 50, &policy), RDL_OK);
	rdl_sleep_ns(other, 60000000);
	cr_assert_eq(look_at_all(holders, 3), 2, "its lease has ended");
	for (int i = 0; i < 3; i++)
		rdl_semaphore_free(permits[i]);
}

Test(inspect, readers_and_the_writer_show_their_labels)
{
	struct rdl_rwlock *a = rdl_rwlock_new(link_, "lock"), *b = rdl_rwlock_new(link_, "lock");
	struct rdl_holder holders[2];

	cr_assert(rdl_rwlock_set_label(a, label));
	cr_assert(rdl_rwlock_set_label(b, "second"));
	cr_assert_eq(rdl_rwlock_read_try(a, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_read_try(b, 2 * LONG_MS), RDL_OK);
	cr_assert_eq(look_at_all(holders, 2), 2);
	cr_assert_str_eq(holders[0].label, label);
	cr_assert_str_eq(holders[1].label, "second");
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(b), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(a, LONG_MS), RDL_OK);
	cr_assert_eq(look_at_all(holders, 2), 1);
	assert_held(&holders[0], label);
	holders[1] = look();
	cr_assert_str_eq(holders[1].label, label);
	rdl_rwlock_free(a);
	rdl_rwlock_free(b);
}

Test(inspect, any_other_lock_shows_its_one_holder)
{
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_holder holders[2];
	struct rdl_reply reply;
	size_t n;

	cr_assert(rdl_lock_set_label(lock, label));
	cr_assert_eq(rdl_lock_try(lock, LONG_MS), RDL_OK);
	cr_assert_eq(look_at_all(holders, 2), 1);
	assert_held(&holders[0], label);
	rdl_lock_free(lock);
	cr_assert_eq(rdl_run(link_, &reply, "DEL lock"), RDL_OK);
	cr_assert_eq(rdl_run(link_, &reply, "LPUSH lock 1"), RDL_OK);
	cr_assert_eq(rdl_inspect_all(other, "lock", holders, 2, &n), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(other), RDL_REASON_TYPE);
	cr_assert_eq(n, 0);
}

/* ---- A quorum --------------------------------------------------------------- */

Test(inspect, quorum_is_seen_as_a_majority_has_it)
{
	struct party holder_of, looker;
	struct rdl_holder holder;

	support_need(&support, 5);
	party_open(&holder_of, support.addresses, 5, NODE_MS);
	party_open(&looker, support.addresses, 5, NODE_MS);
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_OK);
	cr_assert_not(holder.is_held);
	cr_assert(rdl_quorum_set_label(holder_of.quorum, label));
	cr_assert_eq(party_try(&holder_of, NULL), RDL_OK);
	cr_assert_eq(rdl_quorum_query(holder_of.quorum), RDL_OK);
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_OK);
	assert_held(&holder, label);

	lock_write(&support, 0, 2, "another's"); /* without an end */
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_OK);
	cr_assert(holder.is_held);
	cr_assert_str_eq(holder.label, label);
	cr_assert_gt(holder.remaining_ms, 0);

	servers_signal(&support, 4, 1, SIGSTOP);
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_UNKNOWN);
	cr_assert_not(holder.is_held);
	cr_assert_neq(rdl_quorum_error(looker.quorum)[0], '\0');
	servers_signal(&support, 4, 1, SIGCONT);
	lock_write(&support, 2, 1, "another's");
	for (int i = 0; rdl_quorum_inspect(looker.quorum, &holder) != RDL_OK; i++)
		cr_assert_lt(i, 100);
	cr_assert(holder.is_held);
	cr_assert_str_eq(holder.token, "another's");
	cr_assert_eq(holder.remaining_ms, -1);
	lock_write(&support, 0, 3, NULL);
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_OK);
	cr_assert_not(holder.is_held, "two of five are no majority");
	party_close(&holder_of);
	party_close(&looker);
}

/* A majority has it for as long as the third of five. */
Test(inspect, quorum_ends_when_the_majority_does)
{
	struct party looker;
	struct rdl_holder holder;
	struct rdl_reply reply;

	support_need(&support, 5);
	party_open(&looker, support.addresses, 5, NODE_MS);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(rdl_run(looker.links[i], &reply, "SET lock same PX %d",
				     100000 * (i + 1)),
			     RDL_OK);
	cr_assert_eq(rdl_quorum_inspect(looker.quorum, &holder), RDL_OK);
	cr_assert(holder.is_held);
	cr_assert_leq(holder.remaining_ms, 300000);
	cr_assert_gt(holder.remaining_ms, 200000);
	party_close(&looker);
}

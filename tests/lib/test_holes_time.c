/* SPDX-License-Identifier: MIT */
/* Leases at their edges: replies that take as long as a lease, limits below one,
 * leases of nothing. */
#include "pair.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "driver.h"

static struct rl_lock *lock;

static void setup(void)
{
	pair_setup();
	lock = rl_lock_new(link_, "lock");
}

static void teardown(void)
{
	rl_lock_free(lock);
	pair_teardown();
}

TestSuite(holes_time, .init = setup, .fini = teardown);

/* ---- A clock that jumps --------------------------------------------------------- */

/* What is added to the clock, and what every reply adds to that. */
struct jumps {
	_Atomic int64_t ahead_ns;
	int64_t per_reply_ns;
	const struct rl_driver *renewers;
};

static int64_t jumping_now(void *context, enum rl_clock clock)
{
	struct jumps *jumps = context;

	(void)clock;
	return rl_now_ns(other, RL_CLOCK_MONOTONIC) + atomic_load(&jumps->ahead_ns);
}

static enum rl_outcome slow_receive(void *context, struct rl_link *link, struct rl_reply *reply,
				    enum rl_outcome outcome)
{
	struct jumps *jumps = context;

	(void)link;
	(void)reply;
	atomic_fetch_add(&jumps->ahead_ns, jumps->per_reply_ns);
	return outcome;
}

static bool jumping_spawn(void *context, struct rl_task *task)
{
	const struct jumps *jumps = context;

	rl_link_set_driver(task->link, jumps->renewers);
	return rl_spawn(other, task);
}

static const struct rl_driver_ops slow_ops = { .now = jumping_now, .receive = slow_receive };
static const struct rl_driver_ops holder_ops = { .now = jumping_now, .spawn = jumping_spawn };

/* ---- Leases and slow replies ----------------------------------------------------- */

Test(holes_time, lease_that_is_spent_when_it_is_granted_is_given_back)
{
	struct jumps jumps = { .per_reply_ns = 400000000 };
	const struct rl_driver slow = { &slow_ops, &jumps };
	long long number;

	rl_link_set_driver(link_, &slow);
	cr_assert_eq(rl_lock_try(lock, 300), RL_BUSY);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rl_lock_try_fenced(lock, 300, &number), RL_BUSY);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rl_lock_try(lock, 60000), RL_OK);
}

Test(holes_time, spent_lease_of_a_batch_is_given_back_by_the_next_attempt)
{
	struct jumps jumps = { .per_reply_ns = 70000000000 };
	const struct rl_driver slow = { &slow_ops, &jumps };
	struct rl_reply reply;

	rl_link_set_driver(link_, &slow);
	cr_assert_eq(rl_lock_queue_try(lock, 60000), RL_OK);
	cr_assert_eq(rl_queue(link_, "ECHO mine"), RL_OK);
	cr_assert_eq(rl_flush(link_), RL_OK);
	cr_assert_eq(rl_lock_receive_try(lock), RL_BUSY);
	cr_assert_eq(rl_receive(link_, &reply), RL_OK);
	cr_assert_str_eq(reply.text, "mine");
	rl_link_set_driver(link_, NULL);
	cr_assert_eq(rl_lock_try(lock, 60000), RL_OK);
}

Test(holes_time, extension_counts_from_before_it_was_sent)
{
	struct jumps jumps = { .per_reply_ns = 5000000000 };
	const struct rl_driver slow = { &slow_ops, &jumps };

	cr_assert_eq(rl_lock_try(lock, 60000), RL_OK);
	rl_link_set_driver(link_, &slow);
	cr_assert_eq(rl_lock_extend(lock, 60000), RL_OK);
	cr_assert_leq(rl_lock_remaining_ms(lock), 60000 - 602 - 5000);
	jumps.per_reply_ns = 70000000000;
	cr_assert_eq(rl_lock_extend(lock, 60000), RL_UNKNOWN);
	cr_assert_eq(rl_lock_remaining_ms(lock), 0);
	jumps.per_reply_ns = 0;
	cr_assert_eq(rl_lock_extend(lock, 60000), RL_OK);
	cr_assert_gt(rl_lock_remaining_ms(lock), 0);
}

/* The greatest remainder that is seen once the renewer has been answered. */
static long longest_remainder_ms(const struct rl_renewed *renewed, struct jumps *jumps)
{
	long longest_ms = 0;
	int seen = 0;

	for (int i = 0; i < 5000 && seen < 300; i++) {
		const bool answered = atomic_load(&jumps->ahead_ns) > 0;
		const long left_ms = rl_renewed_remaining_ms(renewed);

		seen += answered;
		if (answered && left_ms > longest_ms)
			longest_ms = left_ms;
		poll(NULL, 0, 2);
	}
	return longest_ms;
}

Test(holes_time, renewal_counts_from_before_it_was_sent)
{
	struct jumps jumps = { .per_reply_ns = 600000000 };
	const struct rl_driver slow = { &slow_ops, &jumps };
	const struct rl_driver holder = { &holder_ops, &jumps };
	struct rl_renewed *renewed = rl_renewed_new(link_, "lock", 60000);
	long longest_ms;

	jumps.renewers = &slow;
	rl_link_set_driver(link_, &holder);
	cr_assert_eq(rl_renewed_try(renewed, 3000), RL_OK);
	longest_ms = longest_remainder_ms(renewed, &jumps);
	cr_assert_gt(longest_ms, 0);
	cr_assert_leq(longest_ms, 3000 - 32 - 600);
	rl_renewed_release(renewed);
	rl_renewed_free(renewed);
}

/* ---- The renewed lock ------------------------------------------------------------ */

Test(holes_time, first_lease_keeps_the_limit_of_the_hold)
{
	struct rl_renewed *renewed = rl_renewed_new(link_, "lock", 5000);
	struct rl_reply reply;

	cr_assert_eq(rl_renewed_try(renewed, 60000), RL_OK);
	cr_assert_eq(rl_run(other, &reply, "PTTL lock"), RL_OK);
	cr_assert_leq(reply.integer, 5000);
	cr_assert_eq(rl_renewed_release(renewed), RL_OK);
	rl_renewed_free(renewed);
	renewed = rl_renewed_new(link_, "lock", 0);
	cr_assert_eq(rl_renewed_try(renewed, 60000), RL_ERROR);
	cr_assert(strstr(rl_link_error(link_), "1 ms"));
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rl_renewed_free(renewed);
}

Test(holes_time, lost_lock_is_asked_for_again_at_once)
{
	struct rl_renewed *renewed = rl_renewed_new(link_, "lock", 600000);
	struct pollfd loss = { .fd = rl_renewed_loss_fd(renewed), .events = POLLIN };

	cr_assert_eq(rl_renewed_try(renewed, 15000), RL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(poll(&loss, 1, 20000), 1);
	cr_assert_eq(rl_renewed_check(renewed), RL_LOST);
	cr_assert_eq(rl_renewed_try(renewed, 60000), RL_OK);
	cr_assert_eq(rl_renewed_stats(renewed)->lost, 1);
	cr_assert_eq(rl_renewed_release(renewed), RL_OK);
	rl_renewed_free(renewed);
}

/* ---- Leases of nothing ------------------------------------------------------------- */

static void assert_refused(enum rl_outcome outcome, const char *error)
{
	cr_assert_eq(outcome, RL_ERROR, "%s", rl_outcome_name(outcome));
	cr_assert(strstr(error, "the shortest is 1 ms"), "%s", error);
}

Test(holes_time, lease_of_nothing_is_refused_and_nothing_sent)
{
	struct rl_reentrant *levels = rl_reentrant_new(link_, "levels");
	struct rl_quorum *quorum = rl_quorum_new(&link_, 1, "quorum", 5000);
	uint64_t sent;

	cr_assert_eq(rl_lock_try(lock, 60000), RL_OK);
	cr_assert_eq(rl_reentrant_try(levels, 60000), RL_OK);
	cr_assert_eq(rl_quorum_try(quorum, 60000), RL_OK);
	sent = rl_link_commands(link_);
	for (long ttl_ms = -1; ttl_ms < 1; ttl_ms++) {
		assert_refused(rl_lock_try(lock, ttl_ms), rl_link_error(link_));
		assert_refused(rl_lock_extend(lock, ttl_ms), rl_link_error(link_));
		assert_refused(rl_reentrant_try(levels, ttl_ms), rl_link_error(link_));
		assert_refused(rl_quorum_try(quorum, ttl_ms), rl_quorum_error(quorum));
		assert_refused(rl_quorum_extend(quorum, ttl_ms), rl_quorum_error(quorum));
	}
	cr_assert_eq(rl_link_commands(link_), sent);
	cr_assert_eq(rl_lock_release(lock), RL_OK);
	cr_assert_eq(rl_reentrant_release(levels), RL_OK);
	cr_assert_eq(rl_quorum_release(quorum), RL_OK);
	rl_quorum_free(quorum);
	rl_reentrant_free(levels);
}

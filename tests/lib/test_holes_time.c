/* SPDX-License-Identifier: MIT */
/* Leases at their edges: replies that take as long as a lease, limits below one,
 * leases of nothing. */
#include "pair.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "driver.h"

static struct rdl_lock *lock;

static void setup(void)
{
	pair_setup();
	lock = rdl_lock_new(link_, "lock");
}

static void teardown(void)
{
	rdl_lock_free(lock);
	pair_teardown();
}

TestSuite(holes_time, .init = setup, .fini = teardown);

/* ---- A clock that jumps --------------------------------------------------------- */

/* What is added to the clock, and what every reply adds to that. */
struct jumps {
	_Atomic int64_t ahead_ns;
	int64_t per_reply_ns;
	const struct rdl_driver *renewers;
};

static int64_t jumping_now(void *context, enum rdl_clock clock)
{
	struct jumps *jumps = context;

	(void)clock;
	return rdl_now_ns(other, RDL_CLOCK_MONOTONIC) + atomic_load(&jumps->ahead_ns);
}

static enum rdl_outcome slow_receive(void *context, struct rdl_link *link, struct rdl_reply *reply,
				     enum rdl_outcome outcome)
{
	struct jumps *jumps = context;

	(void)link;
	(void)reply;
	atomic_fetch_add(&jumps->ahead_ns, jumps->per_reply_ns);
	return outcome;
}

static bool jumping_spawn(void *context, struct rdl_task *task)
{
	const struct jumps *jumps = context;

	rdl_link_set_driver(task->link, jumps->renewers);
	return rdl_spawn(other, task);
}

static const struct rdl_driver_ops slow_ops = { .now = jumping_now, .receive = slow_receive };
static const struct rdl_driver_ops holder_ops = { .now = jumping_now, .spawn = jumping_spawn };

/* ---- Leases and slow replies ----------------------------------------------------- */

Test(holes_time, lease_that_is_spent_when_it_is_granted_is_given_back)
{
	struct jumps jumps = { .per_reply_ns = 400000000 };
	const struct rdl_driver slow = { &slow_ops, &jumps };
	long long number;

	rdl_link_set_driver(link_, &slow);
	cr_assert_eq(rdl_lock_try(lock, 300), RDL_BUSY);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rdl_lock_try_fenced(lock, 300, &number), RDL_BUSY);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
}

Test(holes_time, spent_lease_of_a_batch_is_given_back_by_the_next_attempt)
{
	struct jumps jumps = { .per_reply_ns = 70000000000 };
	const struct rdl_driver slow = { &slow_ops, &jumps };
	struct rdl_reply reply;

	rdl_link_set_driver(link_, &slow);
	cr_assert_eq(rdl_lock_queue_try(lock, 60000), RDL_OK);
	cr_assert_eq(rdl_queue(link_, "ECHO mine"), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	cr_assert_eq(rdl_lock_receive_try(lock), RDL_BUSY);
	cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
	cr_assert_str_eq(reply.text, "mine");
	rdl_link_set_driver(link_, NULL);
	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
}

Test(holes_time, extension_counts_from_before_it_was_sent)
{
	struct jumps jumps = { .per_reply_ns = 5000000000 };
	const struct rdl_driver slow = { &slow_ops, &jumps };

	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
	rdl_link_set_driver(link_, &slow);
	cr_assert_eq(rdl_lock_extend(lock, 60000), RDL_OK);
	cr_assert_leq(rdl_lock_remaining_ms(lock), 60000 - 602 - 5000);
	jumps.per_reply_ns = 70000000000;
	cr_assert_eq(rdl_lock_extend(lock, 60000), RDL_UNKNOWN);
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	jumps.per_reply_ns = 0;
	cr_assert_eq(rdl_lock_extend(lock, 60000), RDL_OK);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
}

/* The greatest remainder that is seen once the renewer has been answered. */
static long longest_remainder_ms(const struct rdl_renewed *renewed, struct jumps *jumps)
{
	long longest_ms = 0;
	int seen = 0;

	for (int i = 0; i < 5000 && seen < 300; i++) {
		const bool answered = atomic_load(&jumps->ahead_ns) > 0;
		const long left_ms = rdl_renewed_remaining_ms(renewed);

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
	const struct rdl_driver slow = { &slow_ops, &jumps };
	const struct rdl_driver holder = { &holder_ops, &jumps };
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", 60000);
	long longest_ms;

	jumps.renewers = &slow;
	rdl_link_set_driver(link_, &holder);
	cr_assert_eq(rdl_renewed_try(renewed, 3000), RDL_OK);
	longest_ms = longest_remainder_ms(renewed, &jumps);
	cr_assert_gt(longest_ms, 0);
	cr_assert_leq(longest_ms, 3000 - 32 - 600);
	rdl_renewed_release(renewed);
	rdl_renewed_free(renewed);
}

/* ---- The renewed lock ------------------------------------------------------------ */

Test(holes_time, first_lease_keeps_the_limit_of_the_hold)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", 5000);
	struct rdl_reply reply;

	cr_assert_eq(rdl_renewed_try(renewed, 60000), RDL_OK);
	cr_assert_eq(rdl_run(other, &reply, "PTTL lock"), RDL_OK);
	cr_assert_leq(reply.integer, 5000);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
	renewed = rdl_renewed_new(link_, "lock", 0);
	cr_assert_eq(rdl_renewed_try(renewed, 60000), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(link_), "1 ms"));
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_renewed_free(renewed);
}

Test(holes_time, lost_lock_is_asked_for_again_at_once)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", 600000);
	struct pollfd loss = { .fd = rdl_renewed_loss_fd(renewed), .events = POLLIN };

	cr_assert_eq(rdl_renewed_try(renewed, 15000), RDL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(poll(&loss, 1, 20000), 1);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_LOST);
	cr_assert_eq(rdl_renewed_try(renewed, 60000), RDL_OK);
	cr_assert_eq(rdl_renewed_stats(renewed)->lost, 1);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

/* ---- Leases of nothing ------------------------------------------------------------- */

static void assert_refused(enum rdl_outcome outcome, const char *error)
{
	cr_assert_eq(outcome, RDL_ERROR, "%s", rdl_outcome_name(outcome));
	cr_assert(strstr(error, "the shortest is 1 ms"), "%s", error);
}

Test(holes_time, lease_of_nothing_is_refused_and_nothing_sent)
{
	struct rdl_reentrant *levels = rdl_reentrant_new(link_, "levels");
	struct rdl_quorum *quorum = rdl_quorum_new(&link_, 1, "quorum", 5000);
	uint64_t sent;

	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
	cr_assert_eq(rdl_reentrant_try(levels, 60000), RDL_OK);
	cr_assert_eq(rdl_quorum_try(quorum, 60000), RDL_OK);
	sent = rdl_link_commands(link_);
	for (long ttl_ms = -1; ttl_ms < 1; ttl_ms++) {
		assert_refused(rdl_lock_try(lock, ttl_ms), rdl_link_error(link_));
		assert_refused(rdl_lock_extend(lock, ttl_ms), rdl_link_error(link_));
		assert_refused(rdl_reentrant_try(levels, ttl_ms), rdl_link_error(link_));
		assert_refused(rdl_quorum_try(quorum, ttl_ms), rdl_quorum_error(quorum));
		assert_refused(rdl_quorum_extend(quorum, ttl_ms), rdl_quorum_error(quorum));
	}
	cr_assert_eq(rdl_link_commands(link_), sent);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_reentrant_release(levels), RDL_OK);
	cr_assert_eq(rdl_quorum_release(quorum), RDL_OK);
	rdl_quorum_free(quorum);
	rdl_reentrant_free(levels);
}

/* SPDX-License-Identifier: MIT */
/* The token lock in an event loop: right, and never waiting, whatever the server does. */
#include <poll.h>
#include <unistd.h>

#include "driver.h"
#include "pair.h"

enum { TTL_MS = 20000, TIMEOUT_MS = 300, CALL_MS = 150 };

static struct rdl_lock *lock;
static struct rdl_async *async;

static void async_setup(void)
{
	pair_setup();
	lock = rdl_lock_new(link_, "lock");
	async = rdl_async_new(lock);
}

static void async_teardown(void)
{
	rdl_async_free(async);
	rdl_lock_free(lock);
	pair_teardown();
}

TestSuite(async, .init = async_setup, .fini = async_teardown);

static long long now_ms(void)
{
	return rdl_now_ns(other, RDL_CLOCK_MONOTONIC) / 1000000;
}

/* Calls rdl_async_handle(), which may not wait: what it waits for a processor is no part of that. */
static bool handle(enum rdl_outcome *outcome)
{
	const long begun_ms = support_asleep_ms(getpid());
	const bool has_ended = rdl_async_handle(async, outcome);

	cr_assert_lt(support_asleep_ms(getpid()) - begun_ms, CALL_MS, "it waits");
	return has_ended;
}

/* The loop of a program, until the operation has ended; *n_turns counts. */
static enum rdl_outcome loop(int *n_turns)
{
	enum rdl_outcome outcome = RDL_ERROR;
	const long long begun_ms = now_ms();
	int turns = 0;

	while (!handle(&outcome)) {
		struct pollfd ready = { rdl_link_fd(link_), rdl_async_events(async), 0 };

		cr_assert_geq(rdl_async_timeout_ms(async), 0);
		poll(&ready, 1, rdl_async_timeout_ms(async));
		turns++;
		cr_assert_lt(now_ms() - begun_ms, 10000, "it does not end");
	}
	cr_assert_eq(rdl_async_timeout_ms(async), -1);
	if (n_turns)
		*n_turns = turns;
	return outcome;
}

static enum rdl_outcome acquire(struct rdl_policy policy)
{
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, &policy));
	return loop(NULL);
}

static enum rdl_outcome extend(void)
{
	cr_assert(rdl_async_begin_extend(async, TTL_MS));
	return loop(NULL);
}

static enum rdl_outcome release(void)
{
	cr_assert(rdl_async_begin_release(async));
	return loop(NULL);
}

static const struct rdl_policy once = { .wait_ms = 0 };

/* ---- The ordinary course ------------------------------------------------------ */

Test(async, acquires_extends_and_releases)
{
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(acquire(once), RDL_OK, "%s", rdl_link_error(link_));
		cr_assert_gt(rdl_lock_remaining_ms(lock), TTL_MS / 2);
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "1");
		cr_assert_eq(acquire(once), RDL_BUSY, "it is held by this very lock");
		support_ask(other, "PERSIST", "lock");
		cr_assert_eq(extend(), RDL_OK);
		cr_assert_str_neq(support_ask(other, "PTTL", "lock"), "-1");
		cr_assert_eq(release(), RDL_OK);
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
		cr_assert_eq(release(), RDL_LOST);
		cr_assert_eq(extend(), RDL_LOST);
	}
}

Test(async, works_on_after_scripts_were_forgotten)
{
	cr_assert_eq(acquire(once), RDL_OK);
	support_ask(other, "SCRIPT", "FLUSH");
	cr_assert_eq(extend(), RDL_OK);
	support_ask(other, "SCRIPT", "FLUSH");
	cr_assert_eq(release(), RDL_OK);
}

Test(async, one_operation_at_a_time)
{
	enum rdl_outcome outcome;

	cr_assert_not(rdl_async_handle(async, &outcome), "nothing was begun");
	cr_assert_eq(rdl_async_timeout_ms(async), -1);
	cr_assert_eq(rdl_async_events(async), 0);
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, NULL));
	cr_assert_not(rdl_async_begin_release(async));
	cr_assert_eq(loop(NULL), RDL_OK);
	cr_assert(rdl_async_begin_extend(async, 0));
	cr_assert_eq(loop(NULL), RDL_ERROR);
	cr_assert_eq(release(), RDL_OK);
}

Test(async, taken_away_is_lost)
{
	cr_assert_eq(acquire(once), RDL_OK);
	support_ask(other, "DEL", "lock");
	cr_assert_eq(extend(), RDL_LOST);
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(acquire(once), RDL_OK);
	support_ask(other, "DEL", "lock");
	cr_assert_eq(release(), RDL_LOST);
}

/* ---- While another client holds it --------------------------------------------- */

Test(async, waits_for_a_holder_in_pauses)
{
	struct rdl_policy policy = { .wait_ms = 1000 };
	struct rdl_reply reply;
	int turns;

	cr_assert_eq(rdl_run(other, &reply, "SET lock theirs"), RDL_OK);
	cr_assert_eq(acquire(once), RDL_BUSY);
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, &policy));
	cr_assert_eq(loop(&turns), RDL_BUSY);
	cr_assert_lt(turns, 2000, "it spins");
	cr_assert_eq(rdl_run(other, &reply, "PEXPIRE lock 100"), RDL_OK);
	policy.wait_ms = 5000;
	cr_assert_eq(acquire(policy), RDL_OK);
	cr_assert_eq(release(), RDL_OK);
}

Test(async, lease_that_is_too_short_is_given_back)
{
	cr_assert_eq(acquire((struct rdl_policy){ .least_ms = 2 * TTL_MS }), RDL_BUSY);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(acquire(once), RDL_OK);
}

Test(async, cancel_ends_a_pause)
{
	const struct rdl_policy policy = { .wait_ms = 60000,
					   .pause_min_us = 30000000,
					   .pause_max_us = 30000000 };
	enum rdl_outcome outcome;
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "SET lock theirs"), RDL_OK);
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, &policy));
	while (rdl_async_events(async)) {
		poll(NULL, 0, 1);
		cr_assert_not(handle(&outcome));
	}
	rdl_async_cancel(async);
	cr_assert(handle(&outcome));
	cr_assert_eq(outcome, RDL_BUSY);
}

/* ---- A server that hangs -------------------------------------------------------- */

/* Only a server that hangs is given up so soon. */
static void hang(void)
{
	support_inject(&support, 0, RR_FAULT_HANG);
	rdl_link_set_timeout(link_, TIMEOUT_MS);
}

static void resume(void)
{
	support_inject(&support, 0, RR_FAULT_RESUME);
	rdl_link_set_timeout(link_, RR_TIMEOUT_MS);
}

Test(async, hung_server_is_unknown_after_the_time_out)
{
	long long begun_ms;

	cr_assert_eq(acquire(once), RDL_OK);
	cr_assert_eq(release(), RDL_OK);
	hang();
	begun_ms = now_ms();
	cr_assert_eq(acquire(once), RDL_UNKNOWN);
	cr_assert_geq(now_ms() - begun_ms, TIMEOUT_MS);
	cr_assert_eq(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(acquire(once), RDL_UNKNOWN, "the first may be there still");
	cr_assert_eq(release(), RDL_UNKNOWN);
	resume();
	cr_assert_neq(release(), RDL_UNKNOWN);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(acquire(once), RDL_OK);
	cr_assert_eq(release(), RDL_OK);
}

Test(async, hung_server_does_not_end_the_lease_early)
{
	cr_assert_eq(acquire(once), RDL_OK);
	hang();
	cr_assert_eq(extend(), RDL_UNKNOWN);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	resume();
	cr_assert_eq(extend(), RDL_OK);
	cr_assert_eq(release(), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

Test(async, wait_outlasts_a_server_that_hangs_for_a_while)
{
	const struct rdl_policy policy = { .wait_ms = 8000 };
	const long long begun_ms = now_ms();
	enum rdl_outcome outcome = RDL_ERROR;
	bool resumed = false;

	hang();
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, &policy));
	while (!handle(&outcome)) {
		poll(NULL, 0, 5);
		if (!resumed && now_ms() - begun_ms > 3 * TIMEOUT_MS) {
			resume();
			resumed = true;
		}
	}
	cr_assert(resumed);
	cr_assert_eq(outcome, RDL_OK);
	cr_assert_eq(release(), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

Test(async, cancelled_request_is_taken_back_later)
{
	enum rdl_outcome outcome;

	hang();
	cr_assert(rdl_async_begin_acquire(async, TTL_MS, NULL));
	cr_assert_not(handle(&outcome));
	rdl_async_cancel(async);
	cr_assert(handle(&outcome));
	cr_assert_eq(outcome, RDL_UNKNOWN);
	resume();
	cr_assert_eq(release(), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

Test(async, killed_server_is_told)
{
	cr_assert_eq(acquire(once), RDL_OK);
	support_inject(&support, 0, RR_FAULT_KILL);
	cr_assert_neq(extend(), RDL_OK);
	cr_assert_neq(release(), RDL_OK);
}

Test(async, freed_in_the_middle)
{
	struct rdl_reply reply;

	cr_assert(rdl_async_begin_acquire(async, TTL_MS, NULL));
	rdl_async_free(async);
	async = rdl_async_new(lock);
	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
	cr_assert_str_eq(reply.text, "PONG", "the reply of the lock is thrown away");
	release();
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

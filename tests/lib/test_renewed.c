/* SPDX-License-Identifier: MIT */
/* The renewed lock: what its renewer does, and what ends it. */
#include "pair.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOLD_MAX_MS = 60000 };

TestSuite(renewed, .init = pair_setup, .fini = pair_teardown);

static void sleep_ms(long ms)
{
	rdl_sleep_ns(other, ms * INT64_C(1000000));
}

static int64_t now_ms(void)
{
	return rdl_now_ns(other, RDL_CLOCK_MONOTONIC) / 1000000;
}

static struct rdl_renewed *held(long ttl_ms, long hold_max_ms)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", hold_max_ms);

	cr_assert_eq(rdl_renewed_try(renewed, ttl_ms), RDL_OK);
	return renewed;
}

/* Does the holder learn of the loss within `ms`? */
static bool is_told(const struct rdl_renewed *renewed, int ms)
{
	struct pollfd ready = { .fd = rdl_renewed_loss_fd(renewed), .events = POLLIN };

	return poll(&ready, 1, ms) == 1;
}

static int n_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n - 2;
}

Test(renewed, work_of_three_leases_keeps_the_lock)
{
	struct rdl_renewed *renewed = held(1200, HOLD_MAX_MS);

	for (int i = 0; i < 30; i++) {
		sleep_ms(120);
		cr_assert_eq(rdl_renewed_check(renewed), RDL_OK, "after %d ms", 120 * i);
	}
	cr_assert_not(is_told(renewed, 0));
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_renewed_free(renewed);
}

/* By the next renewal, long before the lease would have ended. */
Test(renewed, loss_is_told_within_a_renewal)
{
	struct rdl_renewed *renewed = held(6000, HOLD_MAX_MS);

	cr_assert_not(is_told(renewed, 0));
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert(is_told(renewed, 5000));
	cr_assert_eq(rdl_renewed_check(renewed), RDL_LOST);
	cr_assert_eq(rdl_renewed_remaining_ms(renewed), 0);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_LOST);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rdl_renewed_try(renewed, 6000), RDL_OK);
	cr_assert_not(is_told(renewed, 0), "the old loss is still told");
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

/* When the lease is over, and not when the connection's time-out is. */
Test(renewed, loss_is_told_when_the_server_hangs)
{
	struct rdl_renewed *renewed;
	int64_t start_ms;

	rdl_link_set_timeout(link_, 20000);
	start_ms = now_ms();
	renewed = held(600, HOLD_MAX_MS);
	kill(support.cluster.servers[0].process.pid, SIGSTOP);
	cr_assert(is_told(renewed, 10000));
	cr_assert_geq(now_ms() - start_ms, 300);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_LOST);
	kill(support.cluster.servers[0].process.pid, SIGCONT);
	sleep_ms(700);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_LOST);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_renewed_free(renewed);
}

Test(renewed, hold_as_a_whole_is_limited)
{
	const int64_t start_ms = now_ms();
	struct rdl_renewed *renewed = held(2000, 2500);
	struct rdl_lock *next = rdl_lock_new(other, "lock");
	const struct rdl_policy policy = { .wait_ms = 10000 };
	const int64_t latest_ms = now_ms() + 2500;

	for (int i = 0; i < 20; i++) {
		const int64_t asked_ms = now_ms();

		sleep_ms(100);
		cr_assert_leq(asked_ms + atoi(support_ask(other, "PTTL", "lock")), latest_ms,
			      "the lease goes beyond the limit");
	}
	cr_assert_eq(rdl_lock_acquire(next, 60000, &policy), RDL_OK);
	cr_assert_geq(now_ms() - start_ms, 2499);
	cr_assert(is_told(renewed, 1000));
	cr_assert_eq(rdl_renewed_check(renewed), RDL_LOST);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_LOST);
	cr_assert_eq(rdl_lock_release(next), RDL_OK);
	rdl_lock_free(next);
	rdl_renewed_free(renewed);
}

/* A third of the lease is 3 ms: many releases meet a renewal on its way. */
Test(renewed, release_meets_renewals_and_leaves_nothing)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", HOLD_MAX_MS);
	const int before = n_threads();

	for (int i = 0; i < 200; i++) {
		const enum rdl_outcome outcome = rdl_renewed_try(renewed, 9);

		if (outcome == RDL_OK)
			rdl_sleep_ns(other, 2500000 + i * 5000);
		rdl_renewed_release(renewed);
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	}
	cr_assert_eq(n_threads(), before);
	rdl_renewed_free(renewed);
}

/* ---- Fork ------------------------------------------------------------------- */

Test(renewed, renewer_goes_on_beside_a_child)
{
	struct rdl_renewed *renewed = held(1500, HOLD_MAX_MS);
	const pid_t pid = fork();
	int status;

	if (pid == 0) {
		const bool lost = rdl_renewed_release(renewed) == RDL_LOST &&
				  rdl_renewed_check(renewed) == RDL_LOST;

		rdl_renewed_free(renewed);
		_exit(!lost);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	sleep_ms(2000);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_OK);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

/* Loses it, and sees that it is told. */
static int lose_it(struct rdl_renewed *renewed)
{
	struct rdl_reply reply;

	if (rdl_renewed_try(renewed, 900) != RDL_OK)
		return 1;
	if (rdl_run(other, &reply, "DEL lock") != RDL_OK)
		return 2;
	if (!is_told(renewed, 10000))
		return 3;
	return rdl_renewed_release(renewed) == RDL_LOST ? 0 : 4;
}

Test(renewed, loss_in_a_child_is_not_told_to_its_parent)
{
	struct rdl_renewed *renewed = rdl_renewed_new(link_, "lock", HOLD_MAX_MS);
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(lose_it(renewed));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "the child ended with %d", status);
	cr_assert_not(is_told(renewed, 0));
	cr_assert_eq(rdl_renewed_try(renewed, 900), RDL_OK);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

Test(renewed, asking_again_leaves_the_renewer_alone)
{
	struct rdl_renewed *renewed = held(1200, HOLD_MAX_MS);

	cr_assert_eq(rdl_renewed_try(renewed, 600), RDL_BUSY);
	sleep_ms(1500);
	cr_assert_eq(rdl_renewed_check(renewed), RDL_OK);
	cr_assert_eq(rdl_renewed_try(renewed, 600), RDL_BUSY);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

/* SPDX-License-Identifier: MIT */
/* The fair lock: what could have made two holders of one, or none for ever. */
#include "../support.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

static struct support support;
static struct rl_link *links[3], *other;
static struct rl_fair *a, *b, *c;

static void setup(void)
{
	support_open(&support, 1);
	other = support_link(&support, 0);
	for (int i = 0; i < 3; i++)
		links[i] = support_link(&support, 0);
	a = rl_fair_new(links[0], "lock", NULL);
	b = rl_fair_new(links[1], "lock", NULL);
	c = rl_fair_new(links[2], "lock", NULL);
}

static void teardown(void)
{
	rl_fair_free(a);
	rl_fair_free(b);
	rl_fair_free(c);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock:line"), "0");
	for (int i = 0; i < 3; i++)
		rl_link_free(links[i]);
	rl_link_free(other);
	support_close(&support);
}

TestSuite(fair_holes, .init = setup, .fini = teardown);

static void sleep_ms(long ms)
{
	rl_sleep_ns(other, ms * INT64_C(1000000));
}

static void assert_in_line(const char *n)
{
	cr_assert_str_eq(support_ask(other, "LLEN", "lock:line"), n);
}

/* Until the server itself has ended the lease. */
static void wait_until_free(void)
{
	for (int i = 0; i < 20000; i++) {
		if (strcmp(support_ask(other, "EXISTS", "lock"), "0") == 0)
			return;
		sleep_ms(1);
	}
	cr_assert_fail("the lease does not end");
}

/* ---- Messages -------------------------------------------------------------------- */

/* Handed to b, who slept through it; c has it now. */
static void pass_b_over(void)
{
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(b, 300), RL_BUSY);
	cr_assert_eq(rl_fair_release(a), RL_OK);
	wait_until_free();
	cr_assert_eq(rl_fair_try(c, 60000), RL_OK);
}

Test(fair_holes, message_of_an_earlier_question_does_not_count)
{
	pass_b_over();
	cr_assert_eq(rl_fair_try(b, 300), RL_BUSY);
	cr_assert_eq(rl_fair_wait(b, 200), RL_BUSY, "held by two");
	cr_assert_gt(rl_fair_remaining_ms(c), 0);
	cr_assert_eq(rl_fair_release(c), RL_OK);
}

Test(fair_holes, message_of_the_last_question_counts)
{
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(b, 50000), RL_BUSY);
	cr_assert_eq(rl_fair_try(b, 50000), RL_BUSY);
	assert_in_line("1");
	cr_assert_eq(rl_fair_release(a), RL_OK);
	cr_assert_eq(rl_fair_wait(b, 20000), RL_OK);
	cr_assert_gt(rl_fair_remaining_ms(b), 0);
	cr_assert_eq(rl_fair_release(b), RL_OK);
}

Test(fair_holes, who_was_passed_over_stands_in_line_again)
{
	pass_b_over();
	assert_in_line("0");
	cr_assert_eq(rl_fair_try(b, 300), RL_BUSY);
	assert_in_line("1");
	cr_assert_eq(rl_fair_release(c), RL_OK);
}

Test(fair_holes, lease_that_is_half_over_is_asked_for_again)
{
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(b, 3000), RL_BUSY);
	cr_assert_eq(rl_fair_release(a), RL_OK);
	sleep_ms(1700);
	cr_assert_eq(rl_fair_wait(b, 1000), RL_BUSY);
	cr_assert_eq(rl_fair_remaining_ms(b), 0);
	cr_assert_eq(rl_fair_try(b, 3000), RL_OK);
	rl_fair_release(b);
}

/* The child would take the message that the parent waits for. */
Test(fair_holes, child_does_not_wait_in_its_parents_place)
{
	int status;
	pid_t pid;

	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(b, 50000), RL_BUSY);
	cr_assert_eq(rl_fair_release(a), RL_OK);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(rl_fair_wait(b, 1000) == RL_BUSY ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "the child holds its parent's lock");
	cr_assert_eq(rl_fair_wait(b, 20000), RL_OK, "no message is left");
	cr_assert_eq(rl_fair_release(b), RL_OK);
}

/* ---- Leases ----------------------------------------------------------------------- */

Test(fair_holes, lease_that_is_none_is_refused)
{
	const long none[] = { 0, -1, LONG_MIN, LONG_MAX };

	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		cr_assert_eq(rl_fair_try(b, none[i]), RL_ERROR, "%ld", none[i]);
		cr_assert_not_null(strstr(rl_link_error(links[1]), "a lease of"), "%s",
				   rl_link_error(links[1]));
		assert_in_line("0");
	}
	cr_assert_eq(rl_fair_release(a), RL_OK);
}

Test(fair_holes, line_with_rubbish_in_it_does_not_stop_a_release)
{
	static const char *const rubbish[] = { "rubbish", "ab:1:0",
					       "ab:1:", "ab:1:9223372036854775807" };
	struct rl_reply reply;

	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++)
		cr_assert_eq(rl_run(other, &reply, "RPUSH lock:line %s", rubbish[i]), RL_OK);
	cr_assert_eq(rl_fair_try(b, 60000), RL_BUSY);
	cr_assert_eq(rl_fair_release(a), RL_OK, "%s", rl_link_error(links[0]));
	cr_assert_eq(rl_fair_wait(b, 20000), RL_OK);
	cr_assert_eq(rl_fair_release(b), RL_OK);
	assert_in_line("0");
}

/* b's release must find nobody in line but those who are there. */
Test(fair_holes, holder_that_came_too_late_leaves_the_line)
{
	cr_assert_eq(rl_fair_try(a, 300), RL_OK);
	wait_until_free();
	cr_assert_eq(rl_fair_try(b, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(a, 60000), RL_BUSY);
	cr_assert_eq(rl_fair_stats(a)->lost, 1);
	assert_in_line("1");
	cr_assert_eq(rl_fair_release(a), RL_LOST);
	assert_in_line("0");
	cr_assert_eq(rl_fair_try(a, 60000), RL_BUSY);
	rl_fair_free(a);
	a = NULL;
	assert_in_line("0");
	cr_assert_eq(rl_fair_release(b), RL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

Test(fair_holes, lease_asked_for_anew_is_a_new_one)
{
	cr_assert_eq(rl_fair_try(a, 300), RL_OK);
	wait_until_free();
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_gt(rl_fair_remaining_ms(a), 1000);
	cr_assert_eq(rl_fair_try(a, 90000), RL_BUSY);
	cr_assert_lt(rl_fair_remaining_ms(a), 60000);
	cr_assert_eq(rl_fair_acquire(a, 90000, NULL), RL_BUSY);
	cr_assert_gt(rl_fair_remaining_ms(a), 1000);
	cr_assert_eq(rl_fair_release(a), RL_OK);
}

static enum rl_outcome lose(void *context, struct rl_link *link, struct rl_command *command)
{
	(void)link;
	(void)command;
	return *(const bool *)context ? RL_UNKNOWN : RL_OK;
}

/* It may arrive yet, and must not find the token of the next hold. */
Test(fair_holes, hold_after_a_release_without_an_answer_is_another)
{
	static const struct rl_driver_ops ops = { .send = lose };
	bool loses = false;
	const struct rl_driver driver = { &ops, &loses };
	char before[256];

	rl_link_set_driver(links[0], &driver);
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	snprintf(before, sizeof(before), "%s", support_ask(other, "GET", "lock"));
	loses = true;
	cr_assert_eq(rl_fair_release(a), RL_UNKNOWN);
	cr_assert_eq(rl_fair_try(a, 60000), RL_UNKNOWN);
	loses = false;
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_str_neq(support_ask(other, "GET", "lock"), before);
	cr_assert_eq(rl_fair_release(a), RL_OK);
	rl_link_set_driver(links[0], NULL);
}

/* ---- Waiting ---------------------------------------------------------------------- */

Test(fair_holes, waiting_for_ever_is_not_giving_up_at_once)
{
	const struct rl_policy for_ever = { .wait_ms = LONG_MAX, .cancel_fd = -1 };

	cr_assert_eq(rl_fair_try(a, 300), RL_OK);
	cr_assert_eq(rl_fair_acquire(b, 60000, &for_ever), RL_OK);
	cr_assert_eq(rl_fair_release(b), RL_OK);
}

Test(fair_holes, waiting_for_less_than_nothing_is_not_waiting)
{
	const struct rl_policy past = { .wait_ms = LONG_MIN, .cancel_fd = -1 };

	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_acquire(b, 60000, &past), RL_BUSY);
	cr_assert_eq(rl_fair_try(b, 60000), RL_BUSY);
	cr_assert_eq(rl_fair_wait(b, LONG_MIN), RL_BUSY);
	cr_assert_eq(rl_fair_release(b), RL_LOST);
	cr_assert_eq(rl_fair_release(a), RL_OK);
}

Test(fair_holes, who_asks_once_leaves_the_line)
{
	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	cr_assert_eq(rl_fair_acquire(b, 60000, NULL), RL_BUSY);
	assert_in_line("0");
	cr_assert_eq(rl_fair_release(a), RL_OK);
}

static void *cancel_soon(void *fd)
{
	sleep_ms(20);
	eventfd_write(*(int *)fd, 1);
	return NULL;
}

/* A waiter looks for its turn by itself every half second; a cancel is noticed
 * long before that. */
Test(fair_holes, cancelling_does_not_wait_until_it_looks_again)
{
	enum { TIMES = 20 };
	int fd = eventfd(0, EFD_CLOEXEC);
	const struct rl_policy policy = { .wait_ms = 60000, .cancel_fd = fd };
	const int64_t start_ns = rl_now_ns(other, RL_CLOCK_MONOTONIC);
	eventfd_t count;

	cr_assert_eq(rl_fair_try(a, 60000), RL_OK);
	for (int i = 0; i < TIMES; i++) {
		pthread_t canceller;

		pthread_create(&canceller, NULL, cancel_soon, &fd);
		cr_assert_eq(rl_fair_acquire(b, 60000, &policy), RL_BUSY);
		pthread_join(canceller, NULL);
		eventfd_read(fd, &count);
	}
	cr_assert_lt(rl_now_ns(other, RL_CLOCK_MONOTONIC) - start_ns, TIMES * INT64_C(400000000));
	assert_in_line("0");
	cr_assert_eq(rl_fair_release(a), RL_OK);
	close(fd);
}

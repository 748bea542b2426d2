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
static struct rdl_link *links[3], *other;
static struct rdl_fair *a, *b, *c;

static void setup(void)
{
	support_open(&support, 1);
	other = support_link(&support, 0);
	for (int i = 0; i < 3; i++)
		links[i] = support_link(&support, 0);
	a = rdl_fair_new(links[0], "lock", NULL);
	b = rdl_fair_new(links[1], "lock", NULL);
	c = rdl_fair_new(links[2], "lock", NULL);
}

static void teardown(void)
{
	rdl_fair_free(a);
	rdl_fair_free(b);
	rdl_fair_free(c);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock:line"), "0");
	for (int i = 0; i < 3; i++)
		rdl_link_free(links[i]);
	rdl_link_free(other);
	support_close(&support);
}

TestSuite(fair_holes, .init = setup, .fini = teardown);

static void sleep_ms(long ms)
{
	rdl_sleep_ns(other, ms * INT64_C(1000000));
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
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(b, 300), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	wait_until_free();
	cr_assert_eq(rdl_fair_try(c, 60000), RDL_OK);
}

Test(fair_holes, message_of_an_earlier_question_does_not_count)
{
	pass_b_over();
	cr_assert_eq(rdl_fair_try(b, 300), RDL_BUSY);
	cr_assert_eq(rdl_fair_wait(b, 200), RDL_BUSY, "held by two");
	cr_assert_gt(rdl_fair_remaining_ms(c), 0);
	cr_assert_eq(rdl_fair_release(c), RDL_OK);
}

Test(fair_holes, message_of_the_last_question_counts)
{
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(b, 50000), RDL_BUSY);
	cr_assert_eq(rdl_fair_try(b, 50000), RDL_BUSY);
	assert_in_line("1");
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	cr_assert_eq(rdl_fair_wait(b, 20000), RDL_OK);
	cr_assert_gt(rdl_fair_remaining_ms(b), 0);
	cr_assert_eq(rdl_fair_release(b), RDL_OK);
}

Test(fair_holes, who_was_passed_over_stands_in_line_again)
{
	pass_b_over();
	assert_in_line("0");
	cr_assert_eq(rdl_fair_try(b, 300), RDL_BUSY);
	assert_in_line("1");
	cr_assert_eq(rdl_fair_release(c), RDL_OK);
}

Test(fair_holes, lease_that_is_half_over_is_asked_for_again)
{
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(b, 3000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	sleep_ms(1700);
	cr_assert_eq(rdl_fair_wait(b, 1000), RDL_BUSY);
	cr_assert_eq(rdl_fair_remaining_ms(b), 0);
	cr_assert_eq(rdl_fair_try(b, 3000), RDL_OK);
	rdl_fair_release(b);
}

/* The child would take the message that the parent waits for. */
Test(fair_holes, child_does_not_wait_in_its_parents_place)
{
	int status;
	pid_t pid;

	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(b, 50000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(rdl_fair_wait(b, 1000) == RDL_BUSY ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "the child holds its parent's lock");
	cr_assert_eq(rdl_fair_wait(b, 20000), RDL_OK, "no message is left");
	cr_assert_eq(rdl_fair_release(b), RDL_OK);
}

/* ---- Leases ----------------------------------------------------------------------- */

Test(fair_holes, lease_that_is_none_is_refused)
{
	const long none[] = { 0, -1, LONG_MIN, LONG_MAX };

	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		cr_assert_eq(rdl_fair_try(b, none[i]), RDL_ERROR, "%ld", none[i]);
		cr_assert_not_null(strstr(rdl_link_error(links[1]), "a lease of"), "%s",
				   rdl_link_error(links[1]));
		assert_in_line("0");
	}
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
}

Test(fair_holes, line_with_rubbish_in_it_does_not_stop_a_release)
{
	static const char *const rubbish[] = { "rubbish", "ab:1:0",
					       "ab:1:", "ab:1:9223372036854775807" };
	struct rdl_reply reply;

	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	for (size_t i = 0; i < sizeof(rubbish) / sizeof(rubbish[0]); i++)
		cr_assert_eq(rdl_run(other, &reply, "RPUSH lock:line %s", rubbish[i]), RDL_OK);
	cr_assert_eq(rdl_fair_try(b, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(a), RDL_OK, "%s", rdl_link_error(links[0]));
	cr_assert_eq(rdl_fair_wait(b, 20000), RDL_OK);
	cr_assert_eq(rdl_fair_release(b), RDL_OK);
	assert_in_line("0");
}

/* b's release must find nobody in line but those who are there. */
Test(fair_holes, holder_that_came_too_late_leaves_the_line)
{
	cr_assert_eq(rdl_fair_try(a, 300), RDL_OK);
	wait_until_free();
	cr_assert_eq(rdl_fair_try(b, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_stats(a)->lost, 1);
	assert_in_line("1");
	cr_assert_eq(rdl_fair_release(a), RDL_LOST);
	assert_in_line("0");
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_BUSY);
	rdl_fair_free(a);
	a = NULL;
	assert_in_line("0");
	cr_assert_eq(rdl_fair_release(b), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

Test(fair_holes, lease_asked_for_anew_is_a_new_one)
{
	cr_assert_eq(rdl_fair_try(a, 300), RDL_OK);
	wait_until_free();
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_gt(rdl_fair_remaining_ms(a), 1000);
	cr_assert_eq(rdl_fair_try(a, 90000), RDL_BUSY);
	cr_assert_lt(rdl_fair_remaining_ms(a), 60000);
	cr_assert_eq(rdl_fair_acquire(a, 90000, NULL), RDL_BUSY);
	cr_assert_gt(rdl_fair_remaining_ms(a), 1000);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
}

static enum rdl_outcome lose(void *context, struct rdl_link *link, struct rdl_command *command)
{
	(void)link;
	(void)command;
	return *(const bool *)context ? RDL_UNKNOWN : RDL_OK;
}

/* It may arrive yet, and must not find the token of the next hold. */
Test(fair_holes, hold_after_a_release_without_an_answer_is_another)
{
	static const struct rdl_driver_ops ops = { .send = lose };
	bool loses = false;
	const struct rdl_driver driver = { &ops, &loses };
	char before[256];

	rdl_link_set_driver(links[0], &driver);
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	snprintf(before, sizeof(before), "%s", support_ask(other, "GET", "lock"));
	loses = true;
	cr_assert_eq(rdl_fair_release(a), RDL_UNKNOWN);
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_UNKNOWN);
	loses = false;
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_str_neq(support_ask(other, "GET", "lock"), before);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	rdl_link_set_driver(links[0], NULL);
}

/* ---- Waiting ---------------------------------------------------------------------- */

Test(fair_holes, waiting_for_ever_is_not_giving_up_at_once)
{
	const struct rdl_policy for_ever = { .wait_ms = LONG_MAX };

	cr_assert_eq(rdl_fair_try(a, 300), RDL_OK);
	cr_assert_eq(rdl_fair_acquire(b, 60000, &for_ever), RDL_OK);
	cr_assert_eq(rdl_fair_release(b), RDL_OK);
}

Test(fair_holes, waiting_for_less_than_nothing_is_not_waiting)
{
	const struct rdl_policy past = { .wait_ms = LONG_MIN };

	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_acquire(b, 60000, &past), RDL_BUSY);
	cr_assert_eq(rdl_fair_try(b, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_wait(b, LONG_MIN), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(b), RDL_LOST);
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
}

Test(fair_holes, who_asks_once_leaves_the_line)
{
	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_acquire(b, 60000, NULL), RDL_BUSY);
	assert_in_line("0");
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
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
	const struct rdl_policy policy = { .wait_ms = 60000, .cancel_fd = &fd };
	const int64_t start_ns = rdl_now_ns(other, RDL_CLOCK_MONOTONIC);
	eventfd_t count;

	cr_assert_eq(rdl_fair_try(a, 60000), RDL_OK);
	for (int i = 0; i < TIMES; i++) {
		pthread_t canceller;

		pthread_create(&canceller, NULL, cancel_soon, &fd);
		cr_assert_eq(rdl_fair_acquire(b, 60000, &policy), RDL_BUSY);
		pthread_join(canceller, NULL);
		eventfd_read(fd, &count);
	}
	cr_assert_lt(rdl_now_ns(other, RDL_CLOCK_MONOTONIC) - start_ns, TIMES * INT64_C(400000000));
	assert_in_line("0");
	cr_assert_eq(rdl_fair_release(a), RDL_OK);
	close(fd);
}

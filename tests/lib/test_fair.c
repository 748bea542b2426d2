/* SPDX-License-Identifier: MIT */
/* The fair lock: who comes first is served first, and who has gone is not. */
#include "../support.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAITERS = 8 };

static const struct rdl_policy patient = { .wait_ms = 30000 };

static struct support support;
static struct rdl_link *link_, *other;
static struct rdl_fair *first;

static void setup(void)
{
	support_open(&support, 1);
	link_ = support_link(&support, 0);
	other = support_link(&support, 0);
	first = rdl_fair_new(link_, "lock", NULL);
}

static void teardown(void)
{
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock:line"), "0");
	rdl_fair_free(first);
	rdl_link_free(link_);
	rdl_link_free(other);
	support_close(&support);
}

TestSuite(fair, .init = setup, .fini = teardown);

static int64_t now_ms(void)
{
	return rdl_now_ns(other, RDL_CLOCK_MONOTONIC) / 1000000;
}

static void wait_for_line(int length)
{
	for (int i = 0; atoi(support_ask(other, "LLEN", "lock:line")) != length; i++) {
		cr_assert_lt(i, 10000, "nobody stands in line");
		rdl_sleep_ns(other, 1000000);
	}
}

/* ---- Order ------------------------------------------------------------------- */

/* Written by who holds the lock only. */
struct served {
	int n;
	int order[WAITERS];
};

struct waiter {
	struct served *served;
	int number;
	enum rdl_outcome outcome;
	pthread_t thread;
};

static void *stand_in_line(void *argument)
{
	struct waiter *waiter = argument;
	struct rdl_link *link = rdl_link_new(&support.cluster.servers[0].address, RR_TIMEOUT_MS);
	struct rdl_fair *fair = rdl_fair_new(link, "lock", NULL);

	waiter->outcome = rdl_fair_acquire(fair, 60000, &patient);
	if (waiter->outcome == RDL_OK) {
		waiter->served->order[waiter->served->n++] = waiter->number;
		waiter->outcome = rdl_fair_release(fair);
	}
	rdl_fair_free(fair);
	rdl_link_free(link);
	return NULL;
}

Test(fair, order_of_service_is_the_order_of_asking)
{
	struct served served = { 0 };
	struct waiter waiters[WAITERS];

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i] = (struct waiter){ &served, i, RDL_ERROR, 0 };
		pthread_create(&waiters[i].thread, NULL, stand_in_line, &waiters[i]);
		wait_for_line(i + 1);
	}
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		cr_assert_eq(waiters[i].outcome, RDL_OK, "waiter %d", i);
	}
	cr_assert_eq(served.n, WAITERS);
	for (int i = 0; i < WAITERS; i++)
		cr_assert_eq(served.order[i], i, "%d came at %d", served.order[i], i);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
}

/* ---- Death -------------------------------------------------------------------- */

/* A process that asks for the lock, and stays until it is killed. */
static pid_t start_process(long ttl_ms)
{
	const pid_t pid = fork();

	if (pid == 0) {
		alarm(60); /* not for ever, whatever becomes of the test */
		rdl_fair_acquire(first, ttl_ms, &patient);
		pause();
		_exit(0);
	}
	cr_assert_gt(pid, 0);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

/* Nobody waits for the 60 s that the dead one had asked for. */
Test(fair, waiter_that_was_killed_is_passed_over)
{
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_fair *last = rdl_fair_new(link, "lock", NULL);
	int64_t start_ms;
	pid_t pid;

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	pid = start_process(60000);
	wait_for_line(1);
	cr_assert_eq(rdl_fair_try(last, 60000), RDL_BUSY);
	wait_for_line(2);
	end_process(pid);
	start_ms = now_ms();
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	cr_assert_eq(rdl_fair_acquire(last, 60000, &patient), RDL_OK);
	cr_assert_lt(now_ms() - start_ms, 10000);
	cr_assert_eq(rdl_fair_release(last), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_fair_free(last);
	rdl_link_free(link);
}

Test(fair, holder_that_was_killed_is_waited_for_until_its_lease_ends)
{
	const pid_t pid = start_process(1500);
	int64_t start_ms, waited_ms;

	while (atoi(support_ask(other, "EXISTS", "lock")) == 0)
		rdl_sleep_ns(other, 1000000);
	start_ms = now_ms();
	end_process(pid);
	cr_assert_eq(rdl_fair_acquire(first, 60000, &patient), RDL_OK);
	waited_ms = now_ms() - start_ms;
	cr_assert_lt(waited_ms, 10000);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
}

/* Nobody is there to hand the lock over: whoever asks next does, to the first in line. */
Test(fair, who_asks_when_the_lease_has_ended_does_not_pass_the_line)
{
	struct rdl_link *link = support_link(&support, 0), *late = support_link(&support, 0);
	struct rdl_fair *second = rdl_fair_new(link, "lock", NULL);
	struct rdl_fair *third = rdl_fair_new(late, "lock", NULL);

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_BUSY);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(rdl_fair_try(third, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_OK);
	rdl_fair_free(third);
	cr_assert_eq(rdl_fair_release(second), RDL_OK);
	rdl_fair_free(second);
	rdl_link_free(late);
	rdl_link_free(link);
}

/* Its turn came while it was giving up: the lock goes on to the next. */
Test(fair, who_leaves_the_line_hands_on_what_came_to_it)
{
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_fair *second = rdl_fair_new(link, "lock", NULL);

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "1", "it was not handed over");
	cr_assert_eq(rdl_fair_release(second), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_fair_free(second);
	rdl_link_free(link);
}

Test(fair, who_is_freed_in_line_hands_on_what_came_to_it)
{
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_fair *second = rdl_fair_new(link, "lock", NULL);

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	rdl_fair_free(second);
	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	rdl_link_free(link);
}

/* ---- Extension ------------------------------------------------------------------ */

Test(fair, extension_keeps_the_waiters_out)
{
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_fair *second = rdl_fair_new(link, "lock", NULL);
	const struct rdl_policy short_wait = { .wait_ms = 1200 };

	cr_assert_eq(rdl_fair_extend(first, 60000), RDL_LOST, "it is not held");
	cr_assert_eq(rdl_fair_try(first, 1000), RDL_OK);
	cr_assert_eq(rdl_fair_extend(first, 60000), RDL_OK);
	cr_assert_gt(rdl_fair_remaining_ms(first), 50000);
	cr_assert_eq(rdl_fair_acquire(second, 60000, &short_wait), RDL_BUSY);
	cr_assert_gt(atol(support_ask(other, "PTTL", "lock")), 50000);
	cr_assert_eq(rdl_fair_extend(first, 0), RDL_ERROR);
	cr_assert_eq(rdl_fair_extend(second, 60000), RDL_LOST);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	rdl_fair_free(second);
	rdl_link_free(link);
}

Test(fair, extension_does_not_make_a_lost_lock_again)
{
	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	cr_assert_eq(rdl_fair_extend(first, 60000), RDL_LOST);
	cr_assert_eq(rdl_fair_remaining_ms(first), 0);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	cr_assert_eq(rdl_fair_stats(first)->lost, 1);
	cr_assert_eq(rdl_fair_release(first), RDL_LOST);
	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
}

/* A place in line is not a hold: it stays. */
Test(fair, extension_of_who_waits_keeps_the_place)
{
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_fair *second = rdl_fair_new(link, "lock", NULL);

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_extend(second, 60000), RDL_LOST);
	cr_assert_str_eq(support_ask(other, "LLEN", "lock:line"), "1");
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	cr_assert_eq(rdl_fair_wait(second, 10000), RDL_OK);
	cr_assert_eq(rdl_fair_release(second), RDL_OK);
	rdl_fair_free(second);
	rdl_link_free(link);
}

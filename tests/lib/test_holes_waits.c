/* SPDX-License-Identifier: MIT */
/* Waits at their edges: without an end, among signals, in step with others. */
#include "pair.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "driver.h"

TestSuite(holes_waits, .init = pair_setup, .fini = pair_teardown);

/* ---- Pauses --------------------------------------------------------------------- */

/* A clock that only pauses move. */
struct pauses {
	int64_t now_ns, shortest_ns, longest_ns;
	unsigned n, free_at; /* the lock goes free in that one; 0 = in none */
};

static int64_t paused_now(void *context, enum rdl_clock clock)
{
	const struct pauses *pauses = context;

	(void)clock;
	return pauses->now_ns;
}

static void pause_at_once(void *context, int64_t duration_ns)
{
	struct pauses *pauses = context;

	if (!pauses->n || duration_ns < pauses->shortest_ns)
		pauses->shortest_ns = duration_ns;
	if (duration_ns > pauses->longest_ns)
		pauses->longest_ns = duration_ns;
	if (++pauses->n == pauses->free_at)
		cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	pauses->now_ns += duration_ns;
}

static const struct rdl_driver_ops pause_ops = { .now = paused_now, .sleep = pause_at_once };

/* Waits for a lock of somebody else's. */
static enum rdl_outcome wait_for_it(struct pauses *pauses, const struct rdl_policy *policy)
{
	const struct rdl_driver driver = { &pause_ops, pauses };
	struct rdl_lock *lock = rdl_lock_new(link_, "lock");
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	pauses->now_ns = INT64_C(1000000000000);
	cr_assert_eq(rdl_run(other, &reply, "SET lock theirs"), RDL_OK);
	rdl_link_set_driver(link_, &driver);
	outcome = rdl_lock_acquire(lock, 60000, policy);
	rdl_link_set_driver(link_, NULL);
	rdl_lock_free(lock);
	return outcome;
}

Test(holes_waits, pauses_differ)
{
	const struct rdl_policy policy = { .wait_ms = 60000,
					   .pause_min_us = 8000000,
					   .pause_max_us = 8000000 };
	struct pauses pauses = { .free_at = 6 };

	cr_assert_eq(wait_for_it(&pauses, &policy), RDL_OK);
	cr_assert_eq(pauses.n, 6);
	cr_assert_geq(pauses.shortest_ns, INT64_C(4000000000));
	cr_assert_leq(pauses.longest_ns, INT64_C(8000000000));
	cr_assert_lt(pauses.shortest_ns, pauses.longest_ns);
}

Test(holes_waits, wait_without_an_end_waits)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MAX };
	struct pauses pauses = { .free_at = 3 };

	cr_assert_eq(wait_for_it(&pauses, &policy), RDL_OK);
	cr_assert_eq(pauses.n, 3);
}

Test(holes_waits, longest_pauses_there_are_stay_positive)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MAX,
					   .pause_min_us = LONG_MAX,
					   .pause_max_us = LONG_MAX };
	struct pauses pauses = { .free_at = 3 };

	cr_assert_eq(wait_for_it(&pauses, &policy), RDL_OK);
	cr_assert_gt(pauses.shortest_ns, INT64_C(1000000000));
}

/* The first time somebody else writes as well. */
static enum rdl_outcome disturbed_once(void *context, const struct rdl_reply *old, char *value,
				       size_t size)
{
	int *times = context;
	struct rdl_reply reply;

	(void)old;
	if ((*times)++ == 0)
		cr_assert_eq(rdl_run(other, &reply, "SET k theirs"), RDL_OK);
	snprintf(value, size, "mine");
	return RDL_OK;
}

Test(holes_waits, update_without_an_end_goes_on)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MAX };
	int times = 0;

	cr_assert_eq(rdl_update(link_, "k", disturbed_once, &times, 3, &policy), RDL_OK);
	cr_assert_eq(times, 2);
}

Test(holes_waits, item_put_off_for_ever_is_not_due)
{
	struct rdl_delay_queue *queue = rdl_delay_queue_new(link_, "q");
	long long due, processing;
	char id[16];

	cr_assert_eq(rdl_delay_queue_put(queue, "never", LONG_MAX), RDL_OK);
	cr_assert_eq(rdl_delay_queue_take(queue, 1000, id, sizeof(id)), RDL_BUSY);
	cr_assert_eq(rdl_delay_queue_put(queue, "now", LONG_MIN), RDL_OK);
	cr_assert_eq(rdl_delay_queue_take(queue, LONG_MAX, id, sizeof(id)), RDL_OK);
	cr_assert_str_eq(id, "now");
	cr_assert_eq(rdl_delay_queue_take(queue, 1000, id, sizeof(id)), RDL_BUSY);
	cr_assert_eq(rdl_delay_queue_length(queue, &due, &processing), RDL_OK);
	cr_assert_eq(due, 1);
	cr_assert_eq(processing, 1);
	rdl_delay_queue_free(queue);
}

/* ---- Signals -------------------------------------------------------------------- */

/* After so many it is over in any case: the server wakes up. */
enum { ALARMS_MAX = 60 };

static volatile sig_atomic_t n_alarms, hung;

static void on_alarm(int signal)
{
	(void)signal;
	if (++n_alarms == ALARMS_MAX)
		kill(hung, SIGCONT);
}

static void set_alarm(long interval_us)
{
	const struct itimerval timer = { .it_interval.tv_usec = interval_us,
					 .it_value.tv_usec = interval_us };
	const struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

Test(holes_waits, signals_do_not_prolong_a_time_out)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
	rdl_link_set_timeout(link_, 300);
	hung = support.cluster.servers[0].process.pid;
	kill(hung, SIGSTOP);
	set_alarm(100000);
	outcome = rdl_run(link_, &reply, "PING");
	set_alarm(0);
	kill(hung, SIGCONT);
	cr_assert_eq(outcome, RDL_UNKNOWN);
	cr_assert_lt(n_alarms, ALARMS_MAX);
	cr_assert_str_eq(rdl_link_error(link_), "no reply in time");
}

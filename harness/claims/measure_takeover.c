/* SPDX-License-Identifier: MIT */
/* Dead locks that many take over at once: by strategies as they are, and by
 * clients that stall. */
#include "measure.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/random.h"

/* ---- Eight clients find one dead lock ------------------------------------------------ */

enum { ROUNDS = 50 };

struct contest {
	const struct rr_strategy *strategy;
	pthread_barrier_t barrier;
	_Atomic int holders; /* in this round */
	int crowded;         /* rounds with more than one */
	_Atomic bool failed;
};

static void contend(struct rr_measure_thread *thread)
{
	struct contest *contest = thread->context;
	struct rr_client client = {
		.data = thread->link, .counter = "x", .lock = "lock", .ttl_ms = 10000
	};
	const struct rr_strategy *strategy = contest->strategy;

	if (strategy->open && strategy->open(&client) != RDL_OK)
		contest->failed = true;
	for (int i = 0; i < ROUNDS; i++) {
		if (thread->number == 0) {
			struct rdl_reply reply;

			contest->holders = 0;
			/* A timestamp long past: its holder is dead. */
			if (rdl_run(thread->link, &reply, "SET lock 1000") != RDL_OK)
				contest->failed = true;
		}
		pthread_barrier_wait(&contest->barrier);
		if (!contest->failed && strategy->acquire(&client) == RDL_OK)
			contest->holders++;
		pthread_barrier_wait(&contest->barrier);
		if (thread->number == 0)
			contest->crowded += contest->holders > 1;
	}
	if (strategy->close)
		strategy->close(&client);
}

/* Rounds with more than one holder; negative: it failed. */
static int count_crowded(struct rr_measuring *measuring, const char *strategy)
{
	struct contest contest = { .strategy = rr_strategy_find(strategy) };
	bool good;

	pthread_barrier_init(&contest.barrier, NULL, RR_MEASURE_THREADS);
	good = rr_measure_threads(measuring, RR_MEASURE_THREADS, contend, &contest);
	pthread_barrier_destroy(&contest.barrier);
	if (good && contest.failed)
		good = rr_measure_fail(measuring, RR_EXIT_REDIS, "%s did not work", strategy);
	return good ? contest.crowded : -1;
}

bool rr_measure_take_over(struct rr_measuring *measuring)
{
	const int del = count_crowded(measuring, "setnx-del-takeover");
	const int getset = del < 0 ? -1 : count_crowded(measuring, "setnx-getset");

	if (getset < 0)
		return false;
	rr_measure_say(
		measuring,
		"eight clients, a dead lock, %d rounds: more than one holder in %d by DEL and SETNX, in %d by GETSET",
		ROUNDS, del, getset);
	rr_measure_judge(measuring, true, del > 0);
	return true;
}

/* ---- SETNX and GETSET with clients that stall --------------------------------------------- */

enum { LEASE_MS = 30, WORK_MS = 1, STALL_MS = 60, RUN_MS = 600, STALLS_IN_TEN = 7 };

struct stall {
	bool stalls;
	int64_t end_ns;
	_Atomic int inside;
	_Atomic long acquired, overlaps;
};

static int64_t now_ms(const struct rdl_link *link)
{
	return rdl_now_ns(link, RDL_CLOCK_REALTIME) / 1000000;
}

/* By the printed rule, with milliseconds for seconds: the old value is past. A
 * stall may come between computing the new value and sending it. */
static bool take_lock(struct rr_measure_thread *thread, struct rr_random *random, int64_t *end_ms)
{
	const struct stall *stall = thread->context;
	struct rdl_link *link = thread->link;
	struct rdl_reply reply;
	long long old;

	*end_ms = now_ms(link) + LEASE_MS;
	if (rdl_run(link, &reply, "SETNX lock %lld", (long long)*end_ms) != RDL_OK)
		return false;
	if (reply.integer == 1)
		return true;
	if (rdl_run(link, &reply, "GET lock") != RDL_OK || !rdl_reply_number(&reply, &old) ||
	    old >= now_ms(link))
		return false;
	*end_ms = now_ms(link) + LEASE_MS;
	if (stall->stalls && rr_random_below(random, 10) < STALLS_IN_TEN)
		rdl_sleep_ns(link, 1000000 * (int64_t)rr_random_below(random, STALL_MS));
	return rdl_run(link, &reply, "GETSET lock %lld", (long long)*end_ms) == RDL_OK &&
	       rdl_reply_number(&reply, &old) && old < now_ms(link);
}

/* Works well within the lease; half of the holders die with the lock. */
static void hold_lock(struct rr_measure_thread *thread, struct rr_random *random, int64_t end_ms)
{
	struct stall *stall = thread->context;
	struct rdl_reply reply;
	bool crowded = stall->inside++ > 0;

	rdl_sleep_ns(thread->link, WORK_MS * INT64_C(1000000));
	crowded = (stall->inside-- > 1) || crowded;
	if (now_ms(thread->link) >= end_ms)
		return; /* overran its lease: proves nothing */
	stall->acquired++;
	stall->overlaps += crowded;
	if (rr_random_below(random, 2))
		thread->failed |= rdl_run(thread->link, &reply, "DEL lock") != RDL_OK;
}

static void take_in_turns(struct rr_measure_thread *thread)
{
	struct stall *stall = thread->context;
	struct rr_random random = { .state = (uint64_t)thread->number };
	int64_t end_ms;

	while (rdl_now_ns(thread->link, RDL_CLOCK_MONOTONIC) < stall->end_ns && !thread->failed) {
		if (take_lock(thread, &random, &end_ms))
			hold_lock(thread, &random, end_ms);
		else
			rdl_sleep_ns(thread->link, 500000);
	}
}

static bool run_stalls(struct rr_measuring *measuring, bool stalls)
{
	struct stall stall = {
		.stalls = stalls,
		.end_ns = rdl_now_ns(measuring->link, RDL_CLOCK_MONOTONIC) +
			  RUN_MS * INT64_C(1000000),
	};

	if (!rr_measure_threads(measuring, RR_MEASURE_THREADS, take_in_turns, &stall))
		return false;
	rr_measure_say(measuring, "%s stalls %ld of %ld holders overlapped",
		       stalls ? ", with" : "without", stall.overlaps, stall.acquired);
	rr_measure_judge(measuring, true, !stalls || stall.overlaps > 0);
	return true;
}

bool rr_measure_stalled_getset(struct rr_measuring *measuring)
{
	return run_stalls(measuring, false) && run_stalls(measuring, true);
}

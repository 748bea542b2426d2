/* SPDX-License-Identifier: MIT */
/*
 * --dead-holder: a run begins with the lock of a client that has died. The client is a process of
 * its own, takes the lock as the strategy does, and is killed, so that nothing is typed by hand
 * and nothing is given back.
 *
 * A lease that the server ends begins when the process takes the lock. One that clients judge by
 * their clocks ends just before the run begins: the clock of the process is behind by a lease and
 * two seconds, as if it had died then. All clients find the dead lock together, at the barrier,
 * where only one of them may take it over; and since that costs no time, they meet 20 times in a
 * run.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "client.h"

enum { TRIES = 100, TRY_NS = 10000000, ROUNDS = 20 };

static bool leaves_locks(const struct rr_run *run)
{
	return run->dead_holder && run->strategy->acquire &&
	       run->strategy->lock.kind != RR_LOCK_MUTEX;
}

/* A lease that the server ends takes its time, and ends for all. */
int rr_holder_rounds(const struct rr_run *run)
{
	const long each = run->increments / (run->threads * run->processes);

	if (!leaves_locks(run) || run->strategy->lock.kind != RR_LOCK_TIMESTAMP ||
	    run->policy == RR_POLICY_DELAY_QUEUE || each < 2)
		return 1;
	return each < ROUNDS ? (int)each : ROUNDS;
}

int rr_holder_locks(const struct rr_run *run)
{
	return leaves_locks(run) ? run->keys * rr_holder_rounds(run) : 0;
}

/* A clock that is behind by the nanoseconds in `context`. */
static int64_t now_behind(void *context, enum rdl_clock clock)
{
	const int64_t *behind_ns = context;
	struct timespec now;

	clock_gettime(clock == RDL_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec -
	       (clock == RDL_CLOCK_REALTIME ? *behind_ns : 0);
}

int rr_holder(const struct rr_run *run, struct rr_board *board)
{
	static const struct rdl_driver_ops ops = { .now = now_behind };
	int64_t behind_ns = (run->ttl_ms + 2000) * INT64_C(1000000);
	const struct rdl_driver behind = { &ops, &behind_ns };
	struct rdl_mutex *mutexes = rr_calloc((size_t)run->keys, sizeof(*mutexes));
	struct rr_run own = *run;
	struct rr_runner runner = {
		.run = &own, .board = board, .slot = &board->slots[0], .mutexes = mutexes
	};

	if (run->strategy->lock.kind == RR_LOCK_TIMESTAMP && !run->driver)
		own.driver = &behind;
	if (!rr_runner_open(&runner))
		return 0;
	for (int i = 0; i < run->keys; i++) {
		/* Asks until there is an answer: of a quorum too few servers may have answered
		 * in time. RDL_BUSY: there is a lock that was not given back, which is as good. */
		struct rr_target *target = &runner.targets[i];
		enum rdl_outcome outcome = run->strategy->acquire(&target->client);

		for (int j = 1; j < TRIES && outcome != RDL_OK && outcome != RDL_BUSY; j++) {
			rdl_sleep_ns(target->client.data, TRY_NS);
			outcome = run->strategy->acquire(&target->client);
		}

		if (outcome == RDL_OK || outcome == RDL_BUSY)
			continue;
		rr_runner_give_up(&runner, RR_ERROR_INTERNAL,
				  "the holder that is to die does not get the lock: %.200s",
				  rdl_link_error(runner.data));
		return 0;
	}
	kill(getpid(), SIGKILL);
	return 0;
}

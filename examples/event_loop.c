/* SPDX-License-Identifier: MIT */
/*
 * A lock in a program that has an event loop: nothing here waits for the server but poll(2),
 * and the loop goes on with its other work meanwhile, a tick every TICK_MS.
 *
 *	event_loop redis://localhost KEY
 *
 * Acquires the lock KEY, works for WORK_TICKS ticks, extends the lease in the middle of them,
 * and releases. event_loop_libevent.c does the same with libevent.
 *
 * Exit: 0 done; 75 busy: another client holds it; 70 the lock was lost, or the server did not
 * answer; 69 no server.
 */
#include <poll.h>
#include <redislock.h>
#include <stdio.h>
#include <sysexits.h>
#include <time.h>

enum { TIMEOUT_MS = 500, TTL_MS = 3000, WAIT_MS = 2000, TICK_MS = 50, WORK_TICKS = 6 };

enum state { ACQUIRING, WORKING, RELEASING };

struct program {
	struct rdl_link *link;
	struct rdl_lock *lock;
	struct rdl_async *async;
	enum state state;
	bool extends; /* in the middle of the work */
	int ticks;    /* of the work */
	int code;     /* of the exit, once it is known; -1 = not yet */
};

static int explain(const struct program *program, enum rdl_outcome outcome)
{
	fprintf(stderr, "event_loop: %s: %s\n", rdl_outcome_name(outcome),
		outcome == RDL_BUSY ? "another client holds it" : rdl_link_error(program->link));
	if (outcome == RDL_BUSY)
		return EX_TEMPFAIL;
	return rdl_link_reason(program->link) == RDL_REASON_UNREACHABLE ? EX_UNAVAILABLE :
									  EX_SOFTWARE;
}

/* An operation has ended. */
static void note_outcome(struct program *program, enum rdl_outcome outcome)
{
	program->extends = false;
	if (outcome != RDL_OK)
		program->code = explain(program, outcome);
	else if (program->state == ACQUIRING)
		program->state = WORKING;
	else if (program->state == RELEASING) {
		puts("done, and released");
		program->code = EX_OK;
	}
}

/* What the loop has to do at each tick, whatever the lock does. */
static void tick(struct program *program)
{
	puts(program->state == WORKING ? "tick, with the lock" : "tick");
	if (program->state != WORKING)
		return;
	program->ticks++;
	if (program->ticks == WORK_TICKS / 2)
		program->extends = rdl_async_begin_extend(program->async, TTL_MS);
	if (program->ticks < WORK_TICKS || program->extends)
		return;
	program->state = RELEASING;
	rdl_async_begin_release(program->async);
}

static long long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static int run(struct program *program)
{
	const struct rdl_policy policy = { .wait_ms = WAIT_MS };
	long long next_ms = clock_ms() + TICK_MS;
	enum rdl_outcome outcome;

	rdl_async_begin_acquire(program->async, TTL_MS, &policy);
	while (program->code < 0) {
		struct pollfd ready = { rdl_link_fd(program->link),
					rdl_async_events(program->async), 0 };
		const int limit_ms = rdl_async_timeout_ms(program->async);
		long long left_ms = next_ms - clock_ms();

		if (!ready.events)
			ready.fd = -1; /* not even for its end */
		if (limit_ms >= 0 && limit_ms < left_ms)
			left_ms = limit_ms;
		poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0);
		if (rdl_async_handle(program->async, &outcome))
			note_outcome(program, outcome);
		if (program->code < 0 && clock_ms() >= next_ms) {
			next_ms += TICK_MS;
			tick(program);
		}
	}
	return program->code;
}

int main(int argc, char **argv)
{
	char error[128] = "usage: event_loop URI KEY";
	struct program program = { .code = -1 };
	struct rdl_address address;

	if (argc != 3 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "event_loop: %s\n", error);
		return EX_USAGE;
	}
	program.link = rdl_link_new(&address, TIMEOUT_MS);
	program.lock = program.link ? rdl_lock_new(program.link, argv[2]) : NULL;
	program.async = program.lock ? rdl_async_new(program.lock) : NULL;
	if (program.async)
		run(&program);
	else
		fputs("event_loop: out of memory\n", stderr);
	rdl_async_free(program.async);
	if (program.lock)
		rdl_lock_free(program.lock);
	rdl_link_free(program.link);
	return program.code < 0 ? EX_OSERR : program.code;
}

/* SPDX-License-Identifier: MIT */
/*
 * event_loop.c with libevent: acquires the lock KEY, works for a moment while the loop runs, and
 * releases it.
 *
 *	event_loop_libevent redis://localhost KEY
 *
 * One event for the link's descriptor and the time-out. It is made again after each step, since
 * the descriptor may be another one. Exit: 0 done, 64 usage, 70 lost or no answer, 75 busy.
 */
#include <event2/event.h>
#include <redislock.h>
#include <stdio.h>
#include <sysexits.h>

enum { TIMEOUT_MS = 500, TTL_MS = 3000, WAIT_MS = 2000, TICK_US = 50000, WORK_TICKS = 6 };

struct program {
	struct event_base *base;
	struct event *event, *ticks;
	struct rdl_link *link;
	struct rdl_lock *lock;
	struct rdl_async *async;
	bool holds;
	int left, code; /* ticks of the work; the exit code */
};

static void step(evutil_socket_t fd, short what, void *argument);

static void wait_for_step(struct program *program)
{
	const int limit_ms = rdl_async_timeout_ms(program->async);
	const struct timeval limit = { limit_ms / 1000, limit_ms % 1000 * 1000 };
	const bool reads = rdl_async_events(program->async) != 0;

	event_free(program->event);
	program->event = event_new(program->base, reads ? rdl_link_fd(program->link) : -1,
				   reads ? EV_READ : 0, step, program);
	event_add(program->event, &limit);
}

/* Something has come, or it is time to look. */
static void step(evutil_socket_t fd, short what, void *argument)
{
	struct program *program = argument;
	enum rdl_outcome outcome;

	(void)fd, (void)what;
	if (!rdl_async_handle(program->async, &outcome)) {
		wait_for_step(program);
	} else if (outcome != RDL_OK || program->holds) {
		puts(outcome == RDL_OK ? "done, and released" : rdl_outcome_name(outcome));
		program->code = outcome == RDL_OK   ? EX_OK :
				outcome == RDL_BUSY ? EX_TEMPFAIL :
						      EX_SOFTWARE;
		event_base_loopbreak(program->base);
	} else {
		program->holds = true;
	}
}

/* The work of the loop, whatever the lock does. */
static void tick(evutil_socket_t fd, short what, void *argument)
{
	struct program *program = argument;

	(void)fd, (void)what;
	puts(program->holds ? "tick, with the lock" : "tick");
	if (!program->holds || --program->left != 0)
		return;
	rdl_async_begin_release(program->async);
	wait_for_step(program);
}

int main(int argc, char **argv)
{
	const struct rdl_policy policy = { .wait_ms = WAIT_MS };
	const struct timeval tick_length = { 0, TICK_US };
	char error[128] = "usage: event_loop_libevent URI KEY";
	struct program program = { .left = WORK_TICKS };
	struct rdl_address address;

	if (argc != 3 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "event_loop_libevent: %s\n", error);
		return EX_USAGE;
	}
	program.base = event_base_new();
	program.link = rdl_link_new(&address, TIMEOUT_MS);
	program.lock = program.link ? rdl_lock_new(program.link, argv[2]) : NULL;
	program.async = program.lock ? rdl_async_new(program.lock) : NULL;
	program.ticks = event_new(program.base, -1, EV_PERSIST, tick, &program);
	program.event = event_new(program.base, -1, 0, step, &program);
	if (!program.async || !program.ticks || !program.event) {
		fputs("event_loop_libevent: out of memory\n", stderr);
		return EX_OSERR;
	}
	event_add(program.ticks, &tick_length);
	rdl_async_begin_acquire(program.async, TTL_MS, &policy);
	wait_for_step(&program);
	event_base_dispatch(program.base);
	event_free(program.event);
	event_free(program.ticks);
	rdl_async_free(program.async);
	rdl_lock_free(program.lock);
	rdl_link_free(program.link);
	event_base_free(program.base);
	return program.code;
}

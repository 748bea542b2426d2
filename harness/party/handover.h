/* SPDX-License-Identifier: MIT */
/*
 * Whether threads of an app let each other go on: who waits for a lock that another one gives
 * back comes next, or the other one takes it again. That is up to the kernel and the language,
 * and not to Redis, so that no search of all orders has it.
 *
 * A thread that gives a lock back wakes who waits for it. So in the time from one reply to the
 * next rest two threads that talk to Redis have run, although the reply was for one of them, and
 * none of two requests has its answer. Who only takes a lock when another request is through
 * with it is not woken before.
 */
#ifndef RR_HANDOVER_H
#define RR_HANDOVER_H

#include "process_tree.h"
#include "program_page.h"

/* At rest, that is when all threads sleep. */
struct rr_rest {
	size_t n_under_way; /* requests that have begun and have no answer */
	size_t n_asking;    /* connections on which a command is under way */
};

struct rr_handover {
	struct rr_threads threads; /* at the last rest */
	struct rr_rest rest;
	/* Those that ran after a reply beside others, one bit for each such time; of threads as
	 * they are numbered in `ran`. More than 64 times are not told apart. */
	struct rr_threads ran;
	uint64_t times[RR_THREADS_MAX];
	unsigned n_times;
	bool has_waited; /* a request waits for another one, before and after a reply */
};

/* The app is at rest; `is_reply`: it was told one reply since the last time. */
void rr_handover_note(struct rr_handover *handover, const struct rr_threads *threads,
		      struct rr_rest rest, bool is_reply);

/* Have threads let each other go on, as far as can be known? Where nobody knows which threads talk to
 * Redis (Go, static programs), it is enough that a request has waited for another one. */
bool rr_handover_happened(const struct rr_handover *handover, const struct rr_program_page *page);

#endif

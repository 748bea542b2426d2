/* SPDX-License-Identifier: MIT */
/* How long a pipeline has to be for another client to get in between. */
#include "measure_parts.h"

#include <stdatomic.h>

enum { SHORT = 100, LONG = 5000, TRIES = 20 };

struct intrusion {
	_Atomic bool done;
	int shorter, longer; /* pipelines during which the key changed */
};

static void keep_writing(struct rr_measure_thread *thread,
			 const struct intrusion *intrusion)
{
	struct rl_reply reply;

	while (!intrusion->done && !thread->failed)
		thread->failed =
			rl_run(thread->link, &reply, "INCR other") != RL_OK;
}

/* One write with `n` reads of the key: did the value change in between? */
static bool read_many(struct rr_measure_thread *thread, int n)
{
	long long first = 0, value = 0;
	struct rl_reply reply;

	for (int i = 0; i < n && !thread->failed; i++)
		thread->failed = rl_queue(thread->link, "GET other") != RL_OK;
	if (!thread->failed)
		thread->failed = rl_flush(thread->link) != RL_OK;
	for (int i = 0; i < n && !thread->failed; i++) {
		thread->failed = rl_receive(thread->link, &reply) != RL_OK ||
				 !rl_reply_number(&reply, &value);
		if (i == 0)
			first = value;
	}
	return value != first;
}

/* Thread 0 writes, thread 1 reads. */
static void intrude(struct rr_measure_thread *thread)
{
	struct intrusion *intrusion = thread->context;

	if (thread->number == 0) {
		keep_writing(thread, intrusion);
		return;
	}
	for (int i = 0; i < TRIES && !thread->failed; i++) {
		intrusion->shorter += read_many(thread, SHORT);
		intrusion->longer += read_many(thread, LONG);
	}
	intrusion->done = true;
}

bool rr_measure_pipeline_size(struct rr_measuring *measuring)
{
	struct rl_link *link = rr_measure_link(measuring);
	struct intrusion intrusion = { 0 };
	struct rl_reply reply;
	bool good;

	if (!link)
		return false;
	good = rl_run(link, &reply, "SET other 0") == RL_OK;
	rl_link_free(link);
	if (!good || !rr_measure_threads(measuring, 2, intrude, &intrusion))
		return false;
	rr_measure_say(measuring,
		       "interrupted: %d of %d pipelines of %d commands, %d of %d of %d",
		       intrusion.shorter, TRIES, SHORT, intrusion.longer, TRIES,
		       LONG);
	if (!intrusion.longer)
		measuring->result->measured = RR_MEASURED_OPEN;
	return true;
}

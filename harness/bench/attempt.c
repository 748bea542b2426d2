/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include "count.h"
#include "scheduler/attempt.h"

/* What the hooks of an attempt need. */
struct timed {
	struct rr_runner *runner;
	struct rr_target *target;
	const char *item; /* NULL, or what was put off */
	int64_t asked_ns, *entered_ns;
};

static struct rr_section *section_of(const struct timed *it)
{
	const struct rr_runner *runner = it->runner;

	return &runner->board->sections[it->target - runner->targets];
}

static void enter(void *context)
{
	struct timed *it = context;

	*it->entered_ns = rr_count_now_ns(it->runner);
	if (atomic_fetch_add(&section_of(it)->inside, 1) > 0)
		it->runner->slot->overlaps++;
}

/* How long a lock is good for, clock drift between lock servers taken off. */
static int64_t lease_ns(const struct rr_runner *runner)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	const int64_t ttl_ns = runner->run->ttl_ms * INT64_C(1000000);

	if (strategy->lock.kind == RR_LOCK_QUORUM)
		return ttl_ns - ttl_ns / 100 - 2000000;
	return strategy->lock.leases_max ? ttl_ns * strategy->lock.leases_max :
					   ttl_ns;
}

static void leave(void *context)
{
	struct timed *it = context;
	struct rr_runner *runner = it->runner;

	atomic_fetch_sub(&section_of(it)->inside, 1);
	if (runner->run->strategy->lock.lease &&
	    rr_count_now_ns(runner) - it->asked_ns > lease_ns(runner))
		runner->slot->overruns++;
}

/* rr_get_add_set() of what was put off: SET and the item's end are one. */
static enum rl_outcome get_add_end(void *context)
{
	const struct timed *it = context;
	struct rr_client *client = &it->target->client;
	long long value;
	enum rl_outcome outcome = rr_get_counter(client, &value);

	if (outcome != RL_OK)
		return outcome;
	rr_work(client);
	return rl_delay_queue_done(it->runner->queue, it->item, "SET %s %lld",
				   it->target->counter, value + 1);
}

/* A release without a good end: is the server still there? */
static void look_at_release(struct rr_runner *runner, struct rr_target *target)
{
	if (runner->released == RL_ERROR || runner->released == RL_UNKNOWN)
		rr_count_look_for_server(runner, target, runner->released);
}

enum rl_outcome rr_runner_attempt(struct rr_runner *runner,
				  struct rr_target *target, const char *item,
				  int64_t *entered_ns)
{
	static const struct rr_attempt_hooks own = { .enter = enter,
						     .leave = leave };
	static const struct rr_attempt_hooks put_off = {
		.enter = enter, .increment = get_add_end, .leave = leave
	};
	const struct rr_strategy *strategy = runner->run->strategy;
	struct timed it = { .runner = runner,
			    .target = target,
			    .item = item,
			    .entered_ns = entered_ns };
	struct rr_attempt attempt = { .strategy = strategy,
				      .client = &target->client,
				      .hooks = item ? &put_off : &own,
				      .context = &it };
	enum rl_outcome outcome;

	if (strategy->acquire)
		it.asked_ns = rr_count_now_ns(runner);
	outcome = rr_attempt_make(&attempt);
	runner->entered = attempt.entered;
	runner->released = attempt.released;
	if (outcome != RL_OK || !strategy->writes_at_release)
		look_at_release(runner, target);
	return outcome;
}

bool rr_runner_was_refused(const struct rr_runner *runner,
			   enum rl_outcome outcome)
{
	return rr_was_refused(runner->run->strategy, outcome, runner->entered);
}

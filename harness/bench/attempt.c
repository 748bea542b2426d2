/* SPDX-License-Identifier: MIT */
#include "attempt.h"

#include "count.h"

static int64_t now_ns(const struct rr_runner *runner)
{
	return rl_now_ns(runner->data, RL_CLOCK_MONOTONIC);
}

static void enter(struct rr_runner *runner, struct rr_section *section)
{
	if (atomic_fetch_add(&section->inside, 1) > 0)
		runner->slot->overlaps++;
	rl_mark(runner->data, RL_MARK_ENTER);
}

static void leave(struct rr_runner *runner, struct rr_section *section)
{
	rl_mark(runner->data, RL_MARK_LEAVE);
	atomic_fetch_sub(&section->inside, 1);
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

/* rr_get_add_set() of what was put off: SET and the item's end are one. */
static enum rl_outcome get_add_end(struct rr_runner *runner,
				   struct rr_target *target, const char *item)
{
	long long value;
	enum rl_outcome outcome = rr_get_counter(&target->client, &value);

	if (outcome != RL_OK)
		return outcome;
	rr_work(&target->client);
	return rl_delay_queue_done(runner->queue, item, "SET %s %lld",
				   target->counter, value + 1);
}

static enum rl_outcome attempt_locked(struct rr_runner *runner,
				      struct rr_target *target,
				      const char *item, int64_t *entered_ns)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	struct rr_section *section =
		&runner->board->sections[target - runner->targets];
	const int64_t asked_ns = now_ns(runner);
	enum rl_outcome outcome = strategy->acquire(&target->client);

	runner->entered = outcome == RL_OK;
	if (outcome != RL_OK)
		return outcome == RL_UNKNOWN ? RL_LOST : outcome;
	*entered_ns = now_ns(runner);
	enter(runner, section);
	outcome = item ? get_add_end(runner, target, item) :
			 strategy->increment(&target->client);
	leave(runner, section);
	if (strategy->lock.lease &&
	    now_ns(runner) - asked_ns > lease_ns(runner))
		runner->slot->overruns++;
	runner->released = strategy->release(&target->client);
	if (outcome == RL_OK && strategy->writes_at_release)
		return runner->released;
	if (runner->released == RL_ERROR || runner->released == RL_UNKNOWN)
		rr_count_look_for_server(runner, target, runner->released);
	return outcome;
}

enum rl_outcome rr_attempt(struct rr_runner *runner, struct rr_target *target,
			   const char *item, int64_t *entered_ns)
{
	const struct rr_strategy *strategy = runner->run->strategy;

	runner->released = RL_OK;
	if (strategy->acquire)
		return attempt_locked(runner, target, item, entered_ns);
	return strategy->increment(&target->client);
}

bool rr_attempt_was_refused(const struct rr_runner *runner,
			    enum rl_outcome outcome)
{
	return rr_was_refused(runner->run->strategy, outcome, runner->entered);
}

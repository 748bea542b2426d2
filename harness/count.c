/* SPDX-License-Identifier: MIT */
/* A client's counting loop: one increment after another, timed and noted. */
#include "client.h"

#include <stdio.h>

enum { SILENCES_MAX = 3, QUORUMS_MISSED_MAX = 20 };

/* ---- One increment ------------------------------------------------------ */

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
	const int64_t ttl_ns = runner->run->ttl_ms * INT64_C(1000000);

	const struct rr_strategy *strategy = runner->run->strategy;

	if (strategy->lock_servers)
		return ttl_ns - ttl_ns / 100 - 2000000;
	return strategy->leases_max ? ttl_ns * strategy->leases_max : ttl_ns;
}

/* Asks for the lock once, and counts if it was granted. An acquire without a
 * known end has counted nothing: RL_LOST. */
static enum rl_outcome attempt_locked(struct rr_runner *runner,
				      struct rr_target *target,
				      int64_t *entered_ns)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	struct rr_section *section =
		&runner->board->sections[target - runner->targets];
	const int64_t asked_ns = now_ns(runner);
	enum rl_outcome outcome = strategy->acquire(&target->client);
	enum rl_outcome released;

	runner->entered = outcome == RL_OK;
	if (outcome != RL_OK)
		return outcome == RL_UNKNOWN ? RL_LOST : outcome;
	*entered_ns = now_ns(runner);
	enter(runner, section);
	outcome = strategy->increment(&target->client);
	leave(runner, section);
	if (strategy->has_lease && now_ns(runner) - asked_ns > lease_ns(runner))
		runner->slot->overruns++;
	released = strategy->release(&target->client);
	if (outcome == RL_OK && strategy->writes_at_release)
		return released;
	return outcome;
}

static void wait_before_retry(struct rr_runner *runner, uint64_t retries)
{
	const struct rr_wait *wait = &runner->run->strategy->wait;
	const int doublings = retries < 20 ? (int)retries : 20;
	int64_t limit_us = (int64_t)wait->min_us << doublings;

	if (limit_us > wait->max_us)
		limit_us = wait->max_us;
	if (limit_us == 0)
		return;
	rl_sleep_ns(runner->data,
		    limit_us * 500 +
			    (int64_t)rr_random_below(&runner->random,
						     (uint64_t)limit_us * 500));
}

static bool is_stopped(const struct rr_runner *runner)
{
	return atomic_load_explicit(&runner->board->stop, memory_order_relaxed);
}

/* Somebody else was first, or too few lock servers answered in time: nothing
 * has been counted yet. The second is given up after so many in a row. */
static bool may_ask_again(struct rr_runner *runner, enum rl_outcome outcome)
{
	if (is_stopped(runner))
		return false;
	if (outcome == RL_ERROR && runner->run->strategy->lock_servers &&
	    !runner->entered)
		return ++runner->quorums_missed < QUORUMS_MISSED_MAX;
	runner->quorums_missed = 0;
	return outcome == RL_BUSY;
}

/* Tries until it holds; RL_BUSY when told to stop before that. */
static enum rl_outcome increment(struct rr_runner *runner,
				 struct rr_target *target, int64_t *entered_ns)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	struct rr_slot *slot = runner->slot;
	enum rl_outcome outcome;
	uint64_t retries = 0;

	for (;;) {
		if (strategy->acquire)
			outcome = attempt_locked(runner, target, entered_ns);
		else
			outcome = strategy->increment(&target->client);
		if (!may_ask_again(runner, outcome))
			break;
		wait_before_retry(runner, retries++);
		if (!strategy->acquire)
			*entered_ns = now_ns(runner);
	}
	slot->retries += retries;
	if (retries > slot->retry_max)
		slot->retry_max = retries;
	return outcome;
}

/* ---- The loop ------------------------------------------------------------ */

/* What went wrong in the last attempt: with the lock servers, or with the data
 * server at `where`. */
static void explain(const struct rr_runner *runner,
		    const struct rr_target *target, const char *where,
		    char *text, size_t size)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	const char *why = rl_link_error(runner->data);

	if (strategy->error && !runner->entered)
		snprintf(text, size, "%s", strategy->error(&target->client));
	else
		snprintf(text, size, "%.200s: %.150s", where,
			 why[0] ? why : "not the reply that was expected");
}

/* After a failure: is the server still there? If not, gives up. */
static void look_for_server(struct rr_runner *runner,
			    const struct rr_target *target,
			    enum rl_outcome outcome)
{
	char where[300], why[360];

	rl_address_print(&runner->run->fleet->addresses[0], where,
			 sizeof(where));
	explain(runner, target, where, why, sizeof(why));
	if (outcome == RL_ERROR)
		rr_runner_give_up(runner, RR_EXIT_REDIS, "stopped: %s", why);
	else if (rl_link_connect(runner->data) != RL_OK)
		rr_runner_give_up(runner, RR_EXIT_REDIS,
				  "the server at %s is gone: %.80s", where,
				  rl_link_error(runner->data));
	else if (++runner->silences == SILENCES_MAX)
		rr_runner_give_up(runner, RR_EXIT_REDIS,
				  "gave up after %d replies in a row were lost: %s",
				  SILENCES_MAX, why);
}

static void note_outcome(struct rr_runner *runner,
			 const struct rr_target *target,
			 enum rl_outcome outcome)
{
	struct rr_slot *slot = runner->slot;

	if (outcome == RL_OK) {
		slot->ok++;
		runner->silences = 0;
		return;
	}
	if (outcome == RL_UNKNOWN)
		slot->unknown++;
	else
		slot->failed++;
	if (outcome != RL_BUSY)
		look_for_server(runner, target, outcome);
}

/* Who has done how much when the first client is through: what was asked of
 * each is equal in the end, so that only this tells who was favoured. */
static void note_first_done(struct rr_board *board)
{
	if (atomic_exchange(&board->someone_done, true))
		return;
	for (size_t i = 0; i < board->n_clients; i++)
		board->slots[i].done_at_first = atomic_load_explicit(
			&board->slots[i].done, memory_order_relaxed);
}

static long share_of(const struct rr_runner *runner, long total)
{
	const long clients = (long)runner->board->n_clients;

	return total / clients + (runner->number < total % clients);
}

void rr_runner_count(struct rr_runner *runner, long total)
{
	struct rr_slot *slot = runner->slot;
	const int keys = runner->run->keys;
	const long share = share_of(runner, total);

	slot->start_ns = now_ns(runner);
	for (long i = 0; i < share && !is_stopped(runner); i++) {
		struct rr_target *target = runner->targets;
		int64_t start_ns, entered_ns, end_ns;
		enum rl_outcome outcome;

		if (keys > 1)
			target += rr_random_below(&runner->random,
						  (uint64_t)keys);
		start_ns = entered_ns = now_ns(runner);
		outcome = increment(runner, target, &entered_ns);
		end_ns = now_ns(runner);
		note_outcome(runner, target, outcome);
		rr_histogram_record(&slot->latency,
				    (uint64_t)(end_ns - start_ns));
		rr_histogram_record(&slot->waiting,
				    (uint64_t)(entered_ns - start_ns));
		atomic_store_explicit(&slot->done, (uint64_t)i + 1,
				      memory_order_relaxed);
	}
	slot->end_ns = now_ns(runner);
	if (share > 0 && !is_stopped(runner))
		note_first_done(runner->board);
}

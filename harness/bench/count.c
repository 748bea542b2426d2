/* SPDX-License-Identifier: MIT */
/* A client's counting loop: one increment after another, timed and noted. */
#include "count.h"

#include <stdio.h>
#include <string.h>

#include "attempt.h"

enum { SILENCES_MAX = 3, QUORUMS_MISSED_MAX = 20 };

int64_t rr_count_now_ns(const struct rr_runner *runner)
{
	return rl_now_ns(runner->data, RL_CLOCK_MONOTONIC);
}

bool rr_count_is_stopped(const struct rr_runner *runner)
{
	return atomic_load_explicit(&runner->board->stop, memory_order_relaxed);
}

/* ---- One increment ------------------------------------------------------ */

void rr_count_wait(struct rr_runner *runner, uint64_t refusals)
{
	const struct rr_run *run = runner->run;
	const int64_t wait_ns =
		rr_policy_wait_ns(run->policy, &run->strategy->wait, refusals,
				  &runner->random);

	if (wait_ns > 0)
		rl_sleep_ns(runner->data, wait_ns);
}

bool rr_count_may_retry(struct rr_runner *runner, enum rl_outcome outcome)
{
	const bool refused = rr_runner_was_refused(runner, outcome);

	if (rr_count_is_stopped(runner))
		return false;
	if (refused && outcome == RL_ERROR)
		return ++runner->quorums_missed < QUORUMS_MISSED_MAX;
	runner->quorums_missed = 0;
	return refused;
}

void rr_count_note_refusals(struct rr_slot *slot, uint64_t refusals)
{
	slot->retries += refusals;
	if (refusals > slot->retry_max)
		slot->retry_max = refusals;
}

/* Tries until it holds; RL_BUSY when told to stop before that. */
static enum rl_outcome insist(struct rr_runner *runner,
			      struct rr_target *target, int64_t *entered_ns)
{
	enum rl_outcome outcome;
	uint64_t refusals = 0;

	for (;;) {
		outcome = rr_runner_attempt(runner, target, NULL, entered_ns);
		if (!rr_count_may_retry(runner, outcome))
			break;
		rr_count_wait(runner, refusals++);
		if (!runner->run->strategy->acquire)
			*entered_ns = rr_count_now_ns(runner);
	}
	rr_count_note_refusals(runner->slot, refusals);
	return outcome;
}

/* Tries once; whatever refused it, the caller is told that it is busy. */
static enum rl_outcome try_once(struct rr_runner *runner,
				struct rr_target *target, int64_t *entered_ns)
{
	const enum rl_outcome outcome =
		rr_runner_attempt(runner, target, NULL, entered_ns);

	return rr_runner_was_refused(runner, outcome) ? RL_BUSY : outcome;
}

/* ---- The loop ------------------------------------------------------------ */

/* Does the last attempt hold its lock still, because the release failed? */
static bool is_not_released(const struct rr_runner *runner)
{
	return !runner->run->strategy->writes_at_release &&
	       (runner->released == RL_ERROR || runner->released == RL_UNKNOWN);
}

/* What went wrong in the last attempt: with the lock servers, or with the data
 * server at `where`. */
static void explain(const struct rr_runner *runner,
		    const struct rr_target *target, const char *where,
		    char *text, size_t size)
{
	const struct rr_strategy *strategy = runner->run->strategy;
	const char *why = rl_link_error(runner->data);
	const bool kept = target && is_not_released(runner);

	if (target && strategy->error && (!runner->entered || kept))
		snprintf(text, size, "%s", strategy->error(&target->client));
	else
		snprintf(text, size, "%s%.200s: %.150s",
			 kept ? "the lock cannot be released: " : "", where,
			 why[0] ? why : "not the reply that was expected");
}

/* Does the server lack or forbid a command of this strategy? Others may do
 * without it. */
static bool is_refused(const char *why)
{
	return strstr(why, "NOPERM") || strstr(why, "ERR unknown command");
}

void rr_count_look_for_server(struct rr_runner *runner,
			      const struct rr_target *target,
			      enum rl_outcome outcome)
{
	char where[300], why[400];

	rl_address_print(&runner->run->cluster->servers[0].address, where,
			 sizeof(where));
	explain(runner, target, where, why, sizeof(why));
	if (outcome == RL_ERROR && is_refused(why))
		rr_runner_give_up(runner, RR_EXIT_SKIPPED, "skipped: %s", why);
	else if (outcome == RL_ERROR)
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
		if (runner->released != RL_UNKNOWN)
			runner->silences = 0;
		return;
	}
	if (outcome == RL_UNKNOWN)
		slot->unknown++;
	else
		slot->failed++;
	if (outcome != RL_BUSY)
		rr_count_look_for_server(runner, target, outcome);
}

/* Who has done how much when the first client is through: what was asked of
 * each is equal in the end, so that only this tells who was favoured. */
void rr_count_note_first_done(struct rr_board *board)
{
	if (atomic_exchange(&board->someone_done, true))
		return;
	for (size_t i = 0; i < board->n_clients; i++)
		board->slots[i].done_at_first = atomic_load_explicit(
			&board->slots[i].done, memory_order_relaxed);
}

long rr_count_share(const struct rr_board *board, int number, long total)
{
	const long clients = (long)board->n_clients;

	return total / clients + (number < total % clients);
}

struct rr_target *rr_count_choose(struct rr_runner *runner)
{
	const int keys = runner->run->keys;

	if (keys == 1)
		return runner->targets;
	return runner->targets +
	       rr_random_below(&runner->random, (uint64_t)keys);
}

void rr_count_note(struct rr_runner *runner, const struct rr_target *target,
		   enum rl_outcome outcome, int64_t start_ns,
		   int64_t entered_ns)
{
	struct rr_slot *slot = runner->slot;
	const int64_t end_ns = rr_count_now_ns(runner);

	note_outcome(runner, target, outcome);
	rr_histogram_record(&slot->latency, (uint64_t)(end_ns - start_ns));
	rr_histogram_record(&slot->waiting, (uint64_t)(entered_ns - start_ns));
	atomic_store_explicit(&slot->done,
			      atomic_load_explicit(&slot->done,
						   memory_order_relaxed) +
				      1,
			      memory_order_relaxed);
}

void rr_runner_count(struct rr_runner *runner, long total)
{
	const long share = rr_count_share(runner->board, runner->number, total);
	struct rr_slot *slot = runner->slot;

	slot->start_ns = rr_count_now_ns(runner);
	for (long i = 0; i < share && !rr_count_is_stopped(runner); i++) {
		struct rr_target *target = rr_count_choose(runner);
		const int64_t start_ns = rr_count_now_ns(runner);
		int64_t entered_ns = start_ns;
		enum rl_outcome outcome;

		if (runner->run->policy == RR_POLICY_FAIL_FAST)
			outcome = try_once(runner, target, &entered_ns);
		else
			outcome = insist(runner, target, &entered_ns);
		rr_count_note(runner, target, outcome, start_ns, entered_ns);
	}
	slot->end_ns = rr_count_now_ns(runner);
	if (share > 0 && !rr_count_is_stopped(runner))
		rr_count_note_first_done(runner->board);
}

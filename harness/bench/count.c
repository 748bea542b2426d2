/* SPDX-License-Identifier: MIT */
/* A client's counting loop: one increment after another, timed and noted. */
#include "client.h"

enum { QUORUMS_MISSED_MAX = 20 };

int64_t rr_count_now_ns(const struct rr_runner *runner)
{
	return rdl_now_ns(runner->data, RDL_CLOCK_MONOTONIC);
}

/* ---- One increment ------------------------------------------------------- */

static bool runner_was_refused(const struct rr_runner *runner, enum rdl_outcome outcome)
{
	return rr_was_refused(runner->run->strategy, outcome, runner->entered);
}

bool rr_count_may_retry(struct rr_runner *runner, enum rdl_outcome outcome)
{
	const bool refused = runner_was_refused(runner, outcome);

	if (rr_board_is_stopped(runner->board))
		return false;
	if (refused && outcome == RDL_ERROR)
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

enum rdl_outcome rr_count_insist(struct rr_runner *runner, struct rr_target *target,
				 const char *item, int64_t deadline_ns, int64_t *entered_ns)
{
	const struct rr_run *run = runner->run;
	enum rdl_outcome outcome;
	uint64_t refusals = 0;

	for (;;) {
		int64_t wait_ns, now_ns;

		outcome = rr_runner_attempt(runner, target, item, entered_ns);
		if (rr_runner_may_endure(runner, outcome))
			continue;
		if (!rr_count_may_retry(runner, outcome))
			break;
		wait_ns = rr_policy_wait_ns(run->policy, &run->strategy->wait, refusals++,
					    &runner->random);
		if (wait_ns > 0)
			rdl_sleep_ns(runner->data, wait_ns);
		outcome = RDL_BUSY;
		now_ns = rr_count_now_ns(runner);
		if (now_ns >= deadline_ns)
			break;
		if (!run->strategy->acquire)
			*entered_ns = now_ns;
	}
	rr_count_note_refusals(runner->slot, refusals);
	return outcome;
}

/* ---- The loop ------------------------------------------------------------ */

/* Who has done how much when the first client is through: what was asked of
 * each is equal in the end, so that only this tells who was favoured. */
void rr_count_note_first_done(struct rr_board *board)
{
	if (atomic_exchange(&board->someone_done, true))
		return;
	for (size_t i = 0; i < board->n_clients; i++)
		board->slots[i].done_at_first = atomic_load_explicit(&board->slots[i].done,
								     memory_order_relaxed);
}

long rr_count_share(const struct rr_board *board, size_t number, long total)
{
	const long clients = (long)board->n_clients;

	return total / clients + ((long)number < total % clients);
}

struct rr_target *rr_count_choose(struct rr_runner *runner)
{
	const int keys = runner->run->keys;

	if (keys == 1)
		return runner->targets;
	return runner->targets + rr_random_below(&runner->random, (uint64_t)keys);
}

void rr_count_note(struct rr_runner *runner, const struct rr_target *target,
		   enum rdl_outcome outcome, int64_t start_ns, int64_t entered_ns, int64_t end_ns)
{
	struct rr_slot *slot = runner->slot;
	const uint64_t done = atomic_load_explicit(&slot->done, memory_order_relaxed);

	if (outcome == RDL_OK) {
		slot->ok++;
		/* The second increment shows that the first lock was given back. */
		if (runner->counted < 2 && ++runner->counted == 2)
			atomic_store(&runner->board->works, true);
		if (runner->released != RDL_UNKNOWN)
			runner->silences = 0;
	} else if (outcome == RDL_UNKNOWN) {
		slot->unknown++;
	} else {
		slot->failed++;
	}
	if (outcome != RDL_OK && outcome != RDL_BUSY)
		rr_runner_check_server(runner, target, outcome);
	if (outcome == RDL_OK || outcome == RDL_UNKNOWN) {
		rr_histogram_record(&slot->latency, (uint64_t)(end_ns - start_ns));
		rr_histogram_record(&slot->waiting, (uint64_t)(entered_ns - start_ns));
	}
	atomic_store_explicit(&slot->done, done + 1, memory_order_relaxed);
}

enum rdl_outcome rr_count_once(struct rr_runner *runner, struct rr_target *target,
			       int64_t deadline_ns, int64_t *entered_ns)
{
	enum rdl_outcome outcome;

	if (runner->run->policy != RR_POLICY_FAIL_FAST)
		return rr_count_insist(runner, target, NULL, deadline_ns, entered_ns);
	outcome = rr_runner_attempt(runner, target, NULL, entered_ns);
	/* Whatever refused it, it is busy. */
	return runner_was_refused(runner, outcome) ? RDL_BUSY : outcome;
}

static void count_one(struct rr_runner *runner)
{
	struct rr_target *target = rr_count_choose(runner);
	const int64_t start_ns = rr_count_now_ns(runner);
	int64_t entered_ns = start_ns;
	const enum rdl_outcome outcome = rr_count_once(runner, target, INT64_MAX, &entered_ns);

	rr_count_note(runner, target, outcome, start_ns, entered_ns, rr_count_now_ns(runner));
}

void rr_count(struct rr_runner *runner, long total, int rounds)
{
	struct rr_board *board = runner->board;
	const long share = rr_count_share(board, (size_t)runner->number, total);
	long done = 0;

	runner->slot->start_ns = rr_count_now_ns(runner);
	for (int round = 1; round <= rounds && !rr_board_is_stopped(board); round++) {
		if (round > 1)
			rr_board_meet(board);
		for (; done < share * round / rounds && !rr_board_is_stopped(board); done++)
			count_one(runner);
	}
	runner->slot->end_ns = rr_count_now_ns(runner);
	if (share > 0 && !rr_board_is_stopped(board))
		rr_count_note_first_done(board);
}

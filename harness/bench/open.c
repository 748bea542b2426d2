/* SPDX-License-Identifier: MIT */
/*
 * An open loop: increments are asked for at times that are planned before the run, as requests of
 * users come, who do not know how busy the server is. A client whose server stalls is late for its
 * next arrivals, and the latency of each runs from when it was planned. In a closed loop the same
 * stall is one slow increment of each client, and all that would have come meanwhile is left out:
 * Gil Tene's coordinated omission.
 *
 * Each client has a schedule of its own, a share of the rate, and does one increment at a time.
 */
#include <math.h>

#include "client.h"

void rr_run_open(struct rr_run *run, double rate_per_s, long seconds, enum rr_arrivals arrivals)
{
	run->rate_per_s = rate_per_s;
	run->window_ns = seconds * INT64_C(1000000000);
	run->arrivals = arrivals;
	run->increments = (long)(rate_per_s * (double)seconds) + 1;
}

/* One client's schedule. */
struct schedule {
	struct rr_random random;
	bool is_even;
	double gap_ns;  /* on average */
	double next_ns; /* from the start */
};

static void plan_next(struct schedule *schedule)
{
	/* Exponential gaps are those of arrivals that know nothing of each other. */
	const double u = (double)(rr_random_next(&schedule->random) >> 11) * 0x1p-53;

	schedule->next_ns += schedule->gap_ns * (schedule->is_even ? 1 : -log1p(-u));
}

static struct schedule plan(const struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;
	const double clients = (double)runner->board->n_clients;
	struct schedule schedule = {
		.random.state = ~(run->seed * 1000003 + (uint64_t)runner->number),
		.is_even = run->arrivals == RR_ARRIVALS_EVEN,
		.gap_ns = 1e9 * clients / run->rate_per_s,
	};

	/* Even arrivals of several clients are staggered. */
	if (schedule.is_even)
		schedule.next_ns = schedule.gap_ns * runner->number / clients;
	else
		plan_next(&schedule);
	return schedule;
}

/* An arrival that nothing was done for when the window was over. */
static void note_unfinished(struct rr_slot *slot, int64_t age_ns)
{
	slot->unfinished++;
	rr_histogram_record(&slot->latency, (uint64_t)age_ns);
	rr_histogram_record(&slot->waiting, (uint64_t)age_ns);
}

void rr_count_open(struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;
	struct rr_slot *slot = runner->slot;
	struct schedule schedule = plan(runner);
	const int64_t start_ns = rr_count_now_ns(runner);
	const int64_t end_ns = start_ns + run->window_ns, half_ns = start_ns + run->window_ns / 2;

	slot->start_ns = start_ns;
	for (; schedule.next_ns < (double)run->window_ns; plan_next(&schedule)) {
		const int64_t planned_ns = start_ns + (int64_t)schedule.next_ns;
		int64_t now_ns = rr_count_now_ns(runner), entered_ns;
		struct rr_target *target;
		enum rdl_outcome outcome;

		if (rr_board_is_stopped(runner->board))
			break;
		if (now_ns < planned_ns) {
			rdl_sleep_ns(runner->data, planned_ns - now_ns);
			now_ns = rr_count_now_ns(runner);
			rr_histogram_record(slot->wake, (uint64_t)(now_ns - planned_ns));
		}
		slot->offered++;
		if (now_ns >= end_ns) {
			slot->halfway += planned_ns < half_ns;
			note_unfinished(slot, end_ns - planned_ns);
			continue;
		}
		entered_ns = now_ns;
		target = rr_count_choose(runner);
		outcome = rr_count_once(runner, target, end_ns, &entered_ns);
		now_ns = rr_count_now_ns(runner);
		slot->halfway += planned_ns < half_ns && now_ns > half_ns;
		if (outcome == RDL_BUSY && run->policy != RR_POLICY_FAIL_FAST) {
			note_unfinished(slot, end_ns - planned_ns);
			continue;
		}
		/* Done after the end: unfinished then, and counted. */
		if (now_ns > end_ns && outcome == RDL_OK)
			slot->late++;
		rr_count_note(runner, target, outcome, planned_ns,
			      entered_ns < end_ns ? entered_ns : end_ns,
			      now_ns < end_ns ? now_ns : end_ns);
	}
	slot->end_ns = rr_count_now_ns(runner);
	if (!rr_board_is_stopped(runner->board))
		rr_count_note_first_done(runner->board);
}

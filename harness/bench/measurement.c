/* SPDX-License-Identifier: MIT */
/* What one run of one strategy came to: added up over clients, and judged. */
#include "client.h"

#include <string.h>

/* ---- Adding up ----------------------------------------------------------- */

static uint64_t known_quantile(const struct rr_histogram *histogram, double quantile)
{
	return rr_histogram_knows(histogram, quantile) ?
		       rr_histogram_quantile(histogram, quantile) :
		       0;
}

void rr_measurement_gather(struct rr_measurement *m, struct rr_spectra *spectra,
			   const struct rr_run *run, const struct rr_board *board)
{
	const struct rr_formation *formation = run->formation;
	const struct rr_histogram *latency = &spectra->latency, *waiting = &spectra->waiting;
	int64_t start_ns = board->slots[0].start_ns, end_ns = board->slots[0].end_ns;
	int64_t first_ns = 0; /* when a client got a lock for the first time */
	uint64_t halfway = 0;

	memset(spectra, 0, sizeof(*spectra));
	*m = (struct rr_measurement){
		.run = *run,
		.promise = rr_promise_for(run->strategy, run->threads, run->processes),
		.topology = formation ? formation->kind : RR_TOPOLOGY_ALONE,
		.dead_holders = rr_holder_locks(run),
	};
	if (formation)
		m->tally = formation->tally;
	else
		m->run.fail_overs = 0;
	if (m->topology == RR_TOPOLOGY_ALONE)
		m->run.cut_ns = m->run.wait_replicas = 0;
	else
		m->waits_for_all = run->wait_replicas >= rr_formation_replicas(formation);
	/* What others do with a dead holder's lock may lose counts where nothing else does. */
	if (m->dead_holders && board->n_clients > 1 &&
	    rr_promise(run->strategy, RR_CRASH) == RR_LOSSY)
		m->promise = RR_LOSSY;
	for (size_t i = 0; i < board->n_clients; i++) {
		const struct rr_slot *slot = &board->slots[i];

		if (slot->start_ns < start_ns)
			start_ns = slot->start_ns;
		if (slot->end_ns > end_ns)
			end_ns = slot->end_ns;
		if (slot->first_ns && (!first_ns || slot->first_ns < first_ns))
			first_ns = slot->first_ns;
		m->ok += slot->ok;
		m->failed += slot->failed;
		m->unknown += slot->unknown;
		m->retries += slot->retries;
		if (slot->retry_max > m->retry_max)
			m->retry_max = slot->retry_max;
		m->commands += slot->commands;
		m->overlaps += slot->overlaps;
		m->overruns += slot->overruns;
		m->unconfirmed += slot->unconfirmed;
		m->killed += (long)slot->replaced;
		m->offered += slot->offered;
		m->undone += slot->unfinished;
		m->unfinished += slot->unfinished + slot->late;
		halfway += slot->halfway;
		if (slot->wake)
			rr_histogram_merge(&spectra->wake, slot->wake);
		rr_histogram_merge(&spectra->latency, &slot->latency);
		rr_histogram_merge(&spectra->waiting, &slot->waiting);
	}
	if (run->policy == RR_POLICY_DELAY_QUEUE) {
		/*
		 * What was put off has to be done once. Accepted by the queue and done by
		 * nobody: it was acknowledged, and is lost. Done twice: one of them is too
		 * much. Where a reply of the queue was lost, not being counted may be right.
		 */
		const uint64_t asked = (uint64_t)run->increments;
		const uint64_t counted = m->ok + m->failed + m->unknown;
		uint64_t open = 0, missing = counted < asked ? asked - counted : 0;

		for (size_t i = 0; i < board->n_clients; i++)
			open += board->slots[i].unsettled;
		if (open > missing)
			open = missing;
		m->unknown += open;
		m->ok += missing - open;
		if (counted > asked)
			m->ok -= counted - asked;
	}
	m->wall_ns = end_ns - start_ns;
	if (m->dead_holders && first_ns)
		m->recovery_ns = first_ns - start_ns;
	m->is_sustained = rr_is_sustained(m->offered, m->failed, halfway, m->unfinished,
					  board->n_clients);
	m->in_time = m->ok - (m->unfinished - m->undone);
	m->wake_p50_ns = rr_histogram_quantile(&spectra->wake, 0.5);
	m->wake_p99_ns = rr_histogram_quantile(&spectra->wake, 0.99);
	m->times = (struct rr_times){
		.min = latency->min_ns,
		.p50 = known_quantile(latency, 0.5),
		.p90 = known_quantile(latency, 0.9),
		.p99 = known_quantile(latency, 0.99),
		.p999 = known_quantile(latency, 0.999),
		.max = latency->max_ns,
		.mean = rr_histogram_mean(latency),
		.time_p50 = rr_histogram_knows(latency, 0.5) ?
				    rr_histogram_time_quantile(latency, 0.5) :
				    0,
		.wait_p50 = known_quantile(waiting, 0.5),
		.wait_p99 = known_quantile(waiting, 0.99),
		.wait_max = waiting->max_ns,
	};
	/* Latencies of a queue that grows say how long the window was. */
	if (run->rate_per_s > 0 && !m->is_sustained)
		m->times = (struct rr_times){ 0 };
	m->attempted = m->ok + m->failed + m->unknown;
	for (size_t i = 0; i < board->n_processes; i++) {
		m->client_user_ns += board->usage[i].user_ns;
		m->client_sys_ns += board->usage[i].sys_ns;
	}

	/* Jain's index, (sum of x)^2 / (n * sum of x^2), over the clients that had
	 * something to do: the first ones, when there are more than increments. */
	const size_t n = m->attempted < board->n_clients ? m->attempted : board->n_clients;
	double sum = 0, squares = 0;

	m->thread_ops_min = m->thread_ops_max = board->slots[0].done_at_first;
	for (size_t i = 0; i < n; i++) {
		const uint64_t ops = board->slots[i].done_at_first;

		if (ops < m->thread_ops_min)
			m->thread_ops_min = ops;
		if (ops > m->thread_ops_max)
			m->thread_ops_max = ops;
		sum += (double)ops;
		squares += (double)ops * (double)ops;
	}
	m->fairness_jain = squares > 0 ? sum * sum / ((double)n * squares) : 1;
	m->luckiest_pct = 100 *
			  (sum > 0 ? (double)m->thread_ops_max / sum : 1 / (double)(n ? n : 1));
}

bool rr_is_sustained(uint64_t offered, uint64_t refused, uint64_t halfway, uint64_t unfinished,
		     size_t clients)
{
	const double asked = (double)(offered - refused);
	const double growth = (double)unfinished - (double)halfway;

	return (double)unfinished <= 0.01 * asked &&
	       !(growth > 0.0025 * asked && growth > (double)clients);
}

/* ---- Judging ------------------------------------------------------------- */

enum rr_promise rr_promise_for(const struct rr_strategy *strategy, int threads, int processes)
{
	if (threads * processes == 1)
		return RR_EXACT;
	return rr_promise(strategy, processes > 1 ? RR_PROCESSES : RR_THREADS);
}

/* The first that applies decides. */
struct rule {
	bool applies;
	enum rr_verdict verdict;
	const char *remark;
};

static void judge_by(struct rr_measurement *m, const struct rule *rules)
{
	while (!rules->applies)
		rules++;
	m->verdict = rules->verdict;
	m->remark = rules->remark;
}

static void judge_exact(struct rr_measurement *m)
{
	const struct rr_strategy *strategy = m->run.strategy;
	/* Nobody could ever get in again after a holder has died. */
	const bool is_final = rr_expected_row(strategy)->breaks[RR_CRASH] & RR_DEADLOCKS &&
			      !strategy->lock.lease;
	const struct rule rules[] = {
		{ m->overruns, RR_VERDICT_INCONCLUSIVE,
		  "inconclusive: held longer than the lease" },
		{ m->lost, RR_VERDICT_VIOLATED, "VIOLATED: updates lost, expected exact" },
		{ m->extra, RR_VERDICT_VIOLATED, "VIOLATED: counted too much, expected exact" },
		{ m->overlaps, RR_VERDICT_VIOLATED,
		  "VIOLATED: two clients in the critical section" },
		{ m->unknown, RR_VERDICT_INCONCLUSIVE, "inconclusive: replies were lost" },
		{ m->dead_holders && is_final, RR_VERDICT_INCONCLUSIVE,
		  "inconclusive: not stuck, although the dead holder's lock does not end" },
		{ m->killed < m->run.kill_workers, RR_VERDICT_INCONCLUSIVE,
		  "inconclusive: too few increments were queued to kill all workers" },
		{ true, RR_VERDICT_EXACT, "exact, as expected" },
	};

	judge_by(m, rules);
}

/* What was acknowledged and is gone was on the server that died alone; unless all
 * replicas had said that they have it. */
static void judge_failed_over(struct rr_measurement *m)
{
	const bool wrong = m->lost || m->extra || m->overlaps;
	const bool is_alone = m->topology == RR_TOPOLOGY_ALONE;
	const struct rule rules[] = {
		{ m->overruns, RR_VERDICT_INCONCLUSIVE,
		  "inconclusive: held longer than the lease" },
		{ wrong && m->waits_for_all, RR_VERDICT_VIOLATED,
		  "VIOLATED: all replicas had confirmed it" },
		{ wrong && m->tally.fail_overs == 0, RR_VERDICT_VIOLATED,
		  "VIOLATED: without a fail-over" },
		{ wrong && is_alone, RR_VERDICT_FAILED_OVER, "lost by restarts of lock servers" },
		{ wrong, RR_VERDICT_FAILED_OVER, "lost by fail-over" },
		{ m->tally.kills < m->run.fail_overs, RR_VERDICT_INCONCLUSIVE,
		  "inconclusive: too few increments for all fail-overs" },
		{ true, RR_VERDICT_EXACT, "nothing lost" },
	};

	judge_by(m, rules);
}

void rr_measurement_judge(struct rr_measurement *m)
{
	const long long least = (long long)m->ok;
	const long long most = (long long)(m->ok + m->unknown);
	m->expected_value = least;
	m->lost = m->final_value < least ? least - m->final_value : 0;
	m->extra = m->final_value > most ? m->final_value - most : 0;
	if (m->promise == RR_EXACT && (m->run.fail_overs || m->tally.fail_overs)) {
		judge_failed_over(m);
	} else if (m->promise == RR_EXACT) {
		judge_exact(m);
	} else if (m->lost || (m->dead_holders && m->overlaps)) {
		m->verdict = RR_VERDICT_LOSSY;
		m->remark = "lossy, as expected";
	} else {
		m->verdict = RR_VERDICT_INCONCLUSIVE;
		m->remark = "inconclusive: nothing lost this time";
	}
}

/* ---- Derived figures ----------------------------------------------------- */

double rr_increments_per_s(const struct rr_measurement *m)
{
	if (m->run.rate_per_s > 0)
		return (double)m->in_time * 1e9 / (double)m->run.window_ns;
	return m->wall_ns > 0 ? (double)m->ok * 1e9 / (double)m->wall_ns : 0;
}

double rr_commands_per_increment(const struct rr_measurement *m)
{
	return m->ok ? (double)m->commands / (double)m->ok : 0;
}

double rr_failed_pct(const struct rr_measurement *m)
{
	return m->attempted ? 100.0 * (double)m->failed / (double)m->attempted : 0;
}

double rr_lost_pct(const struct rr_measurement *m)
{
	return m->expected_value ? 100.0 * (double)m->lost / (double)m->expected_value : 0;
}

static const struct {
	const char *name;
	enum rr_exit code;
} verdicts[] = {
	[RR_VERDICT_EXACT] = { "exact", RR_EXIT_OK },
	[RR_VERDICT_LOSSY] = { "lossy", RR_EXIT_OK },
	[RR_VERDICT_VIOLATED] = { "violated", RR_EXIT_VIOLATED },
	[RR_VERDICT_INCONCLUSIVE] = { "inconclusive", RR_EXIT_INCONCLUSIVE },
	[RR_VERDICT_STUCK] = { "stuck", RR_EXIT_OK },
	[RR_VERDICT_FAILED_OVER] = { "lost-by-fail-over", RR_EXIT_OK },
};

const char *rr_verdict_name(enum rr_verdict verdict)
{
	return verdicts[verdict].name;
}

enum rr_exit rr_verdict_exit(enum rr_verdict verdict)
{
	return verdicts[verdict].code;
}

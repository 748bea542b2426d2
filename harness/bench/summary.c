/* SPDX-License-Identifier: MIT */
/* summary.csv, simple.csv and the table: repeats of one configuration, taken together. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "results.h"

enum { GROUP_MAX = 1000 };

/* ---- Groups: repeats of one strategy in one configuration ---------------- */

struct group {
	const struct rr_measurement *members[GROUP_MAX];
	size_t n;
};

/* The next group in the order of the command line; false when there is none.
 * Begin with *index = 0. */
static bool next_group(const struct rr_results *results, size_t *index, struct group *group)
{
	const struct rr_bench_options *options = results->options;
	const size_t n = options->strategies.n * options->n_threads;

	group->n = 0;
	for (; *index < n && !group->n; (*index)++) {
		const struct rr_strategy *strategy =
			options->strategies.all[*index / options->n_threads];
		const long threads = options->threads[*index % options->n_threads];

		for (size_t i = 0; i < results->n_finished && group->n < GROUP_MAX; i++) {
			const struct rr_measurement *m = &results->finished[i]->measurement;

			if (m->run.strategy == strategy && m->run.threads == threads)
				group->members[group->n++] = m;
		}
	}
	return group->n > 0;
}

/* ---- Figures ------------------------------------------------------------- */

typedef double (*figure)(const struct rr_measurement *measurement);

static double lost(const struct rr_measurement *m)
{
	return (double)m->lost;
}

static double p50_ns(const struct rr_measurement *m)
{
	return (double)m->times.p50;
}

static double p99_ns(const struct rr_measurement *m)
{
	return (double)m->times.p99;
}

static double fairness(const struct rr_measurement *m)
{
	return m->fairness_jain;
}

static const struct {
	const char *name;
	figure of;
} figures[] = {
	{ "lost", lost },
	{ "lost_pct", rr_lost_pct },
	{ "increments_per_s", rr_increments_per_s },
	{ "lat_p50_ns", p50_ns },
	{ "lat_p99_ns", p99_ns },
	{ "commands_per_increment", rr_commands_per_increment },
	{ "fairness_jain", fairness },
	{ "failed_pct", rr_failed_pct },
};

static double recovery_ns(const struct rr_measurement *m)
{
	return (double)m->recovery_ns;
}

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static struct rr_statistics statistics_of(const struct group *group, figure of, long seed)
{
	double values[GROUP_MAX];

	for (size_t i = 0; i < group->n; i++)
		values[i] = of(group->members[i]);
	return rr_statistics_of(values, group->n, (uint64_t)seed);
}

/* The verdict that decides about all of them. */
static const struct rr_measurement *worst(const struct group *group)
{
	const struct rr_measurement *found = group->members[0];

	for (size_t i = 1; i < group->n; i++) {
		const struct rr_measurement *m = group->members[i];

		if (rr_exit_worse(rr_verdict_exit(found->verdict), rr_verdict_exit(m->verdict)) !=
			    rr_verdict_exit(found->verdict) ||
		    (found->verdict == RR_VERDICT_EXACT && m->verdict == RR_VERDICT_FAILED_OVER))
			found = m;
	}
	return found;
}

/* ---- summary.csv and simple.csv ------------------------------------------ */

bool rr_results_summarise(const struct rr_results *results, struct rr_error *error)
{
	const long seed = results->options->seed;
	struct rr_draft summary, simple;
	struct group one;
	size_t index = 0;

	rr_draft_open(&summary);
	rr_draft_open(&simple);
	fprintf(summary.out, "run_id,strategy,expectation,threads,processes,n,verdict");
	for (size_t f = 0; f < FIGURES; f++)
		fprintf(summary.out, ",%s_median,%s_min,%s_max,%s_low,%s_high", figures[f].name,
			figures[f].name, figures[f].name, figures[f].name, figures[f].name);
	fprintf(summary.out,
		",lock,policy,dead_holders,recovery_ns_median,recovery_ns_min,recovery_ns_max\n");
	fprintf(simple.out, "strategy,threads,expected,final,lost,increments_per_s,p99_us\n");
	while (next_group(results, &index, &one)) {
		const struct rr_measurement *m = worst(&one);
		const struct rr_statistics recovery = statistics_of(&one, recovery_ns, seed);
		char policy[RR_POLICY_TEXT_SIZE];

		fprintf(summary.out, "%s,%s,%s,%d,%d,%zu,%s", results->run_id,
			m->run.strategy->name, m->promise == RR_EXACT ? "exact" : "lossy",
			m->run.threads, m->run.processes, one.n, rr_verdict_name(m->verdict));
		for (size_t f = 0; f < FIGURES; f++) {
			const struct rr_statistics it = statistics_of(&one, figures[f].of, seed);

			fprintf(summary.out, ",%.10g,%.10g,%.10g,%.10g,%.10g", it.median, it.min,
				it.max, it.low, it.high);
		}
		fprintf(summary.out, ",%s,%s,%d,%.10g,%.10g,%.10g\n",
			rr_lock_kind_names[m->run.strategy->lock.kind],
			rr_policy_text(m->run.policy, m->run.strategy, policy), m->dead_holders,
			recovery.median, recovery.min, recovery.max);
		/* For a lesson: counts of the worst repeat, rate and latency as medians. */
		fprintf(simple.out, "%s,%d,%lld,%lld,%lld,%.0f,%.1f\n", m->run.strategy->name,
			m->run.threads * m->run.processes, (long long)m->expected_value,
			(long long)m->final_value, (long long)m->lost,
			statistics_of(&one, rr_increments_per_s, seed).median,
			statistics_of(&one, p99_ns, seed).median / 1000);
	}
	rr_results_replace(results, "summary.csv", &summary, error);
	return rr_results_replace(results, "simple.csv", &simple, error);
}

/* ---- The table ----------------------------------------------------------- */

enum { NAME_COLUMNS = 21, VERDICT_COLUMN = 61 };

/* What happened besides counting: increments given up, workers killed. */
static const char *describe_besides(const struct rr_measurement *m, char text[64])
{
	char refused[RR_GROUPED_SIZE], time[RR_GROUPED_SIZE];

	text[0] = '\0';
	if (m->failed && m->run.policy == RR_POLICY_FAIL_FAST)
		snprintf(text, 64, "; %s refused", rr_grouped(refused, (long long)m->failed));
	else if (m->tally.kills < m->run.fail_overs)
		snprintf(text, 64, "; %ld of %ld fail-overs", m->tally.kills, m->run.fail_overs);
	else if (m->recovery_ns)
		snprintf(text, 64, "; recovered in %s",
			 rr_duration(time, (uint64_t)m->recovery_ns));
	else if (m->killed)
		snprintf(text, 64, "; %ld %s killed", m->killed,
			 m->killed == 1 ? "worker" : "workers");
	return text;
}

/* A line of 80 columns; where numbers of threads are compared, final counts are left to
 * runs.csv. "cmds" are commands of each increment. */
void rr_results_table(const struct rr_results *results, FILE *file)
{
	const bool sweep = results->options->n_threads > 1;
	size_t index = 0;

	fprintf(file, "%-20s %9s %7s %7s %7s %4s  %s\n", "strategy", sweep ? "threads" : "final",
		"lost", "inc/s", "p99", "cmds", "verdict");
	for (struct group group; next_group(results, &index, &group);) {
		long seed = results->options->seed;
		const struct rr_measurement *m = worst(&group);
		const struct rr_statistics rate = statistics_of(&group, rr_increments_per_s, seed);
		char final[RR_GROUPED_SIZE], gone[RR_GROUPED_SIZE];
		char speed[RR_GROUPED_SIZE], tail[RR_GROUPED_SIZE];
		char besides[64], *verdict;

		fprintf(file, "%-20s ", m->run.strategy->name);
		if (sweep)
			fprintf(file, "%9d", m->run.threads);
		else
			fprintf(file, "%9s", rr_grouped(final, m->final_value));
		fprintf(file, " %7s %7s %7s %4.1f", rr_grouped(gone, m->lost + m->extra),
			rr_grouped(speed, (long long)(rate.median + 0.5)),
			rr_duration(tail, (uint64_t)statistics_of(&group, p99_ns, seed).median),
			statistics_of(&group, rr_commands_per_increment, seed).median);
		verdict = rr_asprintf("%s%s", m->remark, describe_besides(m, besides));
		/* A long one has the next line for itself. */
		if (rr_plain_width(verdict) > RR_COLUMNS - VERDICT_COLUMN)
			fprintf(file, "\n%*s", NAME_COLUMNS, "");
		else
			fputs("  ", file);
		rr_print_wrapped(file, verdict, NAME_COLUMNS, NAME_COLUMNS);
		free(verdict);
	}
}

/* ---- Fail-overs ---------------------------------------------------------- */

void rr_results_fail_overs(const struct rr_results *results, FILE *file)
{
	fprintf(file, "\n%-20s %6s %8s %6s %7s %8s %7s %11s\n", "each run", "killed", "down for",
		"lost", "doubled", "overlaps", "unknown", "unconfirmed");
	for (size_t i = 0; i < results->n_finished; i++) {
		const struct rr_measurement *m = &results->finished[i]->measurement;
		const struct rr_formation_tally *tally = &m->tally;
		char overlaps[RR_GROUPED_SIZE], time[RR_GROUPED_SIZE];
		char lost[RR_GROUPED_SIZE], extra[RR_GROUPED_SIZE];
		char unknown[RR_GROUPED_SIZE], unconfirmed[RR_GROUPED_SIZE];

		fprintf(file, "%-20s %6ld %8s %6s %7s %8s %7s %11s\n", m->run.strategy->name,
			tally->fail_overs, rr_duration(time, (uint64_t)tally->headless_ns),
			rr_grouped(lost, m->lost), rr_grouped(extra, m->extra),
			m->run.strategy->acquire ? rr_grouped(overlaps, (long long)m->overlaps) :
						   "-",
			rr_grouped(unknown, (long long)m->unknown),
			m->run.wait_replicas ? rr_grouped(unconfirmed, (long long)m->unconfirmed) :
					       "-");
	}
}

/* ---- Cases --------------------------------------------------------------- */

/* What the verdict was decided by, and the figures of all. */
static json_t *properties_of_group(const struct group *group, long seed)
{
	const struct rr_measurement *m = worst(group);
	json_t *properties =
		json_pack("{s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "expectation",
			  m->promise == RR_EXACT ? "exact" : "lossy", "threads", m->run.threads,
			  "processes", m->run.processes, "repeats", (json_int_t)group->n,
			  "attempted", (json_int_t)m->attempted, "expected",
			  (json_int_t)m->expected_value, "final", (json_int_t)m->final_value,
			  "extra", (json_int_t)m->extra, "overlaps", (json_int_t)m->overlaps,
			  "failed", (json_int_t)m->failed, "unknown", (json_int_t)m->unknown);

	for (size_t f = 0; f < FIGURES; f++) {
		const struct rr_statistics s = statistics_of(group, figures[f].of, seed);

		json_object_set_new(properties, figures[f].name, json_real(s.median));
	}
	json_object_set_new(properties, "dead_holders", json_integer(m->dead_holders));
	json_object_set_new(properties, "recovery_ns",
			    m->recovery_ns ? json_integer(m->recovery_ns) : json_null());
	/* Only where servers were killed. */
	if (m->run.fail_overs) {
		json_object_set_new(properties, "topology",
				    json_string(rr_topology_names[m->topology]));
		json_object_set_new(properties, "fail_overs", json_integer(m->tally.fail_overs));
		json_object_set_new(properties, "without_primary_ns",
				    json_integer(m->tally.headless_ns));
		json_object_set_new(properties, "wait_replicas",
				    json_integer(m->run.wait_replicas));
		json_object_set_new(properties, "unconfirmed",
				    json_integer((json_int_t)m->unconfirmed));
	}
	return properties;
}

void rr_results_as_cases(const struct rr_results *results, struct rr_cases *cases)
{
	const bool sweep = results->options->n_threads > 1;
	size_t index = 0;

	json_object_set_new(cases->properties, "run_id", json_string(results->run_id));
	json_object_set_new(cases->properties, "directory", json_string(results->directory));
	json_object_set_new(cases->properties, "transport", json_string(results->transport));
	json_object_set_new(cases->properties, "placement", json_string(results->placement));
	for (struct group group; next_group(results, &index, &group);) {
		const struct rr_measurement *m = worst(&group);
		char name[120], file[120], message[300], besides[64];
		char final[RR_GROUPED_SIZE], expected[RR_GROUPED_SIZE];
		double seconds = 0;

		for (size_t i = 0; i < group.n; i++)
			seconds += (double)group.members[i]->wall_ns / 1e9;
		snprintf(name, sizeof(name), sweep ? "%s, %d threads" : "%s", m->run.strategy->name,
			 m->run.threads);
		snprintf(file, sizeof(file), "scenarios/%s.c", m->run.strategy->name);
		snprintf(message, sizeof(message), "%s%s: %s of %s", m->remark,
			 describe_besides(m, besides), rr_grouped(final, m->final_value),
			 rr_grouped(expected, m->expected_value));
		rr_cases_add(cases, &(struct rr_case){ .suite = "bench",
						       .name = name,
						       .verdict = rr_case_verdict_of(
							       rr_verdict_exit(m->verdict)),
						       .seconds = seconds,
						       .message = message,
						       .file = file,
						       .properties = properties_of_group(
							       &group, results->options->seed) });
	}
}

/* SPDX-License-Identifier: MIT */
/* summary.csv, simple.csv and the table: repeats of one configuration, taken together. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const size_t rates = options->n_rates ? options->n_rates : 1;
	const size_t each = options->n_threads * rates;
	const size_t n = options->strategies.n * each;

	group->n = 0;
	for (; *index < n && !group->n; (*index)++) {
		const struct rr_strategy *strategy = options->strategies.all[*index / each];
		const long threads = options->threads[*index % each / rates];
		const char *rate = options->n_rates ? options->rates[*index % rates].text : NULL;

		for (size_t i = 0; i < results->n_finished && group->n < GROUP_MAX; i++) {
			const struct rr_measurement *m = &results->finished[i]->measurement;

			if (m->run.strategy == strategy && m->run.threads == threads &&
			    m->run.rate_asked == rate)
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

static double final_value(const struct rr_measurement *m)
{
	return (double)m->final_value;
}

static double fairness(const struct rr_measurement *m)
{
	return m->fairness_jain;
}

static double luckiest(const struct rr_measurement *m)
{
	return m->luckiest_pct;
}

static double wait_max_ns(const struct rr_measurement *m)
{
	return m->run.rate_asked && !m->is_sustained ? NAN : (double)m->times.wait_max;
}

/* Of what was not refused, and only of an open loop. */
static double unfinished_pct(const struct rr_measurement *m)
{
	const double asked = (double)(m->offered - m->failed);

	return m->run.rate_asked ? asked > 0 ? 100 * (double)m->unfinished / asked : 0 : NAN;
}

/* A quantile is 0 where too few durations lie beyond it: no figure. */
static double known(uint64_t quantile_ns)
{
	return quantile_ns ? (double)quantile_ns : NAN;
}

static double p50_ns(const struct rr_measurement *m)
{
	return known(m->times.p50);
}

static double p99_ns(const struct rr_measurement *m)
{
	return known(m->times.p99);
}

static double p999_ns(const struct rr_measurement *m)
{
	return known(m->times.p999);
}

static double time_p50_ns(const struct rr_measurement *m)
{
	return known(m->times.time_p50);
}

/* In the order of the columns of summary.csv, in which those from the ninth on stand at the end. */
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
	{ "final_value", final_value },
	{ "lat_p999_ns", p999_ns },
	{ "lat_time_p50_ns", time_p50_ns },
	{ "wait_max_ns", wait_max_ns },
	{ "luckiest_pct", luckiest },
	{ "unfinished_pct", unfinished_pct },
};

enum { FIRST_FIGURES = 8, FIGURES = sizeof(figures) / sizeof(figures[0]) };

static double recovery_ns(const struct rr_measurement *m)
{
	return (double)m->recovery_ns;
}

static double killed(const struct rr_measurement *m)
{
	return (double)m->killed;
}

static double failed(const struct rr_measurement *m)
{
	return (double)m->failed;
}

/* n = 0: a member does not have the figure. */
static struct rr_statistics statistics_of(const struct group *group, figure of)
{
	double values[GROUP_MAX];

	for (size_t i = 0; i < group->n; i++) {
		values[i] = of(group->members[i]);
		if (isnan(values[i]))
			return (struct rr_statistics){ .n = 0 };
	}
	return rr_statistics_of(values, group->n);
}

static double median_of(const struct group *group, figure of)
{
	return statistics_of(group, of).median;
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

/* Repeats of an open loop in which the rate was not sustained. */
static size_t count_unsustained(const struct group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < group->n; i++)
		n += group->members[i]->run.rate_asked && !group->members[i]->is_sustained;
	return n;
}

/* ---- All repeats pooled --------------------------------------------------- */

static bool write_pooled(const struct rr_results *results, struct rr_error *error)
{
	for (size_t i = 0; i < results->n_pools; i++)
		rr_results_spectrum(results, &results->pools[i]->run, 0,
				    &results->pools[i]->latency, error);
	return !error->kind;
}

/* ---- summary.csv and simple.csv ------------------------------------------ */

static void print_names(FILE *out, size_t from, size_t to)
{
	for (size_t f = from; f < to; f++)
		fprintf(out, ",%s_median,%s_min,%s_max,%s_low,%s_high", figures[f].name,
			figures[f].name, figures[f].name, figures[f].name, figures[f].name);
}

static void print_figures(FILE *out, const struct group *group, size_t from, size_t to)
{
	for (size_t f = from; f < to; f++) {
		const struct rr_statistics it = statistics_of(group, figures[f].of);

		if (it.n)
			fprintf(out, ",%.10g,%.10g,%.10g,%.10g,%.10g", it.median, it.min, it.max,
				it.low, it.high);
		else
			fputs(",,,,,", out);
	}
}

/* For a lesson: medians, in seven columns. */
static void print_simple(FILE *out, const struct group *group)
{
	const struct rr_measurement *m = group->members[0];
	const struct rr_statistics tail = statistics_of(group, p99_ns);

	fprintf(out, "%s,%d,%lld,%.0f,%.0f,%.0f,", m->run.strategy->name,
		m->run.threads * m->run.processes, m->expected_value, median_of(group, final_value),
		median_of(group, lost), median_of(group, rr_increments_per_s));
	if (tail.n)
		fprintf(out, "%.1f", tail.median / 1000);
	fputc('\n', out);
}

bool rr_results_summarise(const struct rr_results *results, struct rr_error *error)
{
	struct rr_draft summary, simple;
	struct group one;
	size_t index = 0;

	rr_draft_open(&summary);
	rr_draft_open(&simple);
	fprintf(summary.out, "run_id,strategy,expectation,threads,processes,n,verdict");
	print_names(summary.out, 0, FIRST_FIGURES);
	fprintf(summary.out,
		",lock,policy,dead_holders,recovery_ns_median,recovery_ns_min,recovery_ns_max");
	print_names(summary.out, FIRST_FIGURES, FIGURES);
	fprintf(summary.out, ",coverage_pct,rate_asked,rate_per_s,capacity_per_s,sustained\n");
	fprintf(simple.out, "strategy,threads,expected,final,lost,increments_per_s,p99_us\n");
	while (next_group(results, &index, &one)) {
		const struct rr_measurement *m = worst(&one);
		const struct rr_statistics recovery = statistics_of(&one, recovery_ns);
		char policy[RR_POLICY_TEXT_SIZE];

		fprintf(summary.out, "%s,%s,%s,%d,%d,%zu,%s", results->run_id,
			m->run.strategy->name, m->promise == RR_EXACT ? "exact" : "lossy",
			m->run.threads, m->run.processes, one.n, rr_verdict_name(m->verdict));
		print_figures(summary.out, &one, 0, FIRST_FIGURES);
		fprintf(summary.out, ",%s,%s,%d,%.10g,%.10g,%.10g",
			rr_lock_kind_names[m->run.strategy->lock.kind],
			rr_policy_text(m->run.policy, m->run.strategy, policy), m->dead_holders,
			recovery.median, recovery.min, recovery.max);
		print_figures(summary.out, &one, FIRST_FIGURES, FIGURES);
		/* Empty: low and high are the least and the largest, a range. */
		if (recovery.coverage_pct > 0)
			fprintf(summary.out, ",%.1f", recovery.coverage_pct);
		else
			fputs(",", summary.out);
		if (m->run.rate_asked)
			fprintf(summary.out, ",%s,%.0f,%.0f,%s\n", m->run.rate_asked,
				m->run.rate_per_s, m->run.capacity_per_s,
				count_unsustained(&one) ? "no" : "yes");
		else
			fputs(",,,,\n", summary.out);
		print_simple(simple.out, &one);
	}
	rr_results_replace(results, "summary.csv", &summary, error);
	rr_results_replace(results, "simple.csv", &simple, error);
	return write_pooled(results, error);
}

/* ---- The table ----------------------------------------------------------- */

enum { NAME_COLUMNS = 21, VERDICT_COLUMN = 61 };

/* Besides the count: wrong repeats, increments given up, workers killed. */
static const char *describe_besides(const struct group *group, char text[80])
{
	const struct rr_measurement *m = worst(group);
	char figure[RR_GROUPED_SIZE];
	size_t wrong = 0;

	for (size_t i = 0; i < group->n; i++)
		wrong += group->members[i]->verdict == RR_VERDICT_VIOLATED;
	text[0] = '\0';
	if (wrong && group->n > 1)
		snprintf(text, 80, "; in %zu of %zu repeats, %s lost at the most", wrong, group->n,
			 rr_grouped(figure, (long long)statistics_of(group, lost).max));
	else if (m->failed && m->run.policy == RR_POLICY_FAIL_FAST)
		snprintf(text, 80, "; %s refused",
			 rr_grouped(figure, (long long)median_of(group, failed)));
	else if (m->tally.kills < m->run.fail_overs)
		snprintf(text, 80, "; %ld of %ld fail-overs", m->tally.kills, m->run.fail_overs);
	else if (m->recovery_ns)
		snprintf(text, 80, "; recovered in %s",
			 rr_duration(figure, (uint64_t)median_of(group, recovery_ns)));
	else if (m->killed)
		snprintf(text, 80, "; %.0f %s killed", median_of(group, killed),
			 m->killed == 1 ? "worker" : "workers");
	return text;
}

/* The columns of a table: of a closed loop, of one over numbers of threads, and of an open loop. A
 * column without a figure is what the groups differ in. */
struct shown {
	const char *title;
	int width;
	figure of;
};

enum { SHOWN = 5 };

static const struct shown of_closed[SHOWN] = {
	{ "final", 9, final_value },
	{ "lost", 7, lost },
	{ "inc/s", 7, rr_increments_per_s },
	{ "p99", 7, p99_ns },
	{ "cmds", 4, rr_commands_per_increment },
};

static const struct shown of_sweep[SHOWN] = {
	{ "threads", 9, NULL },
	{ "lost", 7, lost },
	{ "inc/s", 7, rr_increments_per_s },
	{ "p99", 7, p99_ns },
	{ "cmds", 4, rr_commands_per_increment },
};

static const struct shown of_open[SHOWN] = {
	{ "rate", 6, NULL },     { "done/s", 7, rr_increments_per_s },
	{ "p50", 7, p50_ns },    { "p99", 7, p99_ns },
	{ "p99.9", 7, p999_ns },
};

static char *shown_text(figure of, double value, char text[RR_GROUPED_SIZE])
{
	if (of == p50_ns || of == p99_ns || of == p999_ns)
		rr_duration(text, (uint64_t)value);
	else if (of == rr_commands_per_increment)
		snprintf(text, RR_GROUPED_SIZE, "%.1f", value);
	else
		rr_grouped(text, llrint(value)); /* as printf does it in summary.csv */
	return text;
}

static void print_column(FILE *file, const struct shown *column, const char *text)
{
	fprintf(file, " %*s%s", column->width - (int)rr_plain_width(text), "", text);
}

static char *verdict_of_group(const struct group *group)
{
	const size_t unsustained = count_unsustained(group);
	char besides[80], open[80] = "";

	if (unsustained == group->n)
		snprintf(open, sizeof(open), "not sustained; ");
	else if (unsustained)
		snprintf(open, sizeof(open), "not sustained in %zu of %zu repeats; ", unsustained,
			 group->n);
	return rr_asprintf("%s%s%s", open, worst(group)->remark, describe_besides(group, besides));
}

/* The medians; and beneath them, where repeats differ, the ends of their interval or range. */
static void print_group(FILE *file, const struct group *group, const struct shown *columns)
{
	const struct rr_measurement *m = worst(group);
	char low[SHOWN][RR_GROUPED_SIZE], high[SHOWN][RR_GROUPED_SIZE], text[RR_GROUPED_SIZE];
	char *verdict = verdict_of_group(group);
	bool differs = false;

	fprintf(file, "%-20s", m->run.strategy->name);
	for (size_t i = 0; i < SHOWN; i++) {
		struct rr_statistics it = { .n = 0 };

		low[i][0] = high[i][0] = '\0';
		if (columns[i].of)
			it = statistics_of(group, columns[i].of);
		if (it.n)
			shown_text(columns[i].of, it.median, text);
		else if (columns[i].of)
			snprintf(text, sizeof(text), "–");
		else if (m->run.rate_asked)
			snprintf(text, sizeof(text), "%s", m->run.rate_asked);
		else
			snprintf(text, sizeof(text), "%d", m->run.threads);
		print_column(file, &columns[i], text);
		if (!it.n)
			continue;
		shown_text(columns[i].of, it.low, low[i]);
		shown_text(columns[i].of, it.high, high[i]);
		if (strcmp(low[i], high[i]) == 0)
			low[i][0] = high[i][0] = '\0';
		differs = differs || low[i][0];
	}
	/* A long one has the next line for itself. */
	if (rr_plain_width(verdict) > RR_COLUMNS - VERDICT_COLUMN)
		fprintf(file, "\n%*s", NAME_COLUMNS, "");
	else
		fputs("  ", file);
	rr_print_wrapped(file, verdict, NAME_COLUMNS, NAME_COLUMNS);
	free(verdict);
	for (int end = 0; end < 2 && differs; end++) {
		char *line, *last;
		FILE *out = rr_open_text(&line);

		fprintf(out, "%-20s", end ? "  to" : "  from");
		for (size_t i = 0; i < SHOWN; i++)
			print_column(out, &columns[i], end ? high[i] : low[i]);
		fclose(out);
		for (last = line + strlen(line); last[-1] == ' ';)
			*--last = '\0';
		fprintf(file, "%s\n", line);
		free(line);
	}
}

static void print_kind_of_figure(const struct rr_results *results, FILE *file)
{
	struct group group;
	size_t index = 0, least = GROUP_MAX, most = 0, rank;
	double coverage;

	while (next_group(results, &index, &group)) {
		least = group.n < least ? group.n : least;
		most = group.n > most ? group.n : most;
	}
	coverage = rr_interval_of(most, &rank);
	if (most == 1)
		fputs("Each figure is that of one run.\n", file);
	else if (least != most)
		rr_print_sentence(file, 0, 0,
				  "Each figure is the median of its repeats, %zu to %zu; from, to: "
				  "its 95 %% interval, or the range of five or fewer.",
				  least, most);
	else if (coverage <= 0)
		rr_print_sentence(
			file, 0, 0,
			"Each figure is the median of %zu repeats; from, to: their range, "
			"too few for an interval.",
			most);
	else
		rr_print_sentence(file, 0, 0,
				  "Each figure is the median of %zu repeats; from, to: its %.1f %% "
				  "interval, value %zu to %zu of them in order.",
				  most, coverage, rank, most + 1 - rank);
}

/* What an open loop was, and what it found out about its servers and this machine. */
static void print_open_loop(const struct rr_results *results, FILE *file)
{
	const struct rr_bench_options *options = results->options;
	const struct rr_strategy *seen = NULL;
	char half[RR_GROUPED_SIZE], tail[RR_GROUPED_SIZE], rate[RR_GROUPED_SIZE];
	struct group group;
	size_t index = 0;
	char *text;
	FILE *out = rr_open_text(&text);

	fprintf(out,
		"Latencies run from the planned arrival; arrivals that were unfinished after %ld s "
		"count at their age. Clients woke late by %s in the median, %s at p99, which is part "
		"of the latencies.",
		options->seconds_per_cell,
		rr_duration(half, rr_histogram_quantile(&results->wake, 0.5)),
		rr_duration(tail, rr_histogram_quantile(&results->wake, 0.99)));
	while (next_group(results, &index, &group)) {
		const struct rr_run *run = &group.members[0]->run;

		if (run->capacity_per_s <= 0 || run->strategy == seen)
			continue;
		fprintf(out, "%s %s %s/s",
			seen ? "," : " Capacity, the highest rate that was sustained:",
			run->strategy->name, rr_grouped(rate, (long long)run->capacity_per_s));
		seen = run->strategy;
	}
	fclose(out);
	fputc('\n', file);
	rr_print_sentence(file, 0, 0, "%s%s", text, seen ? "." : "");
	free(text);
}

/* Lines of 80 columns; where numbers of threads are compared, final counts are left to
 * runs.csv. "cmds" are commands of each increment. */
void rr_results_table(const struct rr_results *results, FILE *file)
{
	const struct rr_bench_options *options = results->options;
	const struct shown *columns = options->n_rates       ? of_open :
				      options->n_threads > 1 ? of_sweep :
							       of_closed;
	size_t index = 0;

	print_kind_of_figure(results, file);
	fprintf(file, "\n%-20s", "strategy");
	for (size_t i = 0; i < SHOWN; i++)
		print_column(file, &columns[i], columns[i].title);
	fprintf(file, "  verdict\n");
	for (struct group group; next_group(results, &index, &group);)
		print_group(file, &group, columns);
	if (options->n_rates)
		print_open_loop(results, file);
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
static json_t *properties_of_group(const struct group *group)
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

	json_t *intervals = json_object();
	double coverage_pct = 0;

	for (size_t f = 0; f < FIGURES; f++) {
		const struct rr_statistics it = statistics_of(group, figures[f].of);

		json_object_set_new(properties, figures[f].name,
				    it.n ? json_real(it.median) : json_null());
		json_object_set_new(intervals, figures[f].name,
				    it.n ? json_pack("[f, f]", it.low, it.high) : json_null());
		coverage_pct = it.n ? it.coverage_pct : coverage_pct;
	}
	/* Low and high of each median; without a coverage they are a range. */
	json_object_set_new(properties, "intervals", intervals);
	json_object_set_new(properties, "coverage_pct",
			    coverage_pct > 0 ? json_real(coverage_pct) : json_null());
	json_object_set_new(properties, "loop", json_string(m->run.rate_asked ? "open" : "closed"));
	if (m->run.rate_asked) {
		json_object_set_new(properties, "rate_per_s", json_real(m->run.rate_per_s));
		json_object_set_new(properties, "capacity_per_s",
				    m->run.capacity_per_s > 0 ? json_real(m->run.capacity_per_s) :
								json_null());
		json_object_set_new(properties, "sustained",
				    json_boolean(!count_unsustained(group)));
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
		char name[120], file[120], message[300], besides[80];
		char final[RR_GROUPED_SIZE], expected[RR_GROUPED_SIZE];
		double seconds = 0;

		for (size_t i = 0; i < group.n; i++)
			seconds += (double)group.members[i]->wall_ns / 1e9;
		if (m->run.rate_asked)
			snprintf(name, sizeof(name), "%s, rate %s", m->run.strategy->name,
				 m->run.rate_asked);
		else
			snprintf(name, sizeof(name), sweep ? "%s, %d threads" : "%s",
				 m->run.strategy->name, m->run.threads);
		snprintf(file, sizeof(file), "scenarios/%s.c", m->run.strategy->name);
		snprintf(message, sizeof(message), "%s%s: %s of %s", m->remark,
			 describe_besides(&group, besides), rr_grouped(final, m->final_value),
			 rr_grouped(expected, m->expected_value));
		rr_cases_add(cases, &(struct rr_case){ .suite = "bench",
						       .name = name,
						       .verdict = rr_case_verdict_of(
							       rr_verdict_exit(m->verdict)),
						       .seconds = seconds,
						       .message = message,
						       .file = file,
						       .properties = properties_of_group(&group) });
	}
}

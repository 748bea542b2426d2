/* SPDX-License-Identifier: MIT */
/* Two results directories compared: first what counts rightly, then what is faster,
 * and only where both were measured alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare.h"
#include "measures.h"

struct comparer {
	const struct rr_compare_options *options;
	struct rr_compared_runs before, after;
	struct rr_cases cases;
	FILE *out; /* the same for people */
	enum rr_exit code;
	size_t n_tests;
	struct rr_error *error;
};

/* Rows of one strategy in one configuration are its sample. */
static bool is_same_cell(const struct rr_compared_row *a, const struct rr_compared_row *b)
{
	return strcmp(a->strategy, b->strategy) == 0 && strcmp(a->policy, b->policy) == 0 &&
	       a->threads == b->threads && a->processes == b->processes &&
	       strcmp(a->rate_asked, b->rate_asked) == 0;
}

/* The first row like this one; NULL: there is none. */
static const struct rr_compared_row *find_cell(const struct rr_compared_runs *runs,
					       const struct rr_compared_row *like)
{
	for (size_t i = 0; i < runs->n_rows; i++) {
		if (is_same_cell(&runs->rows[i], like))
			return &runs->rows[i];
	}
	return NULL;
}

static bool is_first_of_cell(const struct rr_compared_runs *runs, const struct rr_compared_row *row)
{
	return find_cell(runs, row) == row;
}

/* "incr, 2 threads", with what is out of the ordinary. */
static const char *cell_text(const struct rr_compared_row *row, char text[160])
{
	const bool is_usual = strncmp(row->policy, "none", 4) == 0 ||
			      strncmp(row->policy, "backoff", 7) == 0;
	char *strategy = rr_plain(row->strategy), *policy = rr_plain(row->policy);
	char *rate = rr_plain(row->rate_asked);
	char processes[48] = "";

	if (row->processes > 1)
		snprintf(processes, sizeof(processes), " x %ld processes", row->processes);
	snprintf(text, 160, "%.40s, %ld %s%s%s%.30s%s%.12s", strategy, row->threads,
		 row->threads == 1 ? "thread" : "threads", processes, is_usual ? "" : ", ",
		 is_usual ? "" : policy, *rate ? ", rate " : "", rate);
	free(rate);
	free(strategy);
	free(policy);
	return text;
}

/* One result more. The worst is the code of all; what is skipped changes none. */
static void add_case(struct comparer *comparer, const char *what, struct rr_case *one,
		     enum rr_exit code)
{
	char suite[32];

	snprintf(suite, sizeof(suite), "compare.%s", what);
	one->suite = suite;
	one->verdict = rr_case_verdict_of(code);
	rr_cases_add(&comparer->cases, one);
	if (code != RR_EXIT_SKIPPED)
		comparer->code = rr_exit_worse(comparer->code, code);
}

/* One without figures. */
static void add_sentence(struct comparer *comparer, const char *what, const char *name,
			 enum rr_exit code, const char *message)
{
	add_case(comparer, what, &(struct rr_case){ .name = name, .message = message }, code);
}

/* ---- Correctness --------------------------------------------------------- */

/* What a sample counted, taken together. */
struct count_state {
	size_t n, wrong; /* runs */
	double worst_pct;
	bool is_promised; /* exact */
};

static struct count_state count_state_of(const struct rr_compared_runs *runs,
					 const struct rr_compared_row *like)
{
	struct count_state state = { .is_promised = true };

	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct rr_compared_row *row = &runs->rows[i];

		if (!is_same_cell(row, like))
			continue;
		state.n++;
		state.wrong += row->lost || row->extra || strcmp(row->verdict, "violated") == 0;
		if (row->lost_pct > state.worst_pct)
			state.worst_pct = row->lost_pct;
		if (strcmp(row->expectation, "exact") != 0)
			state.is_promised = false;
	}
	return state;
}

/* Names what only one of them has. */
static void name_missing(struct comparer *comparer, const struct rr_compared_runs *runs,
			 const struct rr_compared_runs *others)
{
	char name[160], *message = rr_asprintf("only in %s", runs->directory);

	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct rr_compared_row *row = &runs->rows[i];

		if (!is_first_of_cell(runs, row) || find_cell(others, row))
			continue;
		cell_text(row, name);
		fprintf(comparer->out, "Only in %s: %s\n", runs->directory, name);
		add_sentence(comparer, "count", name, RR_EXIT_SKIPPED, message);
	}
	free(message);
}

/* False: there is nothing that both have. */
static bool compare_all_counts(struct comparer *comparer)
{
	const struct rr_compared_runs *after = &comparer->after;
	size_t common = 0;

	for (size_t i = 0; i < after->n_rows; i++) {
		const struct rr_compared_row *row = &after->rows[i];

		if (!is_first_of_cell(after, row) || !find_cell(&comparer->before, row))
			continue;
		common++;

		const struct count_state a = count_state_of(&comparer->before, row);
		const struct count_state b = count_state_of(&comparer->after, row);
		const bool was_exact = a.is_promised && a.wrong == 0;
		const bool is_exact = b.is_promised && b.wrong == 0;
		const char *heading = NULL;
		char name[160], message[160];

		if (was_exact && !is_exact) {
			heading = "WRONG NOW";
			snprintf(
				message, sizeof(message),
				"was exact, and %zu of %zu runs counted wrongly (up to %.2f %% lost)",
				b.wrong, b.n, b.worst_pct);
		} else if (b.is_promised && b.wrong) {
			heading = "still wrong";
			snprintf(message, sizeof(message),
				 "promises an exact count, and %zu of %zu runs counted wrongly",
				 b.wrong, b.n);
		} else if (!was_exact && is_exact) {
			heading = "right now";
			snprintf(message, sizeof(message), "is exact, and was not");
		} else {
			snprintf(message, sizeof(message), "%s",
				 is_exact ? "is exact, and was" : "promises no exact count");
		}
		cell_text(row, name);
		if (heading)
			rr_print_sentence(comparer->out, 0, 2, "%s: %s %s", heading, name, message);
		add_sentence(comparer, "count", name,
			     heading && !is_exact ? RR_EXIT_VIOLATED : RR_EXIT_OK, message);
	}
	if (common && comparer->code == RR_EXIT_OK)
		fprintf(comparer->out, "No strategy that was exact counts wrongly now.\n");
	name_missing(comparer, after, &comparer->before);
	name_missing(comparer, &comparer->before, after);
	if (common)
		return true;
	rr_error_set(
		comparer->error, RR_ERROR_DATA,
		"'%s' and '%s' have no strategy in common with the same clients and policy: measure both with the same strategies, --threads and --processes",
		comparer->before.directory, after->directory);
	add_sentence(comparer, "count", "strategies", RR_EXIT_DATA, comparer->error->text);
	return false;
}

/* ---- Is it the same environment? ----------------------------------------- */

/* May figures be compared? Says why not. */
static bool is_comparable(struct comparer *comparer)
{
	char *text = NULL;
	FILE *out = rr_open_text(&text);
	const size_t differences = rr_compared_differences(&comparer->before, &comparer->after,
							   out);
	const bool is_refused = differences && !comparer->options->anyway;

	fclose(out);
	fputs(text, comparer->out);
	if (is_refused)
		rr_print_sentence(comparer->out, 0, 2,
				  "Figures are not compared: what differs is not the program alone "
				  "(--anyway compares them).");
	add_case(
		comparer, "environment",
		&(struct rr_case){
			.name = "servers, machines and settings",
			.message =
				!differences ?
					"are the same" :
				is_refused ?
					"differ: figures are not compared (--anyway compares them)" :
					"differ: figures are compared anyway",
			.details = differences ? text : NULL,
		},
		is_refused ? RR_EXIT_DATA : RR_EXIT_OK);
	free(text);
	return !is_refused;
}

/* ---- Figures ------------------------------------------------------------- */

static const struct {
	const char *heading, *suite;
	bool more_is_better;
	const char *better, *worse;
} figures[RR_COMPARED_FIGURES] = {
	[RR_COMPARED_RATE] = { "increments/s", "rate", true, "faster", "SLOWER" },
	[RR_COMPARED_P99] = { "p99", "p99", false, "shorter", "LONGER" },
};

static const char *figure_text(char buffer[RR_GROUPED_SIZE], enum rr_compared_figure figure,
			       double value)
{
	if (figure == RR_COMPARED_P99)
		return rr_duration(buffer, (uint64_t)value);
	return rr_grouped(buffer, (long long)(value + 0.5));
}

/* A sample of one figure: how many values, all of them positive. */
static size_t take_sample(const struct rr_compared_runs *runs, const struct rr_compared_row *like,
			  enum rr_compared_figure figure, double values[RR_SAMPLE_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < runs->n_rows && n < RR_SAMPLE_MAX; i++) {
		const struct rr_compared_row *row = &runs->rows[i];

		if (is_same_cell(row, like) && row->figures[figure] > 0)
			values[n++] = row->figures[figure];
	}
	return n;
}

/* What a test shows: which of the two is better, or why nothing follows from it. */
struct conclusion {
	enum rr_exit code;
	char text[64];
};

static struct conclusion conclude(const struct rr_compare_options *options,
				  enum rr_compared_figure figure,
				  const struct rr_mann_whitney *test)
{
	const double change_pct = 100 * (test->ratio - 1);
	const bool is_better = (test->ratio > 1) == figures[figure].more_is_better;
	struct conclusion it = { .code = RR_EXIT_OK };

	if (test->least_p >= 0.05) {
		it.code = RR_EXIT_SKIPPED;
		snprintf(it.text, sizeof(it.text), "no difference can be shown with so few runs");
	} else if (test->p >= 0.05) {
		snprintf(it.text, sizeof(it.text), "no difference shown");
	} else if (fabs(change_pct) < (double)options->tolerance_pct) {
		snprintf(it.text, sizeof(it.text), "no difference that matters: below %ld %%",
			 options->tolerance_pct);
	} else {
		snprintf(it.text, sizeof(it.text), "%s",
			 is_better ? figures[figure].better : figures[figure].worse);
		if (!is_better && options->fail_if_slower)
			it.code = RR_EXIT_SLOW;
	}
	return it;
}

static void compare_figure(struct comparer *comparer, const struct rr_compared_row *row,
			   enum rr_compared_figure figure)
{
	double a[RR_SAMPLE_MAX], b[RR_SAMPLE_MAX], middle_a, middle_b;
	const size_t n_a = take_sample(&comparer->before, row, figure, a);
	const size_t n_b = take_sample(&comparer->after, row, figure, b);
	const char *suite = figures[figure].suite;
	char name[160], left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char interval[64] = "", message[160];
	struct rr_mann_whitney test;
	struct conclusion it;
	json_t *properties;

	cell_text(row, name);
	if (!n_a || !n_b) {
		const char *why = row->is_unsustained ? "the rate was not sustained" :
				  row->ok == 0        ? "nothing was counted" :
							"too few increments for it";

		fprintf(comparer->out, "%-24s %s\n", name, why);
		add_sentence(comparer, suite, name, RR_EXIT_SKIPPED, why);
		return;
	}
	rr_mann_whitney(a, n_a, b, n_b, &test);
	comparer->n_tests++;
	if (test.has_interval)
		snprintf(interval, sizeof(interval), "%.2f to %.2f", test.low, test.high);
	it = conclude(comparer->options, figure, &test);
	middle_a = rr_statistics_of(a, n_a).median;
	middle_b = rr_statistics_of(b, n_b).median;
	figure_text(left, figure, middle_a);
	figure_text(right, figure, middle_b);
	fprintf(comparer->out, "%-24s %10s %10s  %5.2f  %s\n    %zu and %zu runs, p = %.4f: %s\n",
		name, left, right, test.ratio, interval, n_a, n_b, test.p, it.text);
	snprintf(message, sizeof(message), "%s: %s and %s, %.2f times, p = %.4f", it.text, left,
		 right, test.ratio, test.p);
	properties = json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:o, s:o}", "before", middle_a,
			       "after", middle_b, "ratio", test.ratio, "p", test.p, "runs_before",
			       (json_int_t)n_a, "runs_after", (json_int_t)n_b, "low",
			       test.has_interval ? json_real(test.low) : json_null(), "high",
			       test.has_interval ? json_real(test.high) : json_null());
	add_case(comparer, suite,
		 &(struct rr_case){ .name = name, .message = message, .properties = properties },
		 it.code);
}

static void compare_figures(struct comparer *comparer)
{
	const struct rr_compared_runs *after = &comparer->after;

	for (int f = 0; f < RR_COMPARED_FIGURES; f++) {
		fprintf(comparer->out, "\n%-24s %10s %10s  %5s  %s\n", figures[f].heading, "A", "B",
			"B / A", "95 %");
		for (size_t i = 0; i < after->n_rows; i++) {
			const struct rr_compared_row *row = &after->rows[i];

			if (is_first_of_cell(after, row) && find_cell(&comparer->before, row))
				compare_figure(comparer, row, (enum rr_compared_figure)f);
		}
	}
	if (comparer->n_tests >= 10)
		fprintf(comparer->out,
			"\nOf %zu comparisons about %.0f come out below p = 0.05 by chance.\n",
			comparer->n_tests, (double)comparer->n_tests * 0.05);
}

/* ---- The whole ----------------------------------------------------------- */

static void print_compared(const void *what, enum rr_format format, FILE *out,
			   struct rr_error *error)
{
	(void)format;
	(void)error;
	fputs(what, out);
}

enum rr_exit rr_compare(const struct rr_compare_options *options, struct rr_error *error)
{
	struct comparer comparer = { .options = options, .error = error };
	char *text = NULL;

	if (rr_compared_read(&comparer.before, options->directories[0], error) &&
	    rr_compared_read(&comparer.after, options->directories[1], error)) {
		rr_cases_init(&comparer.cases, "redrace compare");
		comparer.out = rr_open_text(&text);

		const struct rr_compared_runs *a = &comparer.before, *b = &comparer.after;

		fprintf(comparer.out, "A: %s, %zu runs\nB: %s, %zu runs\n\n", a->directory,
			a->n_rows, b->directory, b->n_rows);
		if (compare_all_counts(&comparer) && is_comparable(&comparer))
			compare_figures(&comparer);
		fclose(comparer.out);
		rr_cases_publish(&comparer.cases, &options->outputs, print_compared, text, error);
		rr_cases_release(&comparer.cases);
		free(text);
	}
	rr_compared_release(&comparer.before);
	rr_compared_release(&comparer.after);
	return comparer.code;
}

/* ---- As the text of Go's benchmarks, which benchstat and other tools read -------- */

static void print_gobench(const void *what, enum rr_format format, FILE *out,
			  struct rr_error *error)
{
	const struct rr_compared_runs *runs = what;
	char text[128];
	const char *machine = rr_compared_environment(runs, "machine", "architecture", text);

	(void)format;
	(void)error;
	/* Of the Go world's names for machines, two differ. */
	if (strcmp(machine, "x86_64") == 0)
		machine = "amd64";
	else if (strcmp(machine, "aarch64") == 0)
		machine = "arm64";
	fprintf(out, "goos: linux\n");
	fprintf(out, "goarch: %s\n", machine);
	fprintf(out, "pkg: redrace\n");
	fprintf(out, "cpu: %s\n", rr_compared_environment(runs, "machine", "cpu", text));
	fprintf(out, "server: %s\n",
		rr_compared_environment(runs, "server", "redis_version", text));
	for (size_t i = 0; i < runs->n_rows; i++) {
		/* A run is a line; nothing was done in one without an increment. */
		const struct rr_compared_row *row = &runs->rows[i];
		const double ok = (double)row->ok;
		char *strategy, *policy;

		if (row->ok <= 0)
			continue;
		strategy = rr_plain(row->strategy);
		policy = rr_plain(row->policy);
		fprintf(out,
			"BenchmarkIncrement/strategy=%s/wait=%s/processes=%ld/threads=%ld \t%lld\t%.1f ns/op\t%.0f p50-ns\t%.0f p99-ns\t%.4f commands/op\t%lld lost\n",
			strategy, policy, row->processes, row->threads, row->ok, row->wall_ns / ok,
			row->p50_ns, row->figures[RR_COMPARED_P99], row->commands / ok, row->lost);
		free(strategy);
		free(policy);
	}
}

void rr_write_gobench(const struct rr_compare_options *options, struct rr_error *error)
{
	struct rr_compared_runs runs;

	if (rr_compared_read(&runs, options->directories[0], error))
		rr_outputs_write(&options->outputs, print_gobench, &runs, error);
	rr_compared_release(&runs);
}

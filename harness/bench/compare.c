/* SPDX-License-Identifier: MIT */
/* Two results directories compared: first what counts rightly, then what is faster,
 * and only where both were measured alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare.h"
#include "measures.h"

struct comparer {
	const struct rr_compare_options *options;
	struct rr_compared_runs before, after;
	enum rr_exit code;
	bool has_been_slower; /* by more than the floor */
	size_t n_tests;
	struct rr_error *error;
};

/* Rows of one strategy in one configuration are its sample. */
static bool is_same_cell(const struct rr_compared_row *a, const struct rr_compared_row *b)
{
	return strcmp(a->strategy, b->strategy) == 0 && strcmp(a->policy, b->policy) == 0 &&
	       a->threads == b->threads && a->processes == b->processes;
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
	char processes[48] = "";

	if (row->processes > 1)
		snprintf(processes, sizeof(processes), " x %ld processes", row->processes);
	snprintf(text, 160, "%.40s, %ld %s%s%s%.40s", strategy, row->threads,
		 row->threads == 1 ? "thread" : "threads", processes, is_usual ? "" : ", ",
		 is_usual ? "" : policy);
	free(strategy);
	free(policy);
	return text;
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

static void compare_counts(struct comparer *comparer, const struct rr_compared_row *row)
{
	const struct count_state a = count_state_of(&comparer->before, row);
	const struct count_state b = count_state_of(&comparer->after, row);
	const bool was_exact = a.is_promised && a.wrong == 0;
	const bool is_exact = b.is_promised && b.wrong == 0;
	char name[160];

	if (was_exact && !is_exact) {
		printf("WRONG NOW: %s was exact, and %zu of %zu runs counted wrongly (up to %.2f %% lost)\n",
		       cell_text(row, name), b.wrong, b.n, b.worst_pct);
		comparer->code = RR_EXIT_VIOLATED;
	} else if (b.is_promised && b.wrong) {
		printf("still wrong: %s promises an exact count, and %zu of %zu runs counted wrongly\n",
		       cell_text(row, name), b.wrong, b.n);
		comparer->code = RR_EXIT_VIOLATED;
	} else if (!was_exact && is_exact) {
		printf("right now: %s is exact, and was not\n", cell_text(row, name));
	}
}

/* Names what only one of them has. */
static void tell_missing(const struct rr_compared_runs *runs, const struct rr_compared_runs *others)
{
	char name[160];

	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct rr_compared_row *row = &runs->rows[i];

		if (is_first_of_cell(runs, row) && !find_cell(others, row))
			printf("Only in %s: %s\n", runs->directory, cell_text(row, name));
	}
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
		compare_counts(comparer, row);
	}
	if (common && comparer->code == RR_EXIT_OK)
		printf("No strategy that was exact counts wrongly now.\n");
	tell_missing(after, &comparer->before);
	tell_missing(&comparer->before, after);
	return common ||
	       rr_error_set(
		       comparer->error, RR_ERROR_DATA,
		       "'%s' and '%s' have no strategy in common with the same clients and policy",
		       comparer->before.directory, after->directory);
}

/* ---- Is it the same environment? ----------------------------------------- */

/* What figures depend on besides the program. */
static const struct {
	const char *object, *name, *words;
} environments[] = {
	{ "server", "server_name", "server" },
	{ "server", "redis_version", "server version" },
	{ "server", "valkey_version", "server version" },
	{ "machine", "cpu", "processor" },
	{ "machine", "cores", "processors" },
	{ "machine", "cores_allowed", "processors allowed" },
	{ "machine", "architecture", "architecture" },
	{ "machine", "governor", "governor" },
	{ "machine", "kernel", "kernel" },
	{ "machine", "clock_source", "clock source" },
};

/* Says one difference; returns 1. */
static size_t tell_difference(const char *what, const char *a, const char *b)
{
	char *one = rr_plain(a), *other = rr_plain(b);

	printf("Different %s: '%s' and '%s'\n", what, one, other);
	free(one);
	free(other);
	return 1;
}

static size_t compare_environments(const struct comparer *comparer)
{
	size_t differences = 0;
	char a[128], b[128];

	for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
		rr_compared_environment(&comparer->before, environments[i].object,
					environments[i].name, a);
		rr_compared_environment(&comparer->after, environments[i].object,
					environments[i].name, b);
		if (strcmp(a, b) != 0)
			differences += tell_difference(environments[i].words, a, b);
	}
	return differences;
}

/* All rows have to be measured alike, those of one directory too. */
static size_t compare_settings(const struct comparer *comparer)
{
	const struct rr_compared_runs *const both[] = { &comparer->before, &comparer->after };
	const struct rr_compared_row *first = comparer->before.rows;
	size_t differences = 0;

	for (size_t s = 0; rr_compared_settings[s]; s++) {
		const char *other = NULL;

		for (size_t i = 0; i < 2; i++) {
			for (size_t r = 0; r < both[i]->n_rows; r++) {
				const char *it = both[i]->rows[r].settings[s];

				if (strcmp(it, first->settings[s]) != 0)
					other = it;
			}
		}
		if (other)
			differences += tell_difference(rr_compared_settings[s], first->settings[s],
						       other);
	}
	return differences;
}

/* May figures be compared? Says why not. */
static bool is_comparable(struct comparer *comparer)
{
	const struct rr_compared_runs *const both[] = { &comparer->before, &comparer->after };
	size_t differences = 0;

	for (size_t i = 0; i < 2; i++) {
		if (both[i]->environment)
			continue;
		printf("%s has no env.json that can be read: where it was measured is not known.\n",
		       both[i]->directory);
		differences++;
	}
	if (!differences)
		differences = compare_environments(comparer);
	differences += compare_settings(comparer);
	if (differences && !comparer->options->anyway) {
		printf("Figures are not compared: what differs is not the program alone (--anyway compares them).\n");
		comparer->code = rr_exit_worse(comparer->code, RR_EXIT_DATA);
		return false;
	}
	return true;
}

/* ---- Figures ------------------------------------------------------------- */

static const struct {
	const char *heading;
	bool more_is_better;
	const char *better, *worse;
} figures[RR_COMPARED_FIGURES] = {
	[RR_COMPARED_RATE] = { "increments/s", true, "faster", "SLOWER" },
	[RR_COMPARED_P99] = { "p99", false, "shorter", "LONGER" },
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

/* Why nothing follows from it, or which of the two is better. */
static void print_conclusion(struct comparer *comparer, enum rr_compared_figure figure,
			     const struct rr_mann_whitney *test)
{
	const double floor_pct = (double)comparer->options->floor_pct;
	const double change_pct = 100 * (test->ratio - 1);
	const bool is_better = (test->ratio > 1) == figures[figure].more_is_better;

	if (test->least_p >= 0.05)
		printf("no difference can be shown with so few runs\n");
	else if (test->p >= 0.05)
		printf("no difference shown\n");
	else if (fabs(change_pct) < floor_pct)
		printf("no difference that matters: below %.0f %%\n", floor_pct);
	else
		printf("%s\n", is_better ? figures[figure].better : figures[figure].worse);
	if (test->least_p < 0.05 && test->p < 0.05 && fabs(change_pct) >= floor_pct && !is_better)
		comparer->has_been_slower = true;
}

static void compare_figure(struct comparer *comparer, const struct rr_compared_row *row,
			   enum rr_compared_figure figure)
{
	double a[RR_SAMPLE_MAX], b[RR_SAMPLE_MAX];
	const size_t n_a = take_sample(&comparer->before, row, figure, a);
	const size_t n_b = take_sample(&comparer->after, row, figure, b);
	char name[160], left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char interval[64] = "", runs[48];
	struct rr_mann_whitney test;

	cell_text(row, name);
	if (!n_a || !n_b) {
		printf("%-24s nothing was counted\n", name);
		return;
	}
	rr_mann_whitney(a, n_a, b, n_b, &test);
	comparer->n_tests++;
	if (test.has_interval)
		snprintf(interval, sizeof(interval), "%.2f to %.2f", test.low, test.high);
	snprintf(runs, sizeof(runs), "%zu and %zu", n_a, n_b);
	printf("%-24s %10s %10s  %5.2f  %s\n    %s runs, p = %.4f: ", name,
	       figure_text(left, figure, rr_statistics_of(a, n_a, 1).median),
	       figure_text(right, figure, rr_statistics_of(b, n_b, 1).median), test.ratio, interval,
	       runs, test.p);
	print_conclusion(comparer, figure, &test);
}

static void compare_figures(struct comparer *comparer)
{
	const struct rr_compared_runs *after = &comparer->after;

	for (int f = 0; f < RR_COMPARED_FIGURES; f++) {
		printf("\n%-24s %10s %10s  %5s  %s\n", figures[f].heading, "A", "B", "B / A",
		       "95 %");
		for (size_t i = 0; i < after->n_rows; i++) {
			const struct rr_compared_row *row = &after->rows[i];

			if (is_first_of_cell(after, row) && find_cell(&comparer->before, row))
				compare_figure(comparer, row, (enum rr_compared_figure)f);
		}
	}
	if (comparer->n_tests >= 10)
		printf("\nOf %zu comparisons about %.0f come out below p = 0.05 by chance.\n",
		       comparer->n_tests, (double)comparer->n_tests * 0.05);
}

/* ---- The whole ----------------------------------------------------------- */

static void compare_runs(struct comparer *comparer)
{
	printf("A: %s, %zu runs\nB: %s, %zu runs\n\n", comparer->before.directory,
	       comparer->before.n_rows, comparer->after.directory, comparer->after.n_rows);
	if (!compare_all_counts(comparer) || !is_comparable(comparer))
		return;
	compare_figures(comparer);
	if (comparer->has_been_slower && comparer->options->fail_if_slower)
		comparer->code = rr_exit_worse(comparer->code, RR_EXIT_SLOW);
}

enum rr_exit rr_compare(const struct rr_compare_options *options, struct rr_error *error)
{
	struct comparer comparer = { .options = options, .error = error };

	if (rr_compared_read(&comparer.before, options->directories[0], error) &&
	    rr_compared_read(&comparer.after, options->directories[1], error))
		compare_runs(&comparer);
	rr_compared_release(&comparer.before);
	rr_compared_release(&comparer.after);
	return comparer.code;
}

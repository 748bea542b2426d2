/* SPDX-License-Identifier: MIT */
/* The matrix as a library: verdicts, and what differs from the expectation. */
#include <jansson.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support.h"
#include "matrix/matrix.h"

static struct rr_matrix matrix;

static void release_matrix(void)
{
	rr_matrix_release(&matrix);
}

TestSuite(matrix, .fini = release_matrix);

/* The shim of the build whose program is tested. */
static const char *shim(char path[512])
{
	const char *program = getenv("REDRACE");
	char copy[400];

	snprintf(copy, sizeof(copy), "%s", program ? program : "build/redrace");
	snprintf(path, 512, "%s/redrace-clock.so", dirname(copy));
	return path;
}

static enum rr_exit run(void)
{
	char path[512];
	const struct rr_cluster_options servers = { .program = "redis-server", .shim = shim(path) };
	struct rr_signals signals;
	struct rr_error error = { 0 };

	cr_assert(rr_signals_open(&signals));
	rr_matrix_run(&matrix, &servers, 2, &signals, &error);
	rr_signals_close(&signals);
	return rr_exit_worse(rr_exit_of(error.kind), rr_matrix_exit(&matrix));
}

static enum rr_exit compute(const struct rr_strategy *const *strategies, size_t n, unsigned hazards,
			    unsigned long most)
{
	rr_matrix_init(&matrix, strategies, n, hazards, most);
	return run();
}

/* One strategy, one column. */
static struct rr_cell *compute_cell(const struct rr_strategy *strategy, enum rr_hazard hazard,
				    enum rr_exit code, unsigned long most)
{
	static const struct rr_strategy *rows[1];
	enum rr_exit got;

	rows[0] = strategy;
	got = compute(rows, 1, 1U << hazard, most);
	cr_assert_eq(got, code, "exit %d: %s", got,
		     rr_matrix_cell(&matrix, 0, hazard)->result.error.text);
	return rr_matrix_cell(&matrix, 0, hazard);
}

static char *print(void (*format)(const struct rr_matrix *matrix, FILE *file))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	format(&matrix, file);
	fclose(file);
	return text;
}

static void assert_prints(void (*format)(const struct rr_matrix *matrix, FILE *file),
			  const char *part)
{
	char *text = print(format);

	cr_assert_not_null(strstr(text, part), "no '%s' in: %s", part, text);
	free(text);
}

Test(matrix, verdicts_are_the_expected_ones)
{
	const struct rr_strategy *strategies[] = { rr_strategy_find("none"),
						   rr_strategy_find("local-mutex"),
						   rr_strategy_find("set-nx-ex"),
						   rr_strategy_find("incr") };

	cr_assert_eq(compute(strategies, 4,
			     1U << RR_THREADS | 1U << RR_PROCESSES | 1U << RR_RESTART, 0),
		     RR_EXIT_OK);
	cr_assert_eq(rr_matrix_cell(&matrix, 0, RR_THREADS)->result.breaks, RR_BREAKS_COUNT);
	cr_assert_eq(rr_matrix_cell(&matrix, 1, RR_THREADS)->verdict, RR_CELL_SAFE);
	cr_assert_str_eq(rr_matrix_cell(&matrix, 1, RR_THREADS)->result.noticed,
			 "no client waits for the mutex");
	cr_assert_eq(rr_matrix_cell(&matrix, 1, RR_PROCESSES)->result.breaks,
		     RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION);
	cr_assert_eq(rr_matrix_cell(&matrix, 2, RR_PROCESSES)->verdict, RR_CELL_SAFE);
	cr_assert_eq(rr_matrix_cell(&matrix, 3, RR_RESTART)->verdict, RR_CELL_NONE);
	cr_assert_eq(rr_matrix_cell(&matrix, 3, RR_CRASH)->verdict, RR_CELL_UNDONE);
}

Test(matrix, failing_cell_has_a_transcript_that_plays)
{
	struct rr_cell *cell = compute_cell(rr_strategy_find("none"), RR_THREADS, RR_EXIT_OK, 0);

	cr_assert_not_null(strstr(cell->transcript, "title   none, threads: count\n"));
	cr_assert_not_null(strstr(cell->transcript, "verdict lost update\n"));
	cr_assert_str_eq(cell->verdict_text, "lost update");
	cr_assert_not_null(strstr(cell->drawing, "lost update"));
	cr_assert_str_eq(cell->result.error.text, "");
}

/* What is expected is the table's (expected.h), by name: these strategies have that of others. */
Test(matrix, failure_that_nobody_expects_is_1)
{
	struct rr_strategy hopeful = *rr_strategy_find("none");

	hopeful.name = "incr";
	compute_cell(&hopeful, RR_THREADS, RR_EXIT_VIOLATED, 0);
	assert_prints(rr_matrix_text, "! incr, threads: expected: safe; computed: count; ");
	assert_prints(rr_matrix_markdown, "(not as expected)");
	assert_prints(rr_matrix_html, "differs");
}

Test(matrix, failure_that_does_not_come_is_1)
{
	struct rr_strategy gloomy = *rr_strategy_find("incr");

	gloomy.name = "none";
	compute_cell(&gloomy, RR_PROCESSES, RR_EXIT_VIOLATED, 0);
	assert_prints(rr_matrix_text, "expected: count; computed: safe; ");
}

/* The set must be the same, not only overlap. */
Test(matrix, failure_of_another_kind_is_1)
{
	struct rr_strategy strange = *rr_strategy_find("none");

	strange.name = "local-mutex";
	compute_cell(&strange, RR_PROCESSES, RR_EXIT_VIOLATED, 0);
	assert_prints(rr_matrix_text, "expected: count, exclusion; computed: count; ");
}

Test(matrix, endless_rounds_are_not_safe)
{
	struct rr_strategy looping = *rr_strategy_find("incr-lock");
	const struct rr_strategy *rows[] = { &looping };

	rr_matrix_init(&matrix, rows, 1, 1U << RR_THREADS, 0);
	rr_matrix_cell(&matrix, 0, RR_THREADS)->bounds.n_clients = 2;
	cr_assert_eq(run(), RR_EXIT_OK, "%s",
		     rr_matrix_cell(&matrix, 0, RR_THREADS)->result.error.text);
	cr_assert_eq(rr_matrix_cell(&matrix, 0, RR_THREADS)->verdict, RR_CELL_ROUNDS);
	looping.name = "incr";
	cr_assert_eq(rr_matrix_exit(&matrix), RR_EXIT_VIOLATED);
}

Test(matrix, cut_search_proves_nothing)
{
	struct rr_cell *cell = compute_cell(rr_strategy_find("set-nx-ex"), RR_THREADS,
					    RR_EXIT_INCONCLUSIVE, 5);

	cr_assert_eq(cell->verdict, RR_CELL_MOST);
	cr_assert_geq(cell->result.states, 5);
}

static void print_as_json(const struct rr_matrix *computed, FILE *file)
{
	struct rr_cases cases;

	rr_matrix_as_cases(computed, &cases);
	rr_cases_print(&cases, RR_FORMAT_JSON, file);
	rr_cases_release(&cases);
}

Test(matrix, json_says_the_same)
{
	char *text;
	json_t *root, *cell;

	compute_cell(rr_strategy_find("none"), RR_THREADS, RR_EXIT_OK, 0);
	text = print(print_as_json);
	root = json_loads(text, 0, NULL);
	cr_assert_not_null(root, "%s", text);
	cr_assert_eq(json_integer_value(json_object_get(root, "schema")), 5);
	cr_assert_eq(json_array_size(json_object_get(root, "cases")), 1);
	cell = json_array_get(json_object_get(root, "cases"), 0);
	cr_assert_str_eq(json_string_value(json_object_get(cell, "verdict")), "passed");
	cell = json_object_get(cell, "properties");
	cr_assert_str_eq(json_string_value(json_object_get(cell, "found")), "breaks");
	cr_assert_str_eq(json_string_value(json_object_get(cell, "standing")), "as expected");
	cr_assert_str_eq(json_string_value(json_object_get(cell, "transcript")),
			 "none-threads.race");
	cr_assert_gt(json_integer_value(json_object_get(cell, "states")), 0);
	cr_assert_leq(json_integer_value(json_object_get(cell, "failing_interleavings")),
		      json_integer_value(json_object_get(cell, "interleavings")));
	json_decref(root);
	free(text);
}

/* What final states are, of a strategy where its clients are threads; the caller's to release. */
static json_t *ends_of(const char *strategy)
{
	json_t *root, *ends;
	char *text;

	compute_cell(rr_strategy_find(strategy), RR_THREADS, RR_EXIT_OK, 0);
	text = print(print_as_json);
	root = json_loads(text, 0, NULL);
	cr_assert_not_null(root, "%s", text);
	ends = json_object_get(json_array_get(json_object_get(root, "cases"), 0), "properties");
	ends = json_incref(json_object_get(ends, "ends"));
	json_decref(root);
	free(text);
	return ends;
}

/* By whichever commands and states: one that counts ends like another that counts. */
Test(matrix, final_states_have_a_digest_of_what_they_hold)
{
	json_t *incr = ends_of("incr"), *locked = ends_of("set-nx-ex"), *none = ends_of("none");
	json_int_t n = 0;

	cr_assert(json_equal(incr, locked));
	cr_assert_not(json_equal(incr, none));
	cr_assert_eq(json_unpack(none, "{s:{s:I}}", "final", "n", &n), 0);
	cr_assert_eq(n, 3, "1, 2 or 3 increments");
	json_decref(incr);
	json_decref(locked);
	json_decref(none);
}

static const char *what_is_computed(size_t n_strategies, unsigned hazards, unsigned long most,
				    enum rr_cell_verdict last)
{
	const char *why = NULL;

	rr_matrix_release(&matrix);
	rr_matrix_init(&matrix, rr_strategies, n_strategies, hazards, most);
	for (size_t i = 0; i < n_strategies * RR_HAZARDS; i++)
		matrix.cells[i].verdict = RR_CELL_SAFE;
	rr_matrix_cell(&matrix, n_strategies - 1, RR_SKEW)->verdict = last;
	cr_assert_eq(rr_matrix_is_whole(&matrix, &why), !why);
	return why ? why : "all";
}

Test(matrix, is_whole_with_all_strategies_hazards_states_and_cells)
{
	const size_t n = rr_n_strategies;

	cr_assert_str_eq(what_is_computed(n, RR_ALL_HAZARDS, 0, RR_CELL_SAFE), "all");
	cr_assert_str_eq(what_is_computed(n, RR_ALL_HAZARDS, 0, RR_CELL_SKIPPED), "all");
	cr_assert_str_eq(what_is_computed(n - 1, RR_ALL_HAZARDS, 0, RR_CELL_SAFE),
			 "some of the strategies");
	cr_assert_str_eq(what_is_computed(n, RR_ALL_HAZARDS >> 1, 0, RR_CELL_SAFE),
			 "some of the hazards");
	cr_assert_str_eq(what_is_computed(n, RR_ALL_HAZARDS, 5, RR_CELL_SAFE),
			 "some of the states");
	cr_assert_str_eq(what_is_computed(n, RR_ALL_HAZARDS, 0, RR_CELL_FAILED),
			 "some of the cells");
}

Test(matrix_bounds, are_short_text)
{
	const struct rr_explore_config crash = rr_bounds_of(NULL, RR_CRASH);
	const struct rr_explore_config mutex = rr_bounds_of(rr_strategy_find("local-mutex"),
							    RR_CRASH);
	char text[RR_BOUNDS_SIZE];

	cr_assert_not_null(strstr(rr_bounds_text(&crash, text), " processes, 1 crash"), "%s", text);
	cr_assert_not_null(strstr(rr_bounds_text(&mutex, text), " threads, 1 crash"), "%s", text);
}

/* The text of the widest numbers and longest names fits a terminal. */
Test(matrix_text, fits_100_columns)
{
	char *text, *rest;

	rr_matrix_init(&matrix, rr_strategies, rr_n_strategies, RR_ALL_HAZARDS, 0);
	for (size_t i = 0; i < rr_n_strategies * RR_HAZARDS; i++) {
		matrix.cells[i].verdict = i % 2 ? RR_CELL_SAFE : RR_CELL_ROUNDS;
		matrix.cells[i].result.states = 1234567;
	}
	text = print(rr_matrix_text);
	for (char *line = strtok_r(text, "\n", &rest); line && strncmp(line, "safe N", 6) != 0;
	     line = strtok_r(NULL, "\n", &rest))
		cr_assert_leq(strlen(line), 100, "%s", line);
	free(text);
	rr_matrix_release(&matrix);
}

/* SPDX-License-Identifier: MIT */
/* What keeps a program from running on is said with the exit code that it has. */
#include <criterion/criterion.h>

#include "client/client_table.h"

static const struct rr_error hangs = { RR_ERROR_HANGS,
				       "client A neither sends a command nor ends" };
static const struct rr_run_view nothing = { .n_threads = 1,
					    .stops = { { .kind = RR_STOP_ENDED } } };

static void *begin_run(const struct rr_program *program, int client)
{
	static int run;

	(void)program;
	run = client;
	return &run;
}

static void end_run(void *run)
{
	(void)run;
}

static const struct rr_run_view *view_of_run(const void *run)
{
	(void)run;
	return &nothing;
}

static enum rr_going going_of_run(const void *run, const struct rr_error **problem)
{
	(void)run;
	*problem = &hangs;
	return RR_FAILED;
}

static void compare_run(void *run, const struct rr_run_view *known, int client)
{
	(void)run;
	(void)known;
	(void)client;
}

static const struct rr_run_ops run_ops = {
	.begin = begin_run,
	.end = end_run,
	.view = view_of_run,
	.going = going_of_run,
	.compare = compare_run,
};

Test(problems, a_table_keeps_what_kind_of_problem_a_program_has)
{
	struct rr_terms terms = { 0 };
	const struct rr_program program = { .n_clients = 1, .terms = &terms, .run_ops = &run_ops };
	struct rr_kept_runs kept = { .most = RR_KEPT_MAX };
	struct rr_client_table table;

	rr_client_table_init(&table, &program, 1, &kept);
	cr_assert_not(rr_client_table_begin(&table));
	cr_assert_eq(table.error.kind, hangs.kind);
	cr_assert_str_eq(table.error.text, hangs.text);
	rr_client_table_release(&table);
	rr_terms_release(&terms);
}

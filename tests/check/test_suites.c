/* SPDX-License-Identifier: MIT */
/* What the command line says of a suite, and what does not go together: harness/check/suites.c. What
 * comes of checks is in test_suite.c. */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"

/* In a directory without a suite. */
static void setup(void)
{
	cli_setup();
	cr_assert_eq(chdir(cli_home), 0);
}

static void teardown(void)
{
	cr_assert_eq(chdir("/"), 0);
	cli_teardown();
}

TestSuite(suites, .init = setup, .fini = teardown);

/* The options behind `redrace check`, and what is wrong with them. */
static void assert_refused(struct rr_check_command chosen, enum rr_error_kind kind)
{
	char *argv[] = { "redrace check", NULL };
	struct rr_error error = { .kind = RR_ERROR_NONE };

	cr_assert_eq(rr_check_run_suite(&chosen, 1, argv, &error), RR_EXIT_OK);
	cr_assert_eq(error.kind, kind, "%s", error.text);
}

Test(suites, without_a_file_there_is_nothing_to_check)
{
	struct rr_check_command chosen = rr_check_defaults();

	assert_refused(chosen, RR_ERROR_USAGE);
	chosen.whole.chosen[chosen.whole.n_chosen++] = "true";
	assert_refused(chosen, RR_ERROR_USAGE);
}

/* Several checks would write it. */
Test(suites, files_of_one_check_need_one_name)
{
	struct rr_check_command chosen = rr_check_defaults();

	cli_write("redrace.yaml", "checks: {a: {command: x}, b: {command: y}}\n");
	chosen.each.save = "x.race";
	assert_refused(chosen, RR_ERROR_USAGE);
	chosen.each.save = NULL;
	chosen.each.game = "x.html";
	assert_refused(chosen, RR_ERROR_USAGE);
}

/* It is read before any check is made: 65, and not 64. */
Test(suites, a_check_without_a_program_is_an_error_of_the_file)
{
	cli_write("redrace.yaml", "checks: {a: {clients: 2}}\n");
	assert_refused(rr_check_defaults(), RR_ERROR_DATA);
}

Test(suites, names_are_those_of_the_file)
{
	size_t n;
	char **names = rr_check_names(&n);

	cr_assert_eq(n, 0, "there is no file");
	free(names);
	cli_write("redrace.yaml", "checks: {buy: {command: x}, 'two words': {command: y}}\n");
	names = rr_check_names(&n);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(names[0], "buy");
	cr_assert_str_eq(names[1], "two words");
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* A program on the command line, and what is of a suite. */
Test(suites, options_of_a_suite_go_with_no_program)
{
	static const struct rr_suite_options refused[] = {
		{ .path = "redrace.yaml" },
		{ .jobs = 2 },
		{ .shard = { .of = 2 } },
		{ .n_chosen = 1, .chosen = { "true" } },
	};
	const struct rr_suite_options none = { .path = NULL };
	struct rr_error error = { .kind = RR_ERROR_NONE };

	cr_assert(rr_check_refuse_suite(&none, &error));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		error = (struct rr_error){ .kind = RR_ERROR_NONE };
		cr_assert_not(rr_check_refuse_suite(&refused[i], &error), "%zu", i);
		cr_assert_eq(error.kind, RR_ERROR_USAGE);
	}
}

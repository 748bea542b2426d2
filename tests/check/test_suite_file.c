/* SPDX-License-Identifier: MIT */
/* The file of a suite, read and judged without making a check: harness/suite. Checks that are
 * made are in test_suite.c. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite/suite.h"

TestSuite(suite_file);

/* ---- Read ----------------------------------------------------------------------------- */

struct taken {
	bool flag;
	long number;
	const char *text;
	long whole;
};

static bool take_pair(void *into, char *first, char *second, struct rr_error *error)
{
	(void)into, (void)error;
	return *first && *second;
}

#define AT(field) .at = offsetof(struct taken, field)

/* One of each kind. */
static const struct rr_option rows[] = {
	{ .name = "flag", .help = "a flag", AT(flag) },
	{ .name = "clients", .argument = "N", .help = "a number", .max = 8, AT(number) },
	{ .name = "init", .argument = "FILE", .help = "a text", AT(text) },
	{ .name = "final",
	  .argument = "COMMAND VALUE",
	  .help = "pairs",
	  .repeats = true,
	  .take_pair = take_pair },
	{ .name = "whole", .argument = "N", .help = "of all", .max = 8, AT(whole) },
};

static const struct rr_command_line line = { .options = rows,
					     .n_options = sizeof(rows) / sizeof(rows[0]) };

static bool accept_words(void *context, int argc, char **argv, struct rr_error *error)
{
	(void)context;
	return strcmp(argv[argc - 1], "no") != 0 || rr_error_set(error, RR_ERROR_USAGE, "no");
}

static const struct rr_suite_command command = {
	.line = &line,
	.size = sizeof(struct taken),
	.whole_at = offsetof(struct taken, whole),
	.accept = accept_words,
};

static bool parse(struct rr_suite *suite, const char *text, struct rr_error *error)
{
	*error = (struct rr_error){ .kind = RR_ERROR_NONE };
	return rr_suite_parse(suite, "f", text, strlen(text), &command, error);
}

/* "redrace check --clients=2 -- x". */
static void assert_words(const struct rr_suite_check *check, const char *expected)
{
	char words[300] = "";

	for (size_t i = 0; i < check->n_words; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "%s%s", i ? " " : "",
			 check->words[i]);
	cr_assert_str_eq(words, expected);
}

Test(suite_file, keys_become_a_command_line)
{
	struct rr_error error;
	struct rr_suite suite;

	cr_assert(
		parse(&suite,
		      "defaults: {clients: 3}\n"
		      "checks:\n"
		      "  a: {command: [x, y z], flag: true, init: f}\n"
		      "  b: {command: [x], clients: 2, flag: false, final: {GET n: 2}, expect: no progress}\n"
		      "  c: {command: [x], known: [lost update (n)]}\n",
		      &error),
		"%s", error.text);
	cr_assert_eq(suite.n, 3);
	assert_words(&suite.checks[0], "redrace check --flag --init=f --clients=3 -- x y z");
	assert_words(&suite.checks[1], "redrace check --clients=2 --final=GET n 2 -- x");
	cr_assert_str_eq(suite.checks[1].name, "b");
	cr_assert_eq(suite.checks[1].line, 4);
	cr_assert_str_eq(rr_suite_outcomes[suite.checks[1].expected], "no progress");
	cr_assert_eq(suite.checks[2].n_known, 1);
	cr_assert_str_eq(suite.checks[2].known[0], "lost update (n)");
	cr_assert_eq(suite.checks[2].expected, 0, "that it is serializable, as by default");
	rr_suite_release(&suite);
}

struct mistake {
	char text[80], place[20];
};

ParameterizedTestParameters(suite_file, a_mistake_has_a_place)
{
	static struct mistake mistakes[] = {
		{ "", "f:1:1: " },
		{ "checks: {a: {comand: x}}\n", "f:1:14: " },
		{ "checks: {a: {command: x, clients: 9}}\n", "f:1:35: " },
		{ "checks: {a: {command: x, whole: 1}}\n", "f:1:26: " },
		{ "checks:\n  a: {command: x}\n  b: {command: [no]}\n", "f:3:3: " },
		{ "checks: {a: {command: x\n", "f:2:1: " },
	};

	return cr_make_param_array(struct mistake, mistakes,
				   sizeof(mistakes) / sizeof(mistakes[0]));
}

ParameterizedTest(struct mistake *it, suite_file, a_mistake_has_a_place)
{
	struct rr_error error;
	struct rr_suite suite;

	cr_assert_not(parse(&suite, it->text, &error), "%s", it->text);
	cr_assert_eq(error.kind, RR_ERROR_DATA);
	cr_assert_eq(strncmp(error.text, it->place, strlen(it->place)), 0, "%s", error.text);
	rr_suite_release(&suite);
}

Test(suite_file, a_key_is_an_option_or_its_plural)
{
	struct rr_suite_key key;

	cr_assert(rr_suite_find_key(&command, "clients", false, &key));
	cr_assert_eq(key.kind, RR_SUITE_OPTION);
	cr_assert_str_eq(key.option.name, "clients");
	cr_assert(rr_suite_find_key(&command, "expect", false, &key));
	cr_assert_eq(key.kind, RR_SUITE_EXPECT);
	cr_assert_not(rr_suite_find_key(&command, "whole", false, &key), "it is of all checks");
	cr_assert_not(rr_suite_find_key(&command, "nothing", false, &key));
	cr_assert_str_eq(rr_suite_nearest_key(&command, "comand"), "command");
	cr_assert(rr_suite_takes_pairs(&rows[3]));
	cr_assert_not(rr_suite_takes_pairs(&rows[2]));
}

/* ---- Judged --------------------------------------------------------------------------- */

/* A finding, the name by which it is known, and whether all was searched. */
struct judged {
	char expected[30], known[30], found[30], known_as[30];
	bool is_cut;
	enum rr_exit code, judged_as;
	size_t n_new, n_gone;
};

ParameterizedTestParameters(suite_file, a_result_is_judged)
{
	static struct judged results[] = {
		{ "serializable", "", "", "", false, RR_EXIT_OK, RR_EXIT_OK, 0, 0 },
		{ "serializable", "", "not serializable", "lost update (n)", false,
		  RR_EXIT_VIOLATED, RR_EXIT_VIOLATED, 1, 0 },
		{ "serializable", "lost update (n)", "not serializable", "lost update (n)", false,
		  RR_EXIT_VIOLATED, RR_EXIT_OK, 0, 0 },
		/* There may be more. */
		{ "serializable", "lost update (n)", "not serializable", "lost update (n)", true,
		  RR_EXIT_VIOLATED, RR_EXIT_INCONCLUSIVE, 0, 0 },
		{ "serializable", "lost update (m)", "not serializable", "lost update (n)", false,
		  RR_EXIT_VIOLATED, RR_EXIT_VIOLATED, 1, 1 },
		{ "serializable", "lost update (n)", "", "", false, RR_EXIT_OK, RR_EXIT_OK, 0, 1 },
		{ "not serializable", "", "not serializable", "lost update (n)", false,
		  RR_EXIT_VIOLATED, RR_EXIT_OK, 0, 0 },
		{ "not serializable", "", "", "", false, RR_EXIT_OK, RR_EXIT_VIOLATED, 0, 0 },
		{ "no failure found", "", "", "", true, RR_EXIT_INCONCLUSIVE, RR_EXIT_OK, 0, 0 },
		{ "no failure found", "", "", "", false, RR_EXIT_OK, RR_EXIT_OK, 0, 0 },
		{ "no progress", "", "", "", true, RR_EXIT_INCONCLUSIVE, RR_EXIT_INCONCLUSIVE, 0,
		  0 },
	};

	return cr_make_param_array(struct judged, results, sizeof(results) / sizeof(results[0]));
}

static int find_outcome(const char *name)
{
	int i = 0;

	while (strcmp(rr_suite_outcomes[i], name) != 0)
		i++;
	return i;
}

static json_t *list_of(const char *text)
{
	return *text ? json_pack("[s]", text) : json_array();
}

/* As the check of program x writes it, malloc'd. */
static char *report_of(const struct judged *it, size_t *size)
{
	struct rr_cases cases;
	char *text;
	FILE *out = open_memstream(&text, size);

	rr_cases_init(&cases, "redrace check");
	rr_cases_add(&cases,
		     &(struct rr_case){ .suite = "check",
					.name = "x",
					.verdict = rr_case_verdict_of(it->code),
					.message = "m",
					.properties = json_pack("{s:s?, s:o, s:s?}", "found",
								it->found[0] ? it->found : NULL,
								"known_as", list_of(it->known_as),
								"not_searched_because",
								it->is_cut ? "rounds" : NULL) });
	rr_cases_print(&cases, RR_FORMAT_JSON, out);
	fclose(out);
	rr_cases_release(&cases);
	return text;
}

ParameterizedTest(struct judged *it, suite_file, a_result_is_judged)
{
	char *known[] = { it->known };
	const struct rr_suite suite = { .path = "f" };
	const struct rr_suite_check check = {
		.name = "a",
		.line = 2,
		.expected = find_outcome(it->expected),
		.known = known,
		.n_known = it->known[0] != '\0',
	};
	struct rr_suite_result result = { .is_done = true, .code = it->code };
	struct rr_cases cases;
	const json_t *properties;

	result.json = report_of(it, &result.size);
	rr_cases_init(&cases, "redrace check");
	cr_assert_eq(rr_suite_judge(&suite, &check, &result, &cases), it->judged_as);
	cr_assert_eq(cases.n, 1);
	cr_assert_str_eq(cases.cases[0].name, "a");
	cr_assert_eq(cases.cases[0].verdict, rr_case_verdict_of(it->judged_as));
	cr_assert_eq(cases.cases[0].line, 2);
	properties = cases.cases[0].properties;
	cr_assert_eq(json_array_size(json_object_get(properties, "new")), it->n_new);
	cr_assert_eq(json_array_size(json_object_get(properties, "gone")), it->n_gone);
	cr_assert_str_eq(json_string_value(json_object_get(properties, "program")), "x");
	rr_cases_release(&cases);
	free(result.json);
}

/* Its process is gone: that is no yes, whatever it exited with. */
Test(suite_file, a_check_without_a_result_is_an_error)
{
	const struct rr_suite suite = { .path = "f" };
	const struct rr_suite_check check = { .name = "a" };
	const struct rr_suite_result result = { .is_done = true, .code = RR_EXIT_OK };
	struct rr_cases cases;

	rr_cases_init(&cases, "redrace check");
	cr_assert_eq(rr_suite_judge(&suite, &check, &result, &cases), RR_EXIT_INTERNAL);
	cr_assert_eq(cases.cases[0].verdict, RR_CASE_ERROR);
	rr_cases_release(&cases);
}

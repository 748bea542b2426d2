/* SPDX-License-Identifier: MIT */
/* The checks of examples/checks.json: programs in several languages, and for each kind of app a
 * handler that looks first and takes then, which is found, and one that is right. What is not
 * installed is skipped by name; `make deps-peers apps-deps` installs it. Most kinds of apps
 * take long, and are for `make apps` (RR_APPS=all). */
#include "../cli.h"

#include <criterion/parameterized.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

TestSuite(check_examples, .init = cli_setup, .fini = cli_teardown);
TestSuite(app_kinds, .init = cli_setup, .fini = cli_teardown);

enum { CHECKS_MAX = 100 };

static json_t *read_list(void)
{
	json_t *list = json_load_file("examples/checks.json", 0, NULL);

	cr_assert(list, "examples/checks.json is no JSON");
	return list;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* The numbers of those whose names begin so. */
static struct criterion_test_params number_checks(const char *prefix, size_t numbers[CHECKS_MAX])
{
	json_t *list = json_load_file("examples/checks.json", 0, NULL);
	const json_t *check;
	size_t i, n = 0;

	json_array_foreach(json_object_get(list, "checks"), i, check) {
		if (n < CHECKS_MAX && strncmp(text_of(check, "id"), prefix, strlen(prefix)) == 0)
			numbers[n++] = i;
	}
	json_decref(list);
	return cr_make_param_array(size_t, numbers, n);
}

static void skip_unless_installed(const json_t *list, const json_t *check)
{
	const json_t *name;
	size_t i;

	json_array_foreach(json_object_get(check, "needs"), i, name) {
		const char *command = text_of(json_object_get(list, "needs"),
					      json_string_value(name));

		cr_assert(command, "examples/checks.json does not say what '%s' is",
			  json_string_value(name));
		if (cli_runf("%s 2>&1", command) != 0)
			cli_skip("%s: %s is not installed: make deps-peers, make apps-deps",
				 text_of(check, "id"), json_string_value(name));
	}
}

static void run_check(size_t number)
{
	json_t *list = read_list();
	const json_t *check = json_array_get(json_object_get(list, "checks"), number), *text;
	const char *id = text_of(check, "id"), *make = text_of(check, "make"), *name;
	const char *which = getenv("RR_APPS");
	size_t i;

	if (json_is_true(json_object_get(check, "is_slow")) &&
	    (!which || strcmp(which, "all") != 0))
		cli_skip("%s: only in make apps", id);
	skip_unless_installed(list, check);
	json_object_foreach(json_object_get(check, "env"), name, text)
		setenv(name, json_string_value(text), 1);
	if (make)
		cr_assert_eq(cli_runf("%s 2>&1", make), 0, "%s: %s", id, cli_output);
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json %s 2>&1",
			      text_of(check, "check")),
		     json_integer_value(json_object_get(check, "exit")), "%s: %s", id, cli_output);
	json_array_foreach(json_object_get(check, "is"), i, text)
		cli_assert_json(json_string_value(text));
	json_decref(list);
}

ParameterizedTestParameters(check_examples, comes_to_what_is_listed)
{
	static size_t numbers[CHECKS_MAX];

	return number_checks("check/", numbers);
}

ParameterizedTest(size_t *number, check_examples, comes_to_what_is_listed, .timeout = 600)
{
	run_check(*number);
}

ParameterizedTestParameters(app_kinds, comes_to_what_is_listed)
{
	static size_t numbers[CHECKS_MAX];

	return number_checks("apps/", numbers);
}

ParameterizedTest(size_t *number, app_kinds, comes_to_what_is_listed, .timeout = 600)
{
	run_check(*number);
}

/* ---- In other test runners ------------------------------------------------------------ */

Test(check_examples, a_check_is_a_test_of_pytest)
{
	if (cli_run("/usr/bin/python3 -c 'import redis' 2>&1") != 0)
		cli_skip("redis-py is not installed: make deps-peers");
	if (cli_run("/usr/bin/python3 -m pytest --version 2>&1") != 0)
		cli_skip("pytest is not installed");
	cr_assert_eq(cli_run("/usr/bin/python3 -m pytest -p no:cacheprovider examples/ci 2>&1"), 0,
		     "%s", cli_output);
	cli_assert_names("1 passed");
	cr_assert_eq(
		cli_run("REDRACE=false /usr/bin/python3 -m pytest -p no:cacheprovider examples/ci 2>&1"),
		1, "%s", cli_output);
}

Test(check_examples, a_check_is_a_test_of_node)
{
	setenv("NODE_PATH", "build/peers/node_modules", 1);
	if (cli_run("node -e 'require(\"ioredis\")' 2>&1") != 0)
		cli_skip("ioredis is not installed: make deps-peers");
	cr_assert_eq(cli_run("node --test examples/ci/counter.test.mjs 2>&1"), 0, "%s", cli_output);
	cli_assert_names("pass 1");
	cr_assert_eq(cli_run("REDRACE=true node --test examples/ci/counter.test.mjs 2>&1"), 1, "%s",
		     cli_output);
}

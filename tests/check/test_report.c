/* SPDX-License-Identifier: MIT */
/* What other programs are told of a check, in JSON: identifiers that no rewording changes, and
 * digests by which two checks are compared. */
#include "../cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(check_report, .init = cli_setup, .fini = cli_teardown);

#define COUNT "v=$(" CLI "GET n); " CLI "SET n $((v + 1))"

/* The properties of a check with that exit code, which they say, too; the caller's to release. */
static json_t *check_program(const char *options, const char *program, int code)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *report, *properties;

	cr_assert_eq(cli_runf("$REDRACE_ONCE check --no-cache --audit 1 -o $HERE/report.json %s -- "
			      "sh -c '%s' 2>&1",
			      options, program),
		     code, "%s", cli_output);
	snprintf(path, sizeof(path), "%s/report.json", cli_home);
	report = json_load_file(path, 0, NULL);
	properties = json_object_get(json_array_get(json_object_get(report, "cases"), 0),
				     "properties");
	cr_assert(properties, "no JSON: %s", cli_output);
	cr_assert_eq(json_integer_value(json_object_get(properties, "exit")), code);
	json_incref(properties);
	json_decref(report);
	return properties;
}

/* A part of it is that JSON. */
static void assert_is(json_t *properties, const char *name, const char *expected)
{
	char *text = json_dumps(json_object_get(properties, name), JSON_ENCODE_ANY);

	cr_assert_str_eq(text, expected, "%s: %s", name, text);
	free(text);
}

Test(check_report, finding_has_a_kind)
{
	json_t *properties = check_program("", COUNT, 1);

	assert_is(properties, "search",
		  "{\"exit\": 1, \"verdict\": \"not_serializable\", \"limit\": null, "
		  "\"option\": null}");
	assert_is(properties, "kinds", "[\"lost_update\"]");
	assert_is(properties, "smallest", "\"count 4*4\"");
	json_decref(properties);
}

Test(check_report, outcome_is_a_kind_where_no_anomaly_fits)
{
	json_t *properties = check_program("--final \"GET n\" 3", CLI "INCR n", 1);

	assert_is(properties, "kinds", "[\"not_as_expected\"]");
	json_decref(properties);
}

Test(check_report, yes_and_what_limits_it)
{
	json_t *properties = check_program("--skeptic off", CLI "INCR n >/dev/null", 0);

	assert_is(properties, "search",
		  "{\"exit\": 0, \"verdict\": \"serializable\", \"limit\": null, "
		  "\"option\": null}");
	assert_is(properties, "kinds", "[]");
	json_decref(properties);
	properties = check_program("--skeptic off", "exit 0", 2);
	assert_is(properties, "search",
		  "{\"exit\": 2, \"verdict\": \"no_failure_found\", \"limit\": \"no_command\", "
		  "\"option\": \"--redis-at\"}");
	json_decref(properties);
}

/* What the skeptic says does not hide what the search has come to. */
Test(check_report, search_has_a_verdict_of_its_own)
{
	json_t *properties = check_program("--max-states 1", COUNT, 1);

	assert_is(properties, "search",
		  "{\"exit\": 2, \"verdict\": \"no_failure_found\", \"limit\": \"states\", "
		  "\"option\": \"--max-states 2\"}");
	json_decref(properties);
}

/* Takes the properties. */
static void assert_is_error(json_t *properties, const char *kind, const char *begins)
{
	const json_t *error = json_object_get(properties, "error");
	const char *text = json_string_value(json_object_get(error, "text"));

	cr_assert_str_eq(json_string_value(json_object_get(error, "kind")), kind);
	cr_assert_eq(strncmp(text, begins, strlen(begins)), 0, "%s", text);
	json_decref(properties);
}

Test(check_report, error_has_its_exit_code_and_its_kind)
{
	json_t *properties = check_program(
		"",
		"echo x >>$HERE/runs; " CLI
		"APPEND n $(wc -l <$HERE/runs) >/dev/null; [ $(wc -l <$HERE/runs) -gt 2 ] && " CLI
		"FLUSHALL",
		65);
	assert_is_error(properties, "data", "the program is not deterministic: ");
	properties = check_program("--hangs-after 1", "kill -STOP $$", 65);
	assert_is_error(properties, "hangs", "client A neither sends a command nor ends: ");
}

/* ---- Ends ------------------------------------------------------------------------------- */

static json_t *ends_of(const char *options, const char *program, int code)
{
	json_t *properties = check_program(options, program, code);
	json_t *ends = json_incref(json_object_get(properties, "ends"));

	json_decref(properties);
	return ends;
}

static void assert_same_ends(const char *a, const char *b, const char *options, bool same)
{
	json_t *one = ends_of(options, a, 0), *other = ends_of(options, b, 0);

	cr_assert(json_object_get(one, "final"));
	cr_assert_eq(json_equal(one, other), same, "%s, %s", a, b);
	json_decref(one);
	json_decref(other);
}

/* However they come about: other commands, other states, the same data and outputs. */
Test(check_report, ends_are_what_is_left_and_printed)
{
	static const char quiet[] = "--skeptic off";

	assert_same_ends(CLI "INCR n", CLI "INCRBY n 1", quiet, true);
	assert_same_ends(CLI "INCR n >/dev/null",
			 CLI "SET a 1 >/dev/null; " CLI "INCR n >/dev/null; " CLI
			     "DEL a >/dev/null",
			 quiet, true);
	assert_same_ends(CLI "INCR n >/dev/null", CLI "INCRBY n 2 >/dev/null", quiet, false);
	assert_same_ends(CLI "INCR n", CLI "INCR n >/dev/null", quiet, false);
}

/* What is left out of the comparison is left out of them as well. */
Test(check_report, ends_are_what_is_compared)
{
	assert_same_ends(CLI "INCR n >/dev/null",
			 CLI "SET log 1 >/dev/null; " CLI "INCR n >/dev/null",
			 "--skeptic off --ignore log", true);
	assert_same_ends(CLI "INCR n >/dev/null", "echo hello; " CLI "INCR n >/dev/null",
			 "--skeptic off --allow-output hello", true);
	assert_same_ends(CLI "INCR n", CLI "INCR n >/dev/null", "--skeptic off --data-only", true);
}

/* Values that are others in each run have names there, in data and outputs. */
Test(check_report, ends_are_the_same_in_the_next_check)
{
	static const char draws[] = CLI "SET job:token-$$ 1 NX >/dev/null; echo token-$$";

	assert_same_ends(draws, draws, "--skeptic off", true);
}

/* A serial execution of the counter never leaves 1 and both clients. */
Test(check_report, ends_of_serial_executions_are_apart)
{
	json_t *ends = ends_of("", COUNT " >/dev/null", 1);
	json_int_t n = 0;

	cr_assert_eq(json_unpack(ends, "{s:{s:I}}", "final", "n", &n), 0);
	cr_assert_eq(n, 2);
	/* Nobody, one of both, both. */
	cr_assert_eq(json_unpack(ends, "{s:{s:I}}", "serial", "n", &n), 0);
	cr_assert_eq(n, 4);
	json_decref(ends);
	ends = ends_of("--skeptic off --max-states 3", CLI "INCR n", 2);
	cr_assert(json_is_null(json_object_get(ends, "final")), "not all of them are known");
	json_decref(ends);
}

/* SPDX-License-Identifier: MIT */
/* Findings in JSON: `findings` of a case, whose steps come from the trace of what was played. */
#include "../cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(findings, .init = cli_setup, .fini = cli_teardown);

#define COUNT "v=$(" CLI "GET n); " CLI "SET n $((v + 1))"

/* Runs redrace with that; its findings, the caller's to release. */
static json_t *findings_of(const char *command, int code)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *report, *properties, *findings;

	cr_assert_eq(cli_runf("$REDRACE_ONCE %s 2>&1", command), code, "%s", cli_output);
	snprintf(path, sizeof(path), "%s/report.json", cli_home);
	report = json_load_file(path, 0, NULL);
	cr_assert_eq(json_integer_value(json_object_get(report, "schema")), 5);
	properties = json_object_get(json_array_get(json_object_get(report, "cases"), 0),
				     "properties");
	cr_assert_eq(json_integer_value(json_object_get(properties, "exit")), code);
	cr_assert(json_is_array(json_object_get(properties, "not_compared")));
	findings = json_object_get(properties, "findings");
	cr_assert(json_is_array(findings), "no findings: %s", cli_output);
	json_incref(findings);
	json_decref(report);
	return findings;
}

#define CHECK "check --no-cache --audit 1 -o $HERE/report.json "
#define PROGRAM " -- sh -c '" COUNT "'"

static void assert_json(const json_t *value, const char *name, const char *expected)
{
	char *text = json_dumps(json_object_get(value, name), JSON_ENCODE_ANY | JSON_COMPACT);

	cr_assert_str_eq(text, expected, "%s: %s", name, text);
	free(text);
}

/* Its steps as lines, "A/1 SET n 1 -> OK [fault]", where "-" stands for what is null, and a word
 * that is no text for itself in JSON. */
static void assert_steps(const json_t *finding, const char *expected)
{
	const json_t *step, *word;
	size_t i, j, size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	json_array_foreach(json_object_get(finding, "steps"), i, step) {
		const json_t *command = json_object_get(step, "command");
		const char *client = json_string_value(json_object_get(step, "client"));
		const char *reply = json_string_value(json_object_get(step, "reply"));
		const char *fault = json_string_value(json_object_get(step, "fault"));

		fprintf(out, "%s/%d", client ? client : "-",
			(int)json_integer_value(json_object_get(step, "connection")));
		if (!json_is_array(command))
			fprintf(out, " (%s)", json_string_value(json_object_get(step, "kind")));
		json_array_foreach(command, j, word) {
			char *other = json_is_string(word) ? NULL : json_dumps(word, JSON_COMPACT);

			fprintf(out, " %s", other ? other : json_string_value(word));
			free(other);
		}
		fprintf(out, " -> %s%s%s%s\n", reply ? reply : "-", fault ? " [" : "",
			fault ? fault : "", fault ? "]" : "");
	}
	fclose(out);
	cr_assert_str_eq(text, expected, "%s", text);
	free(text);
}

Test(findings, lost_update_of_a_strategy)
{
	json_t *findings = findings_of("explore none -o $HERE/report.json", 0);
	const json_t *finding = json_array_get(findings, 0);

	cr_assert_eq(json_array_size(findings), 1);
	assert_json(finding, "kind", "\"lost_update\"");
	assert_json(finding, "keys", "[\"counter:0\"]");
	assert_json(finding, "final", "{\"data\":[\"counter:0 = \\\"1\\\"\"]}");
	assert_steps(finding, "B/1 GET counter:0 -> (nil)\n"
			      "A/1 GET counter:0 -> (nil)\n"
			      "A/1 SET counter:0 1 -> OK\n"
			      "A/0 (counts) -> -\n"
			      "B/1 SET counter:0 1 -> OK\n"
			      "B/0 (counts) -> -\n");
	json_decref(findings);
	findings = findings_of("explore incr -o $HERE/report.json", 0);
	cr_assert_eq(json_array_size(findings), 0);
	json_decref(findings);
}

Test(findings, lost_update_of_a_program)
{
	json_t *findings = findings_of(CHECK PROGRAM, 1);
	const json_t *finding = json_array_get(findings, 0);
	const json_t *final = json_object_get(finding, "final");
	const json_t *serial = json_object_get(finding, "nearest_serial");
	const json_t *ending = json_array_get(json_object_get(final, "endings"), 1);

	cr_assert_eq(json_array_size(findings), 1);
	assert_json(finding, "found_by", "\"search\"");
	assert_json(finding, "kind", "\"lost_update\"");
	assert_json(finding, "keys", "[\"n\"]");
	assert_json(final, "data", "[\"n = \\\"1\\\"\"]");
	assert_json(serial, "data", "[\"n = \\\"2\\\"\"]");
	assert_json(ending, "client", "\"B\"");
	assert_json(ending, "exit_status", "0");
	assert_json(ending, "output", "\"OK\"");
	assert_steps(finding, "B/1 GET n -> (nil)\n"
			      "A/1 GET n -> (nil)\n"
			      "A/1 SET n 1 -> OK\n"
			      "B/1 SET n 1 -> OK\n");
	json_decref(findings);
}

/* Numbers are those of what is drawn, to which `why` refers. */
Test(findings, steps_have_numbers)
{
	json_t *findings = findings_of(CHECK PROGRAM, 1);
	const json_t *steps = json_object_get(json_array_get(findings, 0), "steps");

	for (size_t i = 0; i < json_array_size(steps); i++)
		cr_assert_eq(
			json_integer_value(json_object_get(json_array_get(steps, i), "number")),
			(json_int_t)i + 1);
	json_decref(findings);
}

Test(findings, all_of_them_with_all)
{
	json_t *findings = findings_of(CHECK "--all --clients 3" PROGRAM, 1);

	cr_assert_eq(json_array_size(findings), 2);
	assert_json(json_object_get(json_array_get(findings, 0), "final"), "data",
		    "[\"n = \\\"2\\\"\"]");
	assert_json(json_object_get(json_array_get(findings, 1), "final"), "data",
		    "[\"n = \\\"1\\\"\"]");
	cr_assert_gt(json_array_size(json_object_get(json_array_get(findings, 1), "steps")), 5);
	json_decref(findings);
}

Test(findings, none_of_a_program_that_is_right)
{
	json_t *findings = findings_of(CHECK "-- sh -c '" CLI "INCR n >/dev/null'", 0);

	cr_assert_eq(json_array_size(findings), 0);
	json_decref(findings);
	findings = findings_of(CHECK "-- sh -c '" CLI "DEBUG SLEEP 0'", 65);
	cr_assert_eq(json_array_size(findings), 0);
	json_decref(findings);
}

/* A request is a client of its own; commands are the app's, on its connections. */
Test(findings, lost_update_of_an_app)
{
	const json_t *step;
	json_t *findings;
	const json_t *finding;
	size_t i, n_requests = 0, n_answers = 0, n_commands = 0;

	cr_assert_eq(cli_run("cp $MADE/shop $MADE/ask $HERE 2>&1"), 0, "%s", cli_output);
	cli_write("stock", "SET stock 1\n");
	findings = findings_of(CHECK "--init $HERE/stock --app $HERE/shop "
				     "--request '$HERE/ask {app}/buy'",
			       1);
	finding = json_array_get(findings, 0);
	assert_json(finding, "kind", "\"check_then_act\"");
	assert_json(finding, "keys", "[\"stock\"]");
	json_array_foreach(json_object_get(finding, "steps"), i, step) {
		const char *client = json_string_value(json_object_get(step, "client"));
		const char *kind = json_string_value(json_object_get(step, "kind"));
		const bool is_request = strcmp(kind, "request") == 0;

		n_requests += is_request;
		n_answers += strcmp(kind, "answer") == 0;
		if (is_request)
			assert_json(step, "text", "\"ask /buy\"");
		if (is_request || strcmp(kind, "answer") == 0) {
			cr_assert_eq(strncmp(client, "request", 7), 0, "%s", client);
			assert_json(step, "connection", "null");
			continue;
		}
		cr_assert_str_eq(client, "app");
		cr_assert_geq(json_integer_value(json_object_get(step, "connection")), 1);
		n_commands += json_is_array(json_object_get(step, "command"));
	}
	cr_assert_eq(n_requests, 2);
	cr_assert_eq(n_answers, 2);
	cr_assert_eq(n_commands, 4);
	json_decref(findings);
}

Test(findings, a_crash_is_a_fault)
{
	json_t *findings = findings_of(CHECK "--crashes 1 -- sh -c '" CLI "INCR a; " CLI "INCR b'",
				       1);
	const json_t *finding = json_array_get(findings, 0);

	assert_json(finding, "kind", "\"half_done\"");
	assert_steps(finding, "A/1 INCR a -> (integer) 1\n"
			      "A/1 INCR b -> (integer) 1\n"
			      "B/1 INCR a -> (integer) 2\n"
			      "B/1 (crashes) -> - [crash]\n");
	json_decref(findings);
}

Test(findings, an_expiry_is_a_fault)
{
	json_t *findings = findings_of(
		CHECK "--expiries 1 -- sh -c '[ \"$(" CLI "SET l 1 NX PX 1000)\" = OK ] || exit 1; "
		      "v=$(" CLI "GET n); " CLI "SET n $((v + 1)); " CLI "DEL l'",
		1);
	const json_t *finding = json_array_get(findings, 0), *step;
	size_t i, n = 0;

	assert_json(finding, "kind", "\"lost_update\"");
	json_array_foreach(json_object_get(finding, "steps"), i, step) {
		if (json_is_null(json_object_get(step, "fault")))
			continue;
		n++;
		assert_json(step, "fault", "\"expiry\"");
		assert_json(step, "kind", "\"tick\"");
		assert_json(step, "client", "null");
		cr_assert_gt(json_integer_value(json_object_get(step, "ns")), 1000000000);
	}
	cr_assert_eq(n, 1);
	json_decref(findings);
}

/* The client receives none. */
Test(findings, a_lost_reply_is_a_fault)
{
	json_t *findings = findings_of("explore incr --lost-replies 1 -o $HERE/report.json", 0);
	const json_t *finding = json_array_get(findings, 0);

	assert_json(finding, "kind", "\"count\"");
	assert_steps(finding, "A/1 INCR counter:0 -> - [lost_reply]\n"
			      "A/1 INCR counter:0 -> (integer) 2\n"
			      "A/0 (counts) -> -\n"
			      "B/1 INCR counter:0 -> (integer) 3\n"
			      "B/0 (counts) -> -\n");
	json_decref(findings);
}

/* Nor is a command that never arrives left out. */
Test(findings, a_lost_command_is_a_fault)
{
	json_t *findings = findings_of(
		CHECK "--lost-replies 1 -- sh -c '" CLI "INCR n >/dev/null 2>&1; exit 0'", 1);
	const json_t *finding = json_array_get(findings, 0);

	assert_steps(finding, "A/1 INCR n -> (integer) 1\n"
			      "B/1 INCR n -> - [lost_command]\n");
	assert_json(json_array_get(json_object_get(finding, "steps"), 1), "number", "null");
	json_decref(findings);
}

#define TWO_CONNECTIONS                           \
	"from raw import Connection\n"            \
	"a, b = Connection(), Connection()\n"     \
	"a.send('GET', 'n')\nv = a.read() or 0\n" \
	"b.send('SET', 'n', int(v) + 1)\nb.read()\n"

Test(findings, a_client_may_have_several_connections)
{
	json_t *findings;

	cli_write("two.py", TWO_CONNECTIONS);
	findings = findings_of(CHECK "-- " CLI_PYTHON "two.py", 1);
	assert_steps(json_array_get(findings, 0), "B/1 GET n -> (nil)\n"
						  "A/1 GET n -> (nil)\n"
						  "A/2 SET n 1 -> OK\n"
						  "B/2 SET n 1 -> OK\n");
	json_decref(findings);
}

/* A word that is no UTF-8, or has a byte 0, is {"hex": ...}; one that is stays as it is. */
Test(findings, words_may_have_any_bytes)
{
	json_t *findings;

	cli_write("bytes.py",
		  "from raw import Connection\n"
		  "a = Connection()\n"
		  "a.send('STRLEN', 'n\\u00e9')\nv = a.read()\n"
		  "a.send('SET', 'n\\u00e9', b'\\xff\\x00' + b'\\\\' * (int(v) + 1))\na.read()\n"
		  "a.send('SET', 'z', b'x\\x00')\na.read()\n");
	findings = findings_of(CHECK "-- " CLI_PYTHON "bytes.py", 1);
	assert_steps(json_array_get(findings, 0), "B/1 STRLEN n\u00e9 -> (integer) 0\n"
						  "A/1 STRLEN n\u00e9 -> (integer) 0\n"
						  "A/1 SET n\u00e9 {\"hex\":\"ff005c\"} -> OK\n"
						  "A/1 SET z {\"hex\":\"7800\"} -> OK\n"
						  "B/1 SET n\u00e9 {\"hex\":\"ff005c\"} -> OK\n"
						  "B/1 SET z {\"hex\":\"7800\"} -> OK\n");
	json_decref(findings);
}

/* What the skeptic finds is a finding as well, with steps of the same kind. */
Test(findings, of_the_skeptic)
{
	json_t *findings = findings_of(CHECK "--max-states 1" PROGRAM, 1);
	const json_t *finding = json_array_get(findings, 0);
	const json_t *step;
	size_t i, n = 0;

	cr_assert_eq(json_array_size(findings), 1);
	assert_json(finding, "found_by", "\"skeptic\"");
	assert_json(finding, "kind", "\"not_serializable\"");
	assert_json(finding, "keys", "[\"n\"]");
	assert_json(json_object_get(finding, "final"), "data", "[\"n = \\\"1\\\"\"]");
	assert_json(json_object_get(finding, "nearest_serial"), "data", "[\"n = \\\"2\\\"\"]");
	json_array_foreach(json_object_get(finding, "steps"), i, step) {
		const json_t *command = json_object_get(step, "command");
		const char *verb = json_string_value(json_array_get(command, 0));

		cr_assert(json_is_string(json_object_get(step, "client")));
		assert_json(step, "connection", "1");
		n += verb && strcmp(verb, "SET") == 0 && json_array_size(command) == 3;
	}
	cr_assert_eq(n, 2);
	json_decref(findings);
}

/* They are for programs: for people the details draw them. */
Test(findings, are_not_in_junit)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache --audit 1 --format junit" PROGRAM
			     " 2>&1"),
		     1, "%s", cli_output);
	cr_assert_null(strstr(cli_output, "findings:"), "%s", cli_output);
}

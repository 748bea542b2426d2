/* SPDX-License-Identifier: MIT */
/* Cases as JSON, JUnit's XML, the Test Anything Protocol, annotations and the summary
 * of a GitHub workflow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cases.h"
#include "memory.h"
#include "text.h"

/* Lines of details that an annotation has, cases and their lines in a summary: the
 * summary may have 1 MiB. */
enum { NOTE_LINES = 40, STEP_CASES = 40, STEP_LINES = 200 };

enum { SCHEMA = 5 };

/* What does not pass a test. */
static bool is_bad(const struct rr_case *one)
{
	return one->verdict == RR_CASE_FAILED || one->verdict == RR_CASE_ERROR ||
	       one->verdict == RR_CASE_INCONCLUSIVE;
}

/* ---- JSON ------------------------------------------------------------------- */

void rr_json_print(const json_t *root, size_t flags, FILE *out)
{
	char *text = json_dumps(root, flags);
	const char *rest = text;

	if (!text)
		rr_out_of_memory();
	/* Outside of strings there is no such thing. */
	for (const char *at; (at = strstr(rest, "##[")); rest = at + 1)
		fprintf(out, "%.*s\\u0023", (int)(at - rest), rest);
	fputs(rest, out);
	putc('\n', out);
	free(text);
}

static void print_json(const struct rr_cases *cases, FILE *out)
{
	json_t *list = json_array(), *summary = json_object();
	json_t *root;

	for (int i = 0; i < RR_CASE_VERDICTS; i++)
		json_object_set_new(
			summary, rr_case_verdict_names[i],
			json_integer((json_int_t)rr_cases_count(cases, (enum rr_case_verdict)i)));
	for (size_t i = 0; i < cases->n; i++) {
		const struct rr_case *one = &cases->cases[i];
		const char *text = one->details;
		json_t *details = json_array();

		while (text && *text) {
			const char *line = text;

			json_array_append_new(details, json_pack("s%", line, rr_take_line(&text)));
		}
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:s?, s:o, s:O}",
						"suite", one->suite, "name", one->name, "verdict",
						rr_case_verdict_names[one->verdict], "message",
						one->message, "seconds", one->seconds, "details",
						details, "file", one->file, "line",
						one->line ? json_integer(one->line) : json_null(),
						"properties", one->properties));
	}
	root = json_pack("{s:i, s:s, s:f, s:o, s:O, s:o}", "schema", SCHEMA, "command",
			 cases->command, "seconds", cases->seconds, "summary", summary,
			 "properties", cases->properties, "cases", list);
	rr_json_print(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6), out);
	json_decref(root);
}

/* ---- JUnit ------------------------------------------------------------------- */

/* Text is as it is, figures and lists as in JSON. */
static void put_xml_value(FILE *out, const json_t *value)
{
	char *dumped = json_is_string(value) ?
			       NULL :
			       json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));

	rr_xml_text(out, dumped ? dumped : json_string_value(value));
	free(dumped);
}

/* For people the details draw findings, and --verbose sums the coverage up. */
static bool is_for_people(const char *name)
{
	return strcmp(name, "findings") != 0 && strcmp(name, "coverage") != 0;
}

static void put_testcase(FILE *out, const struct rr_case *one)
{
	const char *tag = one->verdict == RR_CASE_FAILED  ? "failure" :
			  one->verdict == RR_CASE_SKIPPED ? "skipped" :
							    "error";

	rr_xml_print(out, "    <testcase classname=\"redrace.%s\" name=\"%s\"", one->suite,
		     one->name);
	fprintf(out, " time=\"%.3f\">\n", one->seconds);
	if (one->verdict != RR_CASE_PASSED)
		rr_xml_print(out, "      <%s message=\"%s\"", tag, one->message);
	if (one->verdict == RR_CASE_SKIPPED)
		fputs("/>\n", out);
	else if (one->verdict != RR_CASE_PASSED)
		rr_xml_print(out, " type=\"%s\">%s\n%s</%s>\n", rr_case_verdict_names[one->verdict],
			     one->message, one->details ? one->details : "", tag);

	/* "states: 31", a line each: testcases have no properties that all readers know, and in
	 * Jenkins' schema no place in a file. */
	const char *name;
	json_t *value;

	fputs("      <system-out>", out);
	if (!is_bad(one) && one->details) {
		rr_xml_text(out, one->details);
		fputc('\n', out);
	}
	if (one->file)
		rr_xml_print(out, "file: %s\n", one->file);
	if (one->file && one->line)
		fprintf(out, "line: %ld\n", one->line);
	json_object_foreach(one->properties, name, value) {
		if (!is_for_people(name) || json_is_null(value))
			continue;
		rr_xml_print(out, "%s: ", name);
		put_xml_value(out, value);
		fputc('\n', out);
	}
	fputs("</system-out>\n", out);
	fputs("    </testcase>\n", out);
}

/* Who is inconclusive is an error there: nothing was shown. */
static void put_xml_counts(FILE *out, const struct rr_cases *cases)
{
	rr_xml_print(out, " name=\"%s\"", cases->command);
	fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\"", cases->n,
		rr_cases_count(cases, RR_CASE_FAILED),
		rr_cases_count(cases, RR_CASE_ERROR) + rr_cases_count(cases, RR_CASE_INCONCLUSIVE),
		cases->seconds);
}

static void print_junit(const struct rr_cases *cases, FILE *out)
{
	const time_t now = time(NULL);
	char stamp[32] = "";
	struct tm when;

	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", gmtime_r(&now, &when));
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
	put_xml_counts(out, cases);
	fputs(">\n  <testsuite", out);
	put_xml_counts(out, cases);
	fprintf(out, " skipped=\"%zu\" timestamp=\"%s\">\n", rr_cases_count(cases, RR_CASE_SKIPPED),
		stamp);

	const char *name;
	json_t *value;

	fputs("    <properties>\n", out);
	json_object_foreach((json_t *)cases->properties, name, value) {
		if (json_is_null(value))
			continue;
		rr_xml_print(out, "      <property name=\"%s\" value=\"", name);
		put_xml_value(out, value);
		fputs("\"/>\n", out);
	}
	fputs("    </properties>\n", out);
	for (size_t i = 0; i < cases->n; i++)
		put_testcase(out, &cases->cases[i]);
	fputs("  </testsuite>\n</testsuites>\n", out);
}

/* ---- TAP ---------------------------------------------------------------------- */

/* On the line of a test # and \ have a meaning. */
static void put_tap(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '#' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_yaml(FILE *out, const char *name, const json_t *value, int depth);

static void put_yaml_members(FILE *out, const json_t *value, int depth)
{
	const char *name;
	json_t *member;
	size_t i;

	json_object_foreach((json_t *)value, name, member) {
		if (is_for_people(name))
			put_yaml(out, name, member, depth);
	}
	json_array_foreach(value, i, member)
		put_yaml(out, NULL, member, depth);
}

/* As YAML that the simplest reader knows, TAP::Parser's: what is quoted is quoted as
 * in JSON. */
static void put_yaml(FILE *out, const char *name, const json_t *value, int depth)
{
	const bool is_nested = json_object_size(value) || json_array_size(value);
	char *dumped;

	fprintf(out, "%*s%s%s", 2 * depth, "", name ? name : "-", name ? ":" : "");
	if (is_nested) {
		fputc('\n', out);
		put_yaml_members(out, value, depth + 1);
		return;
	}

	const char *text = json_string_value(value);
	if (text && *text != ' ' && *text != '\n' && strchr(text, '\n')) {
		/* A block of lines; the first one must not be indented. */
		fputs(" |\n", out);
		while (*text) {
			const char *line = text;

			fprintf(out, "%*s%.*s\n", 2 * depth + 2, "", (int)rr_take_line(&text),
				line);
		}
		return;
	}
	dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	fprintf(out, " %s\n", dumped ? dumped : "null");
	free(dumped);
}

/* The verdict stands in the line in words, too. */
static void put_test(FILE *out, const struct rr_case *one, size_t number)
{
	fprintf(out, "%sok %zu - ", is_bad(one) ? "not " : "", number);
	put_tap(out, one->suite);
	fputs(" ", out);
	put_tap(out, one->name);
	fputs(one->verdict == RR_CASE_SKIPPED      ? " # SKIP " :
	      one->verdict == RR_CASE_INCONCLUSIVE ? ": inconclusive: " :
						     ": ",
	      out);
	put_tap(out, one->message);
	fputc('\n', out);

	json_t *about = json_pack("{s:s, s:s}", "verdict", rr_case_verdict_names[one->verdict],
				  "message", one->message);

	if (one->seconds > 0)
		json_object_set_new(about, "duration_ms",
				    json_real(round(1e6 * one->seconds) / 1e3));
	if (one->file)
		json_object_set_new(about, "file", json_string(one->file));
	if (one->file && one->line)
		json_object_set_new(about, "line", json_integer(one->line));
	json_object_update_missing(about, one->properties);
	/* Details stand under the message, which is never indented. */
	if (one->details)
		json_object_set_new(about, "details",
				    json_pack("s++", one->message, "\n", one->details));
	fputs("  ---\n", out);
	put_yaml_members(out, about, 1);
	fputs("  ...\n", out);
	json_decref(about);
}

/* Version 13, which every reader knows; all of it means the same in version 14. */
static void print_tap(const struct rr_cases *cases, FILE *out)
{
	fprintf(out, "TAP version 13\n1..%zu%s\n", cases->n,
		cases->n ? "" : " # SKIP nothing was run");
	for (size_t i = 0; i < cases->n; i++)
		put_test(out, &cases->cases[i], i + 1);
}

/* ---- GitHub -------------------------------------------------------------------- */

/* Why a case is inconclusive, in one line, which its message need not say; NULL = it does. */
static const char *reason_of(const struct rr_case *one)
{
	const char *reason =
		json_string_value(json_object_get(one->properties, "not_searched_because"));

	if (!reason)
		reason = json_string_value(
			json_object_get(json_object_get(one->properties, "skeptic"), "why"));
	return one->verdict == RR_CASE_INCONCLUSIVE && reason && !strstr(one->message, reason) ?
		       reason :
		       NULL;
}

/* ---- GitHub: annotations -------------------------------------------------------- */

/* Behind the :: of a workflow command, and in its properties. */
static void put_command_text(FILE *out, const char *text, size_t length, bool is_property)
{
	const char *special = is_property ? "%\r\n:," : "%\r\n";

	for (size_t i = 0; i < length; i++) {
		if (strchr(special, text[i]))
			fprintf(out, "%%%02X", (unsigned char)text[i]);
		else
			fputc(text[i], out);
	}
}

/* All of it stands in one workflow command: what a program has printed cannot be
 * taken for another one. */
static void put_annotation(FILE *out, const struct rr_case *one)
{
	static const char *const commands[RR_CASE_VERDICTS] = {
		[RR_CASE_FAILED] = "error",         [RR_CASE_ERROR] = "error",
		[RR_CASE_INCONCLUSIVE] = "warning", [RR_CASE_SKIPPED] = "notice",
		[RR_CASE_PASSED] = "notice",
	};

	/* A known finding that is gone is to be taken out of the suite. */
	if (one->verdict == RR_CASE_PASSED &&
	    json_array_size(json_object_get(one->properties, "gone")) == 0)
		return;
	fprintf(out, "::%s ", commands[one->verdict]);
	if (one->file) {
		fputs("file=", out);
		put_command_text(out, one->file, strlen(one->file), true);
		fprintf(out, ",line=%ld,", one->line ? one->line : 1);
	}
	fputs("title=redrace ", out);
	put_command_text(out, one->suite, strlen(one->suite), true);
	fputs("%3A ", out);
	put_command_text(out, one->name, strlen(one->name), true);
	fputs("::", out);
	put_command_text(out, one->message, strlen(one->message), false);

	const char *reason = reason_of(one);
	if (reason) {
		fputs("%0AWhy: ", out);
		put_command_text(out, reason, strlen(reason), false);
	}

	const char *text = one->details;
	for (int i = 0; text && *text && i < NOTE_LINES; i++) {
		const char *line = text;
		const size_t length = rr_take_line(&text);

		fputs("%0A", out);
		put_command_text(out, line, length, false);
	}
	if (text && *text)
		fputs("%0A...", out);
	fputc('\n', out);
}

static void print_github(const struct rr_cases *cases, FILE *out)
{
	for (size_t i = 0; i < cases->n; i++)
		put_annotation(out, &cases->cases[i]);
	fprintf(out, "%s: ", cases->command);
	rr_cases_summarise(cases, out);
	fputc('\n', out);
}

/* ---- GitHub: the summary ---------------------------------------------------------- */

void rr_cases_print_step(const struct rr_cases *cases, FILE *out)
{
	const size_t n_passed = rr_cases_count(cases, RR_CASE_PASSED);
	const bool is_long = cases->n > STEP_CASES;
	size_t shown = 0;

	fprintf(out, "### %s: ", cases->command);
	rr_cases_summarise(cases, out);
	fputs("\n\n| verdict | case | message |\n|---|---|---|\n", out);
	for (size_t i = 0; i < cases->n && shown < STEP_CASES; i++) {
		const struct rr_case *one = &cases->cases[i];

		if (is_long && one->verdict == RR_CASE_PASSED)
			continue;
		rr_markdown_print(out, "| %s | %s %s | %s", rr_case_verdict_names[one->verdict],
				  one->suite, one->name, one->message);
		if (reason_of(one))
			rr_markdown_print(out, " Why: %s", reason_of(one));
		fputs(" |\n", out);
		shown++;
	}
	putc('\n', out);
	if (shown < cases->n)
		fprintf(out, "And %zu more%s.\n\n", cases->n - shown,
			shown == cases->n - n_passed ? ", all passed" : "");
	for (size_t i = 0, n = 0; i < cases->n && n < STEP_CASES; i++) {
		if (!is_bad(&cases->cases[i]) || !cases->cases[i].details)
			continue;

		const struct rr_case *one = &cases->cases[i];
		const char *text = one->details;

		rr_xml_print(out, "<details><summary>%s %s</summary>\n\n<pre>\n", one->suite,
			     one->name);
		for (int j = 0; *text && j < STEP_LINES; j++) {
			const char *line = text;

			rr_xml_print(out, "%.*s\n", (int)rr_take_line(&text), line);
		}
		fprintf(out, "%s</pre>\n\n</details>\n\n", *text ? "...\n" : "");
		n++;
	}
}

/* ---- All ------------------------------------------------------------------------------ */

void rr_cases_print(const struct rr_cases *cases, enum rr_format format, FILE *out)
{
	static void (*const writers[RR_FORMATS])(const struct rr_cases *cases, FILE *out) = {
		[RR_FORMAT_JSON] = print_json,
		[RR_FORMAT_JUNIT] = print_junit,
		[RR_FORMAT_TAP] = print_tap,
		[RR_FORMAT_GITHUB] = print_github,
	};

	if (writers[format])
		writers[format](cases, out);
}

/* SPDX-License-Identifier: MIT */
/* Results for other programs: what must be escaped, and that inconclusive is no pass. */
#include "base/cases.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct rr_cases cases;
static char *text;

static void begin(void)
{
	rr_cases_init(&cases, "redrace test");
	text = NULL;
}

static void end(void)
{
	rr_cases_release(&cases);
	free(text);
}

TestSuite(cases, .init = begin, .fini = end);

static void add(const char *name, enum rr_case_verdict verdict, const char *message,
		const char *details)
{
	rr_cases_add(&cases, &(struct rr_case){ .suite = "test",
						.name = name,
						.verdict = verdict,
						.message = message,
						.details = details });
}

static void print(enum rr_format format)
{
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (format == RR_FORMAT_MARKDOWN)
		rr_cases_print_step(&cases, out);
	else
		rr_cases_print(&cases, format, out);
	fclose(out);
}

static void assert_printed(const char *part)
{
	cr_assert_not_null(strstr(text, part), "no '%s' in:\n%s", part, text);
}

#define NASTY "a<b>&\"'\x01\033[31mred\033[0m\xff%\xe2\x9c\x97"

Test(cases, junit_has_no_character_that_xml_forbids)
{
	add(NASTY, RR_CASE_FAILED, NASTY, "1\n\x02\n\xef\xbf\xbf\n]]>");
	print(RR_FORMAT_JUNIT);
	assert_printed("name=\"a&lt;b&gt;&amp;&quot;&#39;\\x01red\\xff%\xe2\x9c\x97\"");
	assert_printed("1\n\\x02\n");
	assert_printed("]]&gt;</failure>");
	cr_assert_null(strstr(text, "\xef\xbf\xbf"));
	for (const char *at = text; *at; at++)
		cr_assert(*at == '\n' || (unsigned char)*at >= ' ');
}

Test(cases, junit_counts_what_is_inconclusive_as_an_error)
{
	add("a", RR_CASE_PASSED, "well", NULL);
	add("b", RR_CASE_INCONCLUSIVE, "who knows", NULL);
	add("c", RR_CASE_SKIPPED, "not here", NULL);
	print(RR_FORMAT_JUNIT);
	assert_printed("tests=\"3\" failures=\"0\" errors=\"1\"");
	assert_printed("skipped=\"1\"");
	assert_printed("<error message=\"who knows\" type=\"inconclusive\">");
	assert_printed("<skipped message=\"not here\"/>");
}

/* A property without a value is left out; 0 and false are values. */
Test(cases, junit_has_no_property_without_a_value)
{
	rr_cases_add(&cases,
		     &(struct rr_case){ .suite = "test",
					.name = "a",
					.message = "well",
					.properties = json_pack("{s:n, s:i, s:b, s:s}", "none", "n",
								0, "is", 0, "text", "x") });
	json_object_set_new(cases.properties, "redis_version", json_null());
	json_object_set_new(cases.properties, "server", json_string("Redis 7"));
	print(RR_FORMAT_JUNIT);
	cr_assert_null(strstr(text, "null"), "%s", text);
	cr_assert_null(strstr(text, "redis_version"), "%s", text);
	assert_printed("<property name=\"server\" value=\"Redis 7\"/>");
	assert_printed("<system-out>n: 0\nis: false\ntext: x\n</system-out>");
}

Test(cases, tap_says_the_verdict_and_escapes_directives)
{
	add("a # TODO b\\", RR_CASE_FAILED, "x # SKIP", "  indented\nlines");
	add("c", RR_CASE_INCONCLUSIVE, "who knows", NULL);
	add("d", RR_CASE_SKIPPED, "not here", NULL);
	print(RR_FORMAT_TAP);
	assert_printed("TAP version 13\n1..3\n"
		       "not ok 1 - test a \\# TODO b\\\\: x \\# SKIP\n  ---\n");
	assert_printed("  details: |\n    x # SKIP\n      indented\n    lines\n  ...\n");
	assert_printed("\nnot ok 2 - test c: inconclusive: who knows\n");
	assert_printed("\nok 3 - test d # SKIP not here\n");
}

Test(cases, tap_of_nothing_is_a_plan_that_is_skipped)
{
	print(RR_FORMAT_TAP);
	cr_assert_str_eq(text, "TAP version 13\n1..0 # SKIP nothing was run\n");
}

/* What a program has printed must not be taken for a command of the workflow. */
Test(cases, github_keeps_all_of_a_case_on_one_line)
{
	char *line;

	add("a, b: 100%", RR_CASE_FAILED, "50 %",
	    "::set-output name=x::y\n  ::error::z\n##[error]w");
	add("c", RR_CASE_INCONCLUSIVE, "who knows", NULL);
	add("d", RR_CASE_SKIPPED, "not here", NULL);
	add("e", RR_CASE_PASSED, "well", NULL);
	print(RR_FORMAT_GITHUB);
	assert_printed("::error title=redrace test%3A a%2C b%3A 100%25::50 %25%0A\\x3a:set-output");
	assert_printed("\n::warning title=redrace test%3A c::who knows\n");
	assert_printed("\n::notice title=redrace test%3A d::not here\n");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cr_assert(
			strncmp(line, "::error title", 13) == 0 ||
				strncmp(line, "::warning title", 15) == 0 ||
				strncmp(line, "::notice title", 14) == 0 ||
				strcmp(line,
				       "redrace test: 1 passed, 1 failed, 1 inconclusive, 1 skipped") ==
					0,
			"%s", line);
}

/* The reason is whole, in the warning and in the summary, unless the message has it. */
Test(cases, github_says_why_a_case_is_inconclusive)
{
	static const char reason[] = "out of time: --seconds ended while states were searched",
			  *const messages[] = {
				  "who knows",
				  "nothing: out of time: --seconds ended while states were searched"
			  };

	for (size_t i = 0; i < 2; i++)
		rr_cases_add(&cases,
			     &(struct rr_case){ .suite = "test",
						.name = messages[i],
						.verdict = RR_CASE_INCONCLUSIVE,
						.message = messages[i],
						.details = "  more",
						.properties = json_pack(
							"{s:s}", "not_searched_because", reason) });
	print(RR_FORMAT_GITHUB);
	assert_printed(
		"who knows::who knows%0AWhy: out of time: --seconds ended while states were searched%0A  more\n");
	assert_printed(
		"were searched::nothing: out of time: --seconds ended while states were searched%0A  more\n");
	free(text);
	print(RR_FORMAT_MARKDOWN);
	assert_printed(
		"| who knows Why: out of time: --seconds ended while states were searched |\n");
}

Test(cases, step_summary_shows_nothing_as_html)
{
	add("<b>", RR_CASE_FAILED, "|`<i>", "</pre>\n\n# heading");
	print(RR_FORMAT_MARKDOWN);
	assert_printed("### redrace test: 1 failed\n");
	assert_printed("\n| failed | test \\<b> | \\|\\`\\<i> |\n");
	assert_printed("<pre>\n&lt;/pre&gt;\n\n# heading\n</pre>");
}

Test(cases, json_has_details_as_lines_and_counts)
{
	json_t *root, *one;

	add("a", RR_CASE_FAILED, NASTY, "x\n\ny");
	print(RR_FORMAT_JSON);
	root = json_loads(text, 0, NULL);
	one = json_array_get(json_object_get(root, "cases"), 0);
	cr_assert_eq(
		json_integer_value(json_object_get(json_object_get(root, "summary"), "failed")), 1);
	cr_assert_eq(json_array_size(json_object_get(one, "details")), 3);
	cr_assert_str_eq(json_string_value(json_object_get(one, "message")),
			 "a<b>&\"'\\x01red\\xff%\xe2\x9c\x97");
	json_decref(root);
}

Test(cases, only_expectations_that_are_met_are_passed)
{
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_OK), RR_CASE_PASSED);
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_VIOLATED), RR_CASE_FAILED);
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_INCONCLUSIVE), RR_CASE_INCONCLUSIVE);
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_DATA), RR_CASE_ERROR);
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_REDIS), RR_CASE_ERROR);
	cr_assert_eq(rr_case_verdict_of(RR_EXIT_SKIPPED), RR_CASE_SKIPPED);
}

/* ---- Where they go ---------------------------------------------------------- */

Test(formats, suffixes_say_them)
{
	enum rr_format format;

	cr_assert(rr_format_of_file("a/b.XML", RR_RESULT_FORMATS, &format));
	cr_assert_eq(format, RR_FORMAT_JUNIT);
	cr_assert(rr_format_of_file("a.b/c", RR_RESULT_FORMATS, &format));
	cr_assert_eq(format, RR_FORMATS);
	cr_assert_not(rr_format_of_file("a.svg", RR_RESULT_FORMATS, &format));
	cr_assert_not(rr_format_of_file("a.xml", RR_PICTURE_FORMATS, &format));
}

Test(formats, outputs_of_a_format_can_be_dropped)
{
	struct rr_outputs outputs = { .printed = RR_FORMAT_GITHUB };
	struct rr_error error = { 0 };

	cr_assert(rr_outputs_add(&outputs, "x.svg", ~0U, &error));
	cr_assert(rr_outputs_add(&outputs, "x.tap", ~0U, &error));
	rr_outputs_drop(&outputs, RR_ONLY(RR_FORMAT_SVG));
	cr_assert_eq(outputs.n, 1);
	cr_assert_str_eq(outputs.files[0].path, "x.tap");
	cr_assert(rr_outputs_have(&outputs, RR_ONLY(RR_FORMAT_GITHUB)));
	cr_assert_not(rr_outputs_have(&outputs, RR_ONLY(RR_FORMAT_SVG)));
}

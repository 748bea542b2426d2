/* SPDX-License-Identifier: MIT */
/* Cases in the Common Test Report Format, a schema of JSON. What it has no place for
 * stands where it allows for more, so that all of it can be read again. */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "cases.h"
#include "version.h"

static const char *ctrf_status(enum rr_case_verdict verdict)
{
	static const char *const names[RR_CASE_VERDICTS] = {
		[RR_CASE_PASSED] = "passed",   [RR_CASE_FAILED] = "failed",
		[RR_CASE_ERROR] = "failed",    [RR_CASE_INCONCLUSIVE] = "other",
		[RR_CASE_SKIPPED] = "skipped",
	};

	return names[verdict];
}

static json_t *ctrf_of_case(const struct rr_case *one)
{
	json_t *test = json_pack("{s:s, s:[s], s:s, s:s, s:I, s:s, s:{s:f, s:O}}", "name",
				 one->name, "suite", one->suite, "status",
				 ctrf_status(one->verdict), "rawStatus",
				 rr_case_verdict_names[one->verdict], "duration",
				 (json_int_t)llround(1e3 * one->seconds), "message", one->message,
				 "extra", "seconds", one->seconds, "properties", one->properties);

	if (one->details)
		json_object_set_new(test, "trace", json_string(one->details));
	if (one->file)
		json_object_set_new(test, "filePath", json_string(one->file));
	if (one->line)
		json_object_set_new(test, "line", json_integer(one->line));
	return test;
}

/* In milliseconds since 1970. */
static json_t *ctrf_summary(const struct rr_cases *cases)
{
	struct timespec now;
	json_int_t stop;

	clock_gettime(CLOCK_REALTIME, &now);
	stop = (json_int_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	return json_pack("{s:I, s:I, s:I, s:I, s:i, s:I, s:I, s:I}", "tests", (json_int_t)cases->n,
			 "passed", (json_int_t)rr_cases_count(cases, RR_CASE_PASSED), "failed",
			 (json_int_t)(rr_cases_count(cases, RR_CASE_FAILED) +
				      rr_cases_count(cases, RR_CASE_ERROR)),
			 "skipped", (json_int_t)rr_cases_count(cases, RR_CASE_SKIPPED), "pending",
			 0, "other", (json_int_t)rr_cases_count(cases, RR_CASE_INCONCLUSIVE),
			 "start", stop - (json_int_t)llround(1e3 * cases->seconds), "stop", stop);
}

void rr_cases_print_ctrf(const struct rr_cases *cases, FILE *out)
{
	json_t *tests = json_array(), *root;

	for (size_t i = 0; i < cases->n; i++)
		json_array_append_new(tests, ctrf_of_case(&cases->cases[i]));
	root = json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:{s:s}}, s:o, s:o, s:{s:f, s:O}}}",
			 "reportFormat", "CTRF", "specVersion", "0.0.0", "results", "tool", "name",
			 "redrace", "version", RR_VERSION, "extra", "command", cases->command,
			 "summary", ctrf_summary(cases), "tests", tests, "extra", "seconds",
			 cases->seconds, "properties", cases->properties);
	json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(root);
}

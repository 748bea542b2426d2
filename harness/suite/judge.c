/* SPDX-License-Identifier: MIT */
/* What has come of a check, compared with what it is expected to come to, and with the
 * findings that are known. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "suite.h"

enum { SERIALIZABLE, NO_FAILURE_FOUND };

const char *const rr_suite_outcomes[] = {
	[SERIALIZABLE] = "serializable",
	[NO_FAILURE_FOUND] = "no failure found",
	"not serializable",
	"not as expected",
	"outputs are not serializable",
	"two clients are in their critical sections",
	"no progress",
	NULL,
};

/* A case while it is judged. */
struct judged {
	enum rr_exit code;
	char *remark;       /* what is said before the message */
	json_t *new, *gone; /* findings that are not known; known ones that are not found */
};

/* ---- Known findings ------------------------------------------------------------------ */

static bool is_known(const struct rr_suite_check *check, const char *name)
{
	for (size_t i = 0; i < check->n_known; i++) {
		if (strcmp(check->known[i], name) == 0)
			return true;
	}
	return false;
}

static bool is_in(const json_t *names, const char *name)
{
	const json_t *other;
	size_t i;

	json_array_foreach(names, i, other) {
		if (strcmp(json_string_value(other), name) == 0)
			return true;
	}
	return false;
}

/* "a, b". */
static void put_names(FILE *out, const char *before, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		fprintf(out, "%s%s", i ? ", " : before, json_string_value(name));
	fputs(json_array_size(names) ? "; " : "", out);
}

/* Was all searched, and each wrong final state looked at? */
static bool is_searched(const json_t *properties)
{
	return json_integer_value(json_object_get(properties, "wrong_not_shown")) == 0 &&
	       !json_is_string(json_object_get(properties, "not_searched_because"));
}

static void compare_known(struct judged *judged, const struct rr_suite_check *check,
			  const json_t *properties)
{
	const bool is_whole = is_searched(properties);
	FILE *out = rr_open_text(&judged->remark);

	const json_t *found = json_object_get(properties, "known_as");
	const json_t *name;
	size_t i;

	json_array_foreach(found, i, name) {
		if (!is_known(check, json_string_value(name)))
			json_array_append_new(judged->new, json_copy((json_t *)name));
	}
	for (i = 0; i < check->n_known; i++) {
		if (!is_in(found, check->known[i]))
			json_array_append_new(judged->gone, json_string(check->known[i]));
	}
	if (judged->code == RR_EXIT_VIOLATED && json_array_size(judged->new) == 0)
		judged->code = is_whole ? RR_EXIT_OK : RR_EXIT_INCONCLUSIVE;
	if (check->n_known)
		put_names(out, "new: ", judged->new);
	if (judged->code == RR_EXIT_OK || judged->code == RR_EXIT_VIOLATED)
		put_names(out, "gone, take it out of known: ", judged->gone);
	if (judged->code == RR_EXIT_OK && json_array_size(judged->gone) < check->n_known)
		fputs("only what is known; ", out);
	if (judged->code == RR_EXIT_INCONCLUSIVE && json_array_size(judged->gone) < check->n_known)
		fputs("what is found is known, but not all was looked at; ", out);
	fclose(out);
}

/* ---- Expectations -------------------------------------------------------------------- */

/* What it has come to, by the first words of its verdict. */
static const char *outcome_of(const json_t *properties, enum rr_exit code)
{
	const char *found = json_string_value(json_object_get(properties, "found"));

	if (found)
		return found;
	return rr_suite_outcomes[code == RR_EXIT_OK ? SERIALIZABLE : NO_FAILURE_FOUND];
}

/* More is shown by `serializable` than is expected of `no failure found`; and what was not
 * searched to the end shows nothing of any other. */
static void compare_outcome(struct judged *judged, const struct rr_suite_check *check,
			    const json_t *properties)
{
	const char *expected = rr_suite_outcomes[check->expected];
	const char *outcome = outcome_of(properties, judged->code);

	if (strcmp(outcome, expected) == 0 ||
	    (check->expected == NO_FAILURE_FOUND && judged->code == RR_EXIT_OK)) {
		judged->code = RR_EXIT_OK;
	} else if (judged->code != RR_EXIT_INCONCLUSIVE) {
		judged->code = RR_EXIT_VIOLATED;
		judged->remark = rr_asprintf("expected '%s'; ", expected);
	}
}

/* ---- The case ------------------------------------------------------------------------ */

static bool is_verdict(enum rr_exit code)
{
	return code == RR_EXIT_OK || code == RR_EXIT_VIOLATED || code == RR_EXIT_INCONCLUSIVE;
}

static void add_case(const struct rr_suite *suite, const struct rr_suite_check *check,
		     struct judged *judged, const struct rr_case *one, struct rr_cases *cases)
{
	char *message = rr_asprintf("%s%s", judged->remark ? judged->remark : "", one->message);
	struct rr_case judged_case = *one;
	json_t *properties = json_copy(one->properties);

	json_object_set_new(properties, "expected",
			    json_string(rr_suite_outcomes[check->expected]));
	json_object_set(properties, "new", judged->new);
	json_object_set(properties, "gone", judged->gone);
	json_object_set_new(properties, "program", json_string(one->name));
	judged_case.name = check->name;
	judged_case.verdict = rr_case_verdict_of(judged->code);
	judged_case.message = message;
	judged_case.file = one->file ? one->file : suite->path;
	judged_case.line = one->file ? one->line : check->line;
	judged_case.properties = properties;
	rr_cases_add(cases, &judged_case);
	free(message);
}

static void judge_case(const struct rr_suite *suite, const struct rr_suite_check *check,
		       struct judged *judged, const struct rr_case *one, struct rr_cases *cases)
{
	if (is_verdict(judged->code) && check->expected == SERIALIZABLE)
		compare_known(judged, check, one->properties);
	else if (is_verdict(judged->code))
		compare_outcome(judged, check, one->properties);
	add_case(suite, check, judged, one, cases);
}

/* There is no result: its process is gone, or could not begin. */
static void judge_nothing(const struct rr_suite *suite, const struct rr_suite_check *check,
			  struct judged *judged, const struct rr_suite_result *result,
			  struct rr_cases *cases)
{
	json_t *none = json_object();
	const struct rr_case one = {
		.suite = "check",
		.name = "",
		.seconds = result->seconds,
		.message = result->error.kind ? result->error.text : "it came to nothing",
		.properties = none,
	};

	if (is_verdict(judged->code))
		judged->code = RR_EXIT_INTERNAL;
	add_case(suite, check, judged, &one, cases);
	json_decref(none);
}

enum rr_exit rr_suite_judge(const struct rr_suite *suite, const struct rr_suite_check *check,
			    const struct rr_suite_result *result, struct rr_cases *cases)
{
	struct judged judged = { .code = result->code, .new = json_array(), .gone = json_array() };
	struct rr_error unread = { .kind = RR_ERROR_NONE };
	struct rr_cases own;

	if (result->json && rr_cases_load(&own, "JSON", result->json, result->size, &unread)) {
		if (own.n == 1)
			judge_case(suite, check, &judged, &own.cases[0], cases);
		else
			judge_nothing(suite, check, &judged, result, cases);
		rr_cases_release(&own);
	} else {
		judge_nothing(suite, check, &judged, result, cases);
	}
	free(judged.remark);
	json_decref(judged.new);
	json_decref(judged.gone);
	return judged.code;
}

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

static void compare_known(struct judged *judged, const struct rr_suite_check *check,
			  const json_t *properties)
{
	/* Was all searched, and each wrong final state looked at? */
	const bool is_whole = json_integer_value(json_object_get(properties, "wrong_not_shown")) ==
				      0 &&
			      !json_is_string(json_object_get(properties, "not_searched_because"));
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
	/* A finding of the skeptic alone has no name, so it is not known. */
	if (judged->code == RR_EXIT_VIOLATED && json_array_size(found) > 0 &&
	    json_array_size(judged->new) == 0)
		judged->code = is_whole ? RR_EXIT_OK : RR_EXIT_INCONCLUSIVE;
	if (check->n_known)
		put_names(out, "new: ", judged->new);
	if (judged->code == RR_EXIT_OK ||
	    (judged->code == RR_EXIT_VIOLATED && json_array_size(found) > 0))
		put_names(out, "gone, take it out of known: ", judged->gone);
	if (judged->code == RR_EXIT_OK && json_array_size(judged->gone) < check->n_known)
		fputs("only what is known; ", out);
	if (judged->code == RR_EXIT_INCONCLUSIVE && json_array_size(judged->gone) < check->n_known)
		fputs("what is found is known, but not all was looked at; ", out);
	fclose(out);
}

/* ---- Expectations -------------------------------------------------------------------- */

/* More is shown by `serializable` than is expected of `no failure found`; and what was not
 * searched to the end shows nothing of any other. */
static void compare_outcome(struct judged *judged, const struct rr_suite_check *check,
			    const json_t *properties)
{
	const char *expected = rr_suite_outcomes[check->expected];
	const char *outcome = json_string_value(json_object_get(properties, "found"));

	if (!outcome)
		outcome = rr_suite_outcomes[judged->code == RR_EXIT_OK ? SERIALIZABLE :
									 NO_FAILURE_FOUND];
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

enum rr_exit rr_suite_judge(const struct rr_suite *suite, const struct rr_suite_check *check,
			    const struct rr_suite_result *result, struct rr_cases *cases)
{
	struct judged judged = { .code = result->code, .new = json_array(), .gone = json_array() };
	struct rr_error unread = { .kind = RR_ERROR_NONE };
	json_t *properties = json_object();
	struct rr_cases own = { .n = 0 };
	/* Without a result its process is gone, or could not begin. */
	struct rr_case one = {
		.suite = "check",
		.name = "",
		.seconds = result->seconds,
		.message = result->error.kind ? result->error.text : "it came to nothing",
	};
	char *message;

	if (result->json)
		rr_cases_load(&own, "JSON", result->json, result->size, &unread);
	if (own.n == 1) {
		one = own.cases[0];
		json_object_update(properties, one.properties);
	} else {
		struct rr_error error = result->error;

		rr_error_set(&error, RR_ERROR_INTERNAL, "%s", one.message);
		if (is_verdict(judged.code))
			judged.code = RR_EXIT_INTERNAL;
		json_object_set_new(properties, "exit", json_integer(judged.code));
		json_object_set_new(properties, "error", rr_case_error(&error));
	}
	if (is_verdict(judged.code) && check->expected == SERIALIZABLE)
		compare_known(&judged, check, properties);
	else if (is_verdict(judged.code))
		compare_outcome(&judged, check, properties);
	json_object_set_new(properties, "expected",
			    json_string(rr_suite_outcomes[check->expected]));
	json_object_set_new(properties, "new", judged.new);
	json_object_set_new(properties, "gone", judged.gone);
	json_object_set_new(properties, "program", json_string(one.name));
	message = rr_asprintf("%s%s", judged.remark ? judged.remark : "", one.message);
	rr_cases_add(cases, &(struct rr_case){
				    .suite = one.suite,
				    .name = check->name,
				    .verdict = rr_case_verdict_of(judged.code),
				    .seconds = one.seconds,
				    .message = message,
				    .details = one.details,
				    .file = one.file ? one.file : suite->path,
				    .line = one.file ? one.line : check->line,
				    .properties = properties,
			    });
	free(message);
	free(judged.remark);
	rr_cases_release(&own);
	return judged.code;
}

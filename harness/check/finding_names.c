/* SPDX-License-Identifier: MIT */
/* What findings are called, so that one that is known is known again: by its anomaly and
 * the keys that it is about, and not by values, schedules or bounds, which change with
 * the program. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "verdict.h"

enum { KEYS_NAMED = 8 };

/* Is the line one of the text? */
static bool has_line(const char *text, const char *line, size_t length)
{
	while (text && *text) {
		const char *at = text;

		if (rr_take_line(&text) == length && memcmp(at, line, length) == 0)
			return true;
	}
	return false;
}

/* What a line is about, before " = " or the like. */
static size_t subject_of(const char *line, size_t length)
{
	static const char *const ends[] = { " = ", " => ", " exited ", " was ended " };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = memmem(line, length, ends[i], strlen(ends[i]));

		if (end)
			return (size_t)(end - line);
	}
	return length;
}

/* "a, b": the subjects of the lines that the other text does not have. */
static void put_subjects(FILE *out, const char *text, const char *other)
{
	int n = 0;

	while (text && *text && n < KEYS_NAMED) {
		const char *line = text;
		const size_t length = rr_take_line(&text);

		if (has_line(other, line, length))
			continue;
		fprintf(out, "%s%.*s", ftell(out) ? ", " : "", (int)subject_of(line, length), line);
		n++;
	}
}

/* The keys that a serial order leaves otherwise: those that are there, or, if there are none,
 * those that are missing. Malloc'd. */
static char *keys_of(const struct rr_outcome *finding)
{
	char *keys;
	FILE *out = rr_open_text(&keys);

	if (finding->found & RR_OUTCOME_UNEXPECTED)
		put_subjects(out, finding->unexpected, NULL);
	else if (finding->found & RR_OUTCOME_NOT_SERIAL && finding->nearest)
		put_subjects(out, finding->data, finding->nearest);
	if (ftell(out) == 0 && finding->found & RR_OUTCOME_NOT_SERIAL)
		put_subjects(out, finding->nearest, finding->data);
	fclose(out);
	return keys;
}

/* "lost update (counter)", once. */
static void add_name(json_t *names, const char *what, const char *keys)
{
	char *text = rr_asprintf(*keys ? "%s (%s)" : "%s", what, keys);
	json_t *name = rr_case_text(text);
	const json_t *other;
	size_t i;

	free(text);
	json_array_foreach(names, i, other) {
		if (json_equal(other, name)) {
			json_decref(name);
			return;
		}
	}
	json_array_append_new(names, name);
}

json_t *rr_checked_finding_names(const struct rr_check *check)
{
	static const unsigned of_ends = RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_UNEXPECTED |
					RR_OUTCOME_OUTPUTS;
	const struct rr_explore_result *result = check->result;
	json_t *names = json_array();

	for (size_t i = 0; i < result->n_findings; i++) {
		const struct rr_outcome *finding = &result->findings[i];
		char *keys = keys_of(finding);

		if (finding->found & of_ends)
			add_name(names,
				 finding->anomaly ? finding->anomaly :
						    rr_checked_kind(finding->found & of_ends),
				 keys);
		free(keys);
	}
	for (unsigned bit = 1; bit <= RR_OUTCOME_OUTPUTS; bit <<= 1) {
		if (result->found & bit & ~of_ends)
			add_name(names, rr_checked_kind(bit), "");
	}
	return names;
}

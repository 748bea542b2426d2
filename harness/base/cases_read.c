/* SPDX-License-Identifier: MIT */
/* Cases that a command has written as JSON, read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "files.h"
#include "memory.h"

static const char *text_in(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* RR_CASE_VERDICTS = there is none of that name. */
static enum rr_case_verdict verdict_named(const char *name)
{
	int i = 0;

	while (i < RR_CASE_VERDICTS && (!name || strcmp(name, rr_case_verdict_names[i]) != 0))
		i++;
	return (enum rr_case_verdict)i;
}

/* malloc'd; NULL = there are none. */
static char *join_lines(const json_t *lines)
{
	char *text = NULL;
	size_t i;
	json_t *line;
	FILE *out = json_array_size(lines) ? rr_open_text(&text) : NULL;

	if (!out)
		return NULL;
	json_array_foreach(lines, i, line)
		fprintf(out, "%s%s", i ? "\n" : "",
			json_string_value(line) ? json_string_value(line) : "");
	fclose(out);
	return text;
}

static bool add_cases(struct rr_cases *cases, const json_t *root)
{
	const json_t *list = json_object_get(root, "cases");
	json_t *properties = json_object_get(root, "properties");
	json_t *entry;
	size_t i;

	cases->seconds = json_number_value(json_object_get(root, "seconds"));
	if (!json_is_array(list) || !json_is_object(properties))
		return false;
	json_object_update(cases->properties, properties);
	json_array_foreach(list, i, entry) {
		char *details = join_lines(json_object_get(entry, "details"));
		struct rr_case one = {
			.suite = text_in(entry, "suite"),
			.name = text_in(entry, "name"),
			.verdict = verdict_named(text_in(entry, "verdict")),
			.seconds = json_number_value(json_object_get(entry, "seconds")),
			.message = text_in(entry, "message"),
			.details = details,
			.file = text_in(entry, "file"),
			.line = json_integer_value(json_object_get(entry, "line")),
			.properties = json_object_get(entry, "properties"),
		};
		const bool good = one.suite && one.name && one.message &&
				  one.verdict != RR_CASE_VERDICTS && json_is_object(one.properties);

		if (good) {
			json_incref(one.properties);
			rr_cases_add(cases, &one);
		}
		free(details);
		if (!good)
			return false;
	}
	return true;
}

bool rr_cases_load(struct rr_cases *cases, const char *name, const char *text, size_t size,
		   struct rr_error *error)
{
	json_error_t why;
	json_t *root = json_loadb(text, size, 0, &why);
	const char *command = text_in(root, "command");

	if (!root)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' has no results of redrace in it: line %d: %s", name,
				    why.line, why.text);
	rr_cases_init(cases, command ? command : "");
	if (!command || !add_cases(cases, root)) {
		rr_cases_release(cases);
		rr_error_set(error, RR_ERROR_DATA, "'%s' has no results of redrace in it", name);
	}
	json_decref(root);
	return !error->kind;
}

bool rr_cases_read(struct rr_cases *cases, const char *path, struct rr_error *error)
{
	size_t size;
	char *text = rr_files_read(path, RR_ERROR_DATA, 1024, &size, error);
	const bool good = text && rr_cases_load(cases, path, text, size, error);

	free(text);
	return good;
}

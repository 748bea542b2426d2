/* SPDX-License-Identifier: MIT */
/* Cases that a command has written to a file, read again: JSON and the Common Test
 * Report Format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

enum { RESULTS_MAX = 256 << 20 };

enum rr_case_verdict rr_case_verdict_named(const char *name)
{
	int i = 0;

	while (i < RR_CASE_VERDICTS && (!name || strcmp(name, rr_case_verdict_names[i]) != 0))
		i++;
	return (enum rr_case_verdict)i;
}

const char *rr_cases_command(const char *name)
{
	static const char *const commands[] = {
		"redrace bench",   "redrace check",  "redrace claims",
		"redrace explore", "redrace matrix",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (name && strcmp(name, commands[i]) == 0)
			return commands[i];
	}
	return NULL;
}

/* ---- JSON ------------------------------------------------------------------- */

static const char *text_in(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* malloc'd; NULL = there are none. */
static char *join_lines(const json_t *lines)
{
	char *text = NULL;
	size_t size, i;
	json_t *line;
	FILE *out = json_array_size(lines) ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	json_array_foreach(lines, i, line)
		fprintf(out, "%s%s", i ? "\n" : "",
			json_string_value(line) ? json_string_value(line) : "");
	fclose(out);
	return text;
}

/* False: it is not as it is written. */
static bool add_json_case(struct rr_cases *cases, const json_t *entry)
{
	char *details = join_lines(json_object_get(entry, "details"));
	struct rr_case one = {
		.suite = text_in(entry, "suite"),
		.name = text_in(entry, "name"),
		.verdict = rr_case_verdict_named(text_in(entry, "verdict")),
		.seconds = json_number_value(json_object_get(entry, "seconds")),
		.message = text_in(entry, "message"),
		.details = details,
		.file = text_in(entry, "file"),
		.line = json_integer_value(json_object_get(entry, "line")),
		.properties = json_object_get(entry, "properties"),
	};
	const bool good = one.suite && one.name && one.message && one.verdict != RR_CASE_VERDICTS &&
			  json_is_object(one.properties);

	if (good) {
		json_incref(one.properties);
		rr_cases_add(cases, &one);
	}
	free(details);
	return good;
}

static bool read_json(struct rr_cases *cases, const json_t *root)
{
	const json_t *list = json_object_get(root, "cases");
	json_t *properties = json_object_get(root, "properties");
	json_t *entry;
	size_t i;

	cases->command = rr_cases_command(text_in(root, "command"));
	cases->seconds = json_number_value(json_object_get(root, "seconds"));
	if (!cases->command || !json_is_array(list) || !json_is_object(properties))
		return false;
	json_object_update(cases->properties, properties);
	json_array_foreach(list, i, entry) {
		if (!add_json_case(cases, entry))
			return false;
	}
	return true;
}

/* ---- The Common Test Report Format ------------------------------------------- */

static bool add_test(struct rr_cases *cases, const json_t *test)
{
	const json_t *extra = json_object_get(test, "extra");
	const json_t *suite = json_object_get(test, "suite");
	struct rr_case one = {
		.suite = json_string_value(json_array_get(suite, 0)),
		.name = text_in(test, "name"),
		.verdict = rr_case_verdict_named(text_in(test, "rawStatus")),
		.seconds = json_number_value(json_object_get(extra, "seconds")),
		.message = text_in(test, "message"),
		.details = text_in(test, "trace"),
		.file = text_in(test, "filePath"),
		.line = json_integer_value(json_object_get(test, "line")),
		.properties = json_object_get(extra, "properties"),
	};

	if (!one.suite || !one.name || !one.message || one.verdict == RR_CASE_VERDICTS ||
	    !json_is_object(one.properties))
		return false;
	json_incref(one.properties);
	rr_cases_add(cases, &one);
	return true;
}

static bool read_ctrf(struct rr_cases *cases, const json_t *results)
{
	const json_t *tool = json_object_get(results, "tool");
	const json_t *extra = json_object_get(results, "extra");
	const json_t *tests = json_object_get(results, "tests");
	json_t *properties = json_object_get(extra, "properties");
	json_t *test;
	size_t i;

	cases->command = rr_cases_command(text_in(json_object_get(tool, "extra"), "command"));
	cases->seconds = json_number_value(json_object_get(extra, "seconds"));
	if (!cases->command || !json_is_array(tests) || !json_is_object(properties))
		return false;
	json_object_update(cases->properties, properties);
	json_array_foreach(tests, i, test) {
		if (!add_test(cases, test))
			return false;
	}
	return true;
}

/* ---- Files -------------------------------------------------------------------- */

/* As much as results may have, and one byte more. False: it could not be kept. */
static bool copy_bytes(FILE *from, FILE *to)
{
	char bytes[1 << 16];
	size_t n, left = (size_t)RESULTS_MAX + 1;

	while (left > 0 &&
	       (n = fread(bytes, 1, left < sizeof(bytes) ? left : sizeof(bytes), from)) > 0) {
		if (fwrite(bytes, 1, n, to) != n)
			return false;
		left -= n;
	}
	return true;
}

/* malloc'd and with a NUL behind it. NULL: the error. */
static char *read_whole(const char *path, struct rr_error *error)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t n = 0;
	FILE *copy;
	bool is_kept;

	if (!file) {
		rr_error_set(error, RR_ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	copy = open_memstream(&text, &n);
	is_kept = copy && copy_bytes(file, copy);
	if (copy)
		is_kept &= fclose(copy) == 0;
	if (!is_kept)
		rr_error_no_memory(error);
	else if (ferror(file))
		rr_error_set(error, RR_ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
	else if (n > RESULTS_MAX)
		rr_error_set(error, RR_ERROR_DATA,
			     "'%s' is larger than %d MiB: no results of redrace", path,
			     RESULTS_MAX >> 20);
	fclose(file);
	if (!error->kind)
		return text;
	free(text);
	return NULL;
}

static bool read_any_json(struct rr_cases *cases, const char *text, const char *path,
			  struct rr_error *error)
{
	json_error_t why;
	json_t *root = json_loads(text, 0, &why);
	const json_t *results = json_object_get(root, "results");
	const bool good = root && (results ? read_ctrf(cases, results) : read_json(cases, root));

	if (!root)
		rr_error_set(error, RR_ERROR_DATA, "%s:%d: %s", path, why.line, why.text);
	else if (!good)
		rr_error_set(error, RR_ERROR_DATA, "'%s' has no results of redrace in it", path);
	json_decref(root);
	return good;
}

bool rr_cases_read(struct rr_cases *cases, const char *path, struct rr_error *error)
{
	char *text = read_whole(path, error);
	bool good;

	if (!text)
		return false;
	rr_cases_init(cases, NULL);
	good = text[strspn(text, " \t\r\n")] == '<' ?
		       rr_cases_read_junit(cases, text, path, error) :
		       read_any_json(cases, text, path, error);
	if (good && cases->is_short_of_memory)
		good = rr_error_no_memory(error);
	free(text);
	if (!good)
		rr_cases_release(cases);
	return good;
}

/* SPDX-License-Identifier: MIT */
/* The results of all shards of a run, put together. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "shard.h"

struct part {
	const char *path;
	struct rr_cases cases;
	json_t *note;
	int index, of;
	enum rr_exit code; /* what the shard has exited with */
};

/* All parts of a run, by their index. */
struct parts {
	size_t n;
	struct part *all;
};

/* ---- Reading ---------------------------------------------------------------- */

static bool read_part(struct part *part, const char *path, struct rr_error *error)
{
	json_int_t index, of, code;

	if (!rr_cases_read(&part->cases, path, error))
		return false;
	part->path = path;
	part->note = json_object_get(part->cases.properties, "shard");
	index = json_integer_value(json_object_get(part->note, "index"));
	of = json_integer_value(json_object_get(part->note, "of"));
	code = json_integer_value(json_object_get(part->note, "exit_code"));
	if (of < 1 || of > RR_SHARDS_MAX || index < 1 || index > of || !rr_exit_is_known(code) ||
	    !json_is_integer(json_object_get(part->note, "exit_code")) ||
	    !json_is_object(json_object_get(part->note, "options")) ||
	    !json_is_object(json_object_get(part->note, "cases")))
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is no shard: write it with --shard I/N", path);
	part->index = (int)index;
	part->of = (int)of;
	part->code = (enum rr_exit)code;
	return true;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return x->index - y->index;
}

static bool read_parts(struct parts *parts, const char *const *paths, size_t n,
		       struct rr_error *error)
{
	parts->all = rr_calloc(n, sizeof(*parts->all));
	while (parts->n < n) {
		const size_t i = parts->n++;

		if (!read_part(&parts->all[i], paths[i], error))
			return false;
	}
	qsort(parts->all, n, sizeof(*parts->all), compare_parts);
	return true;
}

/* ---- Are they all of one run, each once? --------------------------------------- */

static bool compare_value(const struct part *a, const struct part *b, const char *what,
			  const json_t *of_a, const json_t *of_b, struct rr_error *error)
{
	const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6);
	char *text_a, *text_b;

	if (of_a == of_b || json_equal(of_a, of_b))
		return true;
	text_a = json_dumps(of_a, flags);
	text_b = json_dumps(of_b, flags);
	rr_error_set(error, RR_ERROR_DATA,
		     "shards %d/%d ('%.100s') and %d/%d ('%.100s') differ in %s: %.120s and %.120s",
		     a->index, a->of, a->path, b->index, b->of, b->path, what,
		     text_a ? text_a : "nothing", text_b ? text_b : "nothing");
	free(text_a);
	free(text_b);
	return false;
}

static bool compare_options(const struct part *a, const struct part *b, struct rr_error *error)
{
	json_t *of_a = json_object_get(a->note, "options");
	const json_t *of_b = json_object_get(b->note, "options");
	const char *name;
	json_t *value;

	json_object_foreach(of_a, name, value) {
		if (!compare_value(a, b, name, value, json_object_get(of_b, name), error))
			return false;
	}
	return compare_value(a, b, "options", of_a, of_b, error);
}

/* NULL: a shard that has asked no server knows no version. */
static const json_t *server_of(const struct part *part)
{
	const json_t *version = json_object_get(part->cases.properties, "redis_version");

	return json_string_length(version) ? version : NULL;
}

static bool compare_two(const struct part *a, const struct part *b, struct rr_error *error)
{
	if (strcmp(a->cases.command, b->cases.command) != 0)
		return rr_error_set(error, RR_ERROR_DATA, "'%s' is of %s and '%s' of %s", a->path,
				    a->cases.command, b->path, b->cases.command);
	if (a->of != b->of)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is shard %d/%d and '%s' is %d/%d: not of one run",
				    a->path, a->index, a->of, b->path, b->index, b->of);
	return compare_value(a, b, "the version of redrace", json_object_get(a->note, "version"),
			     json_object_get(b->note, "version"), error) &&
	       compare_options(a, b, error) &&
	       compare_value(a, b, "what was dealt out", json_object_get(a->note, "cases"),
			     json_object_get(b->note, "cases"), error);
}

/* "1/3, 3/3". */
static bool refuse_missing(const struct parts *parts, struct rr_error *error)
{
	const int of = parts->all[0].of;
	const size_t missing = (size_t)of - parts->n;
	char *list = NULL;
	size_t at = 0;
	FILE *out = rr_open_text(&list);
	const char *before = "";

	for (int i = 1; i <= of; i++) {
		if (at < parts->n && parts->all[at].index == i) {
			at++;
			continue;
		}
		fprintf(out, "%s%d/%d", before, i, of);
		before = ", ";
	}
	fclose(out);
	rr_error_set(error, RR_ERROR_DATA,
		     missing == 1 ? "shard %.200s is missing" : "shards %.200s are missing", list);
	free(list);
	return false;
}

static bool check_parts(const struct parts *parts, struct rr_error *error)
{
	const struct part *asked = NULL; /* the first that knows a server */

	for (size_t i = 0; i < parts->n; i++) {
		const struct part *part = &parts->all[i];

		if (!compare_two(&parts->all[0], part, error))
			return false;
		if (asked && server_of(part) &&
		    !compare_value(asked, part, "the server's version", server_of(asked),
				   server_of(part), error))
			return false;
		if (!asked && server_of(part))
			asked = part;
		if (i && part[-1].index == part->index)
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' and '%s' are both shard %d/%d", part[-1].path,
					    part->path, part->index, part->of);
	}
	return parts->n == (size_t)parts->all[0].of || refuse_missing(parts, error);
}

/* ---- The whole --------------------------------------------------------------------- */

/* "SUITE NAME"; NULL = it has none. */
static const struct rr_case *find_case(const struct rr_cases *cases, const char *name)
{
	for (size_t i = 0; i < cases->n; i++) {
		const struct rr_case *one = &cases->cases[i];
		const size_t length = strlen(one->suite);

		if (strncmp(name, one->suite, length) == 0 && name[length] == ' ' &&
		    strcmp(name + length + 1, one->name) == 0)
			return one;
	}
	return NULL;
}

/* Each case from the shard that it was dealt to, in the order of the whole. */
static bool add_cases(const struct parts *parts, struct rr_cases *whole, struct rr_error *error)
{
	json_t *owners = json_object_get(parts->all[0].note, "cases");
	const char *name;
	json_t *owner;
	size_t n = 0;

	json_object_foreach(owners, name, owner) {
		const json_int_t index = json_integer_value(owner);
		const struct part *part;
		const struct rr_case *one;

		if (index < 1 || (size_t)index > parts->n)
			return rr_error_set(error, RR_ERROR_DATA, "no shard has '%s'", name);
		part = &parts->all[index - 1];
		one = find_case(&part->cases, name);
		if (!one)
			return rr_error_set(error, RR_ERROR_DATA, "'%s' (shard %d/%d) lacks '%s'",
					    part->path, part->index, part->of, name);
		json_incref(one->properties);
		rr_cases_add(whole, one);
	}
	for (size_t i = 0; i < parts->n; i++)
		n += parts->all[i].cases.n;
	return n == whole->n ||
	       rr_error_set(error, RR_ERROR_DATA,
			    "the shards have %zu cases, and %zu were dealt out", n, whole->n);
}

/* A case that failed counts, whatever its shard has ended with; shards that were skipped
 * count only if there are no others. */
static enum rr_exit exit_of_whole(const struct parts *parts, const struct rr_cases *whole)
{
	enum rr_exit code = RR_EXIT_OK;
	bool is_skipped = true;

	for (size_t i = 0; i < parts->n; i++) {
		const struct part *part = &parts->all[i];

		if (part->code != RR_EXIT_SKIPPED)
			code = rr_exit_worse(code, part->code);
		is_skipped &= part->code == RR_EXIT_SKIPPED || part->cases.n == 0;
	}
	if (rr_cases_count(whole, RR_CASE_FAILED))
		code = rr_exit_worse(code, RR_EXIT_VIOLATED);
	if (rr_cases_count(whole, RR_CASE_INCONCLUSIVE))
		code = rr_exit_worse(code, RR_EXIT_INCONCLUSIVE);
	return is_skipped && code == RR_EXIT_OK ? RR_EXIT_SKIPPED : code;
}

bool rr_shards_merge(const char *const *paths, size_t n, struct rr_cases *whole, enum rr_exit *code,
		     struct rr_error *error)
{
	struct parts parts = { 0 };
	bool good = read_parts(&parts, paths, n, error) && check_parts(&parts, error);

	if (good) {
		/* The shards ran side by side: the longest one is how long it took. What is said
		 * of all of it is taken from one that has asked a server. */
		const struct part *asked = &parts.all[0];
		json_t *list = json_array();

		rr_cases_init(whole, parts.all[0].cases.command);
		for (size_t i = 0; i < parts.n; i++) {
			const struct part *part = &parts.all[i];

			if (!server_of(asked))
				asked = part;
			if (part->cases.seconds > whole->seconds)
				whole->seconds = part->cases.seconds;
			json_array_append_new(list,
					      json_pack("{s:i, s:f, s:I}", "index", part->index,
							"seconds", part->cases.seconds, "cases",
							(json_int_t)part->cases.n));
		}
		json_object_update(whole->properties, asked->cases.properties);
		json_object_del(whole->properties, "shard");
		json_object_set_new(whole->properties, "shards", list);
		good = add_cases(&parts, whole, error);
		if (good)
			*code = exit_of_whole(&parts, whole);
		else
			rr_cases_release(whole);
	}
	for (size_t i = 0; i < parts.n; i++)
		rr_cases_release(&parts.all[i].cases);
	free(parts.all);
	return good;
}

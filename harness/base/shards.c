/* SPDX-License-Identifier: MIT */
#include "shards.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading ---------------------------------------------------------------- */

static json_int_t note_number(const json_t *note, const char *name)
{
	return json_integer_value(json_object_get(note, name));
}

static bool read_shard(struct rr_shard_results *shard, const char *path, struct rr_error *error)
{
	const json_t *note;

	if (!rr_cases_read(&shard->cases, path, error))
		return false;
	note = json_object_get(shard->cases.properties, "shard");
	shard->path = path;
	shard->note = note;
	shard->index = (int)note_number(note, "index");
	shard->of = (int)note_number(note, "of");
	shard->code = (enum rr_exit)note_number(note, "exit_code");
	if (shard->of >= 1 && shard->index >= 1 && shard->index <= shard->of &&
	    json_is_integer(json_object_get(note, "exit_code")) &&
	    rr_exit_is_known(note_number(note, "exit_code")) &&
	    json_is_object(json_object_get(note, "options")))
		return true;
	return rr_error_set(error, RR_ERROR_DATA, "'%s' is no shard: write it with --shard I/N",
			    path);
}

static int compare_shards(const void *a, const void *b)
{
	const struct rr_shard_results *x = a, *y = b;

	return x->index - y->index;
}

void rr_shards_release(struct rr_shards *shards)
{
	for (size_t i = 0; i < shards->n; i++)
		rr_cases_release(&shards->all[i].cases);
	free(shards->all);
	*shards = (struct rr_shards){ 0 };
}

/* ---- Do they belong together? ------------------------------------------------- */

static bool refuse_difference(const struct rr_shard_results *a, const struct rr_shard_results *b,
			      const char *what, const char *of_a, const char *of_b,
			      struct rr_error *error)
{
	return rr_error_set(
		error, RR_ERROR_DATA,
		"shards %d/%d ('%.100s') and %d/%d ('%.100s') differ in %s: %.120s and %.120s",
		a->index, a->of, a->path, b->index, b->of, b->path, what, of_a, of_b);
}

/* Short enough for a line; malloc'd. */
static char *dump_value(const json_t *value)
{
	return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS |
						 JSON_REAL_PRECISION(6)) :
		       strdup("nothing");
}

static bool compare_value(const struct rr_shard_results *a, const struct rr_shard_results *b,
			  const char *what, const json_t *of_a, const json_t *of_b,
			  struct rr_error *error)
{
	char *text_a, *text_b;

	if (json_equal(of_a, of_b))
		return true;
	text_a = dump_value(of_a);
	text_b = dump_value(of_b);
	refuse_difference(a, b, what, text_a ? text_a : "?", text_b ? text_b : "?", error);
	free(text_a);
	free(text_b);
	return false;
}

static bool compare_options(const struct rr_shard_results *a, const struct rr_shard_results *b,
			    struct rr_error *error)
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

static const char *shard_server(const struct rr_shard_results *shard)
{
	const char *version =
		json_string_value(json_object_get(shard->cases.properties, "redis_version"));

	return version ? version : "";
}

/* A shard that has asked no server knows no version. */
static bool compare_servers(const struct rr_shard_results *a, const struct rr_shard_results *b,
			    struct rr_error *error)
{
	const char *of_a = shard_server(a), *of_b = shard_server(b);

	return !*of_a || !*of_b || strcmp(of_a, of_b) == 0 ||
	       refuse_difference(a, b, "the server's version", of_a, of_b, error);
}

static bool compare_two(const struct rr_shard_results *a, const struct rr_shard_results *b,
			struct rr_error *error)
{
	if (strcmp(a->cases.command, b->cases.command) != 0)
		return refuse_difference(a, b, "the command", a->cases.command, b->cases.command,
					 error);
	if (a->of != b->of)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is shard %d/%d and '%s' is %d/%d: not of one run",
				    a->path, a->index, a->of, b->path, b->index, b->of);
	return compare_value(a, b, "the version of redrace", json_object_get(a->note, "version"),
			     json_object_get(b->note, "version"), error) &&
	       compare_options(a, b, error) && compare_servers(a, b, error) &&
	       compare_value(a, b, "the cases of the whole", json_object_get(a->note, "all_cases"),
			     json_object_get(b->note, "all_cases"), error);
}

/* Each with the first of those that are of that kind. */
static bool compare_all(const struct rr_shards *shards, struct rr_error *error)
{
	const struct rr_shard_results *asked = &shards->all[0];

	for (size_t i = 1; i < shards->n; i++) {
		if (!compare_two(&shards->all[0], &shards->all[i], error) ||
		    !compare_servers(asked, &shards->all[i], error))
			return false;
		if (!*shard_server(asked))
			asked = &shards->all[i];
	}
	return true;
}

/* ---- Is each there once? --------------------------------------------------------- */

static bool refuse_missing(const struct rr_shards *shards, struct rr_error *error)
{
	const int of = shards->all[0].of;
	char list[200] = "";
	size_t used = 0, at = 0;
	int missing = 0;

	for (int i = 1; i <= of; i++) {
		if (at < shards->n && shards->all[at].index == i) {
			at++;
			continue;
		}
		if (used < sizeof(list) - 16)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%d/%d",
						 missing ? ", " : "", i, of);
		missing++;
	}
	return rr_error_set(error, RR_ERROR_DATA,
			    missing == 1 ? "shard %s is missing" : "shards %s are missing", list);
}

static bool check_complete(const struct rr_shards *shards, struct rr_error *error)
{
	for (size_t i = 1; i < shards->n; i++) {
		const struct rr_shard_results *a = &shards->all[i - 1];
		const struct rr_shard_results *b = &shards->all[i];

		if (a->index == b->index)
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' and '%s' are both shard %d/%d", a->path, b->path,
					    a->index, a->of);
	}
	return shards->n == (size_t)shards->all[0].of || refuse_missing(shards, error);
}

bool rr_shards_read(struct rr_shards *shards, const char *const *paths, size_t n,
		    struct rr_error *error)
{
	*shards = (struct rr_shards){ .all = calloc(n + 1, sizeof(*shards->all)) };
	if (!shards->all)
		return rr_error_no_memory(error);
	for (size_t i = 0; i < n; i++) {
		if (!read_shard(&shards->all[shards->n++], paths[i], error))
			return false;
	}
	qsort(shards->all, n, sizeof(*shards->all), compare_shards);
	return compare_all(shards, error) && check_complete(shards, error);
}

/* ---- The whole --------------------------------------------------------------------- */

/* The shards ran side by side: the longest one is how long it took. */
void rr_shards_begin(const struct rr_shards *shards, struct rr_cases *whole)
{
	json_t *list = json_array();

	rr_cases_init(whole, shards->all[0].cases.command);
	json_object_update(whole->properties, shards->all[0].cases.properties);
	json_object_del(whole->properties, "shard");
	for (size_t i = 0; i < shards->n; i++) {
		const struct rr_shard_results *shard = &shards->all[i];

		if (shard->cases.seconds > whole->seconds)
			whole->seconds = shard->cases.seconds;
		if (*shard_server(shard))
			json_object_set_new(whole->properties, "redis_version",
					    json_string(shard_server(shard)));
		json_array_append_new(list, json_pack("{s:i, s:f, s:I}", "index", shard->index,
						      "seconds", shard->cases.seconds, "cases",
						      (json_int_t)shard->cases.n));
	}
	json_object_set_new(whole->properties, "shards", list);
}

const struct rr_case *rr_shard_case(const struct rr_shard_results *shard, const char *suite,
				    const char *name)
{
	for (size_t i = 0; i < shard->cases.n; i++) {
		const struct rr_case *one = &shard->cases.cases[i];

		if (strcmp(one->suite, suite) == 0 && strcmp(one->name, name) == 0)
			return one;
	}
	return NULL;
}

/* "SUITE NAME"; the first at or behind `from`, of cases->n if there is none. */
static size_t find_case(const struct rr_cases *cases, const char *name, size_t from)
{
	for (; from < cases->n; from++) {
		const struct rr_case *one = &cases->cases[from];
		const size_t length = strlen(one->suite);

		if (strncmp(name, one->suite, length) == 0 && name[length] == ' ' &&
		    strcmp(name + length + 1, one->name) == 0)
			break;
	}
	return from;
}

/* Whose it should be, as the deal was. */
static const struct rr_shard_results *owner_of(const struct rr_shards *shards, const char *name)
{
	for (size_t i = 0; i < shards->n; i++) {
		const json_t *own = json_object_get(shards->all[i].note, "cases");
		json_t *entry;
		size_t j;

		json_array_foreach(own, j, entry) {
			if (strcmp(json_string_value(entry) ? json_string_value(entry) : "",
				   name) == 0)
				return &shards->all[i];
		}
	}
	return NULL;
}

static bool refuse_lacking(const struct rr_shards *shards, const char *name, struct rr_error *error)
{
	const struct rr_shard_results *owner = owner_of(shards, name);

	if (owner)
		return rr_error_set(error, RR_ERROR_DATA, "'%s' (shard %d/%d) lacks '%s'",
				    owner->path, owner->index, owner->of, name);
	return rr_error_set(error, RR_ERROR_DATA, "no shard has '%s'", name);
}

/* Adds the one case of that name. */
static bool add_from_shard(const struct rr_shards *shards, const char *name, struct rr_cases *whole,
			   struct rr_error *error)
{
	const struct rr_shard_results *found = NULL;

	for (size_t i = 0; i < shards->n; i++) {
		const struct rr_cases *cases = &shards->all[i].cases;
		const size_t at = find_case(cases, name, 0);

		if (at == cases->n)
			continue;
		if (found || find_case(cases, name, at + 1) < cases->n)
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' is there twice, in '%s' and '%s'", name,
					    (found ? found : &shards->all[i])->path,
					    shards->all[i].path);
		found = &shards->all[i];
		json_incref(cases->cases[at].properties);
		rr_cases_add(whole, &cases->cases[at]);
	}
	return found || refuse_lacking(shards, name, error);
}

bool rr_shards_unite(const struct rr_shards *shards, struct rr_cases *whole, struct rr_error *error)
{
	const json_t *all = json_object_get(shards->all[0].note, "all_cases");
	size_t n = 0, i;
	json_t *name;

	json_array_foreach(all, i, name) {
		if (!json_is_string(name) ||
		    !add_from_shard(shards, json_string_value(name), whole, error))
			return false;
	}
	for (i = 0; i < shards->n; i++)
		n += shards->all[i].cases.n;
	return n == whole->n ||
	       rr_error_set(error, RR_ERROR_DATA,
			    "the shards have %zu cases, the whole has %zu: not of one run", n,
			    whole->n);
}

/* Of a case that failed, whatever its shard has ended with. */
static enum rr_exit worst_case(const struct rr_cases *cases)
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < cases->n; i++) {
		if (cases->cases[i].verdict == RR_CASE_FAILED)
			code = rr_exit_worse(code, RR_EXIT_VIOLATED);
		if (cases->cases[i].verdict == RR_CASE_INCONCLUSIVE)
			code = rr_exit_worse(code, RR_EXIT_INCONCLUSIVE);
	}
	return code;
}

enum rr_exit rr_shards_exit(const struct rr_shards *shards)
{
	enum rr_exit code = RR_EXIT_OK;
	bool is_skipped = true;

	for (size_t i = 0; i < shards->n; i++) {
		const struct rr_shard_results *shard = &shards->all[i];

		if (shard->code != RR_EXIT_SKIPPED)
			code = rr_exit_worse(code, shard->code);
		code = rr_exit_worse(code, worst_case(&shard->cases));
		is_skipped &= shard->code == RR_EXIT_SKIPPED || shard->cases.n == 0;
	}
	return is_skipped && code == RR_EXIT_OK ? RR_EXIT_SKIPPED : code;
}

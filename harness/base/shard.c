/* SPDX-License-Identifier: MIT */
#include "shard.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "text.h"
#include "version.h"

bool rr_shard_parse(struct rr_shard *shard, const char *text, struct rr_error *error)
{
	const char *slash = strchr(text, '/');
	char first[8] = "";
	long index = 0, of = 0;

	if (slash && (size_t)(slash - text) < sizeof(first))
		memcpy(first, text, (size_t)(slash - text));
	if (!slash || !rr_parse_number(slash + 1, 1, RR_SHARDS_MAX, &of) ||
	    !rr_parse_number(first, 1, of, &index))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--shard '%s': expected I/N, shard I of N, such as 2/3 (N is %d at most)",
			text, RR_SHARDS_MAX);
	shard->index = (int)index;
	shard->of = (int)of;
	return true;
}

/* ---- Dealing ---------------------------------------------------------------- */

/* Puts the times of the earlier run in; a case that it does not have is thought to take
 * as long as its cases do on average. */
static bool use_times(const struct rr_shard *shard, json_t *seconds, struct rr_error *error)
{
	json_t *known = json_object();
	struct rr_cases cases;
	const char *name;
	json_t *value;
	double sum = 0;

	if (!rr_cases_read(&cases, shard->times, error)) {
		json_decref(known);
		return false;
	}
	for (size_t i = 0; i < cases.n; i++) {
		const struct rr_case *one = &cases.cases[i];
		char *key = rr_asprintf("%s %s", one->suite, one->name);

		json_object_set_new(known, key, json_real(one->seconds));
		sum += one->seconds;
		free(key);
	}
	json_object_foreach(seconds, name, value) {
		const json_t *time = json_object_get(known, name);

		json_real_set(value, time ? json_real_value(time) : sum / (double)cases.n);
	}
	json_decref(known);
	rr_cases_release(&cases);
	return sum > 0 ||
	       rr_error_set(
		       error, RR_ERROR_DATA,
		       "--times '%s': no case in it has a time: name results (.json) of a whole run",
		       shard->times);
}

struct dealt {
	const char *name;
	size_t place; /* in the order of the whole */
	double seconds;
};

/* The longest first; equal ones as they were. */
static int compare_dealt(const void *a, const void *b)
{
	const struct dealt *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

bool rr_shard_deal(struct rr_shard *shard, json_t *seconds, struct rr_error *error)
{
	bool good = true;

	if (shard->of == 0 && shard->times)
		good = rr_error_set(error, RR_ERROR_USAGE, "--times needs --shard");
	else if (shard->times)
		good = use_times(shard, seconds, error);
	if (good && shard->of) {
		/* The owners are in the order of the whole, too. */
		struct dealt *order = rr_calloc(json_object_size(seconds) + 1, sizeof(*order));
		double *load = rr_calloc((size_t)shard->of, sizeof(*load));
		const char *name;
		json_t *value;
		size_t n = 0;

		json_object_foreach(seconds, name, value) {
			order[n] = (struct dealt){ name, n, json_real_value(value) };
			n++;
		}
		qsort(order, n, sizeof(*order), compare_dealt);
		shard->owners = json_deep_copy(seconds);
		for (size_t i = 0; i < n; i++) {
			int owner = 0;

			for (int j = 1; j < shard->of; j++) {
				if (load[j] < load[owner])
					owner = j;
			}
			load[owner] += order[i].seconds;
			json_object_set_new(shard->owners, order[i].name, json_integer(owner + 1));
		}
		free(order);
		free(load);
	}
	json_decref(seconds);
	return good;
}

bool rr_shard_owns(const struct rr_shard *shard, const char *name)
{
	return !shard->owners ||
	       json_integer_value(json_object_get(shard->owners, name)) == shard->index;
}

/* ---- The note --------------------------------------------------------------- */

void rr_shard_note(const struct rr_shard *shard, struct rr_cases *cases, json_t *options,
		   enum rr_exit code)
{
	json_t *note = json_pack("{s:i, s:i, s:i, s:s, s:o, s:O}", "index", shard->index, "of",
				 shard->of, "exit_code", (int)code, "version",
				 RR_VERSION " (" RR_COMMIT ")", "options", options, "cases",
				 shard->owners);

	json_object_set_new(cases->properties, "shard", note);
}

void rr_shard_release(struct rr_shard *shard)
{
	json_decref(shard->owners);
	shard->owners = NULL;
}

/* ---- Putting the results of all shards together ----------------------------- */

struct part {
	const char *path;
	struct rr_cases cases;
	const json_t *note;
	int index, of;
	enum rr_exit code; /* what the shard has exited with */
};

/* All parts of a run, by their index. */
struct parts {
	size_t n;
	struct part *all;
};

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
		struct part *part = &parts->all[parts->n];
		const json_t *note;
		json_int_t index, of, code;

		part->path = paths[parts->n++];
		if (!rr_cases_read(&part->cases, part->path, error))
			return false;
		part->note = note = json_object_get(part->cases.properties, "shard");
		index = json_integer_value(json_object_get(note, "index"));
		of = json_integer_value(json_object_get(note, "of"));
		code = json_integer_value(json_object_get(note, "exit_code"));
		if (of < 1 || of > RR_SHARDS_MAX || index < 1 || index > of ||
		    !rr_exit_is_known(code) ||
		    !json_is_integer(json_object_get(note, "exit_code")) ||
		    !json_is_object(json_object_get(note, "options")) ||
		    !json_is_object(json_object_get(note, "cases")))
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' is not a shard: write it with --shard I/N",
					    part->path);
		part->index = (int)index;
		part->of = (int)of;
		part->code = (enum rr_exit)code;
	}
	qsort(parts->all, n, sizeof(*parts->all), compare_parts);
	return true;
}

static bool compare_value(const struct part *a, const struct part *b, const char *what,
			  const json_t *of_a, const json_t *of_b, struct rr_error *error)
{
	const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6);
	char *text_a, *text_b;

	if (of_a == of_b || json_equal(of_a, of_b))
		return true;
	text_a = json_dumps(of_a, flags);
	text_b = json_dumps(of_b, flags);
	rr_error_set(
		error, RR_ERROR_DATA,
		"shards %d/%d ('%.100s') and %d/%d ('%.100s') differ in %s: %.120s and %.120s: run all shards alike",
		a->index, a->of, a->path, b->index, b->of, b->path, what,
		text_a ? text_a : "nothing", text_b ? text_b : "nothing");
	free(text_a);
	free(text_b);
	return false;
}

/* NULL: a shard that has asked no server knows no version. */
static const json_t *server_of(const struct part *part)
{
	const json_t *version = json_object_get(part->cases.properties, "redis_version");

	return json_string_length(version) ? version : NULL;
}

static bool compare_two(const struct part *a, const struct part *b, struct rr_error *error)
{
	json_t *of_a = json_object_get(a->note, "options");
	const json_t *of_b = json_object_get(b->note, "options");
	const char *name;
	json_t *value;

	if (strcmp(a->cases.command, b->cases.command) != 0)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is of %s and '%s' of %s: merge shards of one command",
				    a->path, a->cases.command, b->path, b->cases.command);
	if (a->of != b->of)
		return rr_error_set(error, RR_ERROR_DATA,
				    "'%s' is shard %d/%d and '%s' is %d/%d: name shards of one run",
				    a->path, a->index, a->of, b->path, b->index, b->of);
	if (!compare_value(a, b, "the version of redrace", json_object_get(a->note, "version"),
			   json_object_get(b->note, "version"), error))
		return false;
	json_object_foreach(of_a, name, value) {
		if (!compare_value(a, b, name, value, json_object_get(of_b, name), error))
			return false;
	}
	return compare_value(a, b, "options", of_a, of_b, error) &&
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
		     missing == 1 ? "shard %.200s is missing: name its results, too" :
				    "shards %.200s are missing: name their results, too",
		     list);
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
					    "'%s' and '%s' are both shard %d/%d: leave one out",
					    part[-1].path, part->path, part->index, part->of);
	}
	return parts->n == (size_t)parts->all[0].of || refuse_missing(parts, error);
}

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
			return rr_error_set(error, RR_ERROR_DATA,
					    "no shard has '%s': run the shards again", name);
		part = &parts->all[index - 1];
		one = find_case(&part->cases, name);
		if (!one)
			return rr_error_set(error, RR_ERROR_DATA,
					    "'%s' (shard %d/%d) lacks '%s': run it again",
					    part->path, part->index, part->of, name);
		json_incref(one->properties);
		rr_cases_add(whole, one);
	}
	for (size_t i = 0; i < parts->n; i++)
		n += parts->all[i].cases.n;
	return n == whole->n ||
	       rr_error_set(error, RR_ERROR_DATA,
			    "the shards have %zu cases, and %zu were dealt out: run them again", n,
			    whole->n);
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

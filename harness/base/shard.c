/* SPDX-License-Identifier: MIT */
#include "shard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	*shard = (struct rr_shard){ (int)index, (int)of };
	return true;
}

/* ---- Times of an earlier run ----------------------------------------------- */

/* Fowler, Noll and Vo's, 1a. */
static uint64_t digest_text(uint64_t digest, const char *text)
{
	for (; *text; text++)
		digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return digest;
}

/* A case is known by its suite and its name. */
static void note_case_time(struct rr_case_times *times, const struct rr_case *one, uint64_t *digest)
{
	char name[400], seconds[40];

	snprintf(name, sizeof(name), "%s %s", one->suite, one->name);
	snprintf(seconds, sizeof(seconds), "=%.6f\n", one->seconds);
	json_object_set_new(times->seconds, name, json_real(one->seconds));
	*digest = digest_text(digest_text(*digest, name), seconds);
	times->usual += one->seconds;
}

bool rr_case_times_read(struct rr_case_times *times, const char *path, struct rr_error *error)
{
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	struct rr_cases cases;

	*times = (struct rr_case_times){ .usual = 1 };
	if (!path)
		return true;
	if (!rr_cases_read(&cases, path, error))
		return false;
	times->seconds = json_object();
	times->usual = 0;
	for (size_t i = 0; i < cases.n; i++)
		note_case_time(times, &cases.cases[i], &digest);
	if (times->usual <= 0)
		rr_error_set(error, RR_ERROR_DATA, "--times '%s': no case in it has a time", path);
	else
		times->usual /= (double)cases.n;
	snprintf(times->digest, sizeof(times->digest), "%016" PRIx64, digest);
	rr_cases_release(&cases);
	return !error->kind;
}

void rr_case_times_release(struct rr_case_times *times)
{
	json_decref(times->seconds);
	*times = (struct rr_case_times){ .usual = 1 };
}

/* ---- Dealing ---------------------------------------------------------------- */

struct dealt {
	size_t place; /* among the names */
	double seconds;
};

static double time_of_case(const struct rr_case_times *times, const char *name)
{
	const json_t *seconds = json_object_get(times->seconds, name);

	return seconds ? json_number_value(seconds) : times->usual;
}

/* The longest first; equal ones as they were. */
static int compare_dealt(const void *a, const void *b)
{
	const struct dealt *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int least_loaded(const double *load, int of)
{
	int least = 0;

	for (int i = 1; i < of; i++) {
		if (load[i] < load[least])
			least = i;
	}
	return least;
}

bool rr_shard_deal(const struct rr_shard *shard, const char *const *names, size_t n,
		   const struct rr_case_times *times, int *owners)
{
	struct dealt *order = calloc(n + 1, sizeof(*order));
	double *load = calloc((size_t)shard->of, sizeof(*load));
	const bool room = order && load;

	for (size_t i = 0; room && i < n; i++)
		order[i] = (struct dealt){ i, time_of_case(times, names[i]) };
	if (room)
		qsort(order, n, sizeof(*order), compare_dealt);
	for (size_t i = 0; room && i < n; i++) {
		const int owner = least_loaded(load, shard->of);

		load[owner] += order[i].seconds;
		owners[order[i].place] = owner + 1;
	}
	free(order);
	free(load);
	return room;
}

/* ---- The note --------------------------------------------------------------- */

void rr_shard_note(struct rr_cases *cases, const struct rr_shard *shard, json_t *options,
		   const char *const *names, size_t n, const int *owners)
{
	json_t *all = json_array(), *own = json_array();

	for (size_t i = 0; i < n; i++) {
		json_array_append_new(all, json_string(names[i]));
		if (!owners || owners[i] == shard->index)
			json_array_append_new(own, json_string(names[i]));
	}
	json_object_set_new(cases->properties, "shard",
			    json_pack("{s:i, s:i, s:s, s:o, s:o, s:o}", "index", shard->index, "of",
				      shard->of, "version", RR_VERSION " (" RR_COMMIT ")",
				      "options", options, "cases", own, "all_cases", all));
}

void rr_shard_note_exit(struct rr_cases *cases, enum rr_exit code)
{
	json_t *note = json_object_get(cases->properties, "shard");

	if (note)
		json_object_set_new(note, "exit_code", json_integer(code));
}

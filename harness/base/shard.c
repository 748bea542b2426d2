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
	return sum > 0 || rr_error_set(error, RR_ERROR_DATA,
				       "--times '%s': no case in it has a time", shard->times);
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

static int least_loaded(const double *load, int of)
{
	int least = 0;

	for (int i = 1; i < of; i++) {
		if (load[i] < load[least])
			least = i;
	}
	return least;
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
			const int owner = least_loaded(load, shard->of);

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

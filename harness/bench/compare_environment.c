/* SPDX-License-Identifier: MIT */
/* What two results directories were measured with, besides the program: servers,
 * machines, settings. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare.h"

/* What figures depend on besides the program. */
static const struct {
	const char *object, *name, *words;
} environments[] = {
	{ "server", "server_name", "server" },
	{ "server", "redis_version", "server version" },
	{ "server", "valkey_version", "server version" },
	{ "machine", "cpu", "processor" },
	{ "machine", "cores", "processors" },
	{ "machine", "cores_allowed", "processors allowed" },
	{ "machine", "architecture", "architecture" },
	{ "machine", "governor", "governor" },
	{ "machine", "kernel", "kernel" },
	{ "machine", "clock_source", "clock source" },
};

/* Prints one difference; returns 1. */
static size_t print_difference(FILE *out, const char *what, const char *a, const char *b)
{
	char *one = rr_plain(a), *other = rr_plain(b);

	fprintf(out, "Different %s: '%s' and '%s'\n", what, one, other);
	free(one);
	free(other);
	return 1;
}

static size_t compare_environments(const struct rr_compared_runs *const both[2], FILE *out)
{
	size_t differences = 0;
	char a[128], b[128];

	for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]); i++) {
		rr_compared_environment(both[0], environments[i].object, environments[i].name, a);
		rr_compared_environment(both[1], environments[i].object, environments[i].name, b);
		if (strcmp(a, b) != 0)
			differences += print_difference(out, environments[i].words, a, b);
	}
	return differences;
}

/* All rows have to be measured alike, those of one directory too. */
static size_t compare_settings(const struct rr_compared_runs *const both[2], FILE *out)
{
	const struct rr_compared_row *first = both[0]->rows;
	size_t differences = 0;

	for (size_t s = 0; rr_compared_settings[s]; s++) {
		const char *other = NULL;

		for (size_t i = 0; i < 2; i++) {
			for (size_t r = 0; r < both[i]->n_rows; r++) {
				const char *it = both[i]->rows[r].settings[s];

				if (strcmp(it, first->settings[s]) != 0)
					other = it;
			}
		}
		if (other)
			differences += print_difference(out, rr_compared_settings[s],
							first->settings[s], other);
	}
	return differences;
}

size_t rr_compared_differences(const struct rr_compared_runs *before,
			       const struct rr_compared_runs *after, FILE *out)
{
	const struct rr_compared_runs *const both[] = { before, after };
	size_t differences = 0;

	for (size_t i = 0; i < 2; i++) {
		if (both[i]->environment)
			continue;
		fprintf(out,
			"%s has no env.json that can be read: where it was measured is not known.\n",
			both[i]->directory);
		differences++;
	}
	if (!differences)
		differences = compare_environments(both, out);
	return differences + compare_settings(both, out);
}

/* SPDX-License-Identifier: MIT */
/* A results directory read again: the rows of runs.csv by the names of its columns,
 * so that columns of later versions do no harm, and env.json; and whether two were measured
 * alike, besides the program: servers, machines, settings. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare.h"

/* Whole numbers are exact up to here; bench writes none that is larger. */
static const double NUMBER_MAX = 9007199254740992.0;

/* What has to be equal for a comparison; and what stands for those that came with schema 3 and later
 * in an older row. */
static const struct {
	const char *name, *before;
} settings[RR_COMPARED_SETTINGS] = {
	{ "increments", NULL },  { "hold_us", NULL },      { "ttl_ms", NULL },
	{ "keys", NULL },        { "transport", NULL },    { "placement", NULL },
	{ "persistence", NULL }, { "topology", "alone" },  { "fail_overs_asked", "" },
	{ "cut_ms", "0" },       { "wait_replicas", "0" }, { "dead_holders", "0" },
	{ "loop", "closed" },    { "arrivals", "" },       { "seconds_per_cell", "0" },
};

/* runs.csv while it is read. */
struct table {
	const char *path;
	const struct rr_csv *csv;
	size_t row;
	struct rr_error *error;
};

/* What stands in the column; else `before`, or NULL and an error, when there has to be one. */
static const char *field_of(struct table *table, const char *name, const char *before)
{
	const char *found = rr_csv_find(table->csv, table->row, name);

	if (found || before)
		return found ? found : before;
	rr_error_set(
		table->error, RR_ERROR_DATA,
		"%s has no column '%s': it was written by another program or version: measure again with redrace bench",
		table->path, name);
	return NULL;
}

static double number_of(struct table *table, const char *name)
{
	const char *text = field_of(table, name, NULL);
	char *end;
	double value;

	if (!text)
		return 0;
	value = strtod(text, &end);
	if (end == text && *text == '\0')
		return 0;
	if (*end == '\0' && fabs(value) <= NUMBER_MAX) /* not if it is NaN */
		return value;
	rr_error_set(
		table->error, RR_ERROR_DATA,
		"%s:%zu: %s: expected a number up to %.0f, found '%.40s': measure again with redrace bench",
		table->path, table->row + 2, name, NUMBER_MAX, text);
	return 0;
}

static bool fill_compared_row(struct table *table, struct rr_compared_row *row)
{
	row->strategy = field_of(table, "strategy", NULL);
	row->policy = field_of(table, "policy", NULL);
	row->verdict = field_of(table, "verdict", NULL);
	row->expectation = field_of(table, "expectation", NULL);
	row->threads = (long)number_of(table, "threads");
	row->processes = (long)number_of(table, "processes");
	row->ok = (long long)number_of(table, "ok");
	row->lost = (long long)number_of(table, "lost");
	row->extra = (long long)number_of(table, "extra");
	row->wall_ns = number_of(table, "wall_ns");
	row->p50_ns = number_of(table, "lat_p50_ns");
	row->commands = number_of(table, "commands");
	row->lost_pct = number_of(table, "lost_pct");
	row->figures[RR_COMPARED_P99] = number_of(table, "lat_p99_ns");
	for (size_t i = 0; i < RR_COMPARED_SETTINGS; i++)
		row->settings[i] = field_of(table, settings[i].name, settings[i].before);
	row->rate_asked = field_of(table, "rate_asked", "");
	/* Cells of so many seconds have as many increments as fit. */
	if (strcmp(field_of(table, "seconds_per_cell", "0"), "0") != 0)
		row->settings[0] = "";
	row->is_unsustained = strcmp(field_of(table, "sustained", ""), "no") == 0;
	if (*row->rate_asked) {
		row->figures[RR_COMPARED_RATE] = number_of(table, "increments_per_s");
		return !table->error->kind;
	}
	/* Not the column: before schema 2 it counted refused attempts. */
	row->figures[RR_COMPARED_RATE] = row->wall_ns > 0 ? (double)row->ok * 1e9 / row->wall_ns :
							    0;
	return !table->error->kind;
}

/* As people look for them, whatever the order in which they ran. */
static int compare_rows(const void *a, const void *b)
{
	const struct rr_compared_row *x = a, *y = b;
	const int order = strcmp(x->strategy, y->strategy);

	if (order)
		return order;
	if (x->processes != y->processes)
		return x->processes < y->processes ? -1 : 1;
	if (x->threads != y->threads)
		return x->threads < y->threads ? -1 : 1;
	if (strcmp(x->policy, y->policy) != 0)
		return strcmp(x->policy, y->policy);
	return strcmp(x->rate_asked, y->rate_asked);
}

bool rr_compared_read(struct rr_compared_runs *runs, const char *directory, struct rr_error *error)
{
	char path[RR_PATH_SIZE];
	struct table table = { .path = path, .csv = &runs->csv, .error = error };

	*runs = (struct rr_compared_runs){ .directory = rr_plain(directory) };
	snprintf(path, sizeof(path), "%s/env.json", directory);
	runs->environment = json_load_file(path, 0, NULL);
	snprintf(path, sizeof(path), "%s/runs.csv", directory);
	if (access(path, R_OK) != 0)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "cannot read '%s': %s; name a directory that bench has written",
				    path, strerror(errno));
	if (!rr_csv_read(&runs->csv, path, error))
		return false;
	runs->rows = rr_calloc(runs->csv.n_rows + 1, sizeof(*runs->rows));
	runs->n_rows = runs->csv.n_rows;
	for (; table.row < runs->n_rows; table.row++) {
		if (!fill_compared_row(&table, &runs->rows[table.row]))
			return false;
	}
	if (runs->csv.uneven)
		return rr_error_set(
			error, RR_ERROR_DATA,
			"%s:%zu: not as many fields as the header has: measure again with redrace bench",
			path, runs->csv.uneven);
	if (runs->n_rows == 0)
		return rr_error_set(error, RR_ERROR_DATA,
				    "%s has no rows: measure again with redrace bench", path);
	qsort(runs->rows, runs->n_rows, sizeof(*runs->rows), compare_rows);
	return true;
}

void rr_compared_release(struct rr_compared_runs *runs)
{
	rr_csv_free(&runs->csv);
	free(runs->directory);
	free(runs->rows);
	json_decref(runs->environment);
}

const char *rr_compared_environment(const struct rr_compared_runs *runs, const char *object,
				    const char *name, char text[128])
{
	const json_t *value = json_object_get(json_object_get(runs->environment, object), name);

	text[0] = '\0';
	if (json_is_string(value)) {
		char *plain = rr_plain(json_string_value(value));

		snprintf(text, 128, "%s", plain);
		free(plain);
	} else if (json_is_integer(value)) {
		snprintf(text, 128, "%lld", (long long)json_integer_value(value));
	}
	return text;
}

/* ---- Were both measured alike? ------------------------------------------- */

/* What figures depend on besides the program. */
static const struct {
	const char *object, *name, *words;
} environments[] = {
	{ "server", "server_name", "server" },
	{ "server", "redis_version", "server version" },
	{ "server", "valkey_version", "server version" },
	{ "machine", "id", "machine" },
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

size_t rr_compared_differences(const struct rr_compared_runs *before,
			       const struct rr_compared_runs *after, FILE *out)
{
	const struct rr_compared_runs *const both[] = { before, after };
	const struct rr_compared_row *first = before->rows;
	size_t differences = 0;
	char a[128], b[128];

	for (size_t i = 0; i < 2; i++) {
		if (both[i]->environment)
			continue;
		fprintf(out,
			"%s has no env.json that can be read: where it was measured is not known.\n",
			both[i]->directory);
		differences++;
	}
	for (size_t i = 0; i < sizeof(environments) / sizeof(environments[0]) &&
			   before->environment && after->environment;
	     i++) {
		rr_compared_environment(before, environments[i].object, environments[i].name, a);
		rr_compared_environment(after, environments[i].object, environments[i].name, b);
		/* Results of earlier versions do not name their machine. */
		if (strcmp(a, b) != 0 &&
		    (strcmp(environments[i].name, "id") != 0 || (a[0] && b[0])))
			differences += print_difference(out, environments[i].words, a, b);
	}
	for (size_t i = 0; i < 2; i++) {
		const json_t *note = json_object_get(both[i]->environment, "disturbance");

		if (json_is_true(json_object_get(note, "disturbed")))
			fprintf(out, "%s was measured on a disturbed machine: see its env.json.\n",
				both[i]->directory);
	}
	/* All rows have to be measured alike, those of one directory too. */
	for (size_t s = 0; s < RR_COMPARED_SETTINGS; s++) {
		const char *other = NULL;

		for (size_t i = 0; i < 2; i++) {
			for (size_t r = 0; r < both[i]->n_rows; r++) {
				const char *it = both[i]->rows[r].settings[s];

				if (strcmp(it, first->settings[s]) != 0)
					other = it;
			}
		}
		if (other)
			differences += print_difference(out, settings[s].name, first->settings[s],
							other);
	}
	return differences;
}

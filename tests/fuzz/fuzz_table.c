/* SPDX-License-Identifier: MIT */
/*
 * Results that are read again, by `report` and `compare`: CSV that ends in env.json
 * behind a NUL. What is refused says which file it is about, in one line; of what is
 * accepted every cell can be read.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/compare.h"
#include "fuzz.h"
#include "base/csv.h"

static char directory[32];

static void remove_directory(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/runs.csv", directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/env.json", directory);
	unlink(path);
	rmdir(directory);
}

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/rr-fuzz-XXXXXX");
	demand(mkdtemp(directory) != NULL);
	atexit(remove_directory);
}

static void write_input(const char *name, const uint8_t *data, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	demand(file && fwrite(data, 1, size, file) == size);
	demand(fclose(file) == 0);
}

static void check_csv(void)
{
	struct rr_error error = { 0 };
	struct rr_csv csv;
	char path[64];

	snprintf(path, sizeof(path), "%s/runs.csv", directory);
	if (!rr_csv_read(&csv, path, &error)) {
		demand(error.text[0] != '\0');
		return;
	}
	for (size_t row = 0; row < csv.n_rows; row++) {
		for (size_t i = 0; i < csv.n_columns; i++)
			demand(strlen(rr_csv_cell(&csv, row, csv.columns[i])) < SIZE_MAX);
	}
	rr_csv_free(&csv);
}

static void check_compared(void)
{
	struct rr_error error = { 0 };
	struct rr_compared_runs runs;
	char text[128];

	if (rr_compared_read(&runs, directory, &error)) {
		demand(runs.n_rows > 0);
		for (size_t i = 0; i < runs.n_rows; i++)
			demand(runs.rows[i].strategy && runs.rows[i].verdict);
		rr_compared_environment(&runs, "server", "version", text);
	} else {
		demand(strncmp(error.text, directory, strlen(directory)) == 0);
		demand(!strchr(error.text, '\n'));
	}
	rr_compared_release(&runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	const size_t length = end ? (size_t)(end - data) : size;

	if (!directory[0])
		make_directory();
	write_input("runs.csv", data, length);
	write_input("env.json", data + length, size - length);
	check_csv();
	check_compared();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Reads comma-separated values. */
#include "csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { CHUNK = 1 << 16, FILE_MAX = 64 << 20 };

static bool read_all(FILE *file, FILE *into, const char *path, struct rr_error *error)
{
	char chunk[CHUNK];
	size_t n, total = 0;

	while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0) {
		fwrite(chunk, 1, n, into);
		total += n;
		if (total > FILE_MAX)
			return rr_error_set(error, RR_ERROR_DATA, "'%s' is larger than 64 MB",
					    path);
	}
	return !ferror(file) ||
	       rr_error_set(error, RR_ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
}

char *rr_read_file(const char *path, size_t *length, struct rr_error *error)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	FILE *into;
	bool good;

	if (!file) {
		rr_error_set(error, RR_ERROR_DATA, "cannot read '%s': %s", path, strerror(errno));
		return NULL;
	}
	into = rr_open_memory(&text, length);
	good = read_all(file, into, path, error);
	fclose(file);
	if (fclose(into) != 0)
		rr_out_of_memory();
	if (good)
		return text;
	free(text);
	return NULL;
}

/* The next field of a line; *at moves behind it, to NULL behind the last one. */
static const char *next_field(char **at)
{
	char *field = *at;
	char *comma = strchr(field, ',');

	if (comma)
		*comma++ = '\0';
	*at = comma;
	return field;
}

/* How many fields the line has; the first `max` of them are kept. */
static size_t split_fields(char *line, const char **fields, size_t max)
{
	const char *field;
	size_t n = 0;

	line[strcspn(line, "\r")] = '\0';
	while (line) {
		field = next_field(&line);
		if (n++ < max)
			fields[n - 1] = field;
	}
	return n;
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void split_rows(struct rr_csv *csv)
{
	char *rest = csv->text;
	char *line = strsep(&rest, "\n");

	csv->n_columns = split_fields(line, csv->columns, RR_CSV_COLUMNS_MAX);
	if (csv->n_columns > RR_CSV_COLUMNS_MAX)
		csv->n_columns = RR_CSV_COLUMNS_MAX;
	csv->cells = rr_calloc((rest ? count_lines(rest) : 1) * csv->n_columns,
			       sizeof(*csv->cells));
	for (size_t number = 2; (line = strsep(&rest, "\n")); number++) {
		const char **cells = csv->cells + csv->n_rows * csv->n_columns;
		size_t n;

		if (!*line)
			continue;
		n = split_fields(line, cells, csv->n_columns);
		if (n != csv->n_columns && !csv->uneven)
			csv->uneven = number;
		while (n < csv->n_columns)
			cells[n++] = "";
		csv->n_rows++;
	}
}

bool rr_csv_read(struct rr_csv *csv, const char *path, struct rr_error *error)
{
	size_t length;

	*csv = (struct rr_csv){ 0 };
	csv->text = rr_read_file(path, &length, error);
	if (csv->text)
		split_rows(csv);
	return csv->text != NULL;
}

void rr_csv_free(struct rr_csv *csv)
{
	free(csv->cells);
	free(csv->text);
}

const char *rr_csv_find(const struct rr_csv *csv, size_t row, const char *column)
{
	for (size_t i = 0; i < csv->n_columns; i++) {
		if (strcmp(csv->columns[i], column) == 0)
			return csv->cells[row * csv->n_columns + i];
	}
	return NULL;
}

const char *rr_csv_cell(const struct rr_csv *csv, size_t row, const char *column)
{
	const char *cell = rr_csv_find(csv, row, column);

	return cell ? cell : "";
}

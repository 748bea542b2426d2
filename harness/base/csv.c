/* SPDX-License-Identifier: MIT */
/* Reads comma-separated values, and appends to them. */
#include "csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "memory.h"

/* How many fields the line has; the first `max` of them are kept. */
static size_t split_fields(char *line, const char **fields, size_t max)
{
	const char *field;
	size_t n = 0;

	line[strcspn(line, "\r")] = '\0';
	while ((field = strsep(&line, ","))) {
		if (n++ < max)
			fields[n - 1] = field;
	}
	return n;
}

bool rr_csv_read(struct rr_csv *csv, const char *path, struct rr_error *error)
{
	size_t length, n_lines = 1;

	*csv = (struct rr_csv){ 0 };
	csv->text = rr_files_read(path, RR_ERROR_DATA, 64, &length, error);
	if (csv->text) {
		char *rest = csv->text;
		char *line = strsep(&rest, "\n");

		csv->n_columns = split_fields(line, csv->columns, RR_CSV_COLUMNS_MAX);
		if (csv->n_columns > RR_CSV_COLUMNS_MAX)
			csv->n_columns = RR_CSV_COLUMNS_MAX;
		for (const char *at = rest; at && *at; at++)
			n_lines += *at == '\n';
		csv->cells = rr_calloc(n_lines * csv->n_columns, sizeof(*csv->cells));
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

/* ---- A log of rows --------------------------------------------------------------- */

int rr_csv_open_rows(const char *path, const char *header, struct rr_error *error)
{
	/* Opened for reading, too, a pipe does not wait for its reader. */
	const int how = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, how | O_EXCL, 0666);
	const bool is_new = fd >= 0;
	const size_t length = strlen(header);
	struct stat info;
	bool good;

	if (fd < 0 && errno == EEXIST)
		fd = open(path, how, 0666);
	if (fd < 0 && errno != ELOOP) {
		good = rr_error_file(error, "write", path);
	} else if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		good = rr_error_set(error, RR_ERROR_FILE,
				    "'%s' is a link or no file; choose another --output", path);
	} else if (info.st_size == 0) {
		good = rr_csv_append_row(fd, path, header, error);
	} else {
		char *begin = rr_malloc(length);

		good = (pread(fd, begin, length, 0) == (ssize_t)length &&
			memcmp(begin, header, length) == 0) ||
		       rr_error_set(
			       error, RR_ERROR_FILE,
			       "'%s' has other columns than this version writes; choose another --output",
			       path);
		free(begin);
	}
	if (good)
		return fd;
	if (fd >= 0)
		close(fd);
	/* A log without its header is of no use: a full disk leaves none. */
	if (is_new)
		unlink(path);
	return -1;
}

bool rr_csv_append_row(int fd, const char *path, const char *row, struct rr_error *error)
{
	const size_t length = strlen(row);
	struct stat before;
	ssize_t written;

	if (fstat(fd, &before) != 0)
		return rr_error_file(error, "write", path);
	written = write(fd, row, length);
	if (written == (ssize_t)length)
		return true;
	if (written >= 0)
		errno = ENOSPC;
	rr_error_file(error, "write", path);
	if (written > 0 && ftruncate(fd, before.st_size) != 0)
		rr_error_set(error, RR_ERROR_FILE, "cannot write or shorten '%s': %s", path,
			     strerror(errno));
	return false;
}

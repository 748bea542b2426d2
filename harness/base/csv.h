/* SPDX-License-Identifier: MIT */
/* A file of comma-separated values without quotes, as bench writes it. */
#ifndef RR_CSV_H
#define RR_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum { RR_CSV_COLUMNS_MAX = 128 };

struct rr_csv {
	char *text;
	size_t n_columns;
	const char *columns[RR_CSV_COLUMNS_MAX];
	size_t n_rows;
	const char **cells; /* n_rows times n_columns; what is missing is "" */
	size_t uneven;      /* the first line with another number of fields; 0: none */
};

bool rr_csv_read(struct rr_csv *csv, const char *path, struct rr_error *error);
void rr_csv_free(struct rr_csv *csv);

/* A cell by its column's name; NULL when there is no such column. */
const char *rr_csv_find(const struct rr_csv *csv, size_t row, const char *column);

/* The same, "" when there is none. */
const char *rr_csv_cell(const struct rr_csv *csv, size_t row, const char *column);

/* Opens a log of rows for appending. A new one gets `header` as its first
 * line; one that begins with another header is refused. Negative: see the
 * error. The caller closes it. */
int rr_csv_open_rows(const char *path, const char *header, struct rr_error *error);

/* Appends one row by one write(2), or nothing at all. */
bool rr_csv_append_row(int fd, const char *path, const char *row, struct rr_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/* A file of comma-separated values without quotes, as bench writes it. */
#ifndef RR_REPORT_CSV_H
#define RR_REPORT_CSV_H

#include <stddef.h>

#include "base/error.h"

enum { RR_CSV_COLUMNS_MAX = 96 };

struct rr_csv {
	char *text;
	size_t n_columns;
	const char *columns[RR_CSV_COLUMNS_MAX];
	size_t n_rows;
	const char **cells; /* n_rows times n_columns; what is missing is "" */
};

bool rr_csv_read(struct rr_csv *csv, const char *path, struct rr_error *error);
void rr_csv_free(struct rr_csv *csv);

/* A cell by its column's name; "" when there is no such column. */
const char *rr_csv_cell(const struct rr_csv *csv, size_t row, const char *column);

/* A whole file as a string, of at most 64 MB; malloc'd. NULL: see the error. */
char *rr_report_read_file(const char *path, size_t *length, struct rr_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/* The claims and what became of them, printed. */
#ifndef RR_CLAIM_ROWS_H
#define RR_CLAIM_ROWS_H

#include <stdio.h>

#include "judge.h"

struct rr_claim_rows {
	const struct rr_claim_row *rows;
	size_t n;
	const char *version; /* of the server, "" = unknown */
};

/* How many rows stand like that. */
size_t rr_claim_rows_count(const struct rr_claim_rows *rows, enum rr_standing standing);

/* "121 claims: 118 stand, 2 skipped, 1 differs". */
void rr_claim_rows_summarise(const struct rr_claim_rows *rows, char *text, size_t size);

/* "true if clocks agree": what was recorded. */
void rr_row_verdict(const struct rr_claim_row *row, char *text, size_t size);

/* The section that a row begins, NULL = it goes on. */
const char *rr_claim_rows_section(const struct rr_claim_rows *rows, size_t index);

void rr_claim_rows_text(const struct rr_claim_rows *rows, FILE *file);
void rr_claim_rows_markdown(const struct rr_claim_rows *rows, FILE *file);
void rr_claim_rows_json(const struct rr_claim_rows *rows, FILE *file);
void rr_claim_rows_junit(const struct rr_claim_rows *rows, FILE *file);
void rr_claim_rows_tap(const struct rr_claim_rows *rows, FILE *file);

#endif

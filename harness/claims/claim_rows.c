/* SPDX-License-Identifier: MIT */
/* What all formats share, and the one for terminals. */
#include "claim_rows.h"

#include <string.h>

size_t rr_claim_rows_count(const struct rr_claim_rows *rows, enum rr_standing standing)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += rows->rows[i].standing == standing;
	return n;
}

void rr_claim_rows_summarise(const struct rr_claim_rows *rows, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%zu %s:", rows->n,
				       rows->n == 1 ? "claim" : "claims");

	for (int i = 0; i < RR_STANDINGS; i++) {
		const size_t n = rr_claim_rows_count(rows, (enum rr_standing)i);

		if (n == 0 || used >= size)
			continue;
		used += (size_t)snprintf(
			text + used, size - used, "%s %zu %s",
			text[used - 1] == ':' ? "" : ",", n,
			i == RR_STANDS && n > 1 ? "stand" :
						  rr_standing_name(
							  (enum rr_standing)i));
	}
}

void rr_row_verdict(const struct rr_claim_row *row, char *text, size_t size)
{
	const struct rr_claim *claim = row->claim;
	const char *name = rr_claim_verdict_name(claim->verdict);

	if (!claim->remark)
		snprintf(text, size, "%s", name);
	else if (claim->verdict == RR_CLAIM_TRUE_IF)
		snprintf(text, size, "%s %s", name, claim->remark);
	else
		snprintf(text, size, "%s: %s", name, claim->remark);
}

static const struct rr_claim_section *section_of(const struct rr_claim *claim)
{
	for (size_t i = 0; i < rr_n_claim_sections; i++) {
		const struct rr_claim_section *section = &rr_claim_sections[i];

		for (size_t k = 0; k < *section->n_claims; k++) {
			if (&section->claims[k] == claim)
				return section;
		}
	}
	return NULL;
}

const char *rr_claim_rows_section(const struct rr_claim_rows *rows, size_t index)
{
	const struct rr_claim_section *section =
		section_of(rows->rows[index].claim);

	if (index > 0 && section == section_of(rows->rows[index - 1].claim))
		return NULL;
	return section->title;
}

/* ---- For terminals ------------------------------------------------------------------ */

static void print_row(const struct rr_claim_row *row, FILE *file)
{
	char verdict[300];

	rr_row_verdict(row, verdict, sizeof(verdict));
	fprintf(file, "%-6s %s\n", row->claim->id, row->claim->text);
	fprintf(file, "       %s%s: %s\n", row->claim->where,
		row->claim->derived ? " (derived)" : "", verdict);
	if (row->races[0])
		fprintf(file, "       %s\n", row->races);
	if (row->observed[0])
		fprintf(file, "       > %s\n", row->observed);
	if (row->problem[0])
		fprintf(file, "       %s: %s\n",
			rr_standing_name(row->standing), row->problem);
}

void rr_claim_rows_text(const struct rr_claim_rows *rows, FILE *file)
{
	char summary[200];

	for (size_t i = 0; i < rows->n; i++) {
		const char *section = rr_claim_rows_section(rows, i);

		if (section)
			fprintf(file, "%s%s\n\n", i ? "\n" : "", section);
		print_row(&rows->rows[i], file);
	}
	rr_claim_rows_summarise(rows, summary, sizeof(summary));
	fprintf(file, "\n%s%s%s\n", summary,
		rows->version[0] ? " on Redis " : "", rows->version);
}

/* SPDX-License-Identifier: MIT */
/* docs/claims.md. */
#include "claim_rows.h"

#include <string.h>

/* Nothing of a text must end its cell, or be taken for HTML. */
static void print_cell(FILE *file, const char *text)
{
	fputc(' ', file);
	for (; *text; text++) {
		if (strchr("|<*_`\\", *text))
			fputc('\\', file);
		fputc(*text, file);
	}
	fprintf(file, " |");
}

static void print_row(const struct rr_claim_row *row, FILE *file)
{
	char verdict[300], where[300], observed[2000];

	rr_row_verdict(row, verdict, sizeof(verdict));
	snprintf(where, sizeof(where), "%s%s", row->claim->where,
		 row->claim->derived ? " (derived)" : "");
	snprintf(observed, sizeof(observed), "%s%s%s", row->observed,
		 row->observed[0] && row->problem[0] ? "; " : "",
		 row->problem);
	fputc('|', file);
	print_cell(file, row->claim->id);
	print_cell(file, row->claim->text);
	print_cell(file, where);
	print_cell(file, verdict);
	print_cell(file, observed);
	print_cell(file, row->races);
	fprintf(file, "\n");
}

void rr_claim_rows_markdown(const struct rr_claim_rows *rows, FILE *file)
{
	char summary[200];

	fprintf(file, "# What the documents claim, and what is true of it\n\n"
		      "`redrace claims` plays every race named here on real servers, measures what is\n"
		      "left to chance, and prints this. A verdict is computed: a claim is true if all that\n"
		      "its races say of it holds, false if nothing does, true under a condition if some does,\n"
		      "and incomplete if the document says nothing about what is shown. `000:3-9` is lines 3\n"
		      "to 9 of document 000; derived claims are only implied there. Figures vary from run to\n"
		      "run. `redrace play RACE` shows a race step by step.\n");
	for (size_t i = 0; i < rows->n; i++) {
		const char *section = rr_claim_rows_section(rows, i);

		if (section)
			fprintf(file,
				"\n## %s\n\n| id | claim | document | verdict | observed | races |\n|---|---|---|---|---|---|\n",
				section);
		print_row(&rows->rows[i], file);
	}
	rr_claim_rows_summarise(rows, summary, sizeof(summary));
	fprintf(file, "\n%s%s%s.\n", summary,
		rows->version[0] ? " on Redis " : "", rows->version);
}

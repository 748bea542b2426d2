/* SPDX-License-Identifier: MIT */
/* docs/matrix.md. Links are relative to docs/. */
#include <string.h>

#include "bounds.h"
#include "hazards.h"
#include "explore/explore.h"
#include "matrix.h"
#include "base/text.h"

static void print_intro(FILE *file)
{
	fputs("# The safety matrix\n\n"
	      "Each row is a way of adding 1 to a counter that others add to as well, each column\n"
	      "something that may come between a client and its increment. `redrace matrix` learns from\n"
	      "the strategy's own code and real servers what each does, searches all states that the\n"
	      "column's bounds allow, with the fault at every possible point, and prints this. `make\n"
	      "matrix` writes it.\n\n"
	      "- **safe**: all interleavings keep the count exact and two clients never are inside at\n"
	      "  once, within the bounds below and not beyond. It is only said when a mutant, the strategy\n"
	      "  with one command weakened or left out, fails in the same search.\n"
	      "- *no failure found*: a client that is refused writes, so that there is no end of rounds\n"
	      "  to try; only so many were.\n"
	      "- Anything else is what breaks, and a link to the shortest interleaving found that shows\n"
	      "  it: `redrace play docs/matrix/FILE` plays it step by step.\n"
	      "- n/a: the hazard does not concern the strategy.\n\n",
	      file);
}

/* ---- The table ------------------------------------------------------------ */

static void print_head(const struct rr_matrix *matrix, FILE *file)
{
	fputs("| strategy |", file);
	for (int i = 0; i < RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, i))
			fprintf(file, " %s |", rr_hazard_texts[i].title);
	}
	fputs("\n|---|", file);
	for (int i = 0; i < RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, i))
			fputs("---|", file);
	}
	fputc('\n', file);
}

static void print_cell(const struct rr_cell *cell, FILE *file)
{
	static const char *const remarks[] = {
		[RR_CELL_AS_EXPECTED] = "",
		[RR_CELL_DIFFERS] = " (not as expected)",
		[RR_CELL_UNDECIDED] = " (undecided)",
	};
	char text[120], name[100];

	rr_cell_text(cell, text, sizeof(text));
	if (cell->transcript)
		fprintf(file, " [%s](matrix/%s)", text,
			rr_cell_file(cell, name, sizeof(name)));
	else if (cell->verdict == RR_CELL_SAFE)
		fprintf(file, " **%s**", text);
	else if (cell->verdict == RR_CELL_NONE)
		fprintf(file, " %s", text);
	else
		fprintf(file, " *%s*", text);
	fprintf(file, "%s |", remarks[rr_cell_standing(cell)]);
}

static void print_table(const struct rr_matrix *matrix, FILE *file)
{
	print_head(matrix, file);
	for (size_t i = 0; i < matrix->n_strategies; i++) {
		fprintf(file, "| [`%s`](../scenarios/%s.c) |",
			matrix->strategies[i]->name,
			matrix->strategies[i]->name);
		for (int k = 0; k < RR_HAZARDS; k++) {
			if (rr_matrix_has(matrix, k))
				print_cell(rr_matrix_cell(matrix, i, k), file);
		}
		fputc('\n', file);
	}
}

/* ---- Words ---------------------------------------------------------------- */

static void print_invariants(FILE *file)
{
	fputs("\n## What can break\n\n| word | means |\n|---|---|\n", file);
	for (int i = 0; i < RR_INVARIANTS; i++)
		fprintf(file, "| %s | %s |\n", rr_invariant_name(i),
			rr_invariant_meaning(i));
}

/* Strategies whose bounds are not the column's. */
static void print_exceptions(const struct rr_matrix *matrix, int hazard,
			     const char *bounds, FILE *file)
{
	char other[160];

	for (size_t i = 0; i < matrix->n_strategies; i++) {
		const struct rr_cell *cell = rr_matrix_cell(matrix, i, hazard);

		if (cell->verdict == RR_CELL_NONE ||
		    strcmp(rr_bounds_text(&cell->bounds, other, sizeof(other)),
			   bounds) == 0)
			continue;
		fprintf(file, "; `%s`: %s", cell->strategy->name, other);
	}
}

static void print_hazards(const struct rr_matrix *matrix, FILE *file)
{
	fputs("\n## The columns and their bounds\n\n"
	      "Each client makes one increment unless more are named.\n\n"
	      "| column | means | bounds |\n|---|---|---|\n",
	      file);
	for (int i = 0; i < RR_HAZARDS; i++) {
		const struct rr_explore_config bounds =
			rr_bounds_of(NULL, (enum rr_hazard)i);
		char text[160];

		if (!rr_matrix_has(matrix, i))
			continue;
		fprintf(file, "| %s | %s | %s", rr_hazard_texts[i].title,
			rr_hazard_texts[i].meaning,
			rr_bounds_text(&bounds, text, sizeof(text)));
		print_exceptions(matrix, i, text, file);
		fputs(" |\n", file);
	}
}

/* ---- Cells one by one ----------------------------------------------------- */

static void print_unbroken(const struct rr_cell *cell, FILE *file)
{
	char states[RR_GROUPED_SIZE], bounds[160], text[120];

	fprintf(file, "| `%s` | %s | %s | %s | %s | %s |\n",
		cell->strategy->name, rr_hazard_texts[cell->hazard].title,
		rr_cell_text(cell, text, sizeof(text)),
		rr_grouped(states, (long long)cell->states),
		rr_bounds_text(&cell->bounds, bounds, sizeof(bounds)),
		cell->mutant[0] ? cell->mutant : "none");
}

static void print_all_unbroken(const struct rr_matrix *matrix, FILE *file)
{
	fputs("\n## Cells in which nothing breaks\n\n"
	      "The mutant is the first that fails in the same search.\n\n"
	      "| strategy | hazard | verdict | states | bounds | mutant |\n"
	      "|---|---|---|---|---|---|\n",
	      file);
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		const struct rr_cell *cell = &matrix->cells[i];

		if (rr_matrix_has(matrix, cell->hazard) &&
		    (cell->verdict == RR_CELL_SAFE ||
		     cell->verdict == RR_CELL_ROUNDS ||
		     cell->verdict == RR_CELL_MOST ||
		     cell->verdict == RR_CELL_RANDOM ||
		     cell->verdict == RR_CELL_NO_MUTANT))
			print_unbroken(cell, file);
	}
}

/* "4 of 6"; "-" when they were not counted. */
static const char *failing_of(const struct rr_cell *cell, char *text,
			      size_t size)
{
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	if (cell->interleavings)
		snprintf(text, size, "%s of %s",
			 rr_grouped(failing, (long long)cell->failing),
			 rr_grouped(all, (long long)cell->interleavings));
	else
		snprintf(text, size, "-");
	return text;
}

static void print_broken(const struct rr_cell *cell, FILE *file)
{
	char states[RR_GROUPED_SIZE], failing[2 * RR_GROUPED_SIZE + 8];
	char text[120], name[100];

	fprintf(file, "| `%s` | %s | %s | %s%s | %s | ", cell->strategy->name,
		rr_hazard_texts[cell->hazard].title,
		rr_cell_text(cell, text, sizeof(text)),
		rr_grouped(states, (long long)cell->states),
		cell->was_cut ? ", and there are more" : "",
		failing_of(cell, failing, sizeof(failing)));
	if (cell->transcript)
		fprintf(file, "[%s](matrix/%s)", cell->verdict_text,
			rr_cell_file(cell, name, sizeof(name)));
	fputs(" |\n", file);
}

static void print_all_broken(const struct rr_matrix *matrix, FILE *file)
{
	fputs("\n## Cells in which something breaks\n\n"
	      "The last column is what `redrace play` says of the shortest failing interleaving,\n"
	      "which need not show all that can break. Interleavings are not counted where clients may\n"
	      "ask again without end.\n\n"
	      "| strategy | hazard | breaks | states | failing interleavings | transcript |\n"
	      "|---|---|---|---|---|---|\n",
	      file);
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, matrix->cells[i].hazard) &&
		    matrix->cells[i].verdict == RR_CELL_BREAKS)
			print_broken(&matrix->cells[i], file);
	}
}

void rr_matrix_markdown(const struct rr_matrix *matrix, FILE *file)
{
	char summary[200];

	print_intro(file);
	print_table(matrix, file);
	print_invariants(file);
	print_hazards(matrix, file);
	print_all_unbroken(matrix, file);
	print_all_broken(matrix, file);
	rr_matrix_summarise(matrix, summary, sizeof(summary));
	fprintf(file, "\n%s%s%s.\n", summary,
		matrix->version[0] ? ", Redis " : "", matrix->version);
}

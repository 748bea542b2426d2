/* SPDX-License-Identifier: MIT */
/* The matrix for a terminal, 100 columns wide. */
#include <string.h>

#include "bounds.h"
#include "hazards.h"
#include "matrix.h"

enum { NAME = 20 };

/* As wide as its widest cell. */
static int width_of(const struct rr_matrix *matrix, int hazard)
{
	size_t width = strlen(rr_hazard_texts[hazard].name);
	char word[RR_CELL_WORD];

	for (size_t i = 0; i < matrix->n_strategies; i++) {
		const size_t length = strlen(rr_cell_word(
			rr_matrix_cell(matrix, i, hazard), word));

		if (length > width)
			width = length;
	}
	return (int)width;
}

/* One cell of a line; the last one ends it. */
static void print_word(const struct rr_matrix *matrix, int hazard, char mark,
		       const char *word, FILE *file)
{
	if (matrix->hazards >> hazard == 1)
		fprintf(file, "%c%s\n", mark, word);
	else if (rr_matrix_has(matrix, hazard))
		fprintf(file, "%c%-*s", mark, width_of(matrix, hazard), word);
}

static void print_head(const struct rr_matrix *matrix, FILE *file)
{
	fprintf(file, "%-*s", NAME, "strategy");
	for (int i = 0; i < RR_HAZARDS; i++)
		print_word(matrix, i, ' ', rr_hazard_texts[i].name, file);
}

/* A cell that is not as expected has a mark before it. */
static void print_row(const struct rr_matrix *matrix, size_t row, FILE *file)
{
	static const char marks[] = {
		[RR_CELL_AS_EXPECTED] = ' ',
		[RR_CELL_DIFFERS] = '!',
		[RR_CELL_UNDECIDED] = '?',
	};
	char word[RR_CELL_WORD];

	fprintf(file, "%-*s", NAME, matrix->strategies[row]->name);
	for (int i = 0; i < RR_HAZARDS; i++) {
		const struct rr_cell *cell = rr_matrix_cell(matrix, row, i);

		print_word(matrix, i,
			   cell->verdict == RR_CELL_UNDONE ?
				   ' ' :
				   marks[rr_cell_standing(cell)],
			   rr_cell_word(cell, word), file);
	}
}

static void print_legend(FILE *file)
{
	fputs("\nsafe N     all N states keep everything, and a mutant (a weakened command) is noticed\n"
	      "N rounds   no failure found; refused clients write, and were cut after N rounds\n"
	      "cut        no failure found; there are more states than were seen\n"
	      "random     no failure found; a server answered at random\n"
	      "no mutant  nothing fails, nor does any mutant\n"
	      "CELODS     what breaks: Count, Exclusion, Lease (two inside while the first one's runs),\n"
	      "           Ownership (a stranger's lock was removed or changed), Deadlock, Starvation\n"
	      "!          not as the strategy's table expects        ?  undecided\n",
	      file);
}

static void print_difference(const struct rr_cell *cell, FILE *file)
{
	char expected[120], found[120], bounds[160];

	fprintf(file, "%s %s, %s: expected: %s; computed: %s; %s\n",
		rr_cell_standing(cell) == RR_CELL_DIFFERS ? "!" : "?",
		cell->strategy->name, rr_hazard_texts[cell->hazard].title,
		rr_cell_expected(cell, expected, sizeof(expected)),
		rr_cell_text(cell, found, sizeof(found)),
		rr_bounds_text(&cell->bounds, bounds, sizeof(bounds)));
	if (cell->was_cut)
		fputs("  there are more states than were seen\n", file);
	if (cell->problem[0])
		fprintf(file, "  %s\n", cell->problem);
}

static void print_differences(const struct rr_matrix *matrix, FILE *file)
{
	bool is_first = true;

	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		const struct rr_cell *cell = &matrix->cells[i];

		if (!rr_matrix_has(matrix, cell->hazard) ||
		    rr_cell_standing(cell) == RR_CELL_AS_EXPECTED ||
		    cell->verdict == RR_CELL_UNDONE)
			continue;
		if (is_first)
			fputc('\n', file);
		is_first = false;
		print_difference(cell, file);
	}
}

static void print_skipped(const struct rr_matrix *matrix, FILE *file)
{
	for (size_t i = 0; i < matrix->n_strategies; i++) {
		for (int k = 0; k < RR_HAZARDS; k++) {
			const struct rr_cell *cell =
				rr_matrix_cell(matrix, i, k);

			if (cell->verdict != RR_CELL_SKIPPED)
				continue;
			fprintf(file, "\nskipped: %s needs %s\n",
				cell->strategy->name, cell->problem);
			break;
		}
	}
}

void rr_matrix_text(const struct rr_matrix *matrix, FILE *file)
{
	char summary[200];

	print_head(matrix, file);
	for (size_t i = 0; i < matrix->n_strategies; i++)
		print_row(matrix, i, file);
	print_legend(file);
	print_skipped(matrix, file);
	print_differences(matrix, file);
	rr_matrix_summarise(matrix, summary, sizeof(summary));
	fprintf(file, "\n%s%s%s\n", summary,
		matrix->version[0] ? ", Redis " : "", matrix->version);
}

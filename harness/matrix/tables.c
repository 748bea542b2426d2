/* SPDX-License-Identifier: MIT */
/* The matrix for a terminal, in blocks of columns, and as docs/matrix.md. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cell.h"

/* The summary as a line of its own, with the server's version if that is known. */
static void sign_matrix(const struct rr_matrix *matrix, FILE *file)
{
	fputc('\n', file);
	rr_matrix_summarise(matrix, file);
	if (matrix->version[0])
		fprintf(file, ", %s", matrix->version);
}

/* ---- For a terminal ----------------------------------------------------------- */

enum { NAME = 20 };

/* As wide as its widest cell. */
static int column_width(const struct rr_matrix *matrix, int hazard)
{
	size_t width = strlen(rr_hazard_texts[hazard].name);

	for (size_t i = 0; i < matrix->n_strategies; i++) {
		const struct rr_cell_words words = rr_cell_words(rr_matrix_cell(matrix, i, hazard));

		if (strlen(words.word) > width)
			width = strlen(words.word);
	}
	return (int)width;
}

/* Columns that stand side by side: from .first to before .end. */
struct block {
	int first, end;
};

/* As many as a line has room for beside the names. */
static struct block block_from(const struct rr_matrix *matrix, int first)
{
	struct block block = { first, first };
	int width = NAME;

	do {
		width += 1 + column_width(matrix, block.end);
		block.end = rr_matrix_column(matrix, block.end);
	} while (block.end < RR_HAZARDS &&
		 width + 1 + column_width(matrix, block.end) <= RR_COLUMNS);
	return block;
}

/* One cell of a line; the last one ends it. */
static void print_word(const struct rr_matrix *matrix, const struct block *block, int hazard,
		       char mark, const char *word, FILE *file)
{
	if (rr_matrix_column(matrix, hazard) == block->end)
		fprintf(file, "%c%s\n", mark, word);
	else
		fprintf(file, "%c%-*s", mark, column_width(matrix, hazard), word);
}

/* A cell that is not as expected has a mark before it. */
static const char marks[] = {
	[RR_CELL_AS_EXPECTED] = ' ',
	[RR_CELL_DIFFERS] = '!',
	[RR_CELL_UNDECIDED] = '?',
};

static void print_block(const struct rr_matrix *matrix, const struct block *block, FILE *file)
{
	const struct rr_cell *cell = NULL;

	fprintf(file, "%-*s", NAME, "strategy");
	for (int i = block->first; i < block->end; i = rr_matrix_column(matrix, i))
		print_word(matrix, block, i, ' ', rr_hazard_texts[i].name, file);
	while ((cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);

		if ((int)cell->hazard < block->first || (int)cell->hazard >= block->end)
			continue;
		if ((int)cell->hazard == block->first)
			fprintf(file, "%-*s", NAME, words.strategy);
		print_word(matrix, block, cell->hazard,
			   cell->verdict == RR_CELL_UNDONE ? ' ' : marks[words.standing],
			   words.word, file);
	}
}

void rr_matrix_text(const struct rr_matrix *matrix, FILE *file)
{
	struct block block = block_from(matrix, rr_matrix_column(matrix, -1));
	const struct rr_strategy *last = NULL;
	const struct rr_cell *cell = NULL;
	const char *before = "\n";

	print_block(matrix, &block, file);
	while (block.end < RR_HAZARDS) {
		block = block_from(matrix, block.end);
		fputc('\n', file);
		print_block(matrix, &block, file);
	}
	fputs("\nsafe N     all N states keep everything; a mutant (a weak command) is noticed\n"
	      "N rounds   no failure found; refused clients write, were stopped after N rounds\n"
	      "cut        no failure found; there are more states than were seen\n"
	      "random     no failure found; a server answered at random\n"
	      "no mutant  nothing fails, nor does any mutant\n"
	      "CELODS     what breaks: Count, Exclusion, Lease (the same while the first lease\n"
	      "           runs), Ownership (another client's lock was removed or changed),\n"
	      "           Deadlock, Starvation\n"
	      "!          not as the strategy's table expects        ?  undecided\n",
	      file);
	/* Each strategy once. */
	while ((cell = rr_matrix_next(matrix, cell))) {
		if (cell->verdict != RR_CELL_SKIPPED || cell->strategy == last)
			continue;
		last = cell->strategy;
		fputc('\n', file);
		rr_print_sentence(file, 0, 2, "skipped: %s needs %s", last->name,
				  cell->result.error.text);
	}
	while ((cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);

		if (words.standing == RR_CELL_AS_EXPECTED || cell->verdict == RR_CELL_UNDONE)
			continue;
		fputs(before, file);
		before = "";
		rr_print_sentence(file, 0, 2, "%c %s, %s: expected: %s; computed: %s; %s",
				  marks[words.standing], words.strategy, words.hazard,
				  words.expected, words.text, words.bounds);
		if (cell->was_cut)
			fputs("  there are more states than were seen\n", file);

		char found[RR_SMALLEST_SIZE], expected[RR_SMALLEST_SIZE];

		if (!rr_is_smallest_expected(&cell->bounds, &cell->result) &&
		    rr_smallest_text(cell->result.smallest, found)[0] &&
		    rr_smallest_expected(&cell->bounds, expected))
			fprintf(file,
				"  smallest findings expected: %s\n                    computed: %s\n",
				expected, found);
		if (cell->result.error.text[0])
			rr_print_sentence(file, 2, 4, "%s", cell->result.error.text);
	}

	char *text;
	FILE *sign = rr_open_text(&text);

	sign_matrix(matrix, sign);
	fclose(sign);
	fputc('\n', file);
	rr_print_wrapped(file, text + 1, 0, 0); /* behind the newline that it begins with */
	free(text);
}

/* ---- Markdown: the table. Links are relative to docs/ ----------------------------- */

static const char intro[] =
	"# The safety matrix\n\n"
	"Each row is a way of adding 1 to a counter that others add to as well, each column\n"
	"something that may come between a client and its increment. `redrace matrix` learns from\n"
	"the strategy's own code and real servers what each does, searches all states that the\n"
	"column's bounds allow, with the fault at every possible point, and prints this. `make\n"
	"matrix` writes it.\n\n"
	"- **safe**: all interleavings keep the count exact, and two clients are never in the critical\n"
	"  section at once, within the bounds below and not beyond. The verdict is given only if a\n"
	"  mutant, the strategy with one command weakened or left out, fails in the same search.\n"
	"- *no failure found*: a client that is refused writes something each time, so that the states\n"
	"  have no end; only so many rounds were searched.\n"
	"- Any other cell names what breaks and links the shortest interleaving found that shows it:\n"
	"  `redrace play docs/matrix/FILE` plays it step by step.\n"
	"- n/a: the hazard does not concern the strategy.\n\n";

static void print_md_cell(const struct rr_cell *cell, FILE *file)
{
	static const char *const remarks[] = {
		[RR_CELL_AS_EXPECTED] = "",
		[RR_CELL_DIFFERS] = " (not as expected); expected: ",
		[RR_CELL_UNDECIDED] = " (undecided); expected: ",
	};
	const struct rr_cell_words words = rr_cell_words(cell);
	const char *emphasis = cell->verdict == RR_CELL_SAFE ? "**" :
			       cell->verdict == RR_CELL_NONE ? "" :
							       "*";

	if (cell->transcript)
		fprintf(file, " [%s](matrix/%s)", words.text, words.file);
	else
		fprintf(file, " %s%s%s", emphasis, words.text, emphasis);
	fprintf(file, "%s%s |", remarks[words.standing],
		words.standing == RR_CELL_AS_EXPECTED ? "" : words.expected);
}

/* ---- Markdown: words --------------------------------------------------------------- */

static void print_md_hazards(const struct rr_matrix *matrix, FILE *file)
{
	fputs("\n## The columns and their bounds\n\n"
	      "Each client makes one increment unless more are named.\n\n"
	      "| column | means | bounds |\n|---|---|---|\n",
	      file);
	for (int i = rr_matrix_column(matrix, -1); i < RR_HAZARDS;
	     i = rr_matrix_column(matrix, i)) {
		const struct rr_explore_config bounds = rr_bounds_of(NULL, (enum rr_hazard)i);
		char text[RR_BOUNDS_SIZE];

		fprintf(file, "| %s | %s | %s", rr_hazard_texts[i].title,
			rr_hazard_texts[i].meaning, rr_bounds_text(&bounds, text));

		/* Strategies whose bounds are not the column's. */
		char other[RR_BOUNDS_SIZE];

		for (size_t j = 0; j < matrix->n_strategies; j++) {
			const struct rr_cell *cell = rr_matrix_cell(matrix, j, i);

			if (cell->verdict != RR_CELL_NONE &&
			    strcmp(rr_bounds_text(&cell->bounds, other), text) != 0)
				fprintf(file, "; `%s`: %s", cell->strategy->name, other);
		}
		fputs(" |\n", file);
	}
}

/* ---- Markdown: cells one by one ------------------------------------------------------ */

static void print_md_unbroken(const struct rr_matrix *matrix, FILE *file)
{
	const struct rr_cell *cell = NULL;

	fputs("\n## Cells in which nothing breaks\n\n"
	      "The mutant is the first that fails in the same search.\n\n"
	      "| strategy | hazard | verdict | states | bounds | mutant |\n"
	      "|---|---|---|---|---|---|\n",
	      file);
	while ((cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);

		if (words.verdict->is_unbroken)
			fprintf(file, "| `%s` | %s | %s | %s | %s | %s |\n", words.strategy,
				words.hazard, words.text, words.states, words.bounds,
				cell->result.noticed[0] ? cell->result.noticed : "none");
	}
}

static void print_md_broken(const struct rr_matrix *matrix, FILE *file)
{
	const struct rr_cell *cell = NULL;

	fputs("\n## Cells in which something breaks\n\n"
	      "The last column is what `redrace play` says of the shortest failing interleaving,\n"
	      "which need not show all that can break. Interleavings are not counted where clients may\n"
	      "ask again without end.\n\n"
	      "| strategy | hazard | breaks | states | failing interleavings | transcript |\n"
	      "|---|---|---|---|---|---|\n",
	      file);
	while ((cell = rr_matrix_next(matrix, cell))) {
		const struct rr_cell_words words = rr_cell_words(cell);

		if (cell->verdict != RR_CELL_BREAKS)
			continue;
		fprintf(file, "| `%s` | %s | %s | %s%s | %s | ", words.strategy, words.hazard,
			words.text, words.states, cell->was_cut ? ", and there are more" : "",
			words.failing[0] ? words.failing : "-");
		if (cell->transcript)
			fprintf(file, "[%s](matrix/%s)", cell->verdict_text, words.file);
		fputs(" |\n", file);
	}
}

void rr_matrix_markdown(const struct rr_matrix *matrix, FILE *file)
{
	static const char *const meanings[RR_INVARIANTS] = {
		"the final value is not the number of acknowledged increments",
		"two clients were in the critical section at once",
		"two clients were in the critical section, and the lease of the first had not expired: not the holder's fault",
		"a client other than the holder removed or changed a lock",
		"no client can make progress",
		"clients keep asking for ever, and none gets the lock",
	};
	const int first = rr_matrix_column(matrix, -1);
	const struct rr_cell *cell = NULL;

	fputs(intro, file);
	fputs("| strategy |", file);
	for (int i = first; i < RR_HAZARDS; i = rr_matrix_column(matrix, i))
		fprintf(file, " %s |", rr_hazard_texts[i].title);
	fputs("\n|---|", file);
	for (int i = first; i < RR_HAZARDS; i = rr_matrix_column(matrix, i))
		fputs("---|", file);
	fputc('\n', file);
	while ((cell = rr_matrix_next(matrix, cell))) {
		if ((int)cell->hazard == first)
			fprintf(file, "| [`%s`](../scenarios/%s.c) |", cell->strategy->name,
				cell->strategy->name);
		print_md_cell(cell, file);
		if (rr_matrix_column(matrix, cell->hazard) == RR_HAZARDS)
			fputc('\n', file);
	}
	fputs("\n## What can break\n\n| word | means |\n|---|---|\n", file);
	for (int i = 0; i < RR_INVARIANTS; i++)
		fprintf(file, "| %s | %s |\n", rr_invariant_name(i), meanings[i]);
	print_md_hazards(matrix, file);
	print_md_unbroken(matrix, file);
	print_md_broken(matrix, file);
	sign_matrix(matrix, file);
	fputs(".\n", file);
}

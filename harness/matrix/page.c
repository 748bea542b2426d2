/* SPDX-License-Identifier: MIT */
/* The matrix as one page that needs nothing else. */
#include "base/text.h"
#include "cell.h"
#include "draw/draw.h"

/* ---- The page: its table -------------------------------------------------- */

static const char introduction[] =
	"<h1>The safety matrix</h1>\n"
	"<p>Each row is a way of adding 1 to a counter, each column something that may come in between. "
	"All states within the bounds were searched, learned from the strategy's own code and real servers. "
	"✓ safe: nothing breaks, and a mutant, a weakened command, is noticed. "
	"✗: what breaks; the link opens the shortest interleaving that was found. "
	"~: no failure was found, and it is not proved that there is none. "
	"–: the hazard does not concern the strategy, or the server lacks what it needs.</p>\n";

void rr_cell_id(const struct rr_cell *cell, char id[RR_CELL_ID])
{
	snprintf(id, RR_CELL_ID, "%s-%s", cell->strategy->name, rr_hazard_texts[cell->hazard].name);
}

/* `in_site`: what fails is a page beside this one, not a part of it. */
static void put_cell(const struct rr_cell *cell, bool in_site, FILE *file)
{
	static const char *const remarks[] = {
		[RR_CELL_DIFFERS] = "differs",
		[RR_CELL_UNDECIDED] = "undecided",
	};
	const struct rr_cell_words words = rr_cell_words(cell);
	char id[RR_CELL_ID];

	fprintf(file, "<td class=\"%s%s\">%s ", words.verdict->class,
		words.standing == RR_CELL_DIFFERS ? " differs" : "", words.verdict->symbol);
	if (cell->drawing) {
		rr_cell_id(cell, id);
		fprintf(file,
			in_site ? "<a href=\"matrix/%s.html\">%s</a>" : "<a href=\"#%s\">%s</a>",
			id, words.text);
	} else {
		fputs(words.text, file);
	}
	if (cell->verdict == RR_CELL_SAFE)
		fprintf(file, "<br/>%s states", words.states);
	if (words.standing != RR_CELL_AS_EXPECTED)
		fprintf(file, "<br/><strong>%s</strong>, expected: %s", remarks[words.standing],
			words.expected);
	fputs("</td>", file);
}

static void put_table(const struct rr_matrix *matrix, bool in_site, FILE *file)
{
	const int first = rr_matrix_column(matrix, -1);
	const struct rr_cell *cell = NULL;

	fputs("<p class=\"quiet\">", file);
	rr_matrix_summarise(matrix, file);
	fputs("</p>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"The matrix\"><table class=\"matrix\">\n<thead><tr><th scope=\"col\">strategy</th>",
	      file);
	for (int i = first; i < RR_HAZARDS; i = rr_matrix_column(matrix, i))
		fprintf(file, "<th scope=\"col\">%s</th>", rr_hazard_texts[i].title);
	fputs("</tr></thead>\n<tbody>\n", file);
	while ((cell = rr_matrix_next(matrix, cell))) {
		if ((int)cell->hazard == first)
			fprintf(file, "<tr><th scope=\"row\"><code>%s</code></th>",
				cell->strategy->name);
		put_cell(cell, in_site, file);
		if (rr_matrix_column(matrix, cell->hazard) == RR_HAZARDS)
			fputs("</tr>\n", file);
	}
	fputs("</tbody></table></div>\n", file);
}

/* ---- The page: words ------------------------------------------------------ */

static void put_hazards(const struct rr_matrix *matrix, FILE *file)
{
	char text[RR_BOUNDS_SIZE];

	fputs("<h2>The columns and their bounds</h2>\n<table class=\"words\">\n<thead><tr>"
	      "<th scope=\"col\">column</th><th scope=\"col\">means</th>"
	      "<th scope=\"col\">bounds</th></tr></thead>\n<tbody>\n",
	      file);
	for (int i = rr_matrix_column(matrix, -1); i < RR_HAZARDS;
	     i = rr_matrix_column(matrix, i)) {
		const struct rr_explore_config bounds = rr_bounds_of(NULL, (enum rr_hazard)i);

		rr_xml_print(file, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>\n",
			     rr_hazard_texts[i].title, rr_hazard_texts[i].meaning,
			     rr_bounds_text(&bounds, text));
	}
	fputs("</tbody></table>\n", file);
}

static void put_breakable(FILE *file)
{
	fputs("<h2>What can break</h2>\n<dl>\n", file);
	for (int i = 0; i < RR_INVARIANTS; i++)
		rr_xml_print(file, "<dt>%s</dt><dd>%s</dd>\n", rr_invariant_name(i),
			     rr_invariant_meaning(i));
	fputs("</dl>\n", file);
}

/* ---- A cell's interleaving -------------------------------------------------- */

void rr_cell_title(const struct rr_cell *cell, char title[RR_CELL_TITLE])
{
	const struct rr_cell_words words = rr_cell_words(cell);

	snprintf(title, RR_CELL_TITLE, "%s, %s: %s", words.strategy, words.hazard, words.text);
}

void rr_cell_html(const struct rr_cell *cell, FILE *file)
{
	const struct rr_cell_words words = rr_cell_words(cell);

	rr_xml_print(file, "<p>%s states", words.states);
	if (words.failing[0])
		rr_xml_print(file, "; %s interleavings fail", words.failing);
	rr_xml_print(file, ". Bounds: %s</p>\n", words.bounds);
	fputs(cell->drawing, file);
}

static void put_interleaving(const struct rr_cell *cell, FILE *file)
{
	char id[RR_CELL_ID], title[RR_CELL_TITLE];

	rr_cell_id(cell, id);
	rr_cell_title(cell, title);
	rr_xml_print(file, "<details id=\"%s\"><summary>%s</summary>\n", id, title);
	rr_cell_html(cell, file);
	fputs("</details>\n", file);
}

const struct rr_cell *rr_matrix_next_page(const struct rr_matrix *matrix,
					  const struct rr_cell *cell)
{
	do
		cell = rr_matrix_next(matrix, cell);
	while (cell && !cell->drawing);
	return cell;
}

/* ---- The whole ---------------------------------------------------------------- */

void rr_matrix_html_part(const struct rr_matrix *matrix, bool in_site, FILE *file)
{
	fputs(introduction, file);
	put_table(matrix, in_site, file);
	put_hazards(matrix, file);
	put_breakable(file);
}

void rr_matrix_html(const struct rr_matrix *matrix, FILE *file)
{
	const struct rr_cell *cell = NULL;

	rr_page_begin(file, "The safety matrix");
	rr_matrix_html_part(matrix, false, file);
	fputs("<h2>The shortest failing interleavings</h2>\n", file);
	while ((cell = rr_matrix_next_page(matrix, cell)))
		put_interleaving(cell, file);
	if (matrix->version[0])
		fprintf(file, "<p>%s.</p>\n", matrix->version);
	rr_page_end(file, rr_race_script);
}

/* SPDX-License-Identifier: MIT */
/* The matrix as one page that needs nothing else. */
#include "bounds.h"
#include "hazards.h"
#include "explore/explore.h"
#include "matrix.h"
#include "base/text.h"
#include "base/xml.h"

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<title>The safety matrix</title>\n"
	"<style>\n"
	"body{font:16px/1.5 Arial,'Liberation Sans',Helvetica,system-ui,sans-serif;color:#111;background:#fff;max-width:80rem;margin:0 auto;padding:1rem}\n"
	".wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;font-size:14px}\n"
	"th,td{border:1px solid #bbb;padding:.3rem .5rem;text-align:left;vertical-align:top}\n"
	"caption{text-align:left;padding:.3rem 0}\n"
	"code,pre{font:13px/1.3 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	"pre{overflow-x:auto;background:#f6f6f6;padding:.6rem}\n"
	"td a{color:inherit}\n"
	".safe{background:#dff2e1}\n"
	".breaks{background:#fde2d6}\n"
	".open{background:#fdf5cf}\n"
	".none{background:#f1f1f1;color:#444}\n"
	".differs{outline:3px solid #a00;outline-offset:-3px}\n"
	"details{margin:.3rem 0}\n"
	"</style>\n</head>\n<body>\n<h1>The safety matrix</h1>\n"
	"<p>Each row is a way of adding 1 to a counter, each column something that may come in between. "
	"All states within the bounds were searched, learned from the strategy's own code and real servers. "
	"✓ safe: nothing breaks, and a mutant, a weakened command, is noticed. "
	"✗: what breaks; the link shows the shortest interleaving that was found. "
	"~: no failure was found, and it is not proved that there is none. "
	"–: the hazard does not concern the strategy, or the server lacks what it needs.</p>\n";

/* ---- The table ------------------------------------------------------------ */

static const struct look {
	const char *class;
	const char *symbol;
} looks[] = {
	[RR_CELL_UNDONE] = { "none", "?" },
	[RR_CELL_NONE] = { "none", "–" },
	[RR_CELL_BREAKS] = { "breaks", "✗" },
	[RR_CELL_SAFE] = { "safe", "✓" },
	[RR_CELL_ROUNDS] = { "open", "~" },
	[RR_CELL_MOST] = { "open", "~" },
	[RR_CELL_RANDOM] = { "open", "~" },
	[RR_CELL_NO_MUTANT] = { "open", "~" },
	[RR_CELL_SKIPPED] = { "none", "–" },
	[RR_CELL_FAILED] = { "none", "?" },
};

static void put_id(const struct rr_cell *cell, FILE *file)
{
	fprintf(file, "%s-%s", cell->strategy->name,
		rr_hazard_texts[cell->hazard].name);
}

static void put_remark(const struct rr_cell *cell, FILE *file)
{
	char expected[120];

	if (rr_cell_standing(cell) == RR_CELL_AS_EXPECTED)
		return;
	fprintf(file, "<br><strong>%s</strong>, expected: %s",
		rr_cell_standing(cell) == RR_CELL_DIFFERS ? "differs" :
							    "undecided",
		rr_cell_expected(cell, expected, sizeof(expected)));
}

static void put_cell(const struct rr_cell *cell, FILE *file)
{
	char text[120], number[RR_GROUPED_SIZE];

	rr_cell_text(cell, text, sizeof(text));
	fprintf(file, "<td class=\"%s%s\">%s ", looks[cell->verdict].class,
		rr_cell_standing(cell) == RR_CELL_DIFFERS ? " differs" : "",
		looks[cell->verdict].symbol);
	if (cell->drawing) {
		fputs("<a href=\"#", file);
		put_id(cell, file);
		fprintf(file, "\">%s</a>", text);
	} else {
		fputs(text, file);
	}
	if (cell->verdict == RR_CELL_SAFE)
		fprintf(file, "<br>%s states",
			rr_grouped(number, (long long)cell->states));
	put_remark(cell, file);
	fputs("</td>", file);
}

static void put_table(const struct rr_matrix *matrix, FILE *file)
{
	char summary[200];

	rr_matrix_summarise(matrix, summary, sizeof(summary));
	fprintf(file,
		"<div class=\"wide\"><table>\n<caption>%s</caption>\n"
		"<thead><tr><th scope=\"col\">strategy</th>",
		summary);
	for (int i = 0; i < RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, i))
			fprintf(file, "<th scope=\"col\">%s</th>",
				rr_hazard_texts[i].title);
	}
	fputs("</tr></thead>\n<tbody>\n", file);
	for (size_t i = 0; i < matrix->n_strategies; i++) {
		fprintf(file, "<tr><th scope=\"row\"><code>%s</code></th>",
			matrix->strategies[i]->name);
		for (int k = 0; k < RR_HAZARDS; k++) {
			if (rr_matrix_has(matrix, k))
				put_cell(rr_matrix_cell(matrix, i, k), file);
		}
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table></div>\n", file);
}

/* ---- Words ---------------------------------------------------------------- */

static void put_hazards(const struct rr_matrix *matrix, FILE *file)
{
	fputs("<h2>The columns and their bounds</h2>\n<table>\n<thead><tr>"
	      "<th scope=\"col\">column</th><th scope=\"col\">means</th>"
	      "<th scope=\"col\">bounds</th></tr></thead>\n<tbody>\n",
	      file);
	for (int i = 0; i < RR_HAZARDS; i++) {
		const struct rr_explore_config bounds =
			rr_bounds_of(NULL, (enum rr_hazard)i);
		char text[160];

		if (!rr_matrix_has(matrix, i))
			continue;
		fprintf(file, "<tr><th scope=\"row\">%s</th><td>",
			rr_hazard_texts[i].title);
		rr_xml_text(file, rr_hazard_texts[i].meaning);
		fputs("</td><td>", file);
		rr_xml_text(file, rr_bounds_text(&bounds, text, sizeof(text)));
		fputs("</td></tr>\n", file);
	}
	fputs("</tbody></table>\n", file);
}

static void put_invariants(FILE *file)
{
	fputs("<h2>What can break</h2>\n<dl>\n", file);
	for (int i = 0; i < RR_INVARIANTS; i++) {
		fprintf(file, "<dt>%s</dt><dd>", rr_invariant_name(i));
		rr_xml_text(file, rr_invariant_meaning(i));
		fputs("</dd>\n", file);
	}
	fputs("</dl>\n", file);
}

/* ---- Interleavings -------------------------------------------------------- */

static void put_details(const struct rr_cell *cell, FILE *file)
{
	char text[160], states[RR_GROUPED_SIZE];
	char failing[RR_GROUPED_SIZE], all[RR_GROUPED_SIZE];

	fputs("<details id=\"", file);
	put_id(cell, file);
	fprintf(file,
		"\"><summary>%s, %s: %s (%s states",
		cell->strategy->name, rr_hazard_texts[cell->hazard].title,
		rr_cell_text(cell, text, sizeof(text)),
		rr_grouped(states, (long long)cell->states));
	if (cell->interleavings)
		fprintf(file, "; %s of %s interleavings fail",
			rr_grouped(failing, (long long)cell->failing),
			rr_grouped(all, (long long)cell->interleavings));
	fputs(")</summary>\n<p>Bounds: ", file);
	rr_xml_text(file, rr_bounds_text(&cell->bounds, text, sizeof(text)));
	fputs("</p>\n<pre>", file);
	rr_xml_text(file, cell->drawing);
	fputs("</pre>\n</details>\n", file);
}

/* A link must open what it leads to. */
static const char script[] =
	"<script>\n"
	"function show(){const e=document.getElementById(location.hash.slice(1));"
	"if(e&&e.tagName==='DETAILS'){e.open=true;e.scrollIntoView();}}\n"
	"addEventListener('hashchange',show);show();\n"
	"</script>\n";

void rr_matrix_html(const struct rr_matrix *matrix, FILE *file)
{
	fputs(head, file);
	put_table(matrix, file);
	put_hazards(matrix, file);
	put_invariants(file);
	fputs("<h2>The shortest failing interleavings</h2>\n", file);
	for (size_t i = 0; i < matrix->n_strategies * RR_HAZARDS; i++) {
		if (rr_matrix_has(matrix, matrix->cells[i].hazard) &&
		    matrix->cells[i].drawing)
			put_details(&matrix->cells[i], file);
	}
	if (matrix->version[0])
		fprintf(file, "<p>Redis %s.</p>\n", matrix->version);
	fprintf(file, "%s</body>\n</html>\n", script);
}

/* SPDX-License-Identifier: MIT */
/* The matrix as one page that needs nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cell.h"
#include "draw/draw.h"

void rr_cell_id(const struct rr_cell *cell, char id[RR_CELL_ID])
{
	snprintf(id, RR_CELL_ID, "%s-%s", cell->strategy->name, rr_hazard_texts[cell->hazard].name);
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

const struct rr_cell *rr_matrix_next_page(const struct rr_matrix *matrix,
					  const struct rr_cell *cell)
{
	do
		cell = rr_matrix_next(matrix, cell);
	while (cell && !cell->drawing);
	return cell;
}

bool rr_matrix_has_page(const struct rr_matrix *matrix, const char *name)
{
	const struct rr_cell *cell = NULL;
	char id[RR_CELL_ID];

	while ((cell = rr_matrix_next_page(matrix, cell))) {
		rr_cell_id(cell, id);
		if (strcmp(id, name) == 0)
			return true;
	}
	return false;
}

/* ---- The whole ---------------------------------------------------------------- */

void rr_matrix_html_part(const struct rr_matrix *matrix, struct rr_markdown how, FILE *file)
{
	static const char *const classes[][2] = {
		{ "(not as expected)", "differs" },
		{ "<strong>safe</strong>", "safe" },
		{ "<td><a ", "breaks" },
		{ "<em>no failure found", "open" },
		{ ">n/a</td>", "none" },
		{ NULL, NULL },
	};
	char *text;
	FILE *markdown = rr_open_text(&text);

	rr_matrix_markdown(matrix, markdown);
	fclose(markdown);
	how.table = "matrix";
	how.classes = classes;
	rr_markdown_print_html(file, text, &how);
}

/* "matrix/none-threads.race" is below, "#none-threads"; strategies are not there. */
static char *find_below(void *matrix, const char *target)
{
	static const char folder[] = "matrix/", suffix[] = ".race";
	char *name = NULL, *found = NULL;

	if (strncmp(target, folder, strlen(folder)) == 0 && rr_ends_in(target, suffix))
		name = rr_strndup(target + strlen(folder),
				  strlen(target) - strlen(folder) - strlen(suffix));
	if (name && rr_matrix_has_page(matrix, name))
		found = rr_asprintf("#%s", name);
	free(name);
	return found;
}

void rr_matrix_html(const struct rr_matrix *matrix, FILE *file)
{
	const struct rr_markdown how = { .find_target = find_below, .context = (void *)matrix };
	const struct rr_cell *cell = NULL;

	rr_page_begin(file, "The safety matrix", NULL);
	rr_matrix_html_part(matrix, how, file);
	fputs("<h2>The shortest failing interleavings</h2>\n", file);
	while ((cell = rr_matrix_next_page(matrix, cell))) {
		char id[RR_CELL_ID], title[RR_CELL_TITLE];

		rr_cell_id(cell, id);
		rr_cell_title(cell, title);
		rr_xml_print(file, "<details id=\"%s\"><summary>%s</summary>\n", id, title);
		rr_cell_html(cell, file);
		fputs("</details>\n", file);
	}
	rr_page_end(file, rr_race_script);
}

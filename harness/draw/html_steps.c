/* SPDX-License-Identifier: MIT */
/* The steps of a race on a page: a picture, and a list that style.css shows in its place
 * where the page is narrow. */
#include <stdlib.h>

#include "base/text.h"
#include "html.h"

size_t rr_html_step_of(const struct rr_picture *picture, size_t row)
{
	const struct rr_row *rows = picture->rows;

	/* What was there at the beginning. */
	if (!rows[row].event && rows[row].kind != RR_ROW_FOLD)
		return 0;
	for (size_t i = row; i < picture->n_rows; i++) {
		if (rows[i].number)
			return rows[i].number;
	}
	while (row > 0 && !rows[row].number)
		row--;
	return rows[row].number;
}

/* ---- Overwrites ---------------------------------------------------------- */

bool rr_html_overwrites(const struct rr_html *html, size_t row)
{
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++) {
		if (html->knowledge->overwrites[i].write == row)
			return true;
	}
	return false;
}

/* The number of the first step after which that client's look is stale. */
static size_t find_stale_step(const struct rr_html *html, const struct rr_overwrite *overwrite)
{
	const struct rr_row *rows = html->picture->rows;
	const int client = rows[overwrite->look].client;

	for (size_t i = overwrite->look; i < overwrite->between; i++) {
		const unsigned stale = html->knowledge->rows[i].stale[overwrite->key];

		if (rows[i].number && stale >> client & 1)
			return rows[i].number;
	}
	return rows[overwrite->between].number;
}

char *rr_html_overwrite(const struct rr_html *html, size_t row, size_t number, size_t *from)
{
	static const char *const marks[RR_OVERWRITES_MAX] = { "①", "②", "③", "④", "⑤",
							      "⑥", "⑦", "⑧", "⑨" };
	const struct rr_overwrite *overwrite = &html->knowledge->overwrites[number];
	const struct rr_row *rows = html->picture->rows;
	const struct rr_row *look = &rows[overwrite->look];
	const struct rr_row *between = &rows[overwrite->between];

	*from = rows[row].number;
	if (row == overwrite->look) {
		*from = find_stale_step(html, overwrite);
		return rr_words("%s the last that %s sees of %s; stale from step %zu on",
				marks[number], look->client_name,
				html->picture->keys[overwrite->key].name, *from);
	}
	if (row == overwrite->between)
		return rr_words("%s what %s saw in step %zu is not what is there now",
				marks[number], look->client_name, look->number);
	if (row == overwrite->write)
		return rr_words(
			"%s replaces what %s wrote in step %zu, which %s has not seen since step %zu",
			marks[number], between->client_name, between->number, look->client_name,
			look->number);
	return NULL;
}

/* ---- The list ------------------------------------------------------------ */

static void print_overwrites(const struct rr_html *html, size_t index)
{
	for (size_t i = 0; i < html->knowledge->n_overwrites; i++) {
		size_t from;
		char *words = rr_html_overwrite(html, index, i, &from);

		if (words)
			rr_xml_print(html->out, " <span data-from=\"%zu\">%s</span>", from, words);
		free(words);
	}
}

static void print_item(const struct rr_html *html, size_t index, bool can_step)
{
	const struct rr_row *row = &html->picture->rows[index];

	fputs("<li", html->out);
	if (can_step) {
		rr_xml_print(html->out, " data-step=\"%zu\"",
			     rr_html_step_of(html->picture, index));
		rr_html_belief_attributes(html, index);
	}
	if (can_step && index == html->asked_row)
		rr_html_question_attributes(html);
	if (row->number)
		rr_xml_print(html->out, " value=\"%zu\"", row->number);
	else
		fputs(" class=\"note\"", html->out);
	rr_xml_print(html->out, ">%s", row->sentence ? row->sentence : row->text);
	for (size_t i = 0; i < html->picture->race->n_keys; i++) {
		if (row->values[i])
			rr_xml_print(html->out, " <code class=\"value\">%s = %s</code>",
				     html->picture->keys[i].name, row->values[i]);
	}
	if (row->broke)
		rr_xml_print(html->out, " <strong class=\"bad\">✗ %s</strong>", row->broke);
	if (row->why)
		rr_xml_print(html->out, " <span>! %s</span>", row->why);
	print_overwrites(html, index);
	fputs("</li>\n", html->out);
}

void rr_html_steps(const struct rr_html *html, bool can_step)
{
	fputs("<div class=\"lanes\">\n", html->out);
	rr_svg_embed(html);
	fputs("<ol>\n", html->out);
	for (size_t i = 0; i < html->picture->n_rows; i++)
		print_item(html, i, can_step);
	fputs("</ol></div>\n", html->out);
}

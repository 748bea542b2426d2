/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "svg.h"

enum { LINES_MOST = 6, REMARK_CHARS = RR_REMARKS_PX / RR_SANS_PX };

/* ---- Values of keys --------------------------------------------------------------- */

static int n_values(const struct rr_svg *svg, const struct rr_row *row,
		    int server)
{
	int n = 0;

	for (size_t k = 0; k < svg->lanes.rows->trace->race->n_keys; k++) {
		char *text = rr_lanes_value(svg->lanes.rows, row, k, server);

		n += text != NULL;
		free(text);
	}
	return n;
}

int rr_svg_values_height(const struct rr_svg *svg, const struct rr_row *row)
{
	const size_t n_servers = svg->lanes.rows->trace->race->n_servers;
	int most = 0;

	for (size_t i = 0; i < n_servers; i++) {
		const int n = n_values(svg, row, (int)i);

		most = n > most ? n : most;
	}
	return most ? most * RR_CHIP_PX + 8 : 0;
}

static void put_value(struct rr_svg *svg, int x, int y, const char *text)
{
	const int width = (int)rr_plain_width(text) * RR_MONO_PX + 10;

	rr_svg_box(svg, x - width / 2, y, width, RR_CHIP_PX - 2, "#FFFFFF",
		   "#555555", 3);
	rr_svg_text(svg, x, y + 14, RR_ANCHOR_MIDDLE, "m", text, strlen(text));
}

void rr_svg_values(struct rr_svg *svg, const struct rr_row *row, int y)
{
	const struct rr_race *race = svg->lanes.rows->trace->race;
	const char *paper = svg->paper;

	svg->paper = "#FFFFFF";
	for (size_t i = 0; i < race->n_servers; i++) {
		int below = y;

		for (size_t k = 0; k < race->n_keys; k++) {
			char *text = rr_lanes_value(svg->lanes.rows, row, k,
						    (int)i);

			if (!text)
				continue;
			put_value(svg, rr_lanes_server(&svg->lanes, (int)i)->x,
				  below, text);
			below += RR_CHIP_PX;
			free(text);
		}
	}
	svg->paper = paper;
}

/* ---- Heights ----------------------------------------------------------------------- */

static size_t columns_across(const struct rr_svg *svg)
{
	return (size_t)(svg->lanes.right - svg->lanes.left - 20) / RR_SANS_PX;
}

static int across_height(const struct rr_svg *svg, const struct rr_row *row)
{
	return rr_svg_lines(row->text, columns_across(svg), LINES_MOST) *
		       RR_LINE_PX +
	       12;
}

static int remarks_height(const struct rr_row *row)
{
	return (rr_svg_lines(row->broke, REMARK_CHARS - 2, LINES_MOST) +
		rr_svg_lines(row->why, REMARK_CHARS - 2, LINES_MOST)) *
		       RR_LINE_PX +
	       8;
}

static int height_of(const struct rr_svg *svg, const struct rr_row *row)
{
	const int remarks = remarks_height(row);
	int height;

	if (row->kind == RR_ROW_MESSAGE)
		height = rr_svg_message_height(svg, row);
	else if (row->kind == RR_ROW_MARK)
		height = 10 + rr_svg_values_height(svg, row) +
			 RR_LINE_PX * rr_svg_lines(row->text, RR_LABEL_CHARS,
						   RR_LABEL_LINES);
	else
		height = across_height(svg, row) +
			 rr_svg_values_height(svg, row);
	return remarks > height ? remarks : height;
}

/* ---- Behind the texts ---------------------------------------------------------------- */

static void put_paper(struct rr_svg *svg, const struct rr_row *row, int height)
{
	svg->paper = row->broke ? "#FDEBE1" : row->why ? "#E7F2FA" : "#FFFFFF";
	if (row->broke || row->why)
		rr_svg_box(svg, RR_MARGIN_PX / 2, svg->y,
			   svg->lanes.width - RR_MARGIN_PX, height, svg->paper,
			   NULL, 4);
}

static void put_lane(struct rr_svg *svg, const struct rr_row *row,
		     const struct rr_lane *lane, int height)
{
	const unsigned bit = 1U << lane->index;
	const bool away = lane->is_server ? svg->down & bit : svg->gone & bit;

	rr_svg_line(svg, lane->x, svg->y, lane->x, svg->y + height,
		    lane->is_server ? "#777777" : rr_svg_colour(lane->index),
		    away || row->kind == RR_ROW_FOLD ? "2 6" : NULL);
	if (!lane->is_server && (row->inside & bit)) {
		const bool begins = !(svg->inside & bit);
		const int from = svg->y + (begins ? height / 2 : 0);

		rr_svg_box(svg, lane->x - 4, from, 8, svg->y + height - from,
			   rr_svg_colour(lane->index), NULL, 0);
	}
}

static void put_lanes(struct rr_svg *svg, const struct rr_row *row, int height)
{
	for (size_t i = 0; i < svg->lanes.n; i++)
		put_lane(svg, row, &svg->lanes.lanes[i], height);
}

/* ---- Texts ----------------------------------------------------------------------------- */

static void put_mark(struct rr_svg *svg, const struct rr_row *row)
{
	const int side = rr_lanes_side(&svg->lanes, row->actor);
	const int x = rr_lanes_client(&svg->lanes, row->actor)->x;

	rr_svg_label(svg, x, side, svg->y + 17, "m", row->text);
	rr_svg_values(svg, row, svg->y + 24);
}

/* Over all lanes: a band for what happens to servers and for notes, a dashed
 * line for time. */
static void put_across(struct rr_svg *svg, const struct rr_row *row)
{
	const struct rr_lanes *lanes = &svg->lanes;
	const int height = across_height(svg, row) - 4;
	const int middle = (lanes->left + lanes->right) / 2;
	const char *paper = svg->paper;
	int width = (int)rr_plain_width(row->text ? row->text : "") *
			    RR_SANS_PX +
		    24;

	if (width > lanes->right - lanes->left ||
	    row->kind == RR_ROW_FAULT || row->kind == RR_ROW_NOTE)
		width = lanes->right - lanes->left;
	if (row->kind == RR_ROW_TIME)
		rr_svg_line(svg, lanes->left, svg->y + 2 + height / 2,
			    lanes->right, svg->y + 2 + height / 2, "#333333",
			    "8 4");
	svg->paper = row->kind == RR_ROW_FAULT ? "#FBEFB5" :
		     row->kind == RR_ROW_NOTE  ? "#F1F1F1" :
						 paper;
	rr_svg_box(svg, middle - width / 2, svg->y + 2, width, height,
		   svg->paper, NULL, 3);
	rr_svg_wrap(svg, middle, svg->y + 18, RR_ANCHOR_MIDDLE,
		    row->kind == RR_ROW_NOTE ? "i" : "b", row->text,
		    columns_across(svg), LINES_MOST);
	svg->paper = paper;
	rr_svg_values(svg, row, svg->y + height + 4);
}

static void put_remarks(struct rr_svg *svg, const struct rr_row *row)
{
	const int x = svg->lanes.remarks_x;
	int y = svg->y + 17;

	if (row->broke) {
		rr_svg_text(svg, x, y, RR_ANCHOR_START, "x", "✗",
			    strlen("✗"));
		y += RR_LINE_PX * rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START,
					      "b", row->broke,
					      REMARK_CHARS - 2, LINES_MOST);
	}
	if (row->why) {
		rr_svg_text(svg, x + 3, y, RR_ANCHOR_START, "b", "!", 1);
		rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START, "s", row->why,
			    REMARK_CHARS - 2, LINES_MOST);
	}
}

static void put_number(struct rr_svg *svg, const struct rr_row *row)
{
	char text[24];

	if (!row->number)
		return;
	snprintf(text, sizeof(text), "%zu", row->number);
	rr_svg_text(svg, RR_MARGIN_PX + 18, svg->y + 17, RR_ANCHOR_END, "n",
		    text, strlen(text));
}

/* ---- The whole ------------------------------------------------------------------------- */

static void note_who_is_gone(struct rr_svg *svg, const struct rr_row *row)
{
	svg->inside = row->inside;
	svg->down = row->down;
	if (!row->event || row->actor < 0)
		return;
	if (row->event->step->kind == RR_STEP_CRASH)
		svg->gone |= 1U << row->actor;
	else
		svg->gone &= ~(1U << row->actor);
}

void rr_svg_row(struct rr_svg *svg, const struct rr_row *row)
{
	const int height = height_of(svg, row);

	put_paper(svg, row, height);
	put_lanes(svg, row, height);
	if (row->kind == RR_ROW_MESSAGE)
		rr_svg_message(svg, row);
	else if (row->kind == RR_ROW_MARK)
		put_mark(svg, row);
	else
		put_across(svg, row);
	put_remarks(svg, row);
	put_number(svg, row);
	note_who_is_gone(svg, row);
	svg->y += height;
}

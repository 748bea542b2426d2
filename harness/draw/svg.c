/* SPDX-License-Identifier: MIT */
/* A race as a picture: a lane for each client and server, time runs down. */
#include "svg.h"

#include <stdlib.h>

#include "base/plain.h"
#include "base/xml.h"

enum {
	HEAD_PX = 28,
	LINES_MOST = 6,
	REMARK_CHARS = RR_REMARKS_PX / RR_SANS_PX - 2,
	ABOVE_PX = 7,    /* between a text and the arrow below it */
	BELOW_PX = 9,    /* an arrow */
	OFF_LANE_PX = 6, /* where arrows begin */
};

/* Texts are dark; a rim in the colour behind them keeps them off the lanes. */
static const char style[] =
	"<style>\n"
	"text{fill:#111;paint-order:stroke;stroke-width:4px;stroke-linejoin:round;"
	"font:13px Arial,'Liberation Sans',Helvetica,system-ui,sans-serif}\n"
	".m{font-family:ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace}\n"
	".t{font-size:17px;font-weight:600}\n"
	".b{font-weight:600}\n"
	".i{font-style:italic}\n"
	".n{font-size:12px;fill:#444}\n"
	".x{font-weight:600;fill:#B34700}\n"
	"</style>\n";

static int larger(int a, int b)
{
	return a > b ? a : b;
}

/* ---- Values of keys ------------------------------------------------------------ */

static int chips_height(const struct rr_svg *svg, const struct rr_row *row)
{
	int n[RR_RACE_SERVERS_MAX] = { 0 }, most = 0;

	for (size_t k = 0; k < svg->picture->race->n_keys; k++) {
		const int server = svg->picture->keys[k].server;

		if (row->labels[k])
			most = larger(most, ++n[server]);
	}
	return most ? most * RR_CHIP_PX + 8 : 0;
}

/* The values that changed, on their servers' lanes, the first at `y`. */
static void put_chips(struct rr_svg *svg, const struct rr_row *row, int y)
{
	const struct rr_race *race = svg->picture->race;
	const char *back = svg->back;

	svg->back = "#FFFFFF";
	for (size_t i = 0; i < race->n_servers; i++) {
		int below = y;

		for (size_t k = 0; k < race->n_keys; k++) {
			if (!row->labels[k] ||
			    svg->picture->keys[k].server != (int)i)
				continue;
			rr_svg_chip(svg, rr_svg_server(svg, (int)i)->x, below,
				    row->labels[k]);
			below += RR_CHIP_PX;
		}
	}
	svg->back = back;
}

/* ---- A command and its reply: two arrows, each with its text above it ---------- */

static const char *words_of_fate(const struct rr_row *row)
{
	switch (row->fate) {
	case RR_FATE_LOST:
		return "reply lost";
	case RR_FATE_WAITS:
		return "no reply yet";
	default:
		return row->reply;
	}
}

static int label_height(const char *text)
{
	return rr_svg_lines(text, RR_LABEL_CHARS, RR_LABEL_LINES) * RR_LINE_PX;
}

/* From the row's top to the command's arrow, and from there to the reply's. */
static int command_height(const struct rr_row *row)
{
	return row->sends ? label_height(row->text) + ABOVE_PX : 2;
}

static int reply_height(const struct rr_svg *svg, const struct rr_row *row)
{
	const char *reply = words_of_fate(row);

	return larger(reply ? label_height(reply) + ABOVE_PX : 0,
		      chips_height(svg, row));
}

/* Sent, and ends half way. */
static void put_lost_arrow(struct rr_svg *svg, int from, int to, int y)
{
	const int x = from + (to - from) / 2;

	rr_svg_line(svg, from, y, x, y, "#666666", "5 4");
	rr_svg_line(svg, x - 6, y - 6, x + 6, y + 6, "#D55E00", NULL);
	rr_svg_line(svg, x - 6, y + 6, x + 6, y - 6, "#D55E00", NULL);
}

static void put_message(struct rr_svg *svg, const struct rr_row *row)
{
	const int client = rr_svg_client(svg, row->client)->x;
	const int server = rr_svg_server(svg, row->server)->x;
	const int side = server > client ? 1 : -1;
	const int near = client + side * OFF_LANE_PX, far = server - side * 2;
	const int command_y = svg->y + command_height(row);
	const int reply_y = command_y + reply_height(svg, row);
	const char *colour = rr_svg_colour(row->client);
	const char *reply = words_of_fate(row);
	const bool came = row->fate == RR_FATE_CAME;

	if (row->sends) {
		rr_svg_arrow(svg, near, far, command_y, colour, NULL);
		rr_svg_label(svg, client, side, svg->y + RR_LINE_PX - 2, "m",
			     row->text);
	}
	if (came)
		rr_svg_arrow(svg, far, near, reply_y, colour, "5 4");
	else if (row->fate == RR_FATE_LOST)
		put_lost_arrow(svg, far, near, reply_y);
	if (reply)
		rr_svg_label(svg, client, side, command_y + RR_LINE_PX,
			     came ? "m" : "i", reply);
	put_chips(svg, row, command_y + 7);
}

/* ---- Other rows ---------------------------------------------------------------- */

static void put_mark(struct rr_svg *svg, const struct rr_row *row)
{
	rr_svg_label(svg, rr_svg_client(svg, row->client)->x,
		     rr_svg_side(svg, row->client), svg->y + 17, "m",
		     row->text);
	put_chips(svg, row, svg->y + 24);
}

static size_t columns_across(const struct rr_svg *svg)
{
	return (size_t)(svg->right - svg->left - 20) / RR_SANS_PX;
}

static int across_height(const struct rr_svg *svg, const struct rr_row *row)
{
	return rr_svg_lines(row->text, columns_across(svg), LINES_MOST) *
		       RR_LINE_PX +
	       8;
}

/* Over all lanes: a band for what happens to servers and for notes, a dashed
 * line for time. */
static void put_across(struct rr_svg *svg, const struct rr_row *row)
{
	const bool is_note = row->kind == RR_ROW_NOTE;
	const bool is_band = is_note || row->kind == RR_ROW_FAULT;
	const int height = across_height(svg, row);
	const int middle = (svg->left + svg->right) / 2;
	const int most = svg->right - svg->left;
	const char *back = svg->back;
	int width = (int)rr_plain_width(row->text) * RR_SANS_PX + 24;

	width = is_band || width > most ? most : width;
	if (row->kind == RR_ROW_TIME)
		rr_svg_line(svg, svg->left, svg->y + 2 + height / 2, svg->right,
			    svg->y + 2 + height / 2, "#333333", "8 4");
	if (is_band)
		svg->back = is_note ? "#F1F1F1" : "#FBEFB5";
	rr_svg_box(svg, middle - width / 2, svg->y + 2, width, height,
		   svg->back, NULL, 3);
	rr_svg_wrap(svg, middle, svg->y + 18, RR_ANCHOR_MIDDLE,
		    is_note ? "i" : "b", row->text, columns_across(svg),
		    LINES_MOST);
	svg->back = back;
	put_chips(svg, row, svg->y + height + 4);
}

static int remarks_height(const struct rr_row *row)
{
	return (rr_svg_lines(row->broke, REMARK_CHARS, LINES_MOST) +
		rr_svg_lines(row->why, REMARK_CHARS, LINES_MOST)) *
		       RR_LINE_PX +
	       8;
}

static int row_height(const struct rr_svg *svg, const struct rr_row *row)
{
	int height = chips_height(svg, row);

	if (row->kind == RR_ROW_MESSAGE)
		height = command_height(row) + reply_height(svg, row) +
			 BELOW_PX;
	else if (row->kind == RR_ROW_MARK)
		height += label_height(row->text) + 10;
	else
		height += across_height(svg, row) + 4;
	return larger(height, remarks_height(row));
}

/* ---- Beside and behind them ------------------------------------------------------ */

static void put_remarks(struct rr_svg *svg, const struct rr_row *row)
{
	const int x = svg->remarks_x;
	int y = svg->y + 17;

	if (row->broke) {
		rr_svg_text(svg, x, y, RR_ANCHOR_START, "x", "✗", 1);
		y += RR_LINE_PX * rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START,
					      "b", row->broke, REMARK_CHARS,
					      LINES_MOST);
	}
	if (row->why) {
		rr_svg_text(svg, x + 3, y, RR_ANCHOR_START, "b", "!", 1);
		rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START, "s", row->why,
			    REMARK_CHARS, LINES_MOST);
	}
}

static void put_number(struct rr_svg *svg, const struct rr_row *row)
{
	char text[24];
	const int length = snprintf(text, sizeof(text), "%zu", row->number);

	if (row->number)
		rr_svg_text(svg, RR_MARGIN_PX + 18, svg->y + 17, RR_ANCHOR_END,
			    "n", text, (size_t)length);
}

/* Thick where a client is in its critical section, dotted where somebody is not
 * there. */
static void put_lane(struct rr_svg *svg, const struct rr_row *row,
		     const struct rr_lane *lane, int height)
{
	const unsigned bit = 1U << lane->index;
	const unsigned away = lane->is_server ? row->down : row->gone;
	const int x = lane->is_server ? rr_svg_server(svg, lane->index)->x :
					rr_svg_client(svg, lane->index)->x;
	const char *colour = lane->is_server ? "#777777" :
					       rr_svg_colour(lane->index);

	rr_svg_line(svg, x, svg->y, x, svg->y + height, colour,
		    away & bit || row->kind == RR_ROW_FOLD ? "2 6" : NULL);
	if (!lane->is_server && row->inside & bit) {
		const int from = row->was_inside & bit ? 0 : height / 2;

		rr_svg_box(svg, x - 4, svg->y + from, 8, height - from, colour,
			   NULL, 0);
	}
}

static void put_row(struct rr_svg *svg, const struct rr_row *row)
{
	const int height = row_height(svg, row);

	svg->back = row->broke ? "#FDEBE1" : row->why ? "#E7F2FA" : "#FFFFFF";
	if (row->remark)
		rr_svg_box(svg, RR_MARGIN_PX / 2, svg->y,
			   svg->width - RR_MARGIN_PX, height, svg->back, NULL,
			   4);
	for (size_t i = 0; i < svg->picture->n_lanes; i++)
		put_lane(svg, row, &svg->picture->lanes[i], height);
	if (row->kind == RR_ROW_MESSAGE)
		put_message(svg, row);
	else if (row->kind == RR_ROW_MARK)
		put_mark(svg, row);
	else
		put_across(svg, row);
	put_remarks(svg, row);
	put_number(svg, row);
	svg->y += height;
}

/* ---- Above the rows, and below -------------------------------------------------- */

static size_t page_columns(const struct rr_svg *svg)
{
	return (size_t)(svg->width - 2 * RR_MARGIN_PX) / RR_SANS_PX;
}

static void put_paragraph(struct rr_svg *svg, int indent, const char *class,
			  const char *text)
{
	svg->y += RR_LINE_PX *
		  rr_svg_wrap(svg, RR_MARGIN_PX + indent, svg->y + 14,
			      RR_ANCHOR_START, class, text,
			      page_columns(svg) - (size_t)indent / RR_SANS_PX,
			      20);
}

static void put_title(struct rr_svg *svg)
{
	svg->y += 4 + 22 * rr_svg_wrap(svg, RR_MARGIN_PX, svg->y + 16,
				       RR_ANCHOR_START, "t",
				       svg->picture->title,
				       page_columns(svg) * 3 / 4, 2);
	if (*svg->picture->claims)
		put_paragraph(svg, 0, "s", svg->picture->claims);
	svg->y += 10;
}

static void put_heads(struct rr_svg *svg)
{
	svg->back = "none";
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		const struct rr_lane *lane = &svg->picture->lanes[i];
		const int x = svg->lanes[i].x, half = svg->lanes[i].head_px;

		rr_svg_box(svg, x - half, svg->y, 2 * half, HEAD_PX,
			   lane->is_server ? "#EEEEEE" : "#FFFFFF",
			   lane->is_server ? "#777777" :
					     rr_svg_colour(lane->index),
			   lane->is_server ? 0 : 12);
		rr_svg_text(svg, x, svg->y + 19, RR_ANCHOR_MIDDLE, "b",
			    lane->name, rr_plain_width(lane->name));
	}
	svg->y += HEAD_PX;
}

static void put_finding(struct rr_svg *svg, const struct rr_found *found)
{
	char *text = rr_words("✗ %s: %s", found->name, found->figures);

	put_paragraph(svg, 0, "b", text);
	put_paragraph(svg, 14, "s", found->meaning);
	svg->y += 4;
	free(text);
}

static void put_verdict(struct rr_svg *svg)
{
	const struct rr_picture *picture = svg->picture;
	const size_t n = picture->is_complete ? picture->race->n_sayings : 0;

	svg->back = "none";
	svg->y += 14;
	for (size_t i = 0; i < picture->n_findings; i++)
		put_finding(svg, &picture->findings[i]);
	if (picture->no_finding)
		put_paragraph(svg, 0, "b", picture->no_finding);
	for (size_t i = 0; i < n; i++)
		put_paragraph(svg, 0, "s", picture->sayings[i]);
	svg->y += RR_MARGIN_PX;
}

/* For those who cannot see the picture. */
static void put_description(FILE *out, const struct rr_picture *picture)
{
	fputs("<title>", out);
	rr_xml_text(out, picture->title);
	fputs("</title>\n<desc>", out);
	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];

		if (row->number)
			fprintf(out, "%zu. ", row->number);
		if (row->client >= 0) {
			rr_xml_text(out, rr_picture_client(picture, row->client));
			fputs(": ", out);
		}
		rr_xml_text(out, row->text);
		fputs(row->reply ? " replies " : "", out);
		rr_xml_text(out, row->reply);
		fputs(row->broke ? "; " : "", out);
		rr_xml_text(out, row->broke);
		fputs(".\n", out);
	}
	fprintf(out, "Found: %s.</desc>\n", picture->verdict);
}

void rr_write_svg(FILE *out, const struct rr_picture *picture)
{
	struct rr_svg svg = { .picture = picture, .back = "none",
			      .y = RR_MARGIN_PX };
	char *body = NULL;
	size_t size;

	svg.out = open_memstream(&body, &size);
	if (!svg.out)
		return;
	rr_svg_lay_out(&svg);
	put_title(&svg);
	put_heads(&svg);
	svg.y += 4;
	for (size_t i = 0; i < picture->n_rows; i++)
		put_row(&svg, &picture->rows[i]);
	put_heads(&svg);
	put_verdict(&svg);
	fclose(svg.out);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
		svg.width, svg.y, svg.width, svg.y);
	put_description(out, picture);
	fputs(style, out);
	fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n",
		svg.width, svg.y);
	fputs(body ? body : "", out);
	fputs("</svg>\n", out);
	free(body);
}

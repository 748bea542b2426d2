/* SPDX-License-Identifier: MIT */
/* A race as a picture: a lane for each client and server, time runs down. */
#include "svg.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	HEAD_PX = 28,
	LINES_MOST = 6,
	REMARK_CHARS = RR_REMARKS_PX / RR_SANS_PX - 2,
	ABOVE_PX = 7,    /* between a text and the arrow below it */
	BELOW_PX = 9,    /* an arrow */
	OFF_LANE_PX = 6, /* where arrows begin */
	WIDE_PX = 1100,  /* wider than most windows: a list takes its place sooner */
};

/* On a page its texts are as large as the page's; where there is little room it is made
 * smaller, and then scrolled. */
#define REM_PX 14.0
#define LEAST_SCALE 0.7
#define OVERWRITE_COLOUR "#B34700"

/* Texts are dark; a rim in the colour behind them keeps them off the lanes. */
static const char style[] =
	"text{fill:#111;paint-order:stroke;stroke-width:4px;stroke-linejoin:round;"
	"font:13px Arial,'Liberation Sans',Helvetica,system-ui,sans-serif}\n"
	".m{font-family:ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace}\n"
	".t{font-size:17px;font-weight:600}\n"
	".b{font-weight:600}\n"
	".i{font-style:italic}\n"
	".n{font-size:12px;fill:#444}\n"
	".x{font-weight:600;fill:#B34700}\n";

static const char *colour_of(const struct rr_lane *lane)
{
	return lane->is_server ? "#777777" : rr_svg_colour(lane->index);
}

/* ---- The texts of a row: each function returns the height that it takes -- */

/* The values that changed, on their servers' lanes, the first at `y`. */
static int draw_chips(struct rr_svg *svg, const struct rr_row *row, int y)
{
	int heights[RR_RACE_SERVERS_MAX] = { 0 }, most = 0;
	const char *back = svg->back;

	svg->back = "#FFFFFF";
	for (size_t k = 0; k < svg->picture->race->n_keys; k++) {
		const int server = svg->picture->keys[k].server;

		if (!row->labels[k])
			continue;
		rr_svg_chip(svg, rr_svg_server(svg, server)->x, y + heights[server],
			    row->labels[k]);
		heights[server] += RR_CHIP_PX;
		most = rr_larger(most, heights[server]);
	}
	svg->back = back;
	return most ? most + 8 : 0;
}

/* Sent, and ends half way. */
static void draw_lost_arrow(struct rr_svg *svg, int from, int to, int y)
{
	const int x = from + (to - from) / 2;

	rr_svg_line(svg, from, y, x, y, "#666666", "5 4");
	rr_svg_line(svg, x - 6, y - 6, x + 6, y + 6, "#D55E00", NULL);
	rr_svg_line(svg, x - 6, y + 6, x + 6, y - 6, "#D55E00", NULL);
}

static int draw_reply_text(struct rr_svg *svg, const struct rr_row *row, int x, int side, int y)
{
	const bool came = row->fate == RR_FATE_CAME;
	const char *text = came                      ? row->reply :
			   row->fate == RR_FATE_LOST ? "reply lost" :
						       "no reply yet";

	if (row->fate == RR_FATE_NONE)
		return 0;
	return ABOVE_PX + rr_svg_label(svg, x, side, y, came ? "m" : "i", text);
}

/* A command and its reply: two arrows, each with its text above it. */
static int draw_message(struct rr_svg *svg, const struct rr_row *row)
{
	const int client = rr_svg_client(svg, row->client)->x;
	const int server = rr_svg_server(svg, row->server)->x;
	const int side = server > client ? 1 : -1;
	const int near = client + side * OFF_LANE_PX, far = server - side * 2;
	const char *colour = rr_svg_colour(row->client);
	int y = svg->y + 2, text, chips;

	if (row->sends) {
		y += ABOVE_PX - 2 +
		     rr_svg_label(svg, client, side, svg->y + RR_LINE_PX - 2, "m", row->text);
		rr_svg_arrow(svg, near, far, y, colour, NULL);
	}
	text = draw_reply_text(svg, row, client, side, y + RR_LINE_PX);
	chips = draw_chips(svg, row, y + ABOVE_PX);
	y += rr_larger(text, chips);
	if (row->fate == RR_FATE_CAME)
		rr_svg_arrow(svg, far, near, y, colour, "5 4");
	else if (row->fate == RR_FATE_LOST)
		draw_lost_arrow(svg, far, near, y);
	return y + BELOW_PX - svg->y;
}

/* Over all lanes: a band for what happens to servers and for notes, a dashed
 * line for time. */
static int draw_across(struct rr_svg *svg, const struct rr_row *row)
{
	const bool is_note = row->kind == RR_ROW_NOTE;
	const bool is_band = is_note || row->kind == RR_ROW_FAULT;
	const int most = svg->right - svg->left;
	const int middle = (svg->left + svg->right) / 2;
	const size_t columns = (size_t)(most - 20) / RR_SANS_PX;
	const int height = 8 + RR_LINE_PX * rr_svg_lines(row->text, columns, LINES_MOST);
	const char *back = svg->back;
	int width = (int)rr_plain_width(row->text) * RR_SANS_PX + 24;

	width = is_band || width > most ? most : width;
	if (row->kind == RR_ROW_TIME)
		rr_svg_line(svg, svg->left, svg->y + 2 + height / 2, svg->right,
			    svg->y + 2 + height / 2, "#333333", "8 4");
	if (is_band)
		svg->back = is_note ? "#F1F1F1" : "#FBEFB5";
	rr_svg_box(svg, middle - width / 2, svg->y + 2, width, height, svg->back, NULL, 3);
	rr_svg_wrap(svg, middle, svg->y + 18, RR_ANCHOR_MIDDLE, is_note ? "i" : "b", row->text,
		    columns, LINES_MOST);
	svg->back = back;
	return height + 4 + draw_chips(svg, row, svg->y + height + 4);
}

/* On a page, what a row has to do with writes that replace what their writer has not
 * seen; each is shown from its own step on. */
static int draw_overwrites(struct rr_svg *svg, size_t index, int y)
{
	const int top = y;

	for (size_t i = 0; svg->html && i < svg->html->knowledge->n_overwrites; i++) {
		size_t from;
		char *words = rr_html_overwrite(svg->html, index, i, &from);

		if (!words)
			continue;
		fprintf(svg->out, "<g data-from=\"%zu\">\n", from);
		y += rr_svg_wrap(svg, svg->remarks_x, y, RR_ANCHOR_START, "s", words,
				 REMARK_CHARS + 2, LINES_MOST);
		fputs("</g>\n", svg->out);
		free(words);
	}
	return y - top;
}

static int draw_remarks(struct rr_svg *svg, const struct rr_row *row)
{
	const int x = svg->remarks_x;
	int y = svg->y + 17;

	if (row->broke) {
		rr_svg_text(svg, x, y, RR_ANCHOR_START, "x", "✗", 1);
		y += rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START, "b", row->broke, REMARK_CHARS,
				 LINES_MOST);
	}
	if (row->why) {
		rr_svg_text(svg, x + 3, y, RR_ANCHOR_START, "b", "!", 1);
		y += rr_svg_wrap(svg, x + 16, y, RR_ANCHOR_START, "s", row->why, REMARK_CHARS,
				 LINES_MOST);
	}
	y += draw_overwrites(svg, (size_t)(row - svg->picture->rows), y);
	return y + 8 - 17 - svg->y;
}

static int draw_texts(struct rr_svg *svg, const struct rr_row *row)
{
	char number[24];
	int height;

	if (row->kind == RR_ROW_MESSAGE)
		height = draw_message(svg, row);
	else if (row->kind == RR_ROW_MARK)
		height = rr_svg_label(svg, rr_svg_client(svg, row->client)->x,
				      rr_svg_side(svg, row->client), svg->y + 17, "m", row->text) +
			 10 + draw_chips(svg, row, svg->y + 24);
	else
		height = draw_across(svg, row);
	snprintf(number, sizeof(number), "%zu", row->number);
	if (row->number)
		rr_svg_text(svg, RR_MARGIN_PX + 18, svg->y + 17, RR_ANCHOR_END, "n", number,
			    sizeof(number));
	return rr_larger(height, draw_remarks(svg, row));
}

/* ---- Rows ---------------------------------------------------------------- */

/* Thick where a client is in its critical section, dotted where somebody is not
 * there. */
static void draw_lane(struct rr_svg *svg, const struct rr_row *row, const struct rr_lane *lane,
		      int height)
{
	const unsigned bit = 1U << lane->index;
	const unsigned away = lane->is_server ? row->down : row->gone;
	const int x = svg->lanes[lane - svg->picture->lanes].x;
	const bool was_inside = row > svg->picture->rows && row[-1].inside & bit;
	const int from = was_inside ? 0 : height / 2;

	rr_svg_line(svg, x, svg->y, x, svg->y + height, colour_of(lane),
		    away & bit || row->kind == RR_ROW_FOLD ? "2 6" : NULL);
	if (!lane->is_server && row->inside & bit)
		rr_svg_box(svg, x - 4, svg->y + from, 8, height - from, colour_of(lane), NULL, 0);
}

/* On a page, a line from what a client saw to the write that replaces what it did not. */
static void draw_join(struct rr_svg *svg, size_t index, int height)
{
	const struct rr_knowledge *knowledge = svg->html->knowledge;
	const struct rr_overwrite *first = &knowledge->overwrites[0];
	const int x = svg->remarks_x - 10, middle = svg->y + height / 2;

	if (knowledge->n_overwrites == 0 || index < first->look || index > first->write)
		return;
	rr_svg_line(svg, x, index == first->look ? middle : svg->y, x,
		    index == first->write ? middle : svg->y + height, OVERWRITE_COLOUR, NULL);
	if (index == first->look || index == first->write)
		rr_svg_line(svg, x, middle, x + 7, middle, OVERWRITE_COLOUR, NULL);
}

/* Lanes are behind the texts that say how high the row is. On a page it is a group that
 * can be hidden and marked. */
static void draw_row(struct rr_svg *svg, size_t index)
{
	const struct rr_row *row = &svg->picture->rows[index];
	const bool breaks = row->broke || (svg->html && rr_html_overwrites(svg->html, index));
	FILE *out = svg->out;
	char *texts;
	size_t size;
	int height;

	svg->back = breaks ? "#FDEBE1" : row->why ? "#E7F2FA" : "#FFFFFF";
	svg->out = rr_open_memory(&texts, &size);
	height = draw_texts(svg, row);
	fclose(svg->out);
	svg->out = out;
	if (svg->html)
		fprintf(out, "<g data-step=\"%zu\">\n", rr_html_step_of(svg->picture, index));
	if (row->remark || svg->html)
		rr_svg_box(svg, RR_MARGIN_PX / 2, svg->y, svg->width - RR_MARGIN_PX, height,
			   svg->back, NULL, 4);
	for (size_t i = 0; i < svg->picture->n_lanes; i++)
		draw_lane(svg, row, &svg->picture->lanes[i], height);
	fwrite(texts, 1, size, out);
	free(texts);
	if (svg->html) {
		draw_join(svg, index, height);
		fputs("</g>\n", out);
	}
	svg->y += height;
}

/* ---- Above the rows, and below ------------------------------------------- */

static size_t page_columns(const struct rr_svg *svg)
{
	return (size_t)(svg->width - 2 * RR_MARGIN_PX) / RR_SANS_PX;
}

static void draw_paragraph(struct rr_svg *svg, int indent, const char *class, const char *text)
{
	svg->y += rr_svg_wrap(svg, RR_MARGIN_PX + indent, svg->y + 14, RR_ANCHOR_START, class, text,
			      page_columns(svg) - (size_t)indent / RR_SANS_PX, 20);
}

static void draw_heads(struct rr_svg *svg)
{
	svg->back = "none";
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		const struct rr_lane *lane = &svg->picture->lanes[i];
		const int x = svg->lanes[i].x, half = svg->lanes[i].head_px;

		rr_svg_box(svg, x - half, svg->y, 2 * half, HEAD_PX,
			   lane->is_server ? "#EEEEEE" : "#FFFFFF", colour_of(lane),
			   lane->is_server ? 0 : 12);
		rr_svg_text(svg, x, svg->y + 19, RR_ANCHOR_MIDDLE, "b", lane->name,
			    rr_plain_width(lane->name));
	}
	svg->y += HEAD_PX;
}

static void draw_no_finding(struct rr_svg *svg)
{
	char *text = rr_words("%s%s", svg->picture->is_found ? "✗ " : "", svg->picture->no_finding);

	draw_paragraph(svg, 0, "b", text);
	free(text);
}

static void draw_verdict(struct rr_svg *svg)
{
	const struct rr_picture *picture = svg->picture;
	const size_t n = picture->is_complete ? picture->race->n_sayings : 0;

	svg->back = "none";
	svg->y += 14;
	for (size_t i = 0; i < picture->n_findings; i++) {
		char *text = rr_words("✗ %s", picture->findings[i].heading);

		draw_paragraph(svg, 0, "b", text);
		draw_paragraph(svg, 14, "s", picture->findings[i].meaning);
		svg->y += 4;
		free(text);
	}
	if (picture->no_finding)
		draw_no_finding(svg);
	for (size_t i = 0; i < n; i++)
		draw_paragraph(svg, 0, "s", picture->sayings[i]);
	svg->y += RR_MARGIN_PX;
}

/* For those who cannot see the picture. */
static void draw_description(FILE *out, const struct rr_svg *svg)
{
	const struct rr_picture *picture = svg->picture;

	rr_xml_print(out, "<title>%s</title>\n", picture->title);
	if (svg->html) /* whose list of steps says it */
		return;
	fputs("<desc>", out);
	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];

		if (row->number)
			fprintf(out, "%zu. ", row->number);
		rr_xml_print(out, "%s%s%s%s%s%s%s.\n", row->client_name,
			     row->client_name ? ": " : "", row->text, row->reply ? " replies " : "",
			     row->reply, row->broke ? "; " : "", row->broke);
	}
	fprintf(out, "Found: %s.</desc>\n", picture->verdict);
}

/* Above and below the lanes a page has words of its own. */
static void draw_all(struct rr_svg *svg)
{
	rr_svg_lay_out(svg);
	if (!svg->html) {
		svg->y += 4 + rr_svg_wrap(svg, RR_MARGIN_PX, svg->y + 16, RR_ANCHOR_START, "t",
					  svg->picture->title, page_columns(svg) * 3 / 4, 2) *
				      22 / RR_LINE_PX;
		if (*svg->picture->claims)
			draw_paragraph(svg, 0, "s", svg->picture->claims);
		svg->y += 10;
	}
	draw_heads(svg);
	svg->y += 4;
	for (size_t i = 0; i < svg->picture->n_rows; i++)
		draw_row(svg, i);
	draw_heads(svg);
	if (!svg->html)
		draw_verdict(svg);
	else
		svg->y += RR_MARGIN_PX / 2;
}

/* How high it is is known at the end. */
static void write_svg(FILE *out, struct rr_svg *svg)
{
	char *drawn;

	svg->back = "none";
	svg->y = svg->html ? RR_MARGIN_PX / 2 : RR_MARGIN_PX;
	svg->out = rr_open_text(&drawn);
	draw_all(svg);
	fclose(svg->out);
	if (svg->html)
		rr_xml_print(
			out,
			"<div class=\"picture%s\" tabindex=\"0\" role=\"region\" aria-label=\"Lanes: %s\">",
			svg->width > WIDE_PX ? " many" : "", svg->picture->title);
	fputs("<svg role=\"img\"", out);
	if (svg->html)
		fprintf(out, " style=\"width:%.1frem;min-width:%.1frem\"", svg->width / REM_PX,
			svg->width / REM_PX * LEAST_SCALE);
	else
		fprintf(out, " xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"",
			svg->width, svg->y);
	fprintf(out, " viewBox=\"0 0 %d %d\">\n", svg->width, svg->y);
	draw_description(out, svg);
	fprintf(out, svg->html ? "<style>.picture svg{\n%s}</style>\n" : "<style>\n%s</style>\n",
		style);
	fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#FFFFFF\"/>\n%s</svg>\n", svg->width,
		svg->y, drawn);
	if (svg->html)
		fputs("</div>\n", out);
	free(drawn);
}

void rr_write_svg(FILE *out, const struct rr_picture *picture)
{
	write_svg(out, &(struct rr_svg){ .picture = picture });
}

void rr_svg_embed(const struct rr_html *html)
{
	write_svg(html->out, &(struct rr_svg){ .picture = html->picture, .html = html });
}

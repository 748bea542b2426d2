/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <string.h>

#include "base/text.h"

enum { VALUE_LEAST = 14 }; /* with the sign before it */

enum { LANES_GAP = 40, LABEL_GAP = 26, LEAST_PX = 300 };

/* ---- Lanes --------------------------------------------------------------- */

const struct rr_svg_lane *rr_svg_client(const struct rr_svg *svg, int client)
{
	return &svg->lanes[svg->picture->client_lanes[client]];
}

const struct rr_svg_lane *rr_svg_server(const struct rr_svg *svg, int server)
{
	return &svg->lanes[svg->picture->server_lanes[server]];
}

int rr_svg_side(const struct rr_svg *svg, int client)
{
	return rr_svg_client(svg, client) > rr_svg_server(svg, 0) ? -1 : 1;
}

int rr_larger(int a, int b)
{
	return a > b ? a : b;
}

static int mono_px(const char *text, size_t most)
{
	const size_t width = text ? rr_plain_width(text) : 0;

	return (int)(width < most ? width : most) * RR_MONO_PX;
}

/* The value is shortened, and not the key: keys would look alike. */
static size_t chip_columns(const char *label)
{
	const char *value = strstr(label, " = ");
	const size_t most = value ? (size_t)(value - label) + VALUE_LEAST : 0;

	return most < RR_VALUE_CHARS ? RR_VALUE_CHARS : most;
}

static int widest_chip_px(const struct rr_picture *picture, int server)
{
	int widest = 0;

	for (size_t i = 0; i < picture->n_rows; i++) {
		for (size_t k = 0; k < picture->race->n_keys; k++) {
			const char *label = picture->rows[i].labels[k];

			if (label && picture->keys[k].server == server)
				widest = rr_larger(widest,
						   mono_px(label, chip_columns(label)) + 14);
		}
	}
	return widest;
}

/* What a client writes by its lane in this row. */
static int label_px(const struct rr_row *row)
{
	return rr_larger(mono_px(row->text, RR_LABEL_CHARS), mono_px(row->reply, RR_LABEL_CHARS));
}

static int half_px(const struct rr_svg_lane *lane)
{
	return rr_larger(lane->head_px, lane->chip_px);
}

/* A lane is as far right as what is written between it and those before it asks
 * for. */
static void place_lane(struct rr_svg *svg, size_t i)
{
	struct rr_svg_lane *lane = &svg->lanes[i];

	lane->x = i == 0 ? svg->left + half_px(lane) :
			   lane[-1].x + half_px(lane - 1) + LANES_GAP + half_px(lane);
	for (size_t r = 0; r < svg->picture->n_rows; r++) {
		const struct rr_row *row = &svg->picture->rows[r];
		const struct rr_svg_lane *from, *to;

		if (row->kind != RR_ROW_MESSAGE)
			continue;
		from = rr_svg_client(svg, row->client);
		to = rr_svg_server(svg, row->server);
		if ((from == lane && to < lane) || (to == lane && from < lane))
			lane->x = rr_larger(lane->x, (from < to ? from : to)->x + label_px(row) +
							     LABEL_GAP + to->chip_px);
	}
}

/* How far what stands on the lanes reaches to the right. */
static int right_px(const struct rr_svg *svg)
{
	const struct rr_picture *picture = svg->picture;
	const struct rr_svg_lane *last = &svg->lanes[picture->n_lanes - 1];
	int right = rr_larger(last->x + half_px(last), svg->left + LEAST_PX);

	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];

		if (row->kind == RR_ROW_MARK && rr_svg_side(svg, row->client) > 0)
			right = rr_larger(right,
					  rr_svg_client(svg, row->client)->x + 12 + label_px(row));
	}
	return right;
}

void rr_svg_lay_out(struct rr_svg *svg)
{
	svg->left = RR_MARGIN_PX + RR_NUMBERS_PX;
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		const struct rr_lane *lane = &svg->picture->lanes[i];

		svg->lanes[i].head_px = mono_px(lane->name, RR_LABEL_CHARS) / 2 + 16;
		if (lane->is_server)
			svg->lanes[i].chip_px = widest_chip_px(svg->picture, lane->index) / 2;
		place_lane(svg, i);
	}
	svg->right = right_px(svg);
	svg->remarks_x = svg->right + RR_MARGIN_PX;
	svg->width = svg->remarks_x;
	if (svg->picture->has_remarks || (svg->html && svg->html->knowledge->n_overwrites))
		svg->width += RR_REMARKS_PX + RR_MARGIN_PX;
}

const char *rr_svg_colour(int client)
{
	static const char *const colours[] = { "#0072B2", "#E69F00", "#009E73",
					       "#CC79A7", "#56B4E9", "#D55E00" };

	return colours[(size_t)client % (sizeof(colours) / sizeof(colours[0]))];
}

/* ---- Texts --------------------------------------------------------------- */

static void write_span(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
		       const char *text, size_t length, const char *end)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	rr_xml_print(
		svg->out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" class=\"%s\" stroke=\"%s\" xml:space=\"preserve\">%.*s%s</text>\n",
		x, y, anchors[anchor], class, svg->back, (int)length, text, end);
}

void rr_svg_text(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
		 const char *text, size_t columns)
{
	if (rr_plain_width(text) <= columns)
		write_span(svg, x, y, anchor, class, text, strlen(text), "");
	else
		write_span(svg, x, y, anchor, class, text, rr_plain_fit(text, columns - 1), "…");
}

int rr_svg_wrap(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
		const char *text, size_t columns, int most)
{
	int n = 0;

	while (text && (n == 0 || *text) && n < most) {
		const char *line = text;
		const size_t length = rr_plain_line(&text, columns);
		const int base = y + n * RR_LINE_PX;

		n++;
		if (n == most && *text)
			rr_svg_text(svg, x, base, anchor, class, line, columns);
		else
			write_span(svg, x, base, anchor, class, line, length, "");
	}
	return n * RR_LINE_PX;
}

int rr_svg_lines(const char *text, size_t columns, int most)
{
	const size_t n = text ? rr_plain_lines(text, columns) : 0;

	return n < (size_t)most ? (int)n : most;
}

int rr_svg_label(struct rr_svg *svg, int x, int side, int y, const char *class, const char *text)
{
	const int n = rr_svg_lines(text, RR_LABEL_CHARS, RR_LABEL_LINES);
	const int width = mono_px(text, RR_LABEL_CHARS);
	const int from = x + side * 10;

	rr_svg_box(svg, side > 0 ? from - 2 : from - width - 2, y - 12, width + 4,
		   n * RR_LINE_PX - 1, svg->back, NULL, 0);
	return rr_svg_wrap(svg, from, y, side > 0 ? RR_ANCHOR_START : RR_ANCHOR_END, class, text,
			   RR_LABEL_CHARS, RR_LABEL_LINES);
}

void rr_svg_chip(struct rr_svg *svg, int x, int y, const char *text)
{
	const size_t columns = chip_columns(text);
	const int width = mono_px(text, columns) + 10;

	rr_svg_box(svg, x - width / 2, y, width, RR_CHIP_PX - 2, "#FFFFFF", "#555555", 3);
	rr_svg_text(svg, x, y + 14, RR_ANCHOR_MIDDLE, "m", text, columns);
}

/* ---- Shapes -------------------------------------------------------------- */

void rr_svg_line(struct rr_svg *svg, int x1, int y1, int x2, int y2, const char *colour,
		 const char *dashes)
{
	fprintf(svg->out,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"",
		x1, y1, x2, y2, colour);
	if (dashes)
		fprintf(svg->out, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", svg->out);
}

void rr_svg_box(struct rr_svg *svg, int x, int y, int width, int height, const char *fill,
		const char *stroke, int radius)
{
	fprintf(svg->out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"", x, y,
		width, height, radius, fill);
	if (stroke)
		fprintf(svg->out, " stroke=\"%s\" stroke-width=\"1.5\"", stroke);
	fputs("/>\n", svg->out);
}

void rr_svg_arrow(struct rr_svg *svg, int x1, int x2, int y, const char *colour, const char *dashes)
{
	const int back = x2 > x1 ? -9 : 9;

	rr_svg_line(svg, x1, y, x2 + back / 2, y, colour, dashes);
	fprintf(svg->out, "<polygon points=\"%d,%d %d,%d %d,%d\" fill=\"%s\"/>\n", x2, y, x2 + back,
		y - 5, x2 + back, y + 5, colour);
}

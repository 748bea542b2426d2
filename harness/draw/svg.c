/* SPDX-License-Identifier: MIT */
/* A race as a picture: a lane for each client and server, time runs down. */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	RR_MONO_PX = 8,      /* a character of 13 px monospace, rounded up */
	RR_SANS_PX = 8,      /* one of 13 px sans serif, with room to spare */
	RR_LABEL_CHARS = 40, /* a label is wrapped there */
	RR_LABEL_LINES = 3,  /* and shortened there */
	RR_VALUE_CHARS = 28, /* a key and its value are shortened there, the key never */
	RR_LINE_PX = 16,
	RR_CHIP_PX = 22, /* height of a key's value */
	RR_MARGIN_PX = 20,
	RR_NUMBERS_PX = 34,
	RR_REMARKS_PX = 270,
	VALUE_LEAST = 14, /* with the sign before it */
	LANES_GAP = 40,
	LABEL_GAP = 26,
	LEAST_PX = 300,
};

/* Where a lane of the picture is. Lanes are so far apart that what is written
 * between them has room. */
struct rr_svg_lane {
	int x;
	int head_px; /* half of the width of its head */
	int chip_px; /* half of the width of its widest value */
};

struct rr_svg {
	const struct rr_picture *picture;
	const struct rr_html *html; /* the page that it is a part of; NULL = a file of its own */
	FILE *out;
	struct rr_svg_lane lanes[RR_LANES_MAX];
	int left, right; /* of all lanes with what stands on them */
	int remarks_x;
	int width;        /* of the picture */
	int y;            /* where the next row begins */
	const char *back; /* colour behind the texts */
};

enum rr_anchor { RR_ANCHOR_START, RR_ANCHOR_MIDDLE, RR_ANCHOR_END };

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

/* ---- Lanes --------------------------------------------------------------- */

static const struct rr_svg_lane *rr_svg_client(const struct rr_svg *svg, int client)
{
	return &svg->lanes[svg->picture->client_lanes[client]];
}

static const struct rr_svg_lane *rr_svg_server(const struct rr_svg *svg, int server)
{
	return &svg->lanes[svg->picture->server_lanes[server]];
}

/* 1: what a client writes goes to the right of its lane, -1: to the left. */
static int rr_svg_side(const struct rr_svg *svg, int client)
{
	return rr_svg_client(svg, client) > rr_svg_server(svg, 0) ? -1 : 1;
}

static int rr_larger(int a, int b)
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

/* Of the Okabe-Ito set; clients beyond it begin again. */
static const char *rr_svg_colour(int client)
{
	static const char *const colours[] = { "#0072B2", "#E69F00", "#009E73",
					       "#CC79A7", "#56B4E9", "#D55E00" };

	return colours[(size_t)client % (sizeof(colours) / sizeof(colours[0]))];
}

/* ---- Shapes -------------------------------------------------------------- */

static void rr_svg_line(struct rr_svg *svg, int x1, int y1, int x2, int y2, const char *colour,
			const char *dashes)
{
	fprintf(svg->out,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"",
		x1, y1, x2, y2, colour);
	if (dashes)
		fprintf(svg->out, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", svg->out);
}

static void rr_svg_box(struct rr_svg *svg, int x, int y, int width, int height, const char *fill,
		       const char *stroke, int radius)
{
	fprintf(svg->out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"", x, y,
		width, height, radius, fill);
	if (stroke)
		fprintf(svg->out, " stroke=\"%s\" stroke-width=\"1.5\"", stroke);
	fputs("/>\n", svg->out);
}

/* A horizontal arrow to x2. */
static void rr_svg_arrow(struct rr_svg *svg, int x1, int x2, int y, const char *colour,
			 const char *dashes)
{
	const int back = x2 > x1 ? -9 : 9;

	rr_svg_line(svg, x1, y, x2 + back / 2, y, colour, dashes);
	fprintf(svg->out, "<polygon points=\"%d,%d %d,%d %d,%d\" fill=\"%s\"/>\n", x2, y, x2 + back,
		y - 5, x2 + back, y + 5, colour);
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

/* A text of a class, shortened to `columns`; `y` is its base line. */
static void rr_svg_text(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
			const char *text, size_t columns)
{
	if (rr_plain_width(text) <= columns)
		write_span(svg, x, y, anchor, class, text, strlen(text), "");
	else
		write_span(svg, x, y, anchor, class, text, rr_plain_fit(text, columns - 1), "…");
}

/* The same in lines of `columns` at most, `most` lines at most, the last one
 * then shortened; returns their height. */
static int rr_svg_wrap(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
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

/* How many lines that will be; of NULL, none. */
static int rr_svg_lines(const char *text, size_t columns, int most)
{
	const size_t n = text ? rr_plain_lines(text, columns) : 0;

	return n < (size_t)most ? (int)n : most;
}

/* What a client says beside its lane, on a ground that keeps the lanes it is
 * written over from showing through; returns its height. */
static int rr_svg_label(struct rr_svg *svg, int x, int side, int y, const char *class,
			const char *text)
{
	const int n = rr_svg_lines(text, RR_LABEL_CHARS, RR_LABEL_LINES);
	const int width = mono_px(text, RR_LABEL_CHARS);
	const int from = x + side * 10;

	rr_svg_box(svg, side > 0 ? from - 2 : from - width - 2, y - 12, width + 4,
		   n * RR_LINE_PX - 1, svg->back, NULL, 0);
	return rr_svg_wrap(svg, from, y, side > 0 ? RR_ANCHOR_START : RR_ANCHOR_END, class, text,
			   RR_LABEL_CHARS, RR_LABEL_LINES);
}

/* A key and its value, in a box whose middle is at x. */
static void rr_svg_chip(struct rr_svg *svg, int x, int y, const char *text)
{
	const size_t columns = chip_columns(text);
	const int width = mono_px(text, columns) + 10;

	rr_svg_box(svg, x - width / 2, y, width, RR_CHIP_PX - 2, "#FFFFFF", "#555555", 3);
	rr_svg_text(svg, x, y + 14, RR_ANCHOR_MIDDLE, "m", text, columns);
}

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
	else if (row->fate == RR_FATE_LOST) {
		/* Sent, and ends half way. */
		const int x = far + (near - far) / 2;

		rr_svg_line(svg, far, y, x, y, "#666666", "5 4");
		rr_svg_line(svg, x - 6, y - 6, x + 6, y + 6, "#D55E00", NULL);
		rr_svg_line(svg, x - 6, y + 6, x + 6, y - 6, "#D55E00", NULL);
	}
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
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		/* Thick where a client is in its critical section, dotted where somebody is not
		 * there. */
		const struct rr_lane *lane = &svg->picture->lanes[i];
		const unsigned bit = 1U << lane->index;
		const unsigned away = lane->is_server ? row->down : row->gone;
		const int x = svg->lanes[lane - svg->picture->lanes].x;
		const bool was_inside = row > svg->picture->rows && row[-1].inside & bit;
		const int from = was_inside ? 0 : height / 2;

		rr_svg_line(svg, x, svg->y, x, svg->y + height, colour_of(lane),
			    away & bit || row->kind == RR_ROW_FOLD ? "2 6" : NULL);
		if (!lane->is_server && row->inside & bit)
			rr_svg_box(svg, x - 4, svg->y + from, 8, height - from, colour_of(lane),
				   NULL, 0);
	}
	fwrite(texts, 1, size, out);
	free(texts);
	if (svg->html) {
		/* On a page, a line from what a client saw to the write that replaces what it
		 * did not. */
		const struct rr_knowledge *knowledge = svg->html->knowledge;
		const struct rr_overwrite *first = &knowledge->overwrites[0];
		const int x = svg->remarks_x - 10, middle = svg->y + height / 2;

		if (knowledge->n_overwrites != 0 && index >= first->look && index <= first->write) {
			rr_svg_line(svg, x, index == first->look ? middle : svg->y, x,
				    index == first->write ? middle : svg->y + height,
				    OVERWRITE_COLOUR, NULL);
			if (index == first->look || index == first->write)
				rr_svg_line(svg, x, middle, x + 7, middle, OVERWRITE_COLOUR, NULL);
		}
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
	/* Finds a place for each lane. */
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
	if (!svg->html) {
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
		if (picture->no_finding) {
			char *text = rr_words("%s%s", svg->picture->is_found ? "✗ " : "",
					      svg->picture->no_finding);

			draw_paragraph(svg, 0, "b", text);
			free(text);
		}
		for (size_t i = 0; i < n; i++)
			draw_paragraph(svg, 0, "s", picture->sayings[i]);
		svg->y += RR_MARGIN_PX;
	} else {
		svg->y += RR_MARGIN_PX / 2;
	}
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

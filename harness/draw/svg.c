/* SPDX-License-Identifier: MIT */
/* A race as a picture: a lane for each client and server, time runs down. */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum {
	MONO_PX = 8,      /* a character of 13 px monospace, rounded up */
	SANS_PX = 8,      /* one of 13 px sans serif, with room to spare */
	LABEL_CHARS = 40, /* a label is wrapped there */
	LABEL_LINES = 3,  /* and shortened there */
	VALUE_CHARS = 28, /* a key and its value are shortened there, the key never */
	LINE_PX = 16,
	CHIP_PX = 22, /* height of a key's value */
	MARGIN_PX = 20,
	NUMBERS_PX = 34,
	REMARKS_PX = 270,
	VALUE_LEAST = 14, /* with the sign before it */
	LANES_GAP = 40,
	LABEL_GAP = 26,
	LEAST_PX = 300,
	HEAD_PX = 28,
	LINES_MOST = 6,
	REMARK_CHARS = REMARKS_PX / SANS_PX - 2,
	ABOVE_PX = 7,    /* between a text and the arrow below it */
	BELOW_PX = 9,    /* an arrow */
	OFF_LANE_PX = 6, /* where arrows begin */
	WIDE_PX = 1100,  /* wider than most windows: a list takes its place sooner */
};

/* Where a lane of the picture is. Lanes are so far apart that what is written
 * between them has room. */
struct place {
	int x;
	int head_px; /* half of the width of its head */
	int chip_px; /* half of the width of its widest value */
};

struct svg {
	const struct rr_picture *picture;
	const struct rr_html *html; /* the page that it is a part of; NULL = a file of its own */
	FILE *out;
	struct place lanes[RR_LANES_MAX];
	int left, right; /* of all lanes with what stands on them */
	int remarks_x;
	int width;        /* of the picture */
	int y;            /* where the next row begins */
	const char *back; /* colour behind the texts */
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

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

static const struct place *client_lane(const struct svg *svg, int client)
{
	return &svg->lanes[svg->picture->client_lanes[client]];
}

static const struct place *server_lane(const struct svg *svg, int server)
{
	return &svg->lanes[svg->picture->server_lanes[server]];
}

/* 1: what a client writes goes to the right of its lane, -1: to the left. */
static int side_of(const struct svg *svg, int client)
{
	return client_lane(svg, client) > server_lane(svg, 0) ? -1 : 1;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

static int mono_px(const char *text, size_t most)
{
	const size_t width = text ? rr_plain_width(text) : 0;

	return (int)(width < most ? width : most) * MONO_PX;
}

/* The value is shortened, and not the key: keys would look alike. */
static size_t chip_columns(const char *label)
{
	const char *value = strstr(label, " = ");
	const size_t most = value ? (size_t)(value - label) + VALUE_LEAST : 0;

	return most < VALUE_CHARS ? VALUE_CHARS : most;
}

/* What a client writes by its lane in this row. */
static int label_px(const struct rr_row *row)
{
	return larger(mono_px(row->text, LABEL_CHARS), mono_px(row->reply, LABEL_CHARS));
}

/* Finds a place for each lane, and the width of all. */
static void place_lanes(struct svg *svg)
{
	const struct rr_picture *picture = svg->picture;
	int half = 0; /* of the widest thing on a lane */

	svg->left = MARGIN_PX + NUMBERS_PX;
	for (size_t i = 0; i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];
		struct place *place = &svg->lanes[i];
		const int before = half;

		place->head_px = mono_px(lane->name, LABEL_CHARS) / 2 + 16;
		for (size_t r = 0; lane->is_server && r < picture->n_rows; r++) {
			for (size_t k = 0; k < picture->race->n_keys; k++) {
				const char *label = picture->rows[r].labels[k];

				if (label && picture->keys[k].server == lane->index)
					place->chip_px = larger(
						place->chip_px,
						(mono_px(label, chip_columns(label)) + 14) / 2);
			}
		}
		half = larger(place->head_px, place->chip_px);
		place->x = i == 0 ? svg->left + half : place[-1].x + before + LANES_GAP + half;
		/* It is as far right as what is written between it and those before it asks for. */
		for (size_t r = 0; r < picture->n_rows; r++) {
			const struct rr_row *row = &picture->rows[r];
			const struct place *from, *to;

			if (row->kind != RR_ROW_MESSAGE)
				continue;
			from = client_lane(svg, row->client);
			to = server_lane(svg, row->server);
			if ((from == place && to < place) || (to == place && from < place))
				place->x = larger(place->x, (from < to ? from : to)->x +
								    label_px(row) + LABEL_GAP +
								    to->chip_px);
		}
	}
	/* How far what stands on the lanes reaches to the right. */
	svg->right = larger(svg->lanes[picture->n_lanes - 1].x + half, svg->left + LEAST_PX);
	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];

		if (row->kind == RR_ROW_MARK && side_of(svg, row->client) > 0)
			svg->right = larger(svg->right,
					    client_lane(svg, row->client)->x + 12 + label_px(row));
	}
	svg->remarks_x = svg->right + MARGIN_PX;
	svg->width = svg->remarks_x;
	if (picture->has_remarks || (svg->html && svg->html->knowledge->n_overwrites))
		svg->width += REMARKS_PX + MARGIN_PX;
}

/* Of the Okabe-Ito set; clients beyond it begin again. */
static const char *client_colour(int client)
{
	static const char *const colours[] = { "#0072B2", "#E69F00", "#009E73",
					       "#CC79A7", "#56B4E9", "#D55E00" };

	return colours[(size_t)client % (sizeof(colours) / sizeof(colours[0]))];
}

/* ---- Shapes -------------------------------------------------------------- */

static void put_line(struct svg *svg, int x1, int y1, int x2, int y2, const char *colour,
		     const char *dashes)
{
	fprintf(svg->out,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"1.5\"",
		x1, y1, x2, y2, colour);
	if (dashes)
		fprintf(svg->out, " stroke-dasharray=\"%s\"", dashes);
	fputs("/>\n", svg->out);
}

static void put_box(struct svg *svg, int x, int y, int width, int height, const char *fill,
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
static void put_arrow(struct svg *svg, int x1, int x2, int y, const char *colour,
		      const char *dashes)
{
	const int back = x2 > x1 ? -9 : 9;

	put_line(svg, x1, y, x2 + back / 2, y, colour, dashes);
	fprintf(svg->out, "<polygon points=\"%d,%d %d,%d %d,%d\" fill=\"%s\"/>\n", x2, y, x2 + back,
		y - 5, x2 + back, y + 5, colour);
}

/* ---- Texts --------------------------------------------------------------- */

static void write_span(struct svg *svg, int x, int y, enum anchor anchor, const char *class,
		       const char *text, size_t length, const char *end)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	rr_xml_print(
		svg->out,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" class=\"%s\" stroke=\"%s\" xml:space=\"preserve\">%.*s%s</text>\n",
		x, y, anchors[anchor], class, svg->back, (int)length, text, end);
}

/* A text of a class, shortened to `columns`; `y` is its base line. */
static void put_text(struct svg *svg, int x, int y, enum anchor anchor, const char *class,
		     const char *text, size_t columns)
{
	if (rr_plain_width(text) <= columns)
		write_span(svg, x, y, anchor, class, text, strlen(text), "");
	else
		write_span(svg, x, y, anchor, class, text, rr_plain_fit(text, columns - 1), "…");
}

/* The same in lines of `columns` at most, `most` lines at most, the last one
 * then shortened; returns their height. */
static int put_lines(struct svg *svg, int x, int y, enum anchor anchor, const char *class,
		     const char *text, size_t columns, int most)
{
	int n = 0;

	while (text && (n == 0 || *text) && n < most) {
		const char *line = text;
		const size_t length = rr_plain_line(&text, columns);
		const int base = y + n * LINE_PX;

		n++;
		if (n == most && *text)
			put_text(svg, x, base, anchor, class, line, columns);
		else
			write_span(svg, x, base, anchor, class, line, length, "");
	}
	return n * LINE_PX;
}

/* How many lines that will be; of NULL, none. */
static int count_lines(const char *text, size_t columns, int most)
{
	const size_t n = text ? rr_plain_lines(text, columns) : 0;

	return n < (size_t)most ? (int)n : most;
}

/* What a client says next to its lane, on a ground that keeps the lanes it is
 * written over from showing through; returns its height. */
static int put_label(struct svg *svg, int x, int side, int y, const char *class, const char *text)
{
	const int n = count_lines(text, LABEL_CHARS, LABEL_LINES);
	const int width = mono_px(text, LABEL_CHARS);
	const int from = x + side * 10;

	put_box(svg, side > 0 ? from - 2 : from - width - 2, y - 12, width + 4, n * LINE_PX - 1,
		svg->back, NULL, 0);
	return put_lines(svg, from, y, side > 0 ? ANCHOR_START : ANCHOR_END, class, text,
			 LABEL_CHARS, LABEL_LINES);
}

static const char *colour_of(const struct rr_lane *lane)
{
	return lane->is_server ? "#777777" : client_colour(lane->index);
}

/* ---- The texts of a row: each function returns the height that it takes -- */

/* The values that changed, on their servers' lanes, the first at `y`. */
static int draw_chips(struct svg *svg, const struct rr_row *row, int y)
{
	int heights[RR_RACE_SERVERS_MAX] = { 0 }, most = 0;
	const char *back = svg->back;

	svg->back = "#FFFFFF";
	for (size_t k = 0; k < svg->picture->race->n_keys; k++) {
		const int server = svg->picture->keys[k].server;
		const char *label = row->labels[k];
		const size_t columns = label ? chip_columns(label) : 0;
		const int x = server_lane(svg, server)->x, at = y + heights[server];
		const int width = mono_px(label, columns) + 10;

		if (!label)
			continue;
		put_box(svg, x - width / 2, at, width, CHIP_PX - 2, "#FFFFFF", "#555555", 3);
		put_text(svg, x, at + 14, ANCHOR_MIDDLE, "m", label, columns);
		heights[server] += CHIP_PX;
		most = larger(most, heights[server]);
	}
	svg->back = back;
	return most ? most + 8 : 0;
}

/* A command and its reply: two arrows, each with its text above it. */
static int draw_message(struct svg *svg, const struct rr_row *row)
{
	const int client = client_lane(svg, row->client)->x;
	const int server = server_lane(svg, row->server)->x;
	const int side = server > client ? 1 : -1;
	const int near = client + side * OFF_LANE_PX, far = server - side * 2;
	const char *colour = client_colour(row->client);
	const bool came = row->fate == RR_FATE_CAME;
	const char *reply = came                      ? row->reply :
			    row->fate == RR_FATE_LOST ? "reply lost" :
							"no reply yet";
	int y = svg->y + 2, text = 0, chips;

	if (row->sends) {
		y += ABOVE_PX - 2 +
		     put_label(svg, client, side, svg->y + LINE_PX - 2, "m", row->text);
		put_arrow(svg, near, far, y, colour, NULL);
	}
	if (row->fate != RR_FATE_NONE)
		text = ABOVE_PX +
		       put_label(svg, client, side, y + LINE_PX, came ? "m" : "i", reply);
	chips = draw_chips(svg, row, y + ABOVE_PX);
	y += larger(text, chips);
	if (came)
		put_arrow(svg, far, near, y, colour, "5 4");
	else if (row->fate == RR_FATE_LOST) {
		/* Sent, and ends half way. */
		const int x = far + (near - far) / 2;

		put_line(svg, far, y, x, y, "#666666", "5 4");
		put_line(svg, x - 6, y - 6, x + 6, y + 6, "#D55E00", NULL);
		put_line(svg, x - 6, y + 6, x + 6, y - 6, "#D55E00", NULL);
	}
	return y + BELOW_PX - svg->y;
}

/* Over all lanes: a band for what happens to servers and for notes, a dashed
 * line for time. */
static int draw_across(struct svg *svg, const struct rr_row *row)
{
	const bool is_note = row->kind == RR_ROW_NOTE;
	const bool is_band = is_note || row->kind == RR_ROW_FAULT;
	const int most = svg->right - svg->left;
	const int middle = (svg->left + svg->right) / 2;
	const size_t columns = (size_t)(most - 20) / SANS_PX;
	const int height = 8 + LINE_PX * count_lines(row->text, columns, LINES_MOST);
	const char *back = svg->back;
	int width = (int)rr_plain_width(row->text) * SANS_PX + 24;

	width = is_band || width > most ? most : width;
	if (row->kind == RR_ROW_TIME)
		put_line(svg, svg->left, svg->y + 2 + height / 2, svg->right,
			 svg->y + 2 + height / 2, "#333333", "8 4");
	if (is_band)
		svg->back = is_note ? "#F1F1F1" : "#FBEFB5";
	put_box(svg, middle - width / 2, svg->y + 2, width, height, svg->back, NULL, 3);
	put_lines(svg, middle, svg->y + 18, ANCHOR_MIDDLE, is_note ? "i" : "b", row->text, columns,
		  LINES_MOST);
	svg->back = back;
	return height + 4 + draw_chips(svg, row, svg->y + height + 4);
}

/* What is said of a row, to the right of the lanes. */
static int draw_remarks(struct svg *svg, const struct rr_row *row)
{
	const size_t index = (size_t)(row - svg->picture->rows);
	const int x = svg->remarks_x;
	int y = svg->y + 17;

	if (row->broke) {
		put_text(svg, x, y, ANCHOR_START, "x", "✗", 1);
		y += put_lines(svg, x + 16, y, ANCHOR_START, "b", row->broke, REMARK_CHARS,
			       LINES_MOST);
	}
	if (row->why) {
		put_text(svg, x + 3, y, ANCHOR_START, "b", "!", 1);
		y += put_lines(svg, x + 16, y, ANCHOR_START, "s", row->why, REMARK_CHARS,
			       LINES_MOST);
	}
	/* On a page, what it has to do with writes that replace what their writer has not seen; each
	 * is shown from its own step on. */
	for (size_t i = 0; svg->html && i < svg->html->knowledge->n_overwrites; i++) {
		size_t from;
		char *words = rr_html_overwrite(svg->html, index, i, &from);

		if (!words)
			continue;
		fprintf(svg->out, "<g data-from=\"%zu\">\n", from);
		y += put_lines(svg, x, y, ANCHOR_START, "s", words, REMARK_CHARS + 2, LINES_MOST);
		fputs("</g>\n", svg->out);
		free(words);
	}
	return y + 8 - 17 - svg->y;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Lanes are behind the texts that say how high the row is. On a page it is a group that
 * can be hidden and marked. */
static void draw_row(struct svg *svg, size_t index)
{
	const struct rr_row *row = &svg->picture->rows[index];
	const struct rr_knowledge *knowledge = svg->html ? svg->html->knowledge : NULL;
	bool breaks = row->broke; /* or replaces what its writer has not seen */
	FILE *out = svg->out;
	char *texts, number[24];
	size_t size;
	int height;

	for (size_t i = 0; knowledge && i < knowledge->n_overwrites; i++)
		breaks |= knowledge->overwrites[i].write == index;

	svg->back = breaks ? "#FDEBE1" : row->why ? "#E7F2FA" : "#FFFFFF";
	svg->out = rr_open_memory(&texts, &size);
	if (row->kind == RR_ROW_MESSAGE)
		height = draw_message(svg, row);
	else if (row->kind == RR_ROW_MARK)
		height = put_label(svg, client_lane(svg, row->client)->x, side_of(svg, row->client),
				   svg->y + 17, "m", row->text) +
			 10 + draw_chips(svg, row, svg->y + 24);
	else
		height = draw_across(svg, row);
	snprintf(number, sizeof(number), "%zu", row->number);
	if (row->number)
		put_text(svg, MARGIN_PX + 18, svg->y + 17, ANCHOR_END, "n", number, sizeof(number));
	height = larger(height, draw_remarks(svg, row));
	fclose(svg->out);
	svg->out = out;
	if (svg->html)
		fprintf(out, "<g data-step=\"%zu\">\n", rr_html_step_of(svg->picture, index));
	if (row->remark || svg->html)
		put_box(svg, MARGIN_PX / 2, svg->y, svg->width - MARGIN_PX, height, svg->back, NULL,
			4);
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		/* Thick where a client is in its critical section, dotted where one is not
		 * there. */
		const struct rr_lane *lane = &svg->picture->lanes[i];
		const unsigned bit = 1U << lane->index;
		const unsigned away = lane->is_server ? row->down : row->gone;
		const int x = svg->lanes[lane - svg->picture->lanes].x;
		const bool was_inside = row > svg->picture->rows && row[-1].inside & bit;
		const int from = was_inside ? 0 : height / 2;

		put_line(svg, x, svg->y, x, svg->y + height, colour_of(lane),
			 away & bit || row->kind == RR_ROW_FOLD ? "2 6" : NULL);
		if (!lane->is_server && row->inside & bit)
			put_box(svg, x - 4, svg->y + from, 8, height - from, colour_of(lane), NULL,
				0);
	}
	fwrite(texts, 1, size, out);
	free(texts);
	if (svg->html) {
		/* On a page, a line from what a client saw to the write that replaces what it
		 * did not. */
		const struct rr_overwrite *first = &knowledge->overwrites[0];
		const int x = svg->remarks_x - 10, middle = svg->y + height / 2;

		if (knowledge->n_overwrites != 0 && index >= first->look && index <= first->write) {
			put_line(svg, x, index == first->look ? middle : svg->y, x,
				 index == first->write ? middle : svg->y + height, OVERWRITE_COLOUR,
				 NULL);
			if (index == first->look || index == first->write)
				put_line(svg, x, middle, x + 7, middle, OVERWRITE_COLOUR, NULL);
		}
		fputs("</g>\n", out);
	}
	svg->y += height;
}

/* ---- Above the rows, and below ------------------------------------------- */

static size_t page_columns(const struct svg *svg)
{
	return (size_t)(svg->width - 2 * MARGIN_PX) / SANS_PX;
}

static void draw_paragraph(struct svg *svg, int indent, const char *class, const char *text)
{
	svg->y += put_lines(svg, MARGIN_PX + indent, svg->y + 14, ANCHOR_START, class, text,
			    page_columns(svg) - (size_t)indent / SANS_PX, 20);
}

static void draw_heads(struct svg *svg)
{
	svg->back = "none";
	for (size_t i = 0; i < svg->picture->n_lanes; i++) {
		const struct rr_lane *lane = &svg->picture->lanes[i];
		const int x = svg->lanes[i].x, half = svg->lanes[i].head_px;

		put_box(svg, x - half, svg->y, 2 * half, HEAD_PX,
			lane->is_server ? "#EEEEEE" : "#FFFFFF", colour_of(lane),
			lane->is_server ? 0 : 12);
		put_text(svg, x, svg->y + 19, ANCHOR_MIDDLE, "b", lane->name,
			 rr_plain_width(lane->name));
	}
	svg->y += HEAD_PX;
}

/* Above and below the lanes a page has words of its own. */
static void draw_all(struct svg *svg)
{
	place_lanes(svg);
	if (!svg->html) {
		svg->y += 4 + put_lines(svg, MARGIN_PX, svg->y + 16, ANCHOR_START, "t",
					svg->picture->title, page_columns(svg) * 3 / 4, 2) *
				      22 / LINE_PX;
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
		svg->y += MARGIN_PX;
	} else {
		svg->y += MARGIN_PX / 2;
	}
}

/* How high it is is known at the end. */
static void write_svg(FILE *out, struct svg *svg)
{
	const struct rr_picture *picture = svg->picture;
	char *drawn;

	svg->back = "none";
	svg->y = svg->html ? MARGIN_PX / 2 : MARGIN_PX;
	svg->out = rr_open_text(&drawn);
	draw_all(svg);
	fclose(svg->out);
	if (svg->html)
		rr_xml_print(
			out,
			"<div class=\"picture%s\" tabindex=\"0\" role=\"region\" aria-label=\"Lanes: %s\">",
			svg->width > WIDE_PX ? " many" : "", picture->title);
	fputs("<svg role=\"img\"", out);
	if (svg->html)
		fprintf(out, " style=\"width:%.1frem;min-width:%.1frem\"", svg->width / REM_PX,
			svg->width / REM_PX * LEAST_SCALE);
	else
		fprintf(out, " xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"",
			svg->width, svg->y);
	fprintf(out, " viewBox=\"0 0 %d %d\">\n", svg->width, svg->y);
	rr_xml_print(out, "<title>%s</title>\n", picture->title);
	if (!svg->html) { /* for those who cannot see it; on a page the list of steps says it */
		fputs("<desc>", out);
		for (size_t i = 0; i < picture->n_rows; i++) {
			const struct rr_row *row = &picture->rows[i];

			if (row->number)
				fprintf(out, "%zu. ", row->number);
			rr_xml_print(out, "%s%s%s%s%s%s%s.\n", row->client_name,
				     row->client_name ? ": " : "", row->text,
				     row->reply ? " replies " : "", row->reply,
				     row->broke ? "; " : "", row->broke);
		}
		fprintf(out, "Found: %s.</desc>\n", picture->verdict);
	}
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
	write_svg(out, &(struct svg){ .picture = picture });
}

void rr_svg_embed(const struct rr_html *html)
{
	write_svg(html->out, &(struct svg){ .picture = html->picture, .html = html });
}

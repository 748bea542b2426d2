/* SPDX-License-Identifier: MIT */
/* The paper that an SVG picture is drawn on: where its lanes are, and the
 * shapes that are drawn there. All lengths in px. */
#ifndef RR_SVG_H
#define RR_SVG_H

#include "html.h"

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

/* Finds a place for each lane; svg->picture is set. */
void rr_svg_lay_out(struct rr_svg *svg);

const struct rr_svg_lane *rr_svg_client(const struct rr_svg *svg, int client);
const struct rr_svg_lane *rr_svg_server(const struct rr_svg *svg, int server);

/* 1: what a client writes goes to the right of its lane, -1: to the left. */
int rr_svg_side(const struct rr_svg *svg, int client);

int rr_larger(int a, int b);

/* Of the Okabe-Ito set; clients beyond it begin again. */
const char *rr_svg_colour(int client);

/* ---- Shapes -------------------------------------------------------------- */

/* A text of a class, shortened to `columns`; `y` is its base line. */
void rr_svg_text(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
		 const char *text, size_t columns);

/* The same in lines of `columns` at most, `most` lines at most, the last one
 * then shortened; returns their height. */
int rr_svg_wrap(struct rr_svg *svg, int x, int y, enum rr_anchor anchor, const char *class,
		const char *text, size_t columns, int most);

/* How many lines that will be; of NULL, none. */
int rr_svg_lines(const char *text, size_t columns, int most);

/* What a client says beside its lane, on a ground that keeps the lanes it is
 * written over from showing through; returns its height. */
int rr_svg_label(struct rr_svg *svg, int x, int side, int y, const char *class, const char *text);

/* A key and its value, in a box whose middle is at x. */
void rr_svg_chip(struct rr_svg *svg, int x, int y, const char *text);

void rr_svg_line(struct rr_svg *svg, int x1, int y1, int x2, int y2, const char *colour,
		 const char *dashes);
void rr_svg_box(struct rr_svg *svg, int x, int y, int width, int height, const char *fill,
		const char *stroke, int radius);

/* A horizontal arrow to x2. */
void rr_svg_arrow(struct rr_svg *svg, int x1, int x2, int y, const char *colour,
		  const char *dashes);

#endif

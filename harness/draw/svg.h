/* SPDX-License-Identifier: MIT */
/* The shapes that an SVG drawing is made of, and the rows made of them. */
#ifndef RR_SVG_H
#define RR_SVG_H

#include <stdio.h>

#include "lanes.h"

struct rr_svg {
	FILE *out;
	struct rr_lanes lanes;
	int y;             /* where the next row begins */
	unsigned gone;     /* clients that have crashed, a bit each */
	unsigned inside;   /* after the row before, as struct rr_row's */
	unsigned down;     /* likewise */
	const char *paper; /* colour behind the texts of this row */
};

enum rr_anchor { RR_ANCHOR_START, RR_ANCHOR_MIDDLE, RR_ANCHOR_END };

/* ---- Shapes ---------------------------------------------------------------- */

/* A text of a class; `y` is its base line. */
void rr_svg_text(struct rr_svg *svg, int x, int y, enum rr_anchor anchor,
		 const char *class, const char *text, size_t length);

/* The same in lines of `columns` at most, `most` lines at most, the last one
 * then shortened; returns how many. */
int rr_svg_wrap(struct rr_svg *svg, int x, int y, enum rr_anchor anchor,
		const char *class, const char *text, size_t columns, int most);

/* What a client says beside its lane, on a ground that keeps the lanes it is
 * written over from showing through. */
void rr_svg_label(struct rr_svg *svg, int x, int side, int y,
		  const char *class, const char *text);

/* How many lines that will be. */
int rr_svg_lines(const char *text, size_t columns, int most);

void rr_svg_line(struct rr_svg *svg, int x1, int y1, int x2, int y2,
		 const char *colour, const char *dashes);
void rr_svg_box(struct rr_svg *svg, int x, int y, int width, int height,
		const char *fill, const char *stroke, int radius);

/* A horizontal arrow to x2. */
void rr_svg_arrow(struct rr_svg *svg, int x1, int x2, int y,
		  const char *colour, const char *dashes);

/* Of the Okabe-Ito set; clients beyond it begin again. */
const char *rr_svg_colour(int client);

/* ---- Rows ------------------------------------------------------------------- */

/* Draws a row and moves svg->y below it. */
void rr_svg_row(struct rr_svg *svg, const struct rr_row *row);

/* A message's inside, `height` is what it takes; see svg_message.c. */
int rr_svg_message_height(const struct rr_svg *svg, const struct rr_row *row);
void rr_svg_message(struct rr_svg *svg, const struct rr_row *row);

/* The values that changed on all servers' lanes, the first at `y`. */
int rr_svg_values_height(const struct rr_svg *svg, const struct rr_row *row);
void rr_svg_values(struct rr_svg *svg, const struct rr_row *row, int y);

#endif

/* SPDX-License-Identifier: MIT */
/* Writes lines of text: in the characters the terminal has, with colour where
 * it may be, and without blanks at their ends. */
#ifndef RR_PEN_H
#define RR_PEN_H

#include "draw.h"

enum rr_paint { RR_PLAIN, RR_BOLD, RR_DIM, RR_RED, RR_YELLOW, RR_CYAN, RR_MAGENTA };

struct rr_pen {
	FILE *out;
	const struct rr_style *style;
	size_t column; /* where the next character goes */
	size_t blanks; /* not written yet */
	enum rr_paint paint;
};

void rr_pen_paint(struct rr_pen *pen, enum rr_paint paint);
void rr_pen_text(struct rr_pen *pen, const char *text, size_t length);
void rr_pen_string(struct rr_pen *pen, const char *text);

/* Repeats a character of one column until the pen is at `column`. */
void rr_pen_fill(struct rr_pen *pen, const char *character, size_t column);
void rr_pen_go(struct rr_pen *pen, size_t column);

void rr_pen_end_line(struct rr_pen *pen);

/* A paragraph whose lines all begin at `column`, the first where the pen is. */
void rr_pen_wrap(struct rr_pen *pen, const char *text, size_t column);

#endif

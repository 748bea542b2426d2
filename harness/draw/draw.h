/* SPDX-License-Identifier: MIT */
/* Pictures of a race that was played, from its trace alone. */
#ifndef RR_DRAW_H
#define RR_DRAW_H

#include <stdio.h>

#include "rows.h"

enum rr_format {
	RR_FORMAT_TEXT,
	RR_FORMAT_MERMAID,
	RR_FORMAT_SVG,
	RR_FORMAT_HTML,
	RR_FORMAT_JSON,
	RR_FORMATS
};

/* How RR_FORMAT_TEXT is printed. */
struct rr_style {
	bool ascii;
	bool colour;
	size_t width; /* columns */
};

/* The format of that name; false = there is none. */
bool rr_draw_format(const char *name, enum rr_format *format);

/* For what `out` is: characters by the locale (setlocale() was called), colour
 * on a terminal without NO_COLOR, its width; 80 columns elsewhere. */
struct rr_style rr_draw_style(FILE *out, bool ascii);

/* Draws to `out`. False: out of memory. */
bool rr_draw(FILE *out, const struct rr_trace *trace, enum rr_format format,
	     const struct rr_style *style);

/* What is not as it was written, expected and actual below each other; nothing
 * when trace->as_written. */
void rr_draw_difference(FILE *out, const struct rr_trace *trace);

/* ---- One format each ------------------------------------------------------- */

void rr_draw_text(FILE *out, const struct rr_rows *rows,
		  const struct rr_style *style);
void rr_draw_mermaid(FILE *out, const struct rr_rows *rows);
void rr_draw_svg(FILE *out, const struct rr_rows *rows);
void rr_draw_html(FILE *out, const struct rr_rows *rows);
bool rr_draw_json(FILE *out, const struct rr_trace *trace);

#endif

/* SPDX-License-Identifier: MIT */
/* Pictures of a race that was played, from its trace alone. */
#ifndef RR_DRAW_H
#define RR_DRAW_H

#include <jansson.h>
#include <stdio.h>

#include "base/format.h"
#include "race/race.h"

/* What a page says of a race next to its trace. NULL = nothing. */
struct rr_article {
	const char *id;              /* of its element; needed */
	const char *command;         /* that plays it again */
	const struct rr_trace *safe; /* the same with something safe, to compare */
	const char *safe_name;       /* "multi-watch" */
	bool is_part;                /* of a page with others: its title is not a h1 */
	const char *heading;         /* in place of the race's title; NULL = that */
	const char *ends;            /* lines above the steps: what went wrong; NULL = none */
	const char *why;             /* lines below them; NULL = none */
};

/* How RR_FORMAT_TEXT is printed, and what RR_FORMAT_HTML says next to the trace. */
struct rr_style {
	bool ascii;
	bool colour;
	size_t width;                     /* columns */
	bool only_steps;                  /* of text: its title and verdict stand elsewhere */
	const struct rr_article *article; /* NULL = nothing */
};

/* For what `out` is: characters by the locale (setlocale() was called), colour
 * on a terminal without NO_COLOR, its width; 80 columns elsewhere. */
struct rr_style rr_draw_style(FILE *out, bool ascii);

/* Draws to `out` in one of RR_PICTURE_FORMATS. */
void rr_draw(FILE *out, const struct rr_trace *trace, enum rr_format format,
	     const struct rr_style *style);

/* The table of a race that is still being played, without title and verdict. Its
 * columns are as wide as the steps to come need them. */
void rr_draw_so_far(FILE *out, const struct rr_trace *trace, const struct rr_style *style);

/* ---- A race on a page of HTML (html.c) --------------------------------------- */

/* Writes an <article> into a page that ends with the script rr_race_script. */
void rr_draw_article(FILE *out, const struct rr_trace *trace, const struct rr_article *article);
extern const char *const rr_race_script;

/* Writes all that comes before the content of <main>: head, the common style
 * (harness/report/style.css), the switches for dark and large type. `navigation`: HTML that stands
 * above all in a page among others, NULL = none. */
void rr_page_begin(FILE *out, const char *title, const char *navigation);

/* Writes all of <body> before the content of <main>: one header, and in a page among others a link
 * that skips it. */
void rr_page_top(FILE *out, const char *navigation);

/* Closes it. After harness/report/page.js comes `script`, an asset; NULL = none. */
void rr_page_end(FILE *out, const char *script);

/* ---- In words ---------------------------------------------------------------- */

/* "Clients A, B; at the beginning x = 41, lock = (nil).": malloc'd. */
char *rr_beginning_words(const struct rr_trace *trace);

/* What is not as it was written, expected and actual below each other; nothing
 * when trace->as_written. */
void rr_draw_difference(FILE *out, const struct rr_trace *trace);

/* The number of a step in the pictures; notes have none and are not counted. */
size_t rr_step_number(const struct rr_race *race, const struct rr_step *step);

/* "GET x", "enters", "11 s pass, t = 11 s", "n1 is killed (kill -9)": malloc'd,
 * printable UTF-8. An event without a command has not been sent yet, and is its
 * step's words with their $variables. */
char *rr_step_words(const struct rr_trace *trace, const struct rr_event *event);

/* The steps of what was played, as docs/formats.md has those of a finding. */
json_t *rr_trace_steps(const struct rr_trace *trace);

/* "enters", "tick", "power-cut": the step's kind in one word. */
const char *rr_step_kind_word(const struct rr_step *step);

#endif

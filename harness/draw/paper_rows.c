/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "paper.h"
#include "base/plain.h"

enum { INDENT = 4 };

/* ---- Remarks ---------------------------------------------------------------------- */

static enum rr_paint remark_paint(const struct rr_row *row)
{
	return row->broke ? RR_RED : RR_YELLOW;
}

/* What was broken, then why this is the step that decides. */
static char *remark_of(const struct rr_pen *pen, const struct rr_row *row)
{
	char *text = NULL;

	if (!row->broke && !row->why)
		return NULL;
	if (asprintf(&text, "%s%s%s%s%s",
		     !row->broke	? "" :
		     pen->style->ascii ? "X " :
					  "✗ ",
		     row->broke ? row->broke : "",
		     row->broke && row->why ? " " : "", row->why ? "! " : "",
		     row->why ? row->why : "") < 0)
		return NULL;
	return text;
}

static void put_remark_line(struct rr_paper *paper, struct rr_pending *pending,
			    const struct rr_row *row)
{
	struct rr_pen *pen = &paper->pen;
	const char *line = pending->remark_left;

	if (!line || !*line || paper->sheet.remarks_at == 0)
		return;
	rr_pen_go(pen, paper->sheet.remarks_at);
	rr_pen_paint(pen, remark_paint(row));
	rr_pen_text(pen, line,
		    rr_plain_line(&pending->remark_left,
				  paper->sheet.remarks_width));
}

static void put_remark_below(struct rr_paper *paper, struct rr_pending *pending,
			     const struct rr_row *row)
{
	struct rr_pen *pen = &paper->pen;

	if (!pending->remark || paper->sheet.remarks_at > 0)
		return;
	rr_pen_go(pen, INDENT);
	rr_pen_paint(pen, remark_paint(row));
	rr_pen_wrap(pen, pending->remark, INDENT + 2);
}

/* ---- Rows -------------------------------------------------------------------------- */

static void begin_row(struct rr_paper *paper, const struct rr_row *row,
		      struct rr_pending *pending)
{
	*pending = (struct rr_pending){ .remark = remark_of(&paper->pen, row) };
	pending->remark_left = pending->remark;
	for (size_t i = 0; i < paper->sheet.n; i++) {
		pending->cells[i] = rr_sheet_cell(
			&paper->sheet, &paper->sheet.columns[i], row);
		pending->left[i] = pending->cells[i];
	}
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++) {
		if (!row->keys[i])
			continue;
		free(paper->now[i]);
		paper->now[i] = strdup(row->keys[i]);
	}
}

static bool is_done(const struct rr_paper *paper,
		    const struct rr_pending *pending)
{
	for (size_t i = 0; i < paper->sheet.n; i++) {
		if (pending->left[i] && *pending->left[i])
			return false;
	}
	return paper->sheet.remarks_at == 0 || !pending->remark_left ||
	       !*pending->remark_left;
}

static void end_row(struct rr_paper *paper, const struct rr_row *row,
		    struct rr_pending *pending)
{
	put_remark_below(paper, pending, row);
	for (size_t i = 0; i < paper->sheet.n; i++)
		free(pending->cells[i]);
	free(pending->remark);
}

static void put_cells(struct rr_paper *paper, const struct rr_row *row,
		      struct rr_pending *pending, int line)
{
	struct rr_pen *pen = &paper->pen;

	for (; line == 0 || !is_done(paper, pending); line++) {
		size_t at = 0;

		for (size_t i = 0; i < paper->sheet.n; i++) {
			rr_pen_go(pen, at);
			rr_paper_cell(paper, row, pending, i, line);
			at += paper->sheet.columns[i].width + RR_GAP;
		}
		put_remark_line(paper, pending, row);
		rr_pen_end_line(pen);
	}
}

/* Values that changed, in the rule, if its text has left their columns free. */
static void put_keys_in_rule(struct rr_paper *paper, const struct rr_row *row,
			     struct rr_pending *pending, enum rr_glyph glyph)
{
	const struct rr_sheet *sheet = &paper->sheet;
	struct rr_pen *pen = &paper->pen;
	size_t at = 0;

	for (size_t i = 0; i < sheet->n; i++) {
		if (sheet->columns[i].kind == RR_COLUMN_KEY &&
		    pending->left[i] && pen->column < at) {
			rr_pen_fill(pen, glyph, at - 1);
			rr_pen_go(pen, at);
			rr_paper_cell(paper, row, pending, i, 0);
			rr_pen_go(pen, pen->column + 1);
		}
		at += sheet->columns[i].width + RR_GAP;
	}
}

/* A line across: time passes, or something happens to a server. */
static void put_rule(struct rr_paper *paper, const struct rr_row *row,
		     struct rr_pending *pending)
{
	const enum rr_glyph glyph = row->kind == RR_ROW_TIME ? RR_GLYPH_LINE :
							       RR_GLYPH_DOUBLE;
	struct rr_pen *pen = &paper->pen;

	rr_paper_cell(paper, row, pending, 0, 0);
	rr_pen_go(pen, paper->sheet.columns[0].width + RR_GAP);
	rr_pen_paint(pen, row->kind == RR_ROW_TIME ? RR_CYAN : RR_MAGENTA);
	rr_pen_fill(pen, glyph, pen->column + 2);
	rr_pen_go(pen, pen->column + 1);
	if (row->text)
		rr_pen_text(pen, row->text,
			    rr_plain_fit(row->text,
					 paper->sheet.width - pen->column));
	rr_pen_go(pen, pen->column + 1);
	put_keys_in_rule(paper, row, pending, glyph);
	rr_pen_fill(pen, glyph, paper->sheet.width);
	put_remark_line(paper, pending, row);
	rr_pen_end_line(pen);
	put_cells(paper, row, pending, 1);
}

static void put_note(struct rr_paper *paper, const struct rr_row *row,
		     struct rr_pending *pending)
{
	struct rr_pen *pen = &paper->pen;

	rr_pen_go(pen, INDENT);
	rr_pen_paint(pen, RR_DIM);
	if (row->kind == RR_ROW_NOTE) {
		rr_pen_glyph(pen, RR_GLYPH_NOTE);
		rr_pen_go(pen, pen->column + 1);
	}
	rr_pen_wrap(pen, row->text ? row->text : "", pen->column);
	put_cells(paper, row, pending, 1);
}

void rr_paper_row(struct rr_paper *paper, const struct rr_row *row)
{
	struct rr_pending pending;

	begin_row(paper, row, &pending);
	if (row->kind == RR_ROW_TIME || row->kind == RR_ROW_FAULT)
		put_rule(paper, row, &pending);
	else if (row->kind == RR_ROW_NOTE || row->kind == RR_ROW_FOLD)
		put_note(paper, row, &pending);
	else
		put_cells(paper, row, &pending, 0);
	end_row(paper, row, &pending);
}

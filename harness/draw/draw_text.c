/* SPDX-License-Identifier: MIT */
/* A race as a table: a row for each step, a column for each client and key. */
#include <stdlib.h>
#include <string.h>

#include "paper.h"
#include "base/plain.h"
#include "wording.h"

/* ---- Above the table ------------------------------------------------------------ */

static void put_title(struct rr_pen *pen, const struct rr_race *race)
{
	char *title = rr_plain(race->title), *claims = rr_plain(race->claims);

	rr_pen_paint(pen, RR_BOLD);
	rr_pen_wrap(pen, title ? title : "", 0);
	if (claims && *claims) {
		rr_pen_string(pen, "claim ");
		rr_pen_wrap(pen, claims, 6);
	}
	rr_pen_end_line(pen);
	free(title);
	free(claims);
}

/* Where the head of a column begins: above its text. */
static size_t head_at(const struct rr_sheet *sheet,
		      const struct rr_column *column)
{
	if (column->kind != RR_COLUMN_CLIENT)
		return 0;
	return sheet->gutter +
	       (sheet->has_arrows && column->index == 1 ? RR_ARROW : 0);
}

static void put_head(struct rr_paper *paper)
{
	const struct rr_sheet *sheet = &paper->sheet;
	struct rr_pen *pen = &paper->pen;
	size_t at = 0;

	for (size_t i = 0; i < sheet->n; i++) {
		const struct rr_column *column = &sheet->columns[i];
		const char *head = rr_sheet_head(sheet, column);
		const size_t room = column->width - head_at(sheet, column);

		rr_pen_go(pen, at + head_at(sheet, column));
		rr_pen_paint(pen, RR_BOLD);
		rr_pen_text(pen, head, rr_plain_fit(head, room));
		at += column->width + RR_GAP;
	}
	rr_pen_end_line(pen);
	rr_pen_paint(pen, RR_DIM);
	rr_pen_fill(pen, RR_GLYPH_LINE, sheet->width);
	rr_pen_end_line(pen);
}

/* ---- Below it -------------------------------------------------------------------- */

static void put_legend(struct rr_pen *pen, const struct rr_rows *rows)
{
	if (rr_rows_have_fate(rows, RR_FATE_LOST)) {
		rr_pen_wrap(pen,
			    "(lost): executed, and the client never sees the reply.",
			    0);
	}
	if (rr_rows_have_fate(rows, RR_FATE_WAITS))
		rr_pen_wrap(pen, "(waits): no reply yet.", 0);
}

static void put_finding(struct rr_pen *pen, const struct rr_trace *trace,
			enum rr_finding finding)
{
	char *figures = rr_plain(trace->conclusion[finding]);

	rr_pen_paint(pen, RR_RED);
	rr_pen_glyph(pen, RR_GLYPH_BROKE);
	rr_pen_go(pen, pen->column + 1);
	rr_pen_string(pen, rr_finding_name(finding));
	if (figures && *figures) {
		rr_pen_string(pen, ": ");
		rr_pen_wrap(pen, figures, 2);
	} else {
		rr_pen_end_line(pen);
	}
	rr_pen_go(pen, 2);
	rr_pen_wrap(pen, rr_finding_meaning(finding), 2);
	free(figures);
}

static void put_findings(struct rr_pen *pen, const struct rr_trace *trace)
{
	for (int i = 0; i < RR_FINDINGS; i++) {
		if (trace->findings & 1U << i)
			put_finding(pen, trace, (enum rr_finding)i);
	}
	if (!trace->findings)
		rr_pen_wrap(pen, "Nothing broken.", 0);
}

static void put_sayings(struct rr_pen *pen, const struct rr_trace *trace)
{
	for (size_t i = 0; i < trace->race->n_sayings; i++) {
		char *text = rr_wording_saying(trace,
					       &trace->race->sayings[i]);

		rr_pen_wrap(pen, text ? text : "", 2);
		free(text);
	}
}

/* A race that stopped before its end has no verdict. */
static void put_verdict(struct rr_pen *pen, const struct rr_trace *trace)
{
	rr_pen_end_line(pen);
	if (!rr_rows_are_complete(trace)) {
		rr_pen_wrap(pen, "The race ended here, without a verdict.", 0);
		return;
	}
	put_findings(pen, trace);
	put_sayings(pen, trace);
}

void rr_draw_text(FILE *out, const struct rr_rows *rows,
		  const struct rr_style *style)
{
	struct rr_paper paper = { .pen = { .out = out, .style = style } };

	rr_sheet_lay_out(&paper.sheet, rows, style->width);
	put_title(&paper.pen, rows->trace->race);
	put_head(&paper);
	for (size_t i = 0; i < rows->n; i++)
		rr_paper_row(&paper, &rows->rows[i]);
	put_legend(&paper.pen, rows);
	put_verdict(&paper.pen, rows->trace);
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++)
		free(paper.now[i]);
}

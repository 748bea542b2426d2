/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "paper.h"
#include "base/plain.h"

enum { LINES_MOST = 6 };

/* The next line of a cell: before => when the reply would be torn off. */
static size_t next_line(const char **text, size_t width)
{
	const char *reply = strstr(*text, " => ");
	const char *line = *text;
	size_t head;

	if (rr_plain_width(line) <= width) {
		*text += strlen(line);
		return strlen(line);
	}
	head = reply ? (size_t)(reply - line) : 0;
	if (head == 0 || rr_plain_fit(line, width) < head)
		return rr_plain_line(text, width);
	*text = reply + 1;
	return head;
}

/* One line of a cell; *left moves on. The last of LINES_MOST ends in "...". */
static void put_line(struct rr_pen *pen, const char **left, size_t width,
		     int line)
{
	const char *text = *left;
	const size_t length = next_line(left, width);

	if (line + 1 < LINES_MOST || !**left) {
		rr_pen_text(pen, text, length);
		return;
	}
	rr_pen_text(pen, text, rr_plain_fit(text, width - 1));
	rr_pen_glyph(pen, RR_GLYPH_MORE);
	*left += strlen(*left);
}

static bool has_arrow(const struct rr_paper *paper, const struct rr_row *row,
		      int line)
{
	return paper->sheet.has_arrows && line == 0 &&
	       row->kind == RR_ROW_MESSAGE;
}

/* From the text to the end of the column: to the key, or from it. */
static void put_left_arrow(struct rr_pen *pen, const struct rr_row *row,
			   size_t end)
{
	rr_pen_go(pen, pen->column + 1);
	if (rr_row_sends(row)) {
		rr_pen_fill(pen, RR_GLYPH_LINE, end - 1);
		rr_pen_glyph(pen, RR_GLYPH_RIGHT);
	} else {
		rr_pen_glyph(pen, RR_GLYPH_LEFT);
		rr_pen_fill(pen, RR_GLYPH_LINE, end);
	}
}

static void put_right_arrow(struct rr_pen *pen, const struct rr_row *row)
{
	const size_t end = pen->column + RR_ARROW - 1;

	if (rr_row_sends(row)) {
		rr_pen_glyph(pen, RR_GLYPH_LEFT);
		rr_pen_fill(pen, RR_GLYPH_LINE, end);
	} else {
		rr_pen_fill(pen, RR_GLYPH_LINE, end - 1);
		rr_pen_glyph(pen, RR_GLYPH_RIGHT);
	}
}

static void put_gutter(struct rr_pen *pen, size_t gutter, bool is_inside)
{
	const size_t begin = pen->column;

	if (is_inside)
		rr_pen_glyph(pen, RR_GLYPH_INSIDE);
	rr_pen_go(pen, begin + gutter);
}

static void put_client(struct rr_paper *paper, const struct rr_column *column,
		       const struct rr_row *row, const char **left, int line)
{
	struct rr_pen *pen = &paper->pen;
	const size_t begin = pen->column, end = begin + column->width;
	const bool arrow = row->actor == column->index &&
			   has_arrow(paper, row, line);
	const bool is_right = paper->sheet.has_arrows && column->index == 1;

	if (is_right && arrow)
		put_right_arrow(pen, row);
	if (is_right)
		rr_pen_go(pen, begin + RR_ARROW);
	put_gutter(pen, paper->sheet.gutter, row->inside & 1U << column->index);
	if (*left && **left)
		put_line(pen, left,
			 rr_sheet_text_width(&paper->sheet, column), line);
	if (arrow && !is_right)
		put_left_arrow(pen, row, end);
}

/* With arrows, the value that an arrow points to is there in any case. */
static void put_key(struct rr_paper *paper, const struct rr_column *column,
		    const struct rr_row *row, const char **left, int line)
{
	const char *now = paper->now[column->index];

	if (!*left && now && has_arrow(paper, row, line))
		*left = now;
	if (*left && **left)
		put_line(&paper->pen, left, column->width, line);
}

void rr_paper_cell(struct rr_paper *paper, const struct rr_row *row,
		     struct rr_pending *pending, size_t i, int line)
{
	const struct rr_column *column = &paper->sheet.columns[i];
	const char **left = &pending->left[i];

	if (column->kind == RR_COLUMN_CLIENT)
		put_client(paper, column, row, left, line);
	else if (column->kind == RR_COLUMN_KEY)
		put_key(paper, column, row, left, line);
	else if (*left && **left)
		put_line(&paper->pen, left, column->width, line);
}

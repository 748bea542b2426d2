/* SPDX-License-Identifier: MIT */
/*
 * A race as a table: a row for each step, a column for each client and key.
 * Where clients have no room side by side, they share a column; remarks stand
 * beside the table, or below their rows.
 */
#include <string.h>

#include "base/text.h"
#include "sheet.h"

enum {
	INDENT = 4,     /* of notes, and of remarks below their rows */
	LINES_MOST = 6, /* of a cell; the last one then ends in "…" */
};

/* ---- Cells --------------------------------------------------------------- */

/* The next line of a cell: before => when the reply would be torn off. */
static size_t next_line(const char **text, size_t width)
{
	const char *reply = strstr(*text, " => ");
	const char *line = *text;
	const size_t head = reply ? (size_t)(reply - line) : 0;

	if (rr_plain_width(line) <= width) {
		*text += strlen(line);
		return strlen(line);
	}
	if (head == 0 || rr_plain_fit(line, width) < head)
		return rr_plain_line(text, width);
	*text = reply + 1;
	return head;
}

static void table_line(struct rr_pen *pen, struct column *column, int line)
{
	const char *text = column->left;
	const size_t width = column->width - column->extra;
	size_t length;

	if (!text || !*text)
		return;
	length = next_line(&column->left, width);
	if (line + 1 < LINES_MOST || !*column->left) {
		rr_pen_text(pen, text, length);
		return;
	}
	rr_pen_text(pen, text, rr_plain_fit(text, width - 1));
	rr_pen_string(pen, "…");
	column->left = NULL;
}

/* From where the pen is to `end`. */
static void table_arrow(struct rr_pen *pen, bool is_right, size_t end)
{
	if (!is_right)
		rr_pen_string(pen, "◀");
	rr_pen_fill(pen, "─", is_right ? end - 1 : end);
	if (is_right)
		rr_pen_string(pen, "▶");
}

/* The key stands to the right of the first client, to the left of the second;
 * arrows point to it, or from it where the client only reads. */
static void table_client(struct sheet *sheet, struct column *column, const struct rr_row *row,
			 bool has_arrow, int line)
{
	struct rr_pen *pen = &sheet->pen;
	const bool is_second = sheet->has_arrows && column->index == 1;

	has_arrow = has_arrow && row->client == column->index;
	if (is_second && has_arrow)
		table_arrow(pen, !row->sends, column->at + ARROW - 1);
	if (is_second)
		rr_pen_go(pen, column->at + ARROW);
	if (row->inside & 1U << column->index)
		rr_pen_string(pen, "┃");
	rr_pen_go(pen, column->at + (is_second ? ARROW : 0) + sheet->gutter);
	table_line(pen, column, line);
	if (!is_second && has_arrow) {
		rr_pen_go(pen, pen->column + 1);
		table_arrow(pen, row->sends, column->at + column->width);
	}
}

/* With arrows, the value that an arrow points to is there in any case. */
static void table_cell(struct sheet *sheet, struct column *column, const struct rr_row *row,
		       int line)
{
	struct rr_pen *pen = &sheet->pen;
	const bool has_arrow = sheet->has_arrows && line == 0 && row->kind == RR_ROW_MESSAGE;

	rr_pen_go(pen, column->at);
	if (column->kind == ONE_CLIENT) {
		table_client(sheet, column, row, has_arrow, line);
		return;
	}
	if (column->kind == KEY && !column->left && has_arrow)
		column->left = sheet->now[column->index];
	if (column->kind != REMARKS) {
		table_line(pen, column, line);
	} else if (column->left && *column->left) {
		const char *text = column->left;

		rr_pen_paint(pen, row->broke ? RR_RED : RR_YELLOW);
		rr_pen_text(pen, text, rr_plain_line(&column->left, column->width));
	}
}

/* ---- Rows ---------------------------------------------------------------- */

static bool is_row_done(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->n; i++) {
		const char *left = sheet->columns[i].left;

		if (left && *left)
			return false;
	}
	return true;
}

static void table_cells(struct sheet *sheet, const struct rr_row *row, int line)
{
	for (; line == 0 || !is_row_done(sheet); line++) {
		for (size_t i = 0; i < sheet->n; i++)
			table_cell(sheet, &sheet->columns[i], row, line);
		rr_pen_end_line(&sheet->pen);
	}
}

/* A line across: time passes, or something happens to a server. Values that
 * changed stand in it, if its text has left their columns free. */
static void table_rule(struct sheet *sheet, const struct rr_row *row)
{
	const char *glyph = row->kind == RR_ROW_TIME ? "─" : "═";
	struct rr_pen *pen = &sheet->pen;

	rr_pen_go(pen, sheet->numbers + GAP);
	rr_pen_paint(pen, row->kind == RR_ROW_TIME ? RR_CYAN : RR_MAGENTA);
	rr_pen_fill(pen, glyph, pen->column + 2);
	rr_pen_go(pen, pen->column + 1);
	rr_pen_text(pen, row->text, rr_plain_fit(row->text, sheet->width - pen->column));
	rr_pen_go(pen, pen->column + 1);
	for (size_t i = 0; i < sheet->n; i++) {
		struct column *column = &sheet->columns[i];

		if (column->kind == KEY && column->left && pen->column < column->at) {
			rr_pen_fill(pen, glyph, column->at - 1);
			table_cell(sheet, column, row, 0);
			rr_pen_go(pen, pen->column + 1);
		}
	}
	rr_pen_fill(pen, glyph, sheet->width);
	if (sheet->columns[sheet->n - 1].kind == REMARKS)
		table_cell(sheet, &sheet->columns[sheet->n - 1], row, 0);
	rr_pen_end_line(pen);
	table_cells(sheet, row, 1);
}

static void table_note(struct sheet *sheet, const struct rr_row *row)
{
	struct rr_pen *pen = &sheet->pen;

	rr_pen_go(pen, INDENT);
	rr_pen_paint(pen, RR_DIM);
	if (row->kind == RR_ROW_NOTE) {
		rr_pen_string(pen, pen->style->ascii ? "--" : "–");
		rr_pen_go(pen, pen->column + 1);
	}
	rr_pen_wrap(pen, row->text, pen->column);
	table_cells(sheet, row, 1);
}

/* A remark that has no column stands below its row. */
static void table_row(struct sheet *sheet, const struct rr_row *row)
{
	struct rr_pen *pen = &sheet->pen;
	char number[24];

	for (size_t i = 0; i < sheet->n; i++)
		sheet->columns[i].left = sheet_cell(&sheet->columns[i], row);
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++)
		sheet->now[i] = row->values[i] ? row->values[i] : sheet->now[i];
	snprintf(number, sizeof(number), "%2zu", row->number);
	if (row->number)
		rr_pen_string(pen, number);
	if (sheet_is_rule(row))
		table_rule(sheet, row);
	else if (row->is_across)
		table_note(sheet, row);
	else
		table_cells(sheet, row, 0);
	if (!row->remark || sheet->columns[sheet->n - 1].kind == REMARKS)
		return;
	rr_pen_go(pen, INDENT);
	rr_pen_paint(pen, row->broke ? RR_RED : RR_YELLOW);
	rr_pen_wrap(pen, row->remark, INDENT + 2);
}

/* The head of a column begins above its text. */
static void table_head(struct sheet *sheet, struct column *column)
{
	struct rr_pen *pen = &sheet->pen;
	size_t begin = column->at, width;

	if (column->kind == ONE_CLIENT)
		begin += column->index == 1 ? column->extra : sheet->gutter;
	width = column->at + column->width - begin;
	rr_pen_go(pen, begin);
	if (column->left && *column->left) {
		const char *text = column->left;

		rr_pen_text(pen, text, rr_plain_line(&column->left, width));
	}
}

/* A name that is wider than its column has several lines: cut, two keys might look alike. */
static void table_heads(struct sheet *sheet)
{
	struct rr_pen *pen = &sheet->pen;

	for (size_t i = 0; i < sheet->n; i++)
		sheet->columns[i].left = sheet->columns[i].head;
	for (bool is_first = true; is_first || !is_row_done(sheet); is_first = false) {
		rr_pen_paint(pen, RR_BOLD);
		if (is_first)
			rr_pen_string(pen, " #");
		for (size_t i = 0; i < sheet->n; i++)
			table_head(sheet, &sheet->columns[i]);
		rr_pen_end_line(pen);
	}
	rr_pen_paint(pen, RR_DIM);
	rr_pen_fill(pen, "─", sheet->width);
	rr_pen_end_line(pen);
}

/* ---- The whole ----------------------------------------------------------- */

static void table_verdict(struct rr_pen *pen, const struct rr_picture *picture)
{
	rr_pen_end_line(pen);
	if (picture->no_finding)
		rr_pen_wrap(pen, picture->no_finding, 0);
	if (!picture->is_complete)
		return;
	for (size_t i = 0; i < picture->n_findings; i++) {
		rr_pen_paint(pen, RR_RED);
		rr_pen_string(pen, "✗ ");
		rr_pen_wrap(pen, picture->findings[i].heading, 2);
		rr_pen_go(pen, 2);
		rr_pen_wrap(pen, picture->findings[i].meaning, 2);
	}
	for (size_t i = 0; i < picture->race->n_sayings; i++)
		rr_pen_wrap(pen, picture->sayings[i], 2);
}

static void table_rows(struct sheet *sheet, size_t n)
{
	table_heads(sheet);
	for (size_t i = 0; i < n; i++)
		table_row(sheet, &sheet->picture->rows[i]);
}

void rr_write_rows(FILE *out, const struct rr_picture *picture, size_t n)
{
	struct sheet sheet = { .picture = picture, .pen = { .out = out, .style = picture->style } };

	sheet_lay_out(&sheet, picture->style->width);
	table_rows(&sheet, n);
}

void rr_write_text(FILE *out, const struct rr_picture *picture)
{
	struct sheet sheet = { .picture = picture, .pen = { .out = out, .style = picture->style } };
	struct rr_pen *pen = &sheet.pen;

	sheet_lay_out(&sheet, picture->style->width);
	rr_pen_paint(pen, RR_BOLD);
	rr_pen_wrap(pen, picture->title, 0);
	if (*picture->claims)
		rr_pen_wrap(pen, picture->claims, strlen("claim "));
	rr_pen_end_line(pen);
	table_rows(&sheet, picture->n_rows);
	if (picture->fates & 1U << RR_FATE_LOST)
		rr_pen_wrap(pen, "(lost): executed, and the client never sees the reply.", 0);
	if (picture->fates & 1U << RR_FATE_WAITS)
		rr_pen_wrap(pen, "(waits): no reply yet.", 0);
	table_verdict(pen, picture);
}

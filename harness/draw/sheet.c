/* SPDX-License-Identifier: MIT */
#include "sheet.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

enum {
	CLIENT_MOST = 42,  /* wider cells are wrapped */
	CLIENT_LEAST = 12, /* narrower ones are not readable */
	KEY_MOST = 24,
	KEY_LEAST = 5,
	REMARKS_LEAST = 20,
	REMARKS_MOST = 40,
};

/* ---- Cells ---------------------------------------------------------------------- */

static bool is_clients(const struct rr_column *column,
		       const struct rr_row *row)
{
	if (row->kind != RR_ROW_MESSAGE && row->kind != RR_ROW_MARK)
		return false;
	return column->kind == RR_COLUMN_ALL || column->index == row->actor;
}

/* Which server, where there is a choice. */
static void put_server(FILE *out, const struct rr_race *race,
		       const struct rr_row *row)
{
	if (row->kind == RR_ROW_MESSAGE && race->n_servers > 1)
		fprintf(out, "@%s ", race->servers[row->server].name);
}

static char *clients_cell(const struct rr_race *race,
			  const struct rr_column *column,
			  const struct rr_row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (column->kind == RR_COLUMN_ALL)
		fprintf(out, "%s: ", race->actors[row->actor].name);
	put_server(out, race, row);
	if (rr_row_sends(row) && row->fate == RR_FATE_NONE)
		fputs("writes ", out);
	fprintf(out, "%s%s%s", row->text ? row->text : "",
		row->reply ? " => " : "", row->reply ? row->reply : "");
	fclose(out);
	return text;
}

char *rr_sheet_cell(const struct rr_sheet *sheet,
		    const struct rr_column *column, const struct rr_row *row)
{
	char *text = NULL;

	switch (column->kind) {
	case RR_COLUMN_NUMBER:
		if (row->number &&
		    asprintf(&text, "%2zu", row->number) < 0)
			text = NULL;
		return text;
	case RR_COLUMN_KEY:
		return row->keys[column->index] ?
			       strdup(row->keys[column->index]) :
			       NULL;
	default:
		return is_clients(column, row) ?
			       clients_cell(sheet->rows->trace->race, column,
					    row) :
			       NULL;
	}
}

const char *rr_sheet_head(const struct rr_sheet *sheet,
			  const struct rr_column *column)
{
	const struct rr_race *race = sheet->rows->trace->race;

	switch (column->kind) {
	case RR_COLUMN_NUMBER:
		return " #";
	case RR_COLUMN_CLIENT:
		return race->actors[column->index].name;
	case RR_COLUMN_KEY:
		return race->keys[column->index];
	default:
		return "clients";
	}
}

/* ---- Widths ---------------------------------------------------------------------- */

static size_t extra(const struct rr_sheet *sheet,
		    const struct rr_column *column)
{
	if (column->kind != RR_COLUMN_CLIENT)
		return 0;
	return sheet->gutter + (sheet->has_arrows ? RR_ARROW : 0);
}

size_t rr_sheet_text_width(const struct rr_sheet *sheet,
			   const struct rr_column *column)
{
	return column->width - extra(sheet, column);
}

static size_t most(const struct rr_column *column)
{
	return column->kind == RR_COLUMN_KEY ? KEY_MOST : CLIENT_MOST;
}

static size_t least(const struct rr_column *column)
{
	return column->kind == RR_COLUMN_KEY	? KEY_LEAST :
	       column->kind == RR_COLUMN_NUMBER ? column->width :
						  CLIENT_LEAST;
}

/* As wide as its widest cell, within limits. */
static void widen(const struct rr_sheet *sheet, struct rr_column *column)
{
	size_t width = rr_plain_width(rr_sheet_head(sheet, column));

	for (size_t i = 0; i < sheet->rows->n; i++) {
		char *cell = rr_sheet_cell(sheet, column,
					   &sheet->rows->rows[i]);
		const size_t wide = cell ? rr_plain_width(cell) : 0;

		width = wide > width ? wide : width;
		free(cell);
	}
	width = width > most(column) ? most(column) : width;
	column->width = width + extra(sheet, column);
}

static size_t total(const struct rr_sheet *sheet)
{
	size_t width = 0;

	for (size_t i = 0; i < sheet->n; i++)
		width += sheet->columns[i].width + (i ? RR_GAP : 0);
	return width;
}

/* The widest column that can give something up; NULL = none can. */
static struct rr_column *widest(struct rr_sheet *sheet)
{
	struct rr_column *found = NULL;

	for (size_t i = 0; i < sheet->n; i++) {
		struct rr_column *column = &sheet->columns[i];

		if (rr_sheet_text_width(sheet, column) > least(column) &&
		    (!found || column->width > found->width))
			found = column;
	}
	return found;
}

static bool shrink(struct rr_sheet *sheet, size_t width)
{
	struct rr_column *column;

	while (total(sheet) > width) {
		column = widest(sheet);
		if (!column)
			return false;
		column->width--;
	}
	return true;
}

/* ---- Columns ------------------------------------------------------------------------ */

static void add(struct rr_sheet *sheet, enum rr_column_kind kind, int index)
{
	struct rr_column *column = &sheet->columns[sheet->n++];

	*column = (struct rr_column){ .kind = kind, .index = index };
	widen(sheet, column);
}

static void add_columns(struct rr_sheet *sheet, bool each)
{
	const struct rr_race *race = sheet->rows->trace->race;

	sheet->n = 0;
	sheet->has_arrows = each && race->n_actors == 2 && race->n_keys == 1;
	add(sheet, RR_COLUMN_NUMBER, 0);
	if (!each)
		add(sheet, RR_COLUMN_ALL, 0);
	for (size_t i = 0; each && i < race->n_actors; i++) {
		if (i == 1 && sheet->has_arrows)
			add(sheet, RR_COLUMN_KEY, 0);
		add(sheet, RR_COLUMN_CLIENT, (int)i);
	}
	for (size_t i = 0; !sheet->has_arrows && i < race->n_keys; i++)
		add(sheet, RR_COLUMN_KEY, (int)i);
}

/* Beside the columns, if there is room for them there. */
static void place_remarks(struct rr_sheet *sheet, size_t width)
{
	const size_t at = sheet->width + RR_GAP;

	sheet->remarks_at = 0;
	sheet->remarks_width = width > 5 ? width - 5 : 1;
	if (!rr_rows_have_remarks(sheet->rows) || at + REMARKS_LEAST > width)
		return;
	sheet->remarks_at = at;
	sheet->remarks_width = width - at < REMARKS_MOST ? width - at :
							   REMARKS_MOST;
}

/* Rules are as wide as the table, which may be narrower than their texts. */
static void make_room_for_rules(struct rr_sheet *sheet, size_t width)
{
	for (size_t i = 0; i < sheet->rows->n; i++) {
		const struct rr_row *row = &sheet->rows->rows[i];
		size_t wide;

		if (row->kind != RR_ROW_TIME && row->kind != RR_ROW_FAULT)
			continue;
		wide = RR_RULE_EXTRA + rr_plain_width(row->text ? row->text : "");
		wide = wide < width ? wide : width;
		sheet->width = wide > sheet->width ? wide : sheet->width;
	}
}

static size_t gutter(const struct rr_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].inside)
			return 2;
	}
	return 0;
}

void rr_sheet_lay_out(struct rr_sheet *sheet, const struct rr_rows *rows,
		      size_t width)
{
	*sheet = (struct rr_sheet){ .rows = rows, .gutter = gutter(rows) };
	add_columns(sheet, true);
	if (!shrink(sheet, width)) {
		add_columns(sheet, false);
		shrink(sheet, width);
	}
	sheet->width = total(sheet);
	make_room_for_rules(sheet, width);
	place_remarks(sheet, width);
}

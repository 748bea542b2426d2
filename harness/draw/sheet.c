/* SPDX-License-Identifier: MIT */
#include "sheet.h"

#include <stdio.h>

#include "base/text.h"

enum {
	RULE_EXTRA = 9,    /* of a rule, beside its text */
	CLIENT_MOST = 42,  /* wider cells are wrapped */
	CLIENT_LEAST = 12, /* narrower ones are not readable */
	SHARED_LEAST = 28, /* the same where one column is all clients', if there is room */
	KEY_MOST = 24,
	KEY_LEAST = 5,
	HEAD_LEAST = 12, /* of a key's name; longer ones can be cut */
	REMARKS_MOST = 40,
	REMARKS_LEAST = 20,
};

bool sheet_is_rule(const struct rr_row *row)
{
	return row->kind == RR_ROW_TIME || row->kind == RR_ROW_FAULT;
}

const char *sheet_cell(const struct column *column, const struct rr_row *row)
{
	switch (column->kind) {
	case ONE_CLIENT:
		return row->client == column->index ? row->action : NULL;
	case ALL_CLIENTS:
		return row->sentence;
	case KEY:
		return row->values[column->index];
	default:
		return row->remark;
	}
}

/* As wide as its widest cell, within limits. */
static void add_column(struct sheet *sheet, enum column_kind kind, int index, const char *head)
{
	const size_t most = kind == KEY ? KEY_MOST : CLIENT_MOST;
	struct column *column = &sheet->columns[sheet->n++];
	const size_t name = rr_plain_width(head);
	size_t width = name;

	*column = (struct column){
		.kind = kind, .index = index, .head = head, .least = CLIENT_LEAST
	};
	if (kind == KEY)
		column->least = name < KEY_LEAST || sheet->is_shared ? KEY_LEAST :
				name < HEAD_LEAST                    ? name :
								       HEAD_LEAST;
	if (kind == ONE_CLIENT)
		column->extra = sheet->gutter + (sheet->has_arrows ? ARROW : 0);
	for (size_t i = 0; i < sheet->picture->n_rows; i++) {
		const char *cell = sheet_cell(column, &sheet->picture->rows[i]);
		const size_t wide = cell ? rr_plain_width(cell) : 0;

		width = wide > width ? wide : width;
	}
	column->width = (width < most ? width : most) + column->extra;
}

static void add_columns(struct sheet *sheet)
{
	const struct rr_picture *picture = sheet->picture;
	const struct rr_race *race = picture->race;

	sheet->n = 0;
	sheet->has_arrows = !sheet->is_shared && race->n_clients == 2 && race->n_keys == 1;
	if (sheet->is_shared)
		add_column(sheet, ALL_CLIENTS, 0, "clients");
	for (size_t i = 0; !sheet->is_shared && i < picture->n_lanes; i++) {
		const struct rr_lane *lane = &picture->lanes[i];

		if (!lane->is_server)
			add_column(sheet, ONE_CLIENT, lane->index, lane->name);
		if (sheet->has_arrows && sheet->n == 1)
			add_column(sheet, KEY, 0, picture->keys[0].name);
	}
	for (size_t i = 0; !sheet->has_arrows && i < race->n_keys; i++)
		add_column(sheet, KEY, (int)i, picture->keys[i].name);
}

/* The widest column that can give something up; NULL = none can. */
static struct column *widest_column(struct sheet *sheet)
{
	struct column *found = NULL;

	for (size_t i = 0; i < sheet->n; i++) {
		struct column *column = &sheet->columns[i];

		if (column->width - column->extra > column->least &&
		    (!found || column->width > found->width))
			found = column;
	}
	return found;
}

static bool shrink_columns(struct sheet *sheet, size_t width)
{
	size_t total = sheet->numbers;

	for (size_t i = 0; i < sheet->n; i++)
		total += GAP + sheet->columns[i].width;
	for (; total > width; total--) {
		struct column *column = widest_column(sheet);

		if (!column)
			return false;
		column->width--;
	}
	return true;
}

/* What does not depend on the columns. Rules are as wide as the table, which
 * may be narrower than their texts; returns what these ask for. */
static size_t measure_rows(struct sheet *sheet)
{
	const struct rr_picture *picture = sheet->picture;
	size_t last = 0, rule = 0;

	for (size_t i = 0; i < picture->n_rows; i++) {
		const struct rr_row *row = &picture->rows[i];
		const size_t wide = RULE_EXTRA + rr_plain_width(row->text);

		last = row->number ? row->number : last;
		if (row->inside)
			sheet->gutter = 2;
		if (sheet_is_rule(row) && wide > rule)
			rule = wide;
	}
	sheet->numbers = (size_t)snprintf(NULL, 0, "%2zu", last);
	return rule;
}

void sheet_lay_out(struct sheet *sheet, size_t width)
{
	const size_t rule = measure_rows(sheet);
	struct column *remarks;
	size_t at;

	add_columns(sheet);
	if (!shrink_columns(sheet, width)) {
		sheet->is_shared = true;
		add_columns(sheet);
		sheet->columns[0].least = SHARED_LEAST;
		if (!shrink_columns(sheet, width)) {
			sheet->columns[0].least = CLIENT_LEAST;
			shrink_columns(sheet, width);
		}
	}
	at = sheet->numbers + GAP;
	for (size_t i = 0; i < sheet->n; i++) {
		sheet->columns[i].at = at;
		at += sheet->columns[i].width + GAP;
	}
	sheet->width = rule < width ? rule : width;
	if (sheet->width < at - GAP)
		sheet->width = at - GAP;
	at = sheet->width + GAP;
	if (!sheet->picture->has_remarks || at + REMARKS_LEAST > width)
		return;
	remarks = &sheet->columns[sheet->n++];
	*remarks = (struct column){ .kind = REMARKS, .at = at, .head = "" };
	remarks->width = width - at < REMARKS_MOST ? width - at : REMARKS_MOST;
}

/* SPDX-License-Identifier: MIT */
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"

enum { LANES_GAP = 40, LABEL_GAP = 26, LEAST_PX = 300 };

/* ---- Lanes and their texts ------------------------------------------------------- */

const struct rr_lane *rr_lanes_client(const struct rr_lanes *lanes, int client)
{
	size_t i = 0;

	while (lanes->lanes[i].is_server || lanes->lanes[i].index != client)
		i++;
	return &lanes->lanes[i];
}

const struct rr_lane *rr_lanes_server(const struct rr_lanes *lanes, int server)
{
	size_t i = 0;

	while (!lanes->lanes[i].is_server || lanes->lanes[i].index != server)
		i++;
	return &lanes->lanes[i];
}

int rr_lanes_side(const struct rr_lanes *lanes, int client)
{
	const struct rr_lane *lane = rr_lanes_client(lanes, client);

	return lane > rr_lanes_server(lanes, 0) ? -1 : 1;
}

const char *rr_lanes_name(const struct rr_lanes *lanes,
			  const struct rr_lane *lane)
{
	const struct rr_race *race = lanes->rows->trace->race;

	return lane->is_server ? race->servers[lane->index].name :
				 race->actors[lane->index].name;
}

static char *shortened(char *text, size_t columns)
{
	const size_t fits = text ? rr_plain_fit(text, columns) : 0;
	char *shorter;

	if (!text || !text[fits])
		return text;
	if (asprintf(&shorter, "%.*s…", (int)rr_plain_fit(text, columns - 1),
		     text) < 0)
		shorter = NULL;
	free(text);
	return shorter;
}

char *rr_lanes_value(const struct rr_rows *rows, const struct rr_row *row,
		     size_t key, int server)
{
	const struct rr_race *race = rows->trace->race;
	char *text;
	size_t length;

	if (!row->keys[key] ||
	    rr_rows_server_of(race, race->keys[key], &length) != server ||
	    asprintf(&text, "%.*s = %s", (int)length, race->keys[key],
		     row->keys[key]) < 0)
		return NULL;
	return shortened(text, RR_VALUE_CHARS);
}

/* ---- Widths ------------------------------------------------------------------------ */

static int mono_px(const char *text, size_t most)
{
	const size_t width = text ? rr_plain_width(text) : 0;

	return (int)(width < most ? width : most) * RR_MONO_PX;
}

static int widest_value_px(const struct rr_rows *rows, int server)
{
	int widest = 0;

	for (size_t i = 0; i < rows->n; i++) {
		for (size_t k = 0; k < rows->trace->race->n_keys; k++) {
			char *text = rr_lanes_value(rows, &rows->rows[i], k,
						    server);
			const int px = mono_px(text, RR_VALUE_CHARS) + 14;

			if (text && px > widest)
				widest = px;
			free(text);
		}
	}
	return widest;
}

/* What a client writes by its lane in this row. */
static int label_px(const struct rr_row *row)
{
	const int text = mono_px(row->text, RR_LABEL_CHARS);
	const int reply = mono_px(row->reply, RR_LABEL_CHARS);

	return text > reply ? text : reply;
}

static int half_px(const struct rr_lane *lane)
{
	return lane->head_px > lane->chip_px ? lane->head_px : lane->chip_px;
}

/* ---- Places ---------------------------------------------------------------------------- */

static void add(struct rr_lanes *lanes, bool is_server, int index)
{
	struct rr_lane *lane = &lanes->lanes[lanes->n++];

	*lane = (struct rr_lane){ .is_server = is_server, .index = index };
	lane->head_px = mono_px(rr_lanes_name(lanes, lane), RR_LABEL_CHARS) / 2 +
			16;
	if (is_server)
		lane->chip_px = widest_value_px(lanes->rows, index) / 2;
}

/* A single server stands between two clients. */
static void add_all(struct rr_lanes *lanes)
{
	const struct rr_race *race = lanes->rows->trace->race;
	const bool between = race->n_actors == 2 && race->n_servers == 1;

	for (size_t i = 0; i < race->n_actors; i++) {
		if (between && i == 1)
			add(lanes, true, 0);
		add(lanes, false, (int)i);
	}
	for (size_t i = 0; !between && i < race->n_servers; i++)
		add(lanes, true, (int)i);
}

/* Lane `i` is as far right as what is written between it and those before it
 * asks for. */
static void place(struct rr_lanes *lanes, size_t i)
{
	struct rr_lane *lane = &lanes->lanes[i];
	const struct rr_lane *before = lane - 1;

	lane->x = i == 0 ? lanes->left + half_px(lane) :
			   before->x + half_px(before) + LANES_GAP +
				   half_px(lane);
	for (size_t r = 0; r < lanes->rows->n; r++) {
		const struct rr_row *row = &lanes->rows->rows[r];
		const struct rr_lane *from, *to;
		int need;

		if (row->kind != RR_ROW_MESSAGE)
			continue;
		from = rr_lanes_client(lanes, row->actor);
		to = rr_lanes_server(lanes, row->server);
		need = label_px(row) + LABEL_GAP + to->chip_px;
		if (from == lane && to < lane && to->x + need > lane->x)
			lane->x = to->x + need;
		if (to == lane && from < lane && from->x + need > lane->x)
			lane->x = from->x + need;
	}
}

/* How far what stands on the lanes reaches to the right. */
static int right_px(const struct rr_lanes *lanes)
{
	const struct rr_lane *last = &lanes->lanes[lanes->n - 1];
	int right = last->x + half_px(last);

	for (size_t i = 0; i < lanes->rows->n; i++) {
		const struct rr_row *row = &lanes->rows->rows[i];
		int end;

		if (row->kind != RR_ROW_MARK ||
		    rr_lanes_side(lanes, row->actor) < 0)
			continue;
		end = rr_lanes_client(lanes, row->actor)->x + 12 +
		      label_px(row);
		right = end > right ? end : right;
	}
	return right;
}

void rr_lanes_lay_out(struct rr_lanes *lanes, const struct rr_rows *rows)
{
	*lanes = (struct rr_lanes){ .rows = rows,
				    .left = RR_MARGIN_PX + RR_NUMBERS_PX };
	add_all(lanes);
	for (size_t i = 0; i < lanes->n; i++)
		place(lanes, i);
	lanes->right = right_px(lanes);
	if (lanes->right < lanes->left + LEAST_PX)
		lanes->right = lanes->left + LEAST_PX;
	lanes->remarks_x = lanes->right + RR_MARGIN_PX;
	lanes->width = lanes->right + RR_MARGIN_PX;
	if (rr_rows_have_remarks(rows))
		lanes->width = lanes->remarks_x + RR_REMARKS_PX + RR_MARGIN_PX;
}

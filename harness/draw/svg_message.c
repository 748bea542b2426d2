/* SPDX-License-Identifier: MIT */
/* A command and its reply: two arrows, each with its text above it. */
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "svg.h"

enum { ABOVE = 5, BELOW = 9, OFF_LANE = 6 };

static const char *reply_of(const struct rr_row *row)
{
	switch (row->fate) {
	case RR_FATE_LOST:
		return "reply lost";
	case RR_FATE_WAITS:
		return "no reply yet";
	case RR_FATE_CAME:
		return row->reply ? row->reply : "";
	default:
		return NULL;
	}
}

static int text_height(const char *text)
{
	return rr_svg_lines(text, RR_LABEL_CHARS, RR_LABEL_LINES) * RR_LINE_PX;
}

/* From the row's top to the command's arrow, and from there to the reply's. */
static int to_command(const struct rr_row *row)
{
	return rr_row_sends(row) ? text_height(row->text) + ABOVE + 2 : 2;
}

static int to_reply(const struct rr_svg *svg, const struct rr_row *row)
{
	const char *reply = reply_of(row);
	const int text = reply ? text_height(reply) + ABOVE + 2 : 0;
	const int values = rr_svg_values_height(svg, row);

	return text > values ? text : values;
}

int rr_svg_message_height(const struct rr_svg *svg, const struct rr_row *row)
{
	return to_command(row) + to_reply(svg, row) + BELOW;
}

/* Sent, and ends half way. */
static void put_lost(struct rr_svg *svg, int from, int to, int y)
{
	const int x = from + (to - from) / 2;

	rr_svg_line(svg, from, y, x, y, "#666666", "5 4");
	rr_svg_line(svg, x - 6, y - 6, x + 6, y + 6, "#D55E00", NULL);
	rr_svg_line(svg, x - 6, y + 6, x + 6, y - 6, "#D55E00", NULL);
}

static void put_reply(struct rr_svg *svg, const struct rr_row *row, int from,
		      int to, int y)
{
	if (row->fate == RR_FATE_CAME)
		rr_svg_arrow(svg, from, to, y, rr_svg_colour(row->actor),
			     "5 4");
	else if (row->fate == RR_FATE_LOST)
		put_lost(svg, from, to, y);
}

void rr_svg_message(struct rr_svg *svg, const struct rr_row *row)
{
	const int client = rr_lanes_client(&svg->lanes, row->actor)->x;
	const int server = rr_lanes_server(&svg->lanes, row->server)->x;
	const int side = server > client ? 1 : -1;
	const int near = client + side * OFF_LANE, far = server - side * 2;
	const int command_y = svg->y + to_command(row);
	const int reply_y = command_y + to_reply(svg, row);
	const char *reply = reply_of(row);

	if (rr_row_sends(row)) {
		rr_svg_arrow(svg, near, far, command_y,
			     rr_svg_colour(row->actor), NULL);
		rr_svg_label(svg, client, side, svg->y + RR_LINE_PX - 2, "m",
			  row->text);
	}
	put_reply(svg, row, far, near, reply_y);
	if (reply)
		rr_svg_label(svg, client, side, command_y + RR_LINE_PX,
			  row->fate == RR_FATE_CAME ? "m" : "i", reply);
	rr_svg_values(svg, row, command_y + 7);
}

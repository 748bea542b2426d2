/* SPDX-License-Identifier: MIT */
/* Where the lanes of an SVG drawing are: one for each client and server, so far
 * apart that what is written between them has room. All lengths in px. */
#ifndef RR_LANES_H
#define RR_LANES_H

#include "rows.h"

enum {
	RR_LANES_MAX = RR_ACTORS_MAX + RR_RACE_SERVERS_MAX,
	RR_MONO_PX = 8,      /* a character of 13 px monospace, rounded up */
	RR_SANS_PX = 8,      /* one of 13 px sans serif, with room to spare */
	RR_LABEL_CHARS = 40, /* a label is wrapped there */
	RR_LABEL_LINES = 3,  /* and shortened there */
	RR_VALUE_CHARS = 28, /* a key and its value are shortened there */
	RR_LINE_PX = 16,
	RR_CHIP_PX = 22,     /* height of a key's value */
	RR_MARGIN_PX = 20,
	RR_NUMBERS_PX = 34,
	RR_REMARKS_PX = 270,
};

struct rr_lane {
	bool is_server;
	int index;
	int x;
	int head_px; /* half of the width of its head */
	int chip_px; /* half of the width of its widest value */
};

struct rr_lanes {
	const struct rr_rows *rows;
	size_t n;
	struct rr_lane lanes[RR_LANES_MAX];
	int left, right;  /* of all lanes with what stands on them */
	int remarks_x;
	int width;        /* of the picture */
};

void rr_lanes_lay_out(struct rr_lanes *lanes, const struct rr_rows *rows);

const struct rr_lane *rr_lanes_client(const struct rr_lanes *lanes, int client);
const struct rr_lane *rr_lanes_server(const struct rr_lanes *lanes, int server);

/* 1: what a client writes goes to the right of its lane, -1: to the left. */
int rr_lanes_side(const struct rr_lanes *lanes, int client);

const char *rr_lanes_name(const struct rr_lanes *lanes,
			  const struct rr_lane *lane);

/* "lock = 1", shortened, for a key that changed; malloc'd, NULL = not on that
 * server's lane. */
char *rr_lanes_value(const struct rr_rows *rows, const struct rr_row *row,
		     size_t key, int server);

#endif

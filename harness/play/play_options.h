/* SPDX-License-Identifier: MIT */
/* What `redrace play` was asked for. */
#ifndef RR_PLAY_OPTIONS_H
#define RR_PLAY_OPTIONS_H

#include "draw/draw.h"
#include "rehearse.h"

struct rr_play_options {
	const char *race;
	const char *redis_server;
	const char *output; /* NULL = stdout */
	enum rr_format format;
	bool ascii;
	bool step;
	struct rr_rehearse_options rehearsal;
};

/* Wrong usage ends the program. */
void rr_play_options_parse(struct rr_play_options *options, int argc,
			   char **argv);

#endif

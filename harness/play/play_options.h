/* SPDX-License-Identifier: MIT */
/* What `redrace play` was asked for. */
#ifndef RR_PLAY_OPTIONS_H
#define RR_PLAY_OPTIONS_H

#include "base/option.h"
#include "draw/draw.h"
#include "play.h"

struct rr_play_options {
	const char *race;
	const char *redis_server;
	const char *output; /* NULL = stdout */
	enum rr_format format; /* RR_FORMATS before it is picked */
	bool ascii;
	bool step;
	struct rr_guided_options guided;
};

/* For a struct rr_play_options. */
extern const struct rr_command_line rr_play_command_line;

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The terminal of somebody who says, key by key, who goes next: what is there to be
 * seen, and a terminal that hands over every key at once, put back as it was.
 */
#ifndef RR_SCREEN_H
#define RR_SCREEN_H

#include "base/machine.h"
#include "guided.h"

enum { RR_LINE_SIZE = 200 };

/* What rr_terminal_key() answers besides a character. */
enum { RR_KEY_NONE = -1, RR_KEY_ESCAPE = 27, RR_KEY_DELETE = 127, RR_KEY_LEFT = 256, RR_KEY_RIGHT };

struct rr_terminal {
	struct rr_signals *signals;
	bool is_raw;
};

/* False: standard input and output are not a terminal. */
bool rr_terminal_open(struct rr_terminal *terminal, struct rr_signals *signals);
void rr_terminal_close(struct rr_terminal *terminal);

/* The next key; Ctrl-C is a signal. RR_KEY_NONE: a signal has come
 * (signals->interrupted), or the terminal is gone. */
int rr_terminal_key(struct rr_terminal *terminal);

/* Draws everything: the goal, the keys, what each thread is about to do, the last
 * steps or the help, and a message. `view` is NULL when everything has ended. */
void rr_screen_draw(struct rr_guided *guided, const struct rr_execution_view *view, bool shows_help,
		    const char *message);

/* What the user is after, and whether this execution has it. */
const char *rr_goal_text(const struct rr_strategy *strategy);
bool rr_goal_is_reached(const struct rr_guided *guided);

#endif

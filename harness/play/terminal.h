/* SPDX-License-Identifier: MIT */
/* A terminal that hands over every key at once, put back as it was. */
#ifndef RR_TERMINAL_H
#define RR_TERMINAL_H

#include <termios.h>

#include "base/machine.h"

/* What rr_terminal_key() answers besides a character. */
enum { RR_KEY_NONE = -1, RR_KEY_ESCAPE = 27, RR_KEY_DELETE = 127 };

struct rr_terminal {
	struct rr_signals *signals;
	struct termios before;
	bool is_raw;
};

/* False: standard input and output are not a terminal. */
bool rr_terminal_open(struct rr_terminal *terminal, struct rr_signals *signals);
void rr_terminal_close(struct rr_terminal *terminal);

/* The next key; Ctrl-C counts as a signal. RR_KEY_NONE: a signal has come
 * (signals->interrupted), or the terminal is gone. */
int rr_terminal_key(struct rr_terminal *terminal);

/* How many columns it has. */
int rr_terminal_columns(void);

#endif

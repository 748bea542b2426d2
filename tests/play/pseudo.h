/* SPDX-License-Identifier: MIT */
/* The program on a pseudo-terminal, and somebody who types. */
#ifndef RR_TEST_PSEUDO_H
#define RR_TEST_PSEUDO_H

#include <sys/types.h>
#include <termios.h>

#include "../cli.h"

struct pseudo {
	pid_t pid;
	int master, slave;
	struct termios before;
	char *screen; /* everything since the last clearing of it */
	size_t used;
	char seen[1 << 18];
};

/* Starts `redrace play ARGUMENTS` there, 100 or so many columns wide. */
void pseudo_open(struct pseudo *pseudo, const char *arguments);
void pseudo_open_in(struct pseudo *pseudo, unsigned short columns, const char *arguments);

/* The same of `redrace ARGUMENTS`. */
void pseudo_open_command(struct pseudo *pseudo, unsigned short columns, const char *arguments);

/* Types. */
void pseudo_type(struct pseudo *pseudo, const char *keys);

/* Reads until the screen shows `text`; fails the test after five minutes. */
void pseudo_await(struct pseudo *pseudo, const char *text);

/* Waits for the program's end; its exit code, or 128 and its signal. The
 * terminal must be `before` again unless it was killed. */
int pseudo_close(struct pseudo *pseudo);

#endif

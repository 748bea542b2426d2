/* SPDX-License-Identifier: MIT */
/*
 * Somebody at the keys: a terminal that hands over every key at once, with a screen to
 * draw on, put back as it was; or lines from wherever standard input comes.
 */
#ifndef RR_SCREEN_H
#define RR_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "cluster/cluster.h"

enum { RR_LINE_SIZE = 512 };

/* What rr_screen_key() answers besides a byte. */
enum { RR_KEY_NONE = -1, RR_KEY_ESCAPE = 27, RR_KEY_DELETE = 127, RR_KEY_LEFT = 256, RR_KEY_RIGHT };

struct rr_screen {
	struct rr_session *session;
	bool has_keys;  /* opened: each key comes at once, nothing is echoed */
	bool has_ended; /* the input: nobody will say anything more */
};

/* False: standard input and output are not a terminal. Lines can be read all the same. */
bool rr_screen_open(struct rr_screen *screen, struct rr_session *session);
void rr_screen_close(struct rr_screen *screen);

/* The next key; Ctrl-C is a signal. RR_KEY_NONE: a signal has come
 * (signals.interrupted), the input has ended, or the guardian is gone. */
int rr_screen_key(struct rr_screen *screen);

/* A line that is typed, with one more key: a character, DELETE, or ESCAPE, which leaves
 * nothing of it. */
void rr_screen_edit(char line[RR_LINE_SIZE], int key);

/* A whole line, "" at the end of the input. */
void rr_screen_read(struct rr_screen *screen, char line[RR_LINE_SIZE]);

/* ---- Drawing --------------------------------------------------------------------- */

void rr_screen_clear(void);

/* One line, without control characters, cut where the terminal ends. */
void rr_screen_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Lines that are wrapped; how many they are. */
size_t rr_screen_paragraph(const char *text);

/* Of many lines the first `n_heads` and the last ones: as many as there is room for
 * beside `n_others` that are drawn besides. */
void rr_screen_tail(const char *text, size_t n_heads, size_t n_others);

#endif

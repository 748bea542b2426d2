/* SPDX-License-Identifier: MIT */
/* A trace as the rows of a picture: what every format draws. */
#ifndef RR_ROWS_H
#define RR_ROWS_H

#include "race/trace.h"

enum rr_row_kind {
	RR_ROW_MESSAGE, /* between a client and a server */
	RR_ROW_MARK,    /* what a client does by itself */
	RR_ROW_NOTE,    /* narration, and what was there at the beginning */
	RR_ROW_TIME,
	RR_ROW_FAULT,   /* of a server */
	RR_ROW_FOLD,    /* rounds that were left out */
};

/* What became of the reply in this row. */
enum rr_fate {
	RR_FATE_NONE,  /* nobody asked for it yet */
	RR_FATE_CAME,
	RR_FATE_LOST,  /* sent by the server, never seen by the client */
	RR_FATE_WAITS, /* not sent yet */
};

/* Texts are printable UTF-8, belong to the rows, and are NULL where there is
 * nothing to say. */
struct rr_row {
	enum rr_row_kind kind;
	size_t number;   /* of the step, 0 = none */
	int actor;       /* -1 = none */
	int server;      /* -1 = none */
	enum rr_fate fate;
	char *text;      /* the command, or what happens */
	char *reply;
	char *broke;     /* what it broke, or that the reply is not the one */
	char *why;       /* why this is the deciding step */
	char *keys[RR_KEYS_SHOWN_MAX]; /* values that changed since the last row */
	unsigned inside; /* clients that are in their sections, a bit each */
	unsigned down;   /* servers that do not answer after it */
	const struct rr_event *event; /* NULL = none */
};

struct rr_rows {
	const struct rr_trace *trace;
	size_t n;
	struct rr_row *rows;
};

/* False: out of memory, and there is nothing to free. */
bool rr_rows_make(struct rr_rows *rows, const struct rr_trace *trace);
void rr_rows_free(struct rr_rows *rows);

/* Does the client of this row send something, or only read? */
bool rr_row_sends(const struct rr_row *row);

/* The server of a shown key, KEY@SERVER or of the first one, and the length of
 * the name without it. */
int rr_rows_server_of(const struct rr_race *race, const char *key,
		      size_t *length);

/* Was it played to its end? Else there is no verdict. */
bool rr_rows_are_complete(const struct rr_trace *trace);

/* Is there something of this kind in the picture? */
bool rr_rows_have_fate(const struct rr_rows *rows, enum rr_fate fate);
bool rr_rows_have_remarks(const struct rr_rows *rows);

/* The number of the step race->steps[step], or 0. */
size_t rr_rows_number(const struct rr_trace *trace, int step);

#endif

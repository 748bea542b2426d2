/* SPDX-License-Identifier: MIT */
/* A trace as a picture: what every format draws, computed and worded once. */
#ifndef RR_MODEL_H
#define RR_MODEL_H

#include "draw.h"

enum rr_row_kind {
	RR_ROW_MESSAGE, /* between a client and a server */
	RR_ROW_MARK,    /* what a client does by itself */
	RR_ROW_NOTE,    /* narration, and what was there at the beginning */
	RR_ROW_TIME,
	RR_ROW_FAULT, /* of a server */
	RR_ROW_FOLD,  /* rounds that were left out */
};

/* What became of the reply in this row. */
enum rr_fate {
	RR_FATE_NONE, /* it is not asked for yet */
	RR_FATE_CAME,
	RR_FATE_LOST,  /* sent by the server, never seen by the client */
	RR_FATE_WAITS, /* not sent yet */
};

/* Texts are printable UTF-8, belong to the picture, and are NULL where there is
 * nothing to say; `text` is always there. */
struct rr_row {
	enum rr_row_kind kind;
	size_t number;      /* of the step, 0 = none */
	int client, server; /* -1 = none */
	const char *client_name, *server_name;
	bool sends;     /* the client sends a command or a part of one */
	bool is_across; /* it concerns all clients */
	enum rr_fate fate;
	const char *text; /* the command, or what happens */
	const char *reply;
	const char *sentence; /* "A: @n1 GET x => 1", of MESSAGE and MARK */
	const char *action;   /* the same without the client's name */
	const char *broke;    /* what it broke, or that the reply differs */
	const char *why;      /* why this is the deciding step */
	const char *remark;   /* both: "✗ 2 in the critical section: A B ! without this ..." */
	const char *values[RR_KEYS_SHOWN_MAX]; /* those that changed */
	const char *labels[RR_KEYS_SHOWN_MAX]; /* the same, "lock = 1" */
	unsigned inside;                       /* clients in their critical sections, a bit each */
	unsigned gone;                         /* clients that had crashed before it */
	unsigned down;                         /* servers that did not answer before it */
	bool has_ended;                        /* the text says whose leases ended */
	/* From the first to the last one, in the order of the trace, that it shows: several of what
	 * a transaction queues. NULL = none. */
	const struct rr_event *first, *event;
};

/* A client or a server, in the order in which they stand side by side. */
struct rr_lane {
	bool is_server;
	int index;
	const char *name;
};

struct rr_shown_key {
	const char *name;  /* "lock@n1" */
	const char *label; /* "lock" */
	int server;
};

struct rr_found {
	const char *name;
	const char *figures; /* "" = none */
	const char *heading; /* "lost update: expected 2, actual 1" */
	const char *meaning;
};

enum { RR_LANES_MAX = RR_RACE_CLIENTS_MAX + RR_RACE_SERVERS_MAX };

struct rr_picture {
	const struct rr_trace *trace;
	const struct rr_race *race;
	const struct rr_style *style; /* of text */
	const char *title;
	const char *claims; /* "claim TL-7", "" = none */
	size_t n_lanes;
	struct rr_lane lanes[RR_LANES_MAX];
	size_t client_lanes[RR_RACE_CLIENTS_MAX]; /* where a client's is */
	size_t server_lanes[RR_RACE_SERVERS_MAX];
	struct rr_shown_key keys[RR_KEYS_SHOWN_MAX];
	size_t n_rows;
	struct rr_row *rows;
	unsigned fates;         /* that are in it, a bit each */
	bool has_remarks;       /* something broke, or there is a deciding step */
	bool is_complete;       /* played to its end; else there is no verdict */
	const char *verdict;    /* "lost update", "nothing broken" */
	const char *no_finding; /* why there is none; NULL = there are */
	bool is_found;          /* it says what a search has found */
	size_t n_findings;
	struct rr_found findings[RR_FINDINGS];
	const char **sayings; /* race->n_sayings sentences */
	size_t n_tokens;
	struct rr_shown_token {
		const char *text;
		size_t length;
		int client; /* that sent it first */
		char name[32];
	} * tokens; /* random values of a finding */
	size_t n_texts;
	char **texts; /* all of the above that was made for it */
};

/* Finds the values that clients of a finding have drawn; and has a text with their names, which frees
 * `text` (names.c). */
void rr_picture_find_tokens(struct rr_picture *picture);
char *rr_picture_name_tokens(const struct rr_picture *picture, char *text);

/* "EVAL "local token = …" lock <token A1>": a script of a finding by its first line, with keys and
 * arguments, malloc'd; NULL: the step is none. */
char *rr_script_words(const struct rr_trace *trace, const struct rr_step *step);

/* With a row for each step; or for people, folded: rounds of a repeat, polls and what a transaction
 * queues share rows, and where time passes it is said whose leases ended. */
void rr_picture_make(struct rr_picture *picture, const struct rr_trace *trace, bool folded);
void rr_picture_free(struct rr_picture *picture);

/* ---- The formats --------------------------------------------------------- */

void rr_write_text(FILE *out, const struct rr_picture *picture);
/* Of the table only the first `n` rows, below the heads of its columns. */
void rr_write_rows(FILE *out, const struct rr_picture *picture, size_t n);

void rr_write_mermaid(FILE *out, const struct rr_picture *picture);
void rr_write_svg(FILE *out, const struct rr_picture *picture);
void rr_write_html(FILE *out, const struct rr_picture *picture);
void rr_write_json(FILE *out, const struct rr_picture *picture);

/* ---- Wording: malloc'd, printable UTF-8 ---------------------------------- */

/* Formats, and makes the result printable. */
char *rr_words(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A reply without "(integer) ". */
char *rr_words_of_reply(const char *reply);

/* A key's value, quotes left out where nothing depends on them. */
char *rr_words_of_value(const char *value);

/* TX-5 says of step 7 that the reply is OK. It does not hold: QUEUED came. */
char *rr_words_of_saying(const struct rr_trace *trace, const struct rr_saying *saying);

enum rr_row_kind rr_row_kind_of(const struct rr_step *step);

#endif

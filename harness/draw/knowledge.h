/* SPDX-License-Identifier: MIT */
/* What each client of a race knows of the shown keys, beside what the server holds, and
 * which writes replace what their writer has not seen. */
#ifndef RR_KNOWLEDGE_H
#define RR_KNOWLEDGE_H

#include "model.h"

/* After a row. Texts belong to the knowledge or the picture; NULL = not known. */
struct rr_row_knowledge {
	const char *held[RR_KEYS_SHOWN_MAX]; /* by the server */
	const char *known[RR_KEYS_SHOWN_MAX][RR_RACE_CLIENTS_MAX];
	unsigned stale[RR_KEYS_SHOWN_MAX]; /* clients whose is not so any more */
};

/* A client looks at a key, another client writes it, and the first one writes it
 * without having looked again. All three are indices of rows. */
struct rr_overwrite {
	size_t look, between, write;
	size_t key;
};

enum { RR_OVERWRITES_MAX = 9 };

struct rr_knowledge {
	struct rr_row_knowledge *rows; /* one of each row of the picture */
	size_t n_overwrites;
	struct rr_overwrite overwrites[RR_OVERWRITES_MAX];
	size_t n_texts;
	char **texts;
};

void rr_knowledge_make(struct rr_knowledge *knowledge, const struct rr_picture *picture);
void rr_knowledge_free(struct rr_knowledge *knowledge);

#endif

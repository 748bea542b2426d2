/* SPDX-License-Identifier: MIT */
/* Where in a command its keys are, as the server says, kept by the command's
 * shape: its words with numbers and tokens left out. */
#ifndef RR_SHAPES_H
#define RR_SHAPES_H

#include "gate_trace.h"

enum { RR_SHAPE_KEYS = 16 };

struct rr_shape {
	uint64_t hash;
	bool is_unknown; /* the server does not say */
	size_t n_keys;
	struct {
		size_t word;
		bool writes;
	} keys[RR_SHAPE_KEYS];
};

struct rr_shapes;

struct rr_shapes *rr_shapes_new(void);
void rr_shapes_free(struct rr_shapes *shapes);

/* Asks over `link` when it is a new one; NULL when out of memory. */
const struct rr_shape *rr_shapes_of(struct rr_shapes *shapes,
				    struct rl_link *link,
				    const struct rr_op *op);

uint64_t rr_shapes_hash(const struct rl_word *word);

/* Is one of the words after the first this one, in any case? */
bool rr_shapes_has_word(const struct rr_op *op, const char *word);

#endif

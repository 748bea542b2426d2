/* SPDX-License-Identifier: MIT */
/* Memory that lives as long as one execution: what is taken stays where it is,
 * and all of it is given back at once and used again. */
#ifndef RR_STORE_H
#define RR_STORE_H

#include "driver.h"

struct rr_store {
	struct rr_store_chunk *first, *current;
	size_t used; /* of the current one */
};

/* Aligned for anything; NULL when out of memory. */
void *rr_store_take(struct rr_store *store, size_t size);

void rr_store_reset(struct rr_store *store);
void rr_store_release(struct rr_store *store);

/* Copies; an empty command or a nil reply when out of memory. */
struct rl_word *rr_store_words(struct rr_store *store,
			       const struct rl_command *command);
struct rl_reply rr_store_reply(struct rr_store *store,
			       const struct rl_reply *reply);

#endif

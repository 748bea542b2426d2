/* SPDX-License-Identifier: MIT */
/*
 * Which tokens of what programs send may be random. One that two instances have sent by
 * themselves is not: nobody draws the same value twice. One that only a single instance
 * has sent may be, and another one has to tell.
 */
#ifndef RR_TOKENS_H
#define RR_TOKENS_H

#include "names.h"

struct rr_tokens {
	struct rr_intern texts;
	struct rr_token {
		uint32_t sender;   /* the instance that was the first to send it */
		bool is_confirmed; /* another one has sent it, too */
	} * all;                   /* by the numbers of `texts` */
};

/* An instance, a number, has sent the commands of a view. */
void rr_tokens_note(struct rr_tokens *tokens, const struct rr_terms *terms,
		    const struct rr_run_view *view, uint32_t sender);

/* Has a view any that only one instance has sent? But for those `known` to be random. */
bool rr_tokens_are_open(const struct rr_tokens *tokens, const struct rr_terms *terms,
			const struct rr_run_view *view, const struct rl_word *known,
			size_t n_known);

/* In a file. What is read of one that only one instance has sent counts as another's. */
void rr_tokens_write(const struct rr_tokens *tokens, FILE *out);
void rr_tokens_read(struct rr_tokens *tokens, struct rr_bytes *bytes);

void rr_tokens_release(struct rr_tokens *tokens);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Random values in what programs send: tokens, identifiers. One is recognised by
 * being another in another run with the same history; from then on it is renamed, in
 * what the program sends and back in what it hears, so that all runs look alike.
 *
 * A token is a longest run of letters, digits, '-', '_' and '.', of four at least; or
 * whatever bytes differ, if these are no such tokens.
 */
#ifndef RR_NAMES_H
#define RR_NAMES_H

#include "client_run.h"

enum { RR_NAMES_MAX = 64, RR_TOKEN_MIN = 4 };

/* The first token in which two commands differ that are the same but for tokens, where it
 * stands in them. False: they differ by something else, or not at all. */
bool rr_names_differ(const struct rdl_command *a, const struct rdl_command *b,
		     struct rdl_word *token_a, struct rdl_word *token_b);

/* Is this text in a word of the command? */
bool rr_command_has_text(const struct rdl_command *command, struct rdl_word text);

/* What another client has instead of a token: each letter and digit moved on by so
 * many among its kind; malloc'd. A time of day near that one stays one. */
struct rdl_word rr_token_of_client(struct rdl_word token, size_t client, int64_t day_ns);

/* ---- Which tokens may be random ----------------------------------------------- */

/*
 * One that two instances have sent by themselves is not: nobody draws the same value twice. One
 * that only a single instance has sent may be, and another one has to tell.
 */
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
			const struct rr_run_view *view, const struct rdl_word *known,
			size_t n_known);

void rr_tokens_release(struct rr_tokens *tokens);

#endif

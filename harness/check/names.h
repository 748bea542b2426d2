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

#include "scheduler/scheduler.h"

enum { RR_NAMES_MAX = 64, RR_TOKEN_MIN = 4 };

/* The first token in which two commands differ that are the same but for tokens, where it
 * stands in them. False: they differ by something else, or not at all. */
bool rr_names_differ(const struct rl_command *a, const struct rl_command *b,
		     struct rl_word *token_a, struct rl_word *token_b);

/* Is this text in a word of the command? */
bool rr_command_has_text(const struct rl_command *command, struct rl_word text);

/* The next token of a text, from *at on, which moves behind it; a word that is no text is
 * one as a whole. False: no more. */
bool rr_next_token(const struct rl_word *word, size_t *at, struct rl_word *token);

/* What another client has instead of a token: each letter and digit moved on by so
 * many among its kind; malloc'd. */
struct rl_word rr_token_of_client(struct rl_word token, size_t client);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Random values in what programs send: tokens, identifiers. One is recognised by
 * being another in another run with the same history; from then on it is renamed, in
 * what the program sends and back in what it hears, so that all runs look alike.
 *
 * A token is a longest run of letters, digits, '-', '_' and '.', of four at least.
 */
#ifndef RR_NAMES_H
#define RR_NAMES_H

#include "scheduler/scheduler.h"

enum { RR_NAMES_MAX = 32, RR_TOKEN_MIN = 4 };

/* Texts that stand for others; all are looked for at once, so that two can be
 * exchanged. Texts are the renaming's. All zero = empty. */
struct rr_renaming {
	size_t n;
	struct rr_rename {
		char *from, *to;
	} pairs[2 * RR_NAMES_MAX];
};

/* False: there is no room. */
bool rr_renaming_add(struct rr_renaming *renaming, const char *from, const char *to);
void rr_renaming_release(struct rr_renaming *renaming);

/* The text that `from` stands for; NULL = it is not renamed. */
const char *rr_renaming_of(const struct rr_renaming *renaming, const char *from);

/* The command, or reply, with all of it renamed. */
uint32_t rr_rename_command(const struct rr_renaming *renaming, struct rr_terms *terms,
			   uint32_t command);
uint32_t rr_rename_reply(const struct rr_renaming *renaming, struct rr_terms *terms,
			 uint32_t reply);

/* The first token in which two commands differ that are the same but for tokens;
 * malloc'd copies. False: they differ by something else, or not at all. */
bool rr_names_differ(const struct rl_command *a, const struct rl_command *b, char **token_a,
		     char **token_b);

/* Is this text in a word of the command? */
bool rr_command_has_text(const struct rl_command *command, const char *text);

/* The next token of a text, from *at on, which moves behind it; NULL = no more. */
const char *rr_next_token(const struct rl_word *word, size_t *at, size_t *length);

/* What another client has instead of a token: each letter and digit moved on by so
 * many among its kind; malloc'd. */
char *rr_token_of_client(const char *token, size_t client);

#endif

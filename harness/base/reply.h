/* SPDX-License-Identifier: MIT */
/* Words and replies as redis-cli has them, and as races and traces write them. */
#ifndef RR_REPLY_H
#define RR_REPLY_H

#include <stdbool.h>
#include <stdio.h>

#include "driver.h"

/* In quotes, with the escapes of redis-cli. */
void rr_write_quoted(FILE *file, const char *text, size_t length);

/* In quotes unless it means itself without, wherever it stands in a line. */
void rr_write_bare_word(FILE *file, const char *text, size_t length);

/* A command as races have it: bare words, a blank before each. */
void rr_write_command(FILE *file, const struct rdl_word *words, size_t n);

/* Words as they are typed: with blanks in quotes; malloc'd. */
char *rr_join_words(const struct rdl_word *words, size_t n);

/* The same for people: printable, and cut behind `most` columns, with "..."; 0 = whole. Malloc'd. */
char *rr_command_text(const struct rdl_word *words, size_t n, size_t most);

/* Is it that word, in whichever letters? */
bool rr_word_is(const struct rdl_word *word, const char *text);

/* Is it one of these words, which blanks separate? */
bool rr_word_is_one_of(const struct rdl_word *word, const char *names);

/* Have both the same bytes? */
bool rr_words_are_same(struct rdl_word a, struct rdl_word b);

/* As memcmp(3), and the shorter one first. */
int rr_compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length);

/* Does the command of that name list keys of a database or members of a set? They come in
 * no order that a client may rely on, and that is another one on each server. */
bool rr_lists_without_order(const char *command);

/* Its list, for a race or a search: by bytes. That of SCAN stands behind a cursor; a reply that is
 * no list of texts, as QUEUED or a row of EXEC, stays as it is. */
void rr_reply_sort_list(struct rdl_reply *reply);

/* As redis-cli prints it, arrays on one line. */
void rr_write_reply(FILE *file, const struct rdl_reply *reply);

/* Commands that own their words. Empty: all zeroes. */
struct rr_command_list {
	size_t n;
	struct rdl_command *all;
};

/* Adds a copy; behind each word there is a NUL. */
void rr_command_list_add(struct rr_command_list *list, const struct rdl_word *words, size_t n);

/* Empties it. */
void rr_command_list_release(struct rr_command_list *list);

#endif

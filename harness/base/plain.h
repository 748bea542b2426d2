/* SPDX-License-Identifier: MIT */
/* Texts that can be printed anywhere, and how much room they take. */
#ifndef RR_PLAIN_H
#define RR_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* A malloc'd copy of `length` bytes as UTF-8 without control characters: these,
 * and bytes that are no UTF-8, become \n, \x1f, \xff. NULL = no memory. */
char *rr_plain_bytes(const char *text, size_t length);

/* The same of a string; of NULL it is NULL. */
char *rr_plain(const char *text);

/* Columns on a terminal. */
size_t rr_plain_width(const char *text);

/* How many bytes of `text` fit into so many columns. */
size_t rr_plain_fit(const char *text, size_t columns);

/* The next line of a text that is wrapped at so many columns: its length in
 * bytes; *text moves on to what follows, to the NUL at the end. Breaks at
 * blanks, and inside a word when it is longer than a line. */
size_t rr_plain_line(const char **text, size_t columns);

/* How many lines that makes. */
size_t rr_plain_lines(const char *text, size_t columns);

#endif

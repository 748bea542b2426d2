/* SPDX-License-Identifier: MIT */
/*
 * Lines of output that differ between two runs with the same replies, as patterns: `took *ms`,
 * `{"id":"*-*-*-*-*","sold":true}`. Only what varies is left out:
 *
 *	1. a token, a maximal run of letters and digits, that differs. Of a number beside letters
 *	   (`12ms`), and of a token that has at least four letters and digits in common with the
 *	   other one at an end (`9f3csold`), only the part that differs;
 *	2. where the separators between tokens differ, too (`a-b_c` and `d`), the part of the word in
 *	   which they do: letters, digits and `+/=_-.:`, as in base64 and in times;
 *	3. else the whole word; and all words from there on if one line has more of them.
 *
 * Blanks separate words; in such a line their number does not count.
 */
#ifndef RR_VARYING_H
#define RR_VARYING_H

#include <stdbool.h>

#include "driver.h"

/* Returns a line as a pattern that matches only it; malloc'd. */
struct rdl_word rr_varying_of_line(struct rdl_word line);

/* Returns a pattern that matches all that one of these two matches; malloc'd. */
struct rdl_word rr_varying_join(struct rdl_word a, struct rdl_word b);

bool rr_varying_matches(struct rdl_word pattern, struct rdl_word line);

/* How many bytes of the pattern are compared. */
size_t rr_varying_compared(struct rdl_word pattern);

/* Has the pattern no letter or digit that counts? */
bool rr_varying_is_blank(struct rdl_word pattern);

/* Returns the pattern for people: `*` for a part that varies, `...` for a rest; `most` bytes of it at
 * most. malloc'd. */
char *rr_varying_text(struct rdl_word pattern, size_t most);

#endif

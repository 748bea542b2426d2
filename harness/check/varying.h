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
struct rl_word rr_varying_of_line(struct rl_word line);

/* Returns a pattern that matches all that one of these two matches; malloc'd. */
struct rl_word rr_varying_join(struct rl_word a, struct rl_word b);

bool rr_varying_matches(struct rl_word pattern, struct rl_word line);

/* How many bytes of the pattern are compared. */
size_t rr_varying_compared(struct rl_word pattern);

/* Has the pattern no letter or digit that counts? */
bool rr_varying_is_blank(struct rl_word pattern);

/* Does it leave out whole words, or a rest of any length? */
bool rr_varying_is_wide(struct rl_word pattern);

/* Returns the pattern for people: `*` for a part that varies, `...` for a rest; `most` bytes of it at
 * most. malloc'd. */
char *rr_varying_text(struct rl_word pattern, size_t most);

#endif

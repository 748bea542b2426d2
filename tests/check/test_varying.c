/* SPDX-License-Identifier: MIT */
/* Lines that differ between two runs with the same replies: what of them is left out. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "compare/compare.h"

TestSuite(varying);

static struct rdl_word word_of(const char *text)
{
	return (struct rdl_word){ text, strlen(text) };
}

/* The pattern of two lines is shown like that, and matches a third one; it does not match `other`. */
static void check_pattern(const char *a, const char *b, const char *shown, const char *third,
			  const char *other)
{
	const struct rdl_word one = rr_varying_of_line(word_of(a));
	const struct rdl_word two = rr_varying_of_line(word_of(b));
	const struct rdl_word pattern = rr_varying_join(one, two);
	char *text = rr_varying_text(pattern, 200);

	cr_assert_str_eq(text, shown);
	cr_assert(rr_varying_matches(pattern, word_of(a)));
	cr_assert(rr_varying_matches(pattern, word_of(b)));
	cr_assert(rr_varying_matches(pattern, word_of(third)), "%s: %s", shown, third);
	cr_assert_not(rr_varying_matches(pattern, word_of(other)), "%s: %s", shown, other);
	free(text);
	free((char *)one.text);
	free((char *)two.text);
	free((char *)pattern.text);
}

Test(varying, only_the_token_is_left_out)
{
	check_pattern("{\"id\":\"9f-1c\",\"sold\":true}", "{\"id\":\"aa-2b\",\"sold\":true}",
		      "{\"id\":\"*-*\",\"sold\":true}", "{\"id\":\"0-x\",\"sold\":true}",
		      "{\"id\":\"9f-1c\",\"sold\":false}");
	check_pattern("[123]sold", "[4567]sold", "[*]sold", "[1]sold", "[1]out");
	check_pattern("took 12ms", "took 120ms", "took *ms", "took 7ms", "took 7s");
	check_pattern("1217out", "1218out", "*out", "9out", "9sold");
	check_pattern("9f3csold", "a10bsold", "*sold", "9sold", "9f3cout");
	check_pattern("at 12:03:04.5", "at 12:03:05.6", "at 12:03:*.*", "at 12:03:59.9",
		      "at 13:03:04.5");
}

Test(varying, separators_in_a_token_are_left_out_with_it)
{
	check_pattern("{\"k\":\"aB-c_d\",\"sold\":true}", "{\"k\":\"xY9=\",\"sold\":true}",
		      "{\"k\":\"*\",\"sold\":true}", "{\"k\":\"+/\",\"sold\":true}",
		      "{\"k\":\"q\",\"sold\":false}");
	check_pattern("k=a+b; n=1", "k=c; n=1", "k=*; n=1", "k=d/e; n=1", "k=d; n=2");
}

Test(varying, else_whole_words_are_left_out)
{
	check_pattern("is (a) here", "is [b,c] here", "is * here", "is <> here", "is (a) there");
	check_pattern("a", "a b", "a ...", "a x y", "b");
	check_pattern("\x1a"
		      "1 x",
		      "\x1a"
		      "2 x",
		      "\x1a* x",
		      "\x1a"
		      "3 x",
		      "a1 x");
}

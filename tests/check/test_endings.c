/* SPDX-License-Identifier: MIT */
/* How programs end, and which ends are the same: what of them is left out, and what never is. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"

TestSuite(endings);

static uint32_t put(struct rr_endings *endings, int status, const char *output)
{
	const struct rr_ending ending = { .status = status,
					  .output = output,
					  .length = strlen(output) };

	return rr_endings_put(endings, ending);
}

/* An output of any bytes; none at the number that was never given. */
Test(endings, are_what_was_put_and_have_one_number)
{
	struct rr_endings endings = { .n_varying = 0 };
	const struct rr_ending put = { .status = 256, .http = 404, .output = "a\0b", .length = 3 };
	const uint32_t number = rr_endings_put(&endings, put);
	const struct rr_ending got = rr_endings_get(&endings, number);

	cr_assert_eq(got.status, 256);
	cr_assert_eq(got.http, 404);
	cr_assert_eq(got.length, 3);
	cr_assert_eq(memcmp(got.output, "a\0b", 4), 0, "a NUL behind it, too");
	cr_assert_eq(rr_endings_put(&endings, put), number);
	cr_assert_eq(rr_endings_get(&endings, number + 1).length, 0);
	rr_endings_release(&endings);
}

/* Two outputs are compared when runs with the same replies have printed `one` and `other`. */
struct compared {
	char what[60], one[40], other[40], a[40], b[40];
	bool are_same;
};

static const struct compared compared[] = {
	{ "nothing varies", "", "", "sold 1\n", "sold 2\n", false },
	{ "a line is missing", "", "", "sold\n", "sold\nsold\n", false },
	{ "the last newline counts", "", "", "sold\n", "sold", false },
	{ "the user leaves that line out", "", "", "sold\ntook 3 ms\n", "took 9 ms\nsold\n", true },
	{ "lines that nobody leaves out are in order", "", "", "a\nb\n", "b\na\n", false },
	{ "a token that varies", "pid 17: sold\n", "pid 23: sold\n", "pid 5: sold\n",
	  "pid 6: sold\n", true },
	{ "what stands beside it", "pid 17: sold\n", "pid 23: sold\n", "pid 5: sold\n",
	  "pid 5: none\n", false },
	{ "a line of which nothing stays", "17\nsold\n", "23\nsold\n", "5\nsold\n", "6\nsold\n",
	  true },
	{ "that line and no other", "17\nsold\n", "23\nsold\n", "5\nsold\n", "5\nnone\n", false },
	{ "two threads print in any order", "a\nb\nend\n", "b\na\nend\n", "a\nb\nend\n",
	  "b\na\nend\n", true },
	{ "as often as before", "a\nb\nend\n", "b\na\nend\n", "a\nb\nend\n", "b\nb\nend\n", false },
	{ "the others stay in order", "a\nb\nc\nd\n", "b\na\nc\nd\n", "a\nb\nc\nd\n",
	  "a\nb\nd\nc\n", false },
};

ParameterizedTestParameters(endings, compare)
{
	static struct compared copies[sizeof(compared) / sizeof(compared[0])];

	memcpy(copies, compared, sizeof(compared));
	return cr_make_param_array(struct compared, copies, sizeof(compared) / sizeof(compared[0]));
}

/* Digests are those of what is compared: the same exactly where ends are. */
ParameterizedTest(struct compared *it, endings, compare)
{
	static const char *const allowed[] = { "^took .* ms$" };
	struct rr_endings endings = { .n_varying = 0 };
	uint32_t a, b;

	rr_endings_allow(&endings, allowed, 1);
	rr_endings_vary(&endings, put(&endings, 0, it->one), put(&endings, 0, it->other));
	a = put(&endings, 0, it->a);
	b = put(&endings, 0, it->b);
	cr_assert_eq(rr_endings_are_same(&endings, a, b), it->are_same, "%s", it->what);
	cr_assert_eq(rr_endings_are_same(&endings, b, a), it->are_same, "%s, turned", it->what);
	cr_assert_eq(rr_endings_digest(&endings, a) == rr_endings_digest(&endings, b), it->are_same,
		     "digests: %s", it->what);
	rr_endings_release(&endings);
}

Test(endings, statuses_are_always_compared)
{
	static const char *const allowed[] = { "" };
	const struct rr_ending found = { .http = 200, .output = "" };
	const struct rr_ending missing = { .http = 404, .output = "" };
	struct rr_endings endings = { .n_varying = 0 };

	rr_endings_allow(&endings, allowed, 1);
	cr_assert_not(
		rr_endings_are_same(&endings, put(&endings, 0, "x\n"), put(&endings, 256, "x\n")));
	cr_assert_not(rr_endings_are_same(&endings, rr_endings_put(&endings, found),
					  rr_endings_put(&endings, missing)));
	rr_endings_release(&endings);
}

Test(endings, the_first_line_that_differs_is_shown)
{
	struct rr_endings endings = { .n_varying = 0 };
	const char *at_a, *at_b;

	cr_assert(rr_endings_differ(&endings, put(&endings, 0, "same\nleft 1\nend\n"),
				    put(&endings, 0, "same\nleft 0\nend\n"), &at_a, &at_b));
	cr_assert_str_eq(at_a, "left 1\nend\n");
	cr_assert_str_eq(at_b, "left 0\nend\n");
	rr_endings_release(&endings);
}

/* By an exit status, an HTTP status or a part of the output. */
Test(endings, refusals_are_declared)
{
	const struct rr_ending three = { .status = 3 << 8, .output = "busy\n", .length = 5 };
	const struct rr_ending conflict = { .http = 409, .output = "" };
	const struct rr_ending killed = { .status = 9, .output = "" };

	cr_assert(rr_ending_is_declared("3", three));
	cr_assert(rr_ending_is_declared("bus[y]", three));
	cr_assert(rr_ending_is_declared("409", conflict));
	cr_assert_not(rr_ending_is_declared("0", three));
	cr_assert_not(rr_ending_is_declared("free", three));
	cr_assert_not(rr_ending_is_declared("200", conflict));
	cr_assert_not(rr_ending_is_declared("9", killed), "a signal is no exit status");
	cr_assert_not(rr_ending_is_declared(NULL, three));
}

/* "waiting" is in no serial order, where nobody has to wait; "sold" is, and says how it ended. */
Test(endings, what_is_printed_while_waiting_does_not_count)
{
	struct rr_endings endings = { .n_varying = 0 };
	const uint32_t sold = put(&endings, 0, "sold\n"), none = put(&endings, 0, "none\n");
	const uint32_t waited = put(&endings, 0, "waiting\nsold\n");

	rr_endings_note_serial(&endings, sold);
	rr_endings_note_serial(&endings, none);
	cr_assert(rr_endings_differ_by_waiting(&endings, waited, sold));
	cr_assert_not(rr_endings_differ_by_waiting(&endings, waited, none));
	cr_assert_not(rr_endings_differ_by_waiting(&endings, sold, waited),
		      "nothing instead of what the other one has printed");
	cr_assert_not(rr_endings_differ_by_waiting(&endings, put(&endings, 256, "waiting\nsold\n"),
						   sold));
	rr_endings_forget_serial(&endings);
	cr_assert_eq(endings.serial.n, 0);
	rr_endings_release(&endings);
}

/* Of a long one no character is cut in two. */
Test(endings, words_of_requests_and_answers_are_whole_characters)
{
#define LONG_WORD                                                                           \
	"a\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9" \
	"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
	static const struct {
		const char *command, *wanted;
	} cases[] = {
		{ "curl -s {app}/" LONG_WORD, "GET /" LONG_WORD },
		{ "redis-cli -u {url} GET " LONG_WORD, "GET " LONG_WORD },
		{ LONG_WORD, LONG_WORD },
	};
	const struct rr_ending answer = { .output = LONG_WORD, .length = strlen(LONG_WORD) };
	char *words = rr_answer_words(answer);

	cr_expect_str_eq(words, LONG_WORD);
	free(words);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		words = rr_request_words(cases[i].command);
		cr_expect_str_eq(words, cases[i].wanted);
		free(words);
	}
#undef LONG_WORD
}

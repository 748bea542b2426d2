/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "play/learner.h"
#include "base/plain.h"

static void assert_plain(const char *text, size_t length, const char *wanted)
{
	char *plain = rr_plain_bytes(text, length);

	cr_assert_str_eq(plain, wanted);
	free(plain);
}

Test(plain, what_cannot_be_printed_is_escaped)
{
	assert_plain("a\nb\x01", 4, "a\\nb\\x01");
	assert_plain("\xff\xc3\xa9", 3, "\\xff\xc3\xa9");
	assert_plain("\xc3", 1, "\\xc3");
	assert_plain("\0z", 2, "\\x00z");
	assert_plain("\xc2\x9b", 2, "\\xc2\\x9b");
}

Test(plain, width_counts_characters)
{
	cr_assert_eq(rr_plain_width("a\xc3\xa9"), 2);
	cr_assert_eq(rr_plain_width("\xe4\xb8\xad"), 2);
	cr_assert_eq(rr_plain_fit("\xe4\xb8\xad\xe4\xb8\xad", 3), 3);
}

Test(plain, lines_break_at_blanks_and_in_long_words)
{
	const char *text = "ab cdef ghijklmno";

	cr_assert_eq(rr_plain_line(&text, 7), 7);
	cr_assert_str_eq(text, "ghijklmno");
	cr_assert_eq(rr_plain_line(&text, 7), 7);
	cr_assert_str_eq(text, "no");
	cr_assert_eq(rr_plain_line(&text, 7), 2);
	cr_assert_str_eq(text, "");
}

Test(learner, spelling_does_not_matter)
{
	cr_assert(rr_learner_is_right("ok", "OK"));
	cr_assert(rr_learner_is_right("1", "(integer) 1"));
	cr_assert(rr_learner_is_right("nil", "(nil)"));
	cr_assert(rr_learner_is_right("a", "\"a\""));
	cr_assert(rr_learner_is_right("error", "(error) ERR no such key"));
	cr_assert(rr_learner_is_right("err no", "(error) ERR no such key"));
}

Test(learner, meaning_does)
{
	cr_assert_not(rr_learner_is_right("1", "(integer) 0"));
	cr_assert_not(rr_learner_is_right("nil", "\"1\""));
	cr_assert_not(rr_learner_is_right("OK", "(error) ERR no such key"));
	cr_assert_not(rr_learner_is_right("?", "OK"));
}

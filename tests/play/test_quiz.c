/* SPDX-License-Identifier: MIT */
/* Which answers of a user are taken for right. */
#include <criterion/criterion.h>

#include "play/play.h"

Test(quiz, spelling_does_not_matter)
{
	cr_assert(rr_quiz_is_right("ok", "OK"));
	cr_assert(rr_quiz_is_right("1", "(integer) 1"));
	cr_assert(rr_quiz_is_right("nil", "(nil)"));
	cr_assert(rr_quiz_is_right("a", "\"a\""));
	cr_assert(rr_quiz_is_right("error", "(error) ERR no such key"));
	cr_assert(rr_quiz_is_right("err no", "(error) ERR no such key"));
}

Test(quiz, meaning_does)
{
	cr_assert_not(rr_quiz_is_right("1", "(integer) 0"));
	cr_assert_not(rr_quiz_is_right("nil", "\"1\""));
	cr_assert_not(rr_quiz_is_right("OK", "(error) ERR no such key"));
	cr_assert_not(rr_quiz_is_right("?", "OK"));
}

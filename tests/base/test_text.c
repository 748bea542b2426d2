/* SPDX-License-Identifier: MIT */
/* Texts on a terminal: what is escaped, how wide it is, where lines break. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/memory.h"
#include "base/text.h"

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

Test(plain, what_shows_as_something_else_is_escaped)
{
	assert_plain("a\xe2\x80\xae"
		     "b",
		     5, "a\\xe2\\x80\\xaeb");               /* from right to left */
	assert_plain("\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8"); /* a line's end */
	assert_plain("::error::x", 10, "\\x3a:error::x");
	assert_plain("  ::error::x", 12, "  \\x3a:error::x");
	assert_plain("a ::error::x ::1", 16, "a \\x3a:error::x ::1"); /* it may be wrapped */
	assert_plain("::1", 3, "::1");
	assert_plain("a\xe3\x80\x80::error::x", 14,
		     "a\xe3\x80\x80\\x3a:error::x"); /* a wide blank */
	assert_plain("std::vector", 11, "std::vector");
	/* A runner looks for this one in all of a line. */
	assert_plain("a##[error]###[group]##[1]", 25, "a\\x23#[error]#\\x23#[group]##[1]");
}

Test(plain, width_counts_characters)
{
	cr_assert_eq(rr_plain_width("a\xc3\xa9"), 2);
	cr_assert_eq(rr_plain_width("\xe4\xb8\xad"), 2);
	cr_assert_eq(rr_plain_fit("\xe4\xb8\xad\xe4\xb8\xad", 3), 3);
	cr_assert_eq(rr_plain_width("\xff\xc3"), 2); /* no UTF-8: a column each */
}

/* An e with its accent apart, a flag of two letters, a family of three joined by
 * U+200D, a thumb with a colour: one character each, wherever a line ends. */
Test(plain, what_looks_like_one_character_is_one)
{
	static const struct {
		const char *text;
		size_t width;
	} characters[] = {
		{ "e\u0301", 1 },
		{ "\U0001f1eb\U0001f1f7", 2 },
		{ "\U0001f468\u200d\U0001f469\u200d\U0001f467", 2 },
		{ "\U0001f44d\U0001f3fd", 2 },
		{ "\u26a1", 2 },
		{ "\u0e01\u0e33", 2 },
	};

	for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++) {
		const char *text = characters[i].text;
		char twice[64];

		snprintf(twice, sizeof(twice), "%s%s", text, text);
		cr_expect_eq(rr_plain_width(text), characters[i].width, "%zu", i);
		cr_expect_eq(rr_plain_fit(twice, 2 * characters[i].width - 1), strlen(text), "%zu",
			     i);
		cr_expect_eq(rr_plain_fit(twice, 2 * characters[i].width), strlen(twice), "%zu", i);
	}
}

Test(plain, what_is_cut_ends_with_a_character_and_a_mark)
{
	static const struct {
		const char *text;
		size_t columns;
		const char *wanted;
	} cases[] = {
		{ "abc", 0, "abc" },        { "abc", 3, "abc" },
		{ "abcd", 3, "abc..." },    { "\xe4\xb8\xad\xe4\xb8\xad", 3, "\xe4\xb8\xad..." },
		{ "a\nbcd", 3, "a\\n..." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *cut = rr_plain_cut(cases[i].text, strlen(cases[i].text), cases[i].columns,
					 "...");

		cr_expect_str_eq(cut, cases[i].wanted);
		free(cut);
	}
}

Test(plain, a_line_never_divides_a_character)
{
	const char *text = "\U0001f44d\U0001f3fd";

	cr_assert_eq(rr_plain_line(&text, 1), 8);
	cr_assert_str_eq(text, "");
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

/* To a runner of GitHub that would be one. */
Test(plain, no_line_of_a_long_word_begins_with_a_command)
{
	static const char *const words[] = { "abcdefg::error::x", "abcde\u4e2d::error::x",
					     "abcdef\u00e9::error::x" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *text = words[i];

		cr_expect_eq(rr_plain_line(&text, 7), strcspn(words[i], ":") - (i == 0 ? 1 :
										i == 1 ? 3 :
											 2));
		cr_expect_neq(*text, ':', "%s", text);
	}
}

Test(text, json_holds_no_command)
{
	json_t *root = json_pack("[s, s]", "###[error]x", "::error::y");
	char *text;
	FILE *out = rr_open_text(&text);

	rr_json_print(root, JSON_INDENT(1), out);
	fclose(out);
	cr_assert_str_eq(text, "[\n \"#\\u0023#[error]x\",\n \"::error::y\"\n]\n");
	free(text);
	json_decref(root);
}

/* In a page or a report, too: newlines and tabs are the only ones that are kept. */
Test(text, xml_holds_nothing_that_does_not_show_itself)
{
	char *text;
	FILE *out = rr_open_text(&text);

	rr_xml_text(out, "<a\x1b[31m \xe2\x80\xae\tb\n::error::c\xff d::e##[group]\t::a");
	fclose(out);
	cr_assert_str_eq(
		text,
		"&lt;a\\x1b[31m \\xe2\\x80\\xae\tb\n&#58;:error::c\\xff d::e&#35;#[group]\t&#58;:a");
	free(text);
}

/* ---- What a program printed last ----------------------------------------------- */

static void assert_reason(const char *output, const char *wanted)
{
	char *reason = rr_reason_line(output, strlen(output));

	cr_assert_str_eq(reason, wanted);
	free(reason);
}

Test(text, of_what_was_printed_the_last_error_is_the_reason)
{
	assert_reason("", "");
	assert_reason("begins\n\nno queue\n\n", "no queue");
	assert_reason("Traceback:\n  raise\nKeyError: 7\nIn its turn:\nValueError\nbye\n",
		      "ValueError");
	assert_reason("x.js:2\nTypeError [CODE]: x\n    at f (Error: y)\n\nNode.js v20\n",
		      "TypeError [CODE]: x");
	assert_reason("a.rb:1:in 'f': no (RuntimeError)\n\tfrom b",
		      "a.rb:1:in 'f': no (RuntimeError)");
	assert_reason("log: panic: nil map\n\ngoroutine 1", "log: panic: nil map");
}

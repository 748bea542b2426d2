/* SPDX-License-Identifier: MIT */
/* Replies against the patterns of races. */
#include <criterion/criterion.h>
#include <string.h>

#include "race/race.h"

static bool matches(const char *pattern, const char *text)
{
	return rr_reply_matches(pattern, text, NULL);
}

Test(match, takes_a_text_for_itself)
{
	cr_assert(matches("OK", "OK"));
	cr_assert(matches("\"a b\"", "\"a b\""));
	cr_assert(matches("[OK, (nil)]", "[OK, (nil)]"));
	cr_assert_not(matches("OK", "O"));
	cr_assert_not(matches("O", "OK"));
	cr_assert_not(matches("OK", "ok"));
	cr_assert_not(matches("", "OK"));
}

Test(match, takes_a_number_for_an_integer)
{
	cr_assert(matches("1", "(integer) 1"));
	cr_assert(matches("-2", "(integer) -2"));
	cr_assert(matches("(integer) 1", "(integer) 1"));
	cr_assert_not(matches("1", "\"1\""));
	cr_assert_not(matches("1", "(integer) 11"));
	cr_assert_not(matches("1", "1"));
}

Test(match, takes_a_star_for_any_text)
{
	cr_assert(matches("*", ""));
	cr_assert(matches("*", "anything at all"));
	cr_assert(matches("(error) ERR*", "(error) ERR no such key"));
	cr_assert(matches("*key", "(error) ERR no such key"));
	cr_assert(matches("[*, 1]", "[\"a, b\", 1]"));
	cr_assert(matches("a*b*c", "aXbYbZc"));
	cr_assert_not(matches("(error) WRONG*", "(error) ERR no such key"));
	cr_assert_not(matches("a*b", "abc"));
}

Test(match, fills_a_variable_once)
{
	static struct rr_variables variables;

	cr_assert(rr_reply_matches("\"$x\"", "\"1011\"", &variables));
	cr_assert_str_eq(rr_variable_get(&variables, "x", 1), "1011");
	cr_assert(rr_reply_matches("[1, \"$x\"]", "[1, \"1011\"]", &variables));
	cr_assert_not(rr_reply_matches("\"$x\"", "\"1012\"", &variables));
	cr_assert_str_eq(rr_variable_get(&variables, "x", 1), "1011");
}

Test(match, ends_a_variable_where_the_pattern_goes_on)
{
	static struct rr_variables variables;

	cr_assert(rr_reply_matches("[\"$x\", 1]", "[\"abc\", 1]", &variables));
	cr_assert_str_eq(rr_variable_get(&variables, "x", 1), "abc");
	cr_assert_not(rr_reply_matches("\"$y\"", "abc", &variables));
}

Test(match, takes_any_text_for_a_variable_when_values_are_forgotten)
{
	cr_assert(matches("[\"$x\", \"$x\"]", "[\"a\", \"b\"]"));
	cr_assert_not(matches("[\"$x\"]", "\"a\""));
	cr_assert(matches("$", "$"));
}

Test(match, replaces_variables_in_words)
{
	static struct rr_variables variables;
	char *word;

	cr_assert(rr_variable_set(&variables, "x", 1, "7", 1));
	cr_assert(rr_variable_set(&variables, "x", 1, "42", 2));
	word = (char *)rr_variables_expand(&variables, &(struct rdl_word){ "a$x-$x $y $", 11 }).text;
	cr_assert_str_eq(word, "a42-42 $y $");
	free(word);
}

Test(match, has_room_for_some_variables)
{
	static struct rr_variables variables;
	char name[16];
	int n = 0;

	do
		snprintf(name, sizeof(name), "v%d", n++);
	while (rr_variable_set(&variables, name, strlen(name), "", 0));
	cr_assert_eq(n, RR_VARIABLES_MAX + 1);
	cr_assert_str_eq(rr_variable_get(&variables, "v63", 3), "");
}

/* ---- Replies as text ---------------------------------------------------- */

static void assert_text(const struct rdl_reply *reply, const char *expected)
{
	char text[64];

	rr_reply_text(reply, text, sizeof(text));
	cr_assert_str_eq(text, expected, "%s", text);
}

static struct rdl_reply string_of(enum rdl_reply_type type, const char *bytes, size_t length)
{
	return (struct rdl_reply){ .type = type, .text = (char *)bytes, .length = length };
}

Test(reply_text, is_what_redis_cli_prints)
{
	struct rdl_reply reply = string_of(RDL_REPLY_STATUS, "OK", 2);

	assert_text(&reply, "OK");
	reply = string_of(RDL_REPLY_FAILED, "ERR no\r\n", 8);
	assert_text(&reply, "(error) ERR no\\r\\n");
	reply = string_of(RDL_REPLY_STRING, "a\"\n\0\x7f", 5);
	assert_text(&reply, "\"a\\\"\\n\\x00\\x7f\"");
	reply = (struct rdl_reply){ .type = RDL_REPLY_INTEGER, .integer = -7 };
	assert_text(&reply, "(integer) -7");
	reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	assert_text(&reply, "(nil)");
}

Test(reply_text, puts_arrays_on_one_line)
{
	struct rdl_reply elements[] = { { .type = RDL_REPLY_INTEGER, .integer = 1 },
					string_of(RDL_REPLY_STRING, "b", 1) };
	struct rdl_reply reply = { .type = RDL_REPLY_ARRAY, .elements = elements };

	assert_text(&reply, "[]");
	reply.length = 2;
	assert_text(&reply, "[(integer) 1, \"b\"]");
}

Test(reply_text, is_cut_off_when_too_long)
{
	char bytes[200] = "", text[32];
	struct rdl_reply reply = string_of(RDL_REPLY_STRING, bytes, sizeof(bytes));

	memset(bytes, 'x', sizeof(bytes));
	rr_reply_text(&reply, text, sizeof(text));
	cr_assert_lt(strlen(text), sizeof(text));
	cr_assert_str_eq(text + strlen(text) - 3, "...");
}

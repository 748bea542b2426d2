/* SPDX-License-Identifier: MIT */
/* The server's side of the protocol, and the renaming of random values. */
#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "party/names.h"
#include "base/resp.h"

/* Words of the command that was parsed last lie there. */
static char parsed[200];

static enum rr_resp_result parse(const char *bytes, struct rdl_command *command, size_t *used)
{
	snprintf(parsed, sizeof(parsed), "%s", bytes);
	return rr_resp_parse(parsed, strlen(parsed), command, used);
}

Test(resp, parses_one_request_of_several)
{
	static const char bytes[] = "*2\r\n$3\r\nGET\r\n$1\r\nx\r\n*1\r\n$4\r\nPING\r\n";
	struct rdl_command command;
	size_t used;

	cr_assert_eq(parse(bytes, &command, &used), RR_RESP_COMPLETE);
	cr_assert_eq(command.n_words, 2);
	cr_assert_eq(memcmp(command.words[0].text, "GET", 3), 0);
	cr_assert_eq(used, strlen("*2\r\n$3\r\nGET\r\n$1\r\nx\r\n"));
}

/* Wherever it is cut. */
Test(resp, waits_for_the_rest_of_a_request)
{
	char bytes[] = "*2\r\n$3\r\nGET\r\n$1\r\nx\r\n";
	struct rdl_command command;
	size_t used;

	for (size_t n = 0; n < strlen(bytes); n++)
		cr_assert_eq(rr_resp_parse(bytes, n, &command, &used), RR_RESP_PARTIAL, "%zu bytes",
			     n);
}

Test(resp, parses_lines_and_skips_empty_ones)
{
	struct rdl_command command;
	size_t used;

	cr_assert_eq(parse("SET  x 1\r\n", &command, &used), RR_RESP_COMPLETE);
	cr_assert_eq(command.n_words, 3);
	cr_assert_eq(parse("\r\n", &command, &used), RR_RESP_EMPTY);
	cr_assert_eq(used, 2);
	cr_assert_eq(parse("*0\r\n", &command, &used), RR_RESP_EMPTY);
}

static void assert_second(const char *line, const char *word, size_t length)
{
	struct rdl_command command;
	size_t used;

	cr_assert_eq(parse(line, &command, &used), RR_RESP_COMPLETE, "%s", line);
	cr_assert_eq(command.n_words, 3, "%s", line);
	cr_assert_eq(command.words[1].length, length, "%s", line);
	cr_assert_eq(memcmp(command.words[1].text, word, length), 0, "%s", line);
}

/* Each of these was sent to a server, and MONITOR showed these words. */
Test(resp, takes_quotes_of_lines_as_servers_do)
{
	struct rdl_command command;
	size_t used;

	assert_second("SET \"a b\" 1\r\n", "a b", 3);
	assert_second("SET 'a b' 1\r\n", "a b", 3);
	assert_second("SET a\"b c\" 1\r\n", "ab c", 4);
	assert_second("SET \"\" 1\r\n", "", 0);
	assert_second("SET \"\\x00\\xfF\\n\\q\\\"\" 1\r\n", "\0\xff\nq\"", 5);
	assert_second("SET 'it\\'s\\n' 1\r\n", "it's\\n", 6);
	assert_second("SET \"\\xg0\" 1\r\n", "xg0", 3);
	cr_assert_eq(parse("SET \"a 1\r\n", &command, &used), RR_RESP_MALFORMED);
	cr_assert_eq(parse("SET \"a\"b 1\r\n", &command, &used), RR_RESP_MALFORMED);
	cr_assert_eq(parse("SET 'a 1\r\n", &command, &used), RR_RESP_MALFORMED);
}

/* `make fuzz`: two more than the largest number was added to it. */
Test(resp, refuses_lengths_that_no_server_takes)
{
	static const char *const wrong[] = {
		"*1\r\n$9223372036854775807\r\n",
		"*1\r\n$536870913\r\n",
		"*1048577\r\n",
		"*1\r\n$+5\r\n",
		"* 1\r\n",
		"*1\r\n$-1\r\n",
	};
	struct rdl_command command;
	size_t used;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_eq(parse(wrong[i], &command, &used), RR_RESP_MALFORMED, "%s", wrong[i]);
}

Test(resp, refuses_what_is_none)
{
	struct rdl_command command;
	size_t used;

	cr_assert_eq(parse("*x\r\n", &command, &used), RR_RESP_MALFORMED);
	cr_assert_eq(parse("*1\r\n+GET\r\n", &command, &used), RR_RESP_MALFORMED);
	cr_assert_eq(parse("*1\r\n$-5\r\n", &command, &used), RR_RESP_MALFORMED);
	cr_assert_eq(parse("*1\r\n$99999999999999999999999999\r\n", &command, &used),
		     RR_RESP_MALFORMED);
}

Test(resp, writes_replies_as_a_server_does)
{
	struct rdl_reply elements[] = {
		{ .type = RDL_REPLY_NIL },
		{ .type = RDL_REPLY_INTEGER, .integer = -3 },
		{ .type = RDL_REPLY_STRING, .text = "a\0b", .length = 3 },
		{ .type = RDL_REPLY_FAILED, .text = "ERR no", .length = 6 },
	};
	const struct rdl_reply reply = { .type = RDL_REPLY_ARRAY,
					 .length = 4,
					 .elements = elements };
	static const char expected[] = "*4\r\n$-1\r\n:-3\r\n$3\r\na\0b\r\n-ERR no\r\n";
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	cr_assert(rr_resp_write(file, &reply));
	fclose(file);
	cr_assert_eq(size, sizeof(expected) - 1);
	cr_assert_eq(memcmp(text, expected, size), 0);
	free(text);
}

/* ---- Names ------------------------------------------------------------------- */

static struct rdl_command set_of(const char *value)
{
	return (struct rdl_command){
		.n_words = 3, .words = { { "SET", 3 }, { "lock", 4 }, { value, strlen(value) } }
	};
}

static void assert_word(struct rdl_word word, const char *text)
{
	cr_assert_eq(word.length, strlen(text));
	cr_assert_eq(memcmp(word.text, text, word.length), 0, "%.*s", (int)word.length, word.text);
}

Test(names, differ_in_the_whole_token)
{
	const struct rdl_command a = set_of("owner:12ab34:x");
	const struct rdl_command b = set_of("owner:12ff34:x");
	const struct rdl_command c = set_of("1"), d = set_of("2");
	struct rdl_word one, other;

	cr_assert(rr_names_differ(&a, &b, &one, &other));
	assert_word(one, "12ab34");
	assert_word(other, "12ff34");
	cr_assert_not(rr_names_differ(&a, &a, &one, &other));
	cr_assert_not(rr_names_differ(&c, &d, &one, &other));
}

/* Whatever bytes are drawn: base64 with its signs, and bytes in msgpack. */
Test(names, differ_in_bytes_that_are_no_letters)
{
	const struct rdl_command a = set_of("id=SyLQ25S13WH/rvMdNEDGNIoH&b=1");
	const struct rdl_command b = set_of("id=kQ93j5fW37x/rvzdNqDGA0o+&b=1");
	const struct rdl_command c = set_of("\x82\xa2id\xc4\x08:\xae=\xe3\x1d^\xd3G\xa1n\x01");
	const struct rdl_command d =
		set_of("\x82\xa2id\xc4\x08\xc3\x15\xa1\xde\xe3\xaf\x67\xad\xa1n\x01");
	struct rdl_word one, other;

	cr_assert(rr_names_differ(&a, &b, &one, &other));
	assert_word(one, "SyLQ25S13WH/rvMdNEDGNIoH");
	assert_word(other, "kQ93j5fW37x/rvzdNqDGA0o+");
	cr_assert(rr_names_differ(&c, &d, &one, &other));
	assert_word(one, ":\xae=\xe3\x1d^\xd3G");
	assert_word(other, "\xc3\x15\xa1\xde\xe3\xaf\x67\xad");
}

Test(names, exchange_two_values)
{
	struct rr_renaming renaming = { 0 };
	struct rr_terms terms = { 0 };
	const struct rdl_command a = set_of("aaaa-bbbb");
	const uint32_t number = rr_terms_command(&terms, &a);
	uint32_t renamed;

	rr_renaming_add(&renaming, (struct rdl_word){ "aaaa", 4 }, (struct rdl_word){ "bbbb", 4 });
	rr_renaming_add(&renaming, (struct rdl_word){ "bbbb", 4 }, (struct rdl_word){ "aaaa", 4 });
	renamed = rr_rename_command(&renaming, &terms, number);
	cr_assert_str_eq(terms.command[renamed].words.words[2].text, "bbbb-aaaa");
	cr_assert_eq(rr_rename_command(&renaming, &terms, renamed), number);
	rr_renaming_release(&renaming);
	rr_terms_release(&terms);
}

/* A time of day in digits is no part of a longer one. */
Test(names, one_number_is_no_part_of_another)
{
	struct rr_renaming renaming = { 0 };
	struct rr_terms terms = { 0 };
	const struct rdl_command a = set_of("19.5 19.53 219.5 (19.5)");
	const uint32_t number = rr_terms_command(&terms, &a);
	uint32_t renamed;

	rr_renaming_add(&renaming, (struct rdl_word){ "19.5", 4 }, (struct rdl_word){ "now", 3 });
	renamed = rr_rename_command(&renaming, &terms, number);
	cr_assert_str_eq(terms.command[renamed].words.words[2].text, "now 19.53 219.5 (now)");
	rr_renaming_release(&renaming);
	rr_terms_release(&terms);
}

Test(names, keep_their_length_and_their_alphabet)
{
	const int64_t day_ns = INT64_C(1900000000000000000);
	const struct rdl_word token = rr_token_of_client((struct rdl_word){ "09af-Zz_\xff", 9 }, 1,
							 day_ns);
	const struct rdl_word time = rr_token_of_client((struct rdl_word){ "1900000012.5", 12 }, 1,
							day_ns);

	assert_word(token, "10ba-Gg_\x80");
	assert_word(time, "1900011123.6");
	free((char *)token.text);
	free((char *)time.text);
}

/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "command.h"

static bool parse(struct rdl_command *command, const char *format, ...)
{
	va_list arguments;
	bool good;

	command->n_words = command->n_numbers = 0;
	va_start(arguments, format);
	good = rdl_command_parse(command, format, arguments);
	va_end(arguments);
	return good;
}

Test(command, encodes_words_and_conversions)
{
	static const char wanted[] = "*6\r\n$3\r\nSET\r\n$5\r\na key\r\n$2\r\nxy\r\n$2\r\nPX\r\n"
				     "$5\r\n10000\r\n$20\r\n-9223372036854775808\r\n";
	struct rdl_command command;
	struct rdl_buffer buffer = { 0 };

	cr_assert(parse(&command, "SET %s %.*s PX %ld %lld", "a key", 2, "xyz", 10000L,
			(long long)INT64_MIN));
	cr_assert(rdl_command_encode(&command, &buffer));
	cr_assert_eq(buffer.length, strlen(wanted));
	cr_assert(memcmp(buffer.bytes, wanted, buffer.length) == 0);
	rdl_buffer_release(&buffer);
}

Test(command, keeps_empty_and_large_values)
{
	static char large[100000];
	struct rdl_command command;
	struct rdl_buffer buffer = { 0 };

	memset(large, 'x', sizeof(large) - 1);
	cr_assert(parse(&command, "SET %s %s", "", large));
	cr_assert_eq(command.words[1].length, 0);
	cr_assert(rdl_command_encode(&command, &buffer));
	cr_assert_gt(buffer.length, sizeof(large));
	rdl_buffer_release(&buffer);
}

#define TEN_WORDS "1 2 3 4 5 6 7 8 9 10 "

Test(command, refuses_what_it_would_get_wrong)
{
	struct rdl_command command;

	cr_assert_not(parse(&command, ""));
	cr_assert_not(parse(&command, "SET key:%s 1", "a"));
	cr_assert_not(parse(&command, "SET k %x", 1));
	cr_assert_not(parse(&command, "%d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9));
	cr_assert_not(parse(&command,
			    TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS
				    TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS TEN_WORDS));
}

/* SPDX-License-Identifier: MIT */
/* What is read from the words of a command. */
#include <criterion/criterion.h>
#include <string.h>

#include "term/term.h"

static int64_t time_out_ms(const char *text)
{
	char copy[100];
	struct rdl_command command = { .n_words = 0 };

	strcpy(copy, text);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		command.words[command.n_words++] = (struct rdl_word){ word, strlen(word) };
	return rr_command_time_out_ns(&command) / 1000000;
}

/* As the manual says of each: WAIT's, WAITAOF's and BLOCK's are milliseconds. */
Test(terms, time_outs_are_in_the_unit_of_each_command)
{
	static const struct {
		const char *command;
		int64_t ms;
	} commands[] = {
		{ "BLPOP a b 2", 2000 },
		{ "blmove a b LEFT RIGHT 0.5", 500 },
		{ "BLMPOP 3 1 a LEFT", 3000 },
		{ "BZMPOP 3 1 a MIN", 3000 },
		{ "BZPOPMIN z 1", 1000 },
		{ "WAIT 1 100", 100 },
		{ "WAITAOF 1 0 100", 100 },
		{ "XREAD COUNT 1 BLOCK 70 STREAMS s $", 70 },
		{ "XREADGROUP GROUP block me BLOCK 70 STREAMS s >", 70 },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		cr_assert_eq(time_out_ms(commands[i].command), commands[i].ms, "%s",
			     commands[i].command);
	cr_assert_eq(time_out_ms("BLPOP a 0"), INT64_MAX / 1000000);
	cr_assert_eq(time_out_ms("XREAD STREAMS block 7"), INT64_MAX / 1000000);
}

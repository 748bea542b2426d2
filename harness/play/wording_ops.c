/* SPDX-License-Identifier: MIT */
#include "wording_ops.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 60 };

const char *rr_op_name(const struct rr_op *op)
{
	static const char *const names[] = {
		[RR_OP_SLEEP] = "sleep", [RR_OP_WAIT] = "wait",
		[RR_OP_LOCK] = "lock",	 [RR_OP_UNLOCK] = "unlock",
		[RR_OP_CLOCK] = "clock", [RR_OP_JOIN] = "join",
	};

	return op->kind == RR_OP_SEND ? op->words[0].text : names[op->kind];
}

const char *rr_race_duration(char text[RR_DURATION_SIZE], int64_t ns)
{
	const long long us = (ns + 999) / 1000;

	if (us % 1000000 == 0)
		snprintf(text, RR_DURATION_SIZE, "%llds", us / 1000000);
	else if (us % 1000 == 0)
		snprintf(text, RR_DURATION_SIZE, "%lldms", us / 1000);
	else
		snprintf(text, RR_DURATION_SIZE, "%lldus", us);
	return text;
}

char *rr_join_words(const struct rl_word *words, size_t n)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; file && i < n; i++) {
		const char *word = words[i].text;
		const bool plain = word[0] && !strpbrk(word, " \t\n\"");
		const char *quote = plain ? "" : strchr(word, '"') ? "'" : "\"";

		fprintf(file, "%s%s%s%s", i ? " " : "", quote, word, quote);
	}
	if (file)
		fclose(file);
	return text;
}

static void command_text(const struct rr_op *op, char text[RR_OP_TEXT_SIZE])
{
	char *command = rr_join_words(op->words, op->n_words);

	snprintf(text, RR_OP_TEXT_SIZE, "make %.*s%s", SHOWN,
		 command ? command : "a command",
		 command && strlen(command) > SHOWN ? "..." : "");
	for (char *c = text; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	}
	free(command);
}

void rr_op_text(const struct rr_op *op, int64_t now_ns,
		char text[RR_OP_TEXT_SIZE])
{
	const bool lasts = (op->kind == RR_OP_SLEEP || op->kind == RR_OP_WAIT) &&
			   op->until_ns > now_ns && op->until_ns != RR_NEVER;
	static const char *const texts[] = {
		[RR_OP_SLEEP] = "go on after a sleep",
		[RR_OP_WAIT] = "go on after waiting for a message",
		[RR_OP_LOCK] = "lock the mutex",
		[RR_OP_UNLOCK] = "unlock the mutex",
		[RR_OP_CLOCK] = "read the clock",
		[RR_OP_JOIN] = "wait for the end of its renewer",
	};
	char duration[RR_DURATION_SIZE];

	if (op->kind == RR_OP_SEND)
		command_text(op, text);
	else if (lasts)
		snprintf(text, RR_OP_TEXT_SIZE, "%s, in %s", texts[op->kind],
			 rr_race_duration(duration, op->until_ns - now_ns));
	else
		snprintf(text, RR_OP_TEXT_SIZE, "%s", texts[op->kind]);
}

/* SPDX-License-Identifier: MIT */
#include "../planted.h"

#include <string.h>

static bool is(const struct rdl_word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static struct rdl_word word(const char *text)
{
	return (struct rdl_word){ text, strlen(text) };
}

static enum rdl_outcome drop_nx(void *context, struct rdl_link *link, struct rdl_command *command)
{
	size_t kept = 0;

	(void)context;
	(void)link;
	for (size_t i = 0; i < command->n_words; i++) {
		if (!is(&command->words[i], "NX"))
			command->words[kept++] = command->words[i];
	}
	command->n_words = kept;
	return RDL_OK;
}

static enum rdl_outcome drop_watch(void *context, struct rdl_link *link,
				   struct rdl_command *command)
{
	(void)context;
	(void)link;
	if (is(&command->words[0], "WATCH")) {
		command->words[0] = word("PING");
		command->n_words = 1;
	}
	return RDL_OK;
}

static enum rdl_outcome drop_compare(void *context, struct rdl_link *link,
				     struct rdl_command *command)
{
	(void)context;
	(void)link;
	if (is(&command->words[0], "EVALSHA") || is(&command->words[0], "EVAL")) {
		command->words[0] = word("DEL");
		command->words[1] = command->words[3];
		command->n_words = 2;
	}
	return RDL_OK;
}

static enum rdl_outcome double_incr(void *context, struct rdl_link *link,
				    struct rdl_command *command)
{
	(void)context;
	(void)link;
	if (is(&command->words[0], "INCR")) {
		command->words[0] = word("INCRBY");
		command->words[2] = word("2");
		command->n_words = 3;
	}
	return RDL_OK;
}

/* A take is told from the queue's other scripts by its number of arguments: hold,
 * number and size behind the three keys. */
static enum rdl_outcome pop(void *context, struct rdl_link *link, struct rdl_command *command)
{
	enum { TAKE_WORDS = 12 };

	(void)context;
	(void)link;
	if (command->n_words == TAKE_WORDS && is(&command->words[2], "5") &&
	    (is(&command->words[0], "EVALSHA") || is(&command->words[0], "EVAL"))) {
		command->words[0] = word("EVAL");
		command->words[1] = word("local i = redis.call('ZPOPMIN', KEYS[1]) "
					 "return #i > 0 and { i[1], i[2], 1 } or -1");
	}
	return RDL_OK;
}

static enum rdl_outcome lose_reply(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	(void)context;
	(void)link;
	(void)reply;
	(void)outcome;
	return RDL_UNKNOWN;
}

#define PLANTED(name, op, function)                                         \
	static const struct rdl_driver_ops name##_ops = { .op = function }; \
	const struct rdl_driver name = { .ops = &name##_ops }

PLANTED(planted_no_nx, send, drop_nx);
PLANTED(planted_no_watch, send, drop_watch);
PLANTED(planted_no_compare, send, drop_compare);
PLANTED(planted_double_incr, send, double_incr);
PLANTED(planted_lost_reply, receive, lose_reply);
PLANTED(planted_pop, send, pop);

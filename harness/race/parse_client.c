/* SPDX-License-Identifier: MIT */
/* The steps of a client. */
#include <string.h>

#include "parser.h"

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

static bool take_reply(struct rr_parser *parser, struct rr_step *step)
{
	const char *reply = parser->line.reply;

	step->expected = reply;
	if (!reply)
		return true;
	if (reply[0] == '\0')
		return rr_parser_fail(parser, "expected a reply after => or <");
	step->is_lost = is(reply, "(lost)");
	step->is_waiting = is(reply, "(waits)");
	return true;
}

bool rr_parser_run(struct rr_parser *parser)
{
	const char *name = parser->line.words[0];
	const size_t length = strcspn(name, "@>");
	struct rr_step *step = rr_parser_add_step(parser, RR_STEP_RUN);

	if (!step)
		return false;
	step->actor = rr_parser_find_actor(parser->race, name, length);
	step->server = 0;
	if (step->actor < 0)
		return rr_parser_fail(parser,
				      "expected a client's name, found '%.*s'",
				      (int)length, name);
	if (name[length] == '@') {
		char *server = rr_race_keep(parser->race, name + length + 1,
					    strlen(name + length + 1) - 1);

		if (!server ||
		    !rr_parser_take_server(parser, server, &step->server))
			return false;
	}
	return rr_parser_take_command(parser, step, 1) &&
	       take_reply(parser, step);
}

/* A < REPLY */
static bool parse_read(struct rr_parser *parser, struct rr_step *step)
{
	step->server = 0;
	if (!parser->line.reply)
		return rr_parser_fail(parser, "expected a reply after => or <");
	return rr_parser_has_words(parser, 2, "A < REPLY") &&
	       take_reply(parser, step);
}

static bool parse_write(struct rr_parser *parser, struct rr_step *step)
{
	const struct rr_line *line = &parser->line;

	step->server = 0;
	if (line->n_words != 4 || !is(line->words[2], "bytes"))
		return rr_parser_take_command(parser, step, 2);
	step->kind = RR_STEP_BYTES;
	step->text = line->words[3];
	step->length = line->lengths[3];
	return true;
}

/* A computes end = now + 11 */
static bool parse_compute(struct rr_parser *parser, struct rr_step *step)
{
	const struct rr_line *line = &parser->line;
	const size_t n = line->n_words;
	bool minus;

	if ((n != 5 && n != 7) || !is(line->words[3], "=") ||
	    !is(line->words[4], "now"))
		return rr_parser_fail(
			parser, "expected 'A computes NAME = now + SECONDS'");
	step->text = line->words[2];
	if (n == 5)
		return true;
	minus = is(line->words[5], "-");
	if (!minus && !is(line->words[5], "+"))
		return rr_parser_fail(parser, "expected + or -, found '%.60s'",
				      line->words[5]);
	if (!rr_parser_take_number(parser, line->words[6], 0, 1000000000,
				   &step->amount))
		return false;
	if (minus)
		step->amount = -step->amount;
	return true;
}

static bool parse_mutex(struct rr_parser *parser, struct rr_step *step)
{
	if (!rr_parser_has_words(parser, 3, "A locks MUTEX"))
		return false;
	step->text = parser->line.words[2];
	return true;
}

static bool parse_plain(struct rr_parser *parser, struct rr_step *step)
{
	(void)step;
	return rr_parser_has_words(parser, 2, "A enters");
}

static bool (*const verbs[])(struct rr_parser *parser, struct rr_step *step) = {
	[RR_STEP_WRITE] = parse_write,	 [RR_STEP_READ] = parse_read,
	[RR_STEP_ENTER] = parse_plain,	 [RR_STEP_LEAVE] = parse_plain,
	[RR_STEP_COUNT] = parse_plain,	 [RR_STEP_CRASH] = parse_plain,
	[RR_STEP_CONNECT] = parse_plain, [RR_STEP_LOCK] = parse_mutex,
	[RR_STEP_UNLOCK] = parse_mutex,	 [RR_STEP_COMPUTE] = parse_compute,
};

bool rr_parser_verb(struct rr_parser *parser, int actor)
{
	const char *word =
		parser->line.n_words > 1 ? parser->line.words[1] : "nothing";

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const enum rr_step_kind kind = (enum rr_step_kind)i;
		struct rr_step *step;

		if (!verbs[i] || !is(word, rr_step_verb(kind)))
			continue;
		step = rr_parser_add_step(parser, kind);
		if (!step)
			return false;
		step->actor = actor;
		return verbs[i](parser, step);
	}
	return rr_parser_fail(
		parser,
		"expected what %s does (enters, leaves, crashes ...), found '%.60s'",
		parser->line.words[0], word);
}

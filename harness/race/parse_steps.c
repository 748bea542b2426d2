/* SPDX-License-Identifier: MIT */
/* The steps that no client does, what documents say, and the verdict. */
#include <string.h>

#include "findings.h"
#include "parser.h"

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

bool rr_parser_take_server(struct rr_parser *parser, const char *name,
			   int *server)
{
	*server = rr_parser_find_server(parser->race, name);
	if (*server >= 0)
		return true;
	return rr_parser_fail(parser, "expected a server's name, found '%.60s'", name);
}

/* ---- Steps without a client --------------------------------------------------------- */

static bool parse_note(struct rr_parser *parser)
{
	struct rr_step *step = rr_parser_add_step(parser, RR_STEP_NOTE);

	if (!step)
		return false;
	step->text = parser->line.rest ? parser->line.rest : "";
	return true;
}

static bool parse_tick(struct rr_parser *parser)
{
	struct rr_step *step;

	if (!rr_parser_has_words(parser, 2, "tick DURATION"))
		return false;
	step = rr_parser_add_step(parser, RR_STEP_TICK);
	return step && rr_parser_take_duration(parser, parser->line.words[1], false,
				     &step->amount);
}

/* clock NAME +60s */
static bool parse_clock(struct rr_parser *parser)
{
	const char *name;
	struct rr_step *step;

	if (!rr_parser_has_words(parser, 3, "clock NAME +60s"))
		return false;
	name = parser->line.words[1];
	step = rr_parser_add_step(parser, RR_STEP_CLOCK);
	if (!step || !rr_parser_take_duration(parser, parser->line.words[2], true,
				    &step->amount))
		return false;
	step->peer = rr_parser_find_actor(parser->race, name, strlen(name));
	return step->peer >= 0 || rr_parser_take_server(parser, name, &step->server);
}

/* tear N last|at|after|in|without|over NUMBER */
static bool parse_tear(struct rr_parser *parser, struct rr_step *step)
{
	const char *where = parser->line.words[2];

	for (int i = 0; i < RR_TEAR_KINDS; i++) {
		if (is(where, rr_tear_name((enum rr_tear)i))) {
			step->tear = (enum rr_tear)i;
			return rr_parser_take_number(parser,
						     parser->line.words[3], 0,
						     1000000, &step->amount);
		}
	}
	return rr_parser_fail(parser, "expected last, at, after, in, without or over, found '%.60s'",
			      where);
}

static bool parse_fault(struct rr_parser *parser, enum rr_fault fault)
{
	static const char *const forms[] = { "FAULT SERVER",
					     "slow-disk SERVER DURATION",
					     "tear SERVER last|at|after|in|without|over NUMBER" };
	const int more = fault == RR_FAULT_TEAR	     ? 2 :
			 fault == RR_FAULT_SLOW_DISK ? 1 :
						       0;
	struct rr_step *step;

	if (!rr_parser_has_words(parser, 2 + (size_t)more, forms[more]))
		return false;
	step = rr_parser_add_step(parser, RR_STEP_FAULT);
	if (!step ||
	    !rr_parser_take_server(parser, parser->line.words[1], &step->server))
		return false;
	step->fault = fault;
	if (fault == RR_FAULT_TEAR)
		return parse_tear(parser, step);
	if (fault == RR_FAULT_SLOW_DISK)
		return rr_parser_take_duration(parser, parser->line.words[2],
					       false, &step->amount);
	return true;
}

static bool parse_repeat(struct rr_parser *parser)
{
	int64_t rounds;

	if (parser->repeat)
		return rr_parser_fail(parser, "expected 'end' of the repeat in line %d first",
			    parser->repeat_line);
	if (!rr_parser_has_words(parser, 2, "repeat ROUNDS") ||
	    !rr_parser_take_number(parser, parser->line.words[1], 1, 1000, &rounds))
		return false;
	parser->repeat = (long)rounds;
	parser->repeat_from = parser->race->n_steps;
	parser->repeat_line = parser->line.number;
	return true;
}

/* The steps since the repeat began, so many times. */
static bool parse_end(struct rr_parser *parser)
{
	struct rr_race *race = parser->race;
	const size_t from = parser->repeat_from, n = race->n_steps - from;

	if (!parser->repeat)
		return rr_parser_fail(parser, "expected a 'repeat' before 'end'");
	for (long round = 1; round <= parser->repeat; round++) {
		for (size_t i = 0; i < n; i++) {
			struct rr_step *step = &race->steps[from + i];

			if (round > 1) {
				step = rr_parser_add_step(parser, RR_STEP_NOTE);
				if (!step)
					return false;
				*step = race->steps[from + i];
			}
			step->repetition = (int)round;
			step->repetitions = (int)parser->repeat;
		}
	}
	parser->repeat = 0;
	return true;
}

/* ---- What a document says ----------------------------------------------------------------- */

/* A word for what is found that nobody knows would never hold. */
static bool check_finding(struct rr_parser *parser, const char *text)
{
	bool known;

	rr_finding_holds(text, 0, &known);
	return known ||
	       rr_parser_fail(parser, "expected a finding like 'update lost' or 'nothing broken', found '%.60s'",
			      text);
}

/* ID says => PATTERN, of the reply before; ID says FINDING, of the end. */
static bool parse_saying(struct rr_parser *parser)
{
	struct rr_race *race = parser->race;
	const struct rr_line *line = &parser->line;
	struct rr_saying *saying;

	if (line->reply ? line->n_words != 2 : line->n_words < 3)
		return rr_parser_fail(parser, "expected 'ID says => REPLY' or 'ID says FINDING'");
	if (line->reply && race->n_steps == 0)
		return rr_parser_fail(parser, "expected a step before what is said of its reply");
	if (!rr_parser_grow((void **)&race->sayings, &parser->sayings_room,
		  race->n_sayings, sizeof(*saying)))
		return rr_parser_fail(parser, "out of memory");
	saying = &race->sayings[race->n_sayings++];
	*saying = (struct rr_saying){ .claim = line->words[0],
				      .line = line->number,
				      .step = -1 };
	if (line->reply) {
		saying->step = (int)race->n_steps - 1;
		saying->says = line->reply;
	} else {
		saying->says = line->rest + strlen("says");
		saying->says += strspn(saying->says, " ");
	}
	return line->reply || check_finding(parser, saying->says);
}

static bool parse_verdict(struct rr_parser *parser)
{
	struct rr_race *race = parser->race;
	char *rest, *one;

	if (parser->line.n_words < 2)
		return rr_parser_fail(parser, "expected what was found, or 'nothing broken'");
	rest = rr_race_keep(race, parser->line.rest,
			    strlen(parser->line.rest));
	for (one = rest ? strtok(rest, ",") : NULL; one;
	     one = strtok(NULL, ",")) {
		if (race->n_verdicts == RR_FINDINGS_NAMED_MAX)
			return rr_parser_fail(parser, "expected at most %d findings",
				    RR_FINDINGS_NAMED_MAX);
		one += strspn(one, " ");
		if (!check_finding(parser, one))
			return false;
		race->verdicts[race->n_verdicts++] = one;
	}
	race->verdict_line = parser->line.number;
	return true;
}

/* ---- The tables ----------------------------------------------------------------- */

static const struct {
	const char *word;
	bool (*parse)(struct rr_parser *parser);
} plain[] = {
	{ "verdict", parse_verdict }, { "--", parse_note },
	{ "tick", parse_tick },	      { "clock", parse_clock },
	{ "repeat", parse_repeat },   { "end", parse_end },
};

bool rr_parser_step(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;
	const char *word = line->words[0];
	const size_t length = strlen(word);
	int actor;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (is(word, plain[i].word))
			return plain[i].parse(parser);
	}
	if (line->n_words > 1 && is(line->words[1], "says"))
		return parse_saying(parser);
	if (word[length - 1] == '>')
		return rr_parser_run(parser);
	for (int fault = 0; fault < RR_FAULT_KINDS; fault++) {
		if (is(word, rr_fault_name((enum rr_fault)fault)))
			return parse_fault(parser, (enum rr_fault)fault);
	}
	actor = rr_parser_find_actor(parser->race, word, length);
	if (actor >= 0)
		return rr_parser_verb(parser, actor);
	return rr_parser_fail(parser, "expected a heading, a client, a fault, tick, clock, repeat or verdict, found '%.60s'",
		    word);
}

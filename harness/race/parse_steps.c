/* SPDX-License-Identifier: MIT */
/* The steps, what documents say, and the verdict. */
#include "parser.h"

/* ---- Commands and replies ----------------------------------------------- */

static bool parse_reply(struct parser *parser, struct rr_step *step)
{
	const char *reply = parser->line.reply;

	step->expected = reply;
	if (!reply)
		return true;
	if (reply[0] == '\0')
		return parser_fail(parser, "expected a reply after => or <");
	step->is_lost = parser_same(reply, "(lost)");
	step->is_waiting = parser_same(reply, "(waits)");
	return true;
}

static bool parse_server_name(struct parser *parser, const char *name, int *server)
{
	*server = parser_find_server(parser->race, name);
	return *server >= 0 || parser_fail(parser, "expected a server's name, found '%.60s'", name);
}

/* A> COMMAND or A@n1> COMMAND */
static bool parse_run(struct parser *parser, struct rr_step *step)
{
	const char *name = parser->line.words[0];
	const size_t length = strcspn(name, "@>");
	const char *at = name + length;

	step->client = parser_find_client(parser->race, name, length);
	step->server = 0;
	if (step->client < 0)
		return parser_fail(parser, "expected a client's name, found '%.*s'", (int)length,
				   name);
	if (*at == '@') {
		const char *server = rr_race_keep(parser->race, at + 1, strlen(at) - 2);

		if (!parse_server_name(parser, server, &step->server))
			return false;
	}
	return parser_take_command(parser, step, 1) && parse_reply(parser, step);
}

static bool parse_read(struct parser *parser, struct rr_step *step)
{
	step->server = 0;
	if (!parser->line.reply)
		return parser_fail(parser, "expected a reply after => or <");
	return parse_reply(parser, step);
}

static bool parse_write(struct parser *parser, struct rr_step *step)
{
	struct parser_line *line = &parser->line;

	step->server = 0;
	if (line->n_words != 4 || !parser_same(line->words[2], "bytes"))
		return parser_take_command(parser, step, 2);
	line->has_zero = false;
	step->kind = RR_STEP_BYTES;
	step->text = line->words[3];
	step->length = line->lengths[3];
	return true;
}

/* ---- Other steps -------------------------------------------------------- */

/* A computes end = now + 11 */
static bool parse_compute(struct parser *parser, struct rr_step *step)
{
	const struct parser_line *line = &parser->line;
	const size_t n = line->n_words;

	if ((n != 5 && n != 7) || !parser_same(line->words[3], "=") ||
	    !parser_same(line->words[4], "now"))
		return parser_fail(parser, "expected 'A computes NAME = now + SECONDS'");
	step->text = line->words[2];
	if (n == 5)
		return true;
	if (!parser_same(line->words[5], "+") && !parser_same(line->words[5], "-"))
		return parser_fail(parser, "expected + or -, found '%.60s'", line->words[5]);
	if (!parser_take_number(parser, line->words[6], 0, 1000000000, &step->amount))
		return false;
	if (line->words[5][0] == '-')
		step->amount = -step->amount;
	return true;
}

static bool parse_mutex(struct parser *parser, struct rr_step *step)
{
	step->text = parser->line.words[2];
	return true;
}

static bool parse_note(struct parser *parser, struct rr_step *step)
{
	step->text = parser->line.rest ? parser->line.rest : "";
	return true;
}

static bool parse_duration(struct parser *parser, struct rr_step *step)
{
	return parser_take_duration(parser, parser->line.words[1], false, &step->amount);
}

static bool parse_clock(struct parser *parser, struct rr_step *step)
{
	const char *name = parser->line.words[1];

	step->peer = parser_find_client(parser->race, name, strlen(name));
	return parser_take_duration(parser, parser->line.words[2], true, &step->amount) &&
	       (step->peer >= 0 || parse_server_name(parser, name, &step->server));
}

static bool parse_fault(struct parser *parser, struct rr_step *step)
{
	while (!parser_same(parser->line.words[0], rr_fault_name(step->fault)))
		step->fault++;
	return parse_server_name(parser, parser->line.words[1], &step->server);
}

static bool parse_slow_disk(struct parser *parser, struct rr_step *step)
{
	return parse_fault(parser, step) &&
	       parser_take_duration(parser, parser->line.words[2], false, &step->amount);
}

static bool parse_tear(struct parser *parser, struct rr_step *step)
{
	const struct parser_line *line = &parser->line;

	for (int i = 0; i < RR_TEAR_KINDS; i++) {
		if (!parser_same(line->words[2], rr_tear_name((enum rr_tear)i)))
			continue;
		step->tear = (enum rr_tear)i;
		return parse_fault(parser, step) &&
		       parser_take_number(parser, line->words[3], 0, 1000000, &step->amount);
	}
	return parser_fail(parser, "expected last, at, after, in, without or over, found '%.60s'",
			   line->words[2]);
}

/* ---- The forms of steps ------------------------------------------------- */

struct form {
	size_t n_words; /* 0 = any number */
	const char *usage;
	bool (*parse)(struct parser *parser, struct rr_step *step);
};

static const struct form forms[] = {
	[RR_STEP_RUN] = { 0, "A> COMMAND", parse_run },
	[RR_STEP_WRITE] = { 0, "A writes COMMAND", parse_write },
	[RR_STEP_READ] = { 2, "A < REPLY", parse_read },
	[RR_STEP_ENTER] = { 2, "A enters", NULL },
	[RR_STEP_LEAVE] = { 2, "A leaves", NULL },
	[RR_STEP_COUNT] = { 2, "A counts", NULL },
	[RR_STEP_CRASH] = { 2, "A crashes", NULL },
	[RR_STEP_CONNECT] = { 2, "A connects", NULL },
	[RR_STEP_LOCK] = { 3, "A locks MUTEX", parse_mutex },
	[RR_STEP_UNLOCK] = { 3, "A unlocks MUTEX", parse_mutex },
	[RR_STEP_COMPUTE] = { 0, "A computes NAME = now", parse_compute },
	[RR_STEP_NOTE] = { 0, "-- TEXT", parse_note },
	[RR_STEP_TICK] = { 2, "tick DURATION", parse_duration },
	[RR_STEP_CLOCK] = { 3, "clock NAME +60s", parse_clock },
	[RR_STEP_FAULT] = { 2, "FAULT SERVER", parse_fault },
};

static const struct form slow_disk = { 3, "slow-disk SERVER DURATION", parse_slow_disk },
			 tear = { 4, "tear SERVER last|at|after|in|without|over NUMBER",
				  parse_tear };

/* The step that this line is. */
static bool take_step(struct parser *parser, int client, enum rr_step_kind kind,
		      const struct form *form)
{
	struct rr_step *step;

	if (form->n_words && !parser_has_words(parser, form->n_words, form->usage))
		return false;
	step = parser_add_step(parser, kind);
	if (!step)
		return false;
	step->client = client;
	return !form->parse || form->parse(parser, step);
}

/* RR_STEP_FAULT: none. */
static enum rr_step_kind kind_of_doing(const char *word)
{
	for (int kind = RR_STEP_WRITE; kind <= RR_STEP_COMPUTE; kind++) {
		if (kind != RR_STEP_BYTES &&
		    parser_same(word, rr_step_word((enum rr_step_kind)kind)))
			return (enum rr_step_kind)kind;
	}
	return RR_STEP_FAULT;
}

bool parser_is_doing(const struct parser *parser)
{
	const struct parser_line *line = &parser->line;

	return line->n_words > 1 && kind_of_doing(line->words[1]) != RR_STEP_FAULT &&
	       parser_find_client(parser->race, line->words[0], strlen(line->words[0])) >= 0;
}

/* What a client does besides commands. */
static bool take_doing(struct parser *parser, int client)
{
	const char *word = parser->line.n_words > 1 ? parser->line.words[1] : "nothing";
	const enum rr_step_kind kind = kind_of_doing(word);

	if (kind != RR_STEP_FAULT)
		return take_step(parser, client, kind, &forms[kind]);
	return parser_fail(parser,
			   "expected what %s does (enters, leaves, crashes ...), found '%.60s'",
			   parser->line.words[0], word);
}

/* ---- Repeats ------------------------------------------------------------ */

static bool parse_repeat(struct parser *parser)
{
	int64_t rounds;

	if (parser->repeat)
		return parser_fail(parser, "expected 'end' of the repeat in line %d first",
				   parser->repeat_line);
	if (!parser_has_words(parser, 2, "repeat ROUNDS") ||
	    !parser_take_number(parser, parser->line.words[1], 1, 1000, &rounds))
		return false;
	parser->repeat = (int)rounds;
	parser->repeat_from = parser->race->n_steps;
	parser->repeat_line = parser->line.number;
	return true;
}

/* else skip, below a step with a reply */
static bool parse_else(struct parser *parser)
{
	struct rr_race *race = parser->race;
	struct rr_step *last = race->n_steps ? &race->steps[race->n_steps - 1] : NULL;

	if (parser->line.n_words != 2 || !parser_same(parser->line.words[1], "skip"))
		return parser_fail(parser, "expected 'else skip'");
	if (!last || !last->expected)
		return parser_fail(parser, "expected a step with a reply before 'else skip'");
	last->skips = true;
	return true;
}

/* The steps since the repeat began, so many times. */
static bool parse_end(struct parser *parser)
{
	struct rr_race *race = parser->race;
	const size_t from = parser->repeat_from, n = race->n_steps - from;

	if (!parser->repeat)
		return parser_fail(parser, "expected a 'repeat' before 'end'");
	for (size_t i = 0; i < n * (size_t)parser->repeat; i++) {
		struct rr_step *step = i < n ? &race->steps[from + i] :
					       parser_add_step(parser, RR_STEP_NOTE);

		if (!step)
			return false;
		*step = race->steps[from + i % n];
		step->repetition = (int)(i / n) + 1;
		step->repetitions = parser->repeat;
	}
	parser->repeat = 0;
	return true;
}

/* ---- What documents say, and the verdict -------------------------------- */

/* An unknown word for a finding would never hold. */
static bool check_finding(struct parser *parser, const char *text)
{
	bool known;

	rr_finding_holds(text, 0, &known);
	return known ||
	       parser_fail(
		       parser,
		       "expected a finding like 'update lost' or 'nothing broken', found '%.60s'",
		       text);
}

/* ID says => PATTERN, of the reply before; ID says FINDING, of the end. */
static bool parse_saying(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const int last = (int)parser->race->n_steps - 1;
	struct rr_saying *saying;

	if (line->reply ? line->n_words != 2 : line->n_words < 3)
		return parser_fail(parser, "expected 'ID says => REPLY' or 'ID says FINDING'");
	if (line->reply && last < 0)
		return parser_fail(parser, "expected a step before what is said of its reply");
	saying = parser_add_saying(parser);
	saying->claim = line->words[0];
	if (line->reply) {
		saying->step = last;
		saying->says = line->reply;
		return true;
	}
	saying->says = line->rest + strlen("says");
	saying->says += strspn(saying->says, " ");
	return check_finding(parser, saying->says);
}

static bool parse_verdict(struct parser *parser)
{
	struct rr_race *race = parser->race;
	const char *rest = parser->line.rest;
	char *findings;

	if (parser->line.n_words < 2)
		return parser_fail(parser, "expected what was found, or 'nothing broken'");
	findings = rr_race_keep(race, rest, strlen(rest));
	for (char *one = strtok(findings, ","); one; one = strtok(NULL, ",")) {
		if (race->n_verdicts == RR_FINDINGS_NAMED_MAX)
			return parser_fail(parser, "expected at most %d findings",
					   RR_FINDINGS_NAMED_MAX);
		one += strspn(one, " ");
		if (!check_finding(parser, one))
			return false;
		race->verdicts[race->n_verdicts++] = one;
	}
	race->verdict_line = parser->line.number;
	return true;
}

/* ---- Any line ----------------------------------------------------------- */

static const struct {
	const char *word;
	bool (*parse)(struct parser *parser);
} no_steps[] = {
	{ "verdict", parse_verdict },
	{ "repeat", parse_repeat },
	{ "end", parse_end },
	{ "else", parse_else },
};

bool parser_step(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const char *word = line->words[0];
	const size_t length = strlen(word);
	int client = parser_is_doing(parser) ? parser_find_client(parser->race, word, length) : -1;

	if (client >= 0)
		return take_doing(parser, client);
	for (size_t i = 0; i < sizeof(no_steps) / sizeof(no_steps[0]); i++) {
		if (parser_same(word, no_steps[i].word))
			return no_steps[i].parse(parser);
	}
	for (int kind = RR_STEP_NOTE; kind <= RR_STEP_CLOCK; kind++) {
		if (parser_same(word, rr_step_word((enum rr_step_kind)kind)))
			return take_step(parser, -1, (enum rr_step_kind)kind, &forms[kind]);
	}
	if (line->n_words > 1 && parser_same(line->words[1], "says"))
		return parse_saying(parser);
	if (word[length - 1] == '>')
		return take_step(parser, -1, RR_STEP_RUN, &forms[RR_STEP_RUN]);
	for (int fault = 0; fault < RR_FAULT_KINDS; fault++) {
		if (parser_same(word, rr_fault_name((enum rr_fault)fault)))
			return take_step(parser, -1, RR_STEP_FAULT,
					 fault == RR_FAULT_SLOW_DISK ? &slow_disk :
					 fault == RR_FAULT_TEAR      ? &tear :
								       &forms[RR_STEP_FAULT]);
	}
	client = parser_find_client(parser->race, word, length);
	if (client >= 0)
		return take_doing(parser, client);
	return parser_fail(
		parser,
		"expected a heading, a client, a fault, tick, clock, repeat or verdict, found '%.60s'",
		word);
}

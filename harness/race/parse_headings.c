/* SPDX-License-Identifier: MIT */
/* The lines above the first step: who takes part, and what is looked at. */
#include <string.h>

#include "parser.h"

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

/* ---- Headings ---------------------------------------------------------------------- */

static bool parse_title(struct rr_parser *parser)
{
	parser->race->title = parser->line.rest;
	if (parser->race->title && parser->race->title[0])
		return true;
	return rr_parser_fail(parser, "expected a title");
}

static bool parse_claim(struct rr_parser *parser)
{
	parser->race->claims = parser->line.rest;
	if (parser->line.n_words > 1)
		return true;
	return rr_parser_fail(parser, "expected the names of claims");
}

static bool add_actor(struct rr_parser *parser, const char *name, int connection)
{
	struct rr_race *race = parser->race;

	if (race->n_actors == RR_ACTORS_MAX)
		return rr_parser_fail(parser, "expected at most %d clients",
			    RR_ACTORS_MAX);
	if (rr_parser_find_actor(race, name, strlen(name)) >= 0)
		return rr_parser_fail(parser, "expected names that differ, found '%.60s' twice",
			    name);
	race->actors[race->n_actors] = (struct rr_race_actor){
		name, connection < 0 ? (int)race->n_actors : connection
	};
	race->n_actors++;
	return true;
}

/* clients A B C; connection T1 T2 makes two of them use the first one's. */
static bool parse_clients(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;
	const bool shared = is(line->words[0], "connection");
	const int first = (int)parser->race->n_actors;

	if (line->n_words < (shared ? 3 : 2))
		return rr_parser_fail(parser, "expected '%s NAME NAME...'",
			    line->words[0]);
	for (size_t i = 1; i < line->n_words; i++) {
		if (!add_actor(parser, line->words[i], shared ? first : -1))
			return false;
	}
	return true;
}

static bool take_keys(struct rr_parser *parser, const char *keys[], size_t *n)
{
	const struct rr_line *line = &parser->line;

	if (line->n_words < 2)
		return rr_parser_fail(parser, "expected '%s KEY...'", line->words[0]);
	for (size_t i = 1; i < line->n_words; i++) {
		if (*n == RR_KEYS_SHOWN_MAX)
			return rr_parser_fail(parser, "expected at most %d keys",
				    RR_KEYS_SHOWN_MAX);
		keys[(*n)++] = line->words[i];
	}
	return true;
}

static bool parse_watch(struct rr_parser *parser)
{
	return take_keys(parser, parser->race->keys, &parser->race->n_keys);
}

static bool parse_together(struct rr_parser *parser)
{
	return take_keys(parser, parser->race->together,
			 &parser->race->n_together);
}

/* lock KEY, lock KEY timestamp, lock KEY count */
static bool parse_lock(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;
	const char *kind = line->n_words == 3 ? line->words[2] : "";
	struct rr_race *race = parser->race;

	race->lock_is_timestamp = is(kind, "timestamp");
	race->lock_is_count = is(kind, "count");
	race->lock = line->n_words > 1 ? line->words[1] : NULL;
	if (line->n_words == 2 || race->lock_is_timestamp ||
	    race->lock_is_count)
		return true;
	return rr_parser_fail(parser, "expected 'lock KEY', 'lock KEY timestamp' or 'lock KEY count'");
}

/* counter KEY, or counter KEY from NUMBER */
static bool parse_counter(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;

	parser->race->counter = line->n_words > 1 ? line->words[1] : NULL;
	if (line->n_words == 2)
		return true;
	if (line->n_words != 4 || !is(line->words[2], "from"))
		return rr_parser_fail(parser, "expected 'counter KEY' or 'counter KEY from NUMBER'");
	return rr_parser_take_number(parser, line->words[3], -1000000000,
				     1000000000, &parser->race->counter_from);
}

/* given COMMAND: what is there before the first step. */
static bool parse_given(struct rr_parser *parser)
{
	struct rr_race *race = parser->race;
	struct rr_step *step = &race->given[race->n_given];

	if (race->n_given == RR_GIVEN_MAX)
		return rr_parser_fail(parser, "expected at most %d given commands",
				      RR_GIVEN_MAX);
	*step = (struct rr_step){ .kind = RR_STEP_RUN,
				  .line = parser->line.number,
				  .actor = -1,
				  .peer = -1 };
	race->n_given++;
	return rr_parser_take_command(parser, step, 1);
}

/* needs COMMAND, needs no COMMAND */
static bool parse_needs(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;
	const bool not_there = line->n_words == 3 && is(line->words[1], "no");
	struct rr_race *race = parser->race;

	if (!not_there && !rr_parser_has_words(parser, 2, "needs COMMAND"))
		return false;
	if (race->n_needs == RR_NEEDS_MAX)
		return rr_parser_fail(parser, "expected at most %d needs",
				      RR_NEEDS_MAX);
	race->needs[race->n_needs++] = (struct rr_need){
		line->words[line->n_words - 1], not_there
	};
	return true;
}

/* ---- The table ------------------------------------------------------------------ */

static const struct {
	const char *word;
	bool (*parse)(struct rr_parser *parser);
} headings[] = {
	{ "title", parse_title },	{ "claim", parse_claim },
	{ "clients", parse_clients },	{ "connection", parse_clients },
	{ "server", rr_parser_servers },	{ "servers", rr_parser_servers },
	{ "watch", parse_watch },	{ "together", parse_together },
	{ "lock", parse_lock },		{ "counter", parse_counter },
	{ "needs", parse_needs },		{ "given", parse_given },
};

int rr_parser_heading(struct rr_parser *parser)
{
	const char *word = parser->line.words[0];

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		if (!is(word, headings[i].word))
			continue;
		if (parser->race->n_steps > 0) {
			rr_parser_fail(parser,
				       "expected '%s' before the first step",
				       word);
			return -1;
		}
		return headings[i].parse(parser) ? 1 : -1;
	}
	return 0;
}

/* Before the first step: a server and a client that need not be named. */
bool rr_parser_complete_headings(struct rr_parser *parser)
{
	if (parser->race->n_servers == 0 && !rr_parser_add_server(parser, "redis"))
		return false;
	if (parser->race->n_actors == 0)
		return rr_parser_fail(parser, "expected 'clients NAME...' before the first step");
	return true;
}

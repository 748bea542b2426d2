/* SPDX-License-Identifier: MIT */
/* The lines above the first step: who takes part, and what is looked at. */
#include "base/array.h"
#include "parser.h"

/* ---- Texts and keys ----------------------------------------------------- */

static bool parse_safe(struct parser *parser)
{
	parser->race->safe = parser->line.words[1];
	return parser->line.n_words == 2 ||
	       parser_fail(parser, "expected one name, found '%s'", parser->line.words[2]);
}

/* watch KEY..., together KEY... */
static bool parse_keys(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool together = parser_same(line->words[0], "together");
	struct rr_race *race = parser->race;
	const char **keys = together ? race->together : race->keys;
	size_t *n = together ? &race->n_together : &race->n_keys;

	for (size_t i = 1; i < line->n_words; i++) {
		if (*n == RR_KEYS_SHOWN_MAX)
			return parser_fail(parser, "expected at most %d keys", RR_KEYS_SHOWN_MAX);
		keys[(*n)++] = line->words[i];
	}
	return true;
}

static bool parse_lock(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const char *kind = line->n_words == 3 ? line->words[2] : "";
	struct rr_race *race = parser->race;

	race->lock = line->words[1];
	race->lock_is_timestamp = parser_same(kind, "timestamp");
	race->lock_is_count = parser_same(kind, "count");
	return line->n_words == 2 || race->lock_is_timestamp || race->lock_is_count ||
	       parser_fail(parser, "expected 'lock KEY', 'lock KEY timestamp' or 'lock KEY count'");
}

/* limit N: a semaphore lets so many clients in at once. */
static bool parse_limit(struct parser *parser)
{
	return parser_has_words(parser, 2, "limit CLIENTS") &&
	       parser_take_number(parser, parser->line.words[1], 1, RR_RACE_CLIENTS_MAX,
				  &parser->race->limit);
}

static bool parse_counter(struct parser *parser)
{
	const struct parser_line *line = &parser->line;

	parser->race->counter = line->words[1];
	if (line->n_words == 2)
		return true;
	if (line->n_words != 4 || !parser_same(line->words[2], "from"))
		return parser_fail(parser, "expected 'counter KEY' or 'counter KEY from NUMBER'");
	return parser_take_number(parser, line->words[3], -1000000000, 1000000000,
				  &parser->race->counter_from);
}

/* given COMMAND: what is there before the first step. */
static bool parse_given(struct parser *parser)
{
	struct rr_race *race = parser->race;

	rr_array_grow(&race->given, race->n_given, sizeof(*race->given));
	race->given[race->n_given] = (struct rr_step){
		.kind = RR_STEP_RUN, .line = parser->line.number, .client = -1, .peer = -1
	};
	return parser_take_command(parser, &race->given[race->n_given++], 1);
}

/* needs COMMAND, needs no COMMAND */
static bool parse_needs(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool not_there = line->n_words == 3 && parser_same(line->words[1], "no");
	struct rr_race *race = parser->race;

	if (!not_there && !parser_has_words(parser, 2, "needs COMMAND"))
		return false;
	if (race->n_needs == RR_NEEDS_MAX)
		return parser_fail(parser, "expected at most %d needs", RR_NEEDS_MAX);
	race->needs[race->n_needs++] = (struct rr_need){ line->words[line->n_words - 1],
							 not_there };
	return true;
}

/* ---- Clients ------------------------------------------------------------ */

/* `connection` < 0: the client's own. */
static bool add_client(struct parser *parser, const char *name, int connection)
{
	struct rr_race *race = parser->race;

	if (race->n_clients == RR_RACE_CLIENTS_MAX)
		return parser_fail(parser, "expected at most %d clients", RR_RACE_CLIENTS_MAX);
	if (parser_find_client(race, name, strlen(name)) >= 0)
		return parser_fail(parser, "expected names that differ, found '%.60s' twice", name);
	race->clients[race->n_clients] = (struct rr_race_client){
		.name = name, .connection = connection < 0 ? (int)race->n_clients : connection
	};
	race->n_clients++;
	return true;
}

/* clients A B C; connection T1 T2 makes two of them use the first one's. */
static bool parse_clients(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool shared = parser_same(line->words[0], "connection");
	const int first = (int)parser->race->n_clients;

	for (size_t i = 1; i < line->n_words; i++) {
		if (!add_client(parser, line->words[i], shared ? first : -1))
			return false;
	}
	return true;
}

/* ---- Servers ------------------------------------------------------------ */

static struct rr_race_server *add_server(struct parser *parser, const char *name)
{
	struct rr_race *race = parser->race;
	struct rr_race_server *server = &race->servers[race->n_servers];

	if (race->n_servers == RR_RACE_SERVERS_MAX) {
		parser_fail(parser, "expected at most %d servers", RR_RACE_SERVERS_MAX);
		return NULL;
	}
	if (parser_find_server(race, name) >= 0) {
		parser_fail(parser, "expected names that differ, found '%.60s' twice", name);
		return NULL;
	}
	*server = (struct rr_race_server){ .name = name };
	race->n_servers++;
	return server;
}

static bool take_aof(struct parser *parser, struct rr_race_server *server, const char *value)
{
	(void)parser;
	for (int i = RR_AOF_NO; i <= RR_AOF_ALWAYS; i++) {
		if (parser_same(value, rr_aof_name((enum rr_aof)i))) {
			server->options.aof = (enum rr_aof)i;
			return true;
		}
	}
	return false;
}

/* A line of redis.conf has neither an end nor anything else that is not printed. */
static bool is_printable(const char *text)
{
	while (*text && (unsigned char)*text >= ' ' && *text != 127)
		text++;
	return !*text;
}

/* "NAME=VALUE" as a line of redis.conf. */
static bool take_config(struct parser *parser, struct rr_race_server *server, const char *value)
{
	char *line = rr_race_keep(parser->race, value, strlen(value));
	char *equals = strchr(line, '=');
	size_t n = 0;

	while (server->config[n])
		n++;
	if (!equals || n == RR_CONFIG_LINES_MAX)
		return false;
	*equals = '\0';
	if (!parser_may_set(line) || !is_printable(equals + 1))
		return parser_fail(
			parser,
			"expected a setting that races may have (docs/races.md), found '%.60s'",
			value);
	*equals = ' ';
	server->config[n] = line;
	return true;
}

static bool take_master(struct parser *parser, struct rr_race_server *server, const char *value)
{
	if (parser_find_server(parser->race, value) < 0)
		return false;
	server->options.replica_of = value;
	return server->options.tcp = true;
}

static bool take_maxmemory(struct parser *parser, struct rr_race_server *server, const char *value)
{
	int64_t bytes;

	if (!parser_take_number(parser, value, 0, INT64_MAX, &bytes))
		return false;
	server->options.maxmemory = bytes;
	return true;
}

/* Options with a value behind an =. */
static const struct {
	const char *name;
	bool (*take)(struct parser *parser, struct rr_race_server *server, const char *value);
} valued[] = {
	{ "aof=", take_aof },
	{ "config=", take_config },
	{ "replica-of=", take_master },
	{ "maxmemory=", take_maxmemory },
};

static bool take_server_option(struct parser *parser, struct rr_race_server *server,
			       const char *word)
{
	struct rr_server_options *options = &server->options;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = { { "rdb", &options->rdb },
		      { "debug", &options->debug },
		      { "tcp", &options->tcp } };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (parser_same(word, flags[i].name))
			return *flags[i].flag = true;
	}
	for (size_t i = 0; i < sizeof(valued) / sizeof(valued[0]); i++) {
		const size_t length = strlen(valued[i].name);

		if (strncmp(word, valued[i].name, length) == 0 &&
		    valued[i].take(parser, server, word + length))
			return true;
	}
	return parser_fail(
		parser,
		"expected rdb, debug, tcp, aof=always|everysec|no, maxmemory=BYTES, replica-of=SERVER or config=NAME=VALUE, found '%.60s'",
		word);
}

/* servers n1 n2 */
static bool parse_servers(struct parser *parser)
{
	size_t i = 1;

	while (i < parser->line.n_words && add_server(parser, parser->line.words[i]))
		i++;
	return i == parser->line.n_words;
}

/* server n1 OPTION... */
static bool parse_server(struct parser *parser)
{
	struct rr_race_server *server = add_server(parser, parser->line.words[1]);

	for (size_t i = 2; server && i < parser->line.n_words; i++) {
		if (!take_server_option(parser, server, parser->line.words[i]))
			return false;
	}
	return server != NULL;
}

/* ---- The table ---------------------------------------------------------- */

static const struct heading {
	const char *word;
	size_t least_words;
	const char *expected;                 /* what stands there, when there are fewer */
	bool (*parse)(struct parser *parser); /* NULL: a text, for the race's field ... */
	size_t at;                            /* ... that is here */
} headings[] = {
	{ "title", 1, "a title", NULL, offsetof(struct rr_race, title) },
	{ "claim", 2, "the names of claims", NULL, offsetof(struct rr_race, claims) },
	{ "shows", 1, "a sentence", NULL, offsetof(struct rr_race, shows) },
	{ "safe", 2, "the name of a race", parse_safe, 0 },
	{ "clients", 2, "'clients NAME NAME...'", parse_clients, 0 },
	{ "connection", 3, "'connection NAME NAME...'", parse_clients, 0 },
	{ "server", 2, "a server's name", parse_server, 0 },
	{ "servers", 2, "a server's name", parse_servers, 0 },
	{ "watch", 2, "'watch KEY...'", parse_keys, 0 },
	{ "together", 2, "'together KEY...'", parse_keys, 0 },
	{ "lock", 2, "'lock KEY'", parse_lock, 0 },
	{ "limit", 2, "'limit CLIENTS'", parse_limit, 0 },
	{ "counter", 2, "'counter KEY' or 'counter KEY from NUMBER'", parse_counter, 0 },
	{ "needs", 1, "", parse_needs, 0 },
	{ "given", 2, "a command", parse_given, 0 },
};

static bool take_heading(struct parser *parser, const struct heading *heading)
{
	const struct parser_line *line = &parser->line;

	if (parser->race->n_steps > 0)
		return parser_fail(parser, "expected '%s' before the first step", heading->word);
	if (line->n_words < heading->least_words || !(heading->parse || line->rest))
		return parser_fail(parser, "expected %s", heading->expected);
	if (heading->parse)
		return heading->parse(parser);
	*(const char **)((char *)parser->race + heading->at) = line->rest;
	return true;
}

enum parser_taken parser_heading(struct parser *parser)
{
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		if (parser_same(parser->line.words[0], headings[i].word))
			return take_heading(parser, &headings[i]) ? PARSER_TAKEN : PARSER_WRONG;
	}
	return PARSER_OTHER;
}

bool parser_complete_headings(struct parser *parser)
{
	if (parser->race->n_servers == 0 && !add_server(parser, "redis"))
		return false;
	return parser->race->n_clients > 0 ||
	       parser_fail(parser, "expected 'clients NAME...' before the first step");
}

/* SPDX-License-Identifier: MIT */
/* The headings that name servers and say how each is configured. */
#include <string.h>

#include "parser.h"

static bool is(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

struct rr_race_server *rr_parser_add_server(struct rr_parser *parser,
					    const char *name)
{
	struct rr_race *race = parser->race;
	struct rr_race_server *server = &race->servers[race->n_servers];

	if (race->n_servers == RR_RACE_SERVERS_MAX) {
		rr_parser_fail(parser, "expected at most %d servers",
			       RR_RACE_SERVERS_MAX);
		return NULL;
	}
	if (rr_parser_find_server(race, name) >= 0) {
		rr_parser_fail(parser, "expected names that differ, found '%.60s' twice",
			       name);
		return NULL;
	}
	*server = (struct rr_race_server){ .name = name };
	race->n_servers++;
	return server;
}

/* aof=always|everysec|no */
static bool take_aof(struct rr_server_options *options, const char *value)
{
	for (int i = RR_AOF_NO; i <= RR_AOF_ALWAYS; i++) {
		if (is(value, rr_aof_name((enum rr_aof)i))) {
			options->aof = (enum rr_aof)i;
			return true;
		}
	}
	return false;
}

/* "NAME=VALUE" as a line of redis.conf. */
static bool take_config(struct rr_parser *parser, struct rr_race_server *server,
			const char *value)
{
	char *line = rr_race_keep(parser->race, value, strlen(value));
	char *equals = line ? strchr(line, '=') : NULL;
	size_t n = 0;

	while (server->config[n])
		n++;
	if (!equals || n == RR_CONFIG_LINES_MAX)
		return false;
	*equals = ' ';
	server->config[n] = line;
	return true;
}

/* What follows `name`= in the word; NULL = it is another option. */
static const char *value_of(const char *word, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(word, name, length) == 0 && word[length] == '=' ?
		       word + length + 1 :
		       NULL;
}

static bool take_option(struct rr_parser *parser, struct rr_race_server *server,
			const char *word)
{
	struct rr_server_options *options = &server->options;
	const char *value;
	int64_t bytes;

	if (is(word, "rdb"))
		return options->rdb = true;
	if (is(word, "debug"))
		return options->debug = true;
	if (is(word, "tcp"))
		return options->tcp = true;
	value = value_of(word, "aof");
	if (value && take_aof(options, value))
		return true;
	value = value_of(word, "config");
	if (value && take_config(parser, server, value))
		return true;
	value = value_of(word, "replica-of");
	if (value && rr_parser_find_server(parser->race, value) >= 0) {
		options->replica_of = value;
		return options->tcp = true;
	}
	value = value_of(word, "maxmemory");
	if (value && rr_parser_take_number(parser, value, 0, INT64_MAX, &bytes)) {
		options->maxmemory = bytes;
		return true;
	}
	return rr_parser_fail(parser, "expected rdb, debug, tcp, aof=always|everysec|no, maxmemory=BYTES, replica-of=SERVER or config=NAME=VALUE, found '%.60s'",
			      word);
}

/* servers n1 n2; server n1 OPTION... */
bool rr_parser_servers(struct rr_parser *parser)
{
	const struct rr_line *line = &parser->line;
	const bool one = is(line->words[0], "server");
	struct rr_race_server *server = NULL;

	if (line->n_words < 2)
		return rr_parser_fail(parser, "expected a server's name");
	for (size_t i = 1; i < line->n_words; i++) {
		if (!one || i == 1)
			server = rr_parser_add_server(parser, line->words[i]);
		else if (!take_option(parser, server, line->words[i]))
			return false;
		if (!server)
			return false;
	}
	return true;
}

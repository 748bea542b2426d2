/* SPDX-License-Identifier: MIT */
/*
 * What a race may do, which may come from anybody: nothing that loads code, opens a
 * port, writes outside its servers' directories or speaks to other servers. Settings
 * are a closed list. Of commands those are refused that could; a script can run none
 * of them but MIGRATE, which servers of races do not have (cluster/server.c).
 */
#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "base/memory.h"
#include "parser.h"

bool parser_may_set(const char *setting)
{
	static const char *const names[] = { "aof-load-truncated",
					     "appendfsync",
					     "appendonly",
					     "auto-aof-rewrite-min-size",
					     "auto-aof-rewrite-percentage",
					     "busy-reply-threshold",
					     "hash-max-listpack-entries",
					     "hz",
					     "lazyfree-lazy-expire",
					     "list-max-listpack-size",
					     "lua-time-limit",
					     "maxmemory",
					     "maxmemory-policy",
					     "maxmemory-samples",
					     "min-replicas-max-lag",
					     "min-replicas-to-write",
					     "notify-keyspace-events",
					     "repl-backlog-size",
					     "repl-diskless-sync",
					     "repl-diskless-sync-delay",
					     "repl-ping-replica-period",
					     "repl-timeout",
					     "requirepass",
					     "save",
					     "set-max-intset-entries",
					     "stop-writes-on-bgsave-error",
					     "timeout",
					     "zset-max-listpack-entries",
					     NULL };
	const char *const *name = names;

	while (*name && strcmp(*name, setting) != 0)
		name++;
	return *name != NULL;
}

/* ---- Commands ------------------------------------------------------------------ */

static bool is_word(const struct rr_step *step, size_t i, const char *word)
{
	return i < step->n_words && strcasecmp(step->words[i].text, word) == 0;
}

/* CONFIG SET of what a race may set; CONFIG GET and others of anything. */
static bool allows_config(const struct rr_step *step)
{
	if (is_word(step, 1, "GET") || is_word(step, 1, "RESETSTAT"))
		return true;
	for (size_t i = 2; i < step->n_words; i += 2) {
		if (!parser_may_set(step->words[i].text))
			return false;
	}
	return is_word(step, 1, "SET");
}

/* A server of the race is told by `cut`, `join` and `promote`; port 1 is nobody's. */
static bool allows_replica_of(const struct rr_step *step)
{
	return step->n_words == 3 && ((is_word(step, 1, "NO") && is_word(step, 2, "ONE")) ||
				      (is_word(step, 1, "127.0.0.1") && is_word(step, 2, "1")));
}

static bool allows_nothing(const struct rr_step *step)
{
	(void)step;
	return false;
}

static const struct {
	const char *name;
	bool (*allows)(const struct rr_step *step);
} judged[] = {
	{ "config", allows_config },        { "failover", allows_nothing },
	{ "migrate", allows_nothing },      { "module", allows_nothing },
	{ "replicaof", allows_replica_of }, { "slaveof", allows_replica_of },
};

enum { N_JUDGED = sizeof(judged) / sizeof(judged[0]) };

bool parser_allows_command(struct parser *parser, const struct rr_step *step)
{
	/* Words with variables are other words when they are sent. */
	if (strchr(step->words[0].text, '$'))
		return parser_fail(parser,
				   "expected a command's name without variables, found '%.60s'",
				   step->words[0].text);
	for (size_t i = 0; i < N_JUDGED; i++) {
		if (is_word(step, 0, judged[i].name) && !judged[i].allows(step))
			return parser_fail(
				parser,
				"expected a command that races may have (docs/races.md), found '%.60s%s%.60s'",
				step->words[0].text, step->n_words > 1 ? " " : "",
				step->n_words > 1 ? step->words[1].text : "");
	}
	return true;
}

/* ---- Bytes --------------------------------------------------------------------- */

/* Appends what the step writes to this connection, in lower case and without quotes
 * and backslashes, by which a name can be written in another way. False: it writes
 * elsewhere, or nothing. */
static bool add_bytes(const struct rr_race *race, const struct rr_step *step, int connection,
		      char *bytes, size_t *used)
{
	if (step->kind != RR_STEP_BYTES || race->clients[step->client].connection != connection)
		return false;
	for (size_t i = 0; i < step->length; i++) {
		if (!memchr("\"'\\", step->text[i], 3))
			bytes[(*used)++] = (char)tolower((unsigned char)step->text[i]);
	}
	return true;
}

/* A letter can be written as \x61, too. Is there one in the step, or in what it goes
 * on with? */
static bool has_escape(const struct rr_step *before, const struct rr_step *step)
{
	return memmem(step->text, step->length, "\\x", 2) ||
	       (before && before->length > 0 && step->length > 0 &&
		before->text[before->length - 1] == '\\' && step->text[0] == 'x');
}

static const char *forbidden_name(const char *bytes, size_t length)
{
	for (size_t i = 0; i < N_JUDGED; i++) {
		if (memmem(bytes, length, judged[i].name, strlen(judged[i].name)))
			return judged[i].name;
	}
	return NULL;
}

/* All that is written to a connection in one piece, for a name may be cut in two. */
static bool allows_connection(struct parser *parser, int connection, char *bytes)
{
	const struct rr_race *race = parser->race;
	const struct rr_step *before = NULL, *step;
	const char *found = NULL;
	size_t used = 0;

	for (size_t i = 0; i < race->n_steps && !found; i++) {
		step = &race->steps[i];
		if (!add_bytes(race, step, connection, bytes, &used))
			continue;
		parser->line.number = step->line;
		found = has_escape(before, step) ? "\\x" : forbidden_name(bytes, used);
		before = step;
	}
	return !found ||
	       parser_fail(parser,
			   "expected bytes that races may write (docs/races.md), found %s in them",
			   found);
}

bool parser_allows_bytes(struct parser *parser)
{
	const int last_line = parser->line.number;
	const struct rr_race *race = parser->race;
	bool allowed = true;
	size_t size = 1;
	char *bytes;

	for (size_t i = 0; i < race->n_steps; i++)
		size += race->steps[i].kind == RR_STEP_BYTES ? race->steps[i].length : 0;
	bytes = rr_malloc(size);
	for (size_t i = 0; allowed && i < race->n_clients; i++)
		allowed = allows_connection(parser, (int)i, bytes);
	free(bytes);
	if (allowed)
		parser->line.number = last_line;
	return allowed;
}

/* SPDX-License-Identifier: MIT */
/*
 * What a race may do, which may come from anybody: nothing that loads code, opens a
 * port, writes outside its servers' directories or speaks to other servers. Settings
 * are a closed list. Of commands those are refused that could; a script can run none
 * of them but MIGRATE, which servers of races do not have (cluster/conf.c). What
 * gets past this is refused by the servers, whose ACL lets clients do no judged command
 * at all. Those that a race may have are done by the program, as a user of its own.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "parser.h"

enum { USER_WORDS_MAX = 128 };

bool parser_may_set(const char *setting)
{
	return rr_has_word("aof-load-truncated appendfsync appendonly auto-aof-rewrite-min-size "
			   "auto-aof-rewrite-percentage busy-reply-threshold "
			   "hash-max-listpack-entries hz lazyfree-lazy-expire "
			   "list-max-listpack-size lua-time-limit maxmemory maxmemory-policy "
			   "maxmemory-samples min-replicas-max-lag min-replicas-to-write "
			   "notify-keyspace-events repl-backlog-size repl-diskless-sync "
			   "repl-diskless-sync-delay repl-ping-replica-period repl-timeout "
			   "requirepass save set-max-intset-entries stop-writes-on-bgsave-error "
			   "timeout zset-max-listpack-entries",
			   " ", setting);
}

/* ---- Commands ------------------------------------------------------------------ */

static bool is_word(const struct rr_step *step, size_t i, const char *word)
{
	return i < step->n_words && strcasecmp(step->words[i].text, word) == 0;
}

/* CONFIG SET of what a race may set. */
static bool allows_config(const struct rr_step *step)
{
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

/* Words with variables are other words when they are sent. */
static bool has_variable(const struct rdl_word *word)
{
	for (size_t i = 0; i + 1 < word->length; i++) {
		if (word->text[i] == '$' &&
		    (isalnum((unsigned char)word->text[i + 1]) || word->text[i + 1] == '_'))
			return true;
	}
	return false;
}

/* Users but the program's own, with room for rules of ours. What a selector,
 * "(+@all ~*)", allows no rule behind it takes away. */
static bool allows_users(const struct rr_step *step)
{
	if (step->n_words > USER_WORDS_MAX)
		return false;
	for (size_t i = 2; i < step->n_words; i++) {
		const char *text = step->words[i].text;

		if (strcmp(text, RR_OWN_USER) == 0 || text[0] == '(' ||
		    has_variable(&step->words[i]))
			return false;
	}
	return is_word(step, 1, "SETUSER") || is_word(step, 1, "DELUSER");
}

static const char *const acl_words[] = { "cat", "dryrun", "genpass", "getuser", "list",
					 "log", "users",  "whoami",  NULL };

static const char *const config_words[] = { "get", "resetstat", NULL };

/* Of the others, one lets scripts run any command, one writes a file, one sets the
 * allocator's switches. */
static const char *const debug_words[] = { "aof-flush-sleep",
					   "change-repl-id",
					   "digest",
					   "digest-value",
					   "error",
					   "htstats",
					   "htstats-key",
					   "listpack",
					   "loadaof",
					   "object",
					   "populate",
					   "protocol",
					   "quicklist-packed-threshold",
					   "reload",
					   "sdslen",
					   "set-active-expire",
					   "sleep",
					   "stringmatch-len",
					   "ziplist",
					   NULL };

/* A command that could, with the second words that cannot, and what looks at others. */
static const struct judged {
	const char *name;
	const char *const *harmless;                /* NULL = none */
	bool (*allows)(const struct rr_step *step); /* what the program does; NULL = nothing */
} judged[] = {
	{ "acl", acl_words, allows_users },
	{ "config", config_words, allows_config },
	{ "debug", debug_words, NULL },
	{ "failover", NULL, NULL },
	{ "migrate", NULL, NULL },
	{ "module", NULL, NULL },
	{ "replicaof", NULL, allows_replica_of },
	{ "slaveof", NULL, allows_replica_of },
};

enum { N_JUDGED = sizeof(judged) / sizeof(judged[0]) };

static const struct judged *find_judged(const struct rr_step *step)
{
	for (const struct judged *by = judged; by < judged + N_JUDGED; by++) {
		if (is_word(step, 0, by->name))
			return by;
	}
	return NULL;
}

static bool is_harmless(const struct judged *by, const struct rr_step *step)
{
	const char *const *word = by->harmless;

	while (word && *word && !is_word(step, 1, *word))
		word++;
	return word && *word;
}

bool rr_step_is_reserved(const struct rr_step *step)
{
	const struct judged *by = step->n_words > 0 ? find_judged(step) : NULL;

	return by && !is_harmless(by, step) && by->allows && by->allows(step);
}

bool rr_step_makes_user(const struct rr_step *step)
{
	return rr_step_is_reserved(step) && is_word(step, 1, "SETUSER");
}

bool rr_step_is_allowed(const struct rr_step *step)
{
	const struct judged *by = find_judged(step);

	/* Words with variables are other words when they are sent. */
	return !strchr(step->words[0].text, '$') &&
	       (!by || is_harmless(by, step) || rr_step_is_reserved(step));
}

bool parser_allows_command(struct parser *parser, const struct rr_step *step)
{
	if (strchr(step->words[0].text, '$'))
		return parser_fail(parser,
				   "expected a command's name without variables, found '%.60s'",
				   step->words[0].text);
	return rr_step_is_allowed(step) ||
	       parser_fail(
		       parser,
		       "expected a command that races may have (docs/races.md), found '%.60s%s%.60s'",
		       step->words[0].text, step->n_words > 1 ? " " : "",
		       step->n_words > 1 ? step->words[1].text : "");
}

/* ---- What the program does --------------------------------------------------------- */

/* Would the server only queue it? */
static bool is_in_transaction(const struct rr_race *race, const struct rr_step *step)
{
	for (const struct rr_step *before = step; before > race->steps;) {
		before--;
		if (before->client < 0 || race->clients[before->client].connection !=
						  race->clients[step->client].connection)
			continue;
		if (before->kind == RR_STEP_CRASH)
			return false;
		if (before->n_words == 0 || before->server != step->server)
			continue;
		if (is_word(before, 0, "EXEC") || is_word(before, 0, "DISCARD") ||
		    is_word(before, 0, "RESET"))
			return false;
		if (is_word(before, 0, "MULTI"))
			return true;
	}
	return false;
}

/* On a connection of the program's own a command waits for nothing that the client has
 * said before. */
bool parser_allows_reserved(struct parser *parser)
{
	const struct rr_race *race = parser->race;

	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];

		if (!rr_step_is_reserved(step) ||
		    (step->kind == RR_STEP_RUN && !is_in_transaction(race, step)))
			continue;
		parser->line.number = step->line;
		return parser_fail(
			parser,
			"expected %.60s as a command of its own (docs/races.md), found it %s",
			step->words[0].text,
			step->kind == RR_STEP_RUN ? "after MULTI" : "after 'writes'");
	}
	return true;
}

/* ---- The same as rules of an ACL ------------------------------------------------- */

char *rr_race_rights(void)
{
	char *text = NULL;
	FILE *file = rr_open_text(&text);

	for (const struct judged *by = judged; by < judged + N_JUDGED; by++) {
		fprintf(file, "-%s", by->name);
		for (const char *const *word = by->harmless; word && *word; word++)
			fprintf(file, " +%s|%s", by->name, *word);
		fputc('\n', file);
	}
	fclose(file);
	return text;
}

/* ---- Bytes --------------------------------------------------------------------- */

/*
 * What the first server, which bytes go to, reads from one connection since the first bytes on it. They may announce
 * more than they bring: what is sent next is swallowed in part, and any word of it may
 * come out as a command. So commands are as suspect as bytes from there on.
 */
struct stream {
	int connection;
	bool has_bytes;
	bool ends_in_backslash;
	size_t used;
	char *text;
};

/* In lower case and without quotes and backslashes, by which a name can be written in
 * another way. */
static void stream_add(struct stream *stream, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!memchr("\"'\\", text[i], 3))
			stream->text[stream->used++] = (char)tolower((unsigned char)text[i]);
	}
}

static const char *forbidden_name(const struct stream *stream)
{
	for (size_t i = 0; i < N_JUDGED; i++) {
		if (memmem(stream->text, stream->used, judged[i].name, strlen(judged[i].name)))
			return judged[i].name;
	}
	return NULL;
}

/* What the step adds that may not be; NULL = nothing. A letter can be written as \x61, too, whose
 * two halves may be in two steps. */
static const char *add_step(struct stream *stream, const struct rr_race *race,
			    const struct rr_step *step)
{
	const bool goes_on = stream->ends_in_backslash && step->length > 0 && step->text[0] == 'x';
	const char *found = NULL;

	if (step->client < 0 || race->clients[step->client].connection != stream->connection ||
	    step->server != 0)
		return NULL;
	if (step->kind == RR_STEP_BYTES) {
		stream->has_bytes = true;
		stream->ends_in_backslash = step->length > 0 &&
					    step->text[step->length - 1] == '\\';
		stream_add(stream, step->text, step->length);
		if (goes_on || memmem(step->text, step->length, "\\x", 2))
			return "\\x";
		return forbidden_name(stream);
	}
	if (!stream->has_bytes || (step->kind != RR_STEP_RUN && step->kind != RR_STEP_WRITE))
		return NULL;
	stream->ends_in_backslash = false;
	for (size_t i = 0; i < step->n_words && !found; i++) {
		const struct rdl_word *word = &step->words[i];

		found = memmem(word->text, word->length, "\\x", 2) ? "\\x" :
			has_variable(word)                         ? "a variable" :
								     NULL;
		stream_add(stream, "\n", 1);
		stream_add(stream, word->text, word->length);
	}
	return found ? found : forbidden_name(stream);
}

bool parser_allows_bytes(struct parser *parser)
{
	const struct rr_race *race = parser->race;
	const char *found = NULL;
	size_t size = 1; /* of one stream at most */
	char *text;

	for (size_t i = 0; i < race->n_steps; i++) {
		const struct rr_step *step = &race->steps[i];

		size += step->kind == RR_STEP_BYTES ? step->length : 0;
		for (size_t w = 0; w < step->n_words; w++)
			size += 1 + step->words[w].length;
	}
	text = rr_malloc(size);
	for (size_t i = 0; !found && i < race->n_clients; i++) {
		/* All that is written to a connection in one piece, for a name may be cut in two. */
		struct stream stream = { .connection = (int)i, .text = text };

		for (size_t j = 0; !found && j < race->n_steps; j++) {
			const bool is_bytes = race->steps[j].kind == RR_STEP_BYTES;

			found = add_step(&stream, race, &race->steps[j]);
			if (!found)
				continue;
			parser->line.number = race->steps[j].line;
			parser_fail(
				parser,
				"expected %s that races may write (docs/races.md), found %s in %s",
				is_bytes ? "bytes" : "a command after bytes", found,
				is_bytes ? "them" : "it");
		}
	}
	free(text);
	return !found;
}

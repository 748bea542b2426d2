/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

/* A duration is of a million seconds at most. */
#define LONGEST_NS (INT64_C(1000000) * 1000000000)

/* ---- Names -------------------------------------------------------------------- */

const char *rr_word_server(const struct rr_word_names *names, size_t server,
			   char text[RR_WORD_SERVER])
{
	if (server)
		snprintf(text, RR_WORD_SERVER, "n%zu", server % 100);
	else
		snprintf(text, RR_WORD_SERVER, "%s", names->n_servers > 1 ? "data" : "redis");
	return text;
}

const char *rr_word_of_stop(enum rr_stop_kind kind)
{
	static const char *const words[] = {
		[RR_STOP_LISTEN] = "wait", [RR_STOP_SLEEP] = "sleep",   [RR_STOP_WAIT] = "wait",
		[RR_STOP_CLOCK] = "clock", [RR_STOP_LOCK] = "lock",     [RR_STOP_UNLOCK] = "unlock",
		[RR_STOP_JOIN] = "join",   [RR_STOP_ATTEMPT] = "sleep", [RR_STOP_ENDED] = "end",
		[RR_STOP_RECEIVE] = "go",  [RR_STOP_ABSENT] = "go",
	};

	return words[kind];
}

static bool is_script_call(const char *command)
{
	return strcasecmp(command, "EVAL") == 0 || strcasecmp(command, "EVALSHA") == 0;
}

bool rr_word_is_command(const char *said, const char *command)
{
	return !said[0] || strcasecmp(said, command) == 0 ||
	       (is_script_call(said) && is_script_call(command));
}

/* ---- Reading ------------------------------------------------------------------ */

struct reader {
	const struct rr_word_names *names;
	struct rr_word *word;
	struct rr_error *error;
};

static bool expect(const struct reader *reader, const char *what, const char *found)
{
	return rr_error_set(reader->error, RR_ERROR_USAGE, "expected %s, found '%.60s'", what,
			    found);
}

static bool take_client(const struct reader *reader, const char *name, size_t length)
{
	struct rr_word *word = reader->word;
	const size_t primes = length ? strspn(name + 1, "'") : 0;
	const char *rest = name + 1 + primes;
	char *end = (char *)rest;

	word->client = name[0] - 'A';
	word->thread = (int)primes;
	if (length && *rest == '.' && isdigit((unsigned char)rest[1]))
		word->connection = (int)strtol(rest + 1, &end, 10);
	return length && word->client >= 0 && (size_t)word->client < reader->names->n_clients &&
	       primes < RR_RUN_THREADS && end == name + length;
}

static bool take_duration(const struct reader *reader, const char *text)
{
	return rr_parse_duration(text, false, LONGEST_NS, &reader->word->ns) ||
	       expect(reader, "a duration like 10s, 300ms or 5us", text);
}

static bool take_server(const struct reader *reader, const char *name)
{
	char known[RR_WORD_SERVER], what[40];
	const size_t n = reader->names->n_servers;

	for (size_t i = 0; i < n; i++) {
		reader->word->server = (int)i;
		if (strcmp(name, rr_word_server(reader->names, i, known)) == 0)
			return true;
	}
	snprintf(what, sizeof(what), n > 1 ? "data, n1 to n%zu" : "redis", n - 1);
	return expect(reader, what, name);
}

/* COMMAND, or COMMAND@SERVER. */
static bool take_command(const struct reader *reader, const char *text)
{
	const size_t length = strcspn(text, "@");

	snprintf(reader->word->command, RR_WORD_SIZE, "%.*s", (int)length, text);
	if (!length || (text[length] && !text[length + 1]))
		return expect(reader, "a command after the colon", text);
	return !text[length] || take_server(reader, text + length + 1);
}

/* Takes all after the word of a transition. */
static bool take_rest(const struct reader *reader, const char *text)
{
	const struct rr_transition_row *row = &rr_transition_rows[reader->word->kind];
	const size_t length = strcspn(text, ":");
	char what[40], found[RR_WORD_SIZE];

	if (row->subject == RR_OF_SERVER)
		return take_server(reader, text);
	if (row->subject == RR_OF_ENDS) {
		char *end;
		const long number = strtol(text, &end, 10);

		reader->word->more = (int)number - 1;
		return (*text && !*end && number > 0 && number <= RR_ENDS_MAX) ||
		       expect(reader, "the number of an end, from 1 to 8", text);
	}
	if (reader->word->kind == RR_DO_WAIT)
		return take_duration(reader, text);
	/* CLIENT, CLIENT:COMMAND, and CLIENT:DURATION of a pause. */
	if (!take_client(reader, text, length)) {
		snprintf(what, sizeof(what), "a client, A to %c",
			 'A' + (int)reader->names->n_clients - 1);
		snprintf(found, sizeof(found), "%.*s", (int)length, text);
		return expect(reader, what, found);
	}
	if (!text[length])
		return true;
	return row->has_command ? take_command(reader, text + length + 1) :
				  take_duration(reader, text + length + 1);
}

static bool is_said(const char *word, const char *text, size_t length)
{
	return word && strlen(word) == length && strncmp(word, text, length) == 0;
}

bool rr_word_read(const char *text, const struct rr_word_names *names, struct rr_word *word,
		  struct rr_error *error)
{
	const struct reader reader = { names, word, error };
	const size_t length = strcspn(text, ":");

	*word = (struct rr_word){ .kind = RR_DO_EXECUTE, .client = -1, .server = -1 };
	for (int i = 0; i < RR_TRANSITIONS; i++) {
		const struct rr_transition_row *row = &rr_transition_rows[i];

		if (!is_said(row->word, text, length) && !is_said(row->alias, text, length))
			continue;
		word->kind = i;
		return (!text[length] &&
			(row->subject == RR_OF_NOBODY || row->subject == RR_OF_ENDS)) ||
		       take_rest(&reader, text[length] ? text + length + 1 : "");
	}
	if (!take_client(&reader, text, length)) {
		/* "a client, tick:, crash: ...": what can be said to redrace play. */
		char what[120] = "a client";

		for (int i = 0; i < RR_TRANSITIONS; i++) {
			const struct rr_transition_row *row = &rr_transition_rows[i];

			if (row->is_played && row->word)
				rr_add_text(what, sizeof(what),
					    "%s%s:", i == RR_DO_PAUSE ? " or " : ", ", row->word);
		}
		return expect(&reader, what, text);
	}
	return !text[length] || take_command(&reader, text + length + 1);
}

/* ---- Writing ------------------------------------------------------------------ */

void rr_word_write(const struct rr_word *word, const struct rr_word_names *names,
		   char text[RR_WORD_SIZE])
{
	FILE *out = rr_open_fixed(text, RR_WORD_SIZE);
	const struct rr_transition_row *row = &rr_transition_rows[word->kind];
	char server[RR_WORD_SERVER], duration[RR_GROUPED_SIZE];

	if (row->word)
		fputs(row->word, out);
	if (word->client >= 0) {
		fprintf(out, "%s%c%.*s", row->word ? ":" : "", 'A' + word->client, word->thread,
			"'''''''''''''''''");
		if (word->connection)
			fprintf(out, ".%d", word->connection);
	}
	if (word->command[0])
		fprintf(out, ":%.30s", is_script_call(word->command) ? "EVAL" : word->command);
	if (word->server >= 0 && (row->subject == RR_OF_SERVER || names->n_servers > 1))
		fprintf(out, "%s%s", row->subject == RR_OF_SERVER ? ":" : "@",
			rr_word_server(names, (size_t)word->server, server));
	if (word->more)
		fprintf(out, ":%d", word->more + 1);
	if (word->ns)
		fprintf(out, ":%s", rr_exact_duration(duration, word->ns));
	fclose(out);
}

/* ---- Comparing ---------------------------------------------------------------- */

bool rr_word_means(const struct rr_word *said, const struct rr_word *other)
{
	const bool is_any = other->kind == RR_DO_GO && strcmp(said->command, "go") == 0;

	if (said->kind != other->kind &&
	    ((said->kind != RR_DO_EXECUTE && said->kind != RR_DO_GO) ||
	     (other->kind != RR_DO_EXECUTE && other->kind != RR_DO_GO)))
		return false;
	if (other->client >= 0 && (said->client != other->client || said->thread != other->thread ||
				   said->connection != other->connection))
		return false;
	return (said->server < 0 || said->server == other->server) && said->more == other->more &&
	       (is_any || rr_word_is_command(said->command, other->command));
}

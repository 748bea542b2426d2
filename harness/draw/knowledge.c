/* SPDX-License-Identifier: MIT */
/*
 * Follows what clients read and write. A command that is not in the table below and
 * names a key, such as a script, leaves what its client knows of that key open: nothing
 * is said of it then.
 */
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum { WORDS_MAX = 12, QUEUE_MAX = 64, TOKEN_SIZE = 512 };

/* A client's commands whose replies are still to come. */
struct queue {
	size_t n;
	const char *commands[QUEUE_MAX];
};

struct tracker {
	const struct rr_picture *picture;
	struct rr_knowledge *knowledge;
	size_t row;
	bool shares_connections; /* a reply may be another client's */
	struct rr_row_knowledge now;
	const char *before[RR_KEYS_SHOWN_MAX];                 /* held before this row */
	size_t looked[RR_KEYS_SHOWN_MAX][RR_RACE_CLIENTS_MAX]; /* at which row */
	int writer[RR_KEYS_SHOWN_MAX];     /* the client that wrote it last, -1 = none */
	size_t written[RR_KEYS_SHOWN_MAX]; /* at which row */
	struct queue unread[RR_RACE_CLIENTS_MAX];
	struct queue transaction[RR_RACE_CLIENTS_MAX];
};

/* ---- Commands ------------------------------------------------------------ */

/* What a command tells its client of its key, or does to it. */
enum effect {
	LOOKS,  /* the reply is the value */
	COUNTS, /* so it is, and the command has changed it */
	WRITES, /* the value is the word at `value`, if the reply is `done` */
	REMOVES,
	HARMLESS, /* the client knows what it knew before */
};

static const struct command {
	const char *name;
	enum effect effect;
	size_t value;     /* which word, of WRITES */
	const char *done; /* NULL = whatever the reply is */
	bool is_blind;    /* it replaces whatever is there */
} known_commands[] = {
	{ "GET", LOOKS, 0, NULL, false },        { "INCR", COUNTS, 0, NULL, false },
	{ "DECR", COUNTS, 0, NULL, false },      { "INCRBY", COUNTS, 0, NULL, false },
	{ "DECRBY", COUNTS, 0, NULL, false },    { "SET", WRITES, 2, "OK", true },
	{ "GETSET", WRITES, 2, NULL, true },     { "SETNX", WRITES, 2, "(integer) 1", false },
	{ "SETEX", WRITES, 3, "OK", true },      { "PSETEX", WRITES, 3, "OK", true },
	{ "DEL", REMOVES, 0, NULL, true },       { "UNLINK", REMOVES, 0, NULL, true },
	{ "WATCH", HARMLESS, 0, NULL, false },   { "EXPIRE", HARMLESS, 0, NULL, false },
	{ "PEXPIRE", HARMLESS, 0, NULL, false }, { "PERSIST", HARMLESS, 0, NULL, false },
	{ "TTL", HARMLESS, 0, NULL, false },     { "PTTL", HARMLESS, 0, NULL, false },
};

/* A command's words as they are shown, what is in quotes in one piece. */
struct words {
	size_t n;
	char all[WORDS_MAX][TOKEN_SIZE];
};

static size_t word_length(const char *text)
{
	size_t n = 1;

	if (*text != '"')
		return strcspn(text, " ");
	while (text[n] && text[n] != '"')
		n += text[n] == '\\' && text[n + 1] ? 2 : 1;
	return n + (text[n] == '"');
}

static bool has_word(const struct words *words, size_t from, const char *word)
{
	for (size_t i = from; i < words->n; i++) {
		if (strcasecmp(words->all[i], word) == 0)
			return true;
	}
	return false;
}

/* ---- What is known ------------------------------------------------------- */

/* As values are shown. */
static const char *keep_value(struct tracker *tracker, const char *text)
{
	struct rr_knowledge *knowledge = tracker->knowledge;
	static const char integer[] = "(integer) ";
	const bool counts = strncmp(text, integer, strlen(integer)) == 0;
	char *value = rr_words_of_value(counts ? text + strlen(integer) : text);

	rr_array_grow(&knowledge->texts, knowledge->n_texts, sizeof(*knowledge->texts));
	knowledge->texts[knowledge->n_texts++] = value;
	return value;
}

static void know(struct tracker *tracker, size_t key, int client, const char *value)
{
	tracker->now.known[key][client] = value;
	tracker->looked[key][client] = tracker->row;
}

static bool is_lock(const struct tracker *tracker, size_t key)
{
	const struct rr_race *race = tracker->picture->race;

	return race->lock && strcmp(race->lock, race->keys[key]) == 0;
}

/* Another one's value goes, and the client has not seen it: is it a lock, or is it not
 * what the client believes to be there? */
static void note_overwrite(struct tracker *tracker, size_t key, int client)
{
	struct rr_knowledge *knowledge = tracker->knowledge;
	const char *believed = tracker->now.known[key][client];
	const char *held = tracker->before[key];

	if (!believed || !held || strcmp(held, "(nil)") == 0 || tracker->writer[key] < 0 ||
	    tracker->writer[key] == client ||
	    tracker->written[key] <= tracker->looked[key][client] ||
	    (!is_lock(tracker, key) && strcmp(believed, held) == 0) ||
	    knowledge->n_overwrites == RR_OVERWRITES_MAX)
		return;
	knowledge->overwrites[knowledge->n_overwrites++] = (struct rr_overwrite){
		.look = tracker->looked[key][client],
		.between = tracker->written[key],
		.write = tracker->row,
		.key = key,
	};
}

static void note_writer(struct tracker *tracker, size_t key, int client)
{
	tracker->writer[key] = client;
	tracker->written[key] = tracker->row;
}

static void apply_to_key(struct tracker *tracker, const struct words *words, const char *reply,
			 size_t key, int client)
{
	const size_t n = sizeof(known_commands) / sizeof(known_commands[0]);
	const struct command *command = known_commands;
	bool is_set, is_conditional;

	while (command < known_commands + n && strcasecmp(words->all[0], command->name) != 0)
		command++;
	if (command == known_commands + n || strcmp(reply, "(lost)") == 0) {
		tracker->now.known[key][client] = NULL;
		return;
	}
	switch (command->effect) {
	case LOOKS:
		know(tracker, key, client, keep_value(tracker, reply));
		break;
	case COUNTS:
		know(tracker, key, client, keep_value(tracker, reply));
		note_writer(tracker, key, client);
		break;
	case WRITES:
		is_set = strcasecmp(command->name, "SET") == 0;
		is_conditional = is_set && (has_word(words, 3, "NX") || has_word(words, 3, "XX"));
		if (command->value >= words->n || (is_set && has_word(words, 3, "GET")) ||
		    (command->done && strcmp(reply, command->done) != 0)) {
			tracker->now.known[key][client] = NULL;
			break;
		}
		if (command->is_blind && !is_conditional)
			note_overwrite(tracker, key, client);
		know(tracker, key, client, keep_value(tracker, words->all[command->value]));
		note_writer(tracker, key, client);
		break;
	case REMOVES:
		note_overwrite(tracker, key, client);
		know(tracker, key, client, "(nil)");
		break;
	case HARMLESS:
		break;
	}
}

/* An error tells nothing. */
static void apply_command(struct tracker *tracker, const char *text, const char *reply,
			  const struct rr_row *row)
{
	const struct rr_picture *picture = tracker->picture;
	struct words words = { 0 };

	while (words.n < WORDS_MAX && *(text += strspn(text, " "))) {
		const size_t length = word_length(text);

		snprintf(words.all[words.n++], TOKEN_SIZE, "%.*s", (int)length, text);
		text += length;
	}
	if (words.n == 0 || strncmp(reply, "(error)", 7) == 0)
		return;
	for (size_t i = 0; i < picture->race->n_keys; i++) {
		if (picture->keys[i].server == row->server &&
		    has_word(&words, 1, picture->keys[i].label))
			apply_to_key(tracker, &words, reply, i, row->client);
	}
}

/* ---- Transactions, and replies that come later --------------------------- */

static void enqueue_command(struct queue *queue, const char *command)
{
	if (queue->n < QUEUE_MAX)
		queue->commands[queue->n++] = command;
}

static void apply_reply(struct tracker *tracker, const char *command, const char *reply,
			const struct rr_row *row)
{
	struct queue *queue = &tracker->transaction[row->client];
	char element[TOKEN_SIZE];

	if (strcmp(reply, "QUEUED") == 0) {
		enqueue_command(queue, command);
	} else if (strcasecmp(command, "EXEC") == 0) {
		/* The array has a reply to each of them. */
		const char *at = reply + 1;

		for (size_t i = 0; *reply == '[' && i < queue->n; i++) {
			size_t length = 0, depth = 0;

			while (at[length] &&
			       (depth > 0 || (at[length] != ',' && at[length] != ']'))) {
				depth += at[length] == '[';
				depth -= at[length] == ']';
				length += at[length] == '"' ? word_length(at + length) : 1;
			}
			snprintf(element, sizeof(element), "%.*s", (int)length, at);
			apply_command(tracker, queue->commands[i], element, row);
			at += length;
			at += strspn(at, ", ");
		}
		queue->n = 0;
	} else if (strcasecmp(command, "DISCARD") == 0) {
		queue->n = 0;
	} else {
		apply_command(tracker, command, reply, row);
	}
}

/* ---- Row by row ---------------------------------------------------------- */

static void follow_event(struct tracker *tracker, const struct rr_row *row,
			 const struct rr_event *event)
{
	const char *command = event->command;
	struct queue *unread = &tracker->unread[row->client];

	if (!row->sends && unread->n > 0 && row->fate == RR_FATE_CAME) {
		/* The reply is the one to the oldest command that has none. */
		command = unread->commands[0];
		unread->n--;
		memmove(unread->commands, unread->commands + 1,
			unread->n * sizeof(unread->commands[0]));
		apply_reply(tracker, command, event->reply, row);
	} else if (row->sends && command &&
		   (row->fate == RR_FATE_NONE || row->fate == RR_FATE_WAITS)) {
		enqueue_command(unread, command);
	} else if (row->sends && command) {
		apply_reply(tracker, command, event->reply, row);
	}
}

static void follow_row(struct tracker *tracker, const struct rr_row *row)
{
	const struct rr_race *race = tracker->picture->race;

	memcpy(tracker->before, tracker->now.held, sizeof(tracker->before));
	for (size_t i = 0; i < race->n_keys; i++) {
		if (row->values[i])
			tracker->now.held[i] = row->values[i];
		else if (row->event && row->event->keys[i] && !tracker->now.held[i])
			tracker->now.held[i] = "(nil)";
	}
	if (row->kind == RR_ROW_MESSAGE && row->event && !tracker->shares_connections) {
		for (const struct rr_event *event = row->first; event <= row->event; event++)
			follow_event(tracker, row, event);
	}
	for (size_t i = 0; i < race->n_keys; i++) {
		if (row->values[i] && tracker->written[i] != tracker->row)
			note_writer(tracker, i, row->client);

		/* The clients that know something else of a key than the server holds. A lock that
		 * another one has taken since is not the client's, whatever it holds. */
		const char *held = tracker->now.held[i];
		const int writer = tracker->writer[i];
		unsigned stale = 0;

		for (size_t j = 0; held && j < tracker->picture->race->n_clients; j++) {
			const char *known = tracker->now.known[i][j];
			const bool is_taken = is_lock(tracker, i) && writer >= 0 &&
					      writer != (int)j &&
					      tracker->written[i] > tracker->looked[i][j];

			if (known && (strcmp(known, held) != 0 || is_taken))
				stale |= 1U << j;
		}
		tracker->now.stale[i] = stale;
	}
	tracker->knowledge->rows[tracker->row] = tracker->now;
}

void rr_knowledge_make(struct rr_knowledge *knowledge, const struct rr_picture *picture)
{
	struct tracker *tracker = rr_calloc(1, sizeof(*tracker));

	*knowledge = (struct rr_knowledge){
		.rows = rr_calloc(picture->n_rows + 1, sizeof(*knowledge->rows)),
	};
	tracker->picture = picture;
	tracker->knowledge = knowledge;
	for (size_t i = 0; i < picture->race->n_clients; i++)
		tracker->shares_connections |= picture->race->clients[i].connection != (int)i;
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++) {
		tracker->writer[i] = -1;
		tracker->written[i] = SIZE_MAX;
		if (!picture->race->n_given && !picture->race->counter_from)
			tracker->now.held[i] = "(nil)";
	}
	for (; tracker->row < picture->n_rows; tracker->row++)
		follow_row(tracker, &picture->rows[tracker->row]);
	free(tracker);
}

void rr_knowledge_free(struct rr_knowledge *knowledge)
{
	for (size_t i = 0; i < knowledge->n_texts; i++)
		free(knowledge->texts[i]);
	free(knowledge->texts);
	free(knowledge->rows);
}

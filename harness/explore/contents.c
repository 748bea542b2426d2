/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"

/* Nobody's connection; and how many databases a server has. */
enum { LOOKING_SLOT = RR_ASKER_SLOTS - 1, DATABASES = 16 };

static const struct rr_server_row *ask_row(struct rr_contents *contents, uint32_t state,
					   uint32_t command)
{
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = LOOKING_SLOT,
					      .argument = command };

	return rr_server_table_ask(contents->table, state, &question);
}

const struct rl_reply *rr_contents_ask(struct rr_contents *contents, uint32_t state,
				       uint32_t command)
{
	const struct rr_server_row *row = ask_row(contents, state, command);

	return row ? &contents->table->terms->reply[row->reply].reply : NULL;
}

static const struct rl_reply *look_at_server(struct rr_contents *contents, uint32_t state,
					     const char *const *words)
{
	return rr_contents_ask(contents, state, rr_terms_words(contents->table->terms, words));
}

/* The same data, with a look at another database; RR_NO_ID: the error. */
static uint32_t select_database(struct rr_contents *contents, uint32_t state, int database)
{
	char number[12];
	const char *const words[] = { "SELECT", number, NULL };
	const struct rr_server_row *row;

	if (database == 0)
		return state;
	snprintf(number, sizeof(number), "%d", database);
	row = ask_row(contents, state, rr_terms_words(contents->table->terms, words));
	return row ? row->to : RR_NO_ID;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- Values ------------------------------------------------------------------ */

/* How a value is read, KEY behind the first word. What is in no order comes in
 * groups: a field with its value, a member. */
struct reader {
	const char *type, *words[4];
	size_t group; /* 0 = it has an order */
};

static const struct reader *reader_of(const char *type)
{
	static const struct reader readers[] = {
		{ "string", { "GET" }, 0 },
		{ "list", { "LRANGE", "0", "-1" }, 0 },
		{ "zset", { "ZRANGE", "0", "-1", "WITHSCORES" }, 0 },
		{ "stream", { "XRANGE", "-", "+" }, 0 },
		{ "hash", { "HGETALL" }, 2 },
		{ "set", { "SMEMBERS" }, 1 },
		{ NULL, { "DUMP" }, 0 },
	};
	const struct reader *reader = readers;

	while (reader->type && strcmp(reader->type, type) != 0)
		reader++;
	return reader;
}

/* Some elements of an array, as text; malloc'd. */
static char *group_text(const struct rl_reply *elements, size_t n)
{
	char *text;
	size_t size;
	FILE *file = rr_open_memory(&text, &size);

	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", file);
		rr_write_reply(file, &elements[i]);
	}
	fclose(file);
	return text;
}

static void print_sorted(FILE *file, const struct rl_reply *reply, size_t group)
{
	const size_t n = reply->length / group;
	char **groups = rr_calloc(n + 1, sizeof(*groups));

	for (size_t i = 0; i < n; i++)
		groups[i] = group_text(&reply->elements[i * group], group);
	qsort(groups, n, sizeof(*groups), compare_texts);
	fputc('[', file);
	for (size_t i = 0; i < n; i++) {
		fprintf(file, "%s%s", i ? ", " : "", groups[i]);
		free(groups[i]);
	}
	fputc(']', file);
	free(groups);
}

static void print_value(struct rr_contents *contents, FILE *file, uint32_t state, const char *key)
{
	const char *const ask_type[] = { "TYPE", key, NULL };
	const struct rl_reply *type = look_at_server(contents, state, ask_type);
	const struct reader *reader = reader_of(type && type->text ? type->text : "");
	const char *const *words = reader->words;
	const char *const ask[] = { words[0], key, words[1], words[2], words[3], NULL };
	const struct rl_reply *reply = look_at_server(contents, state, ask);

	if (reply && reader->group && reply->type == RL_REPLY_ARRAY)
		print_sorted(file, reply, reader->group);
	else if (reply)
		rr_write_reply(file, reply);
}

static void print_time(struct rr_contents *contents, FILE *file, uint32_t state, const char *key,
		       bool ms)
{
	const char *const ask[] = { "PTTL", key, NULL };
	const struct rl_reply *reply = look_at_server(contents, state, ask);
	long long left_ms;

	if (!reply || !rl_reply_number(reply, &left_ms) || left_ms < 0)
		return;
	if (ms)
		fprintf(file, ", for %lld ms", left_ms);
	else
		fprintf(file, ", for %.15g s", (double)(left_ms / 100) / 10);
}

/* ---- Keys -------------------------------------------------------------------- */

static bool is_ignored(const struct rr_contents *contents, const char *key)
{
	for (size_t i = 0; i < contents->n_ignored; i++) {
		if (fnmatch(contents->ignored[i], key, 0) == 0)
			return true;
	}
	return false;
}

size_t rr_contents_keys(struct rr_contents *contents, uint32_t state, const char ***names)
{
	static const char *const words[] = { "KEYS", "*", NULL };
	const struct rl_reply *reply = look_at_server(contents, state, words);
	size_t n = reply && reply->type == RL_REPLY_ARRAY ? reply->length : 0;
	size_t n_names = 0;

	*names = rr_calloc(n + 1, sizeof(**names));
	for (size_t i = 0; i < n; i++) {
		if (!is_ignored(contents, reply->elements[i].text))
			(*names)[n_names++] = reply->elements[i].text;
	}
	qsort(*names, n_names, sizeof(**names), compare_texts);
	return n_names;
}

/* How many keys there are. */
static size_t print_database(struct rr_contents *contents, FILE *file, uint32_t state, int database,
			     bool ms)
{
	const char **names;
	size_t n;

	state = select_database(contents, state, database);
	if (state == RR_NO_ID)
		return 0;
	n = rr_contents_keys(contents, state, &names);
	for (size_t i = 0; i < n; i++) {
		if (database)
			fprintf(file, "db %d: ", database);
		fprintf(file, "%s = ", names[i]);
		print_value(contents, file, state, names[i]);
		print_time(contents, file, state, names[i], ms);
		fputc('\n', file);
	}
	free(names);
	return n;
}

char *rr_contents_text(struct rr_contents *contents, uint32_t state, bool ms)
{
	const bool is_elsewhere = contents->table->states[state].elsewhere != 0;
	char *text;
	size_t size, n;
	FILE *file = rr_open_memory(&text, &size);

	n = print_database(contents, file, state, 0, ms);
	for (int i = 1; i < DATABASES && is_elsewhere; i++)
		n += print_database(contents, file, state, i, ms);
	if (n == 0)
		fputs("no keys\n", file);
	fclose(file);
	return text;
}

/* ---- Whole states ------------------------------------------------------------ */

static uint32_t make_text(struct rr_contents *contents, uint32_t state)
{
	char *text = rr_contents_text(contents, state, true);
	uint32_t number = RR_NO_ID;

	if (text && contents->table->error.kind == RR_ERROR_NONE)
		number = rr_intern_put(&contents->texts, text, strlen(text) + 1, NULL);
	free(text);
	return number;
}

/* The number of what a state holds; RR_NO_ID: it cannot be asked. */
static uint32_t text_of_state(struct rr_contents *contents, uint32_t state)
{
	while (contents->n_known <= state) {
		rr_array_grow(&contents->text_of, contents->n_known, sizeof(*contents->text_of));
		contents->text_of[contents->n_known++] = RR_NO_ID;
	}
	if (contents->text_of[state] == RR_NO_ID)
		contents->text_of[state] = make_text(contents, state);
	return contents->text_of[state];
}

bool rr_contents_are_same(struct rr_contents *contents, uint32_t a, uint32_t b)
{
	const struct rr_server_snapshot *states = contents->table->states;
	uint32_t text;

	if (states[a].contents == states[b].contents)
		return true;
	if (states[a].functions != states[b].functions)
		return false;
	text = text_of_state(contents, a);
	return text != RR_NO_ID && text == text_of_state(contents, b);
}

void rr_contents_release(struct rr_contents *contents)
{
	rr_intern_release(&contents->texts);
	free(contents->text_of);
	contents->text_of = NULL;
	contents->n_known = 0;
}

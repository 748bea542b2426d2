/* SPDX-License-Identifier: MIT */
#include "contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/reply.h"

/* Nobody's connection. */
enum { LOOKING_SLOT = RR_ASKER_SLOTS - 1, LOOKING_WORDS = 8 };

/* In another database than 0, without selecting it: a script's choice ends with it. */
static const char look_elsewhere[] =
	"redis.call('SELECT', ARGV[1]) return redis.call(unpack(ARGV, 2))";

/* Which databases have keys. */
static const char list_databases[] =
	"local all = {} "
	"for db in string.gmatch(redis.call('INFO', 'keyspace'), 'db(%d+):') do "
	"all[#all + 1] = tonumber(db) end "
	"table.sort(all) return all";

/* The reply to a command that only looks; NULL: there is none. */
static const struct rl_reply *look_at_server(struct rr_server_table *table,
					     uint32_t state,
					     const char *const *words)
{
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = LOOKING_SLOT,
		.argument = rr_terms_words(table->terms, words)
	};
	const struct rr_server_row *row =
		rr_server_table_ask(table, state, &question);

	return row ? &table->terms->reply[row->reply].reply : NULL;
}

/* The same in a database. */
static const struct rl_reply *look_into(struct rr_server_table *table,
					uint32_t state, int db,
					const char *const *words)
{
	char number[12];
	const char *asked[4 + LOOKING_WORDS] = { "EVAL", look_elsewhere, "0",
						 number };

	if (db == 0)
		return look_at_server(table, state, words);
	snprintf(number, sizeof(number), "%d", db);
	for (size_t i = 0; words[i] && i + 1 < LOOKING_WORDS; i++)
		asked[4 + i] = words[i];
	return look_at_server(table, state, asked);
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
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (size_t i = 0; file && i < n; i++) {
		fputs(i ? ", " : "", file);
		rr_write_reply(file, &elements[i]);
	}
	if (file)
		fclose(file);
	return text;
}

static void print_sorted(FILE *file, const struct rl_reply *reply, size_t group)
{
	const size_t n = reply->length / group;
	char **groups = calloc(n + 1, sizeof(*groups));

	for (size_t i = 0; groups && i < n; i++) {
		groups[i] = group_text(&reply->elements[i * group], group);
		if (!groups[i])
			groups[i] = strdup("");
	}
	if (groups)
		qsort(groups, n, sizeof(*groups), compare_texts);
	fputc('[', file);
	for (size_t i = 0; groups && i < n; i++) {
		fprintf(file, "%s%s", i ? ", " : "", groups[i]);
		free(groups[i]);
	}
	fputc(']', file);
	free(groups);
}

static void print_value(struct rr_server_table *table, FILE *file,
			uint32_t state, int db, const char *key)
{
	const char *const ask_type[] = { "TYPE", key, NULL };
	const struct rl_reply *type = look_into(table, state, db, ask_type);
	const struct reader *reader =
		reader_of(type && type->text ? type->text : "");
	const char *const *words = reader->words;
	const char *const ask[] = { words[0], key, words[1], words[2], words[3],
				    NULL };
	const struct rl_reply *reply = look_into(table, state, db, ask);

	if (reply && reader->group && reply->type == RL_REPLY_ARRAY)
		print_sorted(file, reply, reader->group);
	else if (reply)
		rr_write_reply(file, reply);
}

static void print_time(struct rr_server_table *table, FILE *file,
		       uint32_t state, int db, const char *key, bool ms)
{
	const char *const ask[] = { "PTTL", key, NULL };
	const struct rl_reply *reply = look_into(table, state, db, ask);
	long long left_ms;

	if (!reply || !rl_reply_number(reply, &left_ms) || left_ms < 0)
		return;
	if (ms)
		fprintf(file, ", for %lld ms", left_ms);
	else
		fprintf(file, ", for %.15g s", (double)(left_ms / 100) / 10);
}

/* ---- Keys -------------------------------------------------------------------- */

static size_t keys_in(struct rr_server_table *table, uint32_t state, int db,
		      const char ***names)
{
	static const char *const words[] = { "KEYS", "*", NULL };
	const struct rl_reply *reply = look_into(table, state, db, words);
	const size_t n =
		reply && reply->type == RL_REPLY_ARRAY ? reply->length : 0;

	*names = calloc(n + 1, sizeof(**names));
	if (!*names)
		return 0;
	for (size_t i = 0; i < n; i++)
		(*names)[i] = reply->elements[i].text;
	qsort(*names, n, sizeof(**names), compare_texts);
	return n;
}

size_t rr_contents_keys(struct rr_server_table *table, uint32_t state,
			const char ***names)
{
	return keys_in(table, state, 0, names);
}

static size_t print_database(struct rr_server_table *table, FILE *file,
			     uint32_t state, int db, bool ms)
{
	const char **names;
	const size_t n = keys_in(table, state, db, &names);

	for (size_t i = 0; i < n; i++) {
		if (db > 0)
			fprintf(file, "db %d: ", db);
		fprintf(file, "%s = ", names[i]);
		print_value(table, file, state, db, names[i]);
		print_time(table, file, state, db, names[i], ms);
		fputc('\n', file);
	}
	free(names);
	return n;
}

/* Those of other databases than 0, which are asked for only where there are any. */
static size_t print_elsewhere(struct rr_server_table *table, FILE *file,
			      uint32_t state, bool ms)
{
	static const char *const words[] = { "EVAL", list_databases, "0",
					     NULL };
	const struct rl_reply *reply =
		table->states[state].elsewhere ?
			look_at_server(table, state, words) :
			NULL;
	size_t n = 0;

	if (!reply || reply->type != RL_REPLY_ARRAY)
		return 0;
	for (size_t i = 0; i < reply->length; i++) {
		const int db = (int)reply->elements[i].integer;

		if (db > 0)
			n += print_database(table, file, state, db, ms);
	}
	return n;
}

char *rr_contents_text(struct rr_server_table *table, uint32_t state, bool ms)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	if (print_database(table, file, state, 0, ms) +
		    print_elsewhere(table, file, state, ms) ==
	    0)
		fputs("no keys\n", file);
	fclose(file);
	return text;
}

bool rr_contents_are_same(struct rr_server_table *table, uint32_t a, uint32_t b)
{
	char *one, *other;
	bool same;

	if (table->states[a].contents == table->states[b].contents)
		return true;
	if (table->states[a].elsewhere != table->states[b].elsewhere)
		return false;
	one = rr_contents_text(table, a, true);
	other = rr_contents_text(table, b, true);
	same = one && other && table->error.kind == RR_ERROR_NONE &&
	       strcmp(one, other) == 0;
	free(one);
	free(other);
	return same;
}

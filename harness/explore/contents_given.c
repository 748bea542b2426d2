/* SPDX-License-Identifier: MIT */
/* What a server holds, as commands that make it: for what is given in a race. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/reply.h"
#include "contents.h"

/* Elements in one command, which has 128 words at most. */
enum { ELEMENTS = 60 };

static const char in_database[] = "redis.call('SELECT', ARGV[1]) "
				  "return redis.call(unpack(ARGV, 2))";

static void write_word(FILE *out, const struct rl_reply *word)
{
	fputc(' ', out);
	rr_write_bare_word(out, word->text, word->length);
}

/* The name of a command, and the key. */
static void begin_command(FILE *out, const char *name, const struct rl_reply *key)
{
	fputs("given ", out);
	if (key[RR_KEY_DATABASE].integer > 0) {
		fputs("EVAL ", out);
		rr_write_quoted(out, in_database, sizeof(in_database) - 1);
		fprintf(out, " 0 %lld ", key[RR_KEY_DATABASE].integer);
	}
	fputs(name, out);
	write_word(out, &key[RR_KEY_NAME]);
}

static void write_string(FILE *out, const struct rl_reply *key)
{
	begin_command(out, "SET", key);
	write_word(out, &key[RR_KEY_VALUE]);
	fputc('\n', out);
}

/* By commands that take any number of elements; of a group of them `n_taken` are words, in
 * that order or the other one. */
static void write_elements(FILE *out, const struct rl_reply *key, const char *name, size_t group,
			   size_t n_taken, bool is_turned)
{
	const struct rl_reply *value = &key[RR_KEY_VALUE];

	for (size_t i = 0; i < value->length; i += group) {
		if (i % (ELEMENTS / n_taken * group) == 0) {
			fputs(i ? "\n" : "", out);
			begin_command(out, name, key);
		}
		for (size_t j = 0; j < n_taken; j++)
			write_word(out, &value->elements[i + (is_turned ? n_taken - 1 - j : j)]);
	}
	fputc('\n', out);
}

static void write_list(FILE *out, const struct rl_reply *key)
{
	write_elements(out, key, "RPUSH", 1, 1, false);
}

static void write_set(FILE *out, const struct rl_reply *key)
{
	write_elements(out, key, "SADD", 1, 1, false);
}

/* A score stands before its member. */
static void write_sorted_set(FILE *out, const struct rl_reply *key)
{
	write_elements(out, key, "ZADD", 2, 2, true);
}

static void write_hash(FILE *out, const struct rl_reply *key)
{
	const struct rl_reply *value = &key[RR_KEY_VALUE];

	write_elements(out, key, "HSET", RR_HASH_GROUP, 2, false);
	for (size_t i = 0; i < value->length; i += RR_HASH_GROUP) {
		if (value->elements[i + 2].integer < 0)
			continue;
		begin_command(out, "HPEXPIRE", key);
		fprintf(out, " %lld FIELDS 1", value->elements[i + 2].integer);
		write_word(out, &value->elements[i]);
		fputc('\n', out);
	}
}

static void write_library(FILE *out, const struct rl_reply *key)
{
	fputs("given FUNCTION LOAD", out);
	write_word(out, &key[RR_KEY_VALUE]);
	fputc('\n', out);
}

static const struct {
	const char *type;
	void (*write)(FILE *out, const struct rl_reply *key);
} types[] = {
	{ "string", write_string },   { "list", write_list }, { "set", write_set },
	{ "zset", write_sorted_set }, { "hash", write_hash }, { "functions", write_library },
};

/* What is of no such type as a whole, and without the time that it has left. */
static bool write_dump(struct rr_contents *contents, uint32_t state, const struct rl_reply *key,
		       FILE *out)
{
	char database[24];
	const int length = snprintf(database, sizeof(database), "%lld",
				    key[RR_KEY_DATABASE].integer);
	const struct rl_command dump = {
		.n_words = 6,
		.words = { { "EVAL", 4 },
			   { in_database, sizeof(in_database) - 1 },
			   { "0", 1 },
			   { database, (size_t)length },
			   { "DUMP", 4 },
			   { key[RR_KEY_NAME].text, key[RR_KEY_NAME].length } },
	};
	const struct rl_reply *reply =
		rr_contents_ask(contents, state, rr_terms_command(contents->table->terms, &dump));

	if (!reply)
		return false;
	begin_command(out, "RESTORE", key);
	fputs(" 0", out);
	write_word(out, reply);
	fputc('\n', out);
	return true;
}

static bool write_key(struct rr_contents *contents, uint32_t state, const struct rl_reply *key,
		      FILE *out)
{
	size_t i = 0;

	while (i < sizeof(types) / sizeof(types[0]) && !rr_contents_has_type(key, types[i].type))
		i++;
	if (i < sizeof(types) / sizeof(types[0]))
		types[i].write(out, key);
	else if (!write_dump(contents, state, key, out))
		return false;
	if (key[RR_KEY_LEFT_MS].integer >= 0) {
		begin_command(out, "PEXPIRE", key);
		fprintf(out, " %lld\n", key[RR_KEY_LEFT_MS].integer);
	}
	return true;
}

char *rr_contents_given(struct rr_contents *contents, uint32_t state)
{
	char *text;
	size_t size, n;
	FILE *file = rr_open_memory(&text, &size);
	const struct rl_reply **keys = rr_contents_list(contents, state, RR_NO_ID, &n);
	bool good = keys != NULL;

	for (size_t i = 0; i < n && good; i++)
		good = write_key(contents, state, keys[i]->elements, file);
	free(keys);
	fclose(file);
	if (good)
		return text;
	free(text);
	return NULL;
}

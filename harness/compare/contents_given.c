/* SPDX-License-Identifier: MIT */
/* What a server holds, as commands that make it: for what is given in a race. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"

/* Elements in one command, which has 128 words at most. */
enum { ELEMENTS = 60 };

static const char in_database[] = "redis.call('SELECT', ARGV[1]) "
				  "return redis.call(unpack(ARGV, 2))";

/* A command that is being made, of one key. */
struct making {
	const struct rdl_reply *key; /* its parts */
	struct rdl_command command;
	char database[24];
};

static void add_word(struct making *making, const char *text, size_t length)
{
	making->command.words[making->command.n_words++] = (struct rdl_word){ text, length };
}

static void add_text(struct making *making, const char *text)
{
	add_word(making, text, strlen(text));
}

static void add_reply(struct making *making, const struct rdl_reply *word)
{
	add_word(making, word->text, word->length);
}

/* The name of a command, and the key. In another database than 0 a script does it there. */
static void begin(struct making *making, const char *name)
{
	const long long database = making->key[RR_KEY_DATABASE].integer;

	making->command.n_words = 0;
	if (database > 0) {
		snprintf(making->database, sizeof(making->database), "%lld", database);
		add_text(making, "EVAL");
		add_text(making, in_database);
		add_text(making, "0");
		add_text(making, making->database);
	}
	add_text(making, name);
	add_reply(making, &making->key[RR_KEY_NAME]);
}

static void end(const struct making *making, struct rr_command_list *commands)
{
	rr_command_list_add(commands, making->command.words, making->command.n_words);
}

/* Keys of these types are made by commands that take any number of elements; of a group of them
 * `n_taken` are words, in that order or the other one: a score stands before its member. */
static const struct collection {
	const char *type, *name;
	size_t group, n_taken;
	bool is_turned;
} collections[] = {
	{ "list", "RPUSH", 1, 1, false },
	{ "set", "SADD", 1, 1, false },
	{ "zset", "ZADD", 2, 2, true },
	{ "hash", "HSET", RR_HASH_GROUP, 2, false },
};

static void make_collection(struct making *making, const struct collection *it,
			    struct rr_command_list *commands)
{
	const struct rdl_reply *value = &making->key[RR_KEY_VALUE];
	char number[24];

	for (size_t i = 0; i < value->length; i += it->group) {
		if (i % (ELEMENTS / it->n_taken * it->group) == 0) {
			if (i > 0)
				end(making, commands);
			begin(making, it->name);
		}
		for (size_t j = 0; j < it->n_taken; j++)
			add_reply(making,
				  &value->elements[i + (it->is_turned ? it->n_taken - 1 - j : j)]);
	}
	end(making, commands);
	for (size_t i = 0; it->group == RR_HASH_GROUP && i < value->length; i += it->group) {
		const long long left_ms = value->elements[i + 2].integer;

		if (left_ms < 0)
			continue;
		snprintf(number, sizeof(number), "%lld", left_ms);
		begin(making, "HPEXPIRE");
		add_text(making, number);
		add_text(making, "FIELDS");
		add_text(making, "1");
		add_reply(making, &value->elements[i]);
		end(making, commands);
	}
}

/* False: the table's error. */
static bool make_key(struct rr_contents *contents, uint32_t state, const struct rdl_reply *key,
		     struct rr_command_list *commands)
{
	const size_t n = sizeof(collections) / sizeof(collections[0]);
	struct making making = { .key = key };
	char number[24];
	size_t i = 0;

	while (i < n && !rr_contents_has_type(key, collections[i].type))
		i++;
	if (i < n) {
		make_collection(&making, &collections[i], commands);
	} else if (rr_contents_has_type(key, "string")) {
		begin(&making, "SET");
		add_reply(&making, &key[RR_KEY_VALUE]);
		end(&making, commands);
	} else if (rr_contents_has_type(key, "functions")) {
		add_text(&making, "FUNCTION");
		add_text(&making, "LOAD");
		add_reply(&making, &key[RR_KEY_VALUE]);
		end(&making, commands);
	} else {
		/* What is of no such type as a whole, and without the time that it has left. */
		const struct rdl_reply *dump;

		begin(&making, "DUMP");
		dump = rr_contents_ask(contents, state,
				       rr_terms_command(contents->table->terms, &making.command));
		if (!dump)
			return false;
		begin(&making, "RESTORE");
		add_text(&making, "0");
		add_reply(&making, dump);
		end(&making, commands);
	}
	if (key[RR_KEY_LEFT_MS].integer >= 0) {
		snprintf(number, sizeof(number), "%lld", key[RR_KEY_LEFT_MS].integer);
		begin(&making, "PEXPIRE");
		add_text(&making, number);
		end(&making, commands);
	}
	return true;
}

bool rr_contents_given(struct rr_contents *contents, uint32_t state,
		       struct rr_command_list *commands)
{
	size_t n;
	const struct rdl_reply **keys = rr_contents_list(contents, state, RR_NO_ID, &n);
	bool good = keys != NULL;

	for (size_t i = 0; i < n && good; i++)
		good = make_key(contents, state, keys[i]->elements, commands);
	free(keys);
	return good;
}

/* SPDX-License-Identifier: MIT */
/* What random programs are made of. */
#include "programs.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

/* Stand for the command's key and for another one. */
#define KEY "@"
#define OTHER "&"

#define GET_SELF "redis.call('GET',KEYS[1])"

/* Not every one that writes says so by its reply. */
#define INCR_SCRIPT "return {redis.call('INCR',KEYS[1])}"
#define READ_SCRIPT "return {" GET_SELF "}"
#define SILENT_SCRIPT "redis.call('INCR',KEYS[1]) return false"
#define ZERO_SCRIPT "redis.call('SET',KEYS[1],'1') return 0"
#define UNDONE_SCRIPT "redis.call('DEL',KEYS[1]) return {false}"
#define SWAP_SCRIPT \
	"if " GET_SELF "=='1' then return redis.call('SET',KEYS[1],'2') end " \
	"return false"
#define REMOVE_SCRIPT \
	"if " GET_SELF "=='1' then return redis.call('DEL',KEYS[1]) end " \
	"return 0"
#define COPY_SCRIPT \
	"local v=" GET_SELF " if v then redis.call('SET',KEYS[2],v) end " \
	"return v"
#define TAKE_SCRIPT "return redis.call('LPOP',KEYS[1])"
#define MOVE_SCRIPT \
	"local v=redis.call('RPOP',KEYS[1]) " \
	"if v then redis.call('SET',KEYS[2],v) end return 0"

#define EVAL_ONE(script) { "EVAL", script, "1", KEY }
#define EVAL_TWO(script) { "EVAL", script, "2", KEY, OTHER }

static const struct program_command on_strings[] = {
	{ { "GET", KEY } }, { { "GET", KEY } }, { { "SET", KEY, "1" } },
	{ { "SET", KEY, "2" } }, { { "SETNX", KEY, "1" } },
	{ { "DEL", KEY } }, { { "INCR", KEY } }, { { "INCR", KEY } },
	{ { "SET", KEY, "3", "NX" } }, { { "SET", KEY, "4", "XX" } },
	{ { "SET", KEY, "6", "GET" } }, { { "SET", KEY, "7", "NX", "GET" } },
	{ { "SET", KEY, "8", "KEEPTTL" } }, { { "GETDEL", KEY } },
	{ { "GETSET", KEY, "5" } }, { { "APPEND", KEY, "1" } },
	{ { "MSETNX", KEY, "1", OTHER, "2" } }, { { "MGET", KEY, OTHER } },
	{ EVAL_ONE(INCR_SCRIPT) }, { EVAL_ONE(READ_SCRIPT) },
	{ EVAL_ONE(SILENT_SCRIPT) }, { EVAL_ONE(ZERO_SCRIPT) },
	{ EVAL_ONE(UNDONE_SCRIPT) }, { EVAL_ONE(SWAP_SCRIPT) },
	{ EVAL_ONE(REMOVE_SCRIPT) }, { EVAL_TWO(COPY_SCRIPT) },
};

static const struct program_command on_lists[] = {
	{ { "RPUSH", KEY, "1" } }, { { "RPUSH", KEY, "1", "2" } },
	{ { "LPUSH", KEY, "3" } }, { { "LPUSH", KEY, "4" } },
	{ { "RPUSH", KEY, "5" } }, { { "RPUSHX", KEY, "6" } },
	{ { "LPOP", KEY } }, { { "RPOP", KEY } }, { { "LLEN", KEY } },
	{ { "LRANGE", KEY, "0", "-1" } }, { { "LMOVE", KEY, OTHER, "LEFT", "LEFT" } },
	{ { "BLPOP", KEY, "0" } }, { { "BLPOP", KEY, "0" } },
	{ { "BRPOP", KEY, "0" } }, { { "BLPOP", KEY, OTHER, "0" } },
	{ { "BLPOP", KEY, "1" } }, { { "BRPOPLPUSH", KEY, OTHER, "0" } },
	{ { "BLMOVE", KEY, OTHER, "RIGHT", "LEFT", "0" } },
	{ { "BLMPOP", "0", "2", KEY, OTHER, "LEFT" } },
	{ EVAL_ONE(TAKE_SCRIPT) }, { EVAL_TWO(MOVE_SCRIPT) },
	{ { "DEL", KEY } },
};

static const struct program_command on_keys[] = {
	{ { "EXISTS", KEY } }, { { "DEL", KEY } }, { { "DEL", KEY, OTHER } },
	{ { "EXPIRE", KEY, "100" } }, { { "EXPIRE", KEY, "200", "NX" } },
	{ { "PEXPIRE", KEY, "200000" } }, { { "PERSIST", KEY } },
	{ { "TTL", KEY } }, { { "TYPE", KEY } }, { { "RENAME", KEY, OTHER } },
	{ { "WATCH", KEY } }, { { "WATCH", KEY } }, { { "UNWATCH" } },
	{ { "MULTI" } }, { { "MULTI" } }, { { "EXEC" } }, { { "EXEC" } },
	{ { "DISCARD" } },
};

/* What all clients of one seed are about. */
enum theme { STRINGS, LISTS, MIXED, TRANSACTIONS, N_THEMES };

#define PICK(random, table) \
	(&(table)[rr_random_below(random, sizeof(table) / sizeof((table)[0]))])

static const char *pick_key(struct rr_random *random, bool lists)
{
	static const char *const strings[] = { "a", "a", "a", "a",
					       "b", "b", "b", "l" };
	static const char *const of_lists[] = { "l", "l", "l", "l",
						"m", "m", "m", "a" };

	return lists ? *PICK(random, of_lists) : *PICK(random, strings);
}

static void put_keys(struct program_command *command, struct rr_random *random,
		     bool lists)
{
	for (size_t i = 0; i < PROGRAM_WORDS && command->words[i]; i++) {
		if (strcmp(command->words[i], KEY) == 0 ||
		    strcmp(command->words[i], OTHER) == 0)
			command->words[i] = pick_key(random, lists);
	}
}

static struct program_command pick(struct rr_random *random, enum theme theme)
{
	bool lists = theme == LISTS;
	struct program_command command;

	if (theme == MIXED || theme == TRANSACTIONS)
		lists = rr_random_below(random, 3) == 0;
	if (rr_random_below(random, 5) == 0)
		command = *PICK(random, on_keys);
	else if (lists)
		command = *PICK(random, on_lists);
	else
		command = *PICK(random, on_strings);
	put_keys(&command, random, lists);
	return command;
}

static void append(struct program *program, struct program_command command)
{
	if (program->n_commands < PROGRAM_COMMANDS)
		program->commands[program->n_commands++] = command;
}

/* WATCH, a look, MULTI, what it is for, EXEC. */
static void make_transaction(struct program *program, struct rr_random *random)
{
	struct program_command watch = { { "WATCH", KEY } };

	put_keys(&watch, random, false);
	if (rr_random_below(random, 4))
		append(program, watch);
	if (rr_random_below(random, 2))
		append(program, pick(random, STRINGS));
	append(program, (struct program_command){ { "MULTI" } });
	append(program, pick(random, MIXED));
	append(program, (struct program_command){ { "EXEC" } });
}

static void fill(struct program *program, struct rr_random *random,
		 enum theme theme, size_t n)
{
	while (program->n_commands < n)
		append(program, pick(random, theme));
}

/* Two clients have 6 to 252 schedules, three 30 to 210. */
static size_t pick_length(struct rr_random *random, enum theme theme, size_t n,
			  size_t client)
{
	if (n == 3)
		return client ? 2 : 1 + rr_random_below(random, 3);
	return 2 + rr_random_below(random, theme == TRANSACTIONS ? 3 : 4);
}

size_t program_make(struct program *programs, uint64_t seed)
{
	struct rr_random random = { seed };
	const enum theme theme = rr_random_below(&random, N_THEMES);
	const bool three = theme != TRANSACTIONS &&
			   rr_random_below(&random, 4) == 0;
	const size_t n = three ? 3 : 2;

	for (size_t i = 0; i < n; i++) {
		programs[i].n_commands = 0;
		if (theme == TRANSACTIONS && i == 0)
			make_transaction(&programs[i], &random);
		else
			fill(&programs[i], &random, theme,
			     pick_length(&random, theme, n, i));
	}
	return n;
}

bool program_is(const struct program_command *command, const char *name)
{
	return strcmp(command->words[0], name) == 0;
}

void program_print(FILE *file, const struct program *programs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(file, "\n%c:", (char)('A' + i));
		for (size_t j = 0; j < programs[i].n_commands; j++) {
			const char *const *words =
				programs[i].commands[j].words;

			fputs(j ? "," : "", file);
			for (size_t k = 0; k < PROGRAM_WORDS && words[k]; k++)
				fprintf(file, " %s", words[k]);
		}
	}
}

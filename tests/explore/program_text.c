/* SPDX-License-Identifier: MIT */
/* Random programs out of the pools. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static const char *pick_key(struct rr_random *random, const struct program_pool *pool)
{
	size_t n = 0;

	while (pool->keys[n])
		n++;
	return pool->keys[rr_random_below(random, n)];
}

static struct program_command pick(struct rr_random *random, const struct program_pool *pool,
				   const struct program_command *commands, size_t n)
{
	struct program_command command = commands[rr_random_below(random, n)];

	for (size_t i = 0; i < PROGRAM_WORDS && command.words[i]; i++) {
		if (strcmp(command.words[i], PROGRAM_KEY) == 0 ||
		    strcmp(command.words[i], PROGRAM_OTHER) == 0)
			command.words[i] = pick_key(random, pool);
	}
	return command;
}

static void add_step(struct program *program, struct rr_random *random,
		     const struct program_pool *pool, bool begins)
{
	if (program->n_steps == PROGRAM_STEPS)
		return;
	for (int i = 0; i < PROGRAM_CHOICES; i++)
		program->steps[program->n_steps][i] =
			begins ? pick(random, pool, pool->begins, pool->n_begins) :
				 pick(random, pool, pool->commands, pool->n_commands);
	program->n_steps++;
}

static void add_words(struct program *program, const char *name, const char *key)
{
	if (program->n_steps == PROGRAM_STEPS)
		return;
	for (int i = 0; i < PROGRAM_CHOICES; i++)
		program->steps[program->n_steps][i] = (struct program_command){ { name, key } };
	program->n_steps++;
}

/* WATCH, a look, MULTI, what it is for, EXEC. */
static void add_transaction(struct program *program, struct rr_random *random,
			    const struct program_pool *pool)
{
	if (rr_random_below(random, 3))
		add_words(program, "WATCH", pick_key(random, pool));
	if (rr_random_below(random, 3) == 0)
		add_step(program, random, pool, false);
	add_words(program, "MULTI", NULL);
	add_step(program, random, pool, rr_random_below(random, 2));
	add_words(program, "EXEC", NULL);
}

/* Two clients have 6 to 252 schedules, three 30 to 210. */
static size_t pick_length(struct rr_random *random, size_t n_clients, size_t client)
{
	if (n_clients == 3)
		return client ? 2 : 1 + rr_random_below(random, 2);
	return 2 + rr_random_below(random, 3);
}

size_t program_make(struct program *programs, uint64_t seed, const struct program_pool **pool)
{
	struct rr_random random = { seed };
	const size_t n = rr_random_below(&random, 4) ? 2 : 3;
	const bool has_transaction = rr_random_below(&random, 4) == 0;

	*pool = &program_pools[rr_random_below(&random, n_program_pools)];
	for (size_t i = 0; i < n; i++) {
		const size_t length = pick_length(&random, n, i);

		programs[i].n_steps = 0;
		if (i == 0 && rr_random_below(&random, 2))
			add_step(&programs[i], &random, *pool, true);
		if (i == 1 && has_transaction)
			add_transaction(&programs[i], &random, *pool);
		while (programs[i].n_steps < length)
			add_step(&programs[i], &random, *pool, false);
	}
	return n;
}

bool program_is(const struct program_command *command, const char *name)
{
	return strcmp(command->words[0], name) == 0;
}

static void print_command(FILE *file, const struct program_command *command)
{
	for (size_t i = 0; i < PROGRAM_WORDS && command->words[i]; i++) {
		const bool is_long = strchr(command->words[i], ' ') != NULL;

		fprintf(file, is_long ? "%s'%s'" : "%s%s", i ? " " : "", command->words[i]);
	}
}

static bool is_same(const struct program_command *a, const struct program_command *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

void program_print(FILE *file, const struct program *programs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(file, "\n%c:", (char)('A' + i));
		for (size_t j = 0; j < programs[i].n_steps; j++) {
			const struct program_command *choices = programs[i].steps[j];

			fputs(j ? "; " : " ", file);
			print_command(file, &choices[0]);
			if (is_same(&choices[0], &choices[1]))
				continue;
			fputs(" or ", file);
			print_command(file, &choices[1]);
		}
	}
}

/* SPDX-License-Identifier: MIT */
#include "given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A race that is written into memory, of which there is only what is given. */
struct draft {
	FILE *out;
	char *text;
	size_t size;
};

static struct rr_race *finish_race(struct draft *draft, const char *path, struct rr_error *error)
{
	struct rr_race *race;

	fputs("title what is given\nclients A\nA> PING\nverdict nothing broken\n", draft->out);
	fclose(draft->out);
	race = rr_race_parse(path, draft->text, draft->size, error);
	free(draft->text);
	return race;
}

static void copy_commands(const struct rr_race *race, struct rl_command *commands)
{
	for (size_t i = 0; i < race->n_given; i++) {
		const struct rr_step *step = &race->given[i];

		commands[i] = (struct rl_command){ .n_words = step->n_words };
		for (size_t j = 0; j < step->n_words; j++)
			commands[i].words[j] = (struct rl_word){ step->words[j],
								 strlen(step->words[j]) };
	}
}

/* The n-th line of the file is the n-th of the race. */
static bool read_init(struct rr_given *given, const char *path, struct rr_error *error)
{
	struct draft draft;
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;

	if (!file)
		return rr_error_set(error, RR_ERROR_USAGE, "--init: cannot read '%s'", path);
	draft.out = rr_open_memory(&draft.text, &draft.size);
	while (getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] && line[0] != '#')
			fprintf(draft.out, "given %s", line);
		fputc('\n', draft.out);
	}
	free(line);
	fclose(file);
	given->init = finish_race(&draft, path, error);
	if (!given->init)
		return false;
	given->n_commands = given->init->n_given;
	copy_commands(given->init, given->commands);
	return true;
}

static bool read_finals(struct rr_given *given, const struct rr_check_options *options,
			struct rr_error *error)
{
	struct draft draft;

	draft.out = rr_open_memory(&draft.text, &draft.size);
	for (size_t i = 0; i < options->n_finals; i++)
		fprintf(draft.out, "given %s\n", options->finals[i].command);
	given->finals = finish_race(&draft, "--final", error);
	if (!given->finals)
		return false;
	copy_commands(given->finals, given->questions);
	for (size_t i = 0; i < given->finals->n_given; i++)
		given->expected[i] = (struct rr_expected){ .asked = &given->questions[i],
							   .value = options->finals[i].value };
	return true;
}

bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error)
{
	return (!options->init || read_init(given, options->init, error)) &&
	       (options->n_finals == 0 || read_finals(given, options, error));
}

void rr_given_release(struct rr_given *given)
{
	rr_race_free(given->init);
	rr_race_free(given->finals);
}

/* SPDX-License-Identifier: MIT */
#include "option.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "text.h"

enum { KEY_FIRST = 0x100, NAMES_MAX = 64, LIST_SIZE = 200 };

static const struct rr_option common_options[RR_COMMON_OPTIONS] = {
	[RR_OPTION_ALL] = { .name = "all",
			    .help = "all strategies instead of the basic ones",
			    .kind = RR_TAKES_NOTHING },
	[RR_OPTION_CLIENTS] = { .name = "clients",
				.argument = "N",
				.help = "how many clients (2)",
				.kind = RR_TAKES_NUMBER,
				.min = 1 },
	[RR_OPTION_FORMAT] = { .name = "format",
			       .letter = 'f',
			       .argument = "FORMAT",
			       .kind = RR_TAKES_WORD },
	[RR_OPTION_INCREMENTS] = { .name = "increments",
				   .letter = 'n',
				   .argument = "N",
				   .help = "of each client (1)",
				   .kind = RR_TAKES_NUMBER,
				   .min = 1 },
	[RR_OPTION_JOBS] = { .name = "jobs",
			     .letter = 'j',
			     .argument = "N",
			     .help = "so many at once: 1 to 64 (the processors)",
			     .kind = RR_TAKES_NUMBER,
			     .min = 1,
			     .max = 64 },
	[RR_OPTION_MOST] = { .name = "most",
			     .argument = "N",
			     .help = "no more states than that",
			     .kind = RR_TAKES_NUMBER,
			     .min = 1,
			     .max = 1000000000 },
	[RR_OPTION_OUTPUT] = { .name = "output",
			       .letter = 'o',
			       .argument = "FILE",
			       .help = "write to FILE instead of stdout",
			       .kind = RR_TAKES_TEXT },
	[RR_OPTION_REDIS_SERVER] = {
		.name = "redis-server",
		.argument = "PATH",
		.help = "program for private servers (redis-server)",
		.kind = RR_TAKES_TEXT },
	[RR_OPTION_REPEATS] = { .name = "repeats",
				.letter = 'r',
				.argument = "N",
				.kind = RR_TAKES_NUMBER,
				.min = 1 },
	[RR_OPTION_SAVE] = { .name = "save",
			     .argument = "FILE",
			     .kind = RR_TAKES_TEXT },
	[RR_OPTION_SECONDS] = { .name = "seconds",
				.letter = 's',
				.argument = "N",
				.kind = RR_TAKES_NUMBER,
				.min = 1 },
	[RR_OPTION_SEED] = { .name = "seed",
			     .argument = "S",
			     .kind = RR_TAKES_NUMBER },
	[RR_OPTION_TTL_MS] = { .name = "ttl-ms",
			       .argument = "MS",
			       .help = "lease of a lock (10000)",
			       .kind = RR_TAKES_NUMBER,
			       .max = 86400000 },
};

/* The row with what it leaves to the common option. */
static struct rr_option complete_option(const struct rr_option *row)
{
	struct rr_option option = *row;
	const struct rr_option *common = &common_options[row->common];

	if (row->common == RR_OPTION_OWN)
		return option;
	option.name = common->name;
	option.letter = common->letter;
	option.kind = common->kind;
	if (!row->argument)
		option.argument = common->argument;
	if (!row->help)
		option.help = common->help;
	if (!row->max) {
		option.min = common->min;
		option.max = common->max;
	}
	if (row->take)
		option.kind = RR_TAKES_MORE;
	return option;
}

/* ---- Values ------------------------------------------------------------ */

bool rr_take_number(const char *name, const char *text, long min, long max,
		    long *value, struct rr_error *error)
{
	return rr_parse_number(text, min, max, value) ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--%s: '%s' is not a whole number from %ld to %ld",
			    name, text, min, max);
}

bool rr_refuse_name(const char *what, const char *name,
		    const char *(*name_at)(size_t index), const char *where,
		    struct rr_error *error)
{
	const char *names[NAMES_MAX], *nearest;
	size_t n = 0;

	while (n < NAMES_MAX && (names[n] = name_at(n)))
		n++;
	nearest = rr_nearest(name, names, n);
	if (nearest)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "no %s '%s'; did you mean '%s'?", what,
				    name, nearest);
	return rr_error_set(error, RR_ERROR_USAGE, "no %s '%s'; %s", what, name,
			    where);
}

bool rr_take_name(const char *what, const char *name,
		  const char *(*name_at)(size_t index), const char *where,
		  size_t *index, struct rr_error *error)
{
	const char *other;

	for (size_t i = 0; (other = name_at(i)); i++) {
		if (strcmp(other, name) == 0) {
			*index = i;
			return true;
		}
	}
	return rr_refuse_name(what, name, name_at, where, error);
}

/* "text, json or html". */
static void list_words(const struct rr_option *option, char list[LIST_SIZE])
{
	size_t used = 0;

	for (size_t i = 0; i < option->n_words && used < LIST_SIZE; i++)
		used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s%s",
					 i == 0 ? "" :
					 i + 1 == option->n_words ? " or " :
								    ", ",
					 option->words[i]);
}

static bool take_word(const struct rr_option *option, const char *text,
		      int *index, struct rr_error *error)
{
	char list[LIST_SIZE] = "";

	for (size_t i = 0; i < option->n_words; i++) {
		if (strcmp(text, option->words[i]) == 0) {
			*index = (int)i;
			return true;
		}
	}
	list_words(option, list);
	return rr_error_set(error, RR_ERROR_USAGE, "--%s '%s': expected %s",
			    option->name, text, list);
}

static bool take_number(const struct rr_option *option, const char *text,
			void *field, struct rr_error *error)
{
	long number;

	if (!rr_take_number(option->name, text, option->min, option->max,
			    &number, error))
		return false;
	if (option->kind == RR_TAKES_INT)
		*(int *)field = (int)number;
	else
		memcpy(field, &number, sizeof(number));
	return true;
}

static bool take_option(const struct rr_option *option, void *into, char *text,
			struct rr_error *error)
{
	void *field = (char *)into + option->at;

	switch (option->kind) {
	case RR_TAKES_NOTHING:
		*(bool *)field = true;
		return true;
	case RR_TAKES_INT:
	case RR_TAKES_NUMBER:
		return take_number(option, text, field, error);
	case RR_TAKES_WORD:
		return take_word(option, text, field, error);
	case RR_TAKES_TEXT:
		*(const char **)field = text;
		return true;
	case RR_TAKES_MORE:
		return option->take(into, text, error);
	}
	return false;
}

/* ---- The parser -------------------------------------------------------- */

/* What argp's parser is given. */
struct parsing {
	const struct rr_command_line *line;
	void *into;
};

static bool take_argument(const struct parsing *parsing, char *text,
			  struct rr_error *error)
{
	const struct rr_command_line *line = parsing->line;

	if (line->take_argument)
		return line->take_argument(parsing->into, text, error);
	return rr_error_set(error, RR_ERROR_USAGE,
			    "'%s': the command takes no arguments", text);
}

static int key_of(const struct rr_option *option, size_t index)
{
	return option->letter ? option->letter : KEY_FIRST + (int)index;
}

/* False: the key is not one of ours. */
static bool find_option(const struct rr_command_line *line, int key,
			struct rr_option *found)
{
	for (size_t i = 0; i < line->n_options; i++) {
		*found = complete_option(&line->options[i]);
		if (found->name && key_of(found, i) == key)
			return true;
	}
	return false;
}

static void refuse_empty(const struct rr_command_line *line, int key,
			 struct rr_error *error)
{
	struct rr_option option;

	if (find_option(line, key, &option))
		rr_error_set(error, RR_ERROR_USAGE, "--%s is empty; see --help",
			     option.name);
	else
		rr_error_set(error, RR_ERROR_USAGE,
			     "an argument is empty; see --help");
}

static error_t parse_key(int key, char *text, struct argp_state *state)
{
	const struct parsing *parsing = state->input;
	const struct rr_command_line *line = parsing->line;
	struct rr_error error = { 0 };
	struct rr_option option;

	if (text && !text[0])
		refuse_empty(line, key, &error);
	else if (key == ARGP_KEY_ARG)
		take_argument(parsing, text, &error);
	else if (key == ARGP_KEY_NO_ARGS && line->missing)
		rr_error_set(&error, RR_ERROR_USAGE, "%s", line->missing);
	else if (key == ARGP_KEY_SUCCESS && line->check)
		line->check(parsing->into, &error);
	else if (find_option(line, key, &option))
		take_option(&option, parsing->into, text, &error);
	else
		return ARGP_ERR_UNKNOWN;
	if (error.kind)
		argp_failure(state, rr_exit_of(error.kind), 0, "%s",
			     error.text);
	return 0;
}

/* The options as argp wants them go to `keys`. */
static struct argp make_argp(const struct rr_command_line *line,
			     struct argp_option keys[RR_OPTIONS_MAX + 1])
{
	int group = 0;

	for (size_t i = 0; i < line->n_options && i < RR_OPTIONS_MAX; i++) {
		const struct rr_option option =
			complete_option(&line->options[i]);

		if (!option.name)
			group++;
		keys[i] = (struct argp_option){
			.name = option.name,
			.key = option.name ? key_of(&option, i) : 0,
			.arg = option.argument,
			.doc = option.help,
			.group = group,
		};
	}
	keys[line->n_options] = (struct argp_option){ 0 };
	return (struct argp){ .options = keys,
			      .parser = parse_key,
			      .args_doc = line->arguments,
			      .doc = line->about };
}

void rr_command_line_parse(const struct rr_command_line *line, void *into,
			   int argc, char **argv)
{
	struct parsing parsing = { line, into };
	struct argp_option keys[RR_OPTIONS_MAX + 1];
	const struct argp argp = make_argp(line, keys);

	argp_err_exit_status = RR_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &parsing);
}

void rr_command_line_help(const struct rr_command_line *line, const char *name)
{
	struct argp_option keys[RR_OPTIONS_MAX + 1];
	const struct argp argp = make_argp(line, keys);
	char program[64];

	snprintf(program, sizeof(program), "redrace %s", name);
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, program);
}

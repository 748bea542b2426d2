/* SPDX-License-Identifier: MIT */
#include "option.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "shard.h"
#include "text.h"

enum { KEY_FIRST = 0x100, NAMES_MAX = 512, LIST_SIZE = 200 };

static const struct rr_option common_options[RR_COMMON_OPTIONS] = {
	[RR_OPTION_AUDIT] = { .name = "audit", .max = 1000000 },
	[RR_OPTION_CLIENTS] = { .name = "clients", .help = "number of clients (2)", .min = 1 },
	[RR_OPTION_DOCS] = { .name = "docs", .argument = "DIR" },
	[RR_OPTION_FORMAT] = { .name = "format",
			       .letter = 'f',
			       .argument = "FORMAT",
			       .help = "what is printed (text): %s",
			       .kind = RR_TAKES_FORMAT },
	[RR_OPTION_GRAPH] = { .name = "graph",
			      .argument = "FILE",
			      .help = "write the graph of states: .dot for Graphviz, or .json",
			      .repeats = true },
	[RR_OPTION_INCREMENTS_EACH] = { .name = "increments-each",
					.help = "increments of each client (1)",
					.min = 1 },
	[RR_OPTION_JOBS] = { .name = "jobs",
			     .letter = 'j',
			     .help = "run N jobs in parallel, 1 to 64 (the number of processors)",
			     .min = 1,
			     .max = 64 },
	[RR_OPTION_MAX_STATES] = { .name = "max-states",
				   .help = "stop after N states",
				   .min = 1,
				   .max = 1000000000 },
	[RR_OPTION_OUTPUT] = { .name = "output",
			       .letter = 'o',
			       .argument = "FILE",
			       .help = "write to FILE instead of standard output",
			       .kind = RR_TAKES_FILE },
	[RR_OPTION_PROCESSES] = { .name = "processes", .letter = 'p', .min = 1, .max = 256 },
	[RR_OPTION_REDIS_SERVER] = { .name = "redis-server",
				     .argument = "PATH",
				     .help = "program to start private servers with (redis-server)" },
	[RR_OPTION_REPEATS] = { .name = "repeats", .letter = 'r', .min = 1 },
	[RR_OPTION_REPLAY] = { .name = "replay", .argument = "FILE" },
	[RR_OPTION_ROUNDS] = { .name = "rounds", .kind = RR_TAKES_INT, .min = 1, .max = 100 },
	[RR_OPTION_SAVE] = { .name = "save", .argument = "FILE" },
	[RR_OPTION_SEED] = { .name = "seed", .argument = "N" },
	[RR_OPTION_SHARD] = { .name = "shard",
			      .argument = "I/N",
			      .help = "do only shard I of N, such as 2/3; redrace merge puts the results of all N together",
			      .kind = RR_TAKES_SHARD },
	[RR_OPTION_STATS] = { .name = "stats",
			      .help = "print what the search was made of, and where the time went" },
	[RR_OPTION_TIMES] = { .name = "times",
			      .argument = "FILE",
			      .help = "results of an earlier run (.json): shards are dealt out evenly by the times in it" },
	[RR_OPTION_TTL_MS] = { .name = "ttl-ms",
			       .argument = "MS",
			       .help = "lease of a lock in milliseconds (10000)",
			       .max = 86400000 },
};

static void complete_option(struct rr_option *option)
{
	const struct rr_option *common = &common_options[option->common];

	if (option->common != RR_OPTION_OWN) {
		option->name = common->name;
		option->letter = common->letter;
		option->kind = common->kind;
	}
	if (!option->argument)
		option->argument = common->argument;
	if (!option->help && option->formats && option->common == RR_OPTION_OUTPUT)
		option->help = "also write FILE, in the format of its suffix: %s";
	if (!option->help)
		option->help = common->help;
	if (!option->min)
		option->min = common->min;
	if (!option->max)
		option->max = common->max;
	if (!option->argument && option->max)
		option->argument = "N";
	if (option->formats && option->common == RR_OPTION_OUTPUT)
		option->kind = RR_TAKES_OUTPUT;
	option->repeats |= common->repeats || option->kind == RR_TAKES_OUTPUT;
	if (option->take || option->take_pair)
		option->kind = RR_TAKES_MORE;
	else if (!option->kind && option->argument)
		option->kind = option->words ? RR_TAKES_WORD :
			       option->max   ? RR_TAKES_NUMBER :
					       RR_TAKES_TEXT;
}

bool rr_option_at(const struct rr_command_line *line, size_t index, struct rr_option *option)
{
	for (size_t i = 0; i < line->n_options; i++) {
		const struct rr_option *row = &line->options[i];

		if (!row->row_at && index-- == 0) {
			*option = *row;
			complete_option(option);
			return true;
		}
		for (size_t j = 0; row->row_at && row->row_at(j, option); j++) {
			if (index-- > 0)
				continue;
			option->at += row->at;
			option->row_at = row->row_at;
			complete_option(option);
			return true;
		}
	}
	return false;
}

/* ---- Values ------------------------------------------------------------ */

bool rr_take_number(const char *name, const char *text, long min, long max, long *value,
		    struct rr_error *error)
{
	return rr_parse_number(text, min, max, value) ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--%s: '%s' is not a whole number from %ld to %ld", name, text, min,
			    max);
}

bool rr_refuse_name(const char *what, const char *name, const char *(*name_at)(size_t index),
		    const char *where, struct rr_error *error)
{
	const char *names[NAMES_MAX], *nearest;
	size_t n = 0;

	while (n < NAMES_MAX && (names[n] = name_at(n)))
		n++;
	nearest = rr_nearest(name, names, n);
	if (nearest)
		return rr_error_set(error, RR_ERROR_USAGE, "no %s '%s'; did you mean '%s'?", what,
				    name, nearest);
	return rr_error_set(error, RR_ERROR_USAGE, "no %s '%s'; %s", what, name, where);
}

bool rr_take_name(const char *what, const char *name, const char *(*name_at)(size_t index),
		  const char *where, size_t *index, struct rr_error *error)
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

bool rr_take_strategy(void *into, char *name, struct rr_error *error)
{
	struct rr_chosen_strategies *chosen = into;
	const struct rr_strategy *strategy = rr_strategy_find(name);

	if (!strategy)
		return rr_refuse_name("strategy", name, rr_strategy_name,
				      "'redrace list' shows them", error);
	for (size_t i = 0; i < chosen->n; i++) {
		if (chosen->all[i] == strategy)
			return true;
	}
	chosen->all[chosen->n++] = strategy;
	return true;
}

/* ---- The parser -------------------------------------------------------- */

static int key_of(const struct rr_option *option, size_t index)
{
	return option->letter ? option->letter : KEY_FIRST + (int)index;
}

/* False: the key is not of this table. */
static bool find_option(const struct rr_command_line *line, int key, struct rr_option *found)
{
	for (size_t i = 0; rr_option_at(line, i, found); i++) {
		if (found->name && key_of(found, i) == key)
			return true;
	}
	return false;
}

/* What getopt_long() is given. */
struct keys {
	struct option longs[RR_OPTIONS_MAX + 3];
	char shorts[2 * RR_OPTIONS_MAX + 8];
};

/* `has_argument`: as getopt_long() has it. An optional one is of the long name only. */
static void add_key(struct keys *keys, size_t *n, const char *name, int key, int has_argument)
{
	const size_t used = strlen(keys->shorts);

	keys->longs[(*n)++] = (struct option){ name, has_argument, NULL, key };
	if (key < KEY_FIRST)
		snprintf(keys->shorts + used, sizeof(keys->shorts) - used, "%c%s", key,
			 has_argument == required_argument ? ":" : "");
}

/* getopt_long() has not understood `word`: it is unknown, ambiguous, or has a
 * value and must have none. */
static bool refuse_word(const struct rr_command_line *line, const struct keys *keys,
			const char *word, struct rr_error *error)
{
	struct rr_option option;

	if (optopt == 0) {
		const char *names[RR_OPTIONS_MAX + 3], *nearest;
		const size_t length = strcspn(word, "=");
		size_t n = 0, n_begin = 0;
		char name[64];

		for (; keys->longs[n].name; n++) {
			names[n] = keys->longs[n].name;
			n_begin += strncmp(names[n], word + 2, length - 2) == 0;
		}
		if (n_begin > 1)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "'%s' may be several options; see --help", word);
		snprintf(name, sizeof(name), "%.*s", (int)(length - 2), word + 2);
		nearest = rr_nearest(name, names, n);
		if (nearest)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "no option '%s'; did you mean '--%s'?", word, nearest);
		return rr_error_set(error, RR_ERROR_USAGE, "no option '%s'; see --help", word);
	}
	if (find_option(line, optopt, &option))
		return rr_error_set(error, RR_ERROR_USAGE, "--%s takes no value", option.name);
	return rr_error_set(error, RR_ERROR_USAGE, "no option '%s'; see --help", word);
}

static bool take_key(const struct rr_command_line *line, void *into, int key, int argc, char **argv,
		     struct rr_error *error)
{
	struct rr_option option;

	if (!find_option(line, key == ':' ? optopt : key, &option))
		return true;
	if (key == ':')
		return rr_error_set(error, RR_ERROR_USAGE, "--%s: the value %s is missing",
				    option.name, option.argument);
	/* Its value was left out: what is taken for it is the next option. */
	if (option.argument && strncmp(optarg, "--", 2) == 0 && optarg == argv[optind - 1])
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--%s: the value %s is missing; if '%s' is it, write --%s=%s",
				    option.name, option.argument, optarg, option.name, optarg);
	if (option.argument && !optarg[0])
		return rr_error_set(error, RR_ERROR_USAGE, "--%s is empty; see --help",
				    option.name);
	if (option.take_pair && optind >= argc)
		return rr_error_set(error, RR_ERROR_USAGE, "--%s: expected %s", option.name,
				    option.argument);
	if (option.take_pair)
		return option.take_pair(into, optarg, argv[optind++], error);

	void *field = (char *)into + option.at;
	char list[LIST_SIZE];
	long number;

	switch (option.kind) {
	case RR_TAKES_NOTHING:
		*(bool *)field = true;
		return true;
	case RR_TAKES_INT:
	case RR_TAKES_NUMBER:
		if (!rr_parse_number(optarg, option.min, option.max, &number))
			return rr_error_set(error, RR_ERROR_USAGE,
					    "--%s: '%s' is not a whole number from %ld to %ld%s%s",
					    option.name, optarg, option.min, option.max,
					    option.neighbour ? "; " : "",
					    option.neighbour ? option.neighbour : "");
		if (option.kind == RR_TAKES_INT)
			*(int *)field = (int)number;
		else
			memcpy(field, &number, sizeof(number));
		return true;
	case RR_TAKES_WORD:
		for (size_t i = 0; i < option.n_words; i++) {
			if (strcmp(optarg, option.words[i]) == 0) {
				*(int *)field = (int)i;
				return true;
			}
		}
		return rr_error_set(
			error, RR_ERROR_USAGE, "--%s '%s': expected %s", option.name, optarg,
			rr_list_words(list, sizeof(list), option.words, option.n_words));
	case RR_TAKES_FORMAT:
		return rr_format_find(optarg, option.formats, field) ||
		       rr_error_set(error, RR_ERROR_USAGE, "--%s '%s': expected %s", option.name,
				    optarg, rr_format_list(option.formats, list));
	case RR_TAKES_FILE:
		*(const char **)field = optarg;
		return rr_files_can_write(optarg, error);
	case RR_TAKES_OUTPUT:
		return rr_outputs_add(field, optarg, option.formats, error);
	case RR_TAKES_SHARD:
		return rr_shard_parse(field, optarg, error);
	case RR_TAKES_TEXT:
		*(const char **)field = optarg;
		return true;
	case RR_TAKES_MORE:
		return option.take(field, optarg, error);
	}
	return false;
}

bool rr_command_line_take(const struct rr_command_line *line, void *into, int argc, char **argv,
			  struct rr_error *error)
{
	struct keys keys = { .shorts = ":" };
	struct rr_option option;
	size_t n = 0;

	add_key(&keys, &n, "help", 'h', optional_argument);
	add_key(&keys, &n, "version", 'V', no_argument);
	for (size_t i = 0; i < RR_OPTIONS_MAX && rr_option_at(line, i, &option); i++) {
		if (option.name)
			add_key(&keys, &n, option.name, key_of(&option, i),
				option.argument ? required_argument : no_argument);
	}
	bool is_right = true;
	int key;

	opterr = 0;
	optind = 0;
	while (is_right && (key = getopt_long(argc, argv, keys.shorts, keys.longs, NULL)) != -1) {
		if (key == 'h' && optarg && strcmp(optarg, "all") != 0)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "--help '%s': expected --help or --help=all", optarg);
		if (key == 'h' || key == 'V')
			rr_command_line_answer(line, key, optarg, argv[0]);
		is_right = key == '?' ? refuse_word(line, &keys, argv[optind - 1], error) :
					take_key(line, into, key, argc, argv, error);
	}
	if (is_right && optind >= argc && line->missing)
		return rr_error_set(error, RR_ERROR_USAGE, "%s", line->missing);
	for (int i = optind; is_right && i < argc; i++) {
		if (!argv[i][0])
			return rr_error_set(error, RR_ERROR_USAGE,
					    "an argument is empty; see --help");
		if (!line->take_argument)
			return rr_error_set(error, RR_ERROR_USAGE,
					    "'%s': the command takes no arguments", argv[i]);
		is_right = line->take_argument(into, argv[i], error);
	}
	return is_right && (!line->check || line->check(into, error));
}

void rr_command_line_parse(const struct rr_command_line *line, void *into, int argc, char **argv)
{
	struct rr_error error = { 0 };

	if (rr_command_line_take(line, into, argc, argv, &error))
		return;
	rr_print_message(argv[0], error.text);
	exit(rr_exit_of(error.kind));
}

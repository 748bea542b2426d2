/* SPDX-License-Identifier: MIT */
#include "matrix_options.h"

#include <argp.h>
#include <string.h>

#include "commands.h"
#include "hazards.h"
#include "base/placement.h"
#include "base/text.h"

enum { KEY_HAZARD = 0x100, KEY_FORMAT, KEY_SAVE, KEY_REPLAY, KEY_MOST,
       KEY_REDIS_SERVER };

static const struct format {
	const char *name;
	const char *suffix; /* of files that are written in it */
	rr_matrix_print *print;
} formats[] = {
	{ "text", ".txt", rr_matrix_text },
	{ "markdown", ".md", rr_matrix_markdown },
	{ "json", ".json", rr_matrix_json },
	{ "html", ".html", rr_matrix_html },
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct argp_option argp_options[] = {
	{ "hazard", KEY_HAZARD, "NAME", 0,
	  "this column: threads, processes, crash, slow-work, pause, lost-reply, restart or skew; may be repeated (all)",
	  0 },
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "what is printed: text, markdown, json or html (text)", 0 },
	{ "output", 'o', "FILE", 0,
	  "write a file as well, by its suffix .txt, .md, .json or .html; may be repeated",
	  0 },
	{ "save", KEY_SAVE, "DIR", 0,
	  "where transcripts of failing cells are saved, for redrace play", 0 },
	{ "replay", KEY_REPLAY, "DIR", 0,
	  "only play the transcripts saved there, and compare", 0 },
	{ "most", KEY_MOST, "N", 0, "no more states than that in a cell", 0 },
	{ "jobs", 'j', "N", 0, "so many at once: 1 to 64 (the processors)",
	  0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

static void take_strategy(struct rr_matrix_options *options, const char *name,
			  struct argp_state *state)
{
	const struct rr_strategy *strategy = rr_strategy_find(name);

	for (size_t i = 0; i < options->n_strategies; i++) {
		if (options->strategies[i] == strategy)
			return;
	}
	if (!strategy)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "no strategy '%s'; 'redrace list' shows them",
			     name);
	else if (options->n_strategies == RR_MATRIX_STRATEGIES)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many strategies");
	else
		options->strategies[options->n_strategies++] = strategy;
}

static void take_hazard(struct rr_matrix_options *options, const char *name,
			struct argp_state *state)
{
	const enum rr_hazard hazard = rr_hazard_find(name);

	if (hazard == RR_HAZARDS)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "no hazard '%s': threads, processes, crash, slow-work, pause, lost-reply, restart or skew",
			     name);
	else
		options->hazards |= 1U << hazard;
}

static void take_format(struct rr_matrix_options *options, const char *name,
			struct argp_state *state)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (strcmp(name, formats[i].name) == 0) {
			options->print = formats[i].print;
			return;
		}
	}
	argp_failure(state, RR_EXIT_USAGE, 0,
		     "no format '%s': text, markdown, json or html", name);
}

static void take_output(struct rr_matrix_options *options, const char *path,
			struct argp_state *state)
{
	const char *suffix = strrchr(path, '.');

	if (options->n_outputs == RR_MATRIX_OUTPUTS)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many outputs");
	for (size_t i = 0; suffix && i < N_FORMATS; i++) {
		if (strcmp(suffix, formats[i].suffix) != 0)
			continue;
		options->outputs[options->n_outputs].path = path;
		options->outputs[options->n_outputs++].print =
			formats[i].print;
		return;
	}
	argp_failure(state, RR_EXIT_USAGE, 0,
		     "--output '%s': expected a name ending in .txt, .md, .json or .html",
		     path);
}

static long number(const char *text, long max, struct argp_state *state)
{
	long value = 1;

	if (!rr_parse_number(text, 1, max, &value))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': expected a number from 1 to %ld", text,
			     max);
	return value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rr_matrix_options *options = state->input;

	switch (key) {
	case KEY_HAZARD:
		take_hazard(options, text, state);
		break;
	case KEY_FORMAT:
		take_format(options, text, state);
		break;
	case 'o':
		take_output(options, text, state);
		break;
	case KEY_SAVE:
		options->save = text;
		break;
	case KEY_REPLAY:
		options->replay = text;
		break;
	case KEY_MOST:
		options->most =
			(unsigned long)number(text, 1000000000, state);
		break;
	case 'j':
		options->jobs = number(text, RR_MATRIX_JOBS_MAX, state);
		break;
	case KEY_REDIS_SERVER:
		options->redis_server = text;
		break;
	case ARGP_KEY_ARG:
		take_strategy(options, text, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[STRATEGY...]",
	.doc = "Searches all states of each strategy under each hazard, compares what breaks with what is expected, and prints a table.",
};

void rr_help_matrix(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace matrix");
}

void rr_matrix_options_parse(struct rr_matrix_options *options, int argc,
			     char **argv)
{
	*options = (struct rr_matrix_options){
		.print = rr_matrix_text,
		.jobs = rr_placement_count(),
		.redis_server = "redis-server",
	};
	if (options->jobs > RR_MATRIX_JOBS_MAX)
		options->jobs = RR_MATRIX_JOBS_MAX;
	argp_err_exit_status = RR_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
	if (!options->hazards)
		options->hazards = RR_ALL_HAZARDS;
	if (options->n_strategies == 0) {
		options->n_strategies = rr_n_strategies;
		memcpy(options->strategies, rr_strategies,
		       rr_n_strategies * sizeof(rr_strategies[0]));
	}
}

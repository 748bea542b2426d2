/* SPDX-License-Identifier: MIT */
#include "play_options.h"

#include <argp.h>

#include "commands.h"
#include "base/error.h"

enum { KEY_REDIS_SERVER = 0x100, KEY_ASCII, KEY_STEP };

static void take_race(struct rr_play_options *options, const char *text,
		      const struct argp_state *state)
{
	if (options->race)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': play takes one race", text);
	options->race = text;
}

static void take_format(struct rr_play_options *options, const char *text,
			const struct argp_state *state)
{
	if (!rr_draw_format(text, &options->format))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--format '%s': expected text, mermaid, svg, html or json",
			     text);
}

static void check(const struct rr_play_options *options,
		  const struct argp_state *state)
{
	const char *name = options->step ? "step" : "interactive";

	if ((options->step || options->rehearsal.interactive) &&
	    (options->format != RR_FORMAT_TEXT || options->output))
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "--%s is for the terminal: it takes neither --format nor --output",
			     name);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rr_play_options *options = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &options->rehearsal;
	else if (key == KEY_REDIS_SERVER)
		options->redis_server = text;
	else if (key == KEY_ASCII)
		options->ascii = true;
	else if (key == KEY_STEP)
		options->step = true;
	else if (key == 'f')
		take_format(options, text, state);
	else if (key == 'o')
		options->output = text;
	else if (key == ARGP_KEY_ARG)
		take_race(options, text, state);
	else if (key == ARGP_KEY_NO_ARGS)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "play what? 'redrace list' shows the races");
	else if (key == ARGP_KEY_SUCCESS)
		check(options, state);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "format", 'f', "FORMAT", 0,
	  "text (default), mermaid, svg, html or json", 0 },
	{ "output", 'o', "FILE", 0, "write to FILE instead of stdout", 0 },
	{ "step", KEY_STEP, NULL, 0,
	  "wait before each step and ask what its reply will be", 0 },
	{ "ascii", KEY_ASCII, NULL, 0, "draw with plain characters", 0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

static const struct argp_child children[] = {
	{ .argp = &rr_rehearse_argp }, { 0 }
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.children = children,
	.args_doc = "RACE|FILE|STRATEGY",
	.doc = "Plays a race on real servers, one step after another, and draws it.",
};

void rr_help_play(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace play");
}

void rr_play_options_parse(struct rr_play_options *options, int argc,
			   char **argv)
{
	*options = (struct rr_play_options){ .redis_server = "redis-server" };
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

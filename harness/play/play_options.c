/* SPDX-License-Identifier: MIT */
#include "play_options.h"

#include "base/option.h"

#define AT(field) offsetof(struct rr_play_options, field)

static bool take_race(void *into, char *text, struct rr_error *error)
{
	struct rr_play_options *options = into;

	if (options->race)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "'%s': play takes one race", text);
	options->race = text;
	return true;
}

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_FORMAT,
	  .help = "text, mermaid, svg, html, json or race: what was played, to play it again (by the suffix of FILE; else text)",
	  .at = AT(format), .words = rr_format_names, .n_words = RR_FORMATS },
	{ .common = RR_OPTION_OUTPUT, .at = AT(output) },
	{ .name = "step",
	  .help = "wait before each step and ask what its reply will be",
	  .kind = RR_TAKES_NOTHING, .at = AT(step) },
	{ .name = "ascii", .help = "draw with plain characters",
	  .kind = RR_TAKES_NOTHING, .at = AT(ascii) },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
	{ .help = "With a strategy:" },
	{ .name = "schedule", .argument = "WORDS",
	  .help = "who goes next: A:GET (A's next command, which must be a GET), A, A', A:sleep, tick:10s, crash:A, pause:A:11s, lose-reply:A, restart:n1; the rest is played client after client",
	  .kind = RR_TAKES_TEXT, .at = AT(guided.schedule) },
	{ .name = "stop", .help = "end with the schedule",
	  .kind = RR_TAKES_NOTHING, .at = AT(guided.stops) },
	{ .name = "interactive", .help = "you say who goes next, key by key",
	  .kind = RR_TAKES_NOTHING, .at = AT(guided.interactive) },
	{ .common = RR_OPTION_CLIENTS, .help = "A, B, ... (2)",
	  .at = AT(guided.setup.n_clients), .min = 1, .max = RR_GUIDED_CLIENTS },
	{ .common = RR_OPTION_INCREMENTS, .at = AT(guided.setup.increments),
	  .min = 1, .max = RR_INCREMENTS_MAX },
	{ .name = "one-process",
	  .help = "clients are threads of one process: they share its mutex and its crash",
	  .kind = RR_TAKES_NOTHING, .at = AT(guided.setup.one_process) },
	{ .common = RR_OPTION_SAVE,
	  .help = "write down what happened, for 'redrace play FILE'",
	  .at = AT(guided.save) },
};

/* ---- What goes together ------------------------------------------------ */

/* What is wrong with them for a strategy; NULL = nothing. */
static const char *find_conflict(const struct rr_play_options *options)
{
	const struct rr_guided_options *guided = &options->guided;

	if (options->step)
		return "--step is for races; with a strategy it is --interactive";
	if (guided->interactive && (guided->schedule || guided->stops))
		return "--interactive is your own schedule: it takes neither --schedule nor --stop";
	if (guided->interactive && guided->save)
		return "--interactive saves when you press s: it takes no --save";
	if (guided->stops && !guided->schedule)
		return "--stop needs a --schedule";
	return NULL;
}

static bool check_race(const struct rr_play_options *options,
		       struct rr_error *error)
{
	const struct rr_guided_options *guided = &options->guided;
	const struct rr_guided_setup *setup = &guided->setup;

	if (!guided->schedule && !guided->save && !guided->stops &&
	    !guided->interactive && !setup->one_process &&
	    !setup->n_clients && !setup->increments)
		return true;
	return rr_error_set(error, RR_ERROR_USAGE,
			    "'%s' is no strategy: --schedule, --interactive and their like need one; 'redrace list' shows them",
			    options->race);
}

/* By --format, or by the suffix of the file. */
static bool pick_format(struct rr_play_options *options, struct rr_error *error)
{
	if (options->format != RR_FORMATS)
		return true;
	options->format = RR_FORMAT_TEXT;
	return !options->output ||
	       rr_format_of_file(options->output, &options->format) ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "--output '%s': expected .txt, .svg, .html, .json, .mmd, .mermaid or .race at its end, or a --format",
			    options->output);
}

static bool check_options(void *into, struct rr_error *error)
{
	struct rr_play_options *options = into;
	struct rr_guided_setup *setup = &options->guided.setup;
	const char *conflict;

	if (!pick_format(options, error))
		return false;
	if ((options->step || options->guided.interactive) &&
	    (options->format != RR_FORMAT_TEXT || options->output))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--%s is for the terminal: it takes neither --format nor --output",
				    options->step ? "step" : "interactive");
	setup->strategy = rr_strategy_find(options->race);
	if (!setup->strategy)
		return check_race(options, error);
	if (!setup->n_clients)
		setup->n_clients = 2;
	if (!setup->increments)
		setup->increments = 1;
	conflict = find_conflict(options);
	return !conflict ||
	       rr_error_set(error, RR_ERROR_USAGE, "%s", conflict);
}

const struct rr_command_line rr_play_command_line = {
	.about = "Plays a race on real servers, one step after another, and draws it.",
	.arguments = "RACE|FILE|STRATEGY",
	.missing = "play what? 'redrace list' shows the races",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
	.take_argument = take_race,
	.check = check_options,
};

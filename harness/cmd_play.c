/* SPDX-License-Identifier: MIT */
/* redrace play: one race, step by step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "commands.h"
#include "draw/draw.h"
#include "play/play.h"
#include "race/race.h"
#include "report/report.h"

enum { NAMES_MAX = 1024 };

/* ---- What was asked for ------------------------------------------------- */

struct play_options {
	const char *race; /* or strategy: without "race:" */
	bool is_race;     /* it was named with "race:", as a race whose name is a strategy's */
	const char *redis_server;
	struct rr_outputs outputs;
	const char *command;                      /* that plays it again */
	const struct rr_counterpart *counterpart; /* NULL = none was played */
	const struct rr_race *counterpart_of;
	bool ascii;
	bool step;
	struct rr_guided_options guided;
};

#define AT(field) offsetof(struct play_options, field)

static bool take_race(void *into, char *text, struct rr_error *error)
{
	struct play_options *options = into;

	if (options->race)
		return rr_error_set(error, RR_ERROR_USAGE, "'%s': play takes one race", text);
	options->is_race = strncmp(text, "race:", strlen("race:")) == 0;
	options->race = text + (options->is_race ? strlen("race:") : 0);
	return true;
}

static const struct rr_option options_table[] = {
	{ .help = "Races and strategies" },
	{ .common = RR_OPTION_OUTPUT, .at = AT(outputs), .formats = RR_PICTURE_FORMATS },
	{ .common = RR_OPTION_FORMAT, .at = AT(outputs.printed), .formats = RR_PICTURE_FORMATS },
	{ .name = "ascii", .help = "draw with ASCII characters only", .at = AT(ascii) },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
	{ .help = "Only with a race" },
	{ .name = "step",
	  .help = "wait for a key before each step and ask what its reply will be; b goes back a step",
	  .at = AT(step) },
	{ .help = "Only with a strategy" },
	{ .common = RR_OPTION_CLIENTS,
	  .help = "number of clients, which are called A, B, ... (2)",
	  .at = AT(guided.setup.n_clients),
	  .max = RR_GUIDED_CLIENTS },
	{ .common = RR_OPTION_INCREMENTS_EACH,
	  .at = AT(guided.setup.increments),
	  .max = RR_INCREMENTS_MAX },
	{ .common = RR_OPTION_PROCESSES,
	  .help = "processes that the clients are in: 1, and they are threads of it, which share its mutex and its crash, or as many as clients (the default)",
	  .at = AT(guided.setup.processes),
	  .max = RR_GUIDED_CLIENTS },
	{ .name = "schedule",
	  .argument = "WORDS",
	  .help = "who goes next: A:GET (the next command of A, which must be a GET), A, A', A:sleep, tick:10s, crash:A, pause:A:11s, lose-reply:A, restart:n1; the rest is played client after client",
	  .at = AT(guided.schedule) },
	{ .name = "stop", .help = "end with the schedule", .at = AT(guided.stops) },
	{ .name = "interactive",
	  .help = "you are the scheduler: each key is a step",
	  .at = AT(guided.interactive) },
	{ .common = RR_OPTION_SAVE,
	  .help = "save the schedule as a race, for redrace play: what happened",
	  .at = AT(guided.save) },
};

/* ---- What goes together ------------------------------------------------- */

static bool check_race(const struct play_options *options, struct rr_error *error)
{
	const struct rr_guided_options *guided = &options->guided;
	const struct rr_guided_setup *setup = &guided->setup;

	if (!rr_library_has(options->race)) {
		/* It is no strategy, no race and no file. */
		const char *name = options->race;
		const char *names[NAMES_MAX], *nearest;
		size_t n = 0, n_races = 0;
		char **races;

		if (rr_ends_in(name, ".race"))
			return rr_error_set(error, RR_ERROR_USAGE, "cannot read '%.300s': %s", name,
					    strerror(ENOENT));
		races = rr_library_names(&n_races);
		for (; rr_strategy_name(n); n++)
			names[n] = rr_strategy_name(n);
		for (size_t i = 0; races && i < n_races && n < NAMES_MAX; i++)
			names[n++] = races[i];
		nearest = rr_nearest(name, names, n);
		rr_error_set(
			error, RR_ERROR_USAGE,
			nearest ?
				"no race, file or strategy '%.100s'; did you mean '%s'?" :
				"no race, file or strategy '%.100s'; 'redrace list' shows the races and strategies%s",
			name, nearest ? nearest : "");
		rr_files_free_list(races, n_races);
		return false;
	}
	if (!guided->schedule && !guided->save && !guided->stops && !guided->interactive &&
	    !setup->processes && !setup->n_clients && !setup->increments)
		return true;
	return rr_error_set(
		error, RR_ERROR_USAGE,
		"'%s' is not a strategy: --schedule, --interactive and their like need one; 'redrace list' shows them",
		options->race);
}

static bool check_play_options(void *into, struct rr_error *error)
{
	struct play_options *options = into;
	struct rr_guided_options *guided = &options->guided;
	struct rr_guided_setup *setup = &guided->setup;
	const char *conflict;

	if ((options->step || guided->interactive) &&
	    (options->outputs.printed != RR_FORMAT_TEXT || options->outputs.n))
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"--%s is for the terminal: it takes neither --format nor --output",
			options->step ? "step" : "interactive");
	setup->strategy = options->is_race ? NULL : rr_strategy_find(options->race);
	if (!setup->strategy)
		return check_race(options, error);
	if (!setup->n_clients)
		setup->n_clients = 2;
	if (!setup->increments)
		setup->increments = 1;
	if (setup->processes > 1 && (size_t)setup->processes != setup->n_clients)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "--processes %ld: expected 1, or %zu, as many as clients",
				    setup->processes, setup->n_clients);
	conflict =
		options->step ?
			"--step is for races; for a strategy there is --interactive" :
		guided->interactive && (guided->schedule || guided->stops) ?
			"with --interactive you make the schedule: leave out --schedule and --stop" :
		guided->interactive && guided->save ?
			"with --interactive the key s saves: leave out --save" :
		guided->stops && !guided->schedule ? "--stop needs a --schedule" :
						     NULL;
	return !conflict || rr_error_set(error, RR_ERROR_USAGE, "%s", conflict);
}

static const struct rr_command_line play_line = {
	.about =
		"Plays a race on real servers, step by step, checks every reply and draws what happens.\v"
		"The race is one of the project's ('redrace list --races'), a file in the language of redrace-race(5), or a strategy, whose own code runs as --schedule says or, with --interactive, as you say. A name that both have means the strategy; race:NAME means the race.",
	.arguments = "RACE|FILE|STRATEGY",
	.examples = "redrace play --step lost-update\n"
		    "redrace play --output race.svg overrun-delete\n"
		    "redrace play race:set-nx-ex\n"
		    "redrace play --schedule 'A:GET B:GET A:SET B:SET' none\n"
		    "redrace play --interactive set-nx-ex",
	.name_at = rr_strategy_name,
	.find_names = rr_library_names,
	.missing = "play what? 'redrace list' shows the races",
	RR_OPTIONS(options_table),
	.take_argument = take_race,
	.check = check_play_options,
};

/* ---- Drawing ------------------------------------------------------------ */

/* What is drawn, and how. */
struct drawing {
	const struct rr_trace *trace;
	const struct play_options *options;
};

static void draw_trace(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	const struct drawing *drawing = what;
	const struct play_options *options = drawing->options;
	struct rr_article article = { .id = "race", .command = options->command };
	struct rr_style style = { .ascii = options->ascii, .width = 80 };

	(void)error;
	if (options->counterpart)
		rr_counterpart_show(options->counterpart, options->counterpart_of, &article);
	if (out == stdout)
		style = rr_draw_style(stdout, options->ascii);
	style.article = &article;
	rr_draw(out, drawing->trace, format, &style);
}

/* ---- Playing ------------------------------------------------------------ */

/* What a race that was played comes to. */
static enum rr_exit show_trace(void *context, const struct rr_trace *trace)
{
	const struct play_options *options = context;
	const struct drawing drawing = { trace, options };
	struct rr_error error = { 0 };

	rr_outputs_write(&options->outputs, draw_trace, &drawing, &error);
	rr_draw_difference(stderr, trace);
	return rr_exit_worse(rr_report_error(&error),
			     trace->as_written ? RR_EXIT_OK : RR_EXIT_VIOLATED);
}

/* A page shows what is safe beside it. */
static enum rr_exit play_whole_race(const struct rr_race *race, struct rr_cluster *cluster,
				    const struct play_options *options, struct rr_error *error)
{
	struct play_options shown = *options;
	struct rr_counterpart counterpart = { 0 };
	struct rr_trace trace;
	enum rr_exit code = RR_EXIT_OK;

	shown.counterpart = &counterpart;
	shown.counterpart_of = race;
	if (rr_player_play(race, cluster, NULL, &trace, error) &&
	    (!rr_outputs_have(&options->outputs, RR_ONLY(RR_FORMAT_HTML)) ||
	     rr_counterpart_play(&counterpart, race, cluster, error)))
		code = show_trace(&shown, &trace);
	rr_counterpart_free(&counterpart);
	rr_trace_free(&trace);
	return code;
}

/* With servers for it; `race` is NULL when it is a strategy. */
static enum rr_exit play_on_servers(const struct rr_race *race, struct play_options *options,
				    struct rr_error *error)
{
	const struct rr_cluster_options servers = { .program = options->redis_server, .cpu = -1 };
	struct rr_workplace *place = rr_workplace_new(&servers, error);
	struct rr_cluster *cluster = place ? &place->cluster : NULL;
	enum rr_exit code;

	if (!place)
		return RR_EXIT_OK;
	if (!race)
		code = rr_play_strategy(&options->guided, cluster, show_trace, options, error);
	else if (options->step)
		code = rr_quiz_play(race, cluster, options->ascii, show_trace, options, error);
	else
		code = play_whole_race(race, cluster, options, error);
	rr_workplace_free(place);
	return code;
}

static enum rr_exit run_play(int argc, char **argv, struct rr_error *error)
{
	struct play_options options = { .redis_server = "redis-server" };
	char *whole = rr_shell_words(argc, argv), *command = NULL;
	struct rr_race *race = NULL;
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&play_line, &options, argc, argv);
	if (!options.guided.setup.strategy) {
		char *name = rr_asprintf("%s%s", options.is_race ? "race:" : "", options.race);

		command = rr_shell_words(2, (char *[]){ "redrace play", name });
		free(name);
		race = rr_library_open(options.race, error);
	}
	options.command = command ? command : whole;
	if (!error->kind)
		code = play_on_servers(race, &options, error);
	rr_race_free(race);
	free(command);
	free(whole);
	return code;
}

const struct rr_command rr_cmd_play = {
	.name = "play",
	.summary = "play one race, step by step, and draw it",
	.line = &play_line,
	.run = run_play,
};

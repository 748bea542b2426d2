/* SPDX-License-Identifier: MIT */
/* redrace play: one race, step by step. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "library.h"
#include "player.h"
#include "rehearse.h"

struct play_options {
	const char *race;
	const char *redis_server;
	struct rr_rehearse_options rehearsal;
};

enum { KEY_REDIS_SERVER = 0x100 };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct play_options *options = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = &options->rehearsal;
	else if (key == KEY_REDIS_SERVER)
		options->redis_server = text;
	else if (key == ARGP_KEY_ARG && !options->race)
		options->race = text;
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': play takes one race", text);
	else if (key == ARGP_KEY_NO_ARGS)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "play what? 'redrace list' shows the races");
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
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
	.doc = "Plays a race on real servers, one step after another, or a strategy's own code as a schedule says.",
};

void rr_help_play(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace play");
}

static void print_event(void *context, const struct rr_trace *trace,
			const struct rr_event *event)
{
	const struct rr_step *step = event->step;

	(void)context;
	printf("%3zu  %-3s %s%s%s%s%s%s%s\n", trace->n_events,
	       step->actor >= 0 ? trace->race->actors[step->actor].name : "",
	       event->command ? event->command : "",
	       step->kind == RR_STEP_NOTE ? step->text : "",
	       event->reply ? "  => " : "", event->reply ? event->reply : "",
	       event->differs ? "   EXPECTED " : "",
	       event->differs ? step->expected : "",
	       event->remark ? event->remark : "");
}

static enum rr_exit conclude(const struct rr_trace *trace)
{
	char verdict[300];

	rr_trace_verdict(trace, verdict, sizeof(verdict));
	printf("verdict: %s%s\n", verdict,
	       trace->as_written ? "" : "  (not as written)");
	return trace->as_written ? RR_EXIT_OK : RR_EXIT_VIOLATED;
}

static enum rr_exit show(void *context, const struct rr_trace *trace)
{
	struct rr_trace so_far = *trace;

	for (size_t i = 0; i < trace->n_events; i++) {
		so_far.n_events = i + 1;
		print_event(context, &so_far, &trace->events[i]);
	}
	return conclude(trace);
}

static enum rr_exit play(const struct rr_race *race, struct rr_world *world)
{
	const struct rr_audience audience = { .after = print_event };
	struct rr_trace trace = { 0 };
	enum rr_exit code = rr_player_play(race, world, &audience, &trace);

	if (trace.error[0])
		rr_complain(code, "%s", trace.error);
	if (code == RR_EXIT_OK)
		code = conclude(&trace);
	rr_trace_free(&trace);
	return code;
}

/* With servers for it; `race` is NULL when it is a strategy. */
static enum rr_exit stage(const struct rr_race *race,
			  const struct play_options *options)
{
	const struct rr_world_options world_options = {
		.program = options->redis_server,
		.cpu = -1,
	};
	char error[RR_WORLD_ERROR];
	struct rr_session session;
	struct rr_world world;
	enum rr_exit code = rr_session_open(&session);

	if (code != RR_EXIT_OK)
		return code;
	code = rr_world_open(&world, &session, &world_options, error);
	if (code != RR_EXIT_OK)
		rr_complain(code, "%s", error);
	else if (race)
		code = play(race, &world);
	else
		code = rr_rehearse(&options->rehearsal, &world, show, NULL);
	rr_world_close(&world);
	rr_session_close(&session);
	return code;
}

int rr_cmd_play(int argc, char **argv)
{
	struct play_options options = { .redis_server = "redis-server" };
	char error[600];
	struct rr_race *race = NULL;
	enum rr_exit code;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	code = rr_rehearse_take(&options.rehearsal, options.race);
	if (code != RR_EXIT_OK)
		return code;
	if (!options.rehearsal.setup.strategy)
		race = rr_library_open(options.race, error, sizeof(error));
	if (!race && !options.rehearsal.setup.strategy)
		return rr_complain(RR_EXIT_USAGE, "%s", error);
	code = stage(race, &options);
	rr_race_free(race);
	return rr_finish_output(code);
}

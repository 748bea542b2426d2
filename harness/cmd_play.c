/* SPDX-License-Identifier: MIT */
/* redrace play: one race, step by step. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "draw/draw.h"
#include "base/files.h"
#include "play/play.h"
#include "race/race.h"
#include "play/play_options.h"

/* ---- Drawing ------------------------------------------------------------------- */

static enum rr_exit draw_to_file(const struct rr_trace *trace,
				 const struct rr_play_options *options)
{
	const struct rr_style style = { .ascii = options->ascii, .width = 80 };
	struct rr_error error = { 0 };
	struct rr_draft draft;

	if (rr_draft_open(&draft, &error)) {
		if (!rr_draw(draft.out, trace, options->format, &style))
			rr_error_no_memory(&error);
		rr_draft_replace(&draft, options->output, &error);
	}
	return rr_report_error(&error);
}

static enum rr_exit draw(const struct rr_trace *trace,
			 const struct rr_play_options *options)
{
	const struct rr_style style = rr_draw_style(stdout, options->ascii);

	if (options->output)
		return draw_to_file(trace, options);
	if (rr_draw(stdout, trace, options->format, &style))
		return RR_EXIT_OK;
	return rr_complain(RR_EXIT_INTERNAL, "out of memory");
}

/* ---- Playing -------------------------------------------------------------------- */

/* What a race that was played comes to. */
static enum rr_exit show(const struct rr_trace *trace,
			 const struct rr_play_options *options)
{
	const enum rr_exit code = draw(trace, options);

	fflush(stdout);
	rr_draw_difference(stderr, trace);
	return rr_exit_worse(code, trace->as_written ? RR_EXIT_OK :
						       RR_EXIT_VIOLATED);
}

static enum rr_exit show_strategy(void *context, const struct rr_trace *trace)
{
	return show(trace, context);
}

static enum rr_exit play(const struct rr_race *race, struct rr_cluster *cluster,
			 const struct rr_play_options *options,
			 struct rr_error *error)
{
	struct rr_trace trace;
	enum rr_exit code = RR_EXIT_OK;

	if (rr_player_play(race, cluster, NULL, &trace, error))
		code = show(&trace, options);
	rr_trace_free(&trace);
	return code;
}

static enum rr_exit play_quiz(const struct rr_race *race,
			      struct rr_cluster *cluster,
			      const struct rr_play_options *options,
			      struct rr_error *error)
{
	struct rr_quiz quiz;
	const struct rr_listener listener = rr_quiz_listener(&quiz);
	enum rr_exit code = RR_EXIT_OK;
	struct rr_trace trace;

	rr_quiz_begin(&quiz, &cluster->session->signals, STDIN_FILENO);
	if (!rr_player_play(race, cluster, &listener, &trace, error)) {
		code = rr_exit_of(error->kind);
	} else if (cluster->session->signals.interrupted) {
		code = RR_EXIT_INTERRUPTED;
	} else if (!quiz.has_quit) {
		putchar('\n');
		code = show(&trace, options);
	}
	rr_quiz_score(&quiz);
	rr_trace_free(&trace);
	return code;
}

/* With servers for it; `race` is NULL when it is a strategy. */
static enum rr_exit stage(const struct rr_race *race,
			  struct rr_play_options *options,
			  struct rr_error *error)
{
	const struct rr_cluster_options cluster_options = {
		.program = options->redis_server,
		.cpu = -1,
	};
	struct rr_session session;
	struct rr_cluster cluster = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	if (!rr_session_open(&session, error) ||
	    !rr_cluster_open(&cluster, &session, &cluster_options, error))
		code = rr_exit_of(error->kind);
	else if (!race)
		code = rr_play_strategy(&options->guided, &cluster,
					show_strategy, options, error);
	else if (options->step)
		code = play_quiz(race, &cluster, options, error);
	else
		code = play(race, &cluster, options, error);
	rr_cluster_close(&cluster);
	rr_session_close(&session);
	return code;
}

static enum rr_exit run_play(int argc, char **argv, struct rr_error *error)
{
	struct rr_play_options options = { .redis_server = "redis-server",
					   .format = RR_FORMATS };
	struct rr_race *race = NULL;
	enum rr_exit code;

	rr_command_line_parse(&rr_play_command_line, &options, argc, argv);
	setlocale(LC_CTYPE, "");
	if (!options.guided.setup.strategy) {
		race = rr_library_open(options.race, error);
		if (!race)
			return RR_EXIT_OK;
	}
	code = stage(race, &options, error);
	rr_race_free(race);
	return code;
}

const struct rr_command rr_cmd_play = {
	.name = "play",
	.summary = "one race, step by step, drawn",
	.line = &rr_play_command_line,
	.run = run_play,
};

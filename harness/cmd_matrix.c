/* SPDX-License-Identifier: MIT */
/* redrace matrix: every strategy under every hazard. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/option.h"
#include "base/machine.h"
#include "commands.h"
#include "matrix/matrix.h"

enum { MATRIX_FORMATS = RR_RESULT_FORMATS | RR_ONLY(RR_FORMAT_MARKDOWN) | RR_ONLY(RR_FORMAT_HTML) };

struct matrix_options {
	struct rr_chosen_strategies strategies;
	unsigned hazards;
	unsigned long most; /* states of a cell, 0 = as in its bounds */
	struct rr_shard shard;
	struct rr_outputs outputs;
	const char *save;   /* a folder for transcripts, or NULL */
	const char *docs;   /* a folder for the whole matrix, or NULL */
	const char *replay; /* a folder: plays them and does nothing else */
	long jobs;
	const char *redis_server;
};

/* ---- Options ----------------------------------------------------------- */

static const char *hazard_name(size_t index)
{
	return index < RR_HAZARDS ? rr_hazard_texts[index].name : NULL;
}

static bool take_hazard(void *into, char *name, struct rr_error *error)
{
	struct matrix_options *options = into;
	size_t hazard;

	if (!rr_take_name("hazard", name, hazard_name, "see 'redrace help matrix'", &hazard, error))
		return false;
	options->hazards |= 1U << hazard;
	return true;
}

#define AT(field) offsetof(struct matrix_options, field)

static const struct rr_option options_table[] = {
	{ .help = "Cells" },
	{ .name = "hazard",
	  .argument = "NAME",
	  .help = "only this column: threads, processes, crash, slow-work, pause, lost-reply, restart or skew (all)",
	  .repeats = true,
	  .take = take_hazard,
	  .name_at = hazard_name },
	{ .common = RR_OPTION_MAX_STATES,
	  .help = "stop after N states, in each cell",
	  .at = AT(most) },
	{ .common = RR_OPTION_JOBS, .at = AT(jobs) },
	{ .common = RR_OPTION_SHARD, .at = AT(shard) },
	{ .common = RR_OPTION_TIMES, .at = AT(shard.times) },
	{ .common = RR_OPTION_REPLAY,
	  .argument = "DIR",
	  .help = "only play what --save has written: the transcripts in DIR, and compare",
	  .at = AT(replay) },
	{ .help = "Output" },
	{ .common = RR_OPTION_OUTPUT, .at = AT(outputs), .formats = MATRIX_FORMATS },
	{ .common = RR_OPTION_FORMAT, .at = AT(outputs.printed), .formats = MATRIX_FORMATS },
	{ .common = RR_OPTION_SAVE,
	  .argument = "DIR",
	  .help = "save the schedule as a race, for redrace play: that of each failing cell, in DIR",
	  .at = AT(save) },
	{ .common = RR_OPTION_DOCS,
	  .help = "also write the document of all: DIR/matrix.md and the transcripts in DIR/matrix/, if the whole matrix is computed",
	  .at = AT(docs) },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
};

/* What was left out. */
static bool complete_options(void *into, struct rr_error *error)
{
	struct matrix_options *options = into;

	(void)error;
	if (!options->hazards)
		options->hazards = RR_ALL_HAZARDS;
	if (options->strategies.n == 0) {
		options->strategies.n = rr_n_strategies;
		memcpy(options->strategies.all, rr_strategies,
		       rr_n_strategies * sizeof(rr_strategies[0]));
	}
	return true;
}

static const struct rr_command_line command_line = {
	.about =
		"Searches all states of each strategy under each hazard, compares what breaks with what is expected, and prints a table.\v"
		"The hazards are several threads, several processes, a crash, work that takes longer than the lease, a pause longer than the lease, a lost reply, a lock server that restarts empty, and clocks that differ.",
	.arguments = "[STRATEGY...]",
	.examples = "redrace matrix --hazard pause fenced lua-renewed\n"
		    "redrace matrix --format html > matrix.html",
	.name_at = rr_strategy_name,
	RR_OPTIONS(options_table),
	.take_argument = rr_take_strategy,
	.check = complete_options,
};

/* ---- Files ------------------------------------------------------------- */

static void print_matrix(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	(void)error;
	if (format == RR_FORMAT_MARKDOWN)
		rr_matrix_markdown(what, out);
	else if (format == RR_FORMAT_HTML)
		rr_matrix_html(what, out);
	else
		rr_matrix_text(what, out);
}

static enum rr_exit publish_matrix(const struct rr_matrix *matrix,
				   const struct matrix_options *options,
				   const struct rr_error *broken_off)
{
	struct rr_error error = { 0 };
	struct rr_cases cases;

	rr_matrix_as_cases(matrix, &cases);
	cases.is_called_off = broken_off->kind == RR_ERROR_INTERRUPTED;
	if (options->shard.of)
		rr_shard_note(&options->shard, &cases,
			      json_pack("{s:I}", "max_states", (json_int_t)matrix->most),
			      rr_exit_worse(rr_matrix_exit(matrix), rr_exit_of(broken_off->kind)));
	rr_cases_publish(&cases, &options->outputs, print_matrix, matrix, &error);
	rr_cases_release(&cases);

	/* What is in no way the strategies' doing is said once, by its first cell. */
	size_t n;
	const struct rr_cell *cell = rr_matrix_failed(matrix, &n);

	if (cell)
		rr_complain(cell->code, "%zu %s could not be computed: %s, %s: %s", n,
			    n == 1 ? "cell" : "cells", cell->strategy->name,
			    rr_hazard_texts[cell->hazard].title, cell->result.error.text);
	return rr_report_error(&error);
}

/* A part must not take the place of the whole. */
static void write_matrix_docs(const char *folder, const struct rr_matrix *matrix,
			      struct rr_error *error)
{
	char document[RR_PATH_SIZE], transcripts[RR_PATH_SIZE];
	struct rr_draft draft;
	const char *why;

	snprintf(document, sizeof(document), "%s/matrix.md", folder);
	snprintf(transcripts, sizeof(transcripts), "%s/matrix", folder);
	if (!rr_matrix_is_whole(matrix, &why)) {
		rr_complain(RR_EXIT_OK, "computed only %s: %s and %s/ stay as they are", why,
			    document, transcripts);
		return;
	}
	if (!rr_matrix_save(matrix, transcripts, error))
		return;
	rr_draft_open(&draft);
	rr_matrix_markdown(matrix, draft.out);
	rr_draft_replace(&draft, document, error);
}

/* ---- The whole --------------------------------------------------------- */

static enum rr_exit run_matrix(int argc, char **argv, struct rr_error *error)
{
	struct matrix_options options = {
		.jobs = rr_placement_count(),
		.redis_server = "redis-server",
	};
	struct rr_error unsaved = { 0 }, unwritten = { 0 };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_signals signals;
	struct rr_matrix matrix;

	rr_command_line_parse(&command_line, &options, argc, argv);
	const struct rr_cluster_options servers = {
		.program = options.redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	if (options.replay) {
		struct rr_workplace *place = rr_workplace_new(&servers, error);

		if (place)
			code = rr_matrix_replay(options.replay, &place->cluster, error);
		rr_workplace_free(place);
		return code;
	}
	if (!rr_signals_open(&signals))
		return rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
	rr_matrix_init(&matrix, options.strategies.all, options.strategies.n, options.hazards,
		       options.most);
	if (rr_matrix_deal(&matrix, &options.shard, error)) {
		rr_matrix_run(&matrix, &servers, (int)options.jobs, &signals, error);
		code = publish_matrix(&matrix, &options, error);
		if (error->kind != RR_ERROR_INTERRUPTED) {
			code = rr_exit_worse(code, rr_matrix_exit(&matrix));
			if (options.save)
				rr_matrix_save(&matrix, options.save, &unsaved);
			if (options.docs)
				write_matrix_docs(options.docs, &matrix, &unwritten);
			code = rr_exit_worse(code, rr_report_error(&unsaved));
			code = rr_exit_worse(code, rr_report_error(&unwritten));
		}
	}
	rr_matrix_release(&matrix);
	rr_signals_close(&signals);
	rr_shard_release(&options.shard);
	return code;
}

const struct rr_command rr_cmd_matrix = {
	.name = "matrix",
	.summary = "compute the safety matrix: every strategy under every hazard",
	.line = &command_line,
	.run = run_matrix,
};

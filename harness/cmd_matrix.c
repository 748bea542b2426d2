/* SPDX-License-Identifier: MIT */
/* redrace matrix: every strategy under every hazard. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/option.h"
#include "base/machine.h"
#include "base/pool.h"
#include "commands.h"
#include "matrix/matrix.h"

enum { STRATEGIES_MAX = 64, OUTPUTS_MAX = 8 };

struct output {
	const char *path;
	rr_matrix_print *print;
};

struct matrix_options {
	size_t n_strategies;
	const struct rr_strategy *strategies[STRATEGIES_MAX];
	unsigned hazards;
	unsigned long most;     /* states of a cell, 0 = as in its bounds */
	rr_matrix_print *print; /* to standard output */
	size_t n_outputs;
	struct output outputs[OUTPUTS_MAX];
	const char *save;   /* a folder for transcripts, or NULL */
	const char *docs;   /* a folder for the whole matrix, or NULL */
	const char *replay; /* a folder: plays them and does nothing else */
	long jobs;
	const char *redis_server;
};

/* ---- Options ---------------------------------------------------------------- */

enum {
	KEY_HAZARD = 0x100,
	KEY_FORMAT,
	KEY_SAVE,
	KEY_DOCS,
	KEY_REPLAY,
	KEY_MOST,
	KEY_REDIS_SERVER
};

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
	{ "docs", KEY_DOCS, "DIR", 0,
	  "write DIR/matrix.md and its transcripts, DIR/matrix/, if the whole matrix is computed and not only a part",
	  0 },
	{ "replay", KEY_REPLAY, "DIR", 0,
	  "only play the transcripts saved there, and compare", 0 },
	{ "most", KEY_MOST, "N", 0, "no more states than that in a cell", 0 },
	{ "jobs", 'j', "N", 0, "so many at once: 1 to 64 (the processors)",
	  0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

static void take_strategy(struct matrix_options *options, const char *name,
			  struct argp_state *state)
{
	const struct rr_strategy *strategy = rr_option_strategy(state, name);

	for (size_t i = 0; i < options->n_strategies; i++) {
		if (options->strategies[i] == strategy)
			return;
	}
	if (options->n_strategies == STRATEGIES_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many strategies");
	options->strategies[options->n_strategies++] = strategy;
}

static void take_hazard(struct matrix_options *options, const char *name,
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

static void take_format(struct matrix_options *options, const char *name,
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

static void take_output(struct matrix_options *options, const char *path,
			struct argp_state *state)
{
	const char *suffix = strrchr(path, '.');

	if (options->n_outputs == OUTPUTS_MAX)
		argp_failure(state, RR_EXIT_USAGE, 0, "too many outputs");
	for (size_t i = 0; suffix && i < N_FORMATS; i++) {
		if (strcmp(suffix, formats[i].suffix) != 0)
			continue;
		options->outputs[options->n_outputs++] =
			(struct output){ path, formats[i].print };
		return;
	}
	argp_failure(state, RR_EXIT_USAGE, 0,
		     "--output '%s': expected a name ending in .txt, .md, .json or .html",
		     path);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct matrix_options *options = state->input;

	if (key == KEY_HAZARD)
		take_hazard(options, text, state);
	else if (key == KEY_FORMAT)
		take_format(options, text, state);
	else if (key == 'o')
		take_output(options, text, state);
	else if (key == KEY_SAVE)
		options->save = text;
	else if (key == KEY_DOCS)
		options->docs = text;
	else if (key == KEY_REPLAY)
		options->replay = text;
	else if (key == KEY_MOST)
		options->most = (unsigned long)rr_option_number(
			state, "--most", text, 1, 1000000000);
	else if (key == 'j')
		options->jobs = rr_option_number(state, "--jobs", text, 1,
						 RR_POOL_WORKERS_MAX);
	else if (key == KEY_REDIS_SERVER)
		options->redis_server = text;
	else if (key == ARGP_KEY_ARG)
		take_strategy(options, text, state);
	else
		return ARGP_ERR_UNKNOWN;
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

static void parse_options(struct matrix_options *options, int argc, char **argv)
{
	*options = (struct matrix_options){
		.print = rr_matrix_text,
		.jobs = rr_placement_count(),
		.redis_server = "redis-server",
	};
	if (options->jobs > RR_POOL_WORKERS_MAX)
		options->jobs = RR_POOL_WORKERS_MAX;
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

/* ---- Files ------------------------------------------------------------------- */

static enum rr_exit write_file(const char *path, rr_matrix_print *print,
			       const struct rr_matrix *matrix)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	struct rr_error error = { 0 };

	if (!file)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	print(matrix, file);
	if (fclose(file) == 0)
		rr_files_replace(path, text, length, &error);
	else
		rr_error_no_memory(&error);
	free(text);
	return rr_report_error(&error);
}

/* A part must not take the place of the whole. */
static enum rr_exit write_docs(const char *folder,
			       const struct rr_matrix *matrix)
{
	char document[RR_PATH_SIZE], transcripts[RR_PATH_SIZE];
	const char *why;
	enum rr_exit code;

	snprintf(document, sizeof(document), "%s/matrix.md", folder);
	snprintf(transcripts, sizeof(transcripts), "%s/matrix", folder);
	if (!rr_matrix_is_whole(matrix, &why)) {
		fprintf(stderr,
			"redrace: computed only %s: %s and %s/ stay as they are\n",
			why, document, transcripts);
		return RR_EXIT_OK;
	}
	code = rr_matrix_save(matrix, transcripts);
	if (code == RR_EXIT_OK)
		code = write_file(document, rr_matrix_markdown, matrix);
	return code;
}

static enum rr_exit write_files(const struct matrix_options *options,
				const struct rr_matrix *matrix)
{
	enum rr_exit code = RR_EXIT_OK;

	if (options->save)
		code = rr_matrix_save(matrix, options->save);
	for (size_t i = 0; i < options->n_outputs; i++)
		code = rr_exit_worse(code,
				     write_file(options->outputs[i].path,
						options->outputs[i].print,
						matrix));
	if (options->docs)
		code = rr_exit_worse(code, write_docs(options->docs, matrix));
	return code;
}

/* ---- The whole ---------------------------------------------------------------- */

/* One that was called off is shown, and replaces no file. */
static enum rr_exit compute(const struct matrix_options *options,
			    const struct rr_cluster_options *servers,
			    struct rr_signals *signals, struct rr_error *error)
{
	struct rr_matrix matrix;
	enum rr_exit code = RR_EXIT_OK;

	if (!rr_matrix_init(&matrix, options->strategies,
			    options->n_strategies, options->hazards,
			    options->most)) {
		rr_error_no_memory(error);
		return RR_EXIT_INTERNAL;
	}
	rr_matrix_run(&matrix, servers, (int)options->jobs, signals, error);
	options->print(&matrix, stdout);
	if (error->kind != RR_ERROR_INTERRUPTED)
		code = rr_exit_worse(rr_matrix_exit(&matrix),
				     write_files(options, &matrix));
	rr_matrix_release(&matrix);
	return code;
}

static enum rr_exit replay(const char *folder,
			   const struct rr_cluster_options *servers,
			   struct rr_error *error)
{
	struct rr_session session;
	struct rr_cluster cluster = { 0 };
	enum rr_exit code = RR_EXIT_OK;

	if (rr_session_open(&session, error) &&
	    rr_cluster_open(&cluster, &session, servers, error))
		code = rr_matrix_replay(folder, &cluster);
	rr_cluster_close(&cluster);
	rr_session_close(&session);
	return code;
}

enum rr_exit rr_cmd_matrix(int argc, char **argv, struct rr_error *error)
{
	struct matrix_options options;
	struct rr_signals signals;
	enum rr_exit code;

	parse_options(&options, argc, argv);
	const struct rr_cluster_options servers = {
		.program = options.redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	if (options.replay)
		return replay(options.replay, &servers, error);
	if (!rr_signals_open(&signals))
		return rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
	code = compute(&options, &servers, &signals, error);
	rr_signals_close(&signals);
	return code;
}

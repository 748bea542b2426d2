/* SPDX-License-Identifier: MIT */
/* redrace claims: what the documents claim, each checked by its races. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/option.h"
#include "base/pool.h"
#include "claims/claims.h"

static const struct {
	const char *name;
	rr_claims_print *print;
} formats[] = {
	{ "text", rr_claims_text },   { "markdown", rr_claims_markdown },
	{ "json", rr_claims_json },   { "junit", rr_claims_junit },
	{ "tap", rr_claims_tap },
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]),
       KEY_REDIS_SERVER = 0x100, KEY_ONLY, KEY_FORMAT, KEY_DOCS };

struct claims_options {
	struct rr_claims_choice choice;
	size_t format;
	const char *output; /* NULL = standard output */
	const char *docs;   /* a folder for the whole table, or NULL */
	const char *redis_server;
	long jobs;
};

/* ---- Options -------------------------------------------------------------------- */

static void take_format(struct claims_options *options, const char *text,
			struct argp_state *state)
{
	for (size_t i = 0; i < N_FORMATS; i++) {
		if (strcmp(text, formats[i].name) == 0) {
			options->format = i;
			return;
		}
	}
	argp_failure(state, RR_EXIT_USAGE, 0,
		     "no format '%s': text, markdown, json, junit or tap",
		     text);
}

static void take_claim(struct claims_options *options, const char *id,
		       struct argp_state *state)
{
	const struct rr_claim *claim = rr_claim_find(id);
	const struct rr_claim **more;

	if (!claim)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "there is no claim '%s'; 'redrace claims' shows them",
			     id);
	if (!claim || (options->choice.n && rr_claims_chosen(&options->choice,
							     claim)))
		return;
	more = realloc(options->choice.claims,
		       (options->choice.n + 1) * sizeof(*more));
	if (!more)
		argp_failure(state, RR_EXIT_INTERNAL, 0, "out of memory");
	more[options->choice.n++] = claim;
	options->choice.claims = more;
}

static void take_claims(struct claims_options *options, char *text,
			struct argp_state *state)
{
	char *rest = NULL;
	const char *id = strtok_r(text, ",", &rest);

	if (!id)
		argp_failure(state, RR_EXIT_USAGE, 0, "--only what?");
	for (; id; id = strtok_r(NULL, ",", &rest))
		take_claim(options, id, state);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct claims_options *options = state->input;

	if (key == KEY_REDIS_SERVER)
		options->redis_server = text;
	else if (key == KEY_FORMAT)
		take_format(options, text, state);
	else if (key == KEY_ONLY)
		take_claims(options, text, state);
	else if (key == 'o')
		options->output = text;
	else if (key == KEY_DOCS)
		options->docs = text;
	else if (key == 'j')
		options->jobs = rr_option_number(state, "--jobs", text, 1,
						 RR_POOL_WORKERS_MAX);
	else if (key == ARGP_KEY_ARG)
		argp_failure(state, RR_EXIT_USAGE, 0,
			     "'%s': takes options only, no arguments", text);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ "only", KEY_ONLY, "ID,...", 0, "these claims (all)", 0 },
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "text, markdown, json, junit or tap (text)", 0 },
	{ "output", 'o', "FILE", 0, "write to a file instead", 0 },
	{ "docs", KEY_DOCS, "DIR", 0,
	  "write DIR/claims.md as well, if all claims are checked and not only some",
	  0 },
	{ "jobs", 'j', "N", 0, "so many at once: 1 to 64 (the processors)",
	  0 },
	{ "redis-server", KEY_REDIS_SERVER, "PATH", 0,
	  "program for private servers (redis-server)", 0 },
	{ 0 },
};

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.doc = "Plays the races of every claim of the documents, computes what is true of it, and compares that with what is recorded.",
};

void rr_help_claims(void)
{
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, "redrace claims");
}

/* ---- Output ------------------------------------------------------------------------ */

static enum rr_exit write_file(const char *path, rr_claims_print *print,
			       const struct rr_claim_rows *rows)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	struct rr_error error = { 0 };

	if (!file)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	print(rows, file);
	fclose(file);
	if (rr_files_replace(path, text, length, &error)) {
		fprintf(stderr, "%s: ", path);
		rr_claim_rows_summarise(rows, stderr);
		fputc('\n', stderr);
	}
	free(text);
	return rr_report_error(&error);
}

/* A part must not take the place of the whole. */
static enum rr_exit write_docs(const struct claims_options *options,
			       const struct rr_claim_rows *rows)
{
	char path[RR_PATH_SIZE];
	const bool is_whole = !options->choice.n && !rows->counts[RR_FAILED] &&
			      !rows->counts[RR_UNFINISHED];

	snprintf(path, sizeof(path), "%s/claims.md", options->docs);
	if (is_whole)
		return write_file(path, rr_claims_markdown, rows);
	fprintf(stderr,
		"redrace: checked only some of the claims: %s stays as it is\n",
		path);
	return RR_EXIT_OK;
}

/* A race that cannot be read belongs to no row. */
static enum rr_exit complain_of_files(const struct rr_jobs *jobs)
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < jobs->n; i++) {
		const struct rr_job *job = &jobs->jobs[i];

		if (!job->race && !job->measure)
			code = rr_complain(job->result.code, "%s",
					   job->result.text);
	}
	return code;
}

/* What is in no way the claims' doing is said once, by its first case. */
static void complain_of_failures(const struct rr_claim_rows *rows)
{
	const struct rr_claim_row *row = rows->rows;

	if (rows->counts[RR_FAILED] == 0)
		return;
	while (row->standing != RR_FAILED)
		row++;
	rr_complain(row->code, "%zu of %zu claims could not be checked: %s: %s",
		    rows->counts[RR_FAILED], rows->n, row->claim->id,
		    row->problem);
}

/* Rows of a run that was called off are shown, and replace no file. */
static enum rr_exit report(const struct claims_options *options,
			   const struct rr_jobs *jobs, bool is_called_off)
{
	rr_claims_print *print = formats[options->format].print;
	enum rr_exit code = RR_EXIT_OK;
	struct rr_claim_rows rows;

	if (!rr_judge(&rows, jobs, &options->choice))
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	if (!options->output)
		print(&rows, stdout);
	else if (!is_called_off)
		code = write_file(options->output, print, &rows);
	if (options->docs && !is_called_off)
		code = rr_exit_worse(code, write_docs(options, &rows));
	fflush(stdout);
	complain_of_failures(&rows);
	code = rr_exit_worse(code, rr_claim_rows_exit(&rows));
	rr_claim_rows_free(&rows);
	return code;
}

/* ---- The whole ----------------------------------------------------------------------- */

static enum rr_exit check_claims(const struct claims_options *options,
				 struct rr_signals *signals,
				 struct rr_error *error)
{
	struct rr_jobs jobs;
	enum rr_exit code;

	if (!rr_jobs_collect(&jobs, options->redis_server, &options->choice)) {
		rr_error_no_memory(error);
		return RR_EXIT_OK;
	}
	code = complain_of_files(&jobs);
	rr_jobs_run(&jobs, (int)options->jobs, signals, error);
	code = rr_exit_worse(code, report(options, &jobs,
					  signals->interrupted));
	rr_jobs_free(&jobs);
	return signals->interrupted ? RR_EXIT_OK : code;
}

enum rr_exit rr_cmd_claims(int argc, char **argv, struct rr_error *error)
{
	struct claims_options options = {
		.redis_server = "redis-server",
		.jobs = rr_placement_count(),
	};
	struct rr_signals signals;
	enum rr_exit code;

	if (options.jobs > RR_POOL_WORKERS_MAX)
		options.jobs = RR_POOL_WORKERS_MAX;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!rr_signals_open(&signals))
		return rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
	code = check_claims(&options, &signals, error);
	rr_signals_close(&signals);
	free(options.choice.claims);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* redrace claims: what the documents claim, each checked by its races. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "base/array.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/option.h"
#include "claims/claims.h"

enum { CLAIMS_FORMATS = RR_RESULT_FORMATS | RR_ONLY(RR_FORMAT_MARKDOWN) | RR_ONLY(RR_FORMAT_HTML) };

struct claims_options {
	struct rr_claims_choice choice;
	struct rr_outputs outputs;
	const char *docs; /* a folder for the whole table, or NULL */
	const char *redis_server;
	long jobs;
};

/* ---- Options ----------------------------------------------------------- */

static const char *claim_name(size_t index)
{
	const struct rr_claim *claim = rr_claim_at(index);

	return claim ? claim->id : NULL;
}

static bool take_claims(void *into, char *text, struct rr_error *error)
{
	struct rr_claims_choice *choice = &((struct claims_options *)into)->choice;
	char *rest = NULL;
	const char *id = strtok_r(text, ",", &rest);

	if (!id)
		return rr_error_set(error, RR_ERROR_USAGE, "'%s': no claim is named", text);
	for (; id; id = strtok_r(NULL, ",", &rest)) {
		const struct rr_claim *claim = rr_claim_find(id);

		if (!claim)
			return rr_refuse_name("claim", id, claim_name,
					      "'redrace claims' shows them", error);
		if (choice->n && rr_claims_chosen(choice, claim))
			continue;
		rr_array_grow(&choice->claims, choice->n, sizeof(claim));
		choice->claims[choice->n++] = claim;
	}
	return true;
}

#define AT(field) offsetof(struct claims_options, field)

static const struct rr_option options_table[] = {
	{ .help = "Claims" },
	{ .common = RR_OPTION_JOBS, .at = AT(jobs) },
	{ .common = RR_OPTION_SHARD, .at = AT(choice.shard) },
	{ .common = RR_OPTION_TIMES, .at = AT(choice.shard.times) },
	{ .help = "Output" },
	{ .common = RR_OPTION_OUTPUT, .at = AT(outputs), .formats = CLAIMS_FORMATS },
	{ .common = RR_OPTION_FORMAT, .at = AT(outputs.printed), .formats = CLAIMS_FORMATS },
	{ .common = RR_OPTION_DOCS,
	  .help = "also write the document of all: DIR/claims.md, if all claims are checked",
	  .at = AT(docs) },
	{ .help = "Servers" },
	{ .common = RR_OPTION_REDIS_SERVER, .at = AT(redis_server) },
};

static const struct rr_command_line command_line = {
	.about =
		"Plays the races of every claim of the documents, computes how true the claim is, and compares that with what is recorded. Without a CLAIM, such as TL-7, or several, such as TL-7,TX-2, it does so of all.",
	.arguments = "[CLAIM...]",
	.examples = "redrace claims TL-7\n"
		    "redrace claims --format junit --output claims.xml",
	RR_OPTIONS(options_table),
	.take_argument = take_claims,
	.name_at = claim_name,
};

/* ---- Output ------------------------------------------------------------ */

static void print_claims(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	(void)error;
	if (format == RR_FORMAT_MARKDOWN)
		rr_claims_markdown(what, out);
	else if (format == RR_FORMAT_HTML)
		rr_claims_html(what, out);
	else
		rr_claims_text(what, out);
}

/* A part must not take the place of the whole. */
static enum rr_exit write_claims_docs(const struct claims_options *options,
				      const struct rr_claim_rows *rows)
{
	char path[RR_PATH_SIZE];
	struct rr_error error = { 0 };
	struct rr_draft draft;

	snprintf(path, sizeof(path), "%s/claims.md", options->docs);
	if (options->choice.n || options->choice.shard.of || rows->counts[RR_NOT_PLAYED] ||
	    rows->counts[RR_UNFINISHED])
		return rr_complain(RR_EXIT_OK, "checked only some of the claims: %s stays as it is",
				   path);
	rr_draft_open(&draft);
	rr_claims_markdown(rows, draft.out);
	if (rr_draft_replace(&draft, path, &error)) {
		fprintf(stderr, "%s: ", path);
		rr_claim_rows_summarise(rows, stderr);
		fputc('\n', stderr);
	}
	return rr_report_error(&error);
}

static enum rr_exit report_claims(const struct claims_options *options, const struct rr_jobs *jobs,
				  double seconds, bool is_called_off)
{
	enum rr_exit code = RR_EXIT_OK;
	struct rr_claim_rows rows;

	rr_judge(&rows, jobs, &options->choice);

	struct rr_error error = { 0 };
	struct rr_cases cases;

	rr_claim_rows_as_cases(&rows, &cases);
	cases.seconds = seconds;
	cases.is_called_off = is_called_off;
	if (options->choice.shard.of)
		rr_shard_note(&options->choice.shard, &cases, json_object(),
			      rr_claim_rows_exit(&rows));
	rr_cases_publish(&cases, &options->outputs, print_claims, &rows, &error);
	rr_cases_release(&cases);
	code = rr_report_error(&error);
	if (options->docs && !is_called_off)
		code = rr_exit_worse(code, write_claims_docs(options, &rows));
	fflush(stdout);

	/* What is in no way the claims' doing is said once, by its first case. */
	const struct rr_claim_row *row = rows.rows;

	if (rows.counts[RR_NOT_PLAYED] != 0) {
		while (row->standing != RR_NOT_PLAYED)
			row++;
		rr_complain(row->code, "%zu of %zu claims could not be checked: %s: %s",
			    rows.counts[RR_NOT_PLAYED], rows.n, row->claim->id, row->problem);
	}
	code = rr_exit_worse(code, rr_claim_rows_exit(&rows));
	rr_claim_rows_free(&rows);
	return code;
}

/* ---- The whole --------------------------------------------------------- */

static enum rr_exit run_claims(int argc, char **argv, struct rr_error *error)
{
	struct claims_options options = {
		.redis_server = "redis-server",
		.jobs = rr_placement_count(),
	};
	enum rr_exit code = RR_EXIT_OK;
	struct rr_signals signals;
	struct rr_jobs jobs;
	double begun;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (!rr_claims_deal(&options.choice, error))
		goto out;
	if (!rr_signals_open(&signals)) {
		code = rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
		goto out;
	}
	begun = rr_clock_s();
	if (rr_jobs_collect(&jobs, options.redis_server, &options.choice, error)) {
		/* A race that cannot be read belongs to no row. */
		for (size_t i = 0; i < jobs.n; i++) {
			const struct rr_job *job = &jobs.jobs[i];

			if (!job->race && !job->measure)
				code = rr_complain(job->result.code, "%s", job->result.text);
		}
		rr_jobs_run(&jobs, (int)options.jobs, &signals, error);
		code = rr_exit_worse(code, report_claims(&options, &jobs, rr_clock_s() - begun,
							 signals.interrupted));
		rr_jobs_free(&jobs);
	}
	/* What was not begun for an error was not called off: the error says it. */
	if ((error->kind && code == RR_EXIT_INTERRUPTED) || signals.interrupted)
		code = RR_EXIT_OK;
	rr_signals_close(&signals);
out:
	rr_shard_release(&options.choice.shard);
	free(options.choice.claims);
	return code;
}

const struct rr_command rr_cmd_claims = {
	.name = "claims",
	.summary = "check what the documents claim, by playing races",
	.line = &command_line,
	.run = run_claims,
};

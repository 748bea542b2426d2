/* SPDX-License-Identifier: MIT */
/* Suites of checks: what a file and the command line say of each check, together. */
#include <unistd.h>

#include "base/machine.h"
#include "base/option.h"
#include "base/text.h"
#include "check.h"

/* What the command line says of all checks, and the memory that each may use. */
struct given {
	int argc;
	char **argv;
	const char *suite; /* the file; NULL = RR_SUITE_FILE */
	struct rr_builds *builds;
	size_t memory; /* 0 = half of what is free */
	bool (*write_game)(FILE *out, const struct rr_checked_game *game, struct rr_error *error);
};

/* Have an app and its requests each other? The error speaks of keys of the file. */
static bool is_whole_app(const struct rr_check_options *options, struct rr_error *error)
{
	if (options->app && !options->n_requests)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"'app' without 'requests': write those that come concurrently, as in 'requests: [curl -s {app}/buy, curl -s {app}/buy]'");
	if (options->n_requests && !options->app)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"'requests' without 'app': write how the server is started, as in 'app: npm start'");
	return !options->app || !(options->command || options->n_named) ||
	       rr_error_set(
		       error, RR_ERROR_USAGE,
		       "'app' and '%s': a check has one of them; what asks an app is in 'requests'",
		       options->command ? "command" : "clients");
}

/* One check of the suite: what the file says of it, then what the command line says. */
static bool take_check(struct rr_check_command *chosen, const struct given *given, int argc,
		       char **argv, struct rr_error *error)
{
	struct rr_outputs outputs;

	*chosen = rr_check_defaults();
	if (!rr_check_take_words(chosen, argc, argv, error))
		return false;
	outputs = chosen->each.report;
	if (!rr_check_take_words(chosen, given->argc, given->argv, error))
		return false;
	chosen->each.report = outputs;
	chosen->each.report.printed = RR_FORMAT_JSON;
	chosen->each.search.memory = given->memory;
	chosen->each.write_game = given->write_game;
	chosen->each.builds = given->builds;
	if (!rr_check_has_program(&chosen->each))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "which program? write it as in 'command: node hit.js'");
	return is_whole_app(&chosen->each, error) && rr_check_fits(&chosen->each, error);
}

static bool accept_check(void *context, int argc, char **argv, struct rr_error *error)
{
	struct rr_check_command chosen;
	const bool good = take_check(&chosen, context, argc, argv, error);

	rr_replay_release(&chosen.replay);
	return good;
}

static enum rr_exit run_one(void *context, const char *name, int argc, char **argv,
			    struct rr_error *error)
{
	const struct given *given = context;
	struct rr_check_command chosen;
	enum rr_exit code = RR_EXIT_OK;

	if (take_check(&chosen, given, argc, argv, error)) {
		chosen.each.suite = given->suite;
		chosen.each.name = name;
		code = rr_check(&chosen.each, error);
	}
	rr_replay_release(&chosen.replay);
	return code;
}

static struct rr_suite_command suite_of(struct given *given)
{
	return (struct rr_suite_command){
		.line = &rr_check_command_line,
		.size = sizeof(struct rr_check_command),
		.whole_at = offsetof(struct rr_check_command, whole),
		.context = given,
		.accept = accept_check,
		.run = run_one,
	};
}

char **rr_check_names(size_t *n)
{
	char *argv[] = { "redrace check", NULL };
	struct given given = { .argc = 1, .argv = argv };
	const struct rr_suite_command command = suite_of(&given);

	return rr_suite_names(&command, RR_SUITE_FILE, n);
}

void rr_check_write_schema(FILE *out)
{
	const struct rr_suite_command command = suite_of(NULL);

	rr_suite_write_schema(&command, out);
}

static bool refuse_names(const struct rr_suite_options *whole, struct rr_error *error)
{
	char words[400] = "";

	for (size_t i = 0; i < whole->n_chosen; i++)
		rr_add_text(words, sizeof(words), " %s", whole->chosen[i]);
	return rr_error_set(error, RR_ERROR_USAGE,
			    "'%.100s': the command must stand after --, as in: redrace check --%s",
			    whole->chosen[0], words);
}

bool rr_check_refuse_suite(const struct rr_suite_options *whole, struct rr_error *error)
{
	if (whole->n_chosen)
		return refuse_names(whole, error);
	return !(whole->path || whole->jobs || whole->shard.of || whole->shard.times) ||
	       rr_error_set(
		       error, RR_ERROR_USAGE,
		       "--suite, --jobs, --shard and --times are of a suite: leave them out, or the program");
}

enum rr_exit rr_check_run_suite(struct rr_check_command *chosen, int argc, char **argv,
				struct rr_error *error)
{
	struct given given = { .argc = argc,
			       .argv = argv,
			       .suite = chosen->whole.path,
			       .write_game = chosen->each.write_game };
	const struct rr_suite_command command = suite_of(&given);
	struct rr_suite_options *whole = &chosen->whole;
	const struct rr_check_options *each = &chosen->each;
	/* An option that names a file, which several checks would write; NULL = there is none. */
	const char *one_file = each->save                            ? "save" :
			       each->game                            ? "game" :
			       each->search.dot || each->search.json ? "graph" :
								       NULL;
	enum rr_exit code;

	if (!whole->path && access(RR_SUITE_FILE, F_OK) != 0) {
		if (whole->n_chosen)
			refuse_names(whole, error);
		else
			rr_error_set(
				error, RR_ERROR_USAGE,
				"check what? The command stands after --, as in: redrace check -- python3 hit.py; or write " RR_SUITE_FILE
				", which 'redrace init' begins");
		return RR_EXIT_OK;
	}
	if (rr_outputs_have(&each->report, RR_CHECK_PICTURES)) {
		rr_error_set(error, RR_ERROR_USAGE,
			     "a picture is of one check: write it there, as in 'output: race.svg'");
		return RR_EXIT_OK;
	}
	if (one_file && whole->n_chosen != 1) {
		rr_error_set(
			error, RR_ERROR_USAGE,
			"--%s is of one check: name it, or write '%s: FILE' in that of the suite",
			one_file, one_file);
		return RR_EXIT_OK;
	}
	if (!whole->jobs)
		whole->jobs = rr_placement_count();
	given.memory = rr_memory_available() / 2 / (size_t)whole->jobs;
	given.builds = rr_builds_new();
	code = rr_suite_run(&command, whole, &each->report, error);
	rr_builds_free(given.builds);
	return code;
}

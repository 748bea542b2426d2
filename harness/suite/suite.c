/* SPDX-License-Identifier: MIT */
/* A suite from its file to what is printed. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/text.h"

enum { CASE_NAME = 512 };

char **rr_suite_names(const struct rr_suite_command *command, const char *path, size_t *n)
{
	struct rr_error unread = { .kind = RR_ERROR_NONE };
	struct rr_suite suite;
	char **names;

	rr_suite_read(&suite, path, command, &unread);
	names = rr_calloc(suite.n + 1, sizeof(*names));
	for (*n = 0; *n < suite.n && !unread.kind; (*n)++)
		names[*n] = rr_strdup(suite.checks[*n].name);
	rr_suite_release(&suite);
	return names;
}

/* ---- Which checks -------------------------------------------------------------------- */

static bool is_chosen(const struct rr_suite_options *options, const char *name)
{
	for (size_t i = 0; i < options->n_chosen; i++) {
		char *chosen = rr_plain(options->chosen[i]);
		const bool is_it = strcmp(chosen, name) == 0;

		free(chosen);
		if (is_it)
			return true;
	}
	return options->n_chosen == 0;
}

static bool are_there(const struct rr_suite *suite, const struct rr_suite_options *options,
		      struct rr_error *error)
{
	const char **names = rr_calloc(suite->n + 1, sizeof(*names));
	bool is_there = true;

	for (size_t i = 0; i < suite->n; i++)
		names[i] = suite->checks[i].name;
	for (size_t i = 0; i < options->n_chosen && is_there; i++) {
		char *name = rr_plain(options->chosen[i]);
		const char *nearest;

		is_there = false;
		for (size_t j = 0; j < suite->n && !is_there; j++)
			is_there = strcmp(names[j], name) == 0;
		free(name);
		if (is_there)
			continue;
		nearest = rr_nearest(options->chosen[i], names, suite->n);
		rr_error_set(
			error, RR_ERROR_USAGE,
			nearest ?
				"%.300s has no check '%.100s'; did you mean '%.200s'?" :
				"%.300s has no check '%.100s'; a program to check stands after --",
			suite->path, options->chosen[i], nearest);
	}
	free(names);
	return is_there;
}

/* As its case is called. */
static const char *name_of_case(const struct rr_suite_check *check, char name[CASE_NAME])
{
	snprintf(name, CASE_NAME, "check %s", check->name);
	return name;
}

static bool deal(const struct rr_suite *suite, struct rr_suite_options *options,
		 struct rr_error *error)
{
	json_t *seconds = json_object();
	char name[CASE_NAME];

	for (size_t i = 0; i < suite->n; i++) {
		if (is_chosen(options, suite->checks[i].name))
			json_object_set_new(seconds, name_of_case(&suite->checks[i], name),
					    json_real(1));
	}
	return rr_shard_deal(&options->shard, seconds, error);
}

/* Puts the checks that are to be run first, in their order; how many. */
static size_t choose(struct rr_suite *suite, const struct rr_suite_options *options)
{
	struct rr_suite_check *others = rr_calloc(suite->n + 1, sizeof(*others));
	size_t n = 0, n_others = 0;
	char name[CASE_NAME];

	for (size_t i = 0; i < suite->n; i++) {
		const struct rr_suite_check check = suite->checks[i];

		if (is_chosen(options, check.name) &&
		    rr_shard_owns(&options->shard, name_of_case(&check, name)))
			suite->checks[n++] = check;
		else
			others[n_others++] = check;
	}
	memcpy(suite->checks + n, others, n_others * sizeof(*others));
	free(others);
	return n;
}

/* ---- Running the checks, by the processes of a pool ------------------------------------ */

struct running {
	const struct rr_suite *suite;
	const struct rr_suite_command *command;
	struct rr_suite_result *results; /* of each check */
};

/* What comes back, and after it the result as JSON. */
struct outcome {
	enum rr_exit code;
	struct rr_error error;
};

/* What a check prints is its result, and is read; what it says of its progress is the
 * pool's to say. */
static bool begin_worker(void *context, struct rr_pool_worker *worker, struct rr_error *error)
{
	const int printed = memfd_create("result", MFD_CLOEXEC);
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const bool good = printed >= 0 && nothing >= 0 && dup2(printed, STDOUT_FILENO) >= 0 &&
			  dup2(nothing, STDERR_FILENO) >= 0;

	(void)context;
	(void)worker;
	if (!good)
		rr_error_set(error, RR_ERROR_INTERNAL, "cannot redirect a worker's output: %s",
			     strerror(errno));
	if (printed >= 0)
		close(printed);
	if (nothing >= 0)
		close(nothing);
	return good;
}

static bool run_check(void *context, struct rr_pool_worker *worker, size_t job)
{
	const struct running *running = context;
	const struct rr_suite_command *command = running->command;
	const struct rr_suite_check *check = &running->suite->checks[job];
	char **argv = rr_memdup(check->words, (check->n_words + 1) * sizeof(*argv));
	struct outcome outcome = { .code = RR_EXIT_INTERNAL };

	if (ftruncate(STDOUT_FILENO, 0) == 0 && lseek(STDOUT_FILENO, 0, SEEK_SET) == 0)
		outcome.code = command->run(command->context, check->name, (int)check->n_words,
					    argv, &outcome.error);
	outcome.code = rr_exit_worse(outcome.code, rr_exit_of(outcome.error.kind));
	free(argv);
	if (outcome.code == RR_EXIT_INTERRUPTED)
		return false;
	fwrite(&outcome, sizeof(outcome), 1, worker->result);
	char part[1 << 14];
	ssize_t n;

	fflush(stdout);
	lseek(STDOUT_FILENO, 0, SEEK_SET);
	while ((n = read(STDOUT_FILENO, part, sizeof(part))) > 0)
		fwrite(part, 1, (size_t)n, worker->result);
	return true;
}

static void take_result(void *context, size_t job, const char *data, size_t size, double seconds)
{
	const struct running *running = context;
	struct rr_suite_result *result = &running->results[job];
	struct outcome outcome;

	memcpy(&outcome, data, sizeof(outcome));
	*result = (struct rr_suite_result){
		.is_done = true,
		.code = outcome.code,
		.seconds = seconds,
		.error = outcome.error,
		.json = size > sizeof(outcome) ?
				rr_memdup(data + sizeof(outcome), size - sizeof(outcome)) :
				NULL,
		.size = size - sizeof(outcome),
	};
}

static void lose_result(void *context, size_t job, const char *why, double seconds)
{
	const struct running *running = context;
	struct rr_suite_result *result = &running->results[job];

	*result = (struct rr_suite_result){
		.is_done = true,
		.code = RR_EXIT_INTERNAL,
		.seconds = seconds,
	};
	rr_error_set(&result->error, RR_ERROR_INTERNAL, "redrace itself: %s", why);
}

static void name_check(void *context, size_t job, char text[RR_POOL_NAME])
{
	const struct running *running = context;

	snprintf(text, RR_POOL_NAME, "%.60s", running->suite->checks[job].name);
}

/* ---- What came of them --------------------------------------------------------------- */

/* What has passed is a line. */
static void print_case(FILE *out, const struct rr_case *one)
{
	rr_print_sentence(out, 0, 13, "%-12s %s: %s", rr_case_verdict_names[one->verdict],
			  one->name, one->message);
	if (one->verdict == RR_CASE_PASSED)
		return;
	const char *text = one->details;

	while (text && *text) {
		const char *line = text;
		const size_t length = rr_take_line(&text);

		fprintf(out, length ? "  %.*s\n" : "\n", (int)length, line);
	}
	const json_t *names = json_object_get(one->properties, "new");
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		fprintf(out, "  To be known in the suite: \"%s\"\n", json_string_value(name));
	fputc('\n', out);
}

static void print_suite(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	const struct rr_cases *cases = what;

	(void)format;
	(void)error;
	for (size_t i = 0; i < cases->n; i++)
		print_case(out, &cases->cases[i]);
	rr_cases_summarise(cases, out);
	fprintf(out, " (%.1f s)\n", cases->seconds);
}

/* ---- The whole ----------------------------------------------------------------------- */

static enum rr_exit run_chosen(struct rr_suite *suite, const struct rr_suite_command *command,
			       const struct rr_suite_options *options,
			       const struct rr_outputs *outputs, struct rr_error *error)
{
	const struct rr_suite chosen = { suite->path, suite->checks, choose(suite, options) };
	struct rr_suite_result *results = rr_calloc(chosen.n + 1, sizeof(*results));
	struct running running = { .suite = &chosen, .command = command, .results = results };
	const struct rr_pool pool = {
		.n_jobs = chosen.n,
		.n_workers = (int)options->jobs,
		.context = &running,
		.begin = begin_worker,
		.run = run_check,
		.take = take_result,
		.lost = lose_result,
		.name = name_check,
		.unit = "result",
		.is_uneven = true,
	};
	const double begun = rr_clock_s();
	struct rr_error unwritten = { .kind = RR_ERROR_NONE };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_signals signals;
	struct rr_cases cases;

	if (!rr_signals_open(&signals)) {
		free(results);
		rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch signals");
		return RR_EXIT_OK;
	}
	if (chosen.n > 0)
		rr_pool_run(&pool, &signals, error);
	rr_cases_init(&cases, "redrace check");
	cases.seconds = rr_clock_s() - begun;
	cases.is_called_off = error->kind == RR_ERROR_INTERRUPTED;
	for (size_t i = 0; i < chosen.n; i++) {
		if (cases.is_called_off && !results[i].is_done) {
			results[i] = (struct rr_suite_result){ .is_done = true,
							       .code = RR_EXIT_INTERRUPTED };
			rr_error_set(&results[i].error, RR_ERROR_INTERRUPTED,
				     "interrupted before it ended: nothing is known of it");
		}
		if (results[i].is_done)
			code = rr_exit_worse(code, rr_suite_judge(&chosen, &chosen.checks[i],
								  &results[i], &cases));
		free(results[i].json);
	}
	free(results);
	if (options->shard.of)
		rr_shard_note(&options->shard, &cases, json_pack("{s:s}", "suite", chosen.path),
			      rr_exit_worse(code, rr_exit_of(error->kind)));
	rr_cases_publish(&cases, outputs, print_suite, &cases, &unwritten);
	rr_cases_release(&cases);
	rr_signals_close(&signals);
	return rr_exit_worse(code, rr_report_error(&unwritten));
}

enum rr_exit rr_suite_run(const struct rr_suite_command *command, struct rr_suite_options *options,
			  const struct rr_outputs *outputs, struct rr_error *error)
{
	enum rr_exit code = RR_EXIT_OK;
	struct rr_suite suite;

	if (rr_suite_read(&suite, options->path ? options->path : RR_SUITE_FILE, command, error) &&
	    are_there(&suite, options, error) && deal(&suite, options, error)) {
		for (size_t i = 0; i < suite.n; i++) {
			if (suite.checks[i].has_gone)
				fprintf(stderr,
					"%s:%ld: %s: 'atomic' says nothing any more, because every check compares so: leave it out\n",
					suite.path, suite.checks[i].line, suite.checks[i].name);
		}
		code = run_chosen(&suite, command, options, outputs, error);
	}
	rr_suite_release(&suite);
	rr_shard_release(&options->shard);
	return code;
}

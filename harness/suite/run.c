/* SPDX-License-Identifier: MIT */
/* The checks of a suite, run by the processes of a pool. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "suite.h"

struct running {
	const struct rr_suite *suite;
	const struct rr_suite_command *command;
	struct rr_suite_result *results; /* of each check */
};

/* ---- In a worker --------------------------------------------------------------------- */

/* What comes back, and behind it the result as JSON. */
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
		outcome.code = command->run(command->context, (int)check->n_words, argv,
					    &outcome.error);
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

/* ---- In the program ------------------------------------------------------------------ */

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

bool rr_suite_run_checks(const struct rr_suite *suite, const struct rr_suite_command *command,
			 int n_workers, struct rr_signals *signals, struct rr_suite_result *results,
			 struct rr_error *error)
{
	struct running running = { .suite = suite, .command = command, .results = results };
	const struct rr_pool pool = {
		.n_jobs = suite->n,
		.n_workers = n_workers,
		.context = &running,
		.begin = begin_worker,
		.run = run_check,
		.take = take_result,
		.lost = lose_result,
		.name = name_check,
		.unit = "result",
	};

	return rr_pool_run(&pool, signals, error);
}

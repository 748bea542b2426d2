/* SPDX-License-Identifier: MIT */
/* The workers, seen from the program: started, waited for, and ended. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs_parts.h"

enum { LOOK_MS = 100 };

struct crew {
	struct rr_jobs *jobs;
	struct rr_signals *signals;
	long n, n_guardians, n_alive;
	struct rr_guardian guardians[RR_JOB_WORKERS_MAX];
	pid_t pids[RR_JOB_WORKERS_MAX]; /* 0 = has ended */
};

/* ---- Beginning and end ------------------------------------------------------------ */

/* All guardians before the first worker: each holds the sockets of those
 * before it, and so is stopped before them. */
static enum rr_exit start_guardians(struct crew *crew)
{
	struct rr_error error = { 0 };

	while (crew->n_guardians < crew->n) {
		if (!rr_guardian_start(&crew->guardians[crew->n_guardians],
				       &error))
			return rr_report_error(&error);
		crew->n_guardians++;
	}
	return RR_EXIT_OK;
}

static enum rr_exit start_workers(struct crew *crew)
{
	const pid_t program = getpid();

	fflush(NULL);
	for (int i = 0; i < crew->n; i++) {
		const pid_t pid = fork();

		if (pid == 0)
			rr_jobs_work(crew->jobs, i, program, crew->signals,
				     &crew->guardians[i]);
		if (pid < 0)
			return rr_complain(RR_EXIT_INTERNAL,
					   "cannot start a process: %s",
					   strerror(errno));
		crew->pids[i] = pid;
		crew->n_alive++;
	}
	return RR_EXIT_OK;
}

static void end_workers(struct crew *crew)
{
	for (int i = 0; i < crew->n; i++) {
		if (crew->pids[i] == 0)
			continue;
		kill(crew->pids[i], SIGKILL);
		while (waitpid(crew->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
		crew->pids[i] = 0;
	}
	while (crew->n_guardians > 0)
		rr_guardian_stop(&crew->guardians[--crew->n_guardians]);
}

/* ---- Meanwhile ----------------------------------------------------------------------- */

/* What a worker was at when it ended, and was not to end. */
static void bury(struct crew *crew, int worker, int status)
{
	crew->pids[worker] = 0;
	crew->n_alive--;
	for (size_t i = 0; i < crew->jobs->n; i++) {
		struct rr_job_result *result = crew->jobs->jobs[i].result;

		if (result->state != RR_JOB_RUNNING ||
		    result->worker != worker)
			continue;
		result->code = RR_EXIT_INTERNAL;
		snprintf(result->text, sizeof(result->text),
			 "its process ended (%s %d)",
			 WIFSIGNALED(status) ? "signal" : "code",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
					       WEXITSTATUS(status));
		result->state = RR_JOB_DONE;
	}
}

static void bury_all(struct crew *crew)
{
	int status;

	for (int i = 0; i < crew->n; i++) {
		if (crew->pids[i] &&
		    waitpid(crew->pids[i], &status, WNOHANG) == crew->pids[i])
			bury(crew, i, status);
	}
}

static void show_progress(const struct rr_jobs *jobs, bool visible)
{
	const char *running = "";
	size_t done = 0;

	for (size_t i = 0; i < jobs->n; i++) {
		const int state = jobs->jobs[i].result->state;

		done += state == RR_JOB_DONE;
		if (state == RR_JOB_RUNNING)
			running = jobs->jobs[i].name;
	}
	if (visible)
		fprintf(stderr, "\r\033[K%zu of %zu  %.50s", done, jobs->n,
			running);
}

static void await(struct crew *crew)
{
	const bool visible = isatty(STDERR_FILENO) == 1;

	while (crew->n_alive > 0 && !crew->signals->interrupted) {
		show_progress(crew->jobs, visible);
		rr_signals_wait(crew->signals, LOOK_MS);
		bury_all(crew);
	}
	if (visible)
		fprintf(stderr, "\r\033[K");
}

enum rr_exit rr_jobs_run(struct rr_jobs *jobs, long workers,
			 struct rr_signals *signals)
{
	struct crew crew = { .jobs = jobs, .signals = signals, .n = workers };
	enum rr_exit code;

	if ((size_t)workers > jobs->n)
		crew.n = (long)jobs->n;
	code = start_guardians(&crew);
	if (code == RR_EXIT_OK)
		code = start_workers(&crew);
	if (code == RR_EXIT_OK)
		await(&crew);
	end_workers(&crew);
	return signals->interrupted ? RR_EXIT_INTERRUPTED : code;
}

/* SPDX-License-Identifier: MIT */
/* The pool, and what becomes of it when its workers really die. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"

/* The kernel takes PART bytes at once; LARGE ones have to be read meanwhile. */
enum { JOBS = 40, PART = 10000, LARGE = 4 << 20 };

/* Seconds without progress: longer than a busy machine may stop a worker that does something. */
enum { STALL_S = 3 };

enum fate {
	FATE_NONE,
	FATE_KILLED,         /* at its work */
	FATE_KILLED_SENDING, /* when PART bytes of its result were sent and none was read */
	FATE_EXITS,
	FATE_HANGS,
	FATE_IS_SLOW,    /* but tells of its progress */
	FATE_CALLED_OFF, /* works until a signal comes */
};

/* What workers tell the test, for the pool must not be trusted with it. */
struct shared {
	atomic_int n_begun, n_ended, n_runs;
	atomic_bool is_busy;      /* the program, which reads nothing */
	_Atomic pid_t pids[JOBS]; /* of the worker that did the job last */
};

struct trial {
	struct rr_pool pool;
	struct rr_signals signals;
	struct rr_error error;
	struct shared *shared;
	enum fate fates[JOBS];
	int bad_workers; /* so many cannot begin, 0 = all can */
	bool dies_beginning;
	size_t size; /* of each result; it holds the number of its job */
	int taken[JOBS], lost[JOBS], n_taken, n_lost;
	char why[100]; /* of the last one that was lost */
	void (*at_take)(struct trial *trial, size_t job);
};

/* ---- What workers do ------------------------------------------------------- */

static bool begin(void *context, struct rr_pool_worker *worker, struct rr_error *error)
{
	struct trial *trial = context;

	atomic_fetch_add(&trial->shared->n_begun, 1);
	if (trial->dies_beginning)
		kill(getpid(), SIGKILL);
	if (worker->number < trial->bad_workers)
		return rr_error_set(error, RR_ERROR_REDIS, "no server");
	return true;
}

static void end(void *context, struct rr_pool_worker *worker)
{
	struct trial *trial = context;

	(void)worker;
	atomic_fetch_add(&trial->shared->n_ended, 1);
}

/* Kills the process as soon as PART bytes wait for the program, which reads nothing. */
static void *kill_when_sent(void *argument)
{
	const struct rr_pool_worker *worker = argument;
	int unread = 0;

	while (ioctl(worker->socket, SIOCOUTQ, &unread) == 0 && unread < PART)
		;
	kill(getpid(), SIGKILL);
	return NULL;
}

static void add_result(const struct trial *trial, struct rr_pool_worker *worker, size_t job)
{
	char *rest = calloc(1, trial->size + 1);

	fwrite(&job, sizeof(job), 1, worker->result);
	fwrite(rest, 1, trial->size, worker->result);
	free(rest);
}

static bool meet(enum fate fate, struct trial *trial, struct rr_pool_worker *worker)
{
	pthread_t thread;

	switch (fate) {
	case FATE_NONE:
		return true;
	case FATE_KILLED:
		return kill(getpid(), SIGKILL) == 0;
	case FATE_KILLED_SENDING:
		while (!trial->shared->is_busy)
			usleep(1000);
		return !pthread_create(&thread, NULL, kill_when_sent, worker);
	case FATE_EXITS:
		_exit(3);
	case FATE_HANGS:
		for (;;)
			pause();
	case FATE_IS_SLOW:
		for (unsigned long i = 1; i <= 10; i++) {
			usleep(100000 * STALL_S + 50000);
			rr_pool_progress(worker, i);
		}
		return true;
	case FATE_CALLED_OFF:
		while (!trial->signals.interrupted)
			rr_signals_wait(&trial->signals, 1000);
		return false;
	}
	return false;
}

static bool run(void *context, struct rr_pool_worker *worker, size_t job)
{
	struct trial *trial = context;

	atomic_fetch_add(&trial->shared->n_runs, 1);
	atomic_store(&trial->shared->pids[job], getpid());
	add_result(trial, worker, job);
	return meet(trial->fates[job], trial, worker);
}

/* ---- The program's side ------------------------------------------------------ */

static void take(void *context, size_t job, const char *result, size_t size, double seconds)
{
	struct trial *trial = context;
	size_t number;

	cr_assert_eq(size, sizeof(number) + trial->size);
	memcpy(&number, result, sizeof(number));
	cr_assert_eq(number, job);
	cr_assert_gt(seconds, 0);
	trial->taken[job]++;
	trial->n_taken++;
	if (trial->at_take)
		trial->at_take(trial, job);
}

static void lose(void *context, size_t job, const char *why, double seconds)
{
	struct trial *trial = context;

	cr_assert_gt(seconds, 0);
	trial->lost[job]++;
	trial->n_lost++;
	snprintf(trial->why, sizeof(trial->why), "%s", why);
}

static void name(void *context, size_t job, char text[RR_POOL_NAME])
{
	(void)context;
	snprintf(text, RR_POOL_NAME, "job %zu", job);
}

static void trial_open(struct trial *trial, size_t n_jobs, int n_workers)
{
	*trial = (struct trial){
		.pool = { .n_jobs = n_jobs,
			  .n_workers = n_workers,
			  .context = trial,
			  .begin = begin,
			  .run = run,
			  .end = end,
			  .take = take,
			  .lost = lose,
			  .name = name,
			  .unit = "sign of life" },
	};
	trial->shared = mmap(NULL, sizeof(*trial->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(rr_signals_open(&trial->signals));
}

/* Nothing of it is left, whatever it came to. */
static bool trial_run(struct trial *trial)
{
	const bool good = rr_pool_run(&trial->pool, &trial->signals, &trial->error);

	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
	rr_signals_close(&trial->signals);
	return good;
}

/* Each of the others was taken once; `but` was lost, once as well. */
static void assert_lost_one(const struct trial *trial, size_t but)
{
	for (size_t i = 0; i < trial->pool.n_jobs; i++) {
		cr_assert_eq(trial->taken[i], i != but, "job %zu", i);
		cr_assert_eq(trial->lost[i], i == but, "job %zu", i);
	}
}

static void assert_lost_none(const struct trial *trial)
{
	assert_lost_one(trial, trial->pool.n_jobs);
}

/* Of the worker that is at the job, or was. */
static void await_death(struct trial *trial, size_t job)
{
	siginfo_t info;

	while (!trial->shared->pids[job])
		usleep(1000);
	while (waitid(P_PID, (id_t)trial->shared->pids[job], &info, WEXITED | WNOWAIT) != 0 &&
	       errno == EINTR)
		;
}

/* The program is busy with the job after one whose worker is killed until that one is dead. */
static void read_nothing(struct trial *trial, size_t job)
{
	if (job == 0 || trial->fates[job - 1] != FATE_KILLED_SENDING)
		return;
	atomic_store(&trial->shared->is_busy, true);
	await_death(trial, job - 1);
}

/* What the pool says goes where it can be read. */
static FILE *catch_what_is_said(void)
{
	FILE *file = tmpfile();

	cr_assert(file && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
	return file;
}

static void lose_one(struct trial *trial, enum fate fate, const char *why)
{
	fclose(catch_what_is_said());
	trial_open(trial, 12, 3);
	trial->fates[5] = fate;
	trial->size = LARGE;
	trial->pool.stall_s = fate == FATE_HANGS ? STALL_S : 600;
	trial->at_take = read_nothing;
	cr_assert(trial_run(trial), "%s", trial->error.text);
	assert_lost_one(trial, 5);
	cr_assert_str_eq(trial->why, why);
	/* All others ended in order, the one in its place too, if it was
	 * needed. */
	cr_assert_eq(trial->shared->n_ended, trial->shared->n_begun - 1);
}

/* ---- Jobs ---------------------------------------------------------------------- */

Test(pool, does_every_job_once)
{
	struct trial trial;

	trial_open(&trial, JOBS, 4);
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	assert_lost_none(&trial);
	cr_assert_eq(trial.shared->n_begun, 4);
	cr_assert_eq(trial.shared->n_ended, 4);
	cr_assert_eq(trial.error.kind, RR_ERROR_NONE);
}

Test(pool, starts_no_more_workers_than_there_are_jobs)
{
	struct trial trial;

	trial_open(&trial, 0, 4);
	cr_assert(trial_run(&trial));
	cr_assert_eq(trial.shared->n_begun, 0);
	trial_open(&trial, 2, 4);
	cr_assert(trial_run(&trial));
	cr_assert_eq(trial.shared->n_begun, 2);
	assert_lost_none(&trial);
}

/* ---- Workers that die ------------------------------------------------------------- */

Test(pool, loses_the_job_at_which_a_worker_is_killed)
{
	struct trial trial;

	lose_one(&trial, FATE_KILLED, "its process was killed by signal 9 (SIGKILL)");
}

/* Not at the end, which may be far; of the last job the end is not. */
Test(pool, tells_at_once_what_is_lost)
{
	struct trial trial;
	char said[200] = "";
	FILE *file = catch_what_is_said();

	trial_open(&trial, 3, 1);
	trial.fates[1] = trial.fates[2] = FATE_KILLED;
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	cr_assert_eq(trial.n_lost, 2);
	rewind(file);
	cr_assert_gt(fread(said, 1, sizeof(said) - 1, file), 0);
	cr_assert_str_eq(
		said,
		"redrace: job 1: its process was killed by signal 9 (SIGKILL); the others go on\n");
	fclose(file);
}

Test(pool, sees_nothing_of_a_result_that_was_not_sent_whole)
{
	struct trial trial;

	lose_one(&trial, FATE_KILLED_SENDING, "its process was killed by signal 9 (SIGKILL)");
}

Test(pool, loses_the_job_at_which_a_worker_exits)
{
	struct trial trial;

	lose_one(&trial, FATE_EXITS, "its process exited with 3");
}

Test(pool, ends_a_worker_that_does_not_get_on)
{
	struct trial trial;

	lose_one(&trial, FATE_HANGS, "no sign of life for 3 s");
}

Test(pool, lets_a_worker_be_slow_that_gets_on)
{
	struct trial trial;

	trial_open(&trial, 2, 2);
	trial.fates[1] = FATE_IS_SLOW;
	trial.pool.stall_s = STALL_S;
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	assert_lost_none(&trial);
}

Test(pool, counts_once_what_a_worker_sent_before_it_died)
{
	struct trial trial;

	trial_open(&trial, 2, 2);
	trial.fates[0] = FATE_KILLED_SENDING;
	trial.size = PART;
	trial.at_take = read_nothing;
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	assert_lost_none(&trial);
}

/* The worker is dead before it can be given another job. */
static void kill_its_worker(struct trial *trial, size_t job)
{
	if (job != 3)
		return;
	kill(trial->shared->pids[job], SIGKILL);
	await_death(trial, job);
}

Test(pool, gives_a_job_again_that_nobody_has_started)
{
	struct trial trial;

	trial_open(&trial, 8, 1);
	trial.at_take = kill_its_worker;
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	assert_lost_none(&trial);
	cr_assert_eq(trial.shared->n_runs, 8);
	cr_assert_eq(trial.shared->n_begun, 2);
	cr_assert_neq(trial.shared->pids[3], trial.shared->pids[4]);
}

/* ---- Workers that cannot begin ------------------------------------------------------ */

Test(pool, goes_on_without_a_worker_that_cannot_begin)
{
	struct trial trial;

	trial_open(&trial, 10, 3);
	trial.bad_workers = 2;
	cr_assert(trial_run(&trial), "%s", trial.error.text);
	assert_lost_none(&trial);
	cr_assert_eq(trial.shared->n_ended, 3);
}

Test(pool, says_why_nobody_can_do_the_rest)
{
	struct trial trial;

	trial_open(&trial, 10, 3);
	trial.bad_workers = 3;
	cr_assert_not(trial_run(&trial));
	cr_assert_eq(trial.error.kind, RR_ERROR_REDIS);
	cr_assert_str_eq(trial.error.text, "no server");
	cr_assert_eq(trial.n_taken + trial.n_lost, 0);
}

Test(pool, does_not_replace_workers_that_die_beginning)
{
	struct trial trial;

	trial_open(&trial, 10, 3);
	trial.dies_beginning = true;
	cr_assert_not(trial_run(&trial));
	cr_assert_eq(trial.error.kind, RR_ERROR_INTERNAL);
	cr_assert_str_eq(trial.error.text,
			 "a worker was killed by signal 9 (SIGKILL) before it had begun");
	cr_assert_eq(trial.shared->n_begun, 3);
}

/* ---- Signals ---------------------------------------------------------------------------- */

static void interrupt(struct trial *trial, size_t job)
{
	(void)trial;
	(void)job;
	kill(getpid(), SIGINT);
}

Test(pool, called_off_keeps_what_is_done_and_loses_nothing)
{
	struct trial trial;

	trial_open(&trial, 3, 3);
	trial.fates[1] = trial.fates[2] = FATE_CALLED_OFF;
	trial.at_take = interrupt;
	cr_assert_not(trial_run(&trial));
	cr_assert_eq(trial.error.kind, RR_ERROR_INTERRUPTED);
	cr_assert_eq(trial.n_taken, 1);
	cr_assert_eq(trial.n_lost, 0);
	cr_assert_eq(trial.shared->n_ended, trial.shared->n_begun);
}

/* In a process of its own, which is killed; its workers must not outlive it. */
Test(pool, ends_with_the_program)
{
	struct trial trial;
	pid_t program;
	int ends[2];
	char byte;

	trial_open(&trial, 3, 3);
	for (int i = 0; i < 3; i++)
		trial.fates[i] = FATE_HANGS;
	cr_assert_eq(pipe(ends), 0);
	program = fork();
	if (program == 0) {
		rr_pool_run(&trial.pool, &trial.signals, &trial.error);
		_exit(0);
	}
	close(ends[1]);
	while (trial.shared->n_runs < 3)
		usleep(1000);
	kill(program, SIGKILL);
	waitpid(program, NULL, 0);
	cr_assert_eq(read(ends[0], &byte, 1), 0, "all have closed the pipe");
	close(ends[0]);
	rr_signals_close(&trial.signals);
}

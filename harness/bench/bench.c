/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspector.h"
#include "replace.h"

enum {
	WATCH_MS = 250,
	STALL_MS = 20000,   /* without one increment, leases not counted */
	LAST_WORDS_MS = 10000, /* for workers that were told to stop ... */
	INTERRUPTED_MS = 2000, /* ... by somebody who is waiting for it */
};

/* One run while it lasts. */
struct bench {
	const struct rr_run *run;
	struct rr_signals *signals;
	const struct rr_watcher *watcher;
	struct rr_board *board;
	pid_t *workers; /* 0 = has ended */
	int n_alive;
	struct rr_inspector inspector;
	enum rr_exit code;
};

static enum rr_exit fail(struct bench *bench, enum rr_exit code,
			 const char *what)
{
	if (bench->code == RR_EXIT_OK)
		bench->code = rr_complain(code, "%s: %s",
					  bench->run->strategy->name, what);
	return bench->code;
}

static int64_t now_ns(const struct bench *bench)
{
	return rl_now_ns(bench->inspector.servers[0], RL_CLOCK_MONOTONIC);
}

/* ---- Workers ----------------------------------------------------------------- */

static enum rr_exit fork_worker(struct bench *bench, int i)
{
	const pid_t pid = fork();

	if (pid == 0)
		rr_worker(bench->run, bench->board, i);
	if (pid < 0)
		return fail(bench, RR_EXIT_INTERNAL, strerror(errno));
	bench->workers[i] = pid;
	bench->n_alive++;
	return RR_EXIT_OK;
}

static enum rr_exit fork_workers(struct bench *bench)
{
	enum rr_exit code = RR_EXIT_OK;

	fflush(NULL);
	for (int i = 0; i < bench->run->processes && code == RR_EXIT_OK; i++)
		code = fork_worker(bench, i);
	return code;
}

/* One has ended, and its results are what it left on the board. */
static void bury_worker(struct bench *bench, int i, int status)
{
	bench->workers[i] = 0;
	bench->n_alive--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == RR_EXIT_OK)
		return;
	if (rr_replace_was_planned(bench->run, bench->board, i, status) &&
	    fork_worker(bench, i) == RR_EXIT_OK)
		return;
	fail(bench, RR_EXIT_INTERNAL,
	     "a worker process died; its count is lost");
	atomic_store(&bench->board->stop, true);
}

static void reap_workers(struct bench *bench)
{
	for (int i = 0; i < bench->run->processes; i++) {
		int status;

		if (bench->workers[i] &&
		    waitpid(bench->workers[i], &status, WNOHANG) != 0)
			bury_worker(bench, i, status);
	}
}

static void kill_workers(struct bench *bench)
{
	for (int i = 0; i < bench->run->processes; i++) {
		if (!bench->workers[i])
			continue;
		kill(bench->workers[i], SIGKILL);
		waitpid(bench->workers[i], NULL, 0);
		bench->workers[i] = 0;
		bench->n_alive--;
	}
}

/* A turn of every waiting loop: signals, ended workers, calls to stop. */
static void take_turn(struct bench *bench, int timeout_ms)
{
	rr_signals_wait(bench->signals, timeout_ms);
	reap_workers(bench);
	if (bench->signals->interrupted)
		atomic_store(&bench->board->stop, true);
}

/* ---- The course of a run -------------------------------------------------------- */

static bool is_stopped(const struct bench *bench)
{
	return atomic_load(&bench->board->stop);
}

/* How long nothing may happen before it is called a deadlock: a dead holder's
 * lease has to be able to run out. */
static int64_t stall_limit_ns(const struct rr_run *run)
{
	return (STALL_MS + 2 * run->ttl_ms + 2 * run->hold_us / 1000) *
	       INT64_C(1000000);
}

/* When the clients last moved. */
struct motion {
	uint64_t done;
	int64_t moved_ns;
};

static struct motion motion_begin(const struct bench *bench)
{
	return (struct motion){ 0, now_ns(bench) };
}

/* Calls the run off when nothing has moved for too long. */
static void watch_motion(struct bench *bench, struct motion *motion)
{
	const uint64_t done = rr_board_done(bench->board);
	const int64_t now = now_ns(bench);

	if (done != motion->done)
		*motion = (struct motion){ done, now };
	if (now - motion->moved_ns <= stall_limit_ns(bench->run))
		return;
	fail(bench, RR_EXIT_VIOLATED,
	     "no increment finished any more: deadlock");
	atomic_store(&bench->board->stop, true);
}

static void wait_until_ready(struct bench *bench)
{
	struct motion motion = motion_begin(bench);

	while (atomic_load(&bench->board->n_ready) <
		       (int)bench->board->n_clients &&
	       bench->n_alive > 0 && !is_stopped(bench)) {
		take_turn(bench, 1);
		watch_motion(bench, &motion);
	}
}

static void open_barrier(struct bench *bench)
{
	const size_t waiting = bench->board->n_clients +
			       bench->board->n_processes;

	atomic_store(&bench->board->someone_done, false);
	for (size_t i = 0; i < waiting; i++)
		sem_post(&bench->board->go);
}

/* Until all workers have ended, or are called off. */
static void watch_until_done(struct bench *bench)
{
	const int64_t start_ns = now_ns(bench);
	struct motion motion = motion_begin(bench);

	while (bench->n_alive > 0 && !is_stopped(bench)) {
		if (bench->watcher)
			bench->watcher->watch(bench->watcher->context,
					      bench->run, bench->board,
					      now_ns(bench) - start_ns);
		take_turn(bench, WATCH_MS);
		watch_motion(bench, &motion);
	}
}

static void let_workers_end(struct bench *bench)
{
	const int64_t deadline_ns =
		now_ns(bench) + (bench->signals->interrupted ? INTERRUPTED_MS :
							       LAST_WORDS_MS) *
					INT64_C(1000000);

	while (bench->n_alive > 0 && now_ns(bench) < deadline_ns)
		take_turn(bench, 20);
	kill_workers(bench);
}

/* The first client's complaint, if one gave up. */
static void pass_on_complaint(struct bench *bench)
{
	for (size_t i = 0; i < bench->board->n_clients; i++) {
		const struct rr_slot *slot = &bench->board->slots[i];

		if (slot->code != RR_EXIT_OK) {
			fail(bench, slot->code, slot->error);
			return;
		}
	}
}

static void prepare(struct bench *bench)
{
	if (fork_workers(bench) == RR_EXIT_OK)
		wait_until_ready(bench);
	else
		atomic_store(&bench->board->stop, true);
	if (is_stopped(bench))
		return;
	bench->code = rr_inspector_clear(&bench->inspector);
	if (bench->code != RR_EXIT_OK)
		atomic_store(&bench->board->stop, true);
}

static void measure(struct bench *bench, struct rr_measurement *measurement,
		    struct rr_spectra *spectra)
{
	struct rr_inspector *inspector = &bench->inspector;
	int64_t cpu_ns;

	prepare(bench);
	cpu_ns = is_stopped(bench) ? 0 : rr_inspector_cpu_ns(inspector);
	open_barrier(bench);
	watch_until_done(bench);
	let_workers_end(bench);
	pass_on_complaint(bench);
	if (bench->code == RR_EXIT_OK && bench->signals->interrupted)
		bench->code = RR_EXIT_INTERRUPTED;
	if (bench->code != RR_EXIT_OK)
		return;
	rr_measurement_gather(measurement, spectra, bench->run, bench->board);
	if (measurement->attempted != (uint64_t)bench->run->increments) {
		fail(bench, RR_EXIT_INTERNAL, "clients ended before their share was done");
		return;
	}
	measurement->server_cpu_ns = rr_inspector_cpu_ns(inspector) - cpu_ns;
	bench->code = rr_inspector_count(inspector, &measurement->final_value);
	if (bench->code == RR_EXIT_OK)
		rr_measurement_judge(measurement);
}

enum rr_exit rr_bench_run(const struct rr_run *run, struct rr_signals *signals,
			  const struct rr_watcher *watcher,
			  struct rr_measurement *measurement,
			  struct rr_spectra *spectra)
{
	struct bench bench = { .run = run,
			       .signals = signals,
			       .watcher = watcher };

	bench.workers = calloc((size_t)run->processes, sizeof(*bench.workers));
	bench.board = rr_board_new((size_t)(run->threads * run->processes),
				   (size_t)run->processes, (size_t)run->keys);
	if (!bench.workers || !bench.board)
		fail(&bench, RR_EXIT_INTERNAL, "out of memory");
	else
		bench.code = rr_inspector_open(&bench.inspector, run);
	if (bench.code == RR_EXIT_OK)
		bench.code = rr_inspector_clear(&bench.inspector);
	if (bench.code == RR_EXIT_OK)
		measure(&bench, measurement, spectra);
	rr_inspector_close(&bench.inspector);
	rr_board_free(bench.board);
	free(bench.workers);
	return bench.code;
}

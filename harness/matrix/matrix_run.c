/* SPDX-License-Identifier: MIT */
/* The workers of a matrix, seen from the program: started, waited for, ended. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bounds.h"
#include "hazards.h"
#include "matrix_inside.h"
#include "base/text.h"

enum {
	LOOK_MS = 100,
	END_S = 10,    /* for workers that were asked to end */
	PATIENCE_S = 120, /* without a sign of progress */
};

/* A worker, from outside. */
struct hand {
	pid_t pid; /* 0 = has ended */
	int at;    /* as they were when it was seen to go on last: */
	unsigned long states;
	double since;
	bool is_stuck; /* it was killed for that */
};

struct pool {
	struct rr_matrix *matrix;
	const struct rr_cluster_options *servers;
	struct rr_signals *signals;
	int n, n_alive;
	struct hand hands[RR_MATRIX_JOBS_MAX];
	double begun;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Orders --------------------------------------------------------------- */

static void order_column(struct rr_matrix *matrix, enum rr_hazard hazard)
{
	struct rr_matrix_shared *shared = matrix->shared;

	if (!rr_matrix_has(matrix, hazard))
		return;
	for (size_t i = matrix->n_strategies; i-- > 0;) {
		struct rr_cell *cell = rr_matrix_cell(matrix, i, hazard);

		if (rr_bounds_apply(cell->strategy, hazard))
			shared->orders[shared->n_orders++] =
				(size_t)(cell - matrix->cells);
		else
			cell->verdict = RR_CELL_NONE;
	}
}

/* The longest first, so that nobody is left alone with one at the end. */
static void order(struct rr_matrix *matrix)
{
	static const enum rr_hazard longest_first[RR_HAZARDS] = {
		RR_PAUSE, RR_SKEW,	 RR_RESTART,   RR_SLOW_WORK,
		RR_CRASH, RR_LOST_REPLY, RR_PROCESSES, RR_THREADS,
	};

	for (int i = 0; i < RR_HAZARDS; i++)
		order_column(matrix, longest_first[i]);
}

/* ---- Beginning and end ---------------------------------------------------- */

static enum rr_exit start_one(struct pool *pool, int worker)
{
	struct hand *hand = &pool->hands[worker];
	const pid_t program = getpid();

	atomic_store(&pool->matrix->shared->at[worker], RR_MATRIX_NO_CELL);
	fflush(NULL);
	*hand = (struct hand){ .at = RR_MATRIX_NO_CELL, .since = seconds() };
	hand->pid = fork();
	if (hand->pid == 0)
		rr_matrix_work(pool->matrix, worker, program, pool->servers);
	if (hand->pid < 0) {
		hand->pid = 0;
		return rr_complain(RR_EXIT_INTERNAL,
				   "cannot start a process: %s",
				   strerror(errno));
	}
	pool->n_alive++;
	return RR_EXIT_OK;
}

static enum rr_exit start(struct pool *pool)
{
	enum rr_exit code = RR_EXIT_OK;

	for (int i = 0; i < pool->n && code == RR_EXIT_OK; i++)
		code = start_one(pool, i);
	return code;
}

static void describe_end(struct rr_cell *cell, const struct hand *hand,
			 int status)
{
	cell->verdict = RR_CELL_FAILED;
	cell->code = RR_EXIT_INTERNAL;
	if (hand->is_stuck)
		snprintf(cell->problem, sizeof(cell->problem),
			 "no new state for %d s", PATIENCE_S);
	else
		snprintf(cell->problem, sizeof(cell->problem),
			 "its process ended (%s %d)",
			 WIFSIGNALED(status) ? "signal" : "code",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
					       WEXITSTATUS(status));
}

/* One that was not to end leaves the cell that it was at, and its place. */
static void bury(struct pool *pool, int worker, int status)
{
	struct rr_matrix_shared *shared = pool->matrix->shared;
	const int at = atomic_load(&shared->at[worker]);

	pool->n_alive--;
	if (at != RR_MATRIX_NO_CELL && !atomic_load(&shared->is_over)) {
		describe_end(&pool->matrix->cells[at], &pool->hands[worker],
			     status);
		atomic_fetch_add(&shared->n_done, 1);
		start_one(pool, worker);
	} else {
		pool->hands[worker].pid = 0;
	}
}

static void bury_all(struct pool *pool)
{
	int status;

	for (int i = 0; i < pool->n; i++) {
		const pid_t pid = pool->hands[i].pid;

		if (pid && waitpid(pid, &status, WNOHANG) == pid)
			bury(pool, i, status);
	}
}

/* Ends a worker that does not go on. */
static void watch(struct pool *pool, int worker)
{
	const struct rr_matrix_shared *shared = pool->matrix->shared;
	const int at = atomic_load(&shared->at[worker]);
	const unsigned long states = atomic_load(&shared->states[worker]);
	struct hand *hand = &pool->hands[worker];

	if (at != hand->at || states != hand->states) {
		hand->at = at;
		hand->states = states;
		hand->since = seconds();
	} else if (hand->pid && !hand->is_stuck &&
		   seconds() - hand->since > PATIENCE_S) {
		hand->is_stuck = true;
		kill(hand->pid, SIGKILL);
	}
}

/* They are asked first; their guardians see to their servers in any case. */
static void end(struct pool *pool)
{
	const double begun = seconds();

	atomic_store(&pool->matrix->shared->is_over, true);
	while (pool->n_alive > 0 && seconds() - begun < END_S) {
		rr_signals_wait(pool->signals, LOOK_MS);
		bury_all(pool);
	}
	for (int i = 0; i < pool->n; i++) {
		const pid_t pid = pool->hands[i].pid;

		if (pid == 0)
			continue;
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

/* ---- Meanwhile ------------------------------------------------------------ */

/* Cells are not alike: what is left is a guess, and too high at first. */
static void show_progress(const struct pool *pool)
{
	const struct rr_matrix_shared *shared = pool->matrix->shared;
	const size_t done = atomic_load(&shared->n_done);
	const double elapsed = seconds() - pool->begun;
	char number[RR_GROUPED_SIZE];

	fprintf(stderr, "\r\033[K%zu of %zu  %.0f s", done, shared->n_orders,
		elapsed);
	if (done > 0)
		fprintf(stderr, ", at most %.0f s left",
			elapsed / (double)done *
				(double)(shared->n_orders - done));
	for (int i = 0; i < pool->n && i < 2; i++) {
		const int at = atomic_load(&shared->at[i]);
		const struct rr_cell *cell = &pool->matrix->cells[at];

		if (at != RR_MATRIX_NO_CELL)
			fprintf(stderr, "  %s, %s: %s", cell->strategy->name,
				rr_hazard_texts[cell->hazard].title,
				rr_grouped(number,
					   (long long)atomic_load(
						   &shared->states[i])));
	}
	fflush(stderr);
}

static void await(struct pool *pool)
{
	const bool visible = isatty(STDERR_FILENO) == 1;

	while (pool->n_alive > 0 && !pool->signals->interrupted) {
		if (visible)
			show_progress(pool);
		rr_signals_wait(pool->signals, LOOK_MS);
		bury_all(pool);
		for (int i = 0; i < pool->n; i++)
			watch(pool, i);
	}
	if (visible)
		fputs("\r\033[K", stderr);
}

/* Why some cells are not done. */
static enum rr_exit conclude(const struct pool *pool, enum rr_exit code)
{
	const struct rr_matrix_shared *shared = pool->matrix->shared;

	if (pool->signals->interrupted)
		return RR_EXIT_INTERRUPTED;
	if (code == RR_EXIT_OK && atomic_load(&shared->has_failed) &&
	    atomic_load(&shared->n_done) < shared->n_orders)
		code = rr_complain(shared->code, "%s", shared->error);
	return rr_exit_worse(code, rr_matrix_exit(pool->matrix));
}

enum rr_exit rr_matrix_run(struct rr_matrix *matrix,
			   const struct rr_cluster_options *servers, int jobs,
			   struct rr_signals *signals)
{
	struct pool pool = { .matrix = matrix,
			     .servers = servers,
			     .signals = signals,
			     .n = jobs,
			     .begun = seconds() };
	enum rr_exit code;

	order(matrix);
	if ((size_t)pool.n > matrix->shared->n_orders)
		pool.n = (int)matrix->shared->n_orders;
	code = start(&pool);
	if (code == RR_EXIT_OK)
		await(&pool);
	end(&pool);
	matrix->seconds = seconds() - pool.begun;
	memcpy(matrix->version, matrix->shared->version, RR_MATRIX_VERSION);
	return conclude(&pool, code);
}

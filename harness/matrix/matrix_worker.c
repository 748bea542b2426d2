/* SPDX-License-Identifier: MIT */
/* A worker: a process with servers of its own, and one cell after another. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "scheduler/gate.h"
#include "matrix_inside.h"
#include "base/placement.h"

struct worker {
	struct rr_matrix *matrix;
	int number;
	struct rr_session session;
	struct rr_cluster cluster;
};

static void note_version(struct worker *worker)
{
	static const char field[] = "redis_version:";
	struct rl_reply reply;
	const char *found;

	if (worker->cluster.n_pool == 0 ||
	    rl_run(worker->cluster.pool[0].admin, &reply, "INFO server") !=
		    RL_OK)
		return;
	found = reply.text ? strstr(reply.text, field) : NULL;
	if (found)
		snprintf(worker->matrix->shared->version, RR_MATRIX_VERSION,
			 "%.*s", (int)strcspn(found + strlen(field), "\r\n"),
			 found + strlen(field));
}

/* Told by a search now and then. */
static bool watch(void *context, unsigned long states, double share)
{
	struct worker *worker = context;
	struct rr_matrix_shared *shared = worker->matrix->shared;
	struct rr_signals *signals = &worker->session.signals;

	(void)share;
	atomic_store(&shared->states[worker->number], states);
	rr_signals_wait(signals, 0);
	if (atomic_load(&shared->is_over))
		signals->interrupted = true;
	return !signals->interrupted;
}

/* Moves a text to where the program sees it; NULL when there is no room. */
static char *share(struct rr_matrix_shared *shared, char *text)
{
	const size_t size = text ? strlen(text) + 1 : 0;
	const size_t at = atomic_fetch_add(&shared->n_text, size);
	char *copy = NULL;

	if (text && at + size <= RR_MATRIX_TEXTS)
		copy = memcpy(&shared->texts[at], text, size);
	free(text);
	return copy;
}

/* The verdict comes last: without it the cell is not there. */
static void publish(struct worker *worker, struct rr_cell *cell,
		    const struct rr_cell *found)
{
	struct rr_matrix_shared *shared = worker->matrix->shared;

	*cell = *found;
	cell->verdict = RR_CELL_UNDONE;
	cell->transcript = share(shared, found->transcript);
	cell->drawing = share(shared, found->drawing);
	cell->bounds.progress = NULL;
	atomic_thread_fence(memory_order_release);
	cell->verdict = found->verdict;
	atomic_fetch_add(&shared->n_done, 1);
}

static void do_cells(struct worker *worker)
{
	struct rr_matrix_shared *shared = worker->matrix->shared;
	size_t i;

	while ((i = atomic_fetch_add(&shared->next, 1)) < shared->n_orders) {
		struct rr_cell *cell =
			&worker->matrix->cells[shared->orders[i]];
		struct rr_cell found = *cell;

		found.bounds.progress = watch;
		found.bounds.context = worker;
		atomic_store(&shared->at[worker->number],
			     (int)shared->orders[i]);
		if (!watch(worker, 0, 0) ||
		    rr_cell_run(&found, &worker->cluster) ==
			    RR_EXIT_INTERRUPTED)
			break;
		publish(worker, cell, &found);
	}
	atomic_store(&shared->at[worker->number], RR_MATRIX_NO_CELL);
}

/* The first one to fail says why. */
static void fail(struct worker *worker, enum rr_exit code, const char *error)
{
	struct rr_matrix_shared *shared = worker->matrix->shared;

	if (atomic_exchange(&shared->has_failed, true))
		return;
	shared->code = code;
	snprintf(shared->error, sizeof(shared->error), "%s", error);
}

static void work(struct worker *worker,
		 const struct rr_cluster_options *servers)
{
	struct rr_cluster_options options = *servers;
	char error[RR_CLUSTER_ERROR];
	enum rr_exit code;

	options.cpu = rr_placement_nth(worker->number);
	rr_gate_settle(options.cpu);
	code = rr_cluster_open(&worker->cluster, &worker->session, &options,
			       error);
	if (code == RR_EXIT_OK) {
		note_version(worker);
		do_cells(worker);
	} else {
		fail(worker, code, error);
	}
	rr_cluster_close(&worker->cluster);
}

_Noreturn void rr_matrix_work(struct rr_matrix *matrix, int number,
			      pid_t program,
			      const struct rr_cluster_options *servers)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	enum rr_exit code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!worker || getppid() != program)
		_exit(RR_EXIT_INTERNAL);
	worker->matrix = matrix;
	worker->number = number;
	code = rr_session_open(&worker->session);
	if (code == RR_EXIT_OK)
		work(worker, servers);
	else
		fail(worker, code, "cannot start a worker");
	rr_session_close(&worker->session);
	free(worker);
	_exit(RR_EXIT_OK);
}

/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "client.h"
#include "base/placement.h"
#include "postpone.h"

/* Stands at the barrier until it opens; the program opens it in any case, and
 * its death is ours. */
static void wait_for_go(struct rr_board *board)
{
	while (sem_wait(&board->go) != 0)
		continue;
}

/* What the warm-up left in the slot does not count. */
static void clear_results(struct rr_slot *slot)
{
	atomic_store(&slot->done, 0);
	slot->ok = slot->failed = slot->unknown = 0;
	slot->retries = slot->retry_max = 0;
	slot->overlaps = slot->overruns = 0;
	slot->commands = slot->unsettled = 0;
	memset(&slot->latency, 0, sizeof(slot->latency));
	memset(&slot->waiting, 0, sizeof(slot->waiting));
}

static void count(struct rr_runner *runner)
{
	const struct rr_run *run = runner->run;

	if (run->policy == RR_POLICY_DELAY_QUEUE)
		rr_postpone_count(runner);
	else
		rr_runner_count(runner, run->increments);
}

static void *client_thread(void *argument)
{
	struct rr_runner *runner = argument;
	struct rr_board *board = runner->board;
	const bool opened = rr_runner_open(runner);

	if (opened && !runner->resumes) {
		rr_runner_count(runner, runner->run->warmup);
		clear_results(runner->slot);
	}
	atomic_fetch_add(&board->n_ready, 1);
	wait_for_go(board);
	if (opened) {
		rr_runner_enter(runner);
		count(runner);
		rr_runner_leave(runner);
	}
	rr_runner_close(runner);
	return NULL;
}

static void no_thread(struct rr_runner *runner, int error)
{
	struct rr_slot *slot = runner->slot;

	slot->code = RR_EXIT_INTERNAL;
	snprintf(slot->error, sizeof(slot->error),
		 "cannot start client thread %d of %zu: %s; ask for fewer",
		 runner->number + 1, runner->board->n_clients,
		 strerror(error));
	atomic_store(&runner->board->stop, true);
	atomic_fetch_add(&runner->board->n_ready, 1);
}

/* Starts the threads; returns how many. */
static int start_threads(struct rr_runner *runners, pthread_t *threads, int n)
{
	int started = 0, error = 0;

	while (started < n && !error) {
		error = pthread_create(&threads[started], NULL, client_thread,
				       &runners[started]);
		started += !error;
	}
	for (int i = started; i < n; i++)
		no_thread(&runners[i], error);
	return started;
}

static void run_threads(struct rr_runner *runners, pthread_t *threads, int n,
			struct rr_board *board, struct rr_usage *usage)
{
	const int started = start_threads(runners, threads, n);

	wait_for_go(board);
	rr_usage_start(usage);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	rr_usage_stop(usage);
}

/*
 * Dies with the program, sleeps exactly, runs where it was told to. A client
 * that a reply has woken lets the server finish its round of replies first
 * (SCHED_BATCH); where clients wake one another through a mutex, that would
 * only let the one that runs keep it.
 */
static void settle(const struct rr_run *run, const struct rr_board *board)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (run->strategy->lock.kind != RR_LOCK_MUTEX)
		sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	if (getppid() != board->program)
		_exit(RR_EXIT_INTERNAL);
	rr_placement_pin(run->cluster->options.cpu);
}

_Noreturn void rr_worker(const struct rr_run *run, struct rr_board *board,
			 int process)
{
	const size_t n = (size_t)run->threads;
	struct rr_runner *runners = calloc(n, sizeof(*runners));
	pthread_t *threads = calloc(n, sizeof(*threads));
	struct rl_mutex *mutexes = calloc((size_t)run->keys, sizeof(*mutexes));

	settle(run, board);
	if (!runners || !threads || !mutexes)
		_exit(RR_EXIT_INTERNAL);
	for (int i = 0; i < run->keys; i++)
		rl_mutex_init(&mutexes[i]);
	for (size_t i = 0; i < n; i++) {
		const int number = process * run->threads + (int)i;

		runners[i] = (struct rr_runner){
			.run = run,
			.board = board,
			.slot = &board->slots[number],
			.mutexes = mutexes,
			.number = number,
			.resumes = atomic_load(&board->slots[number].deaths) > 0,
		};
	}
	run_threads(runners, threads, run->threads, board,
		    &board->usage[process]);
	for (int i = 0; i < run->keys; i++)
		rl_mutex_destroy(&mutexes[i]);
	free(mutexes);
	free(threads);
	free(runners);
	_exit(RR_EXIT_OK);
}

/* SPDX-License-Identifier: MIT */
/* A worker process, its client threads, and the memory that all of them
 * share. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/machine.h"
#include "base/memory.h"
#include "client.h"

/* ---- The shared memory --------------------------------------------------- */

struct rr_board *rr_board_new(const struct rr_run *run)
{
	const size_t n_clients = (size_t)run->threads * (size_t)run->processes;
	const size_t n_processes = (size_t)run->processes;
	/* In whole lines of the cache. */
	const size_t head = (sizeof(struct rr_board) + RR_CACHE_LINE - 1) / RR_CACHE_LINE *
			    RR_CACHE_LINE;
	const size_t slots = n_clients * sizeof(struct rr_slot);
	const size_t sections = (size_t)run->keys * sizeof(struct rr_section);
	const size_t usage = n_processes * sizeof(struct rr_usage);
	const size_t most = run->trace ? run->trace->most : 0;
	const size_t holds = n_clients * most * sizeof(struct rr_hold);
	const size_t wakes = run->rate_per_s > 0 ? n_clients * sizeof(struct rr_histogram) : 0;
	const size_t size = head + slots + sections + usage + holds + wakes;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rr_board *board = (struct rr_board *)memory;

	if (memory == MAP_FAILED)
		rr_out_of_memory();
	board->size = size;
	board->n_clients = n_clients;
	board->n_processes = n_processes;
	board->slots = (struct rr_slot *)(memory + head);
	board->sections = (struct rr_section *)(memory + head + slots);
	board->usage = (struct rr_usage *)(memory + head + slots + sections);
	memory += head + slots + sections + usage;
	for (size_t i = 0; i < n_clients; i++) {
		board->slots[i].holds = (struct rr_hold *)memory + i * most;
		if (wakes)
			board->slots[i].wake = (struct rr_histogram *)(memory + holds) + i;
	}
	sem_init(&board->go, 1, 0);
	return board;
}

void rr_board_free(struct rr_board *board)
{
	if (!board)
		return;
	sem_destroy(&board->go);
	munmap(board, board->size);
}

uint64_t rr_board_done(const struct rr_board *board)
{
	uint64_t done = 0;

	for (size_t i = 0; i < board->n_clients; i++)
		done += atomic_load_explicit(&board->slots[i].done, memory_order_relaxed);
	return done;
}

bool rr_board_is_stopped(const struct rr_board *board)
{
	return atomic_load_explicit(&board->stop, memory_order_relaxed);
}

void rr_board_stop(struct rr_board *board)
{
	atomic_store(&board->stop, true);
}

static int64_t timeval_ns(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

void rr_usage_add(struct rr_usage *usage, int sign)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	atomic_fetch_add(&usage->user_ns, sign * timeval_ns(now.ru_utime));
	atomic_fetch_add(&usage->sys_ns, sign * timeval_ns(now.ru_stime));
}

/* ---- A client's thread --------------------------------------------------- */

/* Stands at the barrier until it opens; the program opens it in any case, and
 * its death is ours. */
static void wait_for_go(struct rr_board *board)
{
	while (sem_wait(&board->go) != 0)
		continue;
}

void rr_board_meet(struct rr_board *board)
{
	atomic_fetch_add(&board->n_ready, 1);
	wait_for_go(board);
}

/* What the warm-up left in the slot does not count. */
static void clear_results(struct rr_slot *slot)
{
	atomic_store(&slot->done, 0);
	slot->ok = slot->failed = slot->unknown = 0;
	slot->retries = slot->retry_max = 0;
	slot->overlaps = slot->overruns = 0;
	slot->commands = slot->unsettled = slot->unconfirmed = 0;
	slot->n_holds = 0;
	slot->first_ns = 0;
	memset(&slot->latency, 0, sizeof(slot->latency));
	memset(&slot->waiting, 0, sizeof(slot->waiting));
}

static void *client_thread(void *argument)
{
	struct rr_runner *runner = argument;
	const bool opened = rr_runner_open(runner);

	if (opened && !runner->resumes) {
		rr_count(runner, runner->run->warmup, 1);
		clear_results(runner->slot);
	}
	rr_board_meet(runner->board);
	if (opened) {
		const struct rr_run *run = runner->run;

		runner->commands_before = rr_runner_commands(runner);
		if (run->policy == RR_POLICY_DELAY_QUEUE)
			rr_postpone(runner);
		else if (run->rate_per_s > 0)
			rr_count_open(runner);
		else
			rr_count(runner, run->increments, rr_holder_rounds(run));
		runner->slot->commands += rr_runner_commands(runner) - runner->commands_before;
	}
	rr_runner_close(runner);
	return NULL;
}

/* ---- The process --------------------------------------------------------- */

int rr_worker(const struct rr_run *run, struct rr_board *board, int process)
{
	const size_t n = (size_t)run->threads;
	size_t started = 0;
	int error = 0;
	struct rr_runner *runners = rr_calloc(n, sizeof(*runners));
	pthread_t *threads = rr_calloc(n, sizeof(*threads));
	struct rdl_mutex *mutexes = rr_calloc((size_t)run->keys, sizeof(*mutexes));

	/*
	 * Sleeps exactly, runs where it was told to. A client that a reply has woken
	 * lets the server finish its round of replies first (SCHED_BATCH); where
	 * clients wake one another through a mutex, that would only let the one that
	 * runs keep it.
	 */
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (run->strategy->lock.kind != RR_LOCK_MUTEX)
		sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
	rr_placement_pin(run->cluster->options.cpu);
	for (int i = 0; i < run->keys; i++)
		rdl_mutex_init(&mutexes[i]);
	for (size_t i = 0; i < n; i++) {
		const int number = process * run->threads + (int)i;
		struct rr_slot *slot = &board->slots[number];

		runners[i] = (struct rr_runner){
			.run = run,
			.board = board,
			.slot = slot,
			.mutexes = mutexes,
			.number = number,
			.resumes = atomic_load(&slot->deaths) > 0,
		};
	}
	while (started < n && !error) {
		error = pthread_create(&threads[started], NULL, client_thread, &runners[started]);
		started += !error;
	}
	for (size_t i = started; i < n; i++) {
		rr_runner_give_up(&runners[i], RR_ERROR_INTERNAL,
				  "cannot start client thread %d of %zu: %s; ask for fewer",
				  runners[i].number + 1, board->n_clients, strerror(error));
		atomic_fetch_add(&board->n_ready, 1);
	}
	wait_for_go(board);
	rr_usage_add(&board->usage[process], -1);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	rr_usage_add(&board->usage[process], 1);
	for (int i = 0; i < run->keys; i++)
		rdl_mutex_destroy(&mutexes[i]);
	free(mutexes);
	free(threads);
	free(runners);
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "board.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t in_lines(size_t size)
{
	return (size + RR_CACHE_LINE - 1) / RR_CACHE_LINE * RR_CACHE_LINE;
}

struct rr_board *rr_board_new(size_t n_clients, size_t n_processes,
			      size_t n_sections)
{
	const size_t head = in_lines(sizeof(struct rr_board));
	const size_t slots = n_clients * sizeof(struct rr_slot);
	const size_t sections = n_sections * sizeof(struct rr_section);
	const size_t usage = n_processes * sizeof(struct rr_usage);
	const size_t size = head + slots + sections + usage;
	struct rr_board *board = mmap(NULL, size, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (board == MAP_FAILED)
		return NULL;
	board->program = getpid();
	board->size = size;
	board->n_clients = n_clients;
	board->n_processes = n_processes;
	board->n_sections = n_sections;
	board->slots = (struct rr_slot *)((char *)board + head);
	board->sections = (struct rr_section *)((char *)board->slots + slots);
	board->usage = (struct rr_usage *)((char *)board->sections + sections);
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
		done += atomic_load_explicit(&board->slots[i].done,
					     memory_order_relaxed);
	return done;
}

static int64_t in_ns(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

static void add_usage(struct rr_usage *usage, int sign)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	atomic_fetch_add(&usage->user_ns, sign * in_ns(now.ru_utime));
	atomic_fetch_add(&usage->sys_ns, sign * in_ns(now.ru_stime));
}

void rr_usage_start(struct rr_usage *usage)
{
	add_usage(usage, -1);
}

void rr_usage_stop(struct rr_usage *usage)
{
	add_usage(usage, 1);
}

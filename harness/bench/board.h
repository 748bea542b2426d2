/* SPDX-License-Identifier: MIT */
/*
 * What the program and its worker processes share while a strategy runs: one
 * piece of memory, mapped before they are forked. Each client writes to a slot
 * of its own; what others read while it runs is atomic.
 */
#ifndef RR_BOARD_H
#define RR_BOARD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/exit_code.h"
#include "histogram.h"

enum { RR_CACHE_LINE = 64 };

/* One client's results. Plain fields are read after its process has ended. */
struct rr_slot {
	_Alignas(RR_CACHE_LINE) _Atomic uint64_t done; /* increments tried */
	uint64_t ok, failed, unknown;
	uint64_t retries, retry_max;
	uint64_t commands;
	uint64_t overlaps;
	uint64_t overruns;      /* critical sections that outlived the lease */
	uint64_t done_at_first; /* when the first client was through */
	_Atomic uint64_t asked; /* own increments done or put off */
	uint64_t unsettled;     /* ... of which it is not known */
	_Atomic uint64_t deaths; /* times it has killed its own process ... */
	uint64_t replaced;       /* ... and another has gone on: the program's */
	int64_t start_ns, end_ns;
	enum rr_exit code; /* not RR_EXIT_OK: gave up, `error` tells why */
	char error[400];
	struct rr_histogram latency;
	struct rr_histogram waiting;
};

/* One worker process's use of the processor while it ran, and of those whose
 * place it took. */
struct rr_usage {
	_Atomic int64_t user_ns, sys_ns;
};

/* How many clients are inside the critical section of one counter. */
struct rr_section {
	_Alignas(RR_CACHE_LINE) _Atomic int inside;
};

struct rr_board {
	sem_t go;                 /* posted once per waiting thread */
	_Atomic int n_ready;      /* clients that stand at the barrier */
	_Atomic bool stop;        /* everybody: finish this increment and end */
	_Atomic bool someone_done;
	_Atomic long kills;       /* claimed by workers that are to die */
	pid_t program;            /* the parent of all workers */
	size_t size;
	size_t n_clients;
	size_t n_processes;
	size_t n_sections;
	struct rr_slot *slots;
	struct rr_usage *usage;
	struct rr_section *sections;
};

/* NULL when out of memory. Shared with every process forked afterwards. */
struct rr_board *rr_board_new(size_t n_clients, size_t n_processes,
			      size_t n_sections);
void rr_board_free(struct rr_board *board);

/* Increments tried so far, by all clients together. */
uint64_t rr_board_done(const struct rr_board *board);

/* From here on, and until here, what the calling process uses is counted. */
void rr_usage_start(struct rr_usage *usage);
void rr_usage_stop(struct rr_usage *usage);

#endif

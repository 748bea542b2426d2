/* SPDX-License-Identifier: MIT */
/* What the processes of a program are doing, as proc(5) tells. */
#ifndef RR_PROCESS_TREE_H
#define RR_PROCESS_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cluster/cluster.h"
#include "program_clock.h"

/*
 * A look at all threads of a program: of its process, of that's children, and of whoever
 * else is in its process group.
 *
 * They are seen one after the other, so that one may have woken another meanwhile and
 * gone to sleep: only two looks that both found them sleeping, with the same stamp, tell
 * that all of them slept at once, for then none has run between what the two saw of
 * it. A thread that waits for time looks at the clock now and then (program_page.h),
 * and sleeps all the same.
 */
struct rr_process_look {
	bool sleeps;
	uint64_t stamp; /* of which threads there are, and how often they ran */
	int awake;      /* a thread that computes, or would on a free processor; 0 = none */
	int64_t ran_ns; /* for so long it has, since it began */
};

/* Its threads that sleep, and a stamp each: another one if it has run since. Those behind the
 * last place are left out. */
enum { RR_THREADS_MAX = 128 };

struct rr_threads {
	size_t n;
	struct rr_thread {
		int id; /* gettid(2) */
		uint64_t stamp;
	} of[RR_THREADS_MAX];
};

/* What proc(5) has of threads, kept open from look to look. Threads that were not seen in the last two
 * looks give their places to others; those behind the last place are opened each time. All 0: none. */
enum rr_thread_file {
	RR_THREAD_STAT,
	RR_THREAD_SYSCALL,
	RR_THREAD_SCHEDSTAT,
	RR_THREAD_CHILDREN,
	RR_THREAD_FILES
};

enum { RR_FILES_MAX = 8 };

struct rr_process_files {
	DIR *threads;   /* of the program's process; NULL = not open */
	FILE *children; /* of the guardian */
	unsigned n_looks;
	size_t n;
	struct rr_thread_files {
		int thread;
		unsigned seen;            /* in the look of this number */
		int fds[RR_THREAD_FILES]; /* -1 = not open */
	} of[RR_FILES_MAX];
};

void rr_process_files_close(struct rr_process_files *files);

struct rr_process_tree {
	pid_t pid;      /* of the program */
	pid_t guardian; /* the parent of those whose own has ended */
	bool has_ended; /* itself: others of its group may go on */
	const struct rr_program_clock *clock;
	struct rr_threads *threads;     /* noted there; NULL = they are not */
	struct rr_process_files *files; /* NULL = none is kept open */
};

/* Whoever has ended, and is the guardian's to say so, does not sleep. */
struct rr_process_look rr_process_tree_look(const struct rr_process_tree *tree);

/* A process in a group of its own that a program has left behind, which has ended with its process
 * group; 0: there is none. By their environment others belong to another program. */
pid_t rr_process_tree_stray(const struct rr_guardian *guardian, unsigned port);

/* The port that a process was given by its environment; 0: none, or it has ended. */
unsigned rr_process_tree_port(pid_t pid);

#endif

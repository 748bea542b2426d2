/* SPDX-License-Identifier: MIT */
/*
 * The kernel's questions about a watched program (rr_guarded.watch_fd): each connect(2), each call
 * that may change a file, and each one that names a file and was not noted by the preloaded library. A
 * thread answers, so that programs
 * that were started ahead go on while another one is looked at. It notes files in the program's page,
 * and those that are about to be changed in a list of its own; it hands connect(2) calls on.
 */
#ifndef RR_WATCH_H
#define RR_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "fresh.h"
#include "program_page.h"
#include "touched.h"

/* A connect(2) that waits for its answer: who asks, and what about. */
struct rr_watched_call {
	uint64_t id;
	pid_t thread;
	int fd;
	uintptr_t at;
	socklen_t size;
};

struct rr_watch {
	int listener; /* of the kernel; -1 = there is none */
	int calls_fd; /* struct rr_watched_call comes here; its end: nobody is left to ask about */
	/* The thread, its ends of two pipes, and what it does. */
	bool runs;
	pthread_t thread;
	int handed_fd, stop_fds[2];
	struct rr_program_page *page;
	const char *own;              /* redrace's directory */
	const struct rr_fresh *fresh; /* the directory of which the program has a copy, and */
	const char *copy;             /* that; or NULL */
	struct rr_touches *writes;    /* the thread's until the watch is closed */
	_Atomic int is_busy;
	_Atomic unsigned n_answered;
};

/* Takes the listener, which may be -1. Set `own` to `writes` before; without `writes` no change
 * is noted. False: errno. Close it in any case, also if it was never opened but is RR_WATCH_NONE. */
#define RR_WATCH_NONE       \
	((struct rr_watch){ \
		.listener = -1, .calls_fd = -1, .handed_fd = -1, .stop_fds = { -1, -1 } })
bool rr_watch_open(struct rr_watch *watch, int listener, struct rr_program_page *page);
void rr_watch_close(struct rr_watch *watch);

/* Does a process wait for an answer, or has it since `*n_answered`, which is brought up to date? It
 * sleeps meanwhile, and is not idle. */
bool rr_watch_is_asked(struct rr_watch *watch, unsigned *n_answered);

/* Reads what a thread has in its memory. False: errno. */
bool rr_watch_read(pid_t thread, uintptr_t at, void *into, size_t size);

#endif

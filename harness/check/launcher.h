/* SPDX-License-Identifier: MIT */
/*
 * The launcher: a small process that starts the programs that are checked, and sees
 * that none outlives us. It is the parent of all of them (and, as a subreaper, of
 * whatever they leave behind). When its socket to us closes, for whatever reason, it
 * kills every process below it and ends.
 *
 * A program runs in a process group of its own, with standard input empty and both
 * outputs in one pipe, which is the caller's to read.
 */
#ifndef RR_LAUNCHER_H
#define RR_LAUNCHER_H

#include <sys/types.h>

#include "base/error.h"

enum { RR_LAUNCHED_MAX = 128 };

struct rr_launcher {
	int socket;
	pid_t pid;
	size_t n_ended;
	struct rr_launched {
		pid_t pid;
		int status;       /* of wait(2) */
	} ended[RR_LAUNCHED_MAX]; /* and nobody has asked for them */
	size_t n_groups;
	pid_t groups[RR_LAUNCHED_MAX]; /* programs that were not killed yet */
};

/* Before there is any thread. */
bool rr_launcher_start(struct rr_launcher *launcher, struct rr_error *error);

/* Kills whatever still runs, and waits until it is gone. */
void rr_launcher_stop(struct rr_launcher *launcher);

/* Starts a program, looked up on PATH; `argv` and `environment` (NAME=VALUE, beside
 * our own) end in NULL. One that cannot be run exits with 127 and says why on its
 * output, which *output reads (the caller closes it). */
bool rr_launcher_run(struct rr_launcher *launcher, const char *const argv[],
		     const char *const environment[], pid_t *pid, int *output,
		     struct rr_error *error);

/* Has it ended by itself? Then with *status, which is told once. */
bool rr_launcher_has_ended(struct rr_launcher *launcher, pid_t pid, int *status);

/* Is that the process group of a program? Not of one that was killed. */
bool rr_launcher_has_group(const struct rr_launcher *launcher, pid_t group);

/* Kills a program with its process group. */
void rr_launcher_kill(struct rr_launcher *launcher, pid_t pid);

#endif

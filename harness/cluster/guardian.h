/* SPDX-License-Identifier: MIT */
/*
 * The guardian: a process that outlives the program by a moment, so that
 * nothing else does. It is the parent of every private server and the owner of
 * their directories. When its socket to the program closes, whatever the
 * reason (a return from main, an abort, kill -9), it kills the servers, removes
 * the directories and deletes the keys it was told about.
 *
 * It is forked before any thread exists, has a process group of its own (so
 * that Ctrl-C does not reach it) and holds no terminal or pipe of the
 * program's. Servers carry PR_SET_PDEATHSIG in case the guardian itself is
 * killed. One thread may use it; worker processes may inherit it, and then the
 * guardian acts when the last of them is gone.
 */
#ifndef RR_GUARDIAN_H
#define RR_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "keys.h"

struct rr_guardian {
	int socket;
	pid_t pid;
	char base[80]; /* the directory that holds the servers' directories */
};

/* A server process under the guardian's care. */
struct rr_ward {
	int index;
	pid_t pid;
	char directory[96]; /* its working directory, private to it */
};

/* All calls below: false with a message in `error` when it did not work. */
bool rr_guardian_start(struct rr_guardian *guardian, char *error,
		       size_t error_size);

/* A fresh directory, in which nothing runs yet. */
bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_ward *ward,
			 char *error, size_t error_size);

/*
 * Starts a program (looked up on PATH) in the ward's directory, where nothing
 * runs, or nothing any more; its output is appended to the file `log` there.
 * `cpu` >= 0 pins it. `argv` ends in NULL, and so does `environment`: words
 * NAME=VALUE that it gets beside our own; NULL = none.
 */
bool rr_guardian_run(struct rr_guardian *guardian, struct rr_ward *ward,
		     const char *const argv[], const char *const environment[],
		     int cpu, char *error, size_t error_size);

/* The two together: a program in a fresh directory. */
bool rr_guardian_spawn(struct rr_guardian *guardian, struct rr_ward *ward,
		       const char *const argv[], int cpu, char *error,
		       size_t error_size);

/* Has it ended? Then *status is its wait status. */
bool rr_guardian_has_ended(struct rr_guardian *guardian,
			   const struct rr_ward *ward, int *status);

/* Sends a signal; false when it has ended already. After SIGKILL it is waited
 * for until it has ended, after SIGSTOP until it stands still. */
bool rr_guardian_signal(struct rr_guardian *guardian,
			const struct rr_ward *ward, int number);

/* kill -9, and its directory removed: the ward is no more. */
bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_ward *ward);

/* These keys go when the program does. */
bool rr_guardian_own_keys(struct rr_guardian *guardian,
			  const struct rr_key_set *keys);

/* Ends all of it, and waits until that is done, 10 s at most. */
void rr_guardian_stop(struct rr_guardian *guardian);

#endif

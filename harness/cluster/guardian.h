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
 * killed. When a signal has asked the program to end and it does not even look, for
 * it waits for a server that does not answer, the guardian ends it
 * (base/machine.h). One thread may use it; worker processes may inherit it, and then the
 * guardian acts when the last of them is gone.
 */
#ifndef RR_GUARDIAN_H
#define RR_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "keys.h"

enum { RR_GUARDIAN_ANSWER_MS = 10000 };

struct rr_guardian {
	int socket;
	pid_t pid;
	char base[80]; /* the directory that holds the servers' directories */
	int answer_ms; /* how long an answer is waited for */
	unsigned n_requests;
	bool is_gone; /* it has not answered the last one */
};

/* A server process under the guardian's care. */
struct rr_process {
	int index;
	pid_t pid;
	char directory[96]; /* its working directory, private to it */
};

bool rr_guardian_start(struct rr_guardian *guardian, struct rr_error *error);

/* Has it answered the last request? Else RR_ERROR_REDIS: its servers ended with it. */
bool rr_guardian_is_there(const struct rr_guardian *guardian, struct rr_error *error);

/* A fresh directory, in which nothing runs yet. */
bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_process *process,
			 struct rr_error *error);

/*
 * Starts a program (looked up on PATH) in the process's directory, where nothing
 * runs, or nothing any more; its output is appended to the file `log` there.
 * `cpu` >= 0 pins it. `argv` ends in NULL, and so does `environment`: words
 * NAME=VALUE that it gets beside our own; NULL = none.
 */
bool rr_guardian_run(struct rr_guardian *guardian, struct rr_process *process,
		     const char *const argv[], const char *const environment[], int cpu,
		     struct rr_error *error);

/* Has it ended? Then *status is its wait status. */
bool rr_guardian_has_ended(struct rr_guardian *guardian, const struct rr_process *process,
			   int *status);

/* Sends a signal; false when it has ended already. After SIGKILL it is waited
 * for until it has ended, after SIGSTOP until it stands still. */
bool rr_guardian_signal(struct rr_guardian *guardian, const struct rr_process *process, int number);

/* kill -9, and its directory removed: the process is no more. */
bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_process *process);

/* These keys go when the program does. */
bool rr_guardian_own_keys(struct rr_guardian *guardian, const struct rr_key_set *keys,
			  struct rr_error *error);

/* Ends all of it, and waits until that is done, 10 s at most. */
void rr_guardian_stop(struct rr_guardian *guardian);

/* Removes a directory and all that is in it. */
void rr_guardian_remove_tree(const char *path);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The guardian: a process that outlives the program by a moment, so that
 * nothing else does. It is the parent of every private server and of every program
 * that is checked (and, as a subreaper, of whatever they leave behind), and the owner
 * of their directories. When its socket to the program closes, whatever the
 * reason (a return from main, an abort, kill -9), it kills every process below it,
 * removes the directories and deletes the keys it was told about.
 *
 * It is forked before any thread exists, has a process group of its own (so
 * that Ctrl-C does not reach it) and holds no terminal or pipe of the
 * program's. Should the guardian itself be killed, its children end with it
 * (PR_SET_PDEATHSIG), and the program ends those that these leave behind. When a signal has asked the program to end and it does not even look, for
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

enum { RR_GUARDIAN_ANSWER_MS = 30000, RR_GUARDED_MAX = 128 };

/* The calls of a watched program of 32 bits on x86. */
enum { RR_I386_SOCKETCALL = 102, RR_I386_CONNECT = 362, RR_I386_SOCKETCALL_CONNECT = 3 };

/*
 * A system call of a watched program that may change a file by its name, about which the kernel asks
 * (guardian_watch.c). ELSEWHERE: paths mean something else from then on. KEYED: no file, but memory,
 * semaphores or a queue that processes share which know the first argument (IPC_PRIVATE: its children).
 */
enum rr_writes {
	RR_WRITES_BY_FLAGS, /* as the flags of open(2) say */
	RR_WRITES_BY_HOW,   /* or those of a struct open_how */
	RR_WRITES_CREAT,
	RR_WRITES_NEW,   /* makes what is not there */
	RR_WRITES_THERE, /* changes or removes what is there */
	RR_WRITES_MOVES, /* the first path, which is there, becomes the second */
	RR_WRITES_ELSEWHERE,
	RR_WRITES_KEYED
};

/* Instead of the argument with a path: the call is about an open file. */
enum { RR_NO_PATH = -1 };

struct rr_write_call {
	unsigned number;
	unsigned n_paths;
	enum rr_writes how;
	int flags; /* which argument has them */
	struct {
		int directory, path; /* arguments; directory -1 = the working directory */
	} paths[2];
};

/* NULL: that call changes none. */
const struct rr_write_call *rr_write_call_find(long number);

/* A process under the guardian's care, in a process group of its own. */
struct rr_guarded {
	int index;
	pid_t pid;
	char directory[96]; /* private to it */
	bool runs_here;     /* it is started in our working directory instead */
	/* Asked for, of a program that is checked: its addresses are the same at every start, and
	 * the kernel asks about each connect(2) of it and of its children, and about each call that
	 * may change a file by its name. It does so on a listener (seccomp_unotify(2)), which the
	 * caller closes. -1: there is none, for that errno. */
	bool is_watched;
	/* In a mount namespace of its own it sees the first directory at the place of the second
	 * one; NULL: it has none. */
	const char *bound_from, *bound_at;
	bool watches_files; /* and about each call that names a file, not only those that change one */
	int watch_fd;
	int watch_error;
	int address_error; /* the addresses of one that is watched are random, for that errno */
};

struct rr_guardian {
	int socket;
	pid_t pid;
	char base[80]; /* the directory that holds the servers' directories */
	int answer_ms; /* how long an answer is waited for */
	unsigned n_requests;
	int passed_fd; /* that came with its last message; -1 = none */
	bool is_gone;  /* it has not answered the last one */
	bool is_late;  /* in time, that is; it may be there */
	bool inherits; /* what a guardian that is killed leaves behind becomes our child */
	struct {
		pid_t pid; /* 0 = was not started */
		bool has_ended;
		int status;
	} guarded[RR_GUARDED_MAX]; /* as far as it has said */
};

bool rr_guardian_start(struct rr_guardian *guardian, struct rr_error *error);

/* Has it answered the last request? Else RR_ERROR_REDIS: all servers ended with it, or it has
 * not answered in time. */
bool rr_guardian_is_there(const struct rr_guardian *guardian, struct rr_error *error);

/* A fresh directory, in which nothing runs yet. */
bool rr_guardian_prepare(struct rr_guardian *guardian, struct rr_guarded *process,
			 struct rr_error *error);

/*
 * Starts a program (looked up on PATH), where nothing runs, or nothing any more. Its
 * standard input is empty; its output is appended to the file `log` in its directory,
 * which may be a FIFO by then. `cpu` >= 0 pins it. `argv` ends in NULL, and so does
 * `environment`: words NAME=VALUE that it gets beside our own; NULL = none.
 */
bool rr_guardian_run(struct rr_guardian *guardian, struct rr_guarded *process,
		     const char *const argv[], const char *const environment[], int cpu,
		     struct rr_error *error);

/* Has it ended? Then *status is its wait status. */
bool rr_guardian_has_ended(struct rr_guardian *guardian, const struct rr_guarded *process,
			   int *status);

/* The same without asking: has the guardian said so? For who polls its socket. */
bool rr_guardian_has_said_end(struct rr_guardian *guardian, const struct rr_guarded *process,
			      int *status);

/* Is that the process group of one that was not killed by rr_guardian_kill()? */
bool rr_guardian_has_group(const struct rr_guardian *guardian, pid_t group);

/* Sends a signal; false when it has ended already. After SIGKILL it is waited
 * for until it has ended, after SIGSTOP until it stands still. */
bool rr_guardian_signal(struct rr_guardian *guardian, const struct rr_guarded *process, int number);

/* kill -9 to its process group, and its directory removed: the process is no more. */
bool rr_guardian_kill(struct rr_guardian *guardian, const struct rr_guarded *process);

/* These keys go when the program does. */
bool rr_guardian_own_keys(struct rr_guardian *guardian, const struct rr_key_set *keys,
			  struct rr_error *error);

/* Ends all of it, and waits until that is done, 10 s at most. */
void rr_guardian_stop(struct rr_guardian *guardian);

/* Removes a directory and all that is in it. */
void rr_guardian_remove_tree(const char *path);

#endif

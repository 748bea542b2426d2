/* SPDX-License-Identifier: MIT */
/* What the program and its guardian send each other. Answers carry the number of
 * their request: one that comes after its time-out is not taken for the answer
 * to the next request. A process that has ended is told of without being asked for,
 * before the next answer. */
#ifndef RR_GUARDIAN_PROTOCOL_H
#define RR_GUARDIAN_PROTOCOL_H

#include <stdbool.h>
#include <sys/types.h>

#include "keys.h"

enum guardian_kind {
	GUARDIAN_PREPARE, /* a fresh directory, in which nothing runs */
	GUARDIAN_SPAWN,
	GUARDIAN_PING, /* who has ended is told of now */
	GUARDIAN_SIGNAL,
	GUARDIAN_KILL,
	GUARDIAN_OWN_KEYS,
};

enum { GUARDIAN_WORDS_SIZE = 128 * 1024, GUARDIAN_WORDS = 1024, GUARDIAN_UNIQUE = 6 };

struct guardian_request {
	unsigned number;
	enum guardian_kind kind;
	int index;              /* SPAWN, SIGNAL, KILL */
	int signal;             /* SIGNAL */
	int cpu;                /* SPAWN */
	bool runs_here;         /* SPAWN: in the program's directory, not its own */
	bool is_watched;        /* SPAWN: redrace is asked about what it connects to */
	bool watches_files;     /* SPAWN: and about the files that it names */
	bool is_bound;          /* SPAWN: the last two words are a directory and its place */
	int n_argv;             /* SPAWN: so many words of argv, ... */
	int n_environment;      /* ... of NAME=VALUE after them ... */
	size_t size;            /* ... each with its NUL, so many bytes in all ... */
	const char *words;      /* ... which follow in the same message */
	struct rr_key_set keys; /* OWN_KEYS */
};

struct guardian_message {
	unsigned number;   /* the request's; 0 = a process has ended */
	int error_number;  /* an errno, 0 = done */
	int index;         /* PREPARE; the process that has ended */
	pid_t pid;         /* SPAWN */
	int status;        /* of wait(2), of one that has ended */
	int watch_error;   /* SPAWN: an errno, 0 = the listener is sent with the message */
	int bind_error;    /* SPAWN: an errno, 0 = what was to be bound is */
	int address_error; /* SPAWN: an errno, 0 = addresses of what is watched are not random */
	char unique[GUARDIAN_UNIQUE + 1]; /* of the very first, which answers nothing:
					   * what stands for the Xs of `base` */
};

/* The guardian's life: makes a directory of `base`, a name that ends in XXXXXX, says
 * so, serves `socket` until it closes, then cleans up. It makes the directory itself,
 * so that it is there to remove it whenever the program is killed. */
void guardian_process(int socket, char *base);

/* Has the kernel ask from now on (seccomp_unotify(2)) about each connect(2) of the calling process and
 * its children, and about each call that may change a file (struct rr_write_call). With `files` it
 * also asks about each call that names a file. Returns the listener, which exec(2) closes; -1: errno. */
int guardian_watch(bool files);

/* Receives a message with a descriptor; *fd is -1 where there was none. Returns as recv(2) does. */
ssize_t guardian_receive_with(int socket, void *message, size_t size, int *fd);

/* Kills all children of the calling process, and whatever becomes one because its parent
 * ends with them: those that left their group, or made daemons of themselves. */
void guardian_end_children(void);

#endif

/* SPDX-License-Identifier: MIT */
/* What the program and its guardian send each other. Answers carry the number of
 * their request: one that comes after its time-out is not taken for the answer
 * to the next request. */
#ifndef RR_GUARDIAN_PROTOCOL_H
#define RR_GUARDIAN_PROTOCOL_H

#include <sys/types.h>

#include "keys.h"

enum guardian_kind {
	GUARDIAN_PREPARE, /* a fresh directory, in which nothing runs */
	GUARDIAN_SPAWN,
	GUARDIAN_STATUS,
	GUARDIAN_SIGNAL,
	GUARDIAN_KILL,
	GUARDIAN_OWN_KEYS,
};

enum { GUARDIAN_WORDS_SIZE = 2048, GUARDIAN_UNIQUE = 6 };

struct guardian_request {
	unsigned number;
	enum guardian_kind kind;
	int index;                       /* all but PREPARE and OWN_KEYS */
	int signal;                      /* SIGNAL */
	int cpu;                         /* SPAWN */
	int n_argv;                      /* SPAWN: so many words of argv, ... */
	int n_environment;               /* ... of NAME=VALUE after them ... */
	char words[GUARDIAN_WORDS_SIZE]; /* ... each with its NUL */
	struct rr_key_set keys;          /* OWN_KEYS */
};

struct guardian_answer {
	unsigned number;  /* the request's */
	int error_number; /* an errno, 0 = done */
	int index;
	pid_t pid;                        /* 0 = has ended */
	int status;                       /* its wait status then */
	char unique[GUARDIAN_UNIQUE + 1]; /* of the first, which answers nothing:
					   * what stands for the Xs of `base` */
};

/* The guardian's life: makes a directory of `base`, a name that ends in XXXXXX, says
 * so, serves `socket` until it closes, then cleans up. It makes the directory itself,
 * so that it is there to remove it whenever the program is killed. */
void guardian_process(int socket, char *base);

#endif

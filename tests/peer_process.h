/* SPDX-License-Identifier: MIT */
/* A peer of tests/bench/locks as a process that a test talks with. */
#ifndef RR_TEST_PEER_PROCESS_H
#define RR_TEST_PEER_PROCESS_H

#include <jansson.h>

#include "support.h"

struct peer_process {
	pid_t pid;
	int socket; /* its standard input and output */
};

/* Skips the running test, with a word, when it is not installed. */
void peer_need(const char *name);

/* Starts tests/bench/locks/run with these words, which end in NULL. */
void peer_start(struct peer_process *peer, const char *const words[]);

/* The next line that it prints, waited for; the caller owns it. Fails the test
 * when there is none. */
json_t *peer_answer(struct peer_process *peer);

/* The same, when it is to be an object with this truth value. */
bool peer_says(struct peer_process *peer, const char *field);

/* Ends its input and waits for it; its exit code. */
int peer_end(struct peer_process *peer);

#endif

/* SPDX-License-Identifier: MIT */
/* Programs' inside, for the files that make them up. */
#ifndef RR_TEST_PROGRAMS_INSIDE_H
#define RR_TEST_PROGRAMS_INSIDE_H

#include "programs.h"

enum { STATES_MAX = 8192, GATES = PROGRAM_CLIENTS + 1 };

struct program_client {
	struct rl_link *link;
	const struct program *program;
	struct rr_gate *gate; /* that it runs under */
	int number;
	uint64_t told; /* a digest of all replies; a lost one is one, too */
};

struct program_states {
	size_t n;
	uint64_t digests[STATES_MAX];
};

struct programs {
	struct rr_access *access;
	struct rr_gate *gates[GATES]; /* by the number of clients, 0 and 1 none */
	struct rl_link *link;
	int start; /* what runs begin with: 0 to 3, see programs_reset() */
	size_t n_clients;
	struct program programs[PROGRAM_CLIENTS];
	struct program_client clients[PROGRAM_CLIENTS];
	struct program_states states[2]; /* of the last search, and the one
					  * before */
};

/* ---- program_states.c ---- */

/* Runs a client's program, for the gate. `client`: struct program_client. */
void program_live(void *client);

/* Leaves on the server what the next run begins with: nothing, or one of three
 * beginnings. Returns the digest with what was stored added to it. */
uint64_t programs_reset(struct programs *programs, uint64_t digest);

/* A run has ended: cleans up after it and, if it counts, keeps its state. */
void programs_note(struct programs *programs, bool counts);

#endif

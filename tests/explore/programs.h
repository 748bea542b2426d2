/* SPDX-License-Identifier: MIT */
/*
 * Small random programs for the explorer: two or three clients that run a few
 * commands each. Which command comes next depends on all replies that a client has
 * heard, and a digest of these is a part of how a program ends.
 */
#ifndef RR_TEST_PROGRAMS_H
#define RR_TEST_PROGRAMS_H

#include <stdint.h>
#include <stdio.h>

#include "../cluster/stage.h"
#include "graph/graph.h"

enum {
	PROGRAM_CLIENTS = 3,
	PROGRAM_STEPS = 6,
	PROGRAM_CHOICES = 2, /* of commands, for each step */
	PROGRAM_WORDS = 14
};

/* ---- Making (program_pool.c, program_text.c) ---- */

/*
 * NULL after the last word. Three are no commands of a server:
 *	SLEEP seconds   the client sleeps
 *	LISTEN seconds  it waits for a message, on its other connection
 *	READ clock      it reads its own monotonic clock
 * SUBSCRIBE and its like go over the client's other connection.
 */
struct program_command {
	const char *words[PROGRAM_WORDS];
};

/* In commands of a pool: the command's key, and another one. */
#define PROGRAM_KEY "@"
#define PROGRAM_OTHER "&"

/* Commands that go together, and the keys that they are about, NULL at the end. */
struct program_pool {
	const char *name;
	const char *const *keys;
	const struct program_command *commands, *begins;
	size_t n_commands, n_begins;
	bool is_absolute; /* the time of day matters */
};

extern const struct program_pool program_pools[];
extern const size_t n_program_pools;

/* One client's. */
struct program {
	size_t n_steps;
	struct program_command steps[PROGRAM_STEPS][PROGRAM_CHOICES];
};

/* The clients' programs of a seed, and how many clients there are. */
size_t program_make(struct program *programs, uint64_t seed, const struct program_pool **pool);

bool program_is(const struct program_command *command, const char *name);

/* A line for each client: "A: SET a 1 or GET b; DEL a". */
void program_print(FILE *file, const struct program *programs, size_t n);

/* ---- Clients (program_client.c) ---- */

/* What the clients of a program do, and where their server is. */
struct program_clients {
	struct rdl_address address;
	struct program programs[PROGRAM_CLIENTS];
};

/* Fills in make, run and free of `program`, whose context must be such clients. */
void program_clients_init(struct rr_program *program);

/* Adds bytes to a digest. */
uint64_t program_mix(uint64_t digest, const void *bytes, size_t length);

/* ---- Running (programs.c) ---- */

struct programs;

struct programs *programs_open(struct stage *stage);
void programs_close(struct programs *programs);

/* From now on those of this seed, without what is beyond so many steps in all. */
void programs_make(struct programs *programs, uint64_t seed, size_t most_steps);

/* From now on these. */
void programs_take(struct programs *programs, const struct program *given, size_t n);

/* Their text. The caller frees it. */
char *programs_text(const struct programs *programs);

/* How to explore, and what came of it. */
struct programs_run {
	bool is_tree;    /* no two paths lead to one state */
	bool is_reduced; /* what only its client can notice is done at once */
	struct rr_budget budget;
	/* Called when all has been explored once: what it does to the tables is
	 * there when it is explored again. NULL = once is enough. */
	bool (*plant)(struct rr_server_table *table);
	bool checks; /* plays a path for real, and asks rows again */
	unsigned long programs, states, interleavings, stuck, too_large;
	bool was_planted, was_noticed; /* by the checks */
};

/* Explores, and keeps the set of ends: what is stored, what each client was told
 * and who is stuck. Adds to the run's counts. */
void programs_run(struct programs *programs, struct programs_run *run);

/* Did the last two of programs_run() reach the same ends, by as many interleavings? If not,
 * how they differ goes to `why`. */
bool programs_agree(const struct programs *programs, char *why, size_t size);

/* Appends a line of JSON to a file: what the last programs_run() came to, by that name. `is_right`: as
 * it is without tables. */
void programs_write(const struct programs *programs, const char *path, const char *id,
		    bool is_right);

#endif

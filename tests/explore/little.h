/* SPDX-License-Identifier: MIT */
/*
 * Little programs as clients of a search: interpreted in this process, so that a run costs
 * microseconds, and with a position (where it stands, its registers, what it has printed)
 * that is all that it can remember. So the truth is known of programs whose histories have
 * no end, too: the states of server and positions.
 *
 *	n = INCR hits;  CAD lock self;  SET a $x;     commands; `self` is the client's name
 *	both { x = GET a; y = GET b; }                two at once, on two connections
 *	x = 3;  x = y + 1;  x = x % 4;                registers are letters
 *	if x < 3 { ... } else { ... }                 ==, !=, <, >=
 *	while x < 3 { ... break; ... }
 *	print x;  end;
 *
 * What a register holds of a reply: a number; 0 = nil, 1 = OK, -1 = an error; and names
 * of clients, which are no numbers: to calculate with them gives -1.
 * CAD deletes a key if that is its value.
 */
#ifndef RR_TEST_LITTLE_H
#define RR_TEST_LITTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "../cluster/stage.h"
#include "base/random.h"
#include "explore/explore.h"
#include "replay/replay.h"

enum {
	LITTLE_CLIENTS = 3,
	LITTLE_OPS = 400,
	LITTLE_WORDS = 6,
	LITTLE_LANES = 2,
	LITTLE_REGISTERS = 26,
	LITTLE_SAID = 60
};

/* ---- Programs (little_text.c) ---------------------------------------------------- */

struct little_operand {
	enum { LITTLE_NUMBER, LITTLE_REGISTER, LITTLE_SELF } kind;
	int32_t number;
};

struct little_command {
	int to; /* a register; -1 = none */
	size_t n_words;
	struct rdl_word words[LITTLE_WORDS]; /* of the program's text */
};

struct little_op {
	enum {
		LITTLE_LET,  /* register `to` = a `sign` b */
		LITTLE_TEST, /* a `sign` b, or goes on at `target` */
		LITTLE_JUMP,
		LITTLE_SEND,
		LITTLE_PRINT,
		LITTLE_END
	} kind;
	char sign; /* + - % and = ! < > for ==, !=, <, >=; 0: a alone */
	int to;
	size_t target;
	struct little_operand a, b;
	size_t n_commands;
	struct little_command commands[LITTLE_LANES];
};

struct little {
	char *text;
	size_t n_ops;
	struct little_op ops[LITTLE_OPS];
};

/* Fails the test if it is none. */
struct little *little_new(const char *text);
void little_free(struct little *little);

/* ---- What they do (little_run.c) -------------------------------------------------- */

/* It is compared byte by byte. */
struct little_position {
	uint32_t op;
	uint32_t owed; /* lanes on which replies are missing, as bits; 0 = it has ended */
	int32_t registers[LITTLE_REGISTERS];
	char said[LITTLE_SAID];
};

void little_begin(const struct little *little, int self, struct little_position *at);
void little_hear(const struct little *little, int self, struct little_position *at, int lane,
		 const struct rdl_reply *reply);

/* The number of the command that is on its way on a lane. */
uint32_t little_sent(const struct little *little, int self, const struct little_position *at,
		     int lane, struct rr_terms *terms);

/* ---- As clients of a search (little_clients.c) -------------------------------------- */

struct little_clients;

/* A planted bug of the programs themselves: in the tables they forget of each number by how
 * much it is above 2. With the bits of `learning` in client_run.h. */
enum { LITTLE_FORGETS = 1 << 16 };

/* Those with the same text share a table. */
struct little_clients *little_clients_new(struct little *const *littles, size_t n,
					  unsigned learning);
void little_clients_free(struct little_clients *clients);

/* For rr_explore_config. */
struct rr_explored_programs little_clients_ops(struct little_clients *clients);

/* What a client has printed that has ended so, with its own name in it. */
void little_clients_said(const struct little_clients *clients, size_t client, long ending,
			 char said[LITTLE_SAID]);

/* Runs that were started. */
uint64_t little_clients_runs(const struct little_clients *clients);

/* ---- Searches (little_search.c) ------------------------------------------------------ */

/* The final states: data, and what each client has printed. */
struct little_ends {
	enum { LITTLE_WHOLE, LITTLE_CUT, LITTLE_TOO_LARGE, LITTLE_FAILED } extent;
	bool is_stuck;  /* not everybody can always end */
	unsigned found; /* RR_OUTCOME_... */
	size_t n;
	struct little_end {
		uint64_t digest;
		char *text;
	} * all;
	unsigned long states;
	uint64_t runs;
	struct rr_error error;
};

void little_ends_release(struct little_ends *ends);

struct little_case {
	const char *name;
	const char *texts[LITTLE_CLIENTS + 1]; /* NULL behind the last */
	int rounds;                            /* that loops are followed; 0 = 64 */
	bool may_be_cut;                       /* a search need not come to its end */
};

/* Searches up to `most` states; `truth`, unless it is NULL, gets what there is by positions. */
void little_search(struct stage *stage, const struct little_case *it, unsigned learning,
		   unsigned long most, struct little_ends *ends, struct little_ends *truth);

/* What `ends` has wrong, as far as it says that it has all; "" = nothing. */
void little_compare(const struct little_ends *ends, const struct little_ends *truth, char *why,
		    size_t size);

/* ---- Random ones (little_random.c) ------------------------------------------------------ */

/* The texts are the caller's to free. */
void little_random(uint64_t seed, struct little_case *it);

/* ---- Smaller ones (little_shrink.c) ----------------------------------------------------- */

/* Takes statements out, as long as that is shown. New texts are never freed: the test ends
 * soon. */
void little_shrink(struct little_case *it,
		   bool (*is_shown)(void *context, const struct little_case *it), void *context);

/* ---- By name (little_named.c) ----------------------------------------------------------- */

extern const struct little_case little_named[];
extern const size_t n_little_named;

const struct little_case *little_find(const char *name);

#endif

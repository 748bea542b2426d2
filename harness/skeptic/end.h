/* SPDX-License-Identifier: MIT */
/*
 * What an execution leaves, and when a schedule's end is explained by a serial execution's.
 *
 * The rule
 *
 *	Compared are, byte for byte: of each database each key, its type, its value and its time
 *	to live (members of sets, fields of hashes and members of equal scores sorted); functions;
 *	of each operation its exit status and its whole output, or the answer to the request.
 *
 *	Before that
 *	1. tokens that differ between two runs of the same serial execution are renamed, in the
 *	   order in which the first client has sent them, then the second and so on: "the first
 *	   of A" of those that are left in the end. A token is a maximal run of letters and
 *	   digits. Renamed are tokens that are not in both runs of any serial execution. A
 *	   renamed token also has the operations whose renamed tokens its own operation had
 *	   received before: it may follow from these. If these differ, the texts are AMBIGUOUS.
 *	2. true repeats are left out, and what was printed in them: a round of at most
 *	   DRIVE_PERIOD commands that changed nothing, and was answered as the round before it,
 *	   with nothing else done by that client in between. The first round stays.
 *	3. refused attempts are left out, and what was printed in them: a command that changes
 *	   data in another execution, changed none here, and was sent again next. So are rounds
 *	   of at most DRIVE_PERIOD commands before the same one is sent again, in which each
 *	   command was refused likewise, or is EXEC of a transaction that WATCH has aborted, or was
 *	   answered as in a serial execution in which the client had done the same before, also in
 *	   one that does not end. Where the
 *	   rest of what the client did and heard is the same as in the serial execution, what it
 *	   printed otherwise says only that it waited: it is not compared, and named.
 *	4. if the lines of an output come in another order in two runs of the same serial
 *	   execution, lines of outputs are sorted, which is named.
 *
 *	A client that failed with an exit status, and had changed no data, may be absent from the
 *	serial execution; so may one whose failure is declared (--refused, a refusing HTTP status).
 *	Its output is not compared then. With --strict-exits only the latter may.
 *
 *	5. what a key has left may differ by no more than clocks have moved, if a command of the same
 *	   name has given it the same time to live, and the key had the same left when that
 *	   command's operation ended, but for the time in which that waited (rules 2 and 3): the
 *	   rest has passed for others. A key that has expired has nothing left.
 *
 *	No other difference is excused but what the user has declared: --ignore, --allow-output,
 *	--refused, --data-only. Where a difference may be due to a random value that equals
 *	another token (AMBIGUOUS), or consists of times that differ by no more than clocks were
 *	moved (TIMES), the end is neither explained nor a finding.
 */
#ifndef RR_SKEPTIC_END_H
#define RR_SKEPTIC_END_H

#include "drive.h"

enum { END_TIMES_MAX = 6 };

/* From the best to the worst. */
enum end_difference { END_SAME, END_TIMES, END_AMBIGUOUS, END_DIFFERENT };

struct end {
	uint32_t ran; /* operations, as bits */
	uint32_t data;
	uint32_t functions; /* the number of a reply */
	bool is_stuck, is_long;
	int64_t moved_ns;
	size_t n_given; /* see struct execution */
	struct given *given;
	size_t n_operations;
	struct ended {
		bool has_ended, is_good, is_declared, has_changed;
		bool has_waited;  /* refused attempts were left out */
		bool is_cut;      /* repeats were left out */
		bool prints_late; /* all at its end: nobody knows in which round */
		int status, http;
		size_t n_times; /* at which it had commands executed, by the server's clock */
		int64_t times_ns[END_TIMES_MAX];
		/* Digests of what is left of what it sent and heard; the second without words. */
		uint64_t history, shape;
		char *output; /* what is left of it */
		size_t n_output;
	} operations[RR_RUN_CLIENTS];
	/* Tokens in the order of rule 1, each once, and who had it first. */
	struct rr_intern places; /* numbers of tokens: where each is */
	size_t n_tokens;
	struct end_token {
		uint32_t token;
		uint8_t operation;
		bool is_left;      /* it is in the data or in an output */
		size_t first_sent; /* in which event; SIZE_MAX = in none */
	} * tokens;
	/* Tokens in replies that an operation has received, and in which event. */
	size_t n_received;
	struct end_received {
		uint32_t token;
		uint8_t operation;
		size_t event;
	} * received;
};

/* What is known of tokens, from pairs of runs of the same serial execution. */
struct end_tokens {
	struct rr_intern all;
	bool *is_fixed; /* of each: it is in both runs of some pair */
	size_t n_fixed;
	bool has_random;
	bool sorts_lines;          /* rule 4 */
	struct rr_intern prefixes; /* digests of what operations did first in serial executions */
};

/* The data of the server: a number of a reply. False: the server failed. */
bool end_read_data(struct drive *drive, uint32_t *data);

/* The parts of each key in such a reply. */
enum { OF_DATABASE, OF_KEY, OF_LEFT, OF_TYPE, OF_IGNORED, OF_VALUE };

/* The number of a key, of drive->terms->words. */
uint32_t end_key_number(const struct drive *drive, const struct rdl_reply *of);

/* Until a key has expired, or the first of all has (RR_NO_ID); RR_NEVER = it does not. */
int64_t end_expiry_ns(const struct drive *drive, uint32_t data, uint32_t key);

/* The keys with a time to live that had another one before, or another value (RR_NO_ID: all that
 * have one), `most` at most. */
size_t end_new_leases(const struct drive *drive, uint32_t before, uint32_t data, uint32_t *keys,
		      size_t most);

/* A key lives for so much longer. False: the server failed. */
bool end_stretch(struct drive *drive, uint32_t data, uint32_t key, int64_t ns);

/* Of an execution that has come to its end, or of a serial one. Release it in any case. */
bool end_take(struct end *end, struct execution *it, uint32_t ran, bool is_serial,
	      struct end_tokens *tokens);
void end_release(struct end *end);

/* Two runs of the same serial execution. */
void end_learn_tokens(struct end_tokens *tokens, const struct end *a, const struct end *b);
void end_tokens_release(struct end_tokens *tokens);

/* How many bytes are a token from there on (rule 1), and where an end has it first. */
size_t end_token_length(const char *text, size_t n);
const struct end_token *end_find_token(const struct end *end, uint32_t token);

/* ---- Comparing (compare.c) --------------------------------------------------- */

/* Does a serial execution's end explain that of a schedule? `notes`: what was not compared, a
 * malloc'd sentence or NULL. */
enum end_difference end_compare(const struct drive *drive, const struct end_tokens *tokens,
				const struct end *found, const struct end *serial, char **note);

/* Operations that may be absent from the serial execution, as bits. */
uint32_t end_absent(const struct end *end, bool is_strict);

/* Lines for people: the data, and how operations ended; malloc'd. */
char *end_text(const struct drive *drive, const struct end *end);

/* The keys whose type or value differs, or that only one has, as docs/formats.md names the keys of a
 * finding. */
json_t *end_keys(const struct drive *drive, const struct end *found, const struct end *serial);

/* The same as docs/formats.md has the end of a finding. */
json_t *end_json(const struct drive *drive, const struct end *end);

#endif

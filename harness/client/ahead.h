/* SPDX-License-Identifier: MIT */
/*
 * Programs that are started ahead: while one is used, the next ones are starting on the
 * other processors. What a process does until it hears something is the same whenever it
 * is used, for it depends on its command line and its client's name alone, and its clock
 * stands still. So it is begun, stands at its first question, which nobody reads, and is
 * settled when it is wanted.
 *
 * A command line is started ahead when one process of it has stood still in this way: it
 * has not ended, and its clock is ours. Beside the very first one only the next is begun.
 */
#ifndef RR_AHEAD_H
#define RR_AHEAD_H

#include "programs.h"

/* Of all clients together. */
enum { RR_AHEAD_MAX = 8 };

struct rr_ahead {
	const struct rr_programs_config *programs;
	const struct rr_instance_config *instances;
	size_t most; /* that are wanted of a command line: as many as there are other processors */
	enum rr_ahead_line {
		RR_AHEAD_UNKNOWN,
		RR_AHEAD_STANDS,
		RR_AHEAD_DOES_NOT,
	} lines[RR_RUN_CLIENTS]; /* of each client's command line */
	size_t n;
	struct rr_instance *begun[RR_AHEAD_MAX]; /* those that were begun first are first */
	uint32_t free; /* clients, as bits, that draw other random values at each start */
	bool is_known; /* who is started still: these, as bits, once each */
	uint32_t expected;
	unsigned long n_unused; /* that were begun, and not settled */
};

/* Both must outlive it. `memory`: for so many programs there is memory. */
void rr_ahead_init(struct rr_ahead *ahead, const struct rr_programs_config *programs,
		   const struct rr_instance_config *instances, size_t memory);

/* Of all that is started until the next such call, this is known: each of these clients once, at
 * most. Or nobody knows. */
void rr_ahead_expect(struct rr_ahead *ahead, uint32_t clients);
void rr_ahead_expect_any(struct rr_ahead *ahead);

/* Ends all that were begun and are not used. */
void rr_ahead_release(struct rr_ahead *ahead);

/* A program at its first stop, as client `client`. NULL: the error. */
struct rr_instance *rr_ahead_start(struct rr_ahead *ahead, size_t client, struct rr_error *error);

/* One as no other, which was not begun ahead: with a seed of its own, or a clock that begins so much
 * later than those of the others. */
struct rr_instance *rr_ahead_start_other(struct rr_ahead *ahead, size_t client, uint64_t seed,
					 int64_t late_ns, struct rr_error *error);

/* With which seed clients are started; 0: each start has another one. */
uint64_t rr_ahead_seed(const struct rr_ahead *ahead, size_t client);

/* From now on a client draws other random values at each start. */
void rr_ahead_set_free(struct rr_ahead *ahead, size_t client);

#endif

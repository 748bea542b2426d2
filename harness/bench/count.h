/* SPDX-License-Identifier: MIT */
/* The counting loop in parts, for a loop that puts them together differently. */
#ifndef RR_COUNT_H
#define RR_COUNT_H

#include "client.h"

int64_t rr_count_now_ns(const struct rr_runner *runner);

/* Has somebody called the run off? */
bool rr_count_is_stopped(const struct rr_runner *runner);

/* Client `number`'s part of `total` increments. */
long rr_count_share(const struct rr_board *board, int number, long total);

/* One of the counters, at random. */
struct rr_target *rr_count_choose(struct rr_runner *runner);

/* Was it refused, and may it be tried again? Not when the run is called off, nor
 * after too many quorums missed in a row. */
bool rr_count_may_retry(struct rr_runner *runner, enum rl_outcome outcome);

/* Waits as the run's policy says, after so many refusals before this one. */
void rr_count_wait(struct rr_runner *runner, uint64_t refusals);

/* So many refusals of one increment. */
void rr_count_note_refusals(struct rr_slot *slot, uint64_t refusals);

/* An increment has ended so, asked for at start_ns, its turn at entered_ns. */
void rr_count_note(struct rr_runner *runner, const struct rr_target *target,
		   enum rl_outcome outcome, int64_t start_ns,
		   int64_t entered_ns);

/* After a failure: is the data server still there? If not, gives up. `target`
 * NULL: it was not about that one's lock. */
void rr_count_look_for_server(struct rr_runner *runner,
			      const struct rr_target *target,
			      enum rl_outcome outcome);

/* This client is through with its share. */
void rr_count_note_first_done(struct rr_board *board);

#endif

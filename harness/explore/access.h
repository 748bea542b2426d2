/* SPDX-License-Identifier: MIT */
/*
 * Which keys a command reads and writes: the server says so (COMMAND
 * GETKEYSANDFLAGS), once for each shape of command, and the reply says whether a
 * write took place. Commands that nobody knows conflict with everything.
 */
#ifndef RR_ACCESS_H
#define RR_ACCESS_H

#include "footprint.h"
#include "gate_trace.h"

struct rr_access;

/* `timeless`: a key of the first server that never has a time to live, or NULL.
 * NULL when a server cannot be reached. */
struct rr_access *rr_access_new(const struct rl_address *addresses, size_t n,
				const char *timeless);
void rr_access_free(struct rr_access *access);

/* A run begins: no connection has a transaction open or watches anything. */
void rr_access_begin(struct rr_access *access);

/* Of an executed step; every step of the run in order. A script that is
 * `proved` has written nothing. */
struct rr_footprint rr_access_of(struct rr_access *access,
				 const struct rr_gate_event *event,
				 bool proved);

bool rr_access_is_script(const struct rr_op *op);

/* Could this reply of a script mean that it has written nothing? */
bool rr_access_may_be_refusal(const struct rl_reply *reply);

/* Has this script ever answered what could mean that it has written nothing?
 * Only then do its changes have to be counted, which costs a round trip. */
bool rr_access_is_doubtful(const struct rr_access *access,
			   const struct rr_op *op);
void rr_access_doubt(struct rr_access *access, const struct rr_op *op);

/* How many changes the server has counted, -1 = it does not say. */
long long rr_access_changes(struct rr_access *access, int server);

/* The critical section's marks. */
struct rr_footprint rr_access_of_mark(const struct rr_gate_event *event);

#endif

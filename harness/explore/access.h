/* SPDX-License-Identifier: MIT */
/*
 * Which keys a command reads and writes: the server says so (COMMAND
 * GETKEYSANDFLAGS), once for each shape of command, and the reply says whether a
 * write took place. Commands that nobody knows conflict with everything.
 */
#ifndef RR_ACCESS_H
#define RR_ACCESS_H

#include "footprint.h"
#include "gate.h"

struct rr_access;

/* NULL when a server cannot be reached. */
struct rr_access *rr_access_new(const struct rl_address *addresses, size_t n);
void rr_access_free(struct rr_access *access);

/* Where the text of a script is known by its hash. */
void rr_access_set_gate(struct rr_access *access, const struct rr_gate *gate);

/* A run begins: no connection has a transaction open or watches anything. */
void rr_access_begin(struct rr_access *access);

/* Of an executed step; every step of the run in order. A script that is
 * `proved` has written nothing. */
struct rr_footprint rr_access_of(struct rr_access *access,
				 const struct rr_gate_event *event,
				 bool proved);

/* Of a step that has not been made: what it would touch at most. */
struct rr_footprint rr_access_expected(struct rr_access *access,
				       const struct rr_op *op);

bool rr_access_is_script(const struct rr_op *op);

/* Could this reply of a script mean that it has written nothing? */
bool rr_access_may_be_refusal(const struct rl_reply *reply);

/* How many changes the server has counted, -1 = it does not say. */
long long rr_access_changes(struct rr_access *access, int server);

/*
 * Leases of all keys that steps have named so far, by their bits' numbers: how
 * many nanoseconds from now they end, RR_NEVER for a key without one, RR_ABSENT_KEY
 * for one that is not there. False: a server does not answer.
 */
enum { RR_NAMES_MAX = 63, RR_ABSENT_KEY = -1 };

bool rr_access_read_ends(struct rr_access *access,
			 int64_t ends_ns[RR_NAMES_MAX]);

/* When the first of them ends, RR_NEVER when none does. */
int64_t rr_access_first_end(const int64_t ends_ns[RR_NAMES_MAX]);

/* The keys whose leases end in the next `duration_ns`, as bits. */
uint64_t rr_access_ends_within(const int64_t ends_ns[RR_NAMES_MAX],
			       int64_t duration_ns);

/* Of a server's fault: all that it holds, and whatever may be asked of it. */
struct rr_footprint rr_access_of_server(struct rr_access *access, int server);

/* The bit of a key on a server. */
uint64_t rr_access_bit(struct rr_access *access, int server, const char *key);

/* The server is about to close all connections. */
void rr_access_disconnect(struct rr_access *access, int server);

/* The critical section's marks. */
struct rr_footprint rr_access_of_mark(const struct rr_gate_event *event);

#endif

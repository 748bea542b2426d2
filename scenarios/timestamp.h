/* SPDX-License-Identifier: MIT */
/*
 * The timestamp lock: its key holds the second at which the lock runs out, and
 * clients compare that with their own clocks. Redis expires nothing here. The
 * strategies differ in how a dead lock is taken over and how one is given back.
 */
#ifndef RR_TIMESTAMP_H
#define RR_TIMESTAMP_H

#include "strategy.h"

/* The second at which a lock that is taken now runs out. */
long long rr_timestamp_end_s(const struct rr_client *client);

/* Has the second in a reply passed? False for nil and for what is no number. */
bool rr_timestamp_is_dead(const struct rr_client *client, const struct rdl_reply *end);

/* SETNX with `end_s`. RDL_BUSY: there is a lock, alive or dead. */
enum rdl_outcome rr_timestamp_set(struct rr_client *client, long long end_s);

/* GET. RDL_OK: there is a dead lock. RDL_BUSY: it is alive, or just gone. */
enum rdl_outcome rr_timestamp_find_dead(struct rr_client *client);

/* The whole of it as documented: SETNX, GET, GETSET. `end_s` gets what has been
 * written when it is RDL_OK. */
enum rdl_outcome rr_timestamp_acquire(struct rr_client *client, long long *end_s);

#endif

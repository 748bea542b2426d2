/* SPDX-License-Identifier: MIT */
/* Claims about clients: lost updates, connections, mutexes. */
#include "claims_tables.h"

const struct rr_claim rr_claims_updates[] = {
	{ .id = "LU-1",
	  .text = "Two clients that read, add and write back one number leave one increment, not two",
	  .where = "000:3-9, 001:5-11, 002:29-34" },
	{ .id = "LU-2",
	  .text = "Many rounds of GET and SET by two clients at once end below the sum",
	  .where = "000:3-9",
	  .measure = RR_MEASURE_LOST_UPDATES },
	{ .id = "LU-2c",
	  .text = "In the worst order all increments of two clients together leave 2",
	  .where = "000:3-9",
	  .derived = true },
	{ .id = "LU-3",
	  .text = "A record that is read, edited in the client and stored loses what another stored meanwhile",
	  .where = "001:5-11" },
	{ .id = "AT-1",
	  .text = "INCR and DECR count right without any lock",
	  .where = "002:66",
	  .measure = RR_MEASURE_INCR },
	{ .id = "AT-2",
	  .text = "A single command is never interrupted; several of them are",
	  .where = "000:11, 002:30, 002:36, 002:65",
	  .measure = RR_MEASURE_TORN_READS },
};
const size_t rr_n_claims_updates = sizeof(rr_claims_updates) / sizeof(rr_claims_updates[0]);

const struct rr_claim rr_claims_connections[] = {
	{ .id = "CC-0",
	  .text = "Clients do not get in each other's way on the server, it needs no locks",
	  .where = "000:11",
	  .verdict = RR_CLAIM_TRUE_IF,
	  .remark = "every client has a connection of its own, and only for single commands",
	  .measure = RR_MEASURE_OWN_CONNECTIONS },
	{ .id = "CC-1",
	  .text = "Two threads on one connection read each other's replies",
	  .where = "000:11",
	  .measure = RR_MEASURE_SHARED_CONNECTION },
	{ .id = "CC-2",
	  .text = "Requests of two threads on one connection run into each other",
	  .where = "000:11",
	  .by_server = true },
	{ .id = "CC-3",
	  .text = "A connection that is used again after a time-out answers with the old reply",
	  .where = "000:11" },
	{ .id = "CC-4",
	  .text = "A blocking command of one thread makes the other one on its connection wait",
	  .where = "000:11" },
	{ .id = "CC-5",
	  .text = "A transaction of one thread takes in the commands of the other on its connection",
	  .where = "000:11",
	  .derived = true },
	{ .id = "CC-6",
	  .text = "What one thread does to a shared connection (closing it, SELECT, SUBSCRIBE) happens to all",
	  .where = "000:11" },
};
const size_t rr_n_claims_connections = sizeof(rr_claims_connections) /
				       sizeof(rr_claims_connections[0]);

const struct rr_claim rr_claims_mutexes[] = {
	{ .id = "LM-1",
	  .text = "A mutex taken in the read method and again in the write method prevents lost updates",
	  .where = "000:13-27",
	  .verdict = RR_CLAIM_FALSE,
	  .measure = RR_MEASURE_MUTEX_PER_OPERATION },
	{ .id = "LM-2",
	  .text = "A mutex in each method cures the confusion on a shared connection",
	  .where = "000:11-27",
	  .verdict = RR_CLAIM_TRUE_IF,
	  .remark = "it is held from sending a command until its reply is read",
	  .measure = RR_MEASURE_MUTEX_ON_CONNECTION },
	{ .id = "LM-3",
	  .text = "A mutex inside a process does not help against other processes",
	  .where = "002:39-40",
	  .measure = RR_MEASURE_MUTEX_IN_PROCESSES },
	{ .id = "LM-4",
	  .text = "A lock that is kept in Redis works across processes",
	  .where = "002:40-42",
	  .measure = RR_MEASURE_LOCK_IN_REDIS },
};
const size_t rr_n_claims_mutexes = sizeof(rr_claims_mutexes) / sizeof(rr_claims_mutexes[0]);

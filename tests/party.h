/* SPDX-License-Identifier: MIT */
/* A quorum lock over private servers, and what can befall those. */
#ifndef RR_TEST_PARTY_H
#define RR_TEST_PARTY_H

#include "driver.h"
#include "support.h"

/* ONE_WAIT_MS is less than two time-outs. */
enum { NODE_MS = 500, ONE_WAIT_MS = 900, LONG_MS = 60000 };

/* A quorum with links of its own, which are not connected yet. */
struct party {
	struct rdl_link *links[RDL_QUORUM_NODES_MAX];
	struct rdl_quorum *quorum;
	size_t n;
};
void party_open(struct party *party, const struct rdl_address *addresses, size_t n,
		int node_timeout_ms);
void party_close(struct party *party);

/* rdl_quorum_try() with a long lease; *spent_ms, if not NULL, is for how long it slept. */
enum rdl_outcome party_try(struct party *party, long *spent_ms);
enum rdl_outcome party_release(struct party *party, long *spent_ms);

long monotonic_ms(void);

/* Signals to servers first .. first + n - 1. */
void servers_signal(struct support *support, size_t first, size_t n, int sig);

/* kill -9, all that it had is lost, and, if `again`, a new one in its place. */
void server_crash(struct support *support, size_t i, bool again);

/* Busy for `ms`, whoever asks. */
void server_delay(struct support *support, size_t i, int ms);

/* The value of "lock" there, "(nil)" when it has none. */
const char *lock_at(struct support *support, size_t i);

/* Somebody writes it there (NULL: deletes it) on servers first .. first + n - 1. */
void lock_write(struct support *support, size_t first, size_t n, const char *value);

/* How many of the first n servers have it. */
size_t locks_left(struct support *support, size_t n);

/* Server i has run SET, or deleted a lock by whatever means, so many times;
 * waits for it, two minutes at most. */
bool server_has_set(struct support *support, size_t i, long times);
bool server_has_deleted(struct support *support, size_t i, long times);

/* How often the link's server has run the command `name`. */
long command_count(struct rdl_link *link, const char *name);

/* ---- Addresses where nobody answers ----------------------------------------- */

struct hole {
	struct rdl_address address;
	int listener;
	int fillers[8];
};

/* Unix: the kernel accepts, and that is all. */
void hole_open_mute(struct hole *hole, struct support *support, int number);

/* TCP: the backlog is full, connecting never ends. */
void hole_open_full(struct hole *hole);

/* Nothing is there any more; with `support`, a server starts in its place. */
void hole_close(struct hole *hole, struct support *support);

#endif

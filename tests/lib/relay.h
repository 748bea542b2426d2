/* SPDX-License-Identifier: MIT */
/*
 * A relay between the library and a server: forwards bytes, and at a chosen one
 * cuts the connection in two, once.
 */
#ifndef RR_TEST_RELAY_H
#define RR_TEST_RELAY_H

#include <pthread.h>
#include <stdatomic.h>

#include "redislock.h"

enum relay_way { RELAY_REQUESTS, RELAY_REPLIES, RELAY_WAYS };

enum { RELAY_PAIRS_MAX = 16 };

/* Two sockets that are one connection; client -1 = none. */
struct relay_pair {
	int client, server;
};

/* What a client had sent before it was cut off, on its way still. */
struct relay_late {
	_Atomic int server; /* -1 = nothing */
	size_t length;
	char bytes[4096];
};

struct relay {
	struct rdl_address address; /* where the library connects */
	char target[256];
	int listener, stop_fd;
	pthread_t thread;
	struct relay_pair pairs[RELAY_PAIRS_MAX];
	struct relay_late late;
	/* Bytes that still pass in this direction, then the cut; -1 = none. */
	_Atomic long left[RELAY_WAYS];
	/* The rest of a cut request is kept for relay_deliver_late(). */
	_Atomic bool keeps_late;
};

/* In front of `address`, a unix socket, and known by `address` with the same
 * user afterwards. False: errno says why. */
bool relay_start(struct relay *relay, const struct rdl_address *address);
void relay_stop(struct relay *relay);

/* Cuts after `bytes` more in this direction. */
void relay_cut(struct relay *relay, enum relay_way way, long bytes);

/* Sends the server the rest of a request that was cut, and waits for its answer; for the cut as
 * well, two minutes at most. */
bool relay_deliver_late(struct relay *relay);

/* Has nothing been cut yet? Then nothing will be. */
bool relay_spare(struct relay *relay);

#endif

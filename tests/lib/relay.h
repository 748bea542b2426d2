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
	int server; /* -1 = nothing */
	int64_t due_ms;
	size_t length;
	char bytes[4096];
};

struct relay {
	struct rl_address address; /* where the library connects */
	char target[256];
	int listener, stop_fd;
	pthread_t thread;
	struct relay_pair pairs[RELAY_PAIRS_MAX];
	struct relay_late late;
	/* Bytes that still pass in this direction, then the cut; -1 = none. */
	_Atomic long left[RELAY_WAYS];
	/* The rest of a cut request reaches the server, so much later. */
	_Atomic int late_ms;
};

/* In front of `address`, a unix socket, and known by `address` with the same
 * user afterwards. False: errno says why. */
bool relay_start(struct relay *relay, const struct rl_address *address);
void relay_stop(struct relay *relay);

/* Cuts after `bytes` more in this direction. */
void relay_cut(struct relay *relay, enum relay_way way, long bytes);

/* Has nothing been cut yet? Then nothing will be. */
bool relay_spare(struct relay *relay);

#endif

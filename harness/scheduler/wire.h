/* SPDX-License-Identifier: MIT */
/*
 * The other end of a client's connection: a socket from which whole requests are taken
 * and to which whole replies are written. Of Redis it knows only where a request ends.
 */
#ifndef RR_WIRE_H
#define RR_WIRE_H

#include "driver.h"

/* All zero = closed. */
struct rr_wire {
	bool is_open;
	int fd;
	size_t used, n, capacity; /* bytes taken, bytes there */
	char *bytes;
};

/* Opens a wire that is closed: the client's end, -1 = there are no descriptors left. */
int rr_wire_open(struct rr_wire *wire);

/* The client finds its connection closed. What it sent and nobody took is gone. */
void rr_wire_close(struct rr_wire *wire);

/* Closes it, and frees its memory. */
void rr_wire_release(struct rr_wire *wire);

/* The next whole request, valid until the next call; false: none has come. If the client
 * has closed its end, the wire is closed then. */
bool rr_wire_take(struct rr_wire *wire, struct rl_command *command);

/* False: the client takes it no more. */
bool rr_wire_reply(struct rr_wire *wire, const struct rl_reply *reply);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The other end of a client's connection: a socket from which whole requests are taken
 * and to which whole replies are written. Of Redis it knows only where a request ends.
 */
#ifndef RR_WIRE_H
#define RR_WIRE_H

#include "resp.h"

/* All zero = closed. */
struct rr_wire {
	bool is_open;
	int fd;
	size_t used, n, capacity; /* bytes taken, bytes there */
	char *bytes;
};

/* Of a socket that a client has connected to; it is the wire's from now on. */
void rr_wire_begin(struct rr_wire *wire, int fd);

/* Opens a wire that is closed: the client's end, -1 = there are no descriptors left. */
int rr_wire_open(struct rr_wire *wire);

/* The client finds its connection closed. What it sent and nobody took is gone. */
void rr_wire_close(struct rr_wire *wire);

/* Closes it, and frees its memory. */
void rr_wire_release(struct rr_wire *wire);

/* RR_RESP_COMPLETE: the next whole request, valid until the next call; RR_RESP_PARTIAL: none
 * has come, and if the client has closed its end, the wire is closed now; otherwise what has
 * come is no request. */
enum rr_resp_result rr_wire_take(struct rr_wire *wire, struct rdl_command *command);

/* Waits until all of it is written, or the client does not take it. */
void rr_wire_write(struct rr_wire *wire, const char *text, size_t length);
void rr_wire_reply(struct rr_wire *wire, const struct rdl_reply *reply);

#endif

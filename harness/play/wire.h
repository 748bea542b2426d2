/* SPDX-License-Identifier: MIT */
/*
 * A connection whose bytes are in our hands: commands, halves of commands, and
 * replies that are read when somebody asks for them. What lib/link.c hides,
 * a race has to show.
 */
#ifndef RR_WIRE_H
#define RR_WIRE_H

#include "redislock.h"

enum { RR_REPLY_TEXT_SIZE = 4096 };

struct rr_wire;

/* Connects and gives the address's password. NULL with a message. */
struct rr_wire *rr_wire_open(const struct rl_address *address, char *error,
			     size_t error_size);
void rr_wire_close(struct rr_wire *wire);

/* Sends; false when the connection is broken. */
bool rr_wire_send(struct rr_wire *wire, size_t n_words,
		  const char *const words[], const size_t lengths[]);
bool rr_wire_send_bytes(struct rr_wire *wire, const char *bytes, size_t length);

enum rr_wire_state {
	RR_WIRE_REPLY,  /* one has come */
	RR_WIRE_SILENT, /* none within the time */
	RR_WIRE_CLOSED, /* none will come */
};

/* The next reply as redis-cli would print it on one line: OK, "text", (nil),
 * (integer) 1, (error) ERR ..., [OK, "text"]. For RR_WIRE_CLOSED: (closed). */
enum rr_wire_state rr_wire_read(struct rr_wire *wire, int timeout_ms,
				char text[RR_REPLY_TEXT_SIZE]);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What programs ask that is no step, because only their own connection can notice it; and
 * what cannot be judged. By the names of commands: whatever is not named here is a step.
 */
#ifndef RR_REQUESTS_H
#define RR_REQUESTS_H

#include "lane.h"

enum rr_request_trait {
	/* A real server is asked once, and says the same to all. */
	RR_REQUEST_ASKED_ONCE = 1 << 0,
	/* Accepted, whatever it says, for it is about this connection alone. */
	RR_REQUEST_ACCEPTED = 1 << 1,
	/* The name, the number and the protocol of its connection, said or asked for. */
	RR_REQUEST_NAMES = 1 << 2,
	/* It may leave something on its connection when that is closed. */
	RR_REQUEST_MAKES_DIRTY = 1 << 3,
	/* Its replies are among the messages. */
	RR_REQUEST_SUBSCRIBES = 1 << 4,
	RR_REQUEST_RESETS = 1 << 5,
	RR_REQUEST_QUITS = 1 << 6,
	/* It cannot be judged: it is answered by more than replies and messages, or it is
	 * about more than the data and the connection. */
	RR_REQUEST_REFUSED = 1 << 7,
	/* Nobody knows it but servers to come: an error is passed on, anything else cannot be
	 * judged. */
	RR_REQUEST_MUST_FAIL = 1 << 12,
	/* Which scripts servers know; and to ask for that, or to change it, makes it matter. */
	RR_REQUEST_LOADS_SCRIPT = 1 << 13,
	RR_REQUEST_ASKS_SCRIPTS = 1 << 14,
	/* It calls a script by its hash, which a server may not know. */
	RR_REQUEST_CALLS_SCRIPT = 1 << 19,
	/* The marks of an app's requests: base/marks.h. */
	RR_REQUEST_BEGINS = 1 << 15,
	RR_REQUEST_ANSWERS = 1 << 16,
	RR_REQUEST_ENDS = 1 << 17,
	/* The marks of a critical section: ECHO redrace:enter, ECHO redrace:leave. */
	RR_REQUEST_ENTERS = 1 << 8,
	RR_REQUEST_LEAVES = 1 << 9,
	/* It may wait for others on the server. */
	RR_REQUEST_BLOCKS = 1 << 18,
	/* It is about more than the databases of one Redis, if the server stands for several. */
	RR_REQUEST_SPANS = 1 << 20,
	/* What follows is queued, up to one that ends it. */
	RR_REQUEST_QUEUES = 1 << 10,
	RR_REQUEST_ENDS_QUEUE = 1 << 11,
};

/* All that are true of it. */
unsigned rr_request_traits(const struct rdl_command *command);

/* Is it about more than the databases of one Redis (RR_REQUEST_SPANS), also by its words? */
bool rr_request_spans(const struct rdl_command *command);

/* Is its reply another one where the scripts that a server knows are a part of its state? */
bool rr_request_is_about_scripts(const struct rdl_command *command);

/* On a connection that speaks RESP3: is what it is answered known? While it is subscribed
 * to something, a server would answer everything. */
bool rr_request_is_known(const struct rdl_command *command, const struct rr_lane *lane);

/* The number of the reply to what is no step; RR_NO_ID = it is one, as is all that is
 * queued in a transaction. The lane that it came on keeps its name and its protocol. */
uint32_t rr_request_answer(const struct rdl_command *command, struct rr_lane *lane,
			   const struct rr_program *program);

#endif

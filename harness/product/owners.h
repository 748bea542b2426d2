/* SPDX-License-Identifier: MIT */
/*
 * Whose the commands of an app are: of the request that has caused them. A command is caused by what
 * its app was told last: that a request begins, or the reply to a command of one. Where another
 * request waits meanwhile for something in the app, the command may be that one's: it has several
 * owners then. For locks the request whose reply it was is taken to continue (`is_likely`), if it has
 * no answer yet and sends on one connection only: else a server that handles one request after the
 * other would have no locks that are followed.
 *
 * Owners are bits, one for each request and, from RR_RUN_CLIENTS on, one for what each app does of
 * its own accord. Several bits: it is one of them.
 */
#ifndef RR_OWNERS_H
#define RR_OWNERS_H

#include "client/client.h"

static inline uint16_t rr_owner_of_app(size_t client)
{
	return (uint16_t)(1U << (RR_RUN_CLIENTS + client));
}

/* A step of an app from one state of its table to another. */
struct rr_owners_step {
	const struct rr_program *program;
	size_t client;
	const struct rr_client_state *from, *to;
	const struct rr_input *input;
	uint8_t begun, answered; /* its requests, before that */
	bool is_likely;          /* see above */
};

/* Requests whose answers are there and were not taken yet, as bits. */
uint8_t rr_owners_answered(const struct rr_program *program, size_t client,
			   const struct rr_client_state *state);

/* `owners`: of what the app has sent and not taken a reply to, in the order of from->sent; they
 * become those of to->sent. Returns the bit of the request that begins with the step; 0 = none. */
uint8_t rr_owners_follow(const struct rr_owners_step *step, uint16_t owners[RR_RUN_SENT]);

#endif

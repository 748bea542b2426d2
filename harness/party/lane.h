/* SPDX-License-Identifier: MIT */
/*
 * A connection of a checked program as the search sees it, a lane: the requests on it
 * that were not answered yet, in their order, and what it is subscribed to.
 */
#ifndef RR_LANE_H
#define RR_LANE_H

#include "client_run.h"

/* Requests of a connection that wait for their answers. */
enum { RR_LANE_REQUESTS = 4096 };

/* One that was not answered yet, or whose answer has to wait for others. */
struct rr_request {
	uint32_t command;
	uint32_t answer;  /* RR_NO_ID = when it is fed */
	bool is_inside;   /* it was sent in a critical section */
	uint8_t protocol; /* that it speaks from the answer on; 0 = as before */
	bool is_quit;     /* the connection is closed behind its answer */
	bool subscribes;  /* or ends that */
	bool ends_queue;  /* EXEC, or what else ends a transaction */
	bool may_block;   /* on the server */
	bool is_hidden;   /* the program has not sent it, and hears no answer */
	bool is_waiting;  /* nothing else happens before it is served */
	uint8_t kind;     /* enum rr_sent_kind */
};

struct rr_lane {
	int connection; /* -1 = closed */
	uint8_t place; /* of redis_at.h: its databases are those from RR_PLACE_DATABASES * place on */
	bool is_used;
	bool is_new;            /* since the program waited last */
	bool is_dirty;          /* it may carry something */
	bool is_queueing;       /* MULTI was sent */
	uint8_t asked_protocol; /* of RESP, by what was sent; 0 is 2 */
	uint8_t protocol;       /* and by what was answered */
	size_t n_queued;        /* commands that were answered QUEUED, by numbers */
	uint32_t *queued;
	long long n_channels, n_shards; /* that it is subscribed to */
	size_t n_owed;                  /* confirmations of what one command has named */
	long long id;                   /* what CLIENT ID says */
	uint32_t name;                  /* what CLIENT GETNAME says; RR_NO_ID = nothing */
	size_t first, n;
	struct rr_request *requests; /* a ring; NULL = none yet */
};

void rr_lane_release(struct rr_lane *lane);

/* Unused, with the memory that it had. */
void rr_lane_clear(struct rr_lane *lane);

/* What a reply to a command, or a message (NULL), is to the program: malloc'd. */
char *rr_lane_reply_text(struct rr_lane *lane, const struct rr_terms *terms,
			 const struct rr_request *request, const struct rdl_reply *reply,
			 size_t *length);

/* Is it known what RESP3 makes of the reply to a command? */
bool rr_lane_knows_resp3(const struct rdl_command *command);

/* The request before which `i` others wait. */
struct rr_request *rr_lane_request(const struct rr_lane *lane, size_t i);

/* False: there are RR_LANE_REQUESTS. */
bool rr_lane_push(struct rr_lane *lane, struct rr_request request);
struct rr_request rr_lane_pop(struct rr_lane *lane);

/* May a message come? And, once its requests are answered? */
bool rr_lane_is_subscribed(const struct rr_lane *lane);
bool rr_lane_will_be_subscribed(const struct rr_lane *lane);

/* The program hears the reply of a request, or a message (NULL): it may say how many subscriptions
 * there are now. A command about subscriptions has a confirmation for each of its words. */
void rr_lane_note_reply(struct rr_lane *lane, const struct rr_terms *terms,
			const struct rr_request *request, const struct rdl_reply *reply);

#endif

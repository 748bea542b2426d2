/* SPDX-License-Identifier: MIT */
/*
 * All servers of a replay, and what they have sent to whom. Every question is
 * answered, and the messages that it has caused have come, when a call returns.
 */
#ifndef RR_SERVERS_H
#define RR_SERVERS_H

#include "asker.h"
#include "base/error.h"

enum { RR_SERVERS_MESSAGES = 30 };

struct rr_servers {
	struct rr_terms *terms;
	size_t n;
	struct rr_asker *askers[RR_CLUSTER_SERVERS];
	/* Of each connection: messages that its client has not read. */
	struct rr_inbox {
		size_t n;
		uint32_t messages[RR_SERVERS_MESSAGES]; /* numbers of replies */
	} inboxes[RR_CLUSTER_SERVERS][RR_ASKER_SLOTS];
	struct rr_error error;
};

/* Servers 0 to n - 1 of `cluster`. False: servers->error; close them in any case. */
bool rr_servers_open(struct rr_servers *servers, struct rr_cluster *cluster, size_t n,
		     struct rr_terms *terms, const struct rr_scripts *scripts);
void rr_servers_close(struct rr_servers *servers);

/* Empty, and as if nobody had ever connected. */
bool rr_servers_reset(struct rr_servers *servers);

struct rr_heard {
	uint32_t reply; /* a number; of COMMAND and READ */
	bool blocks;    /* COMMAND: it has no reply yet, see rr_asker_ask() */
};

/* RR_ASK_READ without a message to be read answers RR_NO_ID. */
bool rr_servers_ask(struct rr_servers *servers, size_t server, const struct rr_question *question,
		    struct rr_heard *heard);

/* Takes the reply to the command that blocked on a connection, a number. False: it blocks still,
 * or none did. Messages that came before it are in the connection's inbox. */
bool rr_servers_served(struct rr_servers *servers, size_t server, uint16_t slot, uint32_t *reply);

#endif

/* SPDX-License-Identifier: MIT */
/* A quorum lock's inside, and the rounds in which its servers are asked. */
#ifndef RL_QUORUM_H
#define RL_QUORUM_H

#include "hold.h"

/* Earlier tokens of ours that are remembered of one server. */
enum { RL_LEFT_MAX = 3 };

struct rl_node {
	struct rl_link *link;
	bool asked;      /* our token may be there */
	bool unanswered; /* no answer ever came: the request may arrive yet */
	size_t n_left;
	char left[RL_LEFT_MAX][RL_TOKEN_SIZE]; /* so may these */
	uint64_t freed_on;                     /* the connection a release went down unanswered */
	int64_t owing_ns;                      /* since when it owes us replies; 0 = it does not */
};

struct rl_quorum {
	struct rl_node nodes[RL_QUORUM_NODES_MAX];
	size_t n_nodes;
	int node_timeout_ms;
	long ttl_ms;      /* of the round on its way */
	size_t n_freed;   /* servers that have given the present token back */
	pid_t asker;      /* the process whose token it is */
	bool giving_back; /* a release has not been answered yet */
	struct rl_hold hold;
	char token[RL_TOKEN_SIZE];
	char error[320];
	char key[];
};

/* What is sent to one server, and what it answers: RL_OK yes, RL_BUSY or
 * RL_LOST no, anything else nothing. */
struct rl_question {
	bool to_all;    /* not only to those that were asked for the lock */
	bool queued_up; /* also to those that owe us replies */
	enum rl_outcome (*send)(struct rl_quorum *quorum, struct rl_node *node);
	enum rl_outcome (*receive)(struct rl_quorum *quorum, struct rl_node *node,
				   int64_t deadline_ns);
};

struct rl_tally {
	size_t yes, no, silent;
};

/* Asks all servers at once. Connecting those that are not connected takes one
 * time-out at most, the answers another one. */
struct rl_tally rl_quorum_ask(struct rl_quorum *quorum, const struct rl_question *question);

static inline size_t rl_quorum_majority(const struct rl_quorum *quorum)
{
	return quorum->n_nodes / 2 + 1;
}

/* A new token. False: there are no random bytes. */
bool rl_quorum_renew_token(struct rl_quorum *quorum);

/* Asks all servers for the lock with it. */
struct rl_tally rl_quorum_request(struct rl_quorum *quorum);

#endif

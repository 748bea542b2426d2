/* SPDX-License-Identifier: MIT */
/* A quorum lock's inside, and the rounds in which its servers are asked. */
#ifndef RDL_QUORUM_H
#define RDL_QUORUM_H

#include "hold.h"
#include "inspect.h"

/* Earlier tokens of ours that are remembered of one server. */
enum { RDL_LEFT_MAX = 3 };

struct rdl_node {
	struct rdl_link *link;
	bool asked;      /* our token may be there */
	bool unanswered; /* no answer ever came: the request may arrive yet */
	size_t n_left;
	char left[RDL_LEFT_MAX][RDL_LABELLED_SIZE]; /* so may these */
	uint64_t freed_on;      /* the connection a release went down unanswered */
	int64_t owing_ns;       /* since when it owes us replies; 0 = it does not */
	bool tells_age;         /* is asked for it in this round */
	uint64_t dated_on;      /* the connection it told its age on */
	int64_t counts_from_ns; /* until then it may have forgotten a lease */
};

struct rdl_quorum {
	struct rdl_node nodes[RDL_QUORUM_NODES_MAX];
	size_t n_nodes;
	int node_timeout_ms;
	long restart_delay_ms; /* a server that is younger does not count; 0 = it does */
	long ttl_ms;           /* of the round on its way */
	size_t n_freed;        /* servers that have given the present token back */
	pid_t asker;           /* the process whose token it is */
	struct rdl_hold hold;
	struct rdl_holder *views; /* of each server, while they are inspected */
	char label[RDL_LABEL_SIZE];
	char token[RDL_LABELLED_SIZE];
	char error[320];
	char key[];
};

/* What is sent to one server, and what it answers: RDL_OK yes, RDL_BUSY or
 * RDL_LOST no, anything else nothing. */
struct rdl_question {
	bool to_all;    /* not only to those that were asked for the lock */
	bool queued_up; /* also to those that owe us replies */
	enum rdl_outcome (*send)(struct rdl_quorum *quorum, struct rdl_node *node);
	enum rdl_outcome (*receive)(struct rdl_quorum *quorum, struct rdl_node *node,
				    int64_t deadline_ns);
};

struct rdl_tally {
	size_t yes, no, silent;
};

/* Asks all servers at once. Connecting those that are not connected takes one
 * time-out at most, the answers another one. */
struct rdl_tally rdl_quorum_ask(struct rdl_quorum *quorum, const struct rdl_question *question);

static inline size_t rdl_quorum_majority(const struct rdl_quorum *quorum)
{
	return quorum->n_nodes / 2 + 1;
}

/* A new token. False: there are no random bytes. */
bool rdl_quorum_renew_token(struct rdl_quorum *quorum);

/* Asks all servers for the lock with it. */
struct rdl_tally rdl_quorum_request(struct rdl_quorum *quorum);

#endif

/* SPDX-License-Identifier: MIT */
/* A subject's inside, for the files that make it up. */
#ifndef RR_SUBJECT_INSIDE_H
#define RR_SUBJECT_INSIDE_H

#include "cluster/cluster.h"
#include "subject.h"

struct rr_subject_client {
	struct rr_subject *subject;
	int number;
	struct rr_client client;
	struct rl_link *links[RR_CLUSTER_SERVERS];
	struct rl_mutex mutex;
	long increments; /* to do in this run */
	bool opened;
	bool entered;    /* the last attempt got its lock */
	long acknowledged; /* writes of increments */
	struct rr_tally tally;
};

struct rr_subject {
	struct rr_subject_config config;
	struct rr_gate *gate;
	size_t n_servers;
	struct rl_link *servers[RR_CLUSTER_SERVERS]; /* the subject's own links */
	char counter[RR_KEY_SIZE], lock[RR_KEY_SIZE];
	struct rr_subject_client clients[RR_GATE_CLIENTS];
	bool is_warm; /* links know their servers */
	int inside; /* clients in their critical section */
	long overlaps;
	char error[320];
};

/* ---- subject_open.c ---- */

/* Notes what went wrong, of `link` unless it is NULL. False. */
bool rr_subject_complain(struct rr_subject *subject, const char *what,
			 const struct rl_link *link);

/* A link to one of its servers; when it fails, subject->error says why. */
struct rl_link *rr_subject_connect(struct rr_subject *subject, size_t server);
bool rr_subject_connect_client(struct rr_subject *subject,
			       struct rr_subject_client *client);

/* Closes the strategy's own part if it is open, undriven, and opens it anew. */
bool rr_subject_open_client(struct rr_subject_client *client);
void rr_subject_free_client(struct rr_subject_client *client);

/* ---- The others ---- */

/* A client's routine: `argument` is its struct rr_subject_client. */
void rr_subject_count_up(void *argument);

void rr_tally_add(struct rr_tally *sum, const struct rr_tally *tally);

bool rr_subject_is_dead(const struct rr_subject_client *client);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The quorum lock, Redlock, over servers 1 .. N:
 *
 *	1..N	SET key token NX PX ttl      all sent, then all answers read
 *		held if a majority granted it and
 *		validity = ttl - time spent - drift is above 0
 *	... work, for no longer than the validity ...
 *	1..N	EVALSHA compare-and-delete   all sent, then all answers read
 *
 * If it is not held, the same release goes to every server that was asked: a
 * server whose reply came too late may have granted it all the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "script.h"
#include "token.h"

enum { DRIFT_PER_MILLE = 10, DRIFT_MIN_MS = 2 };

struct rl_quorum {
	struct rl_link *nodes[RL_QUORUM_NODES_MAX];
	bool asked[RL_QUORUM_NODES_MAX]; /* this token may be there */
	size_t n_nodes;
	int node_timeout_ms;
	long validity_ms;
	char token[RL_TOKEN_SIZE];
	char error[320];
	char key[];
};

/* What the servers answered in one round. */
struct tally {
	size_t yes, no, silent;
};

struct rl_quorum *rl_quorum_new(struct rl_link **nodes, size_t n_nodes,
				const char *key, int node_timeout_ms)
{
	const size_t size = strlen(key) + 1;
	struct rl_quorum *quorum;

	if (n_nodes < 1 || n_nodes > RL_QUORUM_NODES_MAX)
		return NULL;
	quorum = calloc(1, sizeof(*quorum) + size);
	if (!quorum)
		return NULL;
	memcpy(quorum->nodes, nodes, n_nodes * sizeof(*nodes));
	memcpy(quorum->key, key, size);
	for (size_t i = 0; i < n_nodes; i++)
		rl_link_set_timeout(nodes[i], node_timeout_ms);
	quorum->n_nodes = n_nodes;
	quorum->node_timeout_ms = node_timeout_ms;
	return quorum;
}

void rl_quorum_free(struct rl_quorum *quorum)
{
	free(quorum);
}

long rl_quorum_validity_ms(const struct rl_quorum *quorum)
{
	return quorum->validity_ms;
}

const char *rl_quorum_error(const struct rl_quorum *quorum)
{
	return quorum->error;
}

static size_t majority(const struct rl_quorum *quorum)
{
	return quorum->n_nodes / 2 + 1;
}

static int64_t now_ns(const struct rl_quorum *quorum)
{
	return rl_now_ns(quorum->nodes[0], RL_CLOCK_MONOTONIC);
}

static void note_silent(struct rl_quorum *quorum, size_t i)
{
	char where[280];

	rl_address_print(&quorum->nodes[i]->address, where, sizeof(where));
	snprintf(quorum->error, sizeof(quorum->error), "%.200s: %.100s", where,
		 rl_link_error(quorum->nodes[i]));
}

/* ---- Acquire ------------------------------------------------------------ */

static void ask_all(struct rl_quorum *quorum, long ttl_ms)
{
	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct rl_link *node = quorum->nodes[i];
		enum rl_outcome sent =
			rl_queue(node, "SET %s %s NX PX %ld", quorum->key,
				 quorum->token, ttl_ms);

		if (sent == RL_OK)
			sent = rl_flush(node);
		quorum->asked[i] = sent == RL_OK || sent == RL_UNKNOWN;
		if (sent != RL_OK)
			note_silent(quorum, i);
	}
}

/* Last asked, first heard: while we wait for the last one, those before it
 * answer as well, and one wait does for all. */
static struct tally hear_all(struct rl_quorum *quorum, int64_t deadline_ns)
{
	struct tally tally = { 0 };

	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct rl_reply reply;

		if (!quorum->asked[i]) {
			tally.silent++;
		} else if (rl_receive_until(quorum->nodes[i], &reply,
					    deadline_ns) != RL_OK) {
			note_silent(quorum, i);
			tally.silent++;
		} else if (rl_reply_is_nil(&reply)) {
			tally.no++;
		} else {
			tally.yes++;
		}
	}
	return tally;
}

static long validity_ms(const struct rl_quorum *quorum, int64_t start_ns,
			long ttl_ms)
{
	const int64_t spent_ns = now_ns(quorum) - start_ns;
	const long drift_ms = ttl_ms * DRIFT_PER_MILLE / 1000 + DRIFT_MIN_MS;

	return ttl_ms - (long)((spent_ns + 999999) / 1000000) - drift_ms;
}

enum rl_outcome rl_quorum_try(struct rl_quorum *quorum, long ttl_ms)
{
	const int64_t start_ns = now_ns(quorum);
	struct tally tally;

	quorum->error[0] = '\0';
	if (!rl_token_fresh(quorum->token)) {
		snprintf(quorum->error, sizeof(quorum->error),
			 "no random bytes");
		return RL_ERROR;
	}
	ask_all(quorum, ttl_ms);
	tally = hear_all(quorum,
			 start_ns + quorum->node_timeout_ms * INT64_C(1000000));
	quorum->validity_ms = validity_ms(quorum, start_ns, ttl_ms);
	if (tally.yes >= majority(quorum) && quorum->validity_ms > 0)
		return RL_OK;
	rl_quorum_release(quorum);
	return tally.yes + tally.no < majority(quorum) ? RL_ERROR : RL_BUSY;
}

/* ---- Release ------------------------------------------------------------ */

static void release_all(struct rl_quorum *quorum, bool sent[])
{
	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct rl_link *node = quorum->nodes[i];

		sent[i] = quorum->asked[i] &&
			  rl_queue_script(node, rl_compare_and_delete,
					  "1 %s %s", quorum->key,
					  quorum->token) == RL_OK &&
			  rl_flush(node) == RL_OK;
		if (quorum->asked[i] && !sent[i])
			note_silent(quorum, i);
	}
}

/* One server's answer; sent again whole when it has forgotten the script. */
static enum rl_outcome hear_release(struct rl_quorum *quorum, size_t i,
				    struct rl_reply *reply, int64_t deadline_ns)
{
	struct rl_link *node = quorum->nodes[i];
	const enum rl_outcome outcome =
		rl_receive_until(node, reply, deadline_ns);

	if (!rl_script_is_forgotten(reply))
		return outcome;
	return rl_run_script(node, reply, rl_compare_and_delete, "1 %s %s",
			     quorum->key, quorum->token);
}

enum rl_outcome rl_quorum_release(struct rl_quorum *quorum)
{
	const int64_t deadline_ns =
		now_ns(quorum) + quorum->node_timeout_ms * INT64_C(1000000);
	bool sent[RL_QUORUM_NODES_MAX];
	struct tally tally = { 0 };

	release_all(quorum, sent);
	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct rl_reply reply = { .type = RL_REPLY_NIL };

		if (!quorum->asked[i]) {
			tally.no++;
		} else if (!sent[i] || hear_release(quorum, i, &reply,
						    deadline_ns) != RL_OK) {
			note_silent(quorum, i);
			tally.silent++;
		} else {
			quorum->asked[i] = false;
			tally.yes += reply.integer == 1;
			tally.no += reply.integer != 1;
		}
	}
	if (tally.yes >= majority(quorum))
		return RL_OK;
	return tally.yes + tally.silent >= majority(quorum) ? RL_UNKNOWN :
							      RL_LOST;
}

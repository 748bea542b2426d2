/* SPDX-License-Identifier: MIT */
/*
 * The quorum lock, Redlock, over servers 1 .. N:
 *
 *	1..N	SET key token NX PX ttl      all sent, then all answers read
 *		held if a majority granted it and
 *		ttl - time spent - drift is above 0
 *	... work, for no longer than that ...
 *	1..N	compare-and-delete           all sent, then all answers read
 *
 * If it is not held, the same release goes to every server that was asked, down
 * the same connection: a server whose reply came too late may have granted it
 * all the same, and reads the release right behind the request.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "hold.h"
#include "link.h"
#include "token.h"

enum { PAUSE_MIN_US = 2000, PAUSE_MAX_US = 20000 };

struct node {
	struct rl_link *link;
	bool asked; /* our token may be there */
	bool unheard; /* the request for it may arrive yet */
	bool stale; /* an earlier one may be there: `left` */
	char left[RL_TOKEN_SIZE];
};

struct rl_quorum {
	struct node nodes[RL_QUORUM_NODES_MAX];
	size_t n_nodes;
	int node_timeout_ms;
	long ttl_ms; /* of the round on its way */
	pid_t asker; /* the process whose token it is */
	bool giving_back; /* a release got no answer: not to be held any more */
	struct rl_hold hold;
	char token[RL_TOKEN_SIZE];
	char error[320];
	char key[];
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
	for (size_t i = 0; i < n_nodes; i++) {
		quorum->nodes[i].link = nodes[i];
		rl_link_set_timeout(nodes[i], node_timeout_ms);
	}
	memcpy(quorum->key, key, size);
	quorum->n_nodes = n_nodes;
	quorum->node_timeout_ms = node_timeout_ms;
	quorum->hold.link = nodes[0];
	return quorum;
}

void rl_quorum_free(struct rl_quorum *quorum)
{
	free(quorum);
}

long rl_quorum_remaining_ms(const struct rl_quorum *quorum)
{
	return rl_hold_remaining_ms(&quorum->hold);
}

const struct rl_stats *rl_quorum_stats(const struct rl_quorum *quorum)
{
	return &quorum->hold.stats;
}

const char *rl_quorum_error(const struct rl_quorum *quorum)
{
	return quorum->error;
}

/* ---- A round of all servers --------------------------------------------------- */

/* What is sent to one server, and what it answers: RL_OK yes, RL_BUSY or
 * RL_LOST no, anything else nothing. */
struct question {
	bool for_all; /* not only for those that were asked for the lock */
	enum rl_outcome (*send)(struct rl_quorum *quorum, struct node *node);
	enum rl_outcome (*hear)(struct rl_quorum *quorum, struct node *node,
				int64_t deadline_ns);
};

struct tally {
	size_t yes, no, silent;
};

static size_t majority(const struct rl_quorum *quorum)
{
	return quorum->n_nodes / 2 + 1;
}

static int64_t now_ns(const struct rl_quorum *quorum)
{
	return rl_now_ns(quorum->hold.link, RL_CLOCK_MONOTONIC);
}

static void note_silent(struct rl_quorum *quorum, const struct node *node)
{
	char where[280];

	rl_address_print(&node->link->address, where, sizeof(where));
	snprintf(quorum->error, sizeof(quorum->error), "%.200s: %.100s", where,
		 rl_link_error(node->link));
}

/* Those that are needed and not connected, all at once. */
static void connect_all(const struct rl_quorum *quorum, bool for_all)
{
	struct rl_link *closed[RL_QUORUM_NODES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		const struct node *node = &quorum->nodes[i];

		if ((for_all || node->asked) && !rl_link_connection(node->link))
			closed[n++] = node->link;
	}
	if (n > 0)
		rl_links_connect(closed, n, rl_link_deadline_ns(closed[0]));
}

static enum rl_outcome send_to(struct rl_quorum *quorum, struct node *node,
			       const struct question *question)
{
	enum rl_outcome outcome;

	if (!question->for_all && !node->asked)
		return RL_LOST;
	if (!rl_link_connection(node->link))
		return RL_ERROR;
	outcome = question->send(quorum, node);
	return outcome == RL_OK ? rl_flush(node->link) : outcome;
}

static void count(struct rl_quorum *quorum, const struct node *node,
		  enum rl_outcome outcome, struct tally *tally)
{
	if (outcome == RL_OK) {
		tally->yes++;
	} else if (outcome == RL_BUSY || outcome == RL_LOST) {
		tally->no++;
	} else {
		tally->silent++;
		note_silent(quorum, node);
	}
}

/* Last asked, first heard: while we wait for the last one, those before it
 * answer as well, and one wait does for all. A server that owes us older
 * replies is not waited for. */
static struct tally ask_all(struct rl_quorum *quorum,
			    const struct question *question)
{
	enum rl_outcome sent[RL_QUORUM_NODES_MAX];
	struct tally tally = { 0 };
	int64_t start_ns, deadline_ns;

	connect_all(quorum, question->for_all);
	start_ns = now_ns(quorum);
	deadline_ns = start_ns + quorum->node_timeout_ms * INT64_C(1000000);
	for (size_t i = 0; i < quorum->n_nodes; i++)
		sent[i] = send_to(quorum, &quorum->nodes[i], question);
	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct node *node = &quorum->nodes[i];
		enum rl_outcome outcome = sent[i];

		if (outcome == RL_OK)
			outcome = question->hear(quorum, node,
						 node->link->overdue ?
							 start_ns :
							 deadline_ns);
		count(quorum, node, outcome, &tally);
	}
	return tally;
}

/* ---- Release -------------------------------------------------------------------- */

/* Does it take a second round trip to remove our token from there? */
static bool is_watching(const struct node *node)
{
	return rl_link_release_method(node->link) == RL_RELEASE_WATCH;
}

static enum rl_outcome send_release(struct rl_quorum *quorum, struct node *node)
{
	enum rl_outcome outcome = rl_queue_delete_if_equal(
		node->link, quorum->key, quorum->token);

	if (outcome == RL_OK)
		outcome = rl_flush(node->link);
	/* Behind a request that is not answered yet: it cannot be overtaken. */
	if (outcome == RL_OK && node->link->overdue && !is_watching(node))
		node->asked = false;
	return outcome;
}

static enum rl_outcome hear_release(struct rl_quorum *quorum, struct node *node,
				    int64_t deadline_ns)
{
	const enum rl_outcome outcome = rl_receive_delete_if_equal(
		node->link, quorum->key, quorum->token, deadline_ns);

	if (outcome == RL_OK || outcome == RL_LOST)
		node->asked = false;
	return outcome;
}

static enum rl_outcome release_all(struct rl_quorum *quorum)
{
	static const struct question release = { false, send_release,
						hear_release };
	const struct tally tally = ask_all(quorum, &release);

	if (tally.yes >= majority(quorum))
		return RL_OK;
	return tally.yes + tally.silent >= majority(quorum) ? RL_UNKNOWN :
							      RL_LOST;
}

enum rl_outcome rl_quorum_release(struct rl_quorum *quorum)
{
	enum rl_outcome outcome;

	if (quorum->asker != getpid())
		return RL_LOST; /* a parent's */
	outcome = release_all(quorum);
	quorum->giving_back = outcome == RL_UNKNOWN;
	rl_hold_end(&quorum->hold, outcome);
	return outcome;
}

/* ---- Acquire ----------------------------------------------------------------------- */

/* A server that never answered a release may have kept an earlier token, and
 * would refuse us because of it: that one is removed first. */
static enum rl_outcome send_request(struct rl_quorum *quorum, struct node *node)
{
	enum rl_outcome outcome = RL_OK;

	if (node->stale && !is_watching(node))
		outcome = rl_queue(node->link, "EVAL %s 1 %s %s",
				   rl_compare_and_delete, quorum->key,
				   node->left);
	if (outcome == RL_OK)
		outcome = rl_queue(node->link, "SET %s %s NX PX %ld",
				   quorum->key, quorum->token, quorum->ttl_ms);
	if (outcome == RL_OK)
		outcome = rl_flush(node->link);
	node->asked = outcome == RL_OK || outcome == RL_UNKNOWN;
	node->unheard = node->asked;
	return outcome;
}

static enum rl_outcome hear_grant(struct rl_quorum *quorum, struct node *node,
				  int64_t deadline_ns)
{
	struct rl_reply reply;
	enum rl_outcome outcome = RL_OK;

	(void)quorum;
	if (node->stale && !is_watching(node)) {
		outcome = rl_receive_until(node->link, &reply, deadline_ns);
		node->stale = outcome != RL_OK;
	}
	outcome = rl_receive_until(node->link, &reply, deadline_ns);
	node->unheard = outcome == RL_UNKNOWN;
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

/* A new token; what is left of the old one is remembered where it may be. In a
 * child that one is its parent's, and must stay. */
static bool renew_token(struct rl_quorum *quorum)
{
	const bool ours = quorum->asker == getpid();

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct node *node = &quorum->nodes[i];

		node->stale = node->stale && ours;
		if (ours && (node->asked || node->unheard)) {
			memcpy(node->left, quorum->token, sizeof(node->left));
			node->stale = true;
		}
		node->asked = node->unheard = false;
	}
	quorum->asker = getpid();
	quorum->giving_back = false;
	return rl_token_fresh(quorum->token);
}

/* Where no script may do it along with the request. */
static void remove_stale(struct rl_quorum *quorum)
{
	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct node *node = &quorum->nodes[i];
		enum rl_outcome outcome;

		if (!node->stale || !is_watching(node))
			continue;
		outcome = rl_delete_if_equal(node->link, quorum->key,
					     node->left);
		node->stale = outcome != RL_OK && outcome != RL_LOST;
	}
}

enum rl_outcome rl_quorum_try(struct rl_quorum *quorum, long ttl_ms)
{
	static const struct question request = { true, send_request, hear_grant };
	enum rl_outcome outcome = RL_BUSY;
	struct tally tally;

	quorum->error[0] = '\0';
	if (!quorum->giving_back && rl_quorum_remaining_ms(quorum) > 0)
		return RL_BUSY;
	if (!renew_token(quorum)) {
		snprintf(quorum->error, sizeof(quorum->error),
			 "no random bytes");
		return RL_ERROR;
	}
	remove_stale(quorum);
	quorum->ttl_ms = ttl_ms;
	rl_hold_ask(&quorum->hold);
	tally = ask_all(quorum, &request);
	if (tally.yes + tally.no < majority(quorum))
		outcome = RL_ERROR;
	else if (tally.yes >= majority(quorum) &&
		 rl_lease_end_ns(quorum->hold.sent_ns, ttl_ms) > now_ns(quorum))
		outcome = RL_OK;
	rl_hold_answer(&quorum->hold, outcome, ttl_ms);
	if (outcome != RL_OK)
		release_all(quorum);
	return outcome;
}

static enum rl_outcome ask(void *quorum, long ttl_ms)
{
	return rl_quorum_try(quorum, ttl_ms);
}

static enum rl_outcome give_back(void *quorum)
{
	return rl_quorum_release(quorum);
}

enum rl_outcome rl_quorum_acquire(struct rl_quorum *quorum, long ttl_ms,
				  const struct rl_policy *policy)
{
	const struct rl_askable askable = {
		.lock = quorum,
		.hold = &quorum->hold,
		.ask = ask,
		.give_back = give_back,
		.pause_min_us = PAUSE_MIN_US,
		.pause_max_us = PAUSE_MAX_US,
		.errors_pass = true,
	};

	return rl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held ------------------------------------------------------------- */

static enum rl_outcome send_extension(struct rl_quorum *quorum,
				      struct node *node)
{
	return rl_queue_expire_if_equal(node->link, quorum->key, quorum->token,
					quorum->ttl_ms);
}

static enum rl_outcome hear_extension(struct rl_quorum *quorum,
				      struct node *node, int64_t deadline_ns)
{
	return rl_receive_expire_if_equal(node->link, quorum->key,
					  quorum->token, quorum->ttl_ms,
					  deadline_ns);
}

enum rl_outcome rl_quorum_extend(struct rl_quorum *quorum, long ttl_ms)
{
	static const struct question extension = { false, send_extension,
						   hear_extension };
	const int64_t sent_ns = now_ns(quorum);
	enum rl_outcome outcome = RL_UNKNOWN;
	struct tally tally;

	if (!rl_hold_is_ours(&quorum->hold))
		return RL_LOST;
	quorum->ttl_ms = ttl_ms;
	tally = ask_all(quorum, &extension);
	if (tally.yes >= majority(quorum) &&
	    rl_lease_end_ns(sent_ns, ttl_ms) > now_ns(quorum))
		outcome = RL_OK;
	else if (tally.yes + tally.silent < majority(quorum))
		outcome = RL_LOST;
	if (outcome == RL_OK)
		rl_hold_prolong(&quorum->hold, sent_ns, ttl_ms);
	else
		rl_hold_end(&quorum->hold, outcome);
	return outcome;
}

static enum rl_outcome send_query(struct rl_quorum *quorum, struct node *node)
{
	return rl_queue(node->link, "GET %s", quorum->key);
}

static enum rl_outcome hear_query(struct rl_quorum *quorum, struct node *node,
				  int64_t deadline_ns)
{
	struct rl_reply reply;
	const enum rl_outcome outcome =
		rl_receive_until(node->link, &reply, deadline_ns);

	if (outcome != RL_OK)
		return outcome;
	return reply.type == RL_REPLY_STRING &&
			       strcmp(reply.text, quorum->token) == 0 ?
		       RL_OK :
		       RL_LOST;
}

enum rl_outcome rl_quorum_query(struct rl_quorum *quorum)
{
	static const struct question query = { true, send_query, hear_query };
	struct tally tally;

	if (!rl_hold_is_ours(&quorum->hold))
		return RL_LOST;
	tally = ask_all(quorum, &query);
	if (tally.yes >= majority(quorum))
		return RL_OK;
	return tally.yes + tally.silent >= majority(quorum) ? RL_UNKNOWN :
							      RL_LOST;
}

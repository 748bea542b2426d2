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

#include "compare.h"
#include "link.h"
#include "quorum.h"

enum { PAUSE_MIN_US = 2000, PAUSE_MAX_US = 20000 };

struct rl_quorum *rl_quorum_new(struct rl_link **nodes, size_t n_nodes, const char *key,
				int node_timeout_ms)
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

static int64_t quorum_now_ns(const struct rl_quorum *quorum)
{
	return rl_now_ns(quorum->hold.link, RL_CLOCK_MONOTONIC);
}

/* ---- Release ----------------------------------------------------------- */

/* Once is enough on a connection: the release arrives behind the request. One
 * that takes a look first (WATCH) could not be finished. */
static enum rl_outcome send_release(struct rl_quorum *quorum, struct rl_node *node)
{
	const struct rl_guarded guarded = { quorum->key, quorum->token, 0 };

	if (node->link->overdue && (node->freed_on == rl_link_connection(node->link) ||
				    rl_link_release_method(node->link) == RL_RELEASE_WATCH))
		return rl_link_fail(node->link, RL_ERROR, "no reply in time");
	return rl_guarded_queue(node->link, &guarded);
}

static enum rl_outcome receive_release(struct rl_quorum *quorum, struct rl_node *node,
				       int64_t deadline_ns)
{
	const struct rl_guarded guarded = { quorum->key, quorum->token, 0 };
	const enum rl_outcome outcome = rl_guarded_receive(node->link, &guarded, deadline_ns);

	if (outcome == RL_OK || outcome == RL_LOST)
		node->asked = false;
	else if (rl_quorum_remaining_ms(quorum) > 0)
		node->freed_on = rl_link_connection(node->link);
	/* Gone by the earlier release, whose answer came too late for us. */
	if (outcome == RL_LOST && node->freed_on &&
	    node->freed_on == rl_link_connection(node->link))
		return RL_OK;
	return outcome;
}

/* It may take several calls until enough servers have answered. */
static enum rl_outcome release_all(struct rl_quorum *quorum)
{
	static const struct rl_question release = {
		.queued_up = true,
		.send = send_release,
		.receive = receive_release,
	};
	const struct rl_tally tally = rl_quorum_ask(quorum, &release);

	quorum->n_freed += tally.yes;
	if (quorum->n_freed >= rl_quorum_majority(quorum))
		return RL_OK;
	return quorum->n_freed + tally.silent >= rl_quorum_majority(quorum) ? RL_UNKNOWN : RL_LOST;
}

/* Held in this process: what a parent holds is not ours to give back. */
static bool may_hold_quorum(const struct rl_quorum *quorum)
{
	return rl_hold_is_ours(&quorum->hold);
}

enum rl_outcome rl_quorum_release(struct rl_quorum *quorum)
{
	enum rl_outcome outcome;

	if (!may_hold_quorum(quorum))
		return RL_LOST;
	outcome = release_all(quorum);
	quorum->giving_back = outcome == RL_UNKNOWN;
	rl_hold_end(&quorum->hold, outcome);
	return outcome;
}

/* False, and an error, when it is no lease. */
static bool accept_quorum_ttl(struct rl_quorum *quorum, long ttl_ms)
{
	if (ttl_ms >= 1)
		return true;
	snprintf(quorum->error, sizeof(quorum->error), rl_short_ttl, ttl_ms);
	return false;
}

/* ---- Acquire ----------------------------------------------------------- */

enum rl_outcome rl_quorum_try(struct rl_quorum *quorum, long ttl_ms)
{
	enum rl_outcome outcome = RL_BUSY;
	struct rl_tally tally;

	quorum->error[0] = '\0';
	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RL_ERROR;
	if (!quorum->giving_back && rl_quorum_remaining_ms(quorum) > 0)
		return RL_BUSY; /* by ourselves */
	if (!rl_quorum_renew_token(quorum)) {
		snprintf(quorum->error, sizeof(quorum->error), "no random bytes");
		return RL_ERROR;
	}
	quorum->ttl_ms = ttl_ms;
	rl_hold_ask(&quorum->hold);
	tally = rl_quorum_request(quorum);
	if (tally.yes + tally.no < rl_quorum_majority(quorum))
		outcome = RL_ERROR;
	else if (tally.yes >= rl_quorum_majority(quorum) &&
		 rl_lease_end_ns(quorum->hold.sent_ns, ttl_ms) > quorum_now_ns(quorum))
		outcome = RL_OK;
	rl_hold_answer(&quorum->hold, outcome, ttl_ms);
	if (outcome != RL_OK) {
		rl_hold_end(&quorum->hold, RL_LOST); /* not given back before */
		release_all(quorum);
	}
	return outcome;
}

static enum rl_outcome ask_quorum(void *quorum, long ttl_ms)
{
	return rl_quorum_try(quorum, ttl_ms);
}

static enum rl_outcome give_back_quorum(void *quorum)
{
	return rl_quorum_release(quorum);
}

enum rl_outcome rl_quorum_acquire(struct rl_quorum *quorum, long ttl_ms,
				  const struct rl_policy *policy)
{
	const struct rl_askable askable = {
		.lock = quorum,
		.hold = &quorum->hold,
		.ask = ask_quorum,
		.give_back = give_back_quorum,
		.pause_min_us = PAUSE_MIN_US,
		.pause_max_us = PAUSE_MAX_US,
		.errors_pass = true,
	};

	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RL_ERROR; /* asking again does not help */
	return rl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held -------------------------------------------------- */

static enum rl_outcome send_extension(struct rl_quorum *quorum, struct rl_node *node)
{
	const struct rl_guarded guarded = { quorum->key, quorum->token, quorum->ttl_ms };

	return rl_guarded_queue(node->link, &guarded);
}

static enum rl_outcome receive_extension(struct rl_quorum *quorum, struct rl_node *node,
					 int64_t deadline_ns)
{
	const struct rl_guarded guarded = { quorum->key, quorum->token, quorum->ttl_ms };

	return rl_guarded_receive(node->link, &guarded, deadline_ns);
}

enum rl_outcome rl_quorum_extend(struct rl_quorum *quorum, long ttl_ms)
{
	static const struct rl_question extension = { .send = send_extension,
						      .receive = receive_extension };
	const int64_t sent_ns = quorum_now_ns(quorum);
	enum rl_outcome outcome = RL_UNKNOWN;
	struct rl_tally tally;

	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RL_ERROR;
	if (!may_hold_quorum(quorum))
		return RL_LOST;
	quorum->ttl_ms = ttl_ms;
	tally = rl_quorum_ask(quorum, &extension);
	if (tally.yes >= rl_quorum_majority(quorum) &&
	    rl_lease_end_ns(sent_ns, ttl_ms) > quorum_now_ns(quorum))
		outcome = RL_OK;
	else if (tally.yes + tally.silent < rl_quorum_majority(quorum))
		outcome = RL_LOST;
	if (outcome == RL_OK)
		rl_hold_prolong(&quorum->hold, sent_ns, ttl_ms);
	else
		rl_hold_end(&quorum->hold, outcome);
	if (outcome == RL_UNKNOWN)
		rl_hold_shorten(&quorum->hold, sent_ns, ttl_ms);
	if (outcome == RL_LOST)
		release_all(quorum); /* what a minority has still */
	return outcome;
}

static enum rl_outcome send_query(struct rl_quorum *quorum, struct rl_node *node)
{
	return rl_queue(node->link, "GET %s", quorum->key);
}

static enum rl_outcome receive_query(struct rl_quorum *quorum, struct rl_node *node,
				     int64_t deadline_ns)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_receive_until(node->link, &reply, deadline_ns);

	if (outcome != RL_OK)
		return outcome;
	return reply.type == RL_REPLY_STRING && strcmp(reply.text, quorum->token) == 0 ? RL_OK :
											 RL_LOST;
}

enum rl_outcome rl_quorum_query(struct rl_quorum *quorum)
{
	static const struct rl_question query = { .to_all = true,
						  .send = send_query,
						  .receive = receive_query };
	struct rl_tally tally;

	if (!may_hold_quorum(quorum))
		return RL_LOST;
	tally = rl_quorum_ask(quorum, &query);
	if (tally.yes >= rl_quorum_majority(quorum))
		return RL_OK;
	return tally.yes + tally.silent >= rl_quorum_majority(quorum) ? RL_UNKNOWN : RL_LOST;
}

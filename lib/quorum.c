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
#include "renewer.h"

enum { PAUSE_MIN_US = 2000, PAUSE_MAX_US = 20000 };

struct rdl_quorum *rdl_quorum_new(struct rdl_link **nodes, size_t n_nodes, const char *key,
				  int node_timeout_ms)
{
	const size_t size = strlen(key) + 1;
	struct rdl_quorum *quorum;

	if (n_nodes < 1 || n_nodes > RDL_QUORUM_NODES_MAX)
		return NULL;
	quorum = calloc(1, sizeof(*quorum) + size);
	if (!quorum)
		return NULL;
	for (size_t i = 0; i < n_nodes; i++) {
		quorum->nodes[i].link = nodes[i];
		rdl_link_set_timeout(nodes[i], node_timeout_ms);
	}
	memcpy(quorum->key, key, size);
	quorum->n_nodes = n_nodes;
	quorum->node_timeout_ms = node_timeout_ms;
	quorum->hold.link = nodes[0];
	return quorum;
}

void rdl_quorum_set_restart_delay(struct rdl_quorum *quorum, long delay_ms)
{
	quorum->restart_delay_ms = delay_ms;
}

void rdl_quorum_free(struct rdl_quorum *quorum)
{
	if (quorum)
		rdl_hold_detach(&quorum->hold);
	free(quorum);
}

long rdl_quorum_remaining_ms(const struct rdl_quorum *quorum)
{
	return rdl_hold_remaining_ms(&quorum->hold);
}

const struct rdl_stats *rdl_quorum_stats(const struct rdl_quorum *quorum)
{
	return &quorum->hold.stats;
}

const char *rdl_quorum_error(const struct rdl_quorum *quorum)
{
	return quorum->error;
}

static int64_t quorum_now_ns(const struct rdl_quorum *quorum)
{
	return rdl_now_ns(quorum->hold.link, RDL_CLOCK_MONOTONIC);
}

/* ---- Release ----------------------------------------------------------- */

/* Once is enough on a connection: the release arrives behind the request. One
 * that takes a look first (WATCH) could not be finished. */
static enum rdl_outcome send_release(struct rdl_quorum *quorum, struct rdl_node *node)
{
	const struct rdl_guarded guarded = { quorum->key, quorum->token, 0 };

	if (node->link->overdue && (node->freed_on == rdl_link_connection(node->link) ||
				    rdl_link_release_method(node->link) == RDL_RELEASE_WATCH))
		return rdl_link_fail(node->link, RDL_ERROR, "no reply in time");
	return rdl_guarded_queue(node->link, &guarded);
}

static enum rdl_outcome receive_release(struct rdl_quorum *quorum, struct rdl_node *node,
					int64_t deadline_ns)
{
	const struct rdl_guarded guarded = { quorum->key, quorum->token, 0 };
	const enum rdl_outcome outcome = rdl_guarded_receive(node->link, &guarded, deadline_ns);

	if (outcome == RDL_OK || outcome == RDL_LOST)
		node->asked = false;
	else if (rdl_hold_lease_ms(&quorum->hold) > 0)
		node->freed_on = rdl_link_connection(node->link);
	/* Gone by the earlier release, whose answer came too late for us. */
	if (outcome == RDL_LOST && node->freed_on &&
	    node->freed_on == rdl_link_connection(node->link))
		return RDL_OK;
	return outcome;
}

/* It may take several calls until enough servers have answered. */
static enum rdl_outcome release_all(struct rdl_quorum *quorum)
{
	static const struct rdl_question release = {
		.queued_up = true,
		.send = send_release,
		.receive = receive_release,
	};
	const struct rdl_tally tally = rdl_quorum_ask(quorum, &release);

	quorum->n_freed += tally.yes;
	if (quorum->n_freed >= rdl_quorum_majority(quorum))
		return RDL_OK;
	return quorum->n_freed + tally.silent >= rdl_quorum_majority(quorum) ? RDL_UNKNOWN :
									       RDL_LOST;
}

/* Held in this process: what a parent holds is not ours to give back. */
static bool may_hold_quorum(const struct rdl_quorum *quorum)
{
	return rdl_hold_is_ours(&quorum->hold);
}

enum rdl_outcome rdl_quorum_release(struct rdl_quorum *quorum)
{
	enum rdl_outcome outcome;

	rdl_hold_detach(&quorum->hold);
	if (!may_hold_quorum(quorum))
		return RDL_LOST;
	outcome = release_all(quorum);
	quorum->hold.giving_back = outcome == RDL_UNKNOWN;
	rdl_hold_end(&quorum->hold, outcome);
	return outcome;
}

/* False, and an error, when it is no lease. */
static bool accept_quorum_ttl(struct rdl_quorum *quorum, long ttl_ms)
{
	if (ttl_ms >= 1)
		return true;
	snprintf(quorum->error, sizeof(quorum->error), rdl_short_ttl, ttl_ms);
	return false;
}

/* ---- Acquire ----------------------------------------------------------- */

enum rdl_outcome rdl_quorum_try(struct rdl_quorum *quorum, long ttl_ms)
{
	enum rdl_outcome outcome = RDL_BUSY;
	struct rdl_tally tally;

	quorum->error[0] = '\0';
	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RDL_ERROR;
	if (rdl_quorum_remaining_ms(quorum) > 0)
		return RDL_BUSY;        /* by ourselves */
	rdl_hold_detach(&quorum->hold); /* it is lost */
	if (!rdl_quorum_renew_token(quorum)) {
		snprintf(quorum->error, sizeof(quorum->error), "no random bytes");
		return RDL_ERROR;
	}
	quorum->ttl_ms = ttl_ms;
	rdl_hold_ask(&quorum->hold);
	tally = rdl_quorum_request(quorum);
	if (tally.yes + tally.no < rdl_quorum_majority(quorum))
		outcome = RDL_ERROR;
	else if (tally.yes >= rdl_quorum_majority(quorum) &&
		 rdl_lease_end_ns(quorum->hold.sent_ns, ttl_ms) > quorum_now_ns(quorum))
		outcome = RDL_OK;
	rdl_hold_answer(&quorum->hold, outcome, ttl_ms);
	if (outcome != RDL_OK) {
		rdl_hold_end(&quorum->hold, RDL_LOST); /* not released before */
		release_all(quorum);
	}
	return outcome;
}

static enum rdl_outcome ask_quorum(void *quorum, long ttl_ms)
{
	return rdl_quorum_try(quorum, ttl_ms);
}

static enum rdl_outcome give_back_quorum(void *quorum)
{
	return rdl_quorum_release(quorum);
}

static void limit_rounds(void *asked, struct rdl_patience *patience,
			 const struct rdl_policy *policy, int64_t deadline_ns)
{
	const struct rdl_quorum *quorum = asked;

	for (size_t i = 0; i < quorum->n_nodes; i++)
		rdl_link_set_patience(quorum->nodes[i].link, patience, policy, deadline_ns);
}

enum rdl_outcome rdl_quorum_acquire(struct rdl_quorum *quorum, long ttl_ms,
				    const struct rdl_policy *policy)
{
	const struct rdl_askable askable = {
		.lock = quorum,
		.hold = &quorum->hold,
		.ask = ask_quorum,
		.give_back = give_back_quorum,
		.limit = limit_rounds,
		.pause_min_us = PAUSE_MIN_US,
		.pause_max_us = PAUSE_MAX_US,
		.errors_pass = true,
	};

	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RDL_ERROR; /* asking again does not help */
	return rdl_acquire(&askable, ttl_ms, policy);
}

/* ---- While it is held -------------------------------------------------- */

static enum rdl_outcome send_extension(struct rdl_quorum *quorum, struct rdl_node *node)
{
	const struct rdl_guarded guarded = { quorum->key, quorum->token, quorum->ttl_ms };

	return rdl_guarded_queue(node->link, &guarded);
}

static enum rdl_outcome receive_extension(struct rdl_quorum *quorum, struct rdl_node *node,
					  int64_t deadline_ns)
{
	const struct rdl_guarded guarded = { quorum->key, quorum->token, quorum->ttl_ms };

	return rdl_guarded_receive(node->link, &guarded, deadline_ns);
}

enum rdl_outcome rdl_quorum_extend(struct rdl_quorum *quorum, long ttl_ms)
{
	static const struct rdl_question extension = { .send = send_extension,
						       .receive = receive_extension };
	const int64_t sent_ns = quorum_now_ns(quorum);
	enum rdl_outcome outcome = RDL_UNKNOWN;
	struct rdl_tally tally;

	if (!accept_quorum_ttl(quorum, ttl_ms))
		return RDL_ERROR;
	if (quorum->hold.attachment) {
		snprintf(quorum->error, sizeof(quorum->error), rdl_is_extended);
		return RDL_ERROR;
	}
	if (!may_hold_quorum(quorum) || quorum->hold.giving_back)
		return RDL_LOST;
	quorum->ttl_ms = ttl_ms;
	tally = rdl_quorum_ask(quorum, &extension);
	if (tally.yes >= rdl_quorum_majority(quorum) &&
	    rdl_lease_end_ns(sent_ns, ttl_ms) > quorum_now_ns(quorum))
		outcome = RDL_OK;
	else if (tally.yes + tally.silent < rdl_quorum_majority(quorum))
		outcome = RDL_LOST;
	if (outcome == RDL_OK)
		rdl_hold_prolong(&quorum->hold, sent_ns, ttl_ms);
	else
		rdl_hold_end(&quorum->hold, outcome);
	if (outcome == RDL_UNKNOWN)
		rdl_hold_shorten(&quorum->hold, sent_ns, ttl_ms);
	if (outcome == RDL_LOST)
		release_all(quorum); /* what a minority has still */
	return outcome;
}

static enum rdl_outcome renew_quorum(void *lease, struct rdl_link *link, long ttl_ms)
{
	struct rdl_quorum *copy = lease;
	enum rdl_outcome outcome;

	for (size_t i = 0; i < copy->n_nodes; i++)
		copy->nodes[i].link->patience = link->patience;
	outcome = rdl_quorum_extend(copy, ttl_ms);
	for (size_t i = 0; i < copy->n_nodes; i++)
		copy->nodes[i].link->patience = NULL;
	return outcome;
}

/* What the renewer's thread extends: the same token on the same servers, over its own links. */
static struct rdl_quorum *copy_quorum(const struct rdl_quorum *quorum, struct rdl_link **nodes)
{
	const size_t size = sizeof(*quorum) + strlen(quorum->key) + 1;
	struct rdl_quorum *copy = malloc(size);

	if (!copy)
		return NULL;
	memcpy(copy, quorum, size);
	for (size_t i = 0; i < copy->n_nodes; i++)
		copy->nodes[i] = (struct rdl_node){ .link = nodes[i],
						    .asked = quorum->nodes[i].asked };
	copy->hold.link = nodes[0];
	copy->hold.attachment = NULL;
	return copy;
}

enum rdl_outcome rdl_renewer_add_quorum(struct rdl_renewer *renewer, struct rdl_quorum *quorum,
					long hold_max_ms)
{
	struct rdl_link *links[RDL_QUORUM_NODES_MAX], **nodes;
	enum rdl_outcome outcome = RDL_ERROR;

	for (size_t i = 0; i < quorum->n_nodes; i++)
		links[i] = quorum->nodes[i].link;
	quorum->error[0] = '\0';
	nodes = rdl_renewer_nodes(renewer, links, quorum->n_nodes);
	if (nodes) {
		const struct rdl_renewable renewable = { .lock = quorum,
							 .link = links[0],
							 .hold = &quorum->hold,
							 .ttl_ms = quorum->ttl_ms,
							 .renew = renew_quorum,
							 .lease = copy_quorum(quorum, nodes),
							 .is_on_nodes = true,
							 .owns_lease = true };

		outcome = rdl_renewer_enter(renewer, &renewable, hold_max_ms);
	}
	if (outcome == RDL_ERROR)
		snprintf(quorum->error, sizeof(quorum->error), "%s", rdl_link_error(links[0]));
	return outcome;
}

static enum rdl_outcome send_query(struct rdl_quorum *quorum, struct rdl_node *node)
{
	return rdl_queue(node->link, "GET %s", quorum->key);
}

static enum rdl_outcome receive_query(struct rdl_quorum *quorum, struct rdl_node *node,
				      int64_t deadline_ns)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_receive_until(node->link, &reply, deadline_ns);

	if (outcome != RDL_OK)
		return outcome;
	return reply.type == RDL_REPLY_STRING && strcmp(reply.text, quorum->token) == 0 ? RDL_OK :
											  RDL_LOST;
}

enum rdl_outcome rdl_quorum_query(struct rdl_quorum *quorum)
{
	static const struct rdl_question query = { .to_all = true,
						   .send = send_query,
						   .receive = receive_query };
	struct rdl_tally tally;

	if (!may_hold_quorum(quorum))
		return RDL_LOST;
	tally = rdl_quorum_ask(quorum, &query);
	if (tally.yes >= rdl_quorum_majority(quorum))
		return RDL_OK;
	return tally.yes + tally.silent >= rdl_quorum_majority(quorum) ? RDL_UNKNOWN : RDL_LOST;
}

/* ---- From outside ------------------------------------------------------ */

bool rdl_quorum_set_label(struct rdl_quorum *quorum, const char *label)
{
	return rdl_label_take(quorum->label, label);
}

static enum rdl_outcome send_inspection(struct rdl_quorum *quorum, struct rdl_node *node)
{
	return rdl_inspect_queue(node->link, quorum->key);
}

static enum rdl_outcome receive_inspection(struct rdl_quorum *quorum, struct rdl_node *node,
					   int64_t deadline_ns)
{
	return rdl_inspect_receive(node->link, &quorum->views[node - quorum->nodes], deadline_ns);
}

/* -1 is the longest. */
static int compare_remaining(const void *a, const void *b)
{
	const unsigned long left = (unsigned long)*(const long *)a;
	const unsigned long right = (unsigned long)*(const long *)b;

	return (left < right) - (left > right);
}

/* How many servers have the token of `view`, and for how long a majority will. */
static size_t count_same(const struct rdl_quorum *quorum, const struct rdl_holder *view,
			 long *remaining_ms)
{
	long left_ms[RDL_QUORUM_NODES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		if (quorum->views[i].is_held && strcmp(quorum->views[i].token, view->token) == 0)
			left_ms[n++] = quorum->views[i].remaining_ms;
	}
	qsort(left_ms, n, sizeof(*left_ms), compare_remaining);
	if (n >= rdl_quorum_majority(quorum))
		*remaining_ms = left_ms[rdl_quorum_majority(quorum) - 1];
	return n;
}

enum rdl_outcome rdl_quorum_inspect(struct rdl_quorum *quorum, struct rdl_holder *holder)
{
	static const struct rdl_question inspection = { .to_all = true,
							.send = send_inspection,
							.receive = receive_inspection };
	struct rdl_holder views[RDL_QUORUM_NODES_MAX] = { 0 };
	struct rdl_tally tally;
	size_t most = 0;

	*holder = (struct rdl_holder){ 0 };
	quorum->error[0] = '\0';
	quorum->views = views;
	tally = rdl_quorum_ask(quorum, &inspection);
	for (size_t i = 0; i < quorum->n_nodes; i++) {
		long remaining_ms = 0;
		const size_t n = views[i].is_held ? count_same(quorum, &views[i], &remaining_ms) :
						    0;

		most = n > most ? n : most;
		if (n < rdl_quorum_majority(quorum))
			continue;
		*holder = views[i];
		holder->remaining_ms = remaining_ms;
		holder->n_waiting = 0;
	}
	quorum->views = NULL;
	if (holder->is_held || most + tally.silent < rdl_quorum_majority(quorum))
		return RDL_OK;
	return RDL_UNKNOWN;
}

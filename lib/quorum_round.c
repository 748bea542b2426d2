/* SPDX-License-Identifier: MIT */
/*
 * A round: one question to all servers of a quorum, sent before any reply is
 * read. And the one round that there is most to say about, the request for the
 * lock. Where an earlier token of ours may be left on a server, it is:
 *
 *	EVAL compare-and-delete key left     ours no more, whatever happened
 *	SET key token NX PX ttl
 */
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "link.h"
#include "quorum.h"

static int64_t round_now_ns(const struct rl_quorum *quorum)
{
	return rl_now_ns(quorum->hold.link, RL_CLOCK_MONOTONIC);
}

static void note_silent_server(struct rl_quorum *quorum, const struct rl_node *node)
{
	char where[280];

	rl_address_print(&node->link->address, where, sizeof(where));
	snprintf(quorum->error, sizeof(quorum->error), "%.200s: %.100s", where,
		 rl_link_error(node->link));
}

/* Reads what a server owed us. One that has owed it for a whole lease may never
 * pay: its connection, not it, may be what is dead. */
static void catch_up_with(const struct rl_quorum *quorum, struct rl_node *node)
{
	const int64_t timeout_ns = rl_span(quorum->ttl_ms, RL_NS_PER_MS);

	rl_link_leave_parents(node->link);
	rl_link_catch_up(node->link);
	if (!node->link->overdue)
		node->owing_ns = 0;
	else if (!node->owing_ns)
		node->owing_ns = round_now_ns(quorum);
	else if (round_now_ns(quorum) - node->owing_ns > timeout_ns)
		rl_link_disconnect(node->link);
}

/* Those that are needed and not connected, all at once. */
static void connect_all(const struct rl_quorum *quorum, bool to_all)
{
	struct rl_link *closed[RL_QUORUM_NODES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		const struct rl_node *node = &quorum->nodes[i];

		if ((to_all || node->asked) && !rl_link_connection(node->link))
			closed[n++] = node->link;
	}
	if (n > 0)
		rl_links_connect(closed, n,
				 round_now_ns(quorum) + quorum->node_timeout_ms * INT64_C(1000000));
}

static enum rl_outcome send_to(struct rl_quorum *quorum, struct rl_node *node,
			       const struct rl_question *question)
{
	enum rl_outcome outcome;

	if (!question->to_all && !node->asked)
		return RL_LOST;
	if (!rl_link_connection(node->link))
		return RL_ERROR;
	if (node->link->overdue && !question->queued_up)
		return rl_link_fail(node->link, RL_ERROR, "no reply in time");
	outcome = question->send(quorum, node);
	return outcome == RL_OK ? rl_flush(node->link) : outcome;
}

static void count_answer(struct rl_quorum *quorum, const struct rl_node *node,
			 enum rl_outcome outcome, struct rl_tally *tally)
{
	if (outcome == RL_OK) {
		tally->yes++;
	} else if (outcome == RL_BUSY || outcome == RL_LOST) {
		tally->no++;
	} else {
		tally->silent++;
		note_silent_server(quorum, node);
	}
}

/* Last asked, first heard: while we wait for the last one, those before it
 * answer as well, and one wait does for all. A server that owes us older
 * replies is not waited for. */
struct rl_tally rl_quorum_ask(struct rl_quorum *quorum, const struct rl_question *question)
{
	enum rl_outcome sent[RL_QUORUM_NODES_MAX];
	struct rl_tally tally = { 0 };
	int64_t start_ns, deadline_ns;

	for (size_t i = 0; i < quorum->n_nodes; i++)
		catch_up_with(quorum, &quorum->nodes[i]);
	connect_all(quorum, question->to_all);
	start_ns = round_now_ns(quorum);
	deadline_ns = start_ns + quorum->node_timeout_ms * INT64_C(1000000);
	for (size_t i = 0; i < quorum->n_nodes; i++)
		sent[i] = send_to(quorum, &quorum->nodes[i], question);
	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct rl_node *node = &quorum->nodes[i];
		enum rl_outcome outcome = sent[i];

		if (outcome == RL_OK)
			outcome = question->receive(quorum, node,
						    node->link->overdue ? start_ns : deadline_ns);
		count_answer(quorum, node, outcome, &tally);
	}
	return tally;
}

/* ---- The request ------------------------------------------------------- */

/* A server that never answered a release may have kept an earlier token, and
 * would refuse us because of it: that one is removed first. */
static enum rl_outcome send_request(struct rl_quorum *quorum, struct rl_node *node)
{
	enum rl_outcome outcome = RL_OK;

	for (size_t i = 0; outcome == RL_OK && i < node->n_left; i++)
		outcome = rl_queue(node->link, "EVAL %s 1 %s %s", rl_compare_and_delete,
				   quorum->key, node->left[i]);
	if (outcome == RL_OK)
		outcome = rl_queue(node->link, "SET %s %s NX PX %ld", quorum->key, quorum->token,
				   quorum->ttl_ms);
	if (outcome == RL_OK)
		outcome = rl_flush(node->link);
	node->asked = outcome == RL_OK || outcome == RL_UNKNOWN;
	node->unanswered = node->asked;
	return outcome;
}

/* Where scripts are forbidden what is left goes another way, too late for this
 * request but not for the next one. */
static void remove_left(const struct rl_quorum *quorum, struct rl_node *node, int64_t deadline_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->n_left; i++) {
		const struct rl_guarded left = { quorum->key, node->left[i], 0 };
		const enum rl_outcome outcome = rl_guarded_run(node->link, &left, deadline_ns);

		if (outcome != RL_OK && outcome != RL_LOST)
			memmove(node->left[kept++], node->left[i], RL_TOKEN_SIZE);
	}
	node->n_left = kept;
}

static enum rl_outcome receive_grant(struct rl_quorum *quorum, struct rl_node *node,
				     int64_t deadline_ns)
{
	enum rl_outcome outcome;
	struct rl_reply reply;
	size_t removed = 0, refused = 0;
	bool granted;

	for (size_t i = 0; i < node->n_left; i++) {
		outcome = rl_receive_until(node->link, &reply, deadline_ns);
		removed += outcome == RL_OK;
		refused += outcome == RL_ERROR;
	}
	outcome = rl_receive_until(node->link, &reply, deadline_ns);
	node->unanswered = outcome == RL_UNKNOWN;
	granted = outcome == RL_OK && !rl_reply_is_nil(&reply);
	if (removed == node->n_left)
		node->n_left = 0;
	else if (refused > 0 && outcome == RL_OK)
		remove_left(quorum, node, deadline_ns);
	if (outcome != RL_OK)
		return outcome;
	return granted ? RL_OK : RL_BUSY;
}

/* The oldest one gives way: its lease is the first to end by itself. */
static void remember_left(struct rl_node *node, const char *token)
{
	if (node->n_left == RL_LEFT_MAX) {
		memmove(node->left[0], node->left[1], (RL_LEFT_MAX - 1) * RL_TOKEN_SIZE);
		node->n_left--;
	}
	memcpy(node->left[node->n_left++], token, RL_TOKEN_SIZE);
}

/* A new token; what is left of the old one is remembered where it may be. A
 * parent's is the parent's. */
bool rl_quorum_renew_token(struct rl_quorum *quorum)
{
	const bool ours = quorum->asker == rl_process(quorum->hold.link);

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct rl_node *node = &quorum->nodes[i];

		if (!ours)
			node->n_left = 0;
		else if (node->asked || node->unanswered)
			remember_left(node, quorum->token);
		node->asked = node->unanswered = false;
		node->freed_on = 0;
	}
	quorum->asker = rl_process(quorum->hold.link);
	quorum->giving_back = false;
	quorum->n_freed = 0;
	return rl_token_fresh(quorum->hold.link, quorum->token);
}

struct rl_tally rl_quorum_request(struct rl_quorum *quorum)
{
	static const struct rl_question request = { .to_all = true,
						    .send = send_request,
						    .receive = receive_grant };

	return rl_quorum_ask(quorum, &request);
}

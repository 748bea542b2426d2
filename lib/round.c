/* SPDX-License-Identifier: MIT */
/* A round: one question to all servers of a quorum, sent before it is heard. */
#include <stdio.h>

#include "link.h"
#include "quorum.h"
#include "span.h"

static int64_t now_ns(const struct rl_quorum *quorum)
{
	return rl_now_ns(quorum->hold.link, RL_CLOCK_MONOTONIC);
}

static void note_silent(struct rl_quorum *quorum, const struct rl_node *node)
{
	char where[280];

	rl_address_print(&node->link->address, where, sizeof(where));
	snprintf(quorum->error, sizeof(quorum->error), "%.200s: %.100s", where,
		 rl_link_error(node->link));
}

/* Reads what a server owed us. One that has owed it for a whole lease may never
 * pay: its connection, not it, may be what is dead. */
static void catch_up(const struct rl_quorum *quorum, struct rl_node *node)
{
	const int64_t patience_ns = rl_span(quorum->ttl_ms, RL_NS_PER_MS);

	rl_link_leave_parents(node->link);
	rl_link_catch_up(node->link);
	if (!node->link->overdue)
		node->owing_ns = 0;
	else if (!node->owing_ns)
		node->owing_ns = now_ns(quorum);
	else if (now_ns(quorum) - node->owing_ns > patience_ns)
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
				 now_ns(quorum) + quorum->node_timeout_ms *
							  INT64_C(1000000));
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

static void count(struct rl_quorum *quorum, const struct rl_node *node,
		  enum rl_outcome outcome, struct rl_tally *tally)
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
struct rl_tally rl_quorum_ask(struct rl_quorum *quorum,
			      const struct rl_question *question)
{
	enum rl_outcome sent[RL_QUORUM_NODES_MAX];
	struct rl_tally tally = { 0 };
	int64_t start_ns, deadline_ns;

	for (size_t i = 0; i < quorum->n_nodes; i++)
		catch_up(quorum, &quorum->nodes[i]);
	connect_all(quorum, question->to_all);
	start_ns = now_ns(quorum);
	deadline_ns = start_ns + quorum->node_timeout_ms * INT64_C(1000000);
	for (size_t i = 0; i < quorum->n_nodes; i++)
		sent[i] = send_to(quorum, &quorum->nodes[i], question);
	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct rl_node *node = &quorum->nodes[i];
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

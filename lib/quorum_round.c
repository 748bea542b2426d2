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
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "link.h"
#include "quorum.h"

static int64_t round_now_ns(const struct rdl_quorum *quorum)
{
	return rdl_now_ns(quorum->hold.link, RDL_CLOCK_MONOTONIC);
}

static void note_silent_server(struct rdl_quorum *quorum, const struct rdl_node *node)
{
	char where[280];

	rdl_address_print(&node->link->address, where, sizeof(where));
	snprintf(quorum->error, sizeof(quorum->error), "%.200s: %.100s", where,
		 rdl_link_error(node->link));
}

/* Reads what a server owed us. One that has owed it for a whole lease may never
 * pay: its connection, not it, may be what is dead. */
static void catch_up_with(const struct rdl_quorum *quorum, struct rdl_node *node)
{
	const int64_t timeout_ns = rdl_span(quorum->ttl_ms, RDL_NS_PER_MS);

	rdl_link_leave_parents(node->link);
	rdl_link_catch_up(node->link);
	if (!node->link->overdue)
		node->owing_ns = 0;
	else if (!node->owing_ns)
		node->owing_ns = round_now_ns(quorum);
	else if (round_now_ns(quorum) - node->owing_ns > timeout_ns)
		rdl_link_disconnect(node->link);
}

/* Those that are needed and not connected, all at once. */
static void connect_all(const struct rdl_quorum *quorum, bool to_all)
{
	struct rdl_link *closed[RDL_QUORUM_NODES_MAX];
	const struct rdl_patience *patience;
	int64_t deadline_ns;
	size_t n = 0;

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		const struct rdl_node *node = &quorum->nodes[i];

		if ((to_all || node->asked) && !rdl_link_connection(node->link))
			closed[n++] = node->link;
	}
	if (n == 0)
		return;
	deadline_ns = round_now_ns(quorum) + quorum->node_timeout_ms * INT64_C(1000000);
	patience = closed[0]->patience;
	if (patience && patience->until_ns < deadline_ns)
		deadline_ns = patience->until_ns;
	rdl_links_connect(closed, n, deadline_ns);
}

static enum rdl_outcome send_to(struct rdl_quorum *quorum, struct rdl_node *node,
				const struct rdl_question *question)
{
	enum rdl_outcome outcome;

	if (!question->to_all && !node->asked)
		return RDL_LOST;
	if (!rdl_link_connection(node->link))
		return RDL_ERROR;
	if (node->link->overdue && !question->queued_up)
		return rdl_link_fail(node->link, RDL_ERROR, "no reply in time");
	outcome = question->send(quorum, node);
	return outcome == RDL_OK ? rdl_flush(node->link) : outcome;
}

static void count_answer(struct rdl_quorum *quorum, const struct rdl_node *node,
			 enum rdl_outcome outcome, struct rdl_tally *tally)
{
	if (outcome == RDL_OK) {
		tally->yes++;
	} else if (outcome == RDL_BUSY || outcome == RDL_LOST) {
		tally->no++;
	} else {
		tally->silent++;
		note_silent_server(quorum, node);
	}
}

/* Last asked, first heard: while we wait for the last one, those before it
 * answer as well, and one wait does for all. A server that owes us older
 * replies is not waited for. */
struct rdl_tally rdl_quorum_ask(struct rdl_quorum *quorum, const struct rdl_question *question)
{
	enum rdl_outcome sent[RDL_QUORUM_NODES_MAX];
	struct rdl_tally tally = { 0 };
	int64_t start_ns, deadline_ns;

	for (size_t i = 0; i < quorum->n_nodes; i++)
		catch_up_with(quorum, &quorum->nodes[i]);
	connect_all(quorum, question->to_all);
	start_ns = round_now_ns(quorum);
	deadline_ns = start_ns + quorum->node_timeout_ms * INT64_C(1000000);
	for (size_t i = 0; i < quorum->n_nodes; i++)
		sent[i] = send_to(quorum, &quorum->nodes[i], question);
	for (size_t i = quorum->n_nodes; i-- > 0;) {
		struct rdl_node *node = &quorum->nodes[i];
		enum rdl_outcome outcome = sent[i];

		if (outcome == RDL_OK)
			outcome = question->receive(quorum, node,
						    node->link->overdue ? start_ns : deadline_ns);
		count_answer(quorum, node, outcome, &tally);
		deadline_ns = rdl_link_hurry(node->link, outcome == RDL_UNKNOWN, deadline_ns);
	}
	return tally;
}

/* ---- The request ------------------------------------------------------- */

/* Is a server still to be asked for how long it has run? A restart ends its connections, so
 * that once on each is enough. */
static bool has_no_age(const struct rdl_quorum *quorum, const struct rdl_node *node)
{
	return quorum->restart_delay_ms > 0 && node->dated_on != rdl_link_connection(node->link);
}

/* In whole seconds, rounded down: a server is taken for younger than it is. */
static void take_age(const struct rdl_quorum *quorum, struct rdl_node *node,
		     const struct rdl_reply *info)
{
	static const char name[] = "uptime_in_seconds:";
	const char *at = info->text ? strstr(info->text, name) : NULL;
	const int64_t age_ms = at ? atoll(at + strlen(name)) * 1000 : 0;

	node->dated_on = rdl_link_connection(node->link);
	node->counts_from_ns = quorum->hold.sent_ns +
			       rdl_span(quorum->restart_delay_ms - age_ms, RDL_NS_PER_MS);
}

/* A server that never answered a release may have kept an earlier token, and
 * would refuse us because of it: that one is removed first. */
static enum rdl_outcome send_request(struct rdl_quorum *quorum, struct rdl_node *node)
{
	enum rdl_outcome outcome = RDL_OK;

	node->tells_age = has_no_age(quorum, node);
	if (node->tells_age)
		outcome = rdl_queue(node->link, "INFO server");
	for (size_t i = 0; outcome == RDL_OK && i < node->n_left; i++)
		outcome = rdl_queue(node->link, "EVAL %s 1 %s %s", rdl_compare_and_delete,
				    quorum->key, node->left[i]);
	if (outcome == RDL_OK)
		outcome = rdl_queue(node->link, "SET %s %s NX PX %ld", quorum->key, quorum->token,
				    quorum->ttl_ms);
	if (outcome == RDL_OK)
		outcome = rdl_flush(node->link);
	node->asked = outcome == RDL_OK || outcome == RDL_UNKNOWN;
	node->unanswered = node->asked;
	return outcome;
}

/* Where scripts are forbidden what is left goes another way, too late for this
 * request but not for the next one. */
static void remove_left(const struct rdl_quorum *quorum, struct rdl_node *node, int64_t deadline_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->n_left; i++) {
		const struct rdl_guarded left = { quorum->key, node->left[i], 0 };
		const enum rdl_outcome outcome = rdl_guarded_run(node->link, &left, deadline_ns);

		if (outcome != RDL_OK && outcome != RDL_LOST)
			memmove(node->left[kept++], node->left[i], RDL_LABELLED_SIZE);
	}
	node->n_left = kept;
}

static enum rdl_outcome receive_grant(struct rdl_quorum *quorum, struct rdl_node *node,
				      int64_t deadline_ns)
{
	enum rdl_outcome outcome;
	struct rdl_reply reply;
	size_t removed = 0, refused = 0;
	bool granted;

	if (node->tells_age && rdl_receive_until(node->link, &reply, deadline_ns) == RDL_OK)
		take_age(quorum, node, &reply);
	for (size_t i = 0; i < node->n_left; i++) {
		outcome = rdl_receive_until(node->link, &reply, deadline_ns);
		removed += outcome == RDL_OK;
		refused += outcome == RDL_ERROR;
	}
	outcome = rdl_receive_until(node->link, &reply, deadline_ns);
	node->unanswered = outcome == RDL_UNKNOWN;
	granted = outcome == RDL_OK && !rdl_reply_is_nil(&reply);
	if (removed == node->n_left)
		node->n_left = 0;
	else if (refused > 0 && outcome == RDL_OK)
		remove_left(quorum, node, deadline_ns);
	if (outcome != RDL_OK)
		return outcome;
	if (quorum->restart_delay_ms > 0 &&
	    (has_no_age(quorum, node) || quorum->hold.sent_ns < node->counts_from_ns))
		return RDL_BUSY; /* it may have granted it before, and forgotten */
	return granted ? RDL_OK : RDL_BUSY;
}

/* The oldest one gives way: its lease is the first to end by itself. */
static void remember_left(struct rdl_node *node, const char *token)
{
	if (node->n_left == RDL_LEFT_MAX) {
		memmove(node->left[0], node->left[1], (RDL_LEFT_MAX - 1) * RDL_LABELLED_SIZE);
		node->n_left--;
	}
	memcpy(node->left[node->n_left++], token, RDL_LABELLED_SIZE);
}

/* A new token; what is left of the old one is remembered where it may be. A
 * parent's is the parent's. */
bool rdl_quorum_renew_token(struct rdl_quorum *quorum)
{
	const bool ours = quorum->asker == rdl_process(quorum->hold.link);

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct rdl_node *node = &quorum->nodes[i];

		if (!ours)
			node->n_left = 0;
		else if (node->asked || node->unanswered)
			remember_left(node, quorum->token);
		node->asked = node->unanswered = false;
		node->freed_on = 0;
	}
	quorum->asker = rdl_process(quorum->hold.link);
	quorum->n_freed = 0;
	if (!rdl_token_fresh(quorum->hold.link, quorum->token))
		return false;
	rdl_label_append(quorum->token, quorum->label);
	return true;
}

struct rdl_tally rdl_quorum_request(struct rdl_quorum *quorum)
{
	static const struct rdl_question request = { .to_all = true,
						     .send = send_request,
						     .receive = receive_grant };

	return rdl_quorum_ask(quorum, &request);
}

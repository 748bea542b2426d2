/* SPDX-License-Identifier: MIT */
/*
 * A quorum's request to one server and what it answers. Where an earlier token
 * of ours may be left, the request goes like this:
 *
 *	EVAL compare-and-delete key left     ours no more, whatever happened
 *	SET key token NX PX ttl
 */
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "link.h"
#include "quorum.h"
#include "token.h"

/* A server that never answered a release may have kept an earlier token, and
 * would refuse us because of it: that one is removed first. */
static enum rl_outcome send_request(struct rl_quorum *quorum,
				    struct rl_node *node)
{
	enum rl_outcome outcome = RL_OK;

	for (size_t i = 0; outcome == RL_OK && i < node->n_left; i++)
		outcome = rl_queue(node->link, "EVAL %s 1 %s %s",
				   rl_compare_and_delete, quorum->key,
				   node->left[i]);
	if (outcome == RL_OK)
		outcome = rl_queue(node->link, "SET %s %s NX PX %ld",
				   quorum->key, quorum->token, quorum->ttl_ms);
	if (outcome == RL_OK)
		outcome = rl_flush(node->link);
	node->asked = outcome == RL_OK || outcome == RL_UNKNOWN;
	node->unheard = node->asked;
	return outcome;
}

/* Where scripts are forbidden what is left goes another way, too late for this
 * request but not for the next one. */
static void remove_left(const struct rl_quorum *quorum, struct rl_node *node,
			int64_t deadline_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->n_left; i++) {
		const enum rl_outcome outcome = rl_delete_if_equal_until(
			node->link, quorum->key, node->left[i], deadline_ns);

		if (outcome != RL_OK && outcome != RL_LOST)
			memmove(node->left[kept++], node->left[i],
				RL_TOKEN_SIZE);
	}
	node->n_left = kept;
}

static enum rl_outcome hear_grant(struct rl_quorum *quorum,
				  struct rl_node *node, int64_t deadline_ns)
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
	node->unheard = outcome == RL_UNKNOWN;
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
		memmove(node->left[0], node->left[1],
			(RL_LEFT_MAX - 1) * RL_TOKEN_SIZE);
		node->n_left--;
	}
	memcpy(node->left[node->n_left++], token, RL_TOKEN_SIZE);
}

/* A new token; what is left of the old one is remembered where it may be. A
 * parent's is the parent's. */
bool rl_quorum_renew_token(struct rl_quorum *quorum)
{
	const bool ours = quorum->asker == getpid();

	for (size_t i = 0; i < quorum->n_nodes; i++) {
		struct rl_node *node = &quorum->nodes[i];

		if (!ours)
			node->n_left = 0;
		else if (node->asked || node->unheard)
			remember_left(node, quorum->token);
		node->asked = node->unheard = false;
		node->freed_on = 0;
	}
	quorum->asker = getpid();
	quorum->giving_back = false;
	quorum->n_freed = 0;
	return rl_token_fresh(quorum->hold.link, quorum->token);
}

struct rl_tally rl_quorum_request(struct rl_quorum *quorum)
{
	static const struct rl_question request = { .to_all = true,
						    .send = send_request,
						    .hear = hear_grant };

	return rl_quorum_ask(quorum, &request);
}

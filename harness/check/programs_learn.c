/* SPDX-License-Identifier: MIT */
/* The tree of a command line grows: instances are started, brought to a node, told
 * something new there, and kept where they stand. */
#include "programs_parts.h"

/* The number of processes that are kept waiting where they are. */
enum { KEPT_MAX = 24 };

bool rr_tree_start_instance(struct rr_program_tree *tree, size_t client, struct rr_kept *started)
{
	struct rr_programs *programs = tree->programs;

	*started = (struct rr_kept){ .number = (uint32_t)programs->figures.starts };
	programs->figures.starts++;
	started->instance = rr_instance_start(&programs->instances, tree->argv, client,
					      programs->config.names[client], &programs->problem);
	if (started->instance)
		programs->figures.has_own_clock |= !rr_instance_has_shim(started->instance);
	return started->instance != NULL;
}

/* Tells an instance what was heard on the way to a node. */
static bool replay_to(struct rr_program_tree *tree, const struct rr_kept *started, uint32_t to)
{
	const struct rr_history *node = tree->histories.all[to];

	if (node->parent != RR_NO_ID &&
	    (!replay_to(tree, started, node->parent) ||
	     !rr_instance_feed(started->instance, &node->input, node->lane, node->passed_ns,
			       &tree->programs->problem)))
		return false;
	return rr_tree_compare_at(tree, started->instance, started->number, node);
}

static struct rr_history *longest_kept(const struct rr_programs *programs)
{
	struct rr_history *longest = NULL;

	for (size_t i = 0; i < programs->n_trees; i++) {
		const struct rr_program_tree *tree = &programs->trees[i];

		for (uint32_t j = 0; j < tree->histories.n; j++) {
			struct rr_history *node = tree->histories.all[j];

			if (node->kept.instance &&
			    (!longest || node->kept.used < longest->kept.used))
				longest = node;
		}
	}
	return longest;
}

static struct rr_kept take_kept(struct rr_programs *programs, struct rr_history *node)
{
	const struct rr_kept taken = node->kept;

	node->kept.instance = NULL;
	programs->n_kept--;
	return taken;
}

/* Keeps an instance where it stands, unless it has ended or another stands there. */
static void keep_instance(struct rr_programs *programs, struct rr_history *node,
			  struct rr_kept instance)
{
	if (rr_history_has_ended(node) || node->kept.instance) {
		rr_instance_free(instance.instance);
		return;
	}
	if (programs->n_kept == KEPT_MAX)
		rr_instance_free(take_kept(programs, longest_kept(programs)).instance);
	node->kept = instance;
	node->kept.used = ++programs->n_uses;
	programs->n_kept++;
}

size_t rr_tree_next_client(struct rr_programs *programs, const struct rr_program_tree *tree)
{
	size_t client;

	do
		client = programs->next_client++ % programs->config.n_clients;
	while (&programs->trees[programs->tree_of[client]] != tree);
	return client;
}

/* An instance that stands at a node. */
static bool bring_instance_to(struct rr_program_tree *tree, uint32_t to, struct rr_kept *found)
{
	struct rr_programs *programs = tree->programs;
	struct rr_history *node = tree->histories.all[to];

	if (node->kept.instance) {
		*found = take_kept(programs, node);
		return true;
	}
	if (!rr_tree_start_instance(tree, rr_tree_next_client(programs, tree), found))
		return false;
	if (replay_to(tree, found, to))
		return true;
	rr_instance_free(found->instance);
	return false;
}

/* ---- Learning ---------------------------------------------------------------- */

/* What an instance does that has just come to a place where none was before. */
static uint32_t learn_node(struct rr_program_tree *tree, struct rr_kept found,
			   struct rr_history node)
{
	uint32_t id;

	node.view = rr_instance_view(found.instance);
	node.client = rr_instance_client(found.instance);
	id = rr_histories_add(&tree->histories, &node);
	if (id == RR_NO_ID || !rr_tree_note_tokens(tree, &node.view, found.number)) {
		rr_error_no_memory(&tree->programs->problem);
		rr_instance_free(found.instance);
		return RR_NO_ID;
	}
	keep_instance(tree->programs, tree->histories.all[id], found);
	return id;
}

uint32_t rr_tree_learn_child(struct rr_program_tree *tree, uint32_t at,
			     const struct rr_input *input, uint8_t lane, int64_t passed_ns)
{
	struct rr_kept found;

	if (!bring_instance_to(tree, at, &found))
		return RR_NO_ID;
	if (!rr_instance_feed(found.instance, input, lane, passed_ns, &tree->programs->problem)) {
		rr_instance_free(found.instance);
		return RR_NO_ID;
	}
	return learn_node(
		tree, found,
		(struct rr_history){
			.parent = at, .input = *input, .lane = lane, .passed_ns = passed_ns });
}

bool rr_tree_learn_root(struct rr_program_tree *tree)
{
	struct rr_kept found;

	if (!rr_tree_start_instance(tree, rr_tree_next_client(tree->programs, tree), &found))
		return false;
	return learn_node(tree, found, (struct rr_history){ .parent = RR_NO_ID }) != RR_NO_ID;
}

/* ---- Once more --------------------------------------------------------------- */

/* Does the command at a node, or before it, have this text in it? */
static bool path_has_name(const struct rr_program_tree *tree, uint32_t at, const char *name)
{
	const struct rr_terms *terms = rr_tree_terms(tree);

	for (; at != RR_NO_ID; at = tree->histories.all[at]->parent) {
		const struct rr_run_view *view = &tree->histories.all[at]->view;

		for (uint32_t i = 0; i < view->n_sent; i++) {
			if (rr_command_has_text(&terms->command[view->sent[i].command].words, name))
				return true;
		}
	}
	return false;
}

/* A process that has come to a node with the very values of the tree. */
static void note_same_draws(struct rr_program_tree *tree, const struct rr_instance *instance,
			    uint32_t at)
{
	for (size_t i = 0; i < tree->n_names; i++) {
		if (rr_instance_renames(instance, tree->names[i]) ||
		    !path_has_name(tree, at, tree->names[i]))
			continue;
		tree->draws[i].n++;
		tree->draws[i].repeats++;
	}
}

bool rr_tree_run_again(struct rr_program_tree *tree, size_t client, uint32_t to)
{
	struct rr_programs *programs = tree->programs;
	struct rr_kept again;
	bool good;

	if (!rr_tree_start_instance(tree, client, &again))
		return false;
	good = replay_to(tree, &again, to);
	if (good)
		note_same_draws(tree, again.instance, to);
	if (good)
		keep_instance(programs, tree->histories.all[to], again);
	else
		rr_instance_free(again.instance);
	return good;
}

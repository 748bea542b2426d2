/* SPDX-License-Identifier: MIT */
/* Before a verdict: whatever was believed of the programs is looked at once more. */
#include "programs_parts.h"

static bool verify_names_of_clients(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct rr_program_tree *tree = &programs->trees[programs->tree_of[i]];
		const uint32_t end = rr_histories_longest_end(&tree->histories);

		if (programs->is_verified[i] || end == RR_NO_ID ||
		    (!programs->has_own_trees && !programs->config.compares_outputs &&
		     tree->histories.all[end]->client == i))
			continue;
		if (!rr_tree_run_again(tree, i, end))
			return false;
		programs->is_verified[i] = true;
	}
	return true;
}

/* Whatever only one instance has sent may be random: another one tells. */
static bool verify_tokens(struct rr_program_tree *tree)
{
	for (uint32_t i = tree->histories.n; i-- > 0;) {
		if (rr_tokens_are_open(&tree->programs->tokens, rr_tree_terms(tree),
				       &tree->histories.all[i]->view, tree->names, tree->n_names) &&
		    !rr_tree_run_again(tree, rr_tree_next_client(tree->programs, tree), i))
			return false;
	}
	return true;
}

static bool has_few_draws(const struct rr_program_tree *tree)
{
	for (size_t i = 0; i < tree->n_names; i++) {
		if (tree->draws[i].n < RR_DRAWS_MIN)
			return true;
	}
	return false;
}

/* Are they random, or choices out of few? */
static bool verify_draws(struct rr_program_tree *tree)
{
	const uint32_t end = rr_histories_longest_end(&tree->histories);

	for (int i = 0; i < RR_DRAWS_MIN && end != RR_NO_ID; i++) {
		if (!has_few_draws(tree))
			return true;
		if (!rr_tree_run_again(tree, rr_tree_next_client(tree->programs, tree), end))
			return false;
	}
	return true;
}

bool rr_programs_verify(struct rr_programs *programs, bool *again, struct rr_error *error)
{
	bool good = !programs->problem.kind && verify_names_of_clients(programs);

	for (size_t i = 0; i < programs->n_trees && good; i++)
		good = verify_tokens(&programs->trees[i]) && verify_draws(&programs->trees[i]);
	*again = programs->wants_own_trees || (good && programs->has_new_names);
	if (good || *again)
		return true;
	*error = programs->problem;
	return false;
}

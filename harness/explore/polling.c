/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <limits.h>
#include <string.h>

/* Commands of all that poll, in all rounds. */
enum { FOLLOWED_STEPS_MAX = 20000 };

/* Programs that go on polling, one after the other. */
struct polling {
	struct rr_product *product;
	rr_state_key key;
	size_t turn; /* whose step is wanted */
};

/* ---- Where nobody but those who poll can go on ------------------------------------- */

static bool has_free_edge(const struct rr_graph *graph, uint32_t state)
{
	for (uint64_t i = graph->first[state]; i < graph->first[state + 1]; i++) {
		if (!rr_transition_is_fault(graph->edges[i].transition))
			return true;
	}
	return false;
}

static bool is_alive(const struct polling *polling, size_t client)
{
	const struct rr_product *product = polling->product;

	return !rr_product_part(product, polling->key, client)->is_crashed &&
	       !rr_product_client(product, polling->key, client)->has_ended;
}

/* ---- Following --------------------------------------------------------------------- */

/* One step of the client whose turn it is. False: it has none, or others may go on. */
static bool step_on(struct polling *polling)
{
	const struct rr_edges *edges = rr_product_expand(polling->product, polling->key);
	const struct rr_edge *step = NULL;

	for (size_t i = 0; edges && i < edges->n; i++) {
		const struct rr_transition transition = edges->all[i].transition;

		if (transition.kind == RR_DO_WAIT || transition.kind == RR_DO_NEAR)
			return false; /* time passes */
		if (!step && rr_transition_is_step(transition) &&
		    !rr_transition_is_fault(transition) && transition.who == polling->turn)
			step = &edges->all[i];
	}
	if (step)
		memcpy(polling->key, step->key, sizeof(polling->key));
	return step != NULL;
}

static uint64_t contents_of(const struct polling *polling)
{
	return polling->product->tables[0]->states[polling->key[0]].contents;
}

/* Follows the client whose turn it is until it is seen to go on for ever. */
static bool polls_for_ever(struct polling *polling, bool is_alone)
{
	const uint64_t contents = contents_of(polling);

	for (int i = 0; i < FOLLOWED_STEPS_MAX; i++) {
		if (rr_product_client(polling->product, polling->key, polling->turn)->polls >=
		    RR_POLLS_IN_VAIN)
			return true;
		if (!step_on(polling) || !is_alive(polling, polling->turn) ||
		    (!is_alone && contents_of(polling) != contents))
			return false;
	}
	return false;
}

static bool is_in_vain(struct rr_graph *graph, uint32_t state)
{
	struct polling polling = { .product = graph->product };
	size_t n_alive = 0;
	bool in_vain = true;

	memcpy(polling.key, rr_graph_key(graph, state),
	       graph->product->n_words * sizeof(polling.key[0]));
	for (size_t i = 0; i < graph->product->n_clients; i++)
		n_alive += is_alive(&polling, i);
	for (size_t i = 0; i < graph->product->n_clients && in_vain; i++) {
		polling.turn = i;
		in_vain = !is_alive(&polling, i) || polls_for_ever(&polling, n_alive == 1);
	}
	return in_vain;
}

/* ---- The whole ----------------------------------------------------------------------- */

bool rr_graph_follow_polling(struct rr_graph *graph)
{
	struct rr_product *product = graph->product;
	const int rounds = product->config.rounds;
	const bool is_local_first = product->config.is_local_first;

	product->config.rounds = INT_MAX;
	product->config.is_local_first = false;
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (graph->flags[i] & RR_STATE_CUT && !has_free_edge(graph, i) &&
		    is_in_vain(graph, i))
			graph->flags[i] |= RR_STATE_STARVED;
	}
	product->config.rounds = rounds;
	product->config.is_local_first = is_local_first;
	return product->error.kind == RR_ERROR_NONE;
}

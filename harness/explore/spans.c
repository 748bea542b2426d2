/* SPDX-License-Identifier: MIT */
#include "spans.h"

#include <string.h>

#include "base/array.h"

enum {
	STATES_MOST = 200000,     /* of a graph that is searched again */
	PLACES_MOST = 3 * 1000000 /* in all searches */
};

/* A state, and how many commands of each client have been executed. */
struct place {
	uint32_t state;
	uint8_t done[RR_PRODUCT_CLIENTS];
};

static bool is_plain_step(const struct rr_graph_edge *edge)
{
	return rr_transition_is_step(edge->transition) && !rr_transition_is_fault(edge->transition);
}

static bool is_within_span(const struct rr_mender *mender, const struct place *place, size_t client)
{
	const struct rr_span *span = &mender->spans[mender->group[client]];

	return place->done[client] > span->first && place->done[client] <= span->last;
}

/* The client that has to go on because it is within its span; -1 = nobody has to. A step that
 * nobody else can notice stands alone in its state: it is taken, whosever it is. */
static int who_goes_on(const struct rr_mender *mender, const struct place *place)
{
	const struct rr_graph *graph = mender->graph;

	for (uint64_t i = graph->first[place->state]; i < graph->first[place->state + 1]; i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];

		if (is_plain_step(edge) && is_within_span(mender, place, edge->transition.who))
			return edge->transition.who;
	}
	return -1;
}

static void survey_command(struct rr_mender *mender, struct rr_command_slot *slot,
			   const struct rr_sent *sent)
{
	const struct rr_term_command *commands = rr_mender_table(mender)->terms->command;
	const struct rl_command *is, *was;

	if (slot->command == RR_NO_ID) {
		slot->command = sent->command;
		slot->lane = sent->lane;
	}
	is = &commands[sent->command].words;
	was = &commands[slot->command].words;
	slot->varies |= slot->lane != sent->lane ||
			commands[sent->command].name != commands[slot->command].name;
	slot->key_varies |= is->n_words < 2 || was->n_words < 2 ||
			    strcmp(is->words[1].text, was->words[1].text) != 0;
}

/* Is there but one thing to be done, although another client has not ended? */
static bool is_alone(const struct rr_mender *mender, const struct rr_graph_edge *edge,
		     uint32_t state)
{
	const struct rr_graph *graph = mender->graph;
	const struct rr_product *product = graph->product;
	const uint32_t *key = rr_graph_key(graph, state);

	if (graph->first[state + 1] - graph->first[state] > 1)
		return false;
	for (size_t i = 0; i < product->n_clients; i++) {
		if (i != edge->transition.who && !rr_product_is_over(product, key, i))
			return true;
	}
	return false;
}

/* False: too many commands. */
static bool count_command(struct rr_mender *mender, const struct rr_graph_edge *edge,
			  struct place *place)
{
	const struct rr_transition transition = edge->transition;
	uint8_t *n = &place->done[transition.who];
	struct rr_command_slot *slot = &mender->slots[mender->group[transition.who]][*n];
	const struct rr_sent *sent;

	if (!rr_transition_rows[transition.kind].has_command || transition.kind == RR_DO_GO) {
		slot->waits |= transition.kind == RR_DO_GO;
		return true;
	}
	sent = rr_product_next_sent(mender->graph->product,
				    rr_graph_key(mender->graph, place->state), transition);
	if (mender->surveys && sent) {
		survey_command(mender, slot, sent);
		slot->is_alone |= is_alone(mender, edge, place->state);
	}
	return sent && ++*n < RR_SPAN_COMMANDS;
}

static bool is_bad(const struct rr_mender *mender, const struct rr_graph_edge *edge)
{
	return !mender->surveys &&
	       (edge->broken || mender->graph->flags[edge->to] & (RR_STATE_WRONG | RR_STATE_STUCK));
}

static bool leave_place(struct rr_mender *mender, struct place place)
{
	const struct rr_graph *graph = mender->graph;
	struct rr_graph *mended = &mender->mended;
	const int goes_on = who_goes_on(mender, &place);

	for (uint64_t i = graph->first[place.state]; i < graph->first[place.state + 1]; i++) {
		const struct rr_graph_edge *edge = &graph->edges[i];
		struct place next = place;

		if (goes_on >= 0 && (!is_plain_step(edge) || edge->transition.who != goes_on))
			continue;
		if (is_bad(mender, edge) || (rr_transition_is_step(edge->transition) &&
					     !count_command(mender, edge, &next)))
			return false;
		next.state = edge->to;
		rr_array_grow(&mended->edges, mended->n_edges, sizeof(*mended->edges));
		mended->edges[mended->n_edges++] = (struct rr_graph_edge){
			.to = rr_intern_put(&mended->states, &next, sizeof(next), NULL)
		};
	}
	return true;
}

bool rr_mender_search(struct rr_mender *mender)
{
	struct rr_graph *mended = &mender->mended;
	struct place place;
	bool good = true;

	memset(&place, 0, sizeof(place));
	rr_graph_release(mended);
	rr_intern_put(&mended->states, &place, sizeof(place), NULL);
	for (uint32_t i = 0; i < mended->states.n && good; i++) {
		place = *(const struct place *)rr_intern_get(&mended->states, i);
		rr_array_grow(&mended->flags, i, sizeof(*mended->flags));
		rr_array_grow(&mended->first, (size_t)i + 1, sizeof(*mended->first));
		mended->flags[i] = mender->graph->flags[place.state];
		mended->first[i] = mended->n_edges;
		good = mender->left > 0 && leave_place(mender, place);
		mended->first[i + 1] = mended->n_edges;
		mended->n_expanded = i + 1;
		mender->left -= mender->left > 0;
	}
	return good;
}

static void find_groups(struct rr_mender *mender)
{
	const struct rr_product *product = mender->graph->product;

	for (size_t i = 0; i < product->n_clients; i++) {
		size_t j = 0;

		while (j < mender->n_groups &&
		       product->clients[mender->example[j]].table != product->clients[i].table)
			j++;
		if (j == mender->n_groups)
			mender->example[mender->n_groups++] = i;
		mender->group[i] = j;
	}
	for (size_t i = 0; i < mender->n_groups; i++) {
		for (size_t j = 0; j < RR_SPAN_COMMANDS; j++)
			mender->slots[i][j].command = RR_NO_ID;
	}
}

bool rr_mender_init(struct rr_mender *mender, const struct rr_graph *graph)
{
	*mender = (struct rr_mender){ .graph = graph, .left = PLACES_MOST, .surveys = true };
	find_groups(mender);
	if (graph->n_expanded < graph->states.n || graph->states.n > STATES_MOST ||
	    !rr_mender_search(mender))
		return false;
	mender->surveys = false;
	return true;
}

void rr_mender_release(struct rr_mender *mender)
{
	rr_graph_release(&mender->mended);
}

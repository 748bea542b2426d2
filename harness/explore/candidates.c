/* SPDX-License-Identifier: MIT */
/* What can be done at a node. Faults come first, so that the search runs them
 * before it puts them to sleep: then none of its runs is in vain. */
#include "search_inside.h"

/* Longer than a lease by more than the second that a timestamp is rounded by. */
#define LAPSE_NS INT64_C(2000000000)

int rr_search_client(const struct rr_search *search, int actor)
{
	return actor % (int)search->config.n_clients;
}

bool rr_search_same_process(const struct rr_search *search, int a, int b)
{
	return !search->config.separate ||
	       rr_search_client(search, a) == rr_search_client(search, b);
}

static void add(struct rr_node *node, enum rr_move_kind kind, int actor)
{
	if (node->n_candidates == RR_CANDIDATES_MAX)
		return;
	node->candidates[node->n_candidates++] =
		(struct rr_candidate){ .move = { kind, actor } };
}

static int used(const struct rr_search *search, enum rr_move_kind kind)
{
	int n = 0;

	for (size_t i = 0; i < search->n_done; i++)
		n += search->done[i].move.kind == kind;
	return n;
}

/* ---- Faults --------------------------------------------------------------- */

static bool is_there(const struct rr_view *view, size_t actor)
{
	return view->actors[actor].op != NULL;
}

static void add_crashes(const struct rr_search *search,
			const struct rr_view *view, struct rr_node *node)
{
	if (used(search, RR_MOVE_CRASH) >= search->config.budget.crashes)
		return;
	for (size_t i = 0; i < search->config.n_clients; i++) {
		if (is_there(view, i))
			add(node, RR_MOVE_CRASH, (int)i);
		if (!search->config.separate && is_there(view, i))
			return;
	}
}

static void add_losses(const struct rr_search *search,
		       const struct rr_view *view, struct rr_node *node)
{
	if (used(search, RR_MOVE_LOSE) >= search->config.budget.lost_replies)
		return;
	for (size_t i = 0; i < view->n_actors; i++) {
		const struct rr_actor_view *actor = &view->actors[i];

		if (actor->state == RR_READY && actor->op->kind == RR_OP_SEND)
			add(node, RR_MOVE_LOSE, (int)i);
	}
}

static void add_times(const struct rr_search *search, struct rr_node *node)
{
	const struct rr_budget *budget = &search->config.budget;

	if (used(search, RR_MOVE_HALF) + used(search, RR_MOVE_WHOLE) <
	    budget->expiries) {
		add(node, RR_MOVE_HALF, 0);
		add(node, RR_MOVE_WHOLE, 0);
	}
	if (used(search, RR_MOVE_PAUSE) < budget->pauses)
		add(node, RR_MOVE_PAUSE, 0);
}

/* ---- Steps ---------------------------------------------------------------- */

/* Nobody else can go on: whoever has made the fewest rounds in vain makes one
 * more than is allowed, so that runs come to an end; this is not the whole any
 * more. */
static void add_tired(struct rr_search *search, const struct rr_view *view,
		      struct rr_node *node, uint64_t tired)
{
	const int most = 2 * search->config.rounds + 2;
	int fewest = most, chosen = -1;

	for (size_t i = 0; i < view->n_actors; i++) {
		int rounds;

		if (!(tired & UINT64_C(1) << i))
			continue;
		rounds = rr_search_rounds(search, (int)i);
		if (rounds < fewest) {
			fewest = rounds;
			chosen = (int)i;
		}
	}
	search->cuts = true;
	if (chosen >= 0)
		add(node, RR_MOVE_STEP, chosen);
}

static enum rr_parking look(const struct rr_search *search,
			    const struct rr_actor_view *actor, int number)
{
	enum rr_parking parking;

	if (actor->op->kind != RR_OP_SLEEP || !actor->op->yields)
		return RR_AWAKE;
	parking = rr_search_parking(search, number);
	if (parking == RR_ROUND && rr_search_rounds(search, number) <
					   search->config.rounds)
		return RR_AWAKE;
	return parking == RR_WOKEN ? RR_AWAKE : parking;
}

static void add_steps(struct rr_search *search, const struct rr_view *view,
		      struct rr_node *node)
{
	const size_t before = node->n_candidates;
	uint64_t tired = 0;

	for (size_t i = 0; i < view->n_actors; i++) {
		enum rr_parking parking;

		if (view->actors[i].state != RR_READY)
			continue;
		parking = look(search, &view->actors[i], (int)i);
		if (parking == RR_AWAKE)
			add(node, RR_MOVE_STEP, (int)i);
		else if (parking == RR_ROUND)
			tired |= UINT64_C(1) << i;
		else
			node->parked |= UINT64_C(1) << i;
	}
	if (node->n_candidates == before && tired)
		add_tired(search, view, node, tired);
}

void rr_search_list(struct rr_search *search, const struct rr_view *view,
		    struct rr_node *node)
{
	size_t n_faults;

	node->n_candidates = 0;
	node->parked = 0;
	add_crashes(search, view, node);
	add_losses(search, view, node);
	add_times(search, node);
	n_faults = node->n_candidates;
	add_steps(search, view, node);
	if (node->n_candidates == n_faults &&
	    used(search, RR_MOVE_WAIT) < RR_WAITS_MAX)
		add(node, RR_MOVE_WAIT, 0);
	else if (node->n_candidates == n_faults)
		node->n_candidates = 0;
}

/* ---- Choices -------------------------------------------------------------- */

static int64_t until(const struct rr_search *search, const struct rr_view *view,
		     enum rr_move_kind kind)
{
	const int64_t lease_ns = search->config.lease_ns;
	int64_t until_ns = view->now_ns + LAPSE_NS +
			   (kind == RR_MOVE_HALF ? lease_ns / 2 : lease_ns);

	if (kind != RR_MOVE_PAUSE && view->next_ns > view->now_ns &&
	    view->next_ns < until_ns)
		until_ns = view->next_ns;
	return until_ns;
}

struct rr_choice rr_search_choice(const struct rr_search *search,
				  const struct rr_view *view,
				  const struct rr_move *move)
{
	switch (move->kind) {
	case RR_MOVE_STEP:
		return (struct rr_choice){ RR_CHOOSE_STEP, move->actor, 0 };
	case RR_MOVE_LOSE:
		return (struct rr_choice){ RR_CHOOSE_LOSE, move->actor, 0 };
	case RR_MOVE_CRASH:
		return (struct rr_choice){ RR_CHOOSE_CRASH, move->actor, 0 };
	default:
		return (struct rr_choice){ RR_CHOOSE_PASS, 0,
					   until(search, view, move->kind) };
	}
}

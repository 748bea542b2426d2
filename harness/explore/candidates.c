/* SPDX-License-Identifier: MIT */
/* What can be done at a node. Faults come first, so that the search runs them
 * before it puts them to sleep: then none of its runs is in vain. */
#include "search_inside.h"

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

int rr_search_used(const struct rr_search *search, enum rr_move_kind kind)
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
	if (rr_search_used(search, RR_MOVE_CRASH) >= search->config.budget.crashes)
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
	if (rr_search_used(search, RR_MOVE_LOSE) >= search->config.budget.lost_replies)
		return;
	for (size_t i = 0; i < view->n_actors; i++) {
		const struct rr_actor_view *actor = &view->actors[i];

		if (actor->state == RR_READY && actor->op->kind == RR_OP_SEND)
			add(node, RR_MOVE_LOSE, (int)i);
	}
}

/* ---- Servers -------------------------------------------------------------- */

/* Lock servers; only they lose what they hold. */
static void add_restarts(const struct rr_search *search, struct rr_node *node)
{
	const int used = rr_search_used(search, RR_MOVE_RESTART);
	const bool is_down = search->config.stays_away &&
			     used > rr_search_used(search, RR_MOVE_RETURN);

	if (is_down || used >= search->config.budget.restarts)
		return;
	for (size_t i = 1; i < search->config.n_servers; i++)
		add(node, RR_MOVE_RESTART, (int)i);
}

/* A server that was down comes back when all that it had granted has ended. */
static void add_returns(const struct rr_search *search,
			const struct rr_view *view, struct rr_node *node)
{
	const struct rr_done *down = NULL;

	for (size_t i = 0; i < search->n_done; i++) {
		if (search->done[i].move.kind == RR_MOVE_RESTART)
			down = &search->done[i];
		if (search->done[i].move.kind == RR_MOVE_RETURN)
			down = NULL;
	}
	if (search->config.stays_away && down && view->now_ns >= down->until_ns)
		add(node, RR_MOVE_RETURN, down->move.actor);
}

/* Of the servers that hold the lock. */
static void add_jumps(const struct rr_search *search, struct rr_node *node)
{
	const size_t n = search->config.n_servers;

	if (rr_search_used(search, RR_MOVE_JUMP) >= search->config.budget.jumps)
		return;
	for (size_t i = n > 1; i < n; i++)
		add(node, RR_MOVE_JUMP, (int)i);
}

/* ---- Time ----------------------------------------------------------------- */

/* Two halves without anything between them that depends on when it happens are
 * a whole. */
static bool may_pass_half(const struct rr_search *search,
			  enum rr_move_kind half)
{
	for (size_t i = search->n_done; i-- > 0;) {
		const struct rr_done *done = &search->done[i];

		if (done->move.kind == half)
			return false;
		if (rr_move_is_step(&done->move) && done->footprint.timed)
			return true;
	}
	return true;
}

static void add_time(const struct rr_search *search, struct rr_node *node,
		     int budget, enum rr_move_kind half,
		     enum rr_move_kind whole)
{
	const int halves = 2 * budget - rr_search_used(search, half) -
			   2 * rr_search_used(search, whole);

	if (halves >= 1 && may_pass_half(search, half))
		add(node, half, 0);
	if (halves >= 2)
		add(node, whole, 0);
}

static bool is_child(const struct rr_search *search, size_t actor)
{
	return actor >= search->config.n_clients;
}

/* Renewers wake up in time, but in a pause. */
static bool is_renewer_late(const struct rr_search *search,
			    const struct rr_view *view)
{
	for (size_t i = search->config.n_clients; i < view->n_actors; i++) {
		if (is_child(search, i) && view->actors[i].state == RR_READY)
			return true;
	}
	return false;
}

static void add_times(const struct rr_search *search,
		      const struct rr_view *view, struct rr_node *node)
{
	const struct rr_budget *budget = &search->config.budget;

	if (!is_renewer_late(search, view))
		add_time(search, node, budget->expiries, RR_MOVE_HALF,
			 RR_MOVE_WHOLE);
	add_time(search, node, budget->pauses, RR_MOVE_PAUSE_HALF,
		 RR_MOVE_PAUSE);
}

/* ---- Steps ---------------------------------------------------------------- */

/* So many attempts in vain that write may a client make. */
static int rounds_allowed(const struct rr_search *search)
{
	return search->config.rounds + rr_search_used(search, RR_MOVE_WAIT);
}

/* Nobody else can go on: whoever has made the fewest rounds in vain makes one
 * more, so that runs come to an end; this is not the whole any more. */
static void add_tired(struct rr_search *search, const struct rr_view *view,
		      struct rr_node *node, uint64_t tired)
{
	int fewest = rounds_allowed(search) + 1, chosen = -1;

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
	int woken_by;

	if (actor->op->kind != RR_OP_SLEEP || !actor->op->yields)
		return RR_AWAKE;
	parking = rr_search_parking(search, number, &woken_by);
	if (parking == RR_ROUND &&
	    rr_search_rounds(search, number) < rounds_allowed(search))
		return RR_AWAKE;
	return parking;
}

/* Those who are kept out and write while they ask. */
static uint64_t add_steps(struct rr_search *search, const struct rr_view *view,
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
	return tired;
}

/* Nobody can go on. Faults alone are not tried then: they need not happen. */
static void add_wait(struct rr_search *search, const struct rr_view *view,
		     struct rr_node *node, uint64_t tired)
{
	if (tired && view->next_ns == RR_NEVER && rr_search_is_starved(search)) {
		search->end = RR_RUN_STARVED;
		node->n_candidates = 0;
	} else if (rr_search_may_wait(search, view)) {
		add(node, RR_MOVE_WAIT, 0);
	} else {
		node->n_candidates = 0;
	}
}

void rr_search_list(struct rr_search *search, const struct rr_view *view,
		    struct rr_node *node)
{
	size_t n_faults;
	uint64_t tired;

	node->n_candidates = 0;
	node->parked = 0;
	add_crashes(search, view, node);
	add_losses(search, view, node);
	add_restarts(search, node);
	add_returns(search, view, node);
	add_jumps(search, node);
	add_times(search, view, node);
	n_faults = node->n_candidates;
	tired = add_steps(search, view, node);
	if (node->n_candidates == n_faults)
		add_wait(search, view, node, tired);
}

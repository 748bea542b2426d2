/* SPDX-License-Identifier: MIT */
/* Which moves of a run happen before which others, and which of them race. */
#include "search_inside.h"

static void put_all(struct rr_set *set, const struct rr_set *others)
{
	for (size_t i = 0; i < RR_SET_WORDS; i++)
		set->words[i] |= others->words[i];
}

static bool meet(const struct rr_set *a, const struct rr_set *b)
{
	for (size_t i = 0; i < RR_SET_WORDS; i++) {
		if (a->words[i] & b->words[i])
			return true;
	}
	return false;
}

/* ---- Dependence ----------------------------------------------------------- */

/* Who crashes inside is not there any more when others enter. */
static bool crash_depends(const struct rr_search *search,
			  const struct rr_move *crash,
			  const struct rr_footprint *footprint,
			  const struct rr_move *other,
			  const struct rr_footprint *others)
{
	if (rr_move_is_time(other) || rr_move_is_server(other))
		return other->kind == RR_MOVE_WAIT;
	return rr_search_same_process(search, crash->actor, other->actor) ||
	       rr_footprint_conflicts(footprint, others);
}

static bool moves_a_clock(const struct rr_move *move)
{
	return rr_move_is_time(move) || move->kind == RR_MOVE_JUMP;
}

bool rr_search_depends(const struct rr_search *search,
		       const struct rr_move *a, const struct rr_footprint *fa,
		       const struct rr_move *b, const struct rr_footprint *fb)
{
	if (a->kind == RR_MOVE_CRASH)
		return crash_depends(search, a, fa, b, fb);
	if (b->kind == RR_MOVE_CRASH)
		return crash_depends(search, b, fb, a, fa);
	if (a->kind == RR_MOVE_WAIT || b->kind == RR_MOVE_WAIT)
		return true;
	if (rr_move_is_step(a) && rr_move_is_step(b) &&
	    rr_search_client(search, a->actor) ==
		    rr_search_client(search, b->actor))
		return true;
	if (fa->timed && fb->timed && (moves_a_clock(a) || moves_a_clock(b)))
		return true;
	return rr_footprint_conflicts(fa, fb);
}

static bool is_same_thread(const struct rr_move *a, const struct rr_move *b)
{
	if (rr_move_is_time(a) || rr_move_is_time(b))
		return rr_move_is_time(a) && rr_move_is_time(b);
	return rr_move_is_step(a) && rr_move_is_step(b) && a->actor == b->actor;
}

/* ---- Races ---------------------------------------------------------------- */

static struct rr_candidate *find(struct rr_node *node,
				 const struct rr_move *move)
{
	for (size_t i = 0; i < node->n_candidates; i++) {
		if (rr_move_equals(&node->candidates[i].move, move))
			return &node->candidates[i];
	}
	return NULL;
}

static void want_all(struct rr_node *node)
{
	for (size_t i = 0; i < node->n_candidates; i++)
		node->candidates[i].wanted = true;
}

/* The moves after `i` that do not need it, and `j`. */
static struct rr_set without(const struct rr_search *search, size_t i, size_t j)
{
	struct rr_set rest = { 0 };

	for (size_t k = i + 1; k < j; k++) {
		if (!rr_set_has(&search->done[k].before, i))
			rr_set_put(&rest, k);
	}
	rr_set_put(&rest, j);
	return rest;
}

/* What a move begins with at a node: a lost reply is a step as well. */
static struct rr_candidate *as_candidate(struct rr_node *node,
					 const struct rr_move *move)
{
	struct rr_candidate *found = find(node, move);
	const struct rr_move step = { RR_MOVE_STEP, move->actor };

	if (!found && move->kind == RR_MOVE_LOSE)
		found = find(node, &step);
	return found;
}

/* Move `j` is to be tried before `i`: with any of the moves that such a schedule
 * can begin with. Faults and time are tried wherever they can be. */
static void reverse(struct rr_search *search, size_t i, size_t j)
{
	struct rr_node *node = &search->nodes[i];
	const struct rr_set rest = without(search, i, j);
	struct rr_candidate *chosen = NULL;
	bool is_parked = !rr_move_is_step(&search->done[j].move);

	for (size_t k = i + 1; k <= j; k++) {
		const struct rr_move *move = &search->done[k].move;
		struct rr_candidate *candidate;

		if (!rr_set_has(&rest, k) || meet(&search->done[k].before, &rest))
			continue;
		candidate = as_candidate(node, move);
		if (candidate && (candidate->wanted || candidate->asleep))
			return;
		if (candidate && !chosen)
			chosen = candidate;
		is_parked = is_parked || (rr_move_is_step(move) &&
					  node->parked >> move->actor & 1);
	}
	if (chosen)
		chosen->wanted = true;
	else if (!is_parked)
		want_all(node);
}

/* A mutex is never given back before it was taken, and time does not pass by
 * itself while somebody can go on. */
static bool can_be_reversed(const struct rr_done *first,
			    const struct rr_done *second)
{
	if (first->is_unlock && second->is_lock)
		return false;
	return first->move.kind != RR_MOVE_WAIT &&
	       second->move.kind != RR_MOVE_WAIT;
}

/* The other end of a race for a mutex: who had it last. */
static void reverse_locks(struct rr_search *search, size_t j)
{
	const struct rr_done *lock = &search->done[j];

	for (size_t i = j; i-- > 0;) {
		const struct rr_done *other = &search->done[i];

		if (!other->is_lock || other->mutex != lock->mutex ||
		    other->move.actor == lock->move.actor)
			continue;
		reverse(search, i, j);
		return;
	}
}

static void order_after(struct rr_search *search, size_t j, size_t i)
{
	put_all(&search->done[j].before, &search->done[i].before);
	rr_set_put(&search->done[j].before, i);
}

/* A waiter goes on after the first of those that have woken it, unless another
 * has happened before it anyway; and after any other that could be first. */
static void order_waking(struct rr_search *search, size_t j)
{
	const struct rr_set wakers = rr_search_wakers(search, j);
	size_t first = 0;

	if (meet(&wakers, &search->done[j].before))
		return;
	while (!rr_set_has(&wakers, first))
		first++;
	order_after(search, j, first);
	for (size_t i = first + 1; i < j; i++) {
		if (!rr_set_has(&wakers, i) ||
		    rr_set_has(&search->done[i].before, first))
			continue;
		reverse(search, first, j);
		return;
	}
}

/* The other ends of races for an element: a pop that waited could have gone
 * before any move since it came there, not only before the last one in its way.
 * That one may have put back what an earlier one took. */
static void reverse_pops(struct rr_search *search, size_t j)
{
	const struct rr_done *pop = &search->done[j];
	struct rr_set own = { 0 };

	for (size_t i = j; i-- > 0;) {
		const struct rr_done *other = &search->done[i];

		if (rr_set_has(&own, i))
			continue;
		if (is_same_thread(&other->move, &pop->move)) {
			put_all(&own, &other->before);
			continue;
		}
		if (can_be_reversed(other, pop) &&
		    rr_search_depends(search, &other->move, &other->footprint,
				      &pop->move, &pop->footprint))
			reverse(search, i, j);
	}
}

static void order(struct rr_search *search, size_t j)
{
	struct rr_done *last = &search->done[j];

	last->before = (struct rr_set){ 0 };
	for (size_t i = j; i-- > 0;) {
		const struct rr_done *other = &search->done[i];
		const bool same = is_same_thread(&other->move, &last->move);

		if (rr_set_has(&last->before, i))
			continue;
		if (!same &&
		    !rr_search_depends(search, &other->move, &other->footprint,
				       &last->move, &last->footprint))
			continue;
		if (!same && can_be_reversed(other, last))
			reverse(search, i, j);
		order_after(search, j, i);
	}
	if (last->was_parked)
		order_waking(search, j);
	if (last->is_lock)
		reverse_locks(search, j);
	if (last->is_pop)
		reverse_pops(search, j);
}

void rr_search_order(struct rr_search *search)
{
	for (size_t j = search->n_kept; j < search->n_done; j++)
		order(search, j);
}

static bool is_stuck(const struct rr_actor_view *actor)
{
	return actor->state == RR_BLOCKED &&
	       (actor->op->kind == RR_OP_LOCK || actor->op->n_sources > 0);
}

/* As if the step came now. */
void rr_search_order_stuck(struct rr_search *search, const struct rr_view *view)
{
	struct rr_done *next = &search->done[search->n_done];

	for (size_t i = 0; i < view->n_actors; i++) {
		const struct rr_op *op = view->actors[i].op;

		if (!is_stuck(&view->actors[i]))
			continue;
		*next = (struct rr_done){
			.move = { RR_MOVE_STEP, (int)i },
			.footprint = rr_access_expected(search->config.access,
							op),
			.is_lock = op->kind == RR_OP_LOCK,
			.is_pop = op->kind == RR_OP_SEND,
			.mutex = (uintptr_t)op->mutex,
		};
		order(search, search->n_done);
	}
}

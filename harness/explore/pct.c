/* SPDX-License-Identifier: MIT */
#include "pct.h"

#include <math.h>
#include <stdlib.h>

#include "random.h"

enum { FAULTS_MAX = 64, RANKS = RR_GATE_ACTORS + RR_GATE_ACTORS };

struct rr_pct {
	struct rr_pct_config config;
	struct rr_random random;
	unsigned long begun; /* runs, the first one not counted */
	size_t n_steps;      /* k, 0 = this is the first run */
	uint64_t priorities[RANKS]; /* of actors, and of servers that are down */
	size_t changes[RR_PCT_DEPTH_MAX]; /* before which steps */
	size_t n_faults, n_struck;
	size_t faults[FAULTS_MAX]; /* before which steps, in order */
	int last;                  /* who made the last step, of the first run */
	uint64_t actors;           /* that were ever seen to go on */
	size_t widest;             /* so many faults to choose from at once */
};

static size_t sum_of(const struct rr_budget *budget)
{
	const int sum = budget->crashes + budget->expiries + budget->pauses +
			budget->lost_replies + budget->restarts +
			budget->jumps;

	return sum < FAULTS_MAX ? (size_t)sum : FAULTS_MAX;
}

struct rr_pct *rr_pct_new(const struct rr_pct_config *config,
			  const struct rr_budget *budget)
{
	struct rr_pct *pct = calloc(1, sizeof(*pct));

	if (!pct)
		return NULL;
	pct->config = *config;
	pct->n_faults = sum_of(budget);
	pct->n_struck = pct->n_faults;
	pct->last = -1;
	pct->widest = 1;
	return pct;
}

void rr_pct_free(struct rr_pct *pct)
{
	free(pct);
}

void rr_pct_measured(struct rr_pct *pct, size_t steps)
{
	pct->n_steps = steps ? steps : 1;
}

uint64_t rr_pct_seed(const struct rr_pct *pct)
{
	return pct->config.seed + pct->begun - 1;
}

/* ---- Drawing -------------------------------------------------------------- */

static size_t draw_step(struct rr_pct *pct, size_t most)
{
	return 1 + (size_t)rr_random_below(&pct->random, most);
}

static int compare_steps(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool rr_pct_next(struct rr_pct *pct)
{
	if (pct->begun == pct->config.runs)
		return false;
	pct->begun++;
	pct->random.state = rr_pct_seed(pct);
	/* Above all that are given later. */
	for (size_t i = 0; i < RANKS; i++)
		pct->priorities[i] =
			rr_random_next(&pct->random) | UINT64_C(1) << 63;
	for (int i = 1; i < pct->config.depth; i++)
		pct->changes[i] = draw_step(pct, pct->n_steps);
	for (size_t i = 0; i < pct->n_faults; i++)
		pct->faults[i] = draw_step(pct, 2 * pct->n_steps);
	qsort(pct->faults, pct->n_faults, sizeof(pct->faults[0]),
	      compare_steps);
	pct->n_struck = 0;
	return true;
}

/* ---- Picking -------------------------------------------------------------- */

static bool is_fault(const struct rr_move *move)
{
	return move->kind != RR_MOVE_STEP && move->kind != RR_MOVE_RETURN &&
	       move->kind != RR_MOVE_WAIT;
}

/* Whose priority it is. */
static size_t rank_of(const struct rr_move *move)
{
	return (size_t)move->actor +
	       (move->kind == RR_MOVE_STEP ? 0 : RR_GATE_ACTORS);
}

/* The `which`-th of the faults; the number of them when there are not so many. */
static size_t find_fault(const struct rr_node *node, size_t which, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < node->n_candidates; i++) {
		if (!is_fault(&node->candidates[i].move))
			continue;
		if (n++ == which)
			*at = i;
	}
	return n;
}

/* Is a fault due that is possible? */
static bool pick_fault(struct rr_pct *pct, const struct rr_node *node,
		       size_t step, size_t *at)
{
	const size_t n = find_fault(node, SIZE_MAX, at);

	if (n > pct->widest)
		pct->widest = n;
	if (n == 0 || pct->n_struck == pct->n_faults ||
	    pct->faults[pct->n_struck] > step)
		return false;
	pct->n_struck++;
	find_fault(node, (size_t)rr_random_below(&pct->random, n), at);
	return true;
}

/* The candidate that is no fault and comes first: in the first run by turns, then
 * by priority. Time passes by itself only when nobody can go on. */
static size_t first_of(const struct rr_pct *pct, const struct rr_node *node)
{
	uint64_t highest = 0;
	size_t found = 0;

	for (size_t i = 0; i < node->n_candidates; i++) {
		const struct rr_move *move = &node->candidates[i].move;
		const size_t rank = rank_of(move);
		uint64_t priority = pct->priorities[rank];

		if (is_fault(move))
			continue;
		if (pct->n_steps == 0)
			priority = RANKS - ((int)rank > pct->last ?
						    rank :
						    rank + RR_GATE_ACTORS);
		if (move->kind == RR_MOVE_WAIT)
			priority = 0;
		if (priority >= highest) {
			highest = priority;
			found = i;
		}
	}
	return found;
}

/* Whoever would make such a step lets all others go before. */
static void change(struct rr_pct *pct, const struct rr_node *node, size_t step)
{
	for (int i = 1; i < pct->config.depth; i++) {
		const struct rr_move *move;

		if (pct->changes[i] != step)
			continue;
		move = &node->candidates[first_of(pct, node)].move;
		pct->priorities[rank_of(move)] = (uint64_t)i;
	}
}

size_t rr_pct_pick(struct rr_pct *pct, const struct rr_node *node, size_t step)
{
	size_t at = 0;

	if (pick_fault(pct, node, step, &at))
		return at;
	if (pct->n_steps > 0)
		change(pct, node, step);
	at = first_of(pct, node);
	if (node->candidates[at].move.kind == RR_MOVE_STEP) {
		pct->last = node->candidates[at].move.actor;
		pct->actors |= UINT64_C(1) << pct->last;
	}
	return at;
}

/* ---- What is known -------------------------------------------------------- */

struct rr_pct_bound rr_pct_bound(const struct rr_pct *pct, unsigned long runs)
{
	struct rr_pct_bound bound = {
		.depth = pct->config.depth,
		.actors = (size_t)__builtin_popcountll(pct->actors),
		.steps = pct->n_steps,
	};
	const double k = (double)bound.steps;

	if (bound.actors == 0)
		bound.actors = 1;
	bound.once = pow(k, 1 - bound.depth) / (double)bound.actors *
		     pow(2 * k * (double)pct->widest, -(double)pct->n_faults);
	bound.in_all = -expm1((double)runs * log1p(-bound.once));
	if (bound.once >= 1)
		bound.in_all = 1;
	return bound;
}

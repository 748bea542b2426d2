/* SPDX-License-Identifier: MIT */
#include "pct.h"

#include <stdlib.h>

struct rr_search *rr_search_new(const struct rr_search_config *config)
{
	struct rr_search *search = calloc(1, sizeof(*search));

	if (search)
		search->config = *config;
	return search;
}

void rr_search_free(struct rr_search *search)
{
	free(search);
}

void rr_search_begin(struct rr_search *search)
{
	if (search->config.pct)
		search->n_nodes = 0;
	search->n_kept = search->n_nodes > 0 ? search->n_nodes - 1 : 0;
	search->n_done = 0;
	search->event = 0;
	search->cuts = search->cuts && search->again; /* not listed anew */
	search->again = search->is_gone = false;
	search->end = RR_RUN_WHOLE;
	search->is_in_part = search->n_nodes > search->config.split;
	rr_access_begin(search->config.access);
}

/* ---- Nodes ---------------------------------------------------------------- */

static bool is_fault(const struct rr_candidate *candidate)
{
	return candidate->move.kind != RR_MOVE_STEP;
}

static bool wakes(const struct rr_search *search, const struct rr_done *made,
		  const struct rr_candidate *asleep)
{
	return !search->config.never_wakes &&
	       rr_search_depends(search, &asleep->move, &asleep->footprint,
				 &made->move, &made->footprint);
}

/* Asleep stays what does not conflict with the move that was made. */
static void inherit_sleep(struct rr_search *search, struct rr_node *node)
{
	const struct rr_node *parent = &search->nodes[search->n_nodes - 1];
	const struct rr_done *made = &search->done[search->n_done - 1];

	for (size_t i = 0; i < parent->n_candidates; i++) {
		const struct rr_candidate *old = &parent->candidates[i];

		if (i == parent->current || !(old->asleep || old->done) ||
		    wakes(search, made, old))
			continue;
		for (size_t j = 0; j < node->n_candidates; j++) {
			struct rr_candidate *new = &node->candidates[j];

			if (!rr_move_equals(&new->move, &old->move))
				continue;
			new->asleep = true;
			new->footprint = old->footprint;
		}
	}
}

/* Who went last goes on, if he may: the fewest changes. */
static int first_step(const struct rr_node *node, int last)
{
	int chosen = -1;

	for (size_t i = 0; i < node->n_candidates; i++) {
		const struct rr_candidate *candidate = &node->candidates[i];

		if (is_fault(candidate) || candidate->asleep)
			continue;
		if (chosen < 0 || candidate->move.actor == last)
			chosen = (int)i;
	}
	return chosen;
}

/* The next one that is to be run; false: none is left. */
static bool advance(struct rr_node *node)
{
	for (size_t i = 0; i < node->n_candidates; i++) {
		const struct rr_candidate *candidate = &node->candidates[i];

		if (candidate->wanted && !candidate->done &&
		    !candidate->asleep) {
			node->current = i;
			return true;
		}
	}
	return false;
}

static void want(const struct rr_search *search, struct rr_node *node,
		 int last)
{
	const bool all = search->config.all ||
			 search->n_nodes < search->config.split;
	const int step = first_step(node, last);

	for (size_t i = 0; i < node->n_candidates; i++) {
		struct rr_candidate *candidate = &node->candidates[i];

		candidate->wanted = all || is_fault(candidate) ||
				    (int)i == step;
	}
}

/* Chooses among what can be done; false: nothing of it is to be run. */
static bool choose(struct rr_search *search, const struct rr_view *view,
		   struct rr_node *node)
{
	if (search->config.pct) {
		node->current = rr_pct_pick(search->config.pct, node,
					    search->n_nodes + 1);
		return true;
	}
	if (search->n_nodes > 0 && !search->config.all)
		inherit_sleep(search, node);
	want(search, node, view->last);
	return advance(node);
}

/* False: the run ends here, search->end says how. */
static bool open_node(struct rr_search *search, const struct rr_view *view)
{
	struct rr_node *node = &search->nodes[search->n_nodes];

	if (search->n_nodes == RR_DEPTH_MAX - 1) {
		search->end = RR_RUN_CUT;
		return false;
	}
	if (search->n_nodes == search->config.split &&
	    !rr_search_enter_part(search)) {
		search->end = RR_RUN_ELSEWHERE;
		return false;
	}
	rr_search_list(search, view, node);
	if (node->n_candidates == 0) {
		if (search->end != RR_RUN_STARVED)
			search->end = search->cuts ? RR_RUN_CUT : RR_RUN_STUCK;
		return false;
	}
	if (!choose(search, view, node)) {
		search->end = RR_RUN_BLOCKED;
		return false;
	}
	search->n_nodes++;
	return true;
}

/* ---- Choices -------------------------------------------------------------- */

static void note_parking(const struct rr_search *search, struct rr_done *done)
{
	const enum rr_parking parking =
		rr_search_parking(search, done->move.actor);

	done->has_written = parking == RR_ROUND;
	done->was_parked = parking == RR_WOKEN;
}

/* What has to be known before a step to judge it afterwards. */
static void prepare(struct rr_search *search, const struct rr_view *view,
		    struct rr_done *done)
{
	const struct rr_op *op;

	search->counts = false;
	if (search->n_done < search->n_kept)
		return;
	rr_search_plan(search, view, done);
	if (!rr_move_is_step(&done->move))
		return;
	op = view->actors[done->move.actor].op;
	rr_search_count(search, op);
	if (op->kind == RR_OP_SLEEP && op->yields)
		note_parking(search, done);
}

struct rr_choice rr_search_choose(void *context, const struct rr_view *view)
{
	struct rr_search *search = context;
	const struct rr_node *node;
	struct rr_done *done;

	rr_search_note(search, view->trace);
	if (search->again)
		return (struct rr_choice){ RR_CHOOSE_STOP, 0, 0 };
	if (search->n_done == search->n_nodes && !open_node(search, view))
		return (struct rr_choice){ RR_CHOOSE_STOP, 0, 0 };
	node = &search->nodes[search->n_done];
	done = &search->done[search->n_done];
	if (search->n_done >= search->n_kept)
		*done = (struct rr_done){ 0 };
	done->move = node->candidates[node->current].move;
	prepare(search, view, done);
	search->event = view->trace->n_events;
	search->n_done++;
	return rr_search_choice(done);
}

/* ---- Between runs --------------------------------------------------------- */

enum rr_run_end rr_search_learn(struct rr_search *search, enum rr_gate_end end,
				const struct rr_view *view)
{
	if (search->is_gone || end == RR_GATE_SILENT)
		return RR_RUN_GONE;
	if (rr_gate_failure(end))
		return RR_RUN_BROKEN;
	if (search->n_done < search->n_nodes)
		return RR_RUN_BROKEN;
	if (end == RR_GATE_DEADLOCK)
		search->end = RR_RUN_STUCK;
	if (end != RR_GATE_STOPPED)
		rr_search_note(search, view->trace);
	search->n_done -= search->again;
	if (!search->config.all && !search->config.pct)
		rr_search_order(search);
	if (search->again)
		return RR_RUN_AGAIN;
	if (!search->config.all && !search->config.pct &&
	    !search->config.forgets_stuck)
		rr_search_order_stuck(search, view);
	if (search->cuts && search->end == RR_RUN_STUCK)
		search->end = RR_RUN_CUT;
	if (!search->is_in_part && !rr_search_enter_part(search))
		search->end = RR_RUN_ELSEWHERE;
	search->was_cut = search->was_cut || search->cuts ||
			  search->end == RR_RUN_CUT;
	return search->end;
}

bool rr_search_next(struct rr_search *search)
{
	if (search->again)
		return true;
	while (search->n_nodes > 0) {
		struct rr_node *node = &search->nodes[search->n_nodes - 1];
		struct rr_candidate *made = &node->candidates[node->current];

		made->done = true;
		made->footprint = search->done[search->n_nodes - 1].footprint;
		if (advance(node))
			return true;
		search->n_nodes--;
	}
	return false;
}

bool rr_search_was_cut(const struct rr_search *search)
{
	return search->was_cut;
}

size_t rr_search_n_moves(const struct rr_search *search)
{
	return search->n_done;
}

struct rr_move rr_search_move(const struct rr_search *search, size_t i)
{
	return search->done[i].move;
}

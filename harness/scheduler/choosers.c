/* SPDX-License-Identifier: MIT */
#include "choosers.h"

static struct rr_choice wait_for_it(const struct rr_view *view)
{
	return (struct rr_choice){ .kind = RR_CHOOSE_PASS,
				   .until_ns = view->next_ns };
}

static struct rr_choice step(size_t actor)
{
	return (struct rr_choice){ .kind = RR_CHOOSE_STEP,
				   .actor = (int)actor };
}

static bool is_waiting(const struct rr_op *op)
{
	return op->kind == RR_OP_SLEEP && op->yields;
}

/* The first that is ready, from number `first` on and round; those who wait for
 * another let all others go before. */
static struct rr_choice first_ready(const struct rr_view *view, size_t first)
{
	struct rr_choice choice = wait_for_it(view);

	for (size_t i = view->n_actors; i-- > 0;) {
		const size_t actor = (first + i) % view->n_actors;
		const struct rr_actor_view *seen = &view->actors[actor];

		if (seen->state != RR_READY ||
		    (choice.kind == RR_CHOOSE_STEP && is_waiting(seen->op)))
			continue;
		choice = step(actor);
	}
	return choice;
}

struct rr_choice rr_choose_serial(void *context, const struct rr_view *view)
{
	(void)context;
	return first_ready(view, 0);
}

struct rr_choice rr_choose_in_turn(void *context, const struct rr_view *view)
{
	(void)context;
	return first_ready(view, (size_t)(view->last + 1));
}

struct rr_choice rr_choose_at_random(void *context, const struct rr_view *view)
{
	size_t left;

	if (view->n_ready == 0)
		return wait_for_it(view);
	left = rr_random_below(context, view->n_ready);
	for (size_t i = 0; i < view->n_actors; i++) {
		if (view->actors[i].state == RR_READY && left-- == 0)
			return step(i);
	}
	return wait_for_it(view);
}

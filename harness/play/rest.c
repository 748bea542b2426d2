/* SPDX-License-Identifier: MIT */
#include "rest.h"

#include <stdio.h>

enum { PATIENCE = 2, VAIN_WAITS = 4, PASSES_MAX = 200 };

#define SECOND_NS INT64_C(1000000000)

/* The first client's actors, then the second one's. */
static int first_ready(const struct rr_view *view, size_t n_clients)
{
	for (size_t client = 0; client < n_clients; client++) {
		for (size_t i = client; i < view->n_actors; i += n_clients) {
			if (view->actors[i].state == RR_READY)
				return (int)i;
		}
	}
	return -1;
}

/* Asleep between two attempts: it may as well sleep longer. */
static bool is_asking(const struct rr_rehearsal *rehearsal,
		      const struct rr_actor_view *actor)
{
	return actor->state == RR_BLOCKED && actor->op->kind == RR_OP_SLEEP &&
	       !rehearsal->observer.inside[actor->client];
}

/* When something else than an attempt can happen, from now on; 0 = never. */
static int64_t event_ns(const struct rr_rehearsal *rehearsal,
			const struct rr_view *view)
{
	int64_t first_ns = rr_rehearsal_lease_ns(rehearsal);

	for (size_t i = 0; i < view->n_actors; i++) {
		const struct rr_actor_view *actor = &view->actors[i];
		const int64_t in_ns = actor->ready_ns - view->now_ns;

		if (!actor->op || actor->ready_ns == RR_NEVER || in_ns <= 0 ||
		    is_asking(rehearsal, actor))
			continue;
		if (!first_ns || in_ns < first_ns)
			first_ns = in_ns;
	}
	return first_ns;
}

static struct rr_move pass(int64_t ns)
{
	return (struct rr_move){ .kind = RR_MOVE_PASS, .ns = ns };
}

static struct rr_move give_up(struct rr_rest *rest, const struct rr_view *view)
{
	size_t used = (size_t)snprintf(rest->note, sizeof(rest->note),
				       "they would wait for ever:");

	for (size_t i = 0; i < view->n_actors; i++) {
		if (view->actors[i].op && used < sizeof(rest->note))
			used += (size_t)snprintf(rest->note + used,
						 sizeof(rest->note) - used,
						 " %s", view->actors[i].name);
	}
	rest->has_given_up = true;
	return (struct rr_move){ .kind = RR_MOVE_NOTE, .note = rest->note };
}

/* Nobody can go on now. */
static struct rr_move let_time_pass(struct rr_rest *rest,
				    const struct rr_rehearsal *rehearsal,
				    const struct rr_view *view)
{
	const int64_t next_ns = view->next_ns - view->now_ns;
	const int64_t some_ns = event_ns(rehearsal, view);
	int64_t long_ns = SECOND_NS;

	if (rest->passes++ == PASSES_MAX)
		return give_up(rest, view);
	if (++rest->idle <= PATIENCE || some_ns > next_ns)
		return pass(rest->idle <= PATIENCE ? next_ns : some_ns);
	if (some_ns)
		return pass(next_ns);
	if (rest->idle > PATIENCE + VAIN_WAITS)
		return give_up(rest, view);
	for (int i = PATIENCE + 1; i < rest->idle; i++)
		long_ns *= 10;
	return pass(long_ns > next_ns ? long_ns : next_ns);
}

struct rr_move rr_rest_move(struct rr_rest *rest,
			    const struct rr_rehearsal *rehearsal,
			    const struct rr_view *view)
{
	const int actor = first_ready(view, rehearsal->setup.n_clients);

	if (rest->has_given_up)
		return (struct rr_move){ .kind = RR_MOVE_STOP };
	if (rest->n_marks != rehearsal->n_marks)
		rest->idle = 0;
	rest->n_marks = rehearsal->n_marks;
	if (actor >= 0)
		return (struct rr_move){ .kind = RR_MOVE_STEP, .actor = actor };
	return let_time_pass(rest, rehearsal, view);
}

/* SPDX-License-Identifier: MIT */
/* What the dependencies of two clients, or requests, on each other are called. */
#include <stdlib.h>

#include "dependencies.h"
#include "why.h"

/* Is a key that Y deleted, which X's command `read` did not see, there again because X wrote
 * it? */
static bool is_resurrected(const struct rr_history *history, const struct rr_dependency *missed,
			   uint32_t end)
{
	const char **keys;
	const size_t n = rr_contents_keys(history->contents, missed->met.first, RR_NO_ID, &keys);
	bool is = false;

	for (size_t i = 0; i < n && !is; i++) {
		if (rr_history_holds(history, missed->met.second, keys[i]) ||
		    !rr_history_holds(history, end, keys[i]))
			continue;
		for (const struct rr_history_event *v = missed->b;
		     v < history->events + history->n && !is; v++)
			is = v->owner == missed->a->owner &&
			     !rr_history_holds(history, v->before, keys[i]) &&
			     rr_history_holds(history, v->after, keys[i]);
	}
	free(keys);
	return is;
}

/* Is a key that was written between two states another one in the end than in a serial order
 * that is near? Without such an order nobody knows better. */
static bool is_missed_in_the_end(const struct rr_history *history, const struct rr_met *met,
				 const struct rr_why_question *question)
{
	const char **keys;
	size_t n;
	bool is = question->nearest == RR_NO_ID;

	n = rr_contents_keys(history->contents, met->first, RR_NO_ID, &keys);
	for (size_t i = 0; i < n && !is; i++)
		is = !rr_history_is_same(history, met->from, met->first, keys[i]) &&
		     !rr_history_is_same(history, question->end, question->nearest, keys[i]);
	free(keys);
	return is;
}

/* Did X, whose command did not see Y's, overwrite what that wrote? */
static bool is_lost(const struct rr_history *history, const struct rr_dependency *missed,
		    const struct rr_why_question *question)
{
	for (size_t i = 0; i < history->n_dependencies; i++) {
		const struct rr_dependency *it = &history->dependencies[i];

		if (it->a == missed->b && it->b->owner == missed->a->owner && it->hides &&
		    is_missed_in_the_end(history, &it->met, question))
			return true;
	}
	return false;
}

/* Do two commands, each where it met the other client's, write a key in common? */
static bool write_same_key(const struct rr_history *history, const struct rr_dependency *x,
			   const struct rr_dependency *y)
{
	const char **keys;
	const size_t n = rr_contents_keys(history->contents, x->met.second, RR_NO_ID, &keys);
	bool same = false;

	for (size_t i = 0; i < n && !same; i++)
		same = !rr_history_is_same(history, x->met.from, x->met.second, keys[i]) &&
		       !rr_history_is_same(history, y->met.from, y->met.second, keys[i]);
	free(keys);
	return same;
}

/* A command of X that only read and did not see what a later one of Y's wrote. */
static const struct rr_dependency *find_missed(const struct rr_history *history, int x, int y,
					       size_t *from)
{
	for (; *from < history->n_dependencies; (*from)++) {
		const struct rr_dependency *it = &history->dependencies[*from];

		if (it->kind == RR_DEPENDS_MISSED && it->reads && it->a->owner == x &&
		    it->b->owner == y)
			return &history->dependencies[(*from)++];
	}
	return NULL;
}

static const char *name_one_way(const struct rr_history *history, int x, int y,
				const struct rr_why_question *question)
{
	const struct rr_dependency *missed;
	const char *name = NULL;
	size_t from = 0;

	while (!name && (missed = find_missed(history, x, y, &from)))
		name = is_resurrected(history, missed, question->end) ? "resurrected delete" :
		       is_lost(history, missed, question)             ? "lost update" :
									NULL;
	return name;
}

const char *rr_history_anomaly(const struct rr_history *history, int x, int y,
			       const struct rr_why_question *question)
{
	const struct rr_dependency *of_x, *of_y;
	const char *name = name_one_way(history, x, y, question);
	size_t from_x = 0, from_y = 0;

	name = name ? name : name_one_way(history, y, x, question);
	if (name)
		return name;
	of_x = find_missed(history, x, y, &from_x);
	of_y = find_missed(history, y, x, &from_y);
	if (of_x && of_y)
		return write_same_key(history, of_x, of_y) ? "both did what only one should" :
							     "write skew";
	return of_x || of_y ? "stale read" : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* Each pair takes four questions. */
enum { PAIRS_MOST = 4000 };

/* ---- The schedule -------------------------------------------------------------- */

/* A reply and a state; the state is RR_NO_ID if there is an error, or a command blocks on the
 * connection. */
struct outcome {
	uint32_t to, reply;
	bool blocks;
};

static bool is_blocked(const struct rr_history *history, uint32_t state, uint16_t slot)
{
	const struct rr_connection *connection =
		rr_server_table_connection(history->contents->table, state, slot);

	return connection && connection->blocks;
}

static struct outcome ask(const struct rr_history *history, uint32_t state,
			  const struct rr_question *question)
{
	const struct rr_server_row *row =
		state == RR_NO_ID || (question->kind == RR_ASK_COMMAND &&
				      is_blocked(history, state, question->slot)) ?
			NULL :
			rr_server_table_ask(history->contents->table, state, question);

	return row ? (struct outcome){ row->to, row->reply, row->blocks } :
		     (struct outcome){ .to = RR_NO_ID };
}

static bool make_event(const struct rr_action *action, struct rr_history_event *event)
{
	*event = (struct rr_history_event){ .action = action, .question = action->question };
	if (action->kind == RR_ACTION_TIME)
		event->question = (struct rr_question){ .kind = RR_ASK_TICK,
							.argument = action->ns };
	else if (action->kind != RR_ACTION_ASK || action->server != 0)
		return false;
	event->passes = event->question.kind == RR_ASK_TICK;
	event->is_command = event->question.kind == RR_ASK_COMMAND;
	return true;
}

uint32_t rr_history_follow(struct rr_history *history, const struct rr_program *program,
			   struct rr_contents *contents, const struct rr_actions *actions,
			   const size_t *steps, const uint8_t *owners)
{
	uint32_t at = 0;

	*history = (struct rr_history){ .program = program,
					.contents = contents,
					.events = rr_calloc(actions->n + 1,
							    sizeof(*history->events)) };
	for (size_t i = 0; i < actions->n && at != RR_NO_ID; i++) {
		struct rr_history_event *event = &history->events[history->n];

		if (!make_event(&actions->all[i], event))
			continue;
		event->step = steps[i];
		event->owner = owners ? owners[i] : actions->all[i].client;
		event->before = at;
		event->after = at = ask(history, at, &event->question).to;
		history->n++;
	}
	history->end = at;
	return at;
}

void rr_history_release(struct rr_history *history)
{
	free(history->events);
	free(history->dependencies);
}

/* ---- Keys ------------------------------------------------------------------------- */

const struct rdl_reply *rr_history_find(const struct rr_history *history, uint32_t state,
					const struct rdl_reply *key)
{
	struct rr_contents *contents = history->contents;
	const uint32_t number = state == RR_NO_ID ? RR_NO_ID : rr_contents_number(contents, state);

	return number == RR_NO_ID ?
		       NULL :
		       rr_contents_find(&contents->table->terms->reply[number].reply, key);
}

bool rr_history_is_same(const struct rr_history *history, uint32_t a, uint32_t b,
			const struct rdl_reply *key)
{
	return rr_contents_have_same_value(history->contents->table->terms,
					   rr_history_find(history, a, key),
					   rr_history_find(history, b, key));
}

/* ---- Dependencies ------------------------------------------------------------------- */

/* Where the two met: where the first one was, and the other's owner has done all that comes
 * before the second. */
static uint32_t meeting_place(const struct rr_history *history, const struct rr_history_event *a,
			      const struct rr_history_event *b)
{
	uint32_t at = a->before;

	for (const struct rr_history_event *it = a + 1; it < b; it++) {
		if (it->is_command && !it->action->is_late && it->owner == b->owner)
			at = ask(history, at, &it->question).to;
	}
	return at;
}

static bool is_same_outcome(struct outcome a, struct outcome b)
{
	return a.reply == b.reply && a.blocks == b.blocks;
}

static bool is_same_end(const struct rr_history *history, uint32_t a, uint32_t b)
{
	const struct rr_server_snapshot *states = history->contents->table->states;

	return a == b || (states[a].connections == states[b].connections &&
			  rr_contents_are_same(history->contents, a, b));
}

/* One that was executed, and queued after MULTI, is none. */
static bool counts(const struct rr_history *history, const struct rr_history_event *event)
{
	const struct rdl_reply *reply;

	if (!event->is_command || !event->step || event->owner == RR_NOBODY)
		return false;
	if (event->action->blocks)
		return true;
	reply = &history->contents->table->terms->reply[event->action->reply].reply;
	return !(reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0);
}

static void add_dependency(struct rr_history *history, const struct rr_dependency *dependency)
{
	rr_array_grow(&history->dependencies, history->n_dependencies, sizeof(*dependency));
	history->dependencies[history->n_dependencies++] = *dependency;
}

/* What a command that blocked has got by what was asked next; RR_NO_ID = it blocks still. */
static uint32_t served_by(const struct rr_history *history, uint32_t state,
			  const struct rr_question *question, uint16_t slot)
{
	const struct rr_server_table *table = history->contents->table;
	const struct rr_server_row *row =
		state == RR_NO_ID ? NULL :
				    rr_server_table_ask(history->contents->table, state, question);
	size_t n = 0;
	const struct rr_wake *wakes = row ? rr_server_table_wakes(table, row, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (wakes[i].slot == slot)
			return wakes[i].reply;
	}
	return RR_NO_ID;
}

/* The first of two blocked until the second served it: so it comes behind that. True: that is all,
 * for it would have heard the same, and left the same, had it come later. */
static bool judge_served(struct rr_history *history, const struct rr_dependency *it,
			 const struct outcome *both, const struct outcome *swapped)
{
	const uint32_t reply = it->a->action->blocks ?
				       served_by(history, it->met.first, &it->b->question,
						 it->a->question.slot) :
				       RR_NO_ID;
	const struct rr_dependency served = {
		.a = it->b,
		.b = it->a,
		.kind = RR_DEPENDS_SAW,
		.orders = true,
		.met = { it->met.from, it->met.second, it->met.first, swapped->to, both->to },
	};

	if (reply == RR_NO_ID)
		return false;
	add_dependency(history, &served);
	return swapped->reply == reply && is_same_end(history, both->to, swapped->to);
}

/* How two commands depend on each other, if they do. */
static void compare(struct rr_history *history, const struct rr_history_event *a,
		    const struct rr_history_event *b)
{
	const uint32_t from = meeting_place(history, a, b);
	const struct outcome first = ask(history, from, &a->question);
	const struct outcome both = ask(history, first.to, &b->question);
	const struct outcome second = ask(history, from, &b->question);
	const struct outcome swapped = ask(history, second.to, &a->question);
	struct rr_dependency it = { .a = a,
				    .b = b,
				    .kind = RR_DEPENDS_AFTER,
				    .met = { from, first.to, second.to, both.to, swapped.to } };
	struct rr_contents *contents = history->contents;
	const struct rr_met *met = &it.met;
	bool missed, saw, a_reads, b_reads;

	if (both.to == RR_NO_ID || swapped.to == RR_NO_ID ||
	    judge_served(history, &it, &both, &swapped))
		return;
	/* A read that heard what it did says most, and then what they leave. What was heard in the
	 * schedule must be what is heard where they met: nothing is said of replies that did not
	 * come. */
	missed = !is_same_outcome(first, swapped) && first.reply == a->action->reply;
	saw = !is_same_outcome(second, both) && both.reply == b->action->reply;
	a_reads = rr_contents_are_same(contents, met->from, met->first);
	b_reads = rr_contents_are_same(contents, met->first, met->both);
	it.hides = !a_reads && rr_contents_are_same(contents, met->both, met->second) &&
		   !rr_contents_are_same(contents, met->from, met->second);
	it.orders = missed || saw || !is_same_end(history, met->both, met->swapped);
	if ((missed && a_reads) || (saw && b_reads)) {
		it.reads = true;
		it.kind = missed && a_reads ? RR_DEPENDS_MISSED : RR_DEPENDS_SAW;
	} else if (missed && rr_contents_are_same(contents, met->second, met->swapped)) {
		it.kind = RR_DEPENDS_MISSED; /* it would have been refused */
	} else if ((missed || saw) && is_same_end(history, met->both, met->swapped)) {
		it.kind = missed ? RR_DEPENDS_MISSED : RR_DEPENDS_SAW;
	}
	if (it.orders || it.hides)
		add_dependency(history, &it);
}

bool rr_history_find_dependencies(struct rr_history *history)
{
	size_t n = 0;

	for (size_t j = 1; j < history->n; j++) {
		const struct rr_history_event *b = &history->events[j];

		for (size_t i = 0; i < j && counts(history, b); i++) {
			const struct rr_history_event *a = &history->events[i];

			if (!counts(history, a) || a->owner == b->owner)
				continue;
			if (++n > PAIRS_MOST)
				return false;
			compare(history, a, b);
		}
	}
	return true;
}

/* ---- Circles ------------------------------------------------------------------------ */

/* The lower, the more it tells: a read that was not up to date before all else. */
static int rank_of(const struct rr_dependency *it)
{
	const int rank = it->kind == RR_DEPENDS_AFTER ? 2 + !it->hides : 4 + (int)it->kind;

	return it->reads ? (int)it->kind : rank;
}

static const struct rr_dependency *find_between(const struct rr_history *history, size_t a,
						size_t b)
{
	const struct rr_dependency *best = NULL;

	for (size_t i = 0; i < history->n_dependencies; i++) {
		const struct rr_dependency *it = &history->dependencies[i];

		if (it->a->owner == a && it->b->owner == b && it->orders &&
		    (!best || rank_of(it) < rank_of(best)))
			best = it;
	}
	return best;
}

/* Goes on from the last owner of a path of n to the first, over at most `most` dependencies
 * in all; the number of these, 0 = there is no such way. */
static size_t close_circle(const struct rr_dependency *const between[][RR_OWNERS_MAX],
			   const struct rr_dependency **circle, size_t n, size_t first, size_t last,
			   size_t most)
{
	size_t length;

	if (n > 0 && last == first)
		return n == most ? n : 0;
	for (size_t next = 0; next < RR_OWNERS_MAX && n < most; next++) {
		circle[n] = between[last][next];
		length = circle[n] ? close_circle(between, circle, n + 1, first, next, most) : 0;
		if (length)
			return length;
	}
	return 0;
}

size_t rr_history_circle(const struct rr_history *history,
			 const struct rr_dependency *circle[RR_OWNERS_MAX])
{
	const struct rr_dependency *between[RR_OWNERS_MAX][RR_OWNERS_MAX];
	size_t n = 0;

	for (size_t a = 0; a < RR_OWNERS_MAX; a++) {
		for (size_t b = 0; b < RR_OWNERS_MAX; b++)
			between[a][b] = a == b ? NULL : find_between(history, a, b);
	}
	for (size_t most = 2; most <= RR_OWNERS_MAX && !n; most++) {
		for (size_t first = 0; first < RR_OWNERS_MAX && !n; first++)
			n = close_circle(between, circle, 0, first, first, most);
	}
	return n;
}

/* ---- What a circle of two is called ----------------------------------------------------- */

/* Is a key that was written between two states another one in the end than in a serial order
 * that is near? Without such an order it is taken to be so. */
static bool is_missed_in_the_end(const struct rr_history *history, const struct rr_met *met,
				 uint32_t nearest)
{
	const struct rdl_reply **keys;
	size_t n;
	bool is = nearest == RR_NO_ID;

	keys = rr_contents_list(history->contents, met->first, RR_NO_ID, &n);
	for (size_t i = 0; i < n && !is; i++)
		is = !rr_history_is_same(history, met->from, met->first, keys[i]) &&
		     !rr_history_is_same(history, history->end, nearest, keys[i]);
	free(keys);
	return is;
}

/* Did X, whose command did not see Y's, overwrite what that wrote? */
static bool is_lost(const struct rr_history *history, const struct rr_dependency *missed,
		    uint32_t nearest)
{
	for (size_t i = 0; i < history->n_dependencies; i++) {
		const struct rr_dependency *it = &history->dependencies[i];

		if (it->a == missed->b && it->b->owner == missed->a->owner && it->hides &&
		    is_missed_in_the_end(history, &it->met, nearest))
			return true;
	}
	return false;
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

static enum rr_anomaly name_one_way(const struct rr_history *history, int x, int y,
				    uint32_t nearest)
{
	const struct rr_dependency *missed;
	enum rr_anomaly name = RR_ANOMALY_NONE;
	size_t from = 0;

	while (!name && (missed = find_missed(history, x, y, &from))) {
		const struct rdl_reply **keys;
		size_t n;
		bool is = false;

		keys = rr_contents_list(history->contents, missed->met.first, RR_NO_ID, &n);
		/* Is a key that Y deleted, which X's command did not see, there again because X
		 * wrote it? */
		for (size_t i = 0; i < n && !is; i++) {
			if (rr_history_find(history, missed->met.second, keys[i]) ||
			    !rr_history_find(history, history->end, keys[i]))
				continue;
			for (const struct rr_history_event *v = missed->b;
			     v < history->events + history->n && !is; v++)
				is = v->owner == missed->a->owner &&
				     !rr_history_find(history, v->before, keys[i]) &&
				     rr_history_find(history, v->after, keys[i]);
		}
		free(keys);
		name = is                                ? RR_ANOMALY_RESURRECTED_DELETE :
		       is_lost(history, missed, nearest) ? RR_ANOMALY_LOST_UPDATE :
							   RR_ANOMALY_NONE;
	}
	return name;
}

enum rr_anomaly rr_history_anomaly(const struct rr_history *history, int x, int y, uint32_t nearest)
{
	const struct rr_dependency *of_x, *of_y;
	enum rr_anomaly name = name_one_way(history, x, y, nearest);
	size_t from_x = 0, from_y = 0;

	name = name ? name : name_one_way(history, y, x, nearest);
	if (name)
		return name;
	of_x = find_missed(history, x, y, &from_x);
	of_y = find_missed(history, y, x, &from_y);
	if (of_x && of_y) {
		const struct rdl_reply **keys;
		size_t n;
		bool same = false;

		keys = rr_contents_list(history->contents, of_x->met.second, RR_NO_ID, &n);
		/* Do two commands, each where it met the other client's, write a key in common? */
		for (size_t i = 0; i < n && !same; i++)
			same = !rr_history_is_same(history, of_x->met.from, of_x->met.second,
						   keys[i]) &&
			       !rr_history_is_same(history, of_y->met.from, of_y->met.second,
						   keys[i]);
		free(keys);
		return same ? RR_ANOMALY_CHECK_THEN_ACT : RR_ANOMALY_WRITE_SKEW;
	}
	return of_x || of_y ? RR_ANOMALY_STALE_READ : RR_ANOMALY_NONE;
}

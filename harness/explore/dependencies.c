/* SPDX-License-Identifier: MIT */
#include "dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

/* Each pair takes four questions. */
enum { PAIRS_MOST = 4000 };

/* Nobody's connection. */
enum { LOOKING_SLOT = RR_ASKER_SLOTS - 1 };

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
	return at;
}

void rr_history_release(struct rr_history *history)
{
	free(history->events);
	free(history->dependencies);
}

/* ---- Keys ------------------------------------------------------------------------- */

/* The number of the reply to a command that only looks at a key. */
static uint32_t look(const struct rr_history *history, uint32_t state, const char *command,
		     const char *key)
{
	const char *const words[] = { command, key, NULL };
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = LOOKING_SLOT,
					      .argument = rr_terms_words(
						      history->contents->table->terms, words) };

	return ask(history, state, &question).reply;
}

bool rr_history_holds(const struct rr_history *history, uint32_t state, const char *key)
{
	const uint32_t reply = look(history, state, "EXISTS", key);

	return history->contents->table->terms->reply[reply].reply.integer == 1;
}

bool rr_history_is_same(const struct rr_history *history, uint32_t a, uint32_t b, const char *key)
{
	return look(history, a, "DUMP", key) == look(history, b, "DUMP", key);
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

/* One that was executed, and queued behind MULTI, is none. */
static bool counts(const struct rr_history *history, const struct rr_history_event *event)
{
	const struct rl_reply *reply;

	if (!event->is_command || !event->step || event->owner == RR_NOBODY)
		return false;
	if (event->action->blocks)
		return true;
	reply = &history->contents->table->terms->reply[event->action->reply].reply;
	return !(reply->type == RL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0);
}

static void add_dependency(struct rr_history *history, const struct rr_dependency *dependency)
{
	rr_array_grow(&history->dependencies, history->n_dependencies, sizeof(*dependency));
	history->dependencies[history->n_dependencies++] = *dependency;
}

/* How two commands depend on each other; false: they do not. A read that heard what it did
 * says most, and then what they leave. What was heard in the schedule must be what is heard
 * where they met: nothing is said of replies that did not come. */
static bool judge_pair(const struct rr_history *history, struct rr_dependency *it,
		       const struct outcome *a, const struct outcome *b)
{
	struct rr_contents *contents = history->contents;
	const struct rr_met *met = &it->met;
	const bool missed = !is_same_outcome(a[0], a[1]) && a[0].reply == it->a->action->reply;
	const bool saw = !is_same_outcome(b[0], b[1]) && b[1].reply == it->b->action->reply;
	const bool a_reads = rr_contents_are_same(contents, met->from, met->first);
	const bool b_reads = rr_contents_are_same(contents, met->first, met->both);

	it->hides = !a_reads && rr_contents_are_same(contents, met->both, met->second) &&
		    !rr_contents_are_same(contents, met->from, met->second);
	it->orders = missed || saw || !is_same_end(history, met->both, met->swapped);
	if ((missed && a_reads) || (saw && b_reads)) {
		it->reads = true;
		it->kind = missed && a_reads ? RR_DEPENDS_MISSED : RR_DEPENDS_SAW;
	} else if (missed && rr_contents_are_same(contents, met->second, met->swapped)) {
		it->kind = RR_DEPENDS_MISSED; /* it would have been refused */
	} else if ((missed || saw) && is_same_end(history, met->both, met->swapped)) {
		it->kind = missed ? RR_DEPENDS_MISSED : RR_DEPENDS_SAW;
	}
	return it->orders || it->hides;
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

	if (both.to == RR_NO_ID || swapped.to == RR_NO_ID ||
	    judge_served(history, &it, &both, &swapped))
		return;
	if (judge_pair(history, &it, (struct outcome[]){ first, swapped },
		       (struct outcome[]){ second, both }))
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

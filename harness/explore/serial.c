/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum { NOBODY = UINT32_MAX };

/* A state of a serial order: who has begun, and whose turn it is. */
struct place {
	rr_state_key key;
	uint32_t ran, turn; /* NOBODY: the next one may begin. Of apps 0: a request is under way */
};

struct learner {
	struct rr_serial *serial;
	struct rr_product *product;
	struct place place; /* whose moves are being looked at */
	uint32_t number;    /* of that */
};

/* ---- What a state says ------------------------------------------------------- */

static bool client_ended_well(const struct rr_product *product, const uint32_t *key, size_t client)
{
	const struct rr_client_state *state = rr_product_client(product, key, client);

	return !rr_product_part(product, key, client)->is_crashed && state->has_ended &&
	       state->tally.failed == 0;
}

static struct rr_budget used_budget(const struct rr_product *product, const uint32_t *key)
{
	const struct rr_budget *left = &rr_product_common(product, key)->left;
	struct rr_budget used = rr_budget_in_parts(&product->config.budget);

	for (int i = 0; i < RR_BUDGETS; i++)
		used.of[i] -= left->of[i];
	return used;
}

static bool is_app(const struct rr_product *product)
{
	return product->config.program->n_requests > 0;
}

/* A request, which an app that has crashed meanwhile has not answered. */
static struct rr_request_end request_end(const struct rr_product *product, const uint32_t *key,
					 size_t request)
{
	const struct rr_program *program = product->config.program;
	const size_t client = rr_product_client_of(product, key, request);
	const struct rr_part *part = rr_product_part(product, key, client);

	if (part->is_crashed && !(part->answered >> request & 1))
		return (struct rr_request_end){ .ending = -1 };
	return program->request_end(program->context,
				    rr_product_client(product, key, client)->tally.ending, request);
}

uint32_t rr_serial_good(const struct rr_product *product, const uint32_t *key)
{
	const size_t n = rr_program_operations(product->config.program);
	uint32_t good = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_app(product) ? request_end(product, key, i).is_good :
				      client_ended_well(product, key, i))
			good |= 1U << i;
	}
	return good;
}

uint32_t rr_serial_broken(const struct rr_product *product, const uint32_t *key)
{
	uint32_t broken = 0;

	for (size_t i = 0; is_app(product) && i < product->config.program->n_requests; i++)
		broken |= request_end(product, key, i).has_failed ? 1U << i : 0;
	return broken;
}

static int32_t ending_of_client(const struct rr_product *product, const uint32_t *key,
				size_t client)
{
	const struct rr_client_state *state;

	if (rr_product_part(product, key, client)->is_crashed)
		return -1;
	state = rr_product_client(product, key, client);
	return state->has_ended ? (int32_t)state->tally.ending : -1;
}

static void note_operation(const struct rr_product *product, const uint32_t *key, size_t operation,
			   struct rr_serial_end *end)
{
	const struct rr_program *program = product->config.program;
	size_t client;
	struct rr_request_end request;

	if (!is_app(product)) {
		end->endings[operation] = ending_of_client(product, key, operation);
		return;
	}
	client = rr_product_client_of(product, key, operation);
	request = request_end(product, key, operation);
	end->endings[operation] = (int32_t)request.ending;
	end->after[operation] = rr_product_part(product, key, client)->after[operation] &
				~program->unanswered;
}

struct rr_serial_end rr_serial_end_of(const struct rr_product *product, const uint32_t *key,
				      uint32_t ran)
{
	const size_t n = rr_program_operations(product->config.program);
	struct rr_serial_end end;

	memset(&end, 0, sizeof(end));
	end.server = key[0];
	end.ran = ran;
	end.used = used_budget(product, key);
	end.good = rr_serial_good(product, key);
	for (size_t i = 0; i < RR_PRODUCT_CLIENTS; i++) {
		end.endings[i] = -1;
		if (i < n)
			note_operation(product, key, i, &end);
	}
	return end;
}

/* ---- Serial orders ------------------------------------------------------------- */

/* `move`: what leads there from the place whose moves are looked at; NULL = somebody else's
 * turn begins. `begun`: whose turn begins with that; RR_NO_OPERATION = none does. */
static void add_place(struct learner *learner, const struct place *place,
		      const struct rr_transition *move, uint8_t begun)
{
	struct rr_serial *serial = learner->serial;
	const bool is_first = serial->orders.n == 0;
	struct rr_serial_predecessor *before;
	bool is_new;
	const uint32_t number = rr_intern_put(&serial->orders, place, sizeof(*place), &is_new);

	if (!is_new)
		return;
	rr_array_grow(&serial->predecessors, number, sizeof(*serial->predecessors));
	before = &serial->predecessors[number];
	*before = (struct rr_serial_predecessor){
		.from = learner->number, .moves = move, .began = learner->number, .whose = begun
	};
	if (move)
		before->move = *move;
	if (begun == RR_NO_OPERATION && !is_first && learner->place.turn != NOBODY) {
		before->began = serial->predecessors[learner->number].began;
		before->whose = serial->predecessors[learner->number].whose;
	}
}

static void add_end(struct learner *learner, const struct rr_serial_end *end)
{
	struct rr_serial *serial = learner->serial;
	const size_t n = rr_program_operations(learner->product->config.program);
	bool is_new, is_faultless = true;
	const uint32_t number = rr_intern_put(&serial->ends, end, sizeof(*end), &is_new);

	if (!is_new)
		return;
	for (int i = 0; i < RR_BUDGETS; i++)
		is_faultless &= end->used.of[i] == 0;
	serial->has_whole |= is_faultless && end->ran == (1U << n) - 1;
	rr_array_grow(&serial->end_at, number, sizeof(*serial->end_at));
	serial->end_at[number] = learner->number;
}

/* May it be made? Time and servers are nobody's, and may move in between, but a lease that expires
 * by a fault does so between two turns. */
static bool is_move_of(const struct learner *learner, struct rr_transition move)
{
	const bool is_fault = rr_transition_is_fault(move);
	const bool may_fail = learner->serial->is_partial;

	if (!rr_transition_is_step(move) &&
	    (!is_fault || rr_transition_rows[move.kind].subject != RR_OF_CLIENT))
		return !is_fault || may_fail || learner->place.turn == NOBODY;
	return (is_app(learner->product) ? learner->place.turn != NOBODY :
					   move.who == learner->place.turn) &&
	       (!is_fault || may_fail);
}

/* Has whoever's turn it is nothing left to do? */
static bool turn_is_over(const struct rr_product *product, const struct place *place)
{
	return is_app(product) ? rr_product_all_are_over(product, place->key) :
				 rr_product_is_over(product, place->key, place->turn);
}

/* The request that a move begins, from 1; 0 = none. */
static uint32_t begun_by(const struct learner *learner, struct rr_transition move)
{
	const struct rr_program *program = learner->product->config.program;
	const struct rr_sent *sent;

	if (!is_app(learner->product) || !rr_transition_is_step(move) || move.kind == RR_DO_GO)
		return 0;
	sent = rr_product_next_sent(learner->product, learner->place.key, move);
	return sent && sent->kind == RR_SENT_REQUEST ?
		       (uint32_t)rr_program_request_at(program, move.who, move.lane) + 1 :
		       0;
}

/* What clients have done in a move, as long as no fault has struck. */
static void note_steps(struct learner *learner, const uint32_t *key)
{
	const struct rr_product *product = learner->product;
	const struct rr_budget used = used_budget(product, key);

	for (int i = 0; i < RR_BUDGETS; i++) {
		if (used.of[i] > 0)
			return;
	}
	for (uint32_t i = 0; i < product->n_clients; i++) {
		const struct rr_serial_step step = {
			i, rr_product_part(product, learner->place.key, i)->state,
			rr_product_part(product, key, i)->state
		};

		if (step.from != step.to)
			rr_intern_put(&learner->serial->steps, &step, sizeof(step), NULL);
	}
}

static void note_move(struct learner *learner, const struct rr_edge *move)
{
	const struct rr_product *product = learner->product;
	const uint32_t begun = begun_by(learner, move->transition);
	struct place place;

	if (begun ? learner->place.turn != NOBODY : !is_move_of(learner, move->transition))
		return;
	note_steps(learner, move->key);
	memset(&place, 0, sizeof(place));
	memcpy(place.key, move->key, product->n_words * sizeof(move->key[0]));
	place.ran = learner->place.ran | (begun ? 1U << (begun - 1) : 0);
	place.turn = begun ? 0 : learner->place.turn;
	if (place.turn != NOBODY && turn_is_over(product, &place))
		place.turn = NOBODY;
	add_place(learner, &place, &move->transition,
		  begun ? (uint8_t)(begun - 1) : RR_NO_OPERATION);
}

/* The order may end here, or any client that has not run yet goes on. */
static void end_or_begin(struct learner *learner)
{
	const struct rr_product *product = learner->product;
	const struct rr_serial_end end = rr_serial_end_of(product, learner->place.key,
							  learner->place.ran);

	add_end(learner, &end);
	for (uint32_t i = 0; i < product->n_clients && !is_app(product); i++) {
		struct place place = learner->place;

		if (place.ran & 1U << i)
			continue;
		place.ran |= 1U << i;
		place.turn = rr_product_is_over(product, place.key, i) ? NOBODY : i;
		add_place(learner, &place, NULL, (uint8_t)i);
	}
}

/* Have some begun that are not answered? Whoever has crashed answers none. */
static bool is_under_way(const struct learner *learner)
{
	const struct rr_product *product = learner->product;
	uint32_t over = 0;

	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part *part = rr_product_part(product, learner->place.key, i);

		over |= part->is_crashed ? part->begun : part->answered;
	}
	return (learner->place.ran & ~over) != 0;
}

static bool take_place(struct learner *learner, uint32_t number)
{
	const struct rr_edges *moves;

	learner->number = number;
	memcpy(&learner->place, rr_intern_get(&learner->serial->orders, number),
	       sizeof(learner->place));
	moves = rr_product_expand(learner->product, learner->place.key);
	if (moves && is_app(learner->product) &&
	    rr_product_apps_wait(learner->product, learner->place.key, is_under_way(learner)))
		learner->place.turn = NOBODY;
	if (learner->place.turn == NOBODY)
		end_or_begin(learner);
	for (size_t i = 0; moves && i < moves->n; i++)
		note_move(learner, &moves->all[i]);
	return moves != NULL;
}

static void take_places(struct learner *learner, unsigned long most)
{
	struct rr_serial *serial = learner->serial;

	for (uint32_t i = 0; i < serial->orders.n && !serial->is_cut; i++) {
		if (!take_place(learner, i))
			return;
		serial->is_cut = serial->orders.n > most ||
				 rr_search_is_called_off(serial->search,
							 "serial orders were computed");
	}
}

bool rr_serial_learn(struct rr_serial *serial, struct rr_search *search, unsigned long most,
		     bool is_partial)
{
	struct rr_product *product = &search->product;
	struct learner learner = { .serial = serial, .product = product };
	const struct rr_product_config reduced = product->config;
	struct place *first = &learner.place;

	*serial = (struct rr_serial){ .is_partial = is_partial, .search = search };
	memset(first, 0, sizeof(*first));
	first->turn = is_app(product) ? 0 : NOBODY;
	rr_product_reduce_nothing(&product->config);
	if (rr_product_begin(product, first->key, NULL)) {
		add_place(&learner, first, NULL, RR_NO_OPERATION);
		take_places(&learner, most);
	}
	product->config = reduced;
	return product->error.kind == RR_ERROR_NONE;
}

void rr_serial_tell(const struct rr_serial *serial, const struct rr_explored_programs *programs)
{
	for (uint32_t i = 0; i < serial->ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);

		for (size_t j = 0; j < RR_PRODUCT_CLIENTS; j++) {
			if (end->endings[j] >= 0)
				programs->note_serial(programs->programs, end->endings[j]);
		}
	}
	for (uint32_t i = 0; i < serial->steps.n; i++) {
		const struct rr_serial_step *step = rr_intern_get(&serial->steps, i);

		programs->note_step(programs->programs, step->client, step->from, step->to);
	}
}

void rr_serial_release(struct rr_serial *serial)
{
	rr_intern_release(&serial->ends);
	rr_intern_release(&serial->orders);
	rr_intern_release(&serial->steps);
	free(serial->predecessors);
	free(serial->end_at);
	serial->predecessors = NULL;
	serial->end_at = NULL;
}

/* ---- Orders that are really run -------------------------------------------------- */

/* The moves to a place, in their order; the number is returned. */
static size_t moves_to(const struct rr_serial *serial, uint32_t place, struct rr_transition **moves)
{
	size_t n = 0, at;

	for (uint32_t i = place; i > 0; i = serial->predecessors[i].from)
		n += serial->predecessors[i].moves;
	*moves = rr_calloc(n + 1, sizeof(**moves));
	at = n;
	for (uint32_t i = place; i > 0; i = serial->predecessors[i].from) {
		if (serial->predecessors[i].moves)
			(*moves)[--at] = serial->predecessors[i].move;
	}
	return n;
}

uint32_t rr_serial_server(const struct rr_serial *serial, uint32_t order)
{
	return ((const struct place *)rr_intern_get(&serial->orders, order))->key[0];
}

bool rr_serial_is_between(const struct rr_serial *serial, uint32_t order)
{
	return ((const struct place *)rr_intern_get(&serial->orders, order))->turn == NOBODY;
}

uint32_t rr_serial_last_turn(const struct rr_serial *serial, const struct rr_product *product,
			     uint32_t order)
{
	const struct place *place = rr_intern_get(&serial->orders, order);

	for (size_t i = 0; i < product->n_clients; i++) {
		if (i != place->turn && !rr_product_is_over(product, place->key, i))
			return NOBODY;
	}
	return place->turn;
}

bool rr_serial_actions(const struct rr_serial *serial, struct rr_product *product, uint32_t end,
		       struct rr_actions *actions, rr_state_key key)
{
	const struct rr_product_config reduced = product->config;
	struct rr_transition *moves;
	const size_t n = moves_to(serial, serial->end_at[end], &moves);
	bool good;

	*actions = (struct rr_actions){ 0 };
	rr_product_reduce_nothing(&product->config);
	good = rr_product_begin(product, key, actions);
	for (size_t i = 0; i < n && good; i++) {
		const struct rr_edge *edge = rr_product_take(product, key, moves[i]);

		good = edge != NULL;
		if (good)
			rr_product_keep_actions(product, edge, actions);
		if (good)
			memcpy(key, edge->key, product->n_words * sizeof(key[0]));
	}
	product->config = reduced;
	free(moves);
	return good;
}

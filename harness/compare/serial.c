/* SPDX-License-Identifier: MIT */
#include "serial.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum {
	NOBODY = UINT32_MAX,
	LOOK_EVERY = 64 /* orders, whether time is over */
};

/* A state of a serial order: who has begun, and whose turn it is. */
struct place {
	rr_state_key key;
	uint32_t ran, turn; /* NOBODY: the next one may begin. Of apps 0: a request is under way */
	int64_t now_ns;     /* since the beginning, where clients may begin later; else 0 */
};

struct learner {
	struct rr_serial *serial;
	struct rr_product *product;
	const struct rr_beginnings *later; /* NULL: clients begin at once */
	struct place place;                /* whose moves are being looked at */
	uint32_t number;                   /* of that */
};

/* ---- What a state says ------------------------------------------------------- */

static struct rr_budget used_budget(const struct rr_product *product, const uint32_t *key)
{
	const struct rr_budget *left = &rr_product_common(product, key)->left;
	struct rr_budget used = rr_budget_in_parts(&product->config.budget);

	for (int i = 0; i < RR_BUDGETS; i++)
		used.of[i] -= left->of[i];
	return used;
}

bool rr_serial_used_nothing(const struct rr_budget *used)
{
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (used->of[i] > 0)
			return false;
	}
	return true;
}

/* Of a client that has come to its end; NULL = it has crashed, or has not ended. */
static const struct rr_client_state *ended_client(const struct rr_product *product,
						  const uint32_t *key, size_t client)
{
	const struct rr_client_state *state = rr_product_client(product, key, client);

	return !rr_product_part(product, key, client)->is_crashed && state->has_ended ? state :
											NULL;
}

static bool is_app(const struct rr_product *product)
{
	return product->config.program->requests.n > 0;
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
		const struct rr_client_state *client = is_app(product) ?
							       NULL :
							       ended_client(product, key, i);

		if (is_app(product) ? request_end(product, key, i).is_good :
				      client && client->tally.failed == 0)
			good |= 1U << i;
	}
	return good;
}

uint32_t rr_serial_broken(const struct rr_product *product, const uint32_t *key)
{
	uint32_t broken = 0;

	for (size_t i = 0; is_app(product) && i < product->config.program->requests.n; i++)
		broken |= request_end(product, key, i).has_failed ? 1U << i : 0;
	return broken;
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
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++) {
		end.endings[i] = -1;
		if (i < n && !is_app(product)) {
			const struct rr_client_state *client = ended_client(product, key, i);

			end.endings[i] = client ? (int32_t)client->tally.ending : -1;
		} else if (i < n) {
			const size_t client = rr_product_client_of(product, key, i);

			end.endings[i] = (int32_t)request_end(product, key, i).ending;
			end.after[i] = rr_product_part(product, key, client)->after[i] &
				       ~product->config.program->requests.unanswered;
		}
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

	if (!is_new && move && place->turn == NOBODY && learner->place.turn != NOBODY) {
		rr_array_grow(&serial->turns, serial->n_turns, sizeof(*serial->turns));
		serial->turns[serial->n_turns++] = (struct rr_serial_turn){ learner->number,
									    number };
	}
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

	for (uint32_t i = 0; i < product->n_clients && rr_serial_used_nothing(&used); i++) {
		const struct rr_serial_step step = {
			i, rr_product_part(product, learner->place.key, i)->state,
			rr_product_part(product, key, i)->state
		};

		if (step.from != step.to)
			rr_intern_put(&learner->serial->steps, &step, sizeof(step), NULL);
	}
}

/* The client's turn begins, now or later. */
static void begin_turn(struct learner *learner, uint32_t client, int64_t at_ns)
{
	struct place place = learner->place;

	if (at_ns > place.now_ns &&
	    !rr_product_pass(learner->product, learner->place.key, at_ns - place.now_ns, place.key))
		return;
	place.now_ns = at_ns;
	place.ran |= 1U << client;
	place.turn = rr_product_is_over(learner->product, place.key, client) ? NOBODY : client;
	add_place(learner, &place, NULL, (uint8_t)client);
}

/* The order may end here, or any client that has not run yet goes on. */
static void end_or_begin(struct learner *learner)
{
	const struct rr_product *product = learner->product;
	const struct rr_serial_end end = rr_serial_end_of(product, learner->place.key,
							  learner->place.ran);
	struct rr_serial *serial = learner->serial;
	const size_t n = rr_program_operations(learner->product->config.program);
	bool is_new;
	const uint32_t number = rr_intern_put(&serial->ends, &end, sizeof(end), &is_new);

	if (is_new) {
		serial->has_whole |= rr_serial_used_nothing(&end.used) && end.ran == (1U << n) - 1;
		rr_array_grow(&serial->end_at, number, sizeof(*serial->end_at));
		serial->end_at[number] = learner->number;
	}
	for (uint32_t i = 0; i < product->n_clients && !is_app(product); i++) {
		if (!(learner->place.ran & 1U << i))
			begin_turn(learner, i, learner->place.now_ns);
	}
	for (size_t i = 0; learner->later && i < learner->later->n; i++) {
		const struct rr_beginning *it = &learner->later->all[i];

		if (!(learner->place.ran & 1U << it->client) && it->ns > learner->place.now_ns)
			begin_turn(learner, it->client, it->ns);
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

static void take_places(struct learner *learner, unsigned long most)
{
	struct rr_serial *serial = learner->serial;

	for (uint32_t i = 0; i < serial->orders.n && !serial->is_cut; i++) {
		const struct rr_edges *moves;

		learner->number = i;
		memcpy(&learner->place, rr_intern_get(&learner->serial->orders, i),
		       sizeof(learner->place));
		moves = rr_product_expand(learner->product, learner->place.key,
					  learner->later != NULL);
		if (moves && is_app(learner->product) &&
		    rr_product_apps_wait(learner->product, learner->place.key,
					 is_under_way(learner)))
			learner->place.turn = NOBODY;
		if (learner->place.turn == NOBODY)
			end_or_begin(learner);
		for (size_t j = 0; moves && j < moves->n; j++) {
			const struct rr_edge *move = &moves->all[j];
			const struct rr_product *product = learner->product;
			const uint32_t begun = begun_by(learner, move->transition);
			struct place place;

			if (begun ? learner->place.turn != NOBODY :
				    !is_move_of(learner, move->transition))
				continue;
			note_steps(learner, move->key);
			memset(&place, 0, sizeof(place));
			memcpy(place.key, move->key, product->n_words * sizeof(move->key[0]));
			place.ran = learner->place.ran | (begun ? 1U << (begun - 1) : 0);
			place.now_ns = learner->place.now_ns;
			/* How much time passes in the move. */
			for (size_t k = move->from; learner->later && k < move->to; k++) {
				const struct rr_action *action = &product->edges.actions.all[k];

				place.now_ns += action->kind == RR_ACTION_TIME ? action->ns : 0;
			}
			place.turn = begun ? 0 : learner->place.turn;
			/* Has the client whose turn it is nothing left to do? */
			if (place.turn != NOBODY &&
			    (is_app(product) ? rr_product_all_are_over(product, place.key) :
					       rr_product_is_over(product, place.key, place.turn)))
				place.turn = NOBODY;
			add_place(learner, &place, &move->transition,
				  begun ? (uint8_t)(begun - 1) : RR_NO_OPERATION);
		}
		if (!moves)
			return;
		serial->is_cut = serial->orders.n > most ||
				 rr_deadline_is_over(serial->deadline,
						     "serial orders were computed");
	}
}

bool rr_serial_learn(struct rr_serial *serial, struct rr_product *product,
		     struct rr_deadline *deadline, unsigned long most, bool is_partial,
		     const struct rr_beginnings *later)
{
	struct learner learner = { .serial = serial, .product = product, .later = later };
	const struct rr_product_config reduced = product->config;
	struct place *first = &learner.place;

	*serial = (struct rr_serial){ .is_partial = is_partial, .deadline = deadline };
	memset(first, 0, sizeof(*first));
	first->turn = is_app(product) ? 0 : NOBODY;
	rr_product_reduce_nothing(&product->config);
	if (rr_product_begin(product, first->key, NULL)) {
		add_place(&learner, first, NULL, RR_NO_OPERATION);
		take_places(&learner, most);
	}
	product->config = reduced;
	return !rr_product_failed(product);
}

void rr_serial_tell(const struct rr_serial *serial, struct rr_programs *processes)
{
	for (uint32_t i = 0; i < serial->ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&serial->ends, i);

		for (size_t j = 0; j < RR_RUN_CLIENTS; j++) {
			if (end->endings[j] >= 0)
				rr_endings_note_serial(&processes->endings,
						       (uint32_t)end->endings[j]);
		}
	}
	for (uint32_t i = 0; i < serial->steps.n; i++) {
		const struct rr_serial_step *step = rr_intern_get(&serial->steps, i);

		rr_waiting_note_step(&processes->waiting, processes->tables[step->client],
				     step->from, step->to);
	}
}

void rr_serial_release(struct rr_serial *serial)
{
	rr_intern_release(&serial->ends);
	rr_intern_release(&serial->orders);
	rr_intern_release(&serial->steps);
	free(serial->predecessors);
	free(serial->end_at);
	free(serial->turns);
	serial->turns = NULL;
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

/* ---- Beside a final state ------------------------------------------------------------- */

/* Might the end, but for its data and for the order of time, be that of the final state? */
static bool is_candidate(const struct rr_serial_end *end, const struct rr_serial_end *found)
{
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (end->used.of[i] > found->used.of[i])
			return false;
	}
	return (found->good & ~end->good) == 0;
}

bool rr_serial_is_candidate(const struct rr_serial_end *end, const struct rr_serial_end *found)
{
	if (!is_candidate(end, found))
		return false;
	/* Does a request that was answered before another one began come before it? */
	for (size_t i = 0; i < RR_RUN_CLIENTS; i++) {
		if (end->ran >> i & 1 && found->after[i] & end->ran & ~end->after[i])
			return false;
	}
	return true;
}

static size_t count_operations(const struct rr_final *final)
{
	return rr_program_operations(final->product->config.program);
}

/* Of an operation: the state of its client. */
static uint32_t client_state(const struct rr_final *final, size_t operation)
{
	const size_t client = rr_product_client_of(final->product, final->key, operation);

	return rr_product_part(final->product, final->key, client)->state;
}

static bool ends_alike(const struct rr_final *final, const struct rr_serial_end *end,
		       size_t operation, enum rr_likeness likeness)
{
	return final->programs->ops->end_alike(final->programs->context, operation,
					       client_state(final, operation),
					       end->endings[operation], likeness);
}

/* Has each client ended so in the order? A client that was refused may have done anything
 * there but its work. */
static bool has_endings_of(const struct rr_final *final, const struct rr_serial_end *end,
			   enum rr_likeness likeness)
{
	for (size_t i = 0; i < count_operations(final); i++) {
		const bool is_good = final->end.good & 1U << i;

		if (final->end.endings[i] < 0 || (!is_good && !(end->good & 1U << i)))
			continue;
		if (!ends_alike(final, end, i, likeness))
			return false;
	}
	return true;
}

/* Are the data, or what is compared instead, those of the end? */
static bool has_data_of(const struct rr_final *final, const struct rr_serial_question *question,
			const struct rr_serial_end *end)
{
	uint32_t server = end->server, number;

	if (!question->left)
		return rr_contents_are_alike(final->contents, final->end.server, server);
	if (question->later_ns) {
		const struct rr_question tick = { .kind = RR_ASK_TICK,
						  .argument = question->later_ns };

		server = rr_contents_after(final->contents, server, &tick);
	}
	number = server == RR_NO_ID ? RR_NO_ID : rr_contents_number(final->contents, server);
	return number != RR_NO_ID &&
	       rr_contents_numbers_are_alike(final->contents,
					     rr_leftovers_beside(question->left, number), number);
}

/* A state that is compared when time is over gets some seconds more: it may be a finding. */
static bool is_late(const struct rr_serial *serial, uint32_t i)
{
	return i % LOOK_EVERY == 0 &&
	       rr_deadline_is_over(serial->deadline, "final states were compared") &&
	       rr_deadline_is_late(serial->deadline);
}

static void compare_with_orders(const struct rr_final *final,
				const struct rr_serial_question *question, bool is_timeless,
				enum rr_likeness likeness, struct rr_serial_verdict *verdict)
{
	for (uint32_t i = 0; i < final->serial->ends.n && !verdict->allows_endings; i++) {
		const struct rr_serial_end *end = rr_intern_get(&final->serial->ends, i);

		if (is_late(final->serial, i))
			return;
		if (is_timeless ? !is_candidate(end, &final->end) :
				  !rr_serial_is_candidate(end, &final->end))
			continue;
		if (question->must_run & ~end->ran || !has_data_of(final, question, end))
			continue;
		verdict->allows_data = true;
		verdict->allows_endings = has_endings_of(final, end, likeness);
		if (!verdict->allows_endings || likeness != RR_LIKE_BUT_TIMES)
			continue;
		/* An end is as in that order but for times of day: notes where. */
		rr_contents_note_moved(final->contents, final->end.server, end->server);
		for (size_t j = 0; j < count_operations(final); j++) {
			if (final->end.good & 1U << j &&
			    !ends_alike(final, end, j, RR_LIKE_THOROUGH))
				verdict->moved_outputs |= 1U << j;
		}
	}
}

/* As it is; then without what need not be the same; then without times of day, if they may differ. */
static struct rr_serial_verdict judge_likenesses(const struct rr_final *final,
						 const struct rr_serial_question *question,
						 bool is_timeless)
{
	struct rr_serial_verdict verdict = { 0 };
	struct rr_contents *contents = final->contents;
	const bool has_days = contents->day_ns > 0;

	for (int i = RR_LIKE_PLAIN; i <= RR_LIKE_BUT_TIMES && !verdict.allows_endings; i++) {
		if (i == RR_LIKE_THOROUGH && !verdict.allows_data)
			continue;
		if (i == RR_LIKE_BUT_TIMES && !has_days && contents->table->terms->left.n == 0)
			break;
		contents->excuses_times = i == RR_LIKE_BUT_TIMES;
		contents->excuses_told = contents->excuses_times && !has_days;
		compare_with_orders(final, question, is_timeless, (enum rr_likeness)i, &verdict);
	}
	contents->excuses_times = true;
	contents->excuses_told = false;
	return verdict;
}

/* Operations, as bits, that have failed, which is no refusal, and fail so in no serial order. Whoever was
 * struck by a fault may fail. */
static uint32_t failures_in(const struct rr_final *final)
{
	struct rr_programs *processes = final->programs->processes;
	uint32_t failures = 0;

	if (!processes || !rr_serial_used_nothing(&final->end.used))
		return 0;
	for (size_t i = 0; i < count_operations(final); i++) {
		const int32_t ending = final->end.endings[i];
		bool is_serial = false;

		if (ending < 0 || final->end.good & 1U << i ||
		    !rr_programs_fails(processes, i, client_state(final, i), ending,
				       final->is_strict))
			continue;
		for (uint32_t j = 0; j < final->serial->ends.n && !is_serial; j++) {
			const struct rr_serial_end *end = rr_intern_get(&final->serial->ends, j);

			is_serial = end->endings[i] >= 0 && !(end->good & 1U << i) &&
				    rr_programs_have_same_status(processes, end->endings[i],
								 ending);
		}
		failures |= is_serial ? 0 : 1U << i;
	}
	return failures;
}

struct rr_serial_verdict rr_serial_judge(const struct rr_final *final,
					 const struct rr_serial_question *question)
{
	struct rr_serial_end whole = final->end;
	struct rr_serial_verdict verdict;

	/* Most are, to the letter, the end of an order of all clients, and then no other order is
	 * looked at. */
	whole.ran = (1U << count_operations(final)) - 1;
	if (!question->left &&
	    rr_intern_find(&final->serial->ends, &whole, sizeof(whole)) != RR_NO_ID)
		return (struct rr_serial_verdict){ .allows_data = true, .allows_endings = true };
	verdict = judge_likenesses(final, question, false);
	if (verdict.allows_endings)
		verdict.failures = failures_in(final);
	if (verdict.failures) {
		verdict.allows_endings = false;
		return verdict;
	}
	if (!verdict.allows_endings && final->product->config.program->requests.n > 0)
		verdict.is_untimely = judge_likenesses(final, question, true).allows_endings;
	return verdict;
}

bool rr_serial_allows_endings(const struct rr_final *final)
{
	for (uint32_t i = 0; i < final->serial->ends.n && !is_late(final->serial, i); i++) {
		const struct rr_serial_end *end = rr_intern_get(&final->serial->ends, i);

		if (rr_serial_is_candidate(end, &final->end) &&
		    has_endings_of(final, end, RR_LIKE_THOROUGH))
			return true;
	}
	return false;
}

enum rr_shortfall rr_serial_shortfall(const struct rr_final *final, const struct rr_leftovers *left,
				      uint32_t crashed)
{
	enum rr_shortfall least = RR_SHORT_OF_WORK;

	for (uint32_t i = 0; i < final->serial->ends.n && least != RR_SHORT_OF_TIMES; i++) {
		const struct rr_serial_end *end = rr_intern_get(&final->serial->ends, i);
		uint32_t number;
		enum rr_shortfall it;

		if (is_late(final->serial, i))
			break;
		if (!rr_serial_is_candidate(end, &final->end))
			continue;
		number = rr_contents_number(left->contents, end->server);
		if (number == RR_NO_ID)
			break;
		it = rr_leftovers_shortfall(left, number);
		if (it == RR_SHORT_OF_TIMES ||
		    (it == RR_SHORT_OF_PARTS && end->good == final->end.good &&
		     !(end->ran & crashed)))
			least = it;
	}
	return least;
}

/* How far an end is from a serial one: data first. */
struct distance {
	struct rr_contents_distance data;
	size_t endings; /* that differ */
};

static bool is_farther(const struct distance *distance, const struct distance *other)
{
	if (distance->data.keys != other->data.keys)
		return distance->data.keys > other->data.keys;
	if (distance->data.parts != other->data.parts)
		return distance->data.parts > other->data.parts;
	return distance->endings > other->endings;
}

uint32_t rr_serial_nearest(const struct rr_final *final)
{
	struct distance least = { { SIZE_MAX, SIZE_MAX }, SIZE_MAX }, distance;
	uint32_t nearest = RR_NO_ID;

	for (uint32_t i = 0; i < final->serial->ends.n; i++) {
		const struct rr_serial_end *end = rr_intern_get(&final->serial->ends, i);

		if (is_late(final->serial, i))
			break;
		if (!rr_serial_is_candidate(end, &final->end))
			continue;
		distance.data = rr_contents_distance(final->contents, final->end.server,
						     end->server);
		distance.endings = 0;
		for (size_t j = 0; j < count_operations(final); j++) {
			const bool has_ended = final->end.endings[j] >= 0;

			distance.endings += has_ended != (end->endings[j] >= 0) ||
					    (has_ended &&
					     !ends_alike(final, end, j, RR_LIKE_BUT_TIMES));
		}
		if (is_farther(&distance, &least))
			continue;
		least = distance;
		nearest = i;
	}
	return nearest;
}

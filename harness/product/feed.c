/* SPDX-License-Identifier: MIT */
/* Clients are fed what they wait for, and run on. */
#include "expansion.h"

/* ---- Feeding clients ------------------------------------------------------ */

/* The client goes on: times count from new where it stands elsewhere. */
static void move_client(const struct rr_product *product, struct rr_part *part,
			const struct rr_input *input, const struct rr_client_state *before,
			const struct rr_client_state *after)
{
	const bool is_bounded = product->config.bounded;

	/* Of other threads no time has been counted. */
	for (uint32_t i = 0; i < before->n_threads; i++) {
		if (i == input->thread || i >= after->n_threads ||
		    !rr_stop_is_same(&before->stops[i], &after->stops[i]))
			part->waited_ns[i] = 0;
	}
	if (!after->is_attempt && !after->has_ended)
		return;
	part->attempt_ns = 0;
	if (after->has_ended || rr_client_state_is_fresh(after))
		part->passed_ns = 0;
	if (after->is_attempt && is_bounded && input->kind != RR_INPUT_ATTEMPT)
		part->rounds = rr_client_state_n_done(after) == rr_client_state_n_done(before) ?
				       (uint8_t)(part->rounds + 1) :
				       0;
	if (after->has_ended || !is_bounded)
		part->rounds = 0;
}

static void log_feed(struct rr_state *state, size_t client, const struct rr_input *input,
		     int64_t passed_ns, const struct rr_client_row *row)
{
	const struct rr_client_view *view = &state->product->clients[client];
	const struct rr_client_state *from = &view->states[row->from];
	const struct rr_client_state *to = &view->states[row->state];
	uint8_t n_inside = 0;

	if (!state->product->log)
		return;
	for (uint32_t i = 0; i < to->n_sent; i++)
		n_inside += to->sent[i].is_inside;
	rr_state_log(state, (struct rr_action){
				    .kind = RR_ACTION_FEED,
				    .client = (uint8_t)client,
				    .input = *input,
				    .ns = passed_ns,
				    .stop = from->stops[input->thread],
				    .was_inside = from->is_inside,
				    .has_entered = row->has_entered,
				    .is_inside = to->is_inside,
				    .n_inside = n_inside,
				    .n_counted = (uint8_t)(to->tally.acknowledged -
							   from->tally.acknowledged),
			    });
}

/* Random values that are somewhere: on servers, with others than this client, or on their
 * way. */
static uint64_t names_elsewhere(const struct rr_state *state, size_t client)
{
	const struct rr_product *product = state->product;
	const struct rr_terms *terms = product->config.program->terms;
	uint64_t names = 0;

	for (size_t i = 0; i < product->n_servers; i++)
		names |= rr_state_server(state, i)->names;
	for (size_t i = 0; i < product->n_clients; i++) {
		const struct rr_part *part = &state->clients[i];

		/* What a process has printed stays, when it has ended, too. */
		if (i != client)
			names |= rr_state_client(state, i)->names;
		for (size_t j = 0; j < part->n_answers; j++) {
			if (part->answers[j].kind == RR_ANSWER_REPLY)
				names |= terms->reply[part->answers[j].reply].names;
		}
	}
	for (size_t i = 0; i < state->common.n_late; i++)
		names |= terms->command[state->common.late[i].command].names;
	return names;
}

/* The input, and which of the process's random values are only in its memory by then. What it
 * waits for is on its way, but for the command that is answered now. */
static struct rr_input with_gone(const struct rr_state *state, size_t client,
				 const struct rr_input *input)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	const struct rr_terms *terms = state->product->config.program->terms;
	const uint8_t lane = it->stops[input->thread].lane;
	bool is_answered = input->kind != RR_INPUT_REPLY;
	struct rr_input heard = *input;
	uint64_t elsewhere;

	if (!state->product->clients[client].table->learning.reuses_names || !it->names)
		return heard;
	elsewhere = names_elsewhere(state, client);
	if (rr_input_has_reply(input))
		elsewhere |= terms->reply[input->value].names;
	for (uint32_t i = 0; i < it->n_sent; i++) {
		if (it->sent[i].lane == lane && !is_answered)
			is_answered = true;
		else
			elsewhere |= terms->command[it->sent[i].command].names;
	}
	heard.gone = (uint8_t)((it->names & ~elsewhere & RR_NAMES_OF_CLIENT(client)) >>
			       client * RR_GENERATIONS);
	return heard;
}

/* Who was answered before another one began comes before it. */
static void note_request(struct rr_state *state, size_t client, const struct rr_client_state *it,
			 const struct rr_input *input)
{
	const uint8_t lane = it->stops[input->thread].lane;
	const size_t request = rr_program_request_at(state->product->config.program, client, lane);
	struct rr_part *part = &state->clients[client];
	uint32_t i = 0;

	while (i < it->n_sent && it->sent[i].lane != lane)
		i++;
	if (input->kind != RR_INPUT_REPLY || i == it->n_sent)
		return;
	if (it->sent[i].kind == RR_SENT_REQUEST) {
		part->begun |= (uint8_t)(1U << request);
		part->after[request] = 0;
		for (size_t j = 0; j < state->product->n_clients; j++)
			part->after[request] |= state->clients[j].answered;
	} else if (it->sent[i].kind == RR_SENT_ANSWER) {
		part->answered |= (uint8_t)(1U << request);
	}
}

void rr_product_note_keys(struct rr_product *product, size_t client,
			  const struct rr_client_state *state)
{
	for (uint32_t i = 0; i < state->n_sent && product->config.key_use; i++)
		rr_key_use_note(product->config.key_use, product->tables[0]->asker, client,
				state->sent[i].command);
}

/* One input, and no further. */
static void feed_once(struct rr_state *state, size_t client, const struct rr_input *what,
		      bool *has_entered)
{
	struct rr_product *product = state->product;
	struct rr_client_view *view = &product->clients[client];
	struct rr_part *part = &state->clients[client];
	const int64_t passed_ns = part->passed_ns;
	const struct rr_input heard = with_gone(state, client, what), *input = &heard;
	const struct rr_client_row *row;

	if (rr_product_failed(product))
		return;
	row = rr_client_view_ask(view, part->state, input, passed_ns);
	if (!row) {
		product->error = view->table->error;
		return;
	}
	if (row->is_timed) {
		part->passed_ns = 0;
		if (!product->config.reads_clock)
			rr_product_withdraw(product, RR_BELIEF_NO_CLOCKS);
	}
	/* Who begins in its critical section has entered it at some time before. */
	*has_entered |= row->has_entered || (row->from == 0 && view->states[0].is_inside);
	log_feed(state, client, input, passed_ns, row);
	if (rr_product_follows_owners(product)) {
		const struct rr_client_state *states = product->clients[client].states;
		const struct rr_owners_step step = {
			.program = product->config.program,
			.client = client,
			.from = &states[row->from],
			.to = &states[row->state],
			.input = input,
			.begun = part->begun,
			.answered = part->answered,
			.is_likely = true,
		};
		uint16_t owners[RR_RUN_SENT];

		/* Whose what the app sends is, before it is noted which request has begun. */
		memcpy(owners, rr_intern_get(&product->owners, part->owners),
		       step.from->n_sent * sizeof(owners[0]));
		rr_owners_follow(&step, owners);
		part->owners = rr_intern_put(&product->owners, owners,
					     step.to->n_sent * sizeof(owners[0]), NULL);
	}
	if (product->config.program->requests.n)
		note_request(state, client, &view->states[row->from], input);
	move_client(product, part, input, &view->states[row->from], &view->states[row->state]);
	part->state = row->state;
	rr_state_fall_asleep(state, client);
	rr_product_note_keys(product, client, &view->states[row->state]);
	for (uint32_t i = 0; i < view->states[row->state].n_sent && part->is_shut; i++)
		part->is_shut &= ~(UINT64_C(1) << view->states[row->state].sent[i].lane);
}

/* Takes an answer out of the part. */
static void take_answer(struct rr_part *part, size_t i)
{
	part->n_answers--;
	memmove(&part->answers[i], &part->answers[i + 1],
		(part->n_answers - i) * sizeof(part->answers[0]));
}

void rr_state_keep_late(struct rr_state *state, size_t client, uint8_t lane)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	const size_t server = rr_state_lane_server(state, lane);
	struct rr_common *common = &state->common;
	size_t answered = rr_part_n_answers(&state->clients[client], lane);

	/* Nothing arrives over a connection that the server has lost, nor behind a command
	 * that did not. */
	if (common->left.of[RR_LATE_COMMANDS] == 0 || common->down == (int8_t)server ||
	    rr_state_connection(state, client, lane) || rr_state_is_cut(state, client, lane) ||
	    !rr_state_next_sent(state, client, lane))
		return;
	for (uint32_t i = 0; i < it->n_sent; i++) {
		if (it->sent[i].lane != lane)
			continue;
		if (answered > 0) {
			answered--;
		} else if (common->n_late == RR_LATE_MAX) {
			rr_error_set(&state->product->error, RR_ERROR_INTERNAL,
				     "more than %d commands that may be late", RR_LATE_MAX);
		} else {
			common->late[common->n_late++] =
				(struct rr_late){ .server = (uint8_t)server,
						  .slot = rr_state_lane_slot(state, client, lane),
						  .command = it->sent[i].command };
		}
	}
}

void rr_state_drop_connection(struct rr_state *state, size_t client, uint8_t lane)
{
	struct rr_part *part = &state->clients[client];

	rr_state_keep_late(state, client, lane);
	rr_state_close(state, client, lane);
	part->is_cut &= ~(UINT64_C(1) << lane);
	if (state->product->config.budget.of[RR_RESTARTS])
		part->is_shut |= UINT64_C(1) << lane;
	for (size_t i = part->n_answers; i-- > 0;) {
		if (part->answers[i].lane == lane)
			take_answer(part, i);
	}
}

/* Is there an answer on the lane that its client can take? That a reply was lost is noticed
 * by itself when all that was sent behind it has been executed; before that it is a step
 * of its own. */
static bool has_answer(const struct rr_state *state, size_t client, uint8_t lane)
{
	const struct rr_part *part = &state->clients[client];
	const size_t at = rr_part_first_answer(part, lane);
	int64_t left_ns;

	return at < part->n_answers && (part->answers[at].kind != RR_ANSWER_LOST ||
					(!rr_state_is_blocked(state, client, lane, &left_ns) &&
					 !rr_state_next_sent(state, client, lane)));
}

bool rr_part_is_deaf(const struct rr_part *part, uint8_t lane)
{
	for (size_t i = 0; i < part->n_answers; i++) {
		if (part->answers[i].lane == lane && part->answers[i].kind == RR_ANSWER_LOST)
			return true;
	}
	return false;
}

/* A thread that waits for a reply that is there; n_threads = none does. */
static uint8_t find_receiver(const struct rr_state *state, size_t client)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	uint8_t i = 0;

	while (i < it->n_threads && (it->stops[i].kind != RR_STOP_RECEIVE ||
				     !has_answer(state, client, it->stops[i].lane)))
		i++;
	return i;
}

void rr_state_cancel_requests(struct rr_state *state, size_t client)
{
	const struct rr_program *program = state->product->config.program;
	const uint8_t begun = state->clients[program->requests.again[client] - 1].begun;
	const struct rr_client_state *it = rr_state_client(state, client);

	for (uint32_t i = 0; i < it->n_sent; i++) {
		const uint8_t lane = it->sent[i].lane;
		const size_t request = rr_program_request_at(program, client, lane);

		/* What follows is looked at when it has been told. */
		if (it->sent[i].kind == RR_SENT_REQUEST && begun >> request & 1 &&
		    rr_state_next_sent(state, client, lane)) {
			rr_state_deliver(state, client, &it->sent[i], RR_DO_DROP);
			return;
		}
	}
}

void rr_state_feed(struct rr_state *state, size_t client, const struct rr_input *first)
{
	bool has_entered = false;

	if (first)
		feed_once(state, client, first, &has_entered);
	while (!rr_product_failed(state->product)) {
		const uint8_t thread = find_receiver(state, client);
		const struct rr_client_state *it = rr_state_client(state, client);
		uint8_t lane;
		struct rr_part *part;
		size_t at;
		struct rr_part_answer answer;
		struct rr_input input;

		if (thread == it->n_threads)
			break;
		/* The thread that waits for a reply on `lane` gets what is there. */
		lane = it->stops[thread].lane;
		part = &state->clients[client];
		at = rr_part_first_answer(part, lane);
		answer = part->answers[at];
		input = (struct rr_input){ .kind = RR_INPUT_REPLY,
					   .thread = thread,
					   .value = answer.reply };
		if (answer.kind == RR_ANSWER_REPLY) {
			take_answer(part, at);
		} else {
			input.kind = answer.kind == RR_ANSWER_REFUSED ? RR_INPUT_REFUSED :
									RR_INPUT_LOST;
			input.value = 0;
			rr_state_drop_connection(state, client, lane);
		}
		feed_once(state, client, &input, &has_entered);
	}
	if (has_entered)
		rr_state_judge_entry(state, client);
	if (state->product->config.program->requests.again &&
	    state->product->config.program->requests.again[client])
		rr_state_cancel_requests(state, client);
}

void rr_state_answer(struct rr_state *state, size_t client, uint8_t lane, enum rr_answer_kind kind,
		     uint32_t reply)
{
	struct rr_part *part = &state->clients[client];

	if (part->n_answers == RR_PART_ANSWERS) {
		rr_error_set(&state->product->error, RR_ERROR_INTERNAL,
			     "more than %d replies that a client has not taken", RR_PART_ANSWERS);
		return;
	}
	part->answers[part->n_answers++] =
		(struct rr_part_answer){ .lane = lane, .kind = (uint8_t)kind, .reply = reply };
	rr_state_feed(state, client, NULL);
}

const struct rr_sent *rr_state_next_sent(const struct rr_state *state, size_t client, uint8_t lane)
{
	const struct rr_part *part = &state->clients[client];
	int64_t left_ns;

	if (rr_state_is_blocked(state, client, lane, &left_ns))
		return NULL;
	for (size_t i = 0; i < part->n_answers; i++) {
		const struct rr_part_answer *answer = &part->answers[i];

		if (answer->lane == lane &&
		    (answer->kind == RR_ANSWER_SHUT || answer->kind == RR_ANSWER_REFUSED))
			return NULL;
	}
	return rr_state_first_unanswered(state, client, lane);
}

/* ---- Beginning an attempt ------------------------------------------------- */

bool rr_state_begin_attempt(struct rr_state *state, size_t client)
{
	struct rr_input input = { .kind = RR_INPUT_ATTEMPT };
	uint64_t names;

	if (!rr_state_client(state, client)->is_attempt)
		return true;
	if (state->product->config.is_live) {
		input.value = -1; /* Played once, random values are as they come. */
	} else {
		names = names_elsewhere(state, client) | rr_state_client(state, client)->names;
		while (names & rr_name_bit((int)client, (int)input.value)) {
			if (++input.value == RR_GENERATIONS)
				return false;
		}
	}
	rr_state_feed(state, client, &input);
	return true;
}

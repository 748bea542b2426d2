/* SPDX-License-Identifier: MIT */
/* What one client's next step does to a state: a command of it is executed, or one of its
 * threads goes on with what it waits for besides replies. */
#include "base/reply.h"
#include "expansion.h"

/* ---- Commands are executed ------------------------------------------------ */

uint32_t rr_product_mutate(const struct rr_product *product, uint32_t number, uint32_t *left_out)
{
	const struct rr_program *program = product->config.program;

	*left_out = RR_NO_ID;
	return program->mutate ? program->mutate(program->mutate_context, number, left_out) :
				 number;
}

static struct rr_question question_of(const struct rr_state *state, size_t client,
				      const struct rr_sent *sent, uint32_t *left_out)
{
	return (struct rr_question){
		.kind = RR_ASK_COMMAND,
		.slot = rr_state_lane_slot(state, client, sent->lane),
		.argument = rr_product_mutate(state->product, sent->command, left_out),
	};
}

bool rr_state_is_blocked(const struct rr_state *state, size_t client, uint8_t lane,
			 int64_t *left_ns)
{
	const struct rr_connection *connection = rr_state_connection(state, client, lane);

	if (!connection || !connection->blocks || rr_state_is_cut(state, client, lane))
		return false;
	*left_ns = connection->left_ns;
	return true;
}

int64_t rr_state_times_out_ns(const struct rr_state *state, size_t client, uint8_t *lane)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	int64_t first_ns = RR_NEVER, left_ns;

	for (uint32_t i = 0; i < it->n_sent; i++) {
		if (rr_state_is_blocked(state, client, it->sent[i].lane, &left_ns) &&
		    left_ns < first_ns) {
			first_ns = left_ns;
			*lane = it->sent[i].lane;
		}
	}
	return first_ns;
}

void rr_state_time_out(struct rr_state *state, size_t client, uint8_t lane)
{
	const size_t server = rr_state_lane_server(state, lane);
	const struct rr_question question = { .kind = RR_ASK_UNBLOCK,
					      .slot = rr_state_lane_slot(state, client, lane) };
	const struct rr_server_row *row = rr_state_move_server(state, server, &question, -1);
	struct rr_served served;

	if (!row)
		return;
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_ASK,
						.client = (uint8_t)client,
						.server = (uint8_t)server,
						.lane = lane,
						.question = question });
	rr_state_log_served(state, server, row, &served);
	rr_state_wake_served(state, server, &served);
}

/* No reply will come: the connection is closed, or nobody listens there; or it is lost, of a command
 * that blocks. */
static void answer_without_reply(struct rr_state *state, size_t client, const struct rr_sent *sent,
				 enum rr_answer_kind kind, bool is_fault)
{
	const uint8_t lane = sent->lane;

	state->clients[client].is_cut &= ~(UINT64_C(1) << lane);
	rr_state_log(state,
		     (struct rr_action){ .kind = RR_ACTION_ANSWER,
					 .client = (uint8_t)client,
					 .server = (uint8_t)rr_state_lane_server(state, lane),
					 .lane = lane,
					 .command = sent->command,
					 .answer = (uint8_t)kind,
					 .is_fault = is_fault });
	rr_state_answer(state, client, lane, kind, 0);
}

bool rr_state_can_lose(const struct rr_state *state, size_t client, uint8_t lane)
{
	return !rr_part_is_deaf(&state->clients[client], lane) &&
	       !rr_state_is_cut(state, client, lane) &&
	       state->common.down != (int8_t)rr_state_lane_server(state, lane);
}

/* ---- Messages ------------------------------------------------------------- */

/* If the connection has a message, it is read: its number, else RR_NO_ID. */
static uint32_t read_next_message(struct rr_state *state, size_t client, uint8_t lane)
{
	const struct rr_connection *connection = rr_state_connection(state, client, lane);
	const size_t server = rr_state_lane_server(state, lane);
	const struct rr_question question = { .kind = RR_ASK_READ,
					      .slot = rr_state_lane_slot(state, client, lane) };
	const struct rr_server_row *row;

	if (!connection || !connection->n_messages)
		return RR_NO_ID;
	row = rr_state_move_server(state, server, &question, (int)client);
	if (!row)
		return RR_NO_ID;
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_ASK,
						.client = (uint8_t)client,
						.server = (uint8_t)server,
						.lane = lane,
						.question = question,
						.reply = row->reply });
	return row->reply;
}

/* The command is executed. `answer`: what its client receives of it. */
static void execute_command(struct rr_state *state, size_t client, const struct rr_sent *sent,
			    enum rr_answer_kind answer)
{
	const size_t server = rr_state_lane_server(state, sent->lane);
	uint32_t reply;
	const struct rr_question question = question_of(state, client, sent, &reply);
	const struct rr_server_row *row;
	struct rr_served served;
	bool blocks;
	const struct rr_program *program = state->product->config.program;
	const struct rdl_word *words = program->terms->command[sent->command].words.words;

	if (rr_part_is_deaf(&state->clients[client], sent->lane))
		answer = RR_ANSWER_UNHEARD;
	if (reply != RR_NO_ID) {
		rr_state_answer(state, client, sent->lane, answer,
				answer == RR_ANSWER_REPLY ? reply : 0);
		return;
	}
	/* A connection that a program has closed is reset: nobody reads what has come for it. */
	if (rr_word_is(&words[0], "RESET")) {
		while (read_next_message(state, client, sent->lane) != RR_NO_ID)
			continue;
	}
	row = rr_state_move_server(state, server, &question, (int)client);
	if (!row)
		return;
	reply = row->reply;
	blocks = row->blocks;
	rr_state_log(state, (struct rr_action){ .kind = RR_ACTION_ASK,
						.client = (uint8_t)client,
						.server = (uint8_t)server,
						.lane = sent->lane,
						.answer = (uint8_t)answer,
						.question = question,
						.input = { .thread = sent->thread },
						.command = sent->command,
						.reply = reply,
						.blocks = blocks,
						.is_inside = sent->is_inside });
	if (!rr_server_table_are_alike(state->product->tables[server], row->from, row->to))
		state->common.blind = 0;
	rr_state_log_served(state, server, row, &served);
	if (!blocks || answer != RR_ANSWER_REPLY)
		rr_state_answer(state, client, sent->lane, answer,
				answer == RR_ANSWER_REPLY ? reply : 0);
	rr_state_wake_served(state, server, &served);
}

static bool is_command(const struct rr_state *state, const struct rr_sent *sent, const char *name)
{
	const struct rr_terms *terms = state->product->config.program->terms;

	return rr_word_is(&terms->command[sent->command].words.words[0], name);
}

/* Has an app that waits on several connections sent all of a transaction at once, of which `multi`
 * is next? Nothing happens before EXEC, and what is said to the rest is heard together with its
 * reply. Not where a fault may come in between. */
static bool is_whole_transaction(const struct rr_state *state, size_t client,
				 const struct rr_sent *multi)
{
	const struct rr_client_state *it = rr_state_client(state, client);
	bool has_exec = false;

	if (!state->product->config.program->requests.n || it->n_threads < 2 ||
	    !is_command(state, multi, "MULTI"))
		return false;
	for (int i = 0; i < RR_BUDGETS; i++) {
		if (state->common.left.of[i] > 0)
			return false;
	}
	for (const struct rr_sent *sent = multi; sent < it->sent + it->n_sent; sent++)
		has_exec |= sent->lane == multi->lane && is_command(state, sent, "EXEC");
	return has_exec;
}

static void execute_transaction(struct rr_state *state, size_t client, const struct rr_sent *multi)
{
	const uint8_t lane = multi->lane;
	bool is_over = false;

	for (const struct rr_sent *sent = multi; sent && !is_over;
	     sent = rr_state_next_sent(state, client, lane)) {
		is_over = is_command(state, sent, "EXEC");
		execute_command(state, client, sent, RR_ANSWER_REPLY);
		if (rr_product_failed(state->product) || rr_state_has_ended(state, client))
			return;
	}
}

void rr_state_deliver(struct rr_state *state, size_t client, const struct rr_sent *sent,
		      enum rr_transition_kind kind)
{
	const size_t server = rr_state_lane_server(state, sent->lane);
	int64_t left_ns;

	if (rr_state_is_cut(state, client, sent->lane))
		answer_without_reply(state, client, sent, RR_ANSWER_SHUT, false);
	else if (state->common.down == (int8_t)server)
		answer_without_reply(state, client, sent, RR_ANSWER_REFUSED, false);
	else if (kind == RR_DO_DROP)
		answer_without_reply(state, client, sent, RR_ANSWER_SHUT, true);
	else if (kind == RR_DO_LOSE && rr_state_is_blocked(state, client, sent->lane, &left_ns))
		answer_without_reply(state, client, sent, RR_ANSWER_LOST, false);
	else if (kind == RR_DO_EXECUTE && is_whole_transaction(state, client, sent))
		execute_transaction(state, client, sent);
	else
		execute_command(state, client, sent,
				kind == RR_DO_LOSE ? RR_ANSWER_LOST : RR_ANSWER_REPLY);
}

bool rr_state_is_queued(struct rr_state *state, size_t client, const struct rr_sent *sent)
{
	const struct rr_terms *terms = state->product->config.program->terms;
	uint32_t left_out;
	const struct rr_question question = question_of(state, client, sent, &left_out);
	const struct rr_server_row *row =
		left_out == RR_NO_ID ?
			rr_state_ask(state, rr_state_lane_server(state, sent->lane), &question) :
			NULL;
	const struct rdl_reply *reply = row && !row->blocks ? &terms->reply[row->reply].reply :
							      NULL;

	return reply && reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0;
}

/* ---- What threads wait for besides replies -------------------------------- */

bool rr_stop_ends_by_time(const struct rr_stop *stop)
{
	return (stop->kind == RR_STOP_SLEEP || stop->kind == RR_STOP_WAIT ||
		stop->kind == RR_STOP_LISTEN) &&
	       stop->duration_ns != RR_NEVER;
}

int64_t rr_state_left_ns(const struct rr_state *state, size_t client, uint8_t thread)
{
	const struct rr_stop *stop = &rr_state_client(state, client)->stops[thread];
	bool can_go_on = false;

	switch (stop->kind) {
	case RR_STOP_LISTEN: {
		const struct rr_connection *connection = rr_state_connection(state, client,
									     stop->lane);

		can_go_on = rr_state_is_cut(state, client, stop->lane) ||
			    (connection && connection->n_messages > 0);
		break;
	}
	case RR_STOP_WAIT:
	case RR_STOP_JOIN:
		can_go_on = stop->is_ready;
		break;
	case RR_STOP_LOCK:
		can_go_on = !state->common.owners[stop->mutex % RR_MUTEXES];
		break;
	case RR_STOP_CLOCK:
	case RR_STOP_UNLOCK:
		can_go_on = true;
		break;
	default:
		break;
	}
	if (can_go_on)
		return 0;
	if (!rr_stop_ends_by_time(stop))
		return RR_NEVER;
	return stop->duration_ns - state->clients[client].waited_ns[thread];
}

bool rr_state_can_wake(const struct rr_state *state, size_t client, uint8_t thread)
{
	const struct rr_stop *stop = &rr_state_client(state, client)->stops[thread];
	const struct rr_part *part = &state->clients[client];
	size_t at;

	if (stop->kind != RR_STOP_RECEIVE)
		return rr_state_left_ns(state, client, thread) <= 0;
	/* It waits on a lane whose next reply was lost, while commands behind it are still on their
	 * way: if it notices now, they are dropped with the connection. */
	at = rr_part_first_answer(part, stop->lane);
	return at < part->n_answers && part->answers[at].kind == RR_ANSWER_LOST;
}

void rr_state_wake(struct rr_state *state, size_t client, uint8_t thread, struct rr_input *input)
{
	const struct rr_product_config *config = &state->product->config;
	const struct rr_stop *stop = &rr_state_client(state, client)->stops[thread];
	const uint8_t self = (uint8_t)(client * RR_RUN_THREADS + thread + 1);
	uint8_t *owner = &state->common.owners[stop->mutex % RR_MUTEXES];
	uint32_t message;

	*input = (struct rr_input){ .kind = RR_INPUT_GO, .thread = thread };
	switch (stop->kind) {
	case RR_STOP_RECEIVE:
		input->kind = RR_INPUT_LOST;
		rr_state_drop_connection(state, client, stop->lane);
		break;
	case RR_STOP_WAIT:
		if (!stop->is_ready)
			input->kind = RR_INPUT_TIMEOUT;
		break;
	case RR_STOP_LISTEN:
		/* A subscriber receives a message, or that its connection is gone, or that the time
		 * is over. */
		if (rr_state_is_cut(state, client, stop->lane)) {
			state->clients[client].is_cut &= ~(UINT64_C(1) << stop->lane);
			input->kind = RR_INPUT_LOST;
			break;
		}
		message = read_next_message(state, client, stop->lane);
		input->kind = message == RR_NO_ID ? RR_INPUT_TIMEOUT : RR_INPUT_MESSAGE;
		input->value = message == RR_NO_ID ? 0 : message;
		break;
	case RR_STOP_CLOCK:
		if (!config->absolute)
			rr_product_withdraw(state->product, RR_BELIEF_NO_DAY);
		input->kind = RR_INPUT_CLOCK;
		input->value = config->day_ns + state->common.now_ns +
			       (int64_t)client * config->skew_ns;
		break;
	case RR_STOP_LOCK:
		*owner = self;
		break;
	case RR_STOP_UNLOCK:
		if (*owner == self)
			*owner = 0;
		break;
	default:
		break;
	}
}

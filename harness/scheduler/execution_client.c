/* SPDX-License-Identifier: MIT */
/* One client of an execution: its commands, their answers, and what its threads wait
 * for besides. */
#include "execution_parts.h"

#include <string.h>

static bool fail_execution(struct rr_execution *execution, const char *why)
{
	return rr_error_set(&execution->error, RR_ERROR_INTERNAL, "%s", why);
}

/* ---- Doing and noting ------------------------------------------------------ */

void execution_note(const struct rr_execution *execution, const struct rr_action *action)
{
	if (execution->config.note)
		execution->config.note(execution->config.context, action);
}

bool execution_ask(struct rr_execution *execution, size_t server,
		   const struct rr_question *question, struct rr_heard *heard)
{
	struct rr_servers *servers = &execution->servers;

	if (rr_servers_ask(servers, server, question, heard))
		return true;
	execution->error = servers->error;
	return false;
}

static uint8_t n_sent_inside(const struct rr_run_view *view)
{
	uint8_t n = 0;

	for (uint32_t i = 0; i < view->n_sent; i++)
		n += view->sent[i].is_inside;
	return n;
}

static bool is_same_stop(const struct rr_stop *a, const struct rr_stop *b)
{
	return a->kind == b->kind && a->lane == b->lane && a->duration_ns == b->duration_ns;
}

/* The client runs on until all of its threads have stopped again. */
static bool execution_feed(struct rr_execution *execution, struct executed_client *client,
			   const struct rr_input *input)
{
	const struct rr_run_view before = *run_view(client);
	const struct rr_run_view *after;
	struct rr_stop stop = before.stops[input->thread];

	if (stop.kind == RR_STOP_ATTEMPT && before.tally.refused)
		stop.duration_ns = execution->config.wait_ns;

	rr_client_run_feed(client->run, input, execution->now_ns - client->read_ns);
	after = run_view(client);
	if (after->is_too_much)
		return fail_execution(
			execution,
			"a client has too many threads, connections or commands on their way");
	if (after->has_read)
		client->read_ns = execution->now_ns;
	for (uint32_t i = 0; i < RR_RUN_THREADS; i++) {
		if (i == input->thread || !is_same_stop(&before.stops[i], &after->stops[i]))
			client->since_ns[i] = execution->now_ns;
	}
	execution_note(execution, &(struct rr_action){
					  .kind = RR_ACTION_FEED,
					  .client = (uint8_t)client_number(execution, client),
					  .input = *input,
					  .stop = stop,
					  .was_inside = before.is_inside,
					  .has_entered = after->has_entered,
					  .is_inside = after->is_inside,
					  .n_inside = n_sent_inside(after),
					  .n_counted = (uint8_t)(after->tally.acknowledged -
								 before.tally.acknowledged),
				  });
	return true;
}

/* An action about a command or a message on a lane. */
static struct rr_action action_on(const struct rr_execution *execution,
				  const struct executed_client *client, uint8_t lane,
				  enum rr_action_kind kind)
{
	return (struct rr_action){
		.kind = (uint8_t)kind,
		.client = (uint8_t)client_number(execution, client),
		.server = (uint8_t)lane_server(execution, lane),
		.lane = lane,
	};
}

/* ---- Answers ---------------------------------------------------------------- */

static size_t n_kept_on(const struct executed_client *client, uint8_t lane)
{
	size_t n = 0;

	for (size_t i = 0; i < client->n_answers; i++)
		n += client->answers[i].lane == lane;
	return n;
}

/* The first answer on a lane; NULL = none. */
static struct kept_answer *answer_on(struct executed_client *client, uint8_t lane)
{
	for (size_t i = 0; i < client->n_answers; i++) {
		if (client->answers[i].lane == lane)
			return &client->answers[i];
	}
	return NULL;
}

static void drop_kept_answer(struct executed_client *client, struct kept_answer *answer)
{
	const struct kept_answer *end = &client->answers[--client->n_answers];

	memmove(answer, answer + 1, (size_t)(end - answer) * sizeof(*answer));
}

/* The command that is to be executed next on a lane; NULL = none. */
const struct rr_sent *execution_next_sent(const struct executed_client *client, uint8_t lane)
{
	const struct rr_run_view *view = run_view(client);
	size_t before = n_kept_on(client, lane);

	for (uint32_t i = 0; i < view->n_sent; i++) {
		if (view->sent[i].lane == lane && before-- == 0)
			return &view->sent[i];
	}
	return NULL;
}

static bool has_lost_on(const struct executed_client *client, uint8_t lane)
{
	for (size_t i = 0; i < client->n_answers; i++) {
		if (client->answers[i].lane == lane && client->answers[i].kind == RR_ANSWER_LOST)
			return true;
	}
	return false;
}

/* Closes a connection; the server has noticed then. */
bool execution_close_lane(struct rr_execution *execution, struct executed_client *client,
			  uint8_t lane)
{
	const struct rr_question question = { .kind = RR_ASK_CLOSE,
					      .slot = lane_slot(execution, client, lane) };
	struct rr_heard heard;
	struct rr_action action;

	if (!(client->is_open & lane_bit(lane)))
		return true;
	client->is_open &= ~lane_bit(lane);
	action = action_on(execution, client, lane, RR_ACTION_ASK);
	action.question = question;
	execution_note(execution, &action);
	return execution_ask(execution, lane_server(execution, lane), &question, &heard);
}

/* What a thread that waits for a reply on `lane` gets, if it is there. */
static bool hand_over(struct rr_execution *execution, struct executed_client *client,
		      uint8_t thread, uint8_t lane)
{
	struct kept_answer *at = answer_on(client, lane);
	const struct kept_answer answer = *at;
	struct rr_input input = { .kind = RR_INPUT_REPLY, .thread = thread, .value = answer.reply };

	drop_kept_answer(client, at);
	if (answer.kind == RR_ANSWER_REPLY)
		return execution_feed(execution, client, &input);
	input.kind = RR_INPUT_LOST;
	input.value = 0;
	while ((at = answer_on(client, lane)))
		drop_kept_answer(client, at);
	client->is_cut &= ~lane_bit(lane);
	return execution_close_lane(execution, client, lane) &&
	       execution_feed(execution, client, &input);
}

/* Has the thread got what it waits for? A lost reply is noticed behind all that was
 * sent with it. */
static bool can_hand_over(struct executed_client *client, const struct rr_stop *stop)
{
	const struct kept_answer *answer = stop->kind == RR_STOP_RECEIVE ?
						   answer_on(client, stop->lane) :
						   NULL;

	return answer &&
	       (answer->kind != RR_ANSWER_LOST || !execution_next_sent(client, stop->lane));
}

static bool may_begin_attempt(const struct rr_execution *execution,
			      const struct executed_client *client)
{
	const struct rr_run_view *view = run_view(client);

	return view->stops[0].kind == RR_STOP_ATTEMPT && !execution->is_opening &&
	       view->tally.refused == 0;
}

/* The client runs on as long as what it waits for is there. */
bool execution_settle(struct rr_execution *execution, struct executed_client *client)
{
	static const struct rr_input begin = { .kind = RR_INPUT_ATTEMPT, .value = -1 };
	bool goes_on = true, good = true;

	while (goes_on && good) {
		const struct rr_run_view *view = run_view(client);

		goes_on = may_begin_attempt(execution, client);
		if (goes_on)
			good = execution_feed(execution, client, &begin);
		for (uint8_t i = 0; i < view->n_threads && !goes_on; i++) {
			goes_on = can_hand_over(client, &view->stops[i]);
			if (goes_on)
				good = hand_over(execution, client, i, view->stops[i].lane);
		}
	}
	return good;
}

static bool keep_answer(struct rr_execution *execution, struct executed_client *client,
			uint8_t lane, enum rr_answer_kind kind, uint32_t reply)
{
	if (client->n_answers == EXECUTION_ANSWERS)
		return fail_execution(execution,
				      "more than 64 replies that a client has not taken");
	client->answers[client->n_answers++] = (struct kept_answer){ lane, (uint8_t)kind, reply };
	return execution_settle(execution, client);
}

/* ---- Commands --------------------------------------------------------------- */

/* When the thread that takes this lane's replies came there. */
static int64_t waits_on_since(const struct executed_client *client, uint8_t lane, int64_t now_ns)
{
	const struct rr_run_view *view = run_view(client);

	for (uint32_t i = 0; i < view->n_threads; i++) {
		if (view->stops[i].kind == RR_STOP_RECEIVE && view->stops[i].lane == lane)
			return client->since_ns[i];
	}
	return now_ns;
}

static int64_t time_after(int64_t from_ns, int64_t duration_ns)
{
	return duration_ns >= RR_NEVER - from_ns ? RR_NEVER : from_ns + duration_ns;
}

/* When the time is over of a command that waits. */
int64_t execution_time_out_at(const struct rr_execution *execution,
			      const struct executed_client *client, uint8_t lane, uint32_t command)
{
	const struct rr_terms *terms = execution->config.program->terms;

	return time_after(waits_on_since(client, lane, execution->now_ns),
			  rr_command_time_out_ns(&terms->command[command].words));
}

/* One that its server will not get, because the connection is gone. */
static enum rr_did answer_closed_lane(struct rr_execution *execution,
				      struct executed_client *client, uint8_t lane, bool is_fault)
{
	struct rr_action action;

	action = action_on(execution, client, lane, RR_ACTION_ANSWER);
	action.command = execution_next_sent(client, lane)->command;
	action.answer = RR_ANSWER_SHUT;
	action.is_fault = is_fault;
	execution_note(execution, &action);
	return keep_answer(execution, client, lane, RR_ANSWER_SHUT, 0) ? RR_DID_IT : RR_DID_FAIL;
}

/* The next command on a lane is executed. `answer`: what its client hears of it. */
enum rr_did execution_execute(struct rr_execution *execution, struct executed_client *client,
			      uint8_t lane, enum rr_answer_kind answer)
{
	const struct rr_sent sent = *execution_next_sent(client, lane);
	const struct rr_question question = { .kind = RR_ASK_COMMAND,
					      .slot = lane_slot(execution, client, lane),
					      .argument = sent.command };
	struct rr_heard heard;
	struct rr_action action;

	if (client->is_cut & lane_bit(lane))
		return answer_closed_lane(execution, client, lane, false);
	if (answer == RR_ANSWER_SHUT)
		return answer_closed_lane(execution, client, lane, true);
	client->is_open |= lane_bit(lane);
	if (!execution_ask(execution, lane_server(execution, lane), &question, &heard))
		return RR_DID_FAIL;
	if (heard.blocks &&
	    execution_time_out_at(execution, client, lane, sent.command) > execution->now_ns) {
		client->blocked_at[lane] = execution->n_changes;
		return RR_DID_NOTHING;
	}
	execution->n_changes++;
	if (has_lost_on(client, lane))
		answer = RR_ANSWER_UNHEARD;
	action = action_on(execution, client, lane, RR_ACTION_ASK);
	action.answer = (uint8_t)answer;
	action.question = question;
	action.command = sent.command;
	action.reply = heard.reply;
	action.blocks = heard.blocks;
	action.is_inside = sent.is_inside;
	action.input.thread = sent.thread;
	execution_note(execution, &action);
	return keep_answer(execution, client, lane, answer, heard.reply) ? RR_DID_IT : RR_DID_FAIL;
}

/* ---- What threads wait for besides replies ---------------------------------- */

static bool lane_has_message(const struct rr_execution *execution,
			     const struct executed_client *client, uint8_t lane)
{
	return rr_servers_has_message(&execution->servers, lane_server(execution, lane),
				      lane_slot(execution, client, lane));
}

/* When a thread can go on, from what it waits for. */
int64_t execution_stop_ready_ns(struct rr_execution *execution,
				const struct executed_client *client, uint8_t thread)
{
	const struct rr_stop *stop = &run_view(client)->stops[thread];
	const int64_t since_ns = client->since_ns[thread];

	switch (stop->kind) {
	case RR_STOP_LISTEN:
		if (client->is_cut & lane_bit(stop->lane) ||
		    lane_has_message(execution, client, stop->lane))
			return execution->now_ns;
		return time_after(since_ns, stop->duration_ns);
	case RR_STOP_WAIT:
		return stop->is_ready ? execution->now_ns : time_after(since_ns, stop->duration_ns);
	case RR_STOP_SLEEP:
		return time_after(since_ns, stop->duration_ns);
	case RR_STOP_ATTEMPT:
		return time_after(since_ns, execution->config.wait_ns);
	case RR_STOP_LOCK:
		return execution->owners[stop->mutex % EXECUTION_MUTEXES] ? RR_NEVER :
									    execution->now_ns;
	case RR_STOP_JOIN:
		return stop->is_ready ? execution->now_ns : RR_NEVER;
	case RR_STOP_CLOCK:
	case RR_STOP_UNLOCK:
		return execution->now_ns;
	default:
		return RR_NEVER;
	}
}

static bool read_lane_message(struct rr_execution *execution, const struct executed_client *client,
			      uint8_t lane, struct rr_input *input)
{
	const struct rr_question question = { .kind = RR_ASK_READ,
					      .slot = lane_slot(execution, client, lane) };
	struct rr_heard heard;
	struct rr_action action;

	if (!execution_ask(execution, lane_server(execution, lane), &question, &heard))
		return false;
	action = action_on(execution, client, lane, RR_ACTION_ASK);
	action.question = question;
	action.reply = heard.reply;
	execution_note(execution, &action);
	input->kind = RR_INPUT_MESSAGE;
	input->value = heard.reply;
	return true;
}

static void pass_mutex(struct rr_execution *execution, const struct executed_client *client,
		       uint8_t thread, const struct rr_stop *stop)
{
	const int self = 1 +
			 (int)(thread * execution->n_clients + client_number(execution, client));
	int *owner = &execution->owners[stop->mutex % EXECUTION_MUTEXES];

	if (stop->kind == RR_STOP_LOCK)
		*owner = self;
	else if (*owner == self)
		*owner = 0;
}

/* What a ready thread hears. */
static bool input_for(struct rr_execution *execution, struct executed_client *client,
		      uint8_t thread, struct rr_input *input)
{
	const struct rr_stop *stop = &run_view(client)->stops[thread];

	*input = (struct rr_input){ .kind = RR_INPUT_GO, .thread = thread };
	switch (stop->kind) {
	case RR_STOP_LISTEN:
		if (client->is_cut & lane_bit(stop->lane)) {
			client->is_cut &= ~lane_bit(stop->lane);
			input->kind = RR_INPUT_LOST;
			return true;
		}
		input->kind = RR_INPUT_TIMEOUT;
		return !lane_has_message(execution, client, stop->lane) ||
		       read_lane_message(execution, client, stop->lane, input);
	case RR_STOP_WAIT:
		if (!stop->is_ready)
			input->kind = RR_INPUT_TIMEOUT;
		return true;
	case RR_STOP_CLOCK:
		input->kind = RR_INPUT_CLOCK;
		input->value = execution->config.day_ns + execution->now_ns +
			       (int64_t)client_number(execution, client) *
				       execution->config.skew_ns;
		return true;
	case RR_STOP_ATTEMPT:
		input->kind = RR_INPUT_ATTEMPT;
		input->value = -1;
		return true;
	case RR_STOP_LOCK:
	case RR_STOP_UNLOCK:
		pass_mutex(execution, client, thread, stop);
		return true;
	default:
		return true;
	}
}

enum rr_did execution_go_on(struct rr_execution *execution, struct executed_client *client,
			    uint8_t thread)
{
	struct rr_input input;

	if (execution_stop_ready_ns(execution, client, thread) > execution->now_ns)
		return RR_DID_REFUSE;
	return input_for(execution, client, thread, &input) &&
			       execution_feed(execution, client, &input) &&
			       execution_settle(execution, client) ?
		       RR_DID_IT :
		       RR_DID_FAIL;
}

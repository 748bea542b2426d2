/* SPDX-License-Identifier: MIT */
#include "execution.h"

#include <stdlib.h>
#include <string.h>

enum { ANSWERS = 64, MUTEXES = 160, OPENING_STEPS = 400 };

struct client {
	struct rr_client_run *run;  /* NULL: it has crashed */
	struct rr_run_tally tally;  /* then */
	size_t n_answers;           /* that it has not taken */
	struct answer {
		uint8_t lane, kind;
		uint32_t reply;
	} answers[ANSWERS];
	uint64_t is_open; /* lanes that have a connection */
	uint64_t is_cut;  /* whose connection is gone, unknown to it */
	int64_t read_ns;  /* when it last read its clock */
	int64_t paused_until_ns;
	int64_t since_ns[RR_RUN_THREADS]; /* that they stand there */
	uint64_t blocked_at[RR_RUN_LANES]; /* when its command had to wait */
};

struct rr_execution {
	struct rr_execution_config config;
	size_t n_clients;
	struct rr_servers servers;
	struct client clients[RR_EXECUTION_CLIENTS];
	bool is_opening; /* no attempt begins */
	int64_t now_ns;
	uint64_t n_changes;   /* after which a command may wait no more */
	int owners[MUTEXES];  /* threads' numbers + 1; 0 = free */
	struct rr_execution_view view;
	struct rr_error error;
};

/* ---- Making and freeing --------------------------------------------------- */

struct rr_execution *rr_execution_new(const struct rr_execution_config *config)
{
	struct rr_execution *execution = calloc(1, sizeof(*execution));

	if (!execution)
		return NULL;
	execution->config = *config;
	execution->n_clients = config->program->n_clients;
	return execution;
}

static void end_runs(struct rr_execution *execution)
{
	for (size_t i = 0; i < execution->n_clients; i++) {
		if (execution->clients[i].run)
			rr_client_run_free(execution->clients[i].run);
		execution->clients[i].run = NULL;
	}
}

void rr_execution_free(struct rr_execution *execution)
{
	if (!execution)
		return;
	end_runs(execution);
	rr_servers_close(&execution->servers);
	free(execution);
}

const struct rr_error *rr_execution_error(const struct rr_execution *execution)
{
	return &execution->error;
}

static bool fail(struct rr_execution *execution, const char *why)
{
	return rr_error_set(&execution->error, RR_ERROR_INTERNAL, "%s", why);
}

/* Servers are connected once; clients live from the beginning. */
static bool begin_anew(struct rr_execution *execution)
{
	const struct rr_execution_config *config = &execution->config;
	const struct rr_program *program = config->program;
	struct rr_servers *servers = &execution->servers;

	end_runs(execution);
	execution->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	execution->now_ns = 0;
	execution->n_changes = 1;
	memset(execution->owners, 0, sizeof(execution->owners));
	memset(execution->clients, 0, sizeof(execution->clients));
	if (servers->n ? !rr_servers_reset(servers) :
			 !rr_servers_open(servers, config->cluster,
					  program->n_servers, program->terms,
					  config->scripts)) {
		execution->error = servers->error;
		return false;
	}
	for (size_t i = 0; i < execution->n_clients; i++) {
		execution->clients[i].run = rr_client_run_new(program, (int)i);
		if (!execution->clients[i].run)
			return fail(execution, "out of memory");
	}
	return true;
}

/* ---- Small questions ------------------------------------------------------- */

static const struct rr_run_view *view_of(const struct client *client)
{
	return rr_client_run_view(client->run);
}

static size_t number_of(const struct rr_execution *execution,
			const struct client *client)
{
	return (size_t)(client - execution->clients);
}

static size_t server_of(const struct rr_execution *execution, uint8_t lane)
{
	return (size_t)rr_lane_server(execution->config.program, lane);
}

static uint16_t slot_of(const struct rr_execution *execution,
			const struct client *client, uint8_t lane)
{
	return (uint16_t)(number_of(execution, client) * RR_RUN_ORDINALS +
			  (size_t)rr_lane_ordinal(execution->config.program,
						  lane));
}

static bool has_ended(const struct client *client)
{
	return !client->run ||
	       view_of(client)->stops[0].kind == RR_STOP_ENDED;
}

static uint64_t lane_bit(uint8_t lane)
{
	return UINT64_C(1) << lane;
}

const struct rr_run_tally *
rr_execution_tally(const struct rr_execution *execution, size_t client)
{
	const struct client *it = &execution->clients[client];

	return it->run ? &view_of(it)->tally : &it->tally;
}

bool rr_execution_has_crashed(const struct rr_execution *execution,
			      size_t client)
{
	return !execution->clients[client].run;
}

/* ---- Doing and noting ------------------------------------------------------ */

static void note(const struct rr_execution *execution,
		 const struct rr_action *action)
{
	if (execution->config.note)
		execution->config.note(execution->config.context, action);
}

static bool ask(struct rr_execution *execution, size_t server,
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
	return a->kind == b->kind && a->lane == b->lane &&
	       a->duration_ns == b->duration_ns;
}

/* The client runs on until all of its threads have stopped again. */
static bool feed(struct rr_execution *execution, struct client *client,
		 const struct rr_input *input)
{
	const struct rr_run_view before = *view_of(client);
	const struct rr_run_view *after;
	struct rr_stop stop = before.stops[input->thread];

	if (stop.kind == RR_STOP_ATTEMPT && before.tally.refused)
		stop.duration_ns = execution->config.wait_ns;

	rr_client_run_feed(client->run, input,
			   execution->now_ns - client->read_ns);
	after = view_of(client);
	if (after->is_too_much)
		return fail(execution,
			    "a client has too many threads, connections or commands on their way");
	if (after->has_read)
		client->read_ns = execution->now_ns;
	for (uint32_t i = 0; i < RR_RUN_THREADS; i++) {
		if (i == input->thread ||
		    !is_same_stop(&before.stops[i], &after->stops[i]))
			client->since_ns[i] = execution->now_ns;
	}
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_FEED,
		     .client = (uint8_t)number_of(execution, client),
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

/* ---- Answers ---------------------------------------------------------------- */

static size_t n_answers_on(const struct client *client, uint8_t lane)
{
	size_t n = 0;

	for (size_t i = 0; i < client->n_answers; i++)
		n += client->answers[i].lane == lane;
	return n;
}

/* The first answer on a lane; NULL = none. */
static struct answer *find_answer(struct client *client, uint8_t lane)
{
	for (size_t i = 0; i < client->n_answers; i++) {
		if (client->answers[i].lane == lane)
			return &client->answers[i];
	}
	return NULL;
}

static void drop_answer(struct client *client, struct answer *answer)
{
	const struct answer *end = &client->answers[--client->n_answers];

	memmove(answer, answer + 1, (size_t)(end - answer) * sizeof(*answer));
}

/* The command that is to be executed next on a lane; NULL = none. */
static const struct rr_sent *next_sent(const struct client *client,
				       uint8_t lane)
{
	const struct rr_run_view *view = view_of(client);
	size_t before = n_answers_on(client, lane);

	for (uint32_t i = 0; i < view->n_sent; i++) {
		if (view->sent[i].lane == lane && before-- == 0)
			return &view->sent[i];
	}
	return NULL;
}

static bool has_lost(const struct client *client, uint8_t lane)
{
	for (size_t i = 0; i < client->n_answers; i++) {
		if (client->answers[i].lane == lane &&
		    client->answers[i].kind == RR_ANSWER_LOST)
			return true;
	}
	return false;
}

/* Closes a connection; the server has noticed then. */
static bool close_lane(struct rr_execution *execution, struct client *client,
		       uint8_t lane)
{
	const struct rr_question question = {
		.kind = RR_ASK_CLOSE, .slot = slot_of(execution, client, lane)
	};
	struct rr_heard heard;

	if (!(client->is_open & lane_bit(lane)))
		return true;
	client->is_open &= ~lane_bit(lane);
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_ASK,
		     .client = (uint8_t)number_of(execution, client),
		     .server = (uint8_t)server_of(execution, lane),
		     .question = question });
	return ask(execution, server_of(execution, lane), &question, &heard);
}

/* What a thread that waits for a reply on `lane` gets, if it is there. */
static bool take_reply(struct rr_execution *execution, struct client *client,
		       uint8_t thread, uint8_t lane)
{
	struct answer *at = find_answer(client, lane);
	const struct answer answer = *at;
	struct rr_input input = { .kind = RR_INPUT_REPLY,
				  .thread = thread,
				  .value = answer.reply };

	drop_answer(client, at);
	if (answer.kind == RR_ANSWER_REPLY)
		return feed(execution, client, &input);
	input.kind = RR_INPUT_LOST;
	input.value = 0;
	while ((at = find_answer(client, lane)))
		drop_answer(client, at);
	client->is_cut &= ~lane_bit(lane);
	return close_lane(execution, client, lane) &&
	       feed(execution, client, &input);
}

/* Has the thread got what it waits for? A lost reply is noticed behind all that was
 * sent with it. */
static bool can_take(struct client *client, const struct rr_stop *stop)
{
	const struct answer *answer = stop->kind == RR_STOP_RECEIVE ?
					      find_answer(client, stop->lane) :
					      NULL;

	return answer && (answer->kind != RR_ANSWER_LOST ||
			  !next_sent(client, stop->lane));
}

static bool may_begin(const struct rr_execution *execution,
		      const struct client *client)
{
	const struct rr_run_view *view = view_of(client);

	return view->stops[0].kind == RR_STOP_ATTEMPT &&
	       !execution->is_opening && view->tally.refused == 0;
}

/* The client runs on as long as what it waits for is there. */
static bool settle(struct rr_execution *execution, struct client *client)
{
	static const struct rr_input begin = { .kind = RR_INPUT_ATTEMPT,
					       .value = -1 };
	bool goes_on = true, good = true;

	while (goes_on && good) {
		const struct rr_run_view *view = view_of(client);

		goes_on = may_begin(execution, client);
		if (goes_on)
			good = feed(execution, client, &begin);
		for (uint8_t i = 0; i < view->n_threads && !goes_on; i++) {
			goes_on = can_take(client, &view->stops[i]);
			if (goes_on)
				good = take_reply(execution, client, i,
						  view->stops[i].lane);
		}
	}
	return good;
}

static bool add_answer(struct rr_execution *execution, struct client *client,
		       uint8_t lane, enum rr_answer_kind kind, uint32_t reply)
{
	if (client->n_answers == ANSWERS)
		return fail(execution,
			    "more than 64 replies that a client has not taken");
	client->answers[client->n_answers++] =
		(struct answer){ lane, (uint8_t)kind, reply };
	return settle(execution, client);
}

uint32_t rr_execution_answer(struct rr_execution *execution, size_t server,
			     const struct rl_command *command)
{
	const struct rr_execution_config *config = &execution->config;
	struct rl_reply reply;

	if (!rr_asker_run(execution->servers.askers[server], &reply, command))
		return RR_NO_ID;
	rr_scripts_keep(config->scripts, command, &reply);
	return rr_terms_reply(config->program->terms, &reply);
}

/* ---- Commands --------------------------------------------------------------- */

/* When the thread that takes this lane's replies came there. */
static int64_t waits_since(const struct client *client, uint8_t lane,
			   int64_t now_ns)
{
	const struct rr_run_view *view = view_of(client);

	for (uint32_t i = 0; i < view->n_threads; i++) {
		if (view->stops[i].kind == RR_STOP_RECEIVE &&
		    view->stops[i].lane == lane)
			return client->since_ns[i];
	}
	return now_ns;
}

static int64_t later(int64_t from_ns, int64_t duration_ns)
{
	return duration_ns >= RR_NEVER - from_ns ? RR_NEVER :
						   from_ns + duration_ns;
}

/* When the time is over of a command that waits. */
static int64_t time_out_at(const struct rr_execution *execution,
			   const struct client *client, uint8_t lane,
			   uint32_t command)
{
	const struct rr_terms *terms = execution->config.program->terms;

	return later(waits_since(client, lane, execution->now_ns),
		     rr_command_time_out_ns(&terms->command[command].words));
}

/* One that its server will not get, because the connection is gone. */
static enum rr_did answer_closed(struct rr_execution *execution,
				 struct client *client, uint8_t lane,
				 bool is_fault)
{
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_ANSWER,
		     .client = (uint8_t)number_of(execution, client),
		     .server = (uint8_t)server_of(execution, lane),
		     .lane = lane,
		     .command = next_sent(client, lane)->command,
		     .answer = RR_ANSWER_SHUT,
		     .is_fault = is_fault });
	return add_answer(execution, client, lane, RR_ANSWER_SHUT, 0) ?
		       RR_DID_IT :
		       RR_DID_FAIL;
}

/* The next command on a lane is executed. `answer`: what its client hears of it. */
static enum rr_did execute(struct rr_execution *execution,
			   struct client *client, uint8_t lane,
			   enum rr_answer_kind answer)
{
	const struct rr_sent sent = *next_sent(client, lane);
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.slot = slot_of(execution, client, lane),
		.argument = sent.command
	};
	struct rr_heard heard;

	if (client->is_cut & lane_bit(lane))
		return answer_closed(execution, client, lane, false);
	if (answer == RR_ANSWER_SHUT)
		return answer_closed(execution, client, lane, true);
	client->is_open |= lane_bit(lane);
	if (!ask(execution, server_of(execution, lane), &question, &heard))
		return RR_DID_FAIL;
	if (heard.blocks && time_out_at(execution, client, lane, sent.command) >
				    execution->now_ns) {
		client->blocked_at[lane] = execution->n_changes;
		return RR_DID_NOTHING;
	}
	execution->n_changes++;
	if (has_lost(client, lane))
		answer = RR_ANSWER_UNHEARD;
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_ASK,
		     .client = (uint8_t)number_of(execution, client),
		     .server = (uint8_t)server_of(execution, lane),
		     .lane = lane,
		     .answer = (uint8_t)answer,
		     .question = question,
		     .command = sent.command,
		     .reply = heard.reply,
		     .blocks = heard.blocks,
		     .is_inside = sent.is_inside,
		     .input = { .thread = sent.thread } });
	return add_answer(execution, client, lane, answer, heard.reply) ?
		       RR_DID_IT :
		       RR_DID_FAIL;
}

/* ---- What threads wait for besides replies ---------------------------------- */

static bool has_message(const struct rr_execution *execution,
			const struct client *client, uint8_t lane)
{
	return rr_servers_has_message(&execution->servers,
				      server_of(execution, lane),
				      slot_of(execution, client, lane));
}

/* When a thread can go on, from what it waits for. */
static int64_t stop_ready_ns(struct rr_execution *execution,
			     const struct client *client, uint8_t thread)
{
	const struct rr_stop *stop = &view_of(client)->stops[thread];
	const int64_t since_ns = client->since_ns[thread];

	switch (stop->kind) {
	case RR_STOP_LISTEN:
		if (client->is_cut & lane_bit(stop->lane) ||
		    has_message(execution, client, stop->lane))
			return execution->now_ns;
		return later(since_ns, stop->duration_ns);
	case RR_STOP_WAIT:
		return stop->is_ready ? execution->now_ns :
					later(since_ns, stop->duration_ns);
	case RR_STOP_SLEEP:
		return later(since_ns, stop->duration_ns);
	case RR_STOP_ATTEMPT:
		return later(since_ns, execution->config.wait_ns);
	case RR_STOP_LOCK:
		return execution->owners[stop->mutex % MUTEXES] ?
			       RR_NEVER :
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

static bool read_message(struct rr_execution *execution,
			 const struct client *client, uint8_t lane,
			 struct rr_input *input)
{
	const struct rr_question question = {
		.kind = RR_ASK_READ, .slot = slot_of(execution, client, lane)
	};
	struct rr_heard heard;

	if (!ask(execution, server_of(execution, lane), &question, &heard))
		return false;
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_ASK,
		     .client = (uint8_t)number_of(execution, client),
		     .server = (uint8_t)server_of(execution, lane),
		     .lane = lane,
		     .question = question,
		     .reply = heard.reply });
	input->kind = RR_INPUT_MESSAGE;
	input->value = heard.reply;
	return true;
}

static void use_mutex(struct rr_execution *execution,
		      const struct client *client, uint8_t thread,
		      const struct rr_stop *stop)
{
	const int self = 1 + (int)(thread * execution->n_clients +
				   number_of(execution, client));
	int *owner = &execution->owners[stop->mutex % MUTEXES];

	if (stop->kind == RR_STOP_LOCK)
		*owner = self;
	else if (*owner == self)
		*owner = 0;
}

/* What a ready thread hears. */
static bool input_of(struct rr_execution *execution, struct client *client,
		     uint8_t thread, struct rr_input *input)
{
	const struct rr_stop *stop = &view_of(client)->stops[thread];

	*input = (struct rr_input){ .kind = RR_INPUT_GO, .thread = thread };
	switch (stop->kind) {
	case RR_STOP_LISTEN:
		if (client->is_cut & lane_bit(stop->lane)) {
			client->is_cut &= ~lane_bit(stop->lane);
			input->kind = RR_INPUT_LOST;
			return true;
		}
		input->kind = RR_INPUT_TIMEOUT;
		return !has_message(execution, client, stop->lane) ||
		       read_message(execution, client, stop->lane, input);
	case RR_STOP_WAIT:
		if (!stop->is_ready)
			input->kind = RR_INPUT_TIMEOUT;
		return true;
	case RR_STOP_CLOCK:
		input->kind = RR_INPUT_CLOCK;
		input->value = execution->config.day_ns + execution->now_ns +
			       (int64_t)number_of(execution, client) *
				       execution->config.skew_ns;
		return true;
	case RR_STOP_ATTEMPT:
		input->kind = RR_INPUT_ATTEMPT;
		input->value = -1;
		return true;
	case RR_STOP_LOCK:
	case RR_STOP_UNLOCK:
		use_mutex(execution, client, thread, stop);
		return true;
	default:
		return true;
	}
}

static enum rr_did go_on(struct rr_execution *execution, struct client *client,
			 uint8_t thread)
{
	struct rr_input input;

	if (stop_ready_ns(execution, client, thread) > execution->now_ns)
		return RR_DID_REFUSE;
	return input_of(execution, client, thread, &input) &&
			       feed(execution, client, &input) &&
			       settle(execution, client) ?
		       RR_DID_IT :
		       RR_DID_FAIL;
}

/* ---- Looking ---------------------------------------------------------------- */

/* The first command of a thread that has not been executed; else what it waits
 * for. */
static void look_ahead(struct rr_execution *execution, struct client *client,
		       uint8_t thread, struct rr_thread_view *view)
{
	const struct rr_run_view *run = view_of(client);

	view->command = RR_NO_ID;
	view->holder = -1;
	view->stop = run->stops[thread];
	view->next = (struct rr_transition){
		RR_DO_GO, (uint8_t)number_of(execution, client), thread
	};
	for (uint32_t i = 0; i < run->n_sent; i++) {
		const struct rr_sent *sent = &run->sent[i];

		if (sent->thread != thread ||
		    sent != next_sent(client, sent->lane))
			continue;
		view->command = sent->command;
		view->next.kind = RR_DO_EXECUTE;
		view->next.lane = sent->lane;
		view->ready_ns =
			client->blocked_at[sent->lane] == execution->n_changes ?
				time_out_at(execution, client, sent->lane,
					    sent->command) :
				execution->now_ns;
		return;
	}
	view->ready_ns = stop_ready_ns(execution, client, thread);
	if (view->stop.kind == RR_STOP_LOCK)
		view->holder = execution->owners[view->stop.mutex % MUTEXES] - 1;
}

static void look_at(struct rr_execution *execution, struct client *client,
		    uint8_t thread, struct rr_thread_view *view)
{
	const uint8_t kind = client->run ?
				     view_of(client)->stops[thread].kind :
				     RR_STOP_ABSENT;

	*view = (struct rr_thread_view){
		.client = (int)number_of(execution, client),
		.command = RR_NO_ID,
		.ready_ns = RR_NEVER,
	};
	if (kind == RR_STOP_ABSENT || kind == RR_STOP_ENDED) {
		view->state = kind == RR_STOP_ENDED ? RR_THREAD_ENDED :
			      !client->run && thread == 0 ?
						      RR_THREAD_CRASHED :
						      RR_THREAD_ABSENT;
		return;
	}
	look_ahead(execution, client, thread, view);
	if (view->ready_ns < client->paused_until_ns)
		view->ready_ns = client->paused_until_ns;
	if (view->ready_ns <= execution->now_ns)
		view->state = RR_THREAD_READY;
	else if (client->paused_until_ns > execution->now_ns)
		view->state = RR_THREAD_PAUSED;
	else
		view->state = RR_THREAD_BLOCKED;
}

const struct rr_execution_view *
rr_execution_look(struct rr_execution *execution)
{
	struct rr_execution_view *view = &execution->view;
	const size_t n = execution->n_clients;

	*view = (struct rr_execution_view){ .n_clients = n,
					    .n = n * RR_RUN_THREADS,
					    .now_ns = execution->now_ns,
					    .next_ns = RR_NEVER };
	for (size_t i = 0; i < view->n; i++) {
		struct rr_thread_view *thread = &view->threads[i];

		look_at(execution, &execution->clients[i % n], (uint8_t)(i / n),
			thread);
		if (thread->state == RR_THREAD_READY)
			view->n_ready++;
		else if (thread->ready_ns < view->next_ns)
			view->next_ns = thread->ready_ns;
		view->n_alive += thread->state == RR_THREAD_READY ||
				 thread->state == RR_THREAD_BLOCKED ||
				 thread->state == RR_THREAD_PAUSED;
	}
	return view;
}

/* ---- Faults and time -------------------------------------------------------- */

static bool crash_client(struct rr_execution *execution, struct client *client)
{
	const size_t n_servers = execution->config.program->n_servers;

	if (has_ended(client))
		return true;
	client->tally = view_of(client)->tally;
	rr_client_run_free(client->run);
	client->run = NULL;
	note(execution,
	     &(struct rr_action){
		     .kind = RR_ACTION_CRASH,
		     .client = (uint8_t)number_of(execution, client) });
	for (size_t lane = 0; lane < n_servers * RR_RUN_ORDINALS; lane++) {
		if (!close_lane(execution, client, (uint8_t)lane))
			return false;
	}
	return true;
}

/* Of `who`'s process. `until_ns` 0: it crashes; else it stands still. */
static enum rr_did strike_process(struct rr_execution *execution, size_t who,
				  int64_t until_ns)
{
	const bool separate = execution->config.program->separate;

	if (who >= execution->n_clients ||
	    has_ended(&execution->clients[who]))
		return RR_DID_REFUSE;
	for (size_t i = separate ? who : 0;
	     i < (separate ? who + 1 : execution->n_clients); i++) {
		struct client *client = &execution->clients[i];

		if (until_ns)
			client->paused_until_ns = until_ns;
		else if (!crash_client(execution, client))
			return RR_DID_FAIL;
	}
	execution->n_changes++;
	return RR_DID_IT;
}

/* Every open connection to the server is gone, and the clients do not know. */
static enum rr_did restart(struct rr_execution *execution, size_t server)
{
	const struct rr_execution_config *config = &execution->config;
	const struct rr_question question = { .kind = RR_ASK_WIPE };
	struct rr_heard heard;
	bool good;

	if (server >= config->program->n_servers)
		return RR_DID_REFUSE;
	if (config->restart)
		good = config->restart(config->context, server) &&
		       rr_servers_restarted(&execution->servers, server);
	else
		good = ask(execution, server, &question, &heard);
	for (size_t i = 0; i < execution->n_clients; i++) {
		struct client *client = &execution->clients[i];

		for (uint8_t lane = 0; lane < RR_RUN_LANES; lane++) {
			if (!(client->is_open & lane_bit(lane)) ||
			    server_of(execution, lane) != server)
				continue;
			client->is_open &= ~lane_bit(lane);
			client->is_cut |= lane_bit(lane);
		}
	}
	execution->n_changes++;
	note(execution, &(struct rr_action){ .kind = RR_ACTION_ASK,
					     .server = (uint8_t)server,
					     .question = question });
	return good ? RR_DID_IT : RR_DID_FAIL;
}

static bool tick_server(struct rr_execution *execution, size_t server,
			int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK,
					      .argument = ns };
	struct rr_heard heard;

	return ask(execution, server, &question, &heard);
}

static bool tick(struct rr_execution *execution, int64_t ns)
{
	const struct rr_execution_config *config = &execution->config;

	if (config->pass)
		return config->pass(config->context, ns) &&
		       rr_servers_look(&execution->servers);
	for (size_t i = 0; i < config->program->n_servers; i++) {
		if (!tick_server(execution, i, ns))
			return false;
	}
	return true;
}

static enum rr_did pass_time(struct rr_execution *execution, int64_t ns)
{
	if (ns <= 0)
		return RR_DID_REFUSE;
	if (!tick(execution, ns))
		return RR_DID_FAIL;
	execution->now_ns += ns;
	execution->n_changes++;
	note(execution,
	     &(struct rr_action){ .kind = RR_ACTION_TIME, .ns = ns });
	return RR_DID_IT;
}

static enum rr_did jump(struct rr_execution *execution, size_t server,
			int64_t ns)
{
	if (server >= execution->config.program->n_servers || ns <= 0)
		return RR_DID_REFUSE;
	if (!tick_server(execution, server, ns))
		return RR_DID_FAIL;
	execution->n_changes++;
	note(execution,
	     &(struct rr_action){ .kind = RR_ACTION_ASK,
				  .server = (uint8_t)server,
				  .question = { .kind = RR_ASK_TICK,
						.argument = ns } });
	return RR_DID_IT;
}

/* ---- Transitions ------------------------------------------------------------ */

static bool is_of_client(struct rr_transition transition)
{
	return transition.kind == RR_DO_EXECUTE || transition.kind == RR_DO_GO ||
	       transition.kind == RR_DO_LOSE || transition.kind == RR_DO_DROP;
}

static enum rr_did step(struct rr_execution *execution,
			struct rr_transition transition)
{
	static const enum rr_answer_kind answers[] = {
		[RR_DO_EXECUTE] = RR_ANSWER_REPLY,
		[RR_DO_LOSE] = RR_ANSWER_LOST,
		[RR_DO_DROP] = RR_ANSWER_SHUT,
	};
	struct client *client;

	if (transition.who >= execution->n_clients)
		return RR_DID_REFUSE;
	client = &execution->clients[transition.who];
	if (has_ended(client) || client->paused_until_ns > execution->now_ns)
		return RR_DID_REFUSE;
	if (transition.kind == RR_DO_GO)
		return transition.lane < RR_RUN_THREADS ?
			       go_on(execution, client, transition.lane) :
			       RR_DID_REFUSE;
	if (transition.lane >= RR_RUN_LANES ||
	    !next_sent(client, transition.lane))
		return RR_DID_REFUSE;
	return execute(execution, client, transition.lane,
		       answers[transition.kind]);
}

enum rr_did rr_execution_do(struct rr_execution *execution,
			    struct rr_transition transition, int64_t ns)
{
	if (execution->error.kind != RR_ERROR_NONE)
		return RR_DID_FAIL;
	if (is_of_client(transition))
		return step(execution, transition);
	switch (transition.kind) {
	case RR_DO_CRASH:
		return strike_process(execution, transition.who, 0);
	case RR_DO_PAUSE:
		return strike_process(execution, transition.who,
				      execution->now_ns + ns);
	case RR_DO_RESTART:
		return restart(execution, transition.who);
	case RR_DO_JUMP:
		return jump(execution, transition.who, ns);
	case RR_DO_WAIT:
		return pass_time(execution, ns);
	default:
		return RR_DID_REFUSE;
	}
}

/* ---- The beginning ---------------------------------------------------------- */

/* Whatever a client does before its first attempt. */
static bool open_client(struct rr_execution *execution, struct client *client)
{
	bool good = settle(execution, client);

	for (int i = 0; i < OPENING_STEPS && good; i++) {
		struct rr_thread_view view;

		if (view_of(client)->stops[0].kind == RR_STOP_ATTEMPT ||
		    has_ended(client))
			return true;
		look_at(execution, client, 0, &view);
		if (view.state != RR_THREAD_READY)
			return true;
		good = step(execution, view.next) == RR_DID_IT;
	}
	return good;
}

bool rr_execution_begin(struct rr_execution *execution)
{
	const bool has_attempts = execution->config.program->has_attempts;
	bool good = begin_anew(execution);

	execution->is_opening = true;
	for (size_t i = 0; i < execution->n_clients && good && has_attempts;
	     i++)
		good = open_client(execution, &execution->clients[i]);
	execution->is_opening = false;
	for (size_t i = 0; i < execution->n_clients && good; i++)
		good = settle(execution, &execution->clients[i]);
	return good;
}

/* ---- Again ------------------------------------------------------------------ */

static bool differ(struct rr_execution *execution,
		   const struct rr_action *action, const char *what)
{
	const struct rr_terms *terms = execution->config.program->terms;
	const bool has_command = action->kind == RR_ACTION_ASK &&
				 action->question.kind == RR_ASK_COMMAND;

	return rr_error_set(&execution->error, RR_ERROR_INTERNAL,
			    "played for real, client %c %s than the tables say%s%s",
			    'A' + action->client, what,
			    has_command ? ": " : "",
			    has_command ? terms->command[action->command]
						  .words.words[0]
						  .text :
					  "");
}

static bool ask_again(struct rr_execution *execution,
		      const struct rr_action *action)
{
	struct rr_heard heard;

	if (!ask(execution, action->server, &action->question, &heard))
		return false;
	if (action->question.kind == RR_ASK_READ)
		return heard.reply == action->reply ||
		       differ(execution, action, "gets another message");
	return action->question.kind != RR_ASK_COMMAND ||
	       (heard.reply == action->reply &&
		heard.blocks == action->blocks) ||
	       differ(execution, action, "hears something else");
}

static bool feed_again(struct rr_execution *execution,
		       const struct rr_action *action)
{
	struct client *client = &execution->clients[action->client];

	if (!client->run)
		return differ(execution, action, "is less alive");
	rr_client_run_feed(client->run, &action->input, action->ns);
	return rr_run_view_signature(view_of(client)) == action->signature ||
	       differ(execution, action, "does something else");
}

static bool act_again(struct rr_execution *execution,
		      const struct rr_action *action)
{
	static const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	struct client *client = &execution->clients[action->client];
	struct rr_heard heard;

	switch (action->kind) {
	case RR_ACTION_ASK:
		return ask_again(execution, action);
	case RR_ACTION_FEED:
		return feed_again(execution, action);
	case RR_ACTION_TIME:
		return tick(execution, action->ns);
	case RR_ACTION_DOWN:
		return ask(execution, action->server, &wipe, &heard);
	case RR_ACTION_CRASH:
		rr_client_run_free(client->run);
		client->run = NULL;
		return true;
	default:
		return true;
	}
}

bool rr_execution_replay(struct rr_execution *execution,
			 const struct rr_actions *actions)
{
	bool good = begin_anew(execution);

	for (size_t i = 0; i < actions->n && good; i++)
		good = act_again(execution, &actions->all[i]);
	end_runs(execution);
	return good;
}

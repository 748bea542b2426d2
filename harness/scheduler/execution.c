/* SPDX-License-Identifier: MIT */
#include "execution.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "execution_parts.h"

enum { OPENING_STEPS = 400 };

/* ---- Making and freeing --------------------------------------------------- */

struct rr_execution *rr_execution_new(const struct rr_execution_config *config)
{
	struct rr_execution *execution = rr_calloc(1, sizeof(*execution));

	execution->config = *config;
	execution->n_clients = config->program->n_clients;
	return execution;
}

void execution_end_runs(struct rr_execution *execution)
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
	execution_end_runs(execution);
	rr_servers_close(&execution->servers);
	free(execution);
}

const struct rr_error *rr_execution_error(const struct rr_execution *execution)
{
	return &execution->error;
}

/* Servers are connected once; clients live from the beginning. */
bool execution_begin_anew(struct rr_execution *execution)
{
	const struct rr_execution_config *config = &execution->config;
	const struct rr_program *program = config->program;
	struct rr_servers *servers = &execution->servers;

	execution_end_runs(execution);
	execution->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	execution->now_ns = 0;
	execution->n_changes = 1;
	memset(execution->owners, 0, sizeof(execution->owners));
	memset(execution->clients, 0, sizeof(execution->clients));
	if (servers->n ? !rr_servers_reset(servers) :
			 !rr_servers_open(servers, config->cluster, program->n_servers,
					  program->terms, config->scripts)) {
		execution->error = servers->error;
		return false;
	}
	for (size_t i = 0; i < execution->n_clients; i++) {
		execution->clients[i].run = rr_client_run_new(program, (int)i);
		if (!execution->clients[i].run)
			return rr_error_no_memory(&execution->error);
	}
	return true;
}

const struct rr_run_tally *rr_execution_tally(const struct rr_execution *execution, size_t client)
{
	const struct executed_client *it = &execution->clients[client];

	return it->run ? &run_view(it)->tally : &it->tally;
}

bool rr_execution_has_crashed(const struct rr_execution *execution, size_t client)
{
	return !execution->clients[client].run;
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

/* ---- Looking ---------------------------------------------------------------- */

/* The first command of a thread that has not been executed; else what it waits
 * for. */
static void look_at_next(struct rr_execution *execution, struct executed_client *client,
			 uint8_t thread, struct rr_thread_view *view)
{
	const struct rr_run_view *run = run_view(client);

	view->command = RR_NO_ID;
	view->holder = -1;
	view->stop = run->stops[thread];
	view->next = (struct rr_transition){ RR_DO_GO, (uint8_t)client_number(execution, client),
					     thread };
	for (uint32_t i = 0; i < run->n_sent; i++) {
		const struct rr_sent *sent = &run->sent[i];

		if (sent->thread != thread || sent != execution_next_sent(client, sent->lane))
			continue;
		view->command = sent->command;
		view->next.kind = RR_DO_EXECUTE;
		view->next.lane = sent->lane;
		view->ready_ns = client->blocked_at[sent->lane] == execution->n_changes ?
					 execution_time_out_at(execution, client, sent->lane,
							       sent->command) :
					 execution->now_ns;
		return;
	}
	view->ready_ns = execution_stop_ready_ns(execution, client, thread);
	if (view->stop.kind == RR_STOP_LOCK)
		view->holder = execution->owners[view->stop.mutex % EXECUTION_MUTEXES] - 1;
}

static void look_at_thread(struct rr_execution *execution, struct executed_client *client,
			   uint8_t thread, struct rr_thread_view *view)
{
	const uint8_t kind = client->run ? run_view(client)->stops[thread].kind : RR_STOP_ABSENT;

	*view = (struct rr_thread_view){
		.client = (int)client_number(execution, client),
		.command = RR_NO_ID,
		.ready_ns = RR_NEVER,
	};
	if (kind == RR_STOP_ABSENT || kind == RR_STOP_ENDED) {
		view->state = kind == RR_STOP_ENDED       ? RR_THREAD_ENDED :
			      !client->run && thread == 0 ? RR_THREAD_CRASHED :
							    RR_THREAD_ABSENT;
		return;
	}
	look_at_next(execution, client, thread, view);
	if (view->ready_ns < client->paused_until_ns)
		view->ready_ns = client->paused_until_ns;
	if (view->ready_ns <= execution->now_ns)
		view->state = RR_THREAD_READY;
	else if (client->paused_until_ns > execution->now_ns)
		view->state = RR_THREAD_PAUSED;
	else
		view->state = RR_THREAD_BLOCKED;
}

const struct rr_execution_view *rr_execution_look(struct rr_execution *execution)
{
	struct rr_execution_view *view = &execution->view;
	const size_t n = execution->n_clients;

	*view = (struct rr_execution_view){ .n_clients = n,
					    .n = n * RR_RUN_THREADS,
					    .now_ns = execution->now_ns,
					    .next_ns = RR_NEVER };
	for (size_t i = 0; i < view->n; i++) {
		struct rr_thread_view *thread = &view->threads[i];

		look_at_thread(execution, &execution->clients[i % n], (uint8_t)(i / n), thread);
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

static bool crash_one(struct rr_execution *execution, struct executed_client *client)
{
	const int n_lanes = rr_program_lanes(execution->config.program);

	if (client_has_ended(client))
		return true;
	client->tally = run_view(client)->tally;
	rr_client_run_free(client->run);
	client->run = NULL;
	execution_note(execution,
		       &(struct rr_action){ .kind = RR_ACTION_CRASH,
					    .client = (uint8_t)client_number(execution, client) });
	for (int lane = 0; lane < n_lanes; lane++) {
		if (!execution_close_lane(execution, client, (uint8_t)lane))
			return false;
	}
	return true;
}

/* Of `who`'s process. `until_ns` 0: it crashes; else it stands still. */
static enum rr_did strike_process(struct rr_execution *execution, size_t who, int64_t until_ns)
{
	const bool separate = execution->config.program->separate;

	if (who >= execution->n_clients || client_has_ended(&execution->clients[who]))
		return RR_DID_REFUSE;
	for (size_t i = separate ? who : 0; i < (separate ? who + 1 : execution->n_clients); i++) {
		struct executed_client *client = &execution->clients[i];

		if (until_ns)
			client->paused_until_ns = until_ns;
		else if (!crash_one(execution, client))
			return RR_DID_FAIL;
	}
	execution->n_changes++;
	return RR_DID_IT;
}

/* Every open connection to the server is gone, and the clients do not know. */
static enum rr_did restart_server(struct rr_execution *execution, size_t server)
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
		good = execution_ask(execution, server, &question, &heard);
	for (size_t i = 0; i < execution->n_clients; i++) {
		struct executed_client *client = &execution->clients[i];

		for (uint8_t lane = 0; lane < RR_RUN_LANES; lane++) {
			if (!(client->is_open & lane_bit(lane)) ||
			    lane_server(execution, lane) != server)
				continue;
			client->is_open &= ~lane_bit(lane);
			client->is_cut |= lane_bit(lane);
		}
	}
	execution->n_changes++;
	execution_note(execution, &(struct rr_action){ .kind = RR_ACTION_ASK,
						       .server = (uint8_t)server,
						       .question = question });
	return good ? RR_DID_IT : RR_DID_FAIL;
}

static bool tick_server_alone(struct rr_execution *execution, size_t server, int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK, .argument = ns };
	struct rr_heard heard;

	return execution_ask(execution, server, &question, &heard);
}

bool execution_tick(struct rr_execution *execution, int64_t ns)
{
	const struct rr_execution_config *config = &execution->config;

	if (config->pass)
		return config->pass(config->context, ns) && rr_servers_look(&execution->servers);
	for (size_t i = 0; i < config->program->n_servers; i++) {
		if (!tick_server_alone(execution, i, ns))
			return false;
	}
	return true;
}

static enum rr_did pass_time_everywhere(struct rr_execution *execution, int64_t ns)
{
	if (ns <= 0)
		return RR_DID_REFUSE;
	if (!execution_tick(execution, ns))
		return RR_DID_FAIL;
	execution->now_ns += ns;
	execution->n_changes++;
	execution_note(execution, &(struct rr_action){ .kind = RR_ACTION_TIME, .ns = ns });
	return RR_DID_IT;
}

static enum rr_did jump_clock(struct rr_execution *execution, size_t server, int64_t ns)
{
	if (server >= execution->config.program->n_servers || ns <= 0)
		return RR_DID_REFUSE;
	if (!tick_server_alone(execution, server, ns))
		return RR_DID_FAIL;
	execution->n_changes++;
	execution_note(execution,
		       &(struct rr_action){ .kind = RR_ACTION_ASK,
					    .server = (uint8_t)server,
					    .question = { .kind = RR_ASK_TICK, .argument = ns } });
	return RR_DID_IT;
}

/* ---- Transitions ------------------------------------------------------------ */

static enum rr_did step_client(struct rr_execution *execution, struct rr_transition transition)
{
	static const enum rr_answer_kind answers[] = {
		[RR_DO_EXECUTE] = RR_ANSWER_REPLY,
		[RR_DO_LOSE] = RR_ANSWER_LOST,
		[RR_DO_DROP] = RR_ANSWER_SHUT,
	};
	struct executed_client *client;

	if (transition.who >= execution->n_clients || transition.kind == RR_DO_BEGIN)
		return RR_DID_REFUSE;
	client = &execution->clients[transition.who];
	if (client_has_ended(client) || client->paused_until_ns > execution->now_ns)
		return RR_DID_REFUSE;
	if (transition.kind == RR_DO_GO)
		return transition.lane < RR_RUN_THREADS ?
			       execution_go_on(execution, client, transition.lane) :
			       RR_DID_REFUSE;
	if (transition.lane >= RR_RUN_LANES || !execution_next_sent(client, transition.lane))
		return RR_DID_REFUSE;
	return execution_execute(execution, client, transition.lane, answers[transition.kind]);
}

enum rr_did rr_execution_do(struct rr_execution *execution, struct rr_transition transition,
			    int64_t ns)
{
	if (execution->error.kind != RR_ERROR_NONE)
		return RR_DID_FAIL;
	if (rr_transition_is_step(transition))
		return step_client(execution, transition);
	switch (transition.kind) {
	case RR_DO_CRASH:
		return strike_process(execution, transition.who, 0);
	case RR_DO_PAUSE:
		return strike_process(execution, transition.who, execution->now_ns + ns);
	case RR_DO_RESTART:
		return restart_server(execution, transition.who);
	case RR_DO_JUMP:
		return jump_clock(execution, transition.who, ns);
	case RR_DO_WAIT:
		return pass_time_everywhere(execution, ns);
	default:
		return RR_DID_REFUSE;
	}
}

/* ---- The beginning ---------------------------------------------------------- */

/* Whatever a client does before its first attempt. */
static bool open_client(struct rr_execution *execution, struct executed_client *client)
{
	bool good = execution_settle(execution, client);

	for (int i = 0; i < OPENING_STEPS && good; i++) {
		struct rr_thread_view view;

		if (run_view(client)->stops[0].kind == RR_STOP_ATTEMPT || client_has_ended(client))
			return true;
		look_at_thread(execution, client, 0, &view);
		if (view.state != RR_THREAD_READY)
			return true;
		good = step_client(execution, view.next) == RR_DID_IT;
	}
	return good;
}

bool rr_execution_begin(struct rr_execution *execution)
{
	const bool has_attempts = execution->config.program->has_attempts;
	bool good = execution_begin_anew(execution);

	execution->is_opening = true;
	for (size_t i = 0; i < execution->n_clients && good && has_attempts; i++)
		good = open_client(execution, &execution->clients[i]);
	execution->is_opening = false;
	for (size_t i = 0; i < execution->n_clients && good; i++)
		good = execution_settle(execution, &execution->clients[i]);
	return good;
}

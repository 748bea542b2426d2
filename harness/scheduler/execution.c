/* SPDX-License-Identifier: MIT */
#include "execution.h"

#include <stdlib.h>

#include "base/memory.h"
#include "servers.h"

struct rr_execution {
	struct rr_execution_config config;
	struct rr_servers servers;
	struct rr_client_run *clients[RR_EXECUTION_CLIENTS]; /* NULL: it has crashed */
	struct rr_error error;
};

struct rr_execution *rr_execution_new(const struct rr_execution_config *config)
{
	struct rr_execution *execution = rr_calloc(1, sizeof(*execution));

	execution->config = *config;
	return execution;
}

static void end_runs(struct rr_execution *execution)
{
	for (size_t i = 0; i < RR_EXECUTION_CLIENTS; i++) {
		if (execution->clients[i])
			rr_client_run_free(execution->clients[i]);
		execution->clients[i] = NULL;
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

/* Servers are connected once; clients live from the beginning. */
static bool begin_anew(struct rr_execution *execution)
{
	const struct rr_execution_config *config = &execution->config;
	const struct rr_program *program = config->program;
	struct rr_servers *servers = &execution->servers;

	end_runs(execution);
	execution->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	if (servers->n ? !rr_servers_reset(servers) :
			 !rr_servers_open(servers, config->cluster, program->n_servers,
					  program->terms, config->scripts)) {
		execution->error = servers->error;
		return false;
	}
	for (size_t i = 0; i < program->n_clients; i++) {
		execution->clients[i] = rr_client_run_new(program, (int)i);
		if (!execution->clients[i])
			return rr_error_no_memory(&execution->error);
	}
	return true;
}

static bool ask(struct rr_execution *execution, size_t server, const struct rr_question *question,
		struct rr_heard *heard)
{
	struct rr_servers *servers = &execution->servers;

	if (rr_servers_ask(servers, server, question, heard))
		return true;
	execution->error = servers->error;
	return false;
}

static bool tick(struct rr_execution *execution, int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK, .argument = ns };
	struct rr_heard heard;

	for (size_t i = 0; i < execution->config.program->n_servers; i++) {
		if (!ask(execution, i, &question, &heard))
			return false;
	}
	return true;
}

static bool fail_differently(struct rr_execution *execution, const struct rr_action *action,
			     const char *what)
{
	const struct rr_terms *terms = execution->config.program->terms;
	const bool has_command = action->kind == RR_ACTION_ASK &&
				 action->question.kind == RR_ASK_COMMAND;

	return rr_error_set(&execution->error, RR_ERROR_INTERNAL,
			    "played for real, client %c %s than the tables say%s%s",
			    'A' + action->client, what, has_command ? ": " : "",
			    has_command ? terms->command[action->command].words.words[0].text : "");
}

static bool ask_again(struct rr_execution *execution, const struct rr_action *action)
{
	struct rr_heard heard;

	if (!ask(execution, action->server, &action->question, &heard))
		return false;
	if (action->question.kind == RR_ASK_READ)
		return heard.reply == action->reply ||
		       fail_differently(execution, action, "gets another message");
	return action->question.kind != RR_ASK_COMMAND ||
	       (heard.reply == action->reply && heard.blocks == action->blocks) ||
	       fail_differently(execution, action, "hears something else");
}

static bool feed_again(struct rr_execution *execution, const struct rr_action *action)
{
	struct rr_client_run *run = execution->clients[action->client];

	if (!run)
		return fail_differently(execution, action, "is less alive");
	rr_client_run_feed(run, &action->input, action->ns);
	return rr_run_view_signature(rr_client_run_view(run)) == action->signature ||
	       fail_differently(execution, action, "does something else");
}

static bool act_again(struct rr_execution *execution, const struct rr_action *action)
{
	static const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	struct rr_client_run **run = &execution->clients[action->client];
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
		rr_client_run_free(*run);
		*run = NULL;
		return true;
	default:
		return true;
	}
}

bool rr_execution_replay(struct rr_execution *execution, const struct rr_actions *actions)
{
	bool good = begin_anew(execution);

	for (size_t i = 0; i < actions->n && good; i++)
		good = act_again(execution, &actions->all[i]);
	end_runs(execution);
	return good;
}

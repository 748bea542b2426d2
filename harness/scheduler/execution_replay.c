/* SPDX-License-Identifier: MIT */
/* The actions of a search once more, for real. */
#include "execution_parts.h"

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

	if (!execution_ask(execution, action->server, &action->question, &heard))
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
	struct executed_client *client = &execution->clients[action->client];

	if (!client->run)
		return fail_differently(execution, action, "is less alive");
	rr_client_run_feed(client->run, &action->input, action->ns);
	return rr_run_view_signature(run_view(client)) == action->signature ||
	       fail_differently(execution, action, "does something else");
}

static bool act_again(struct rr_execution *execution, const struct rr_action *action)
{
	static const struct rr_question wipe = { .kind = RR_ASK_WIPE };
	struct executed_client *client = &execution->clients[action->client];
	struct rr_heard heard;

	switch (action->kind) {
	case RR_ACTION_ASK:
		return ask_again(execution, action);
	case RR_ACTION_FEED:
		return feed_again(execution, action);
	case RR_ACTION_TIME:
		return execution_tick(execution, action->ns);
	case RR_ACTION_DOWN:
		return execution_ask(execution, action->server, &wipe, &heard);
	case RR_ACTION_CRASH:
		rr_client_run_free(client->run);
		client->run = NULL;
		return true;
	default:
		return true;
	}
}

bool rr_execution_replay(struct rr_execution *execution, const struct rr_actions *actions)
{
	bool good = execution_begin_anew(execution);

	for (size_t i = 0; i < actions->n && good; i++)
		good = act_again(execution, &actions->all[i]);
	execution_end_runs(execution);
	return good;
}

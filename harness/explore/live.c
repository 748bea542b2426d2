/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages that came on a connection, and the clients have not read. */
struct inbox {
	size_t n;
	uint32_t messages[RR_CONNECTION_MESSAGES];
};

struct rr_live {
	const struct rr_product *product;
	size_t n_servers;
	struct rr_asker *askers[RR_PRODUCT_SERVERS];
	struct rr_client_run *runs[RR_PRODUCT_CLIENTS];
	struct inbox inboxes[RR_PRODUCT_SERVERS][RR_ASKER_SLOTS];
	char *error;
};

/* ---- Making and freeing --------------------------------------------------- */

struct rr_live *rr_live_new(struct rr_cluster *cluster,
			    const struct rr_product *product,
			    const struct rr_scripts *scripts,
			    char error[RR_CLUSTER_ERROR])
{
	struct rr_live *live = calloc(1, sizeof(*live));

	if (!live) {
		snprintf(error, RR_CLUSTER_ERROR, "out of memory");
		return NULL;
	}
	live->product = product;
	for (; live->n_servers < product->n_servers; live->n_servers++) {
		live->askers[live->n_servers] = rr_asker_new(
			cluster, (int)live->n_servers, scripts, error);
		if (!live->askers[live->n_servers]) {
			rr_live_free(live);
			return NULL;
		}
	}
	return live;
}

static void end_runs(struct rr_live *live)
{
	for (size_t i = 0; i < RR_PRODUCT_CLIENTS; i++) {
		if (live->runs[i])
			rr_client_run_free(live->runs[i]);
		live->runs[i] = NULL;
	}
}

void rr_live_free(struct rr_live *live)
{
	if (!live)
		return;
	end_runs(live);
	for (size_t i = 0; i < live->n_servers; i++) {
		rr_asker_reset(live->askers[i]);
		rr_asker_free(live->askers[i]);
	}
	free(live);
}

/* ---- From ways to actions ------------------------------------------------- */

struct wanted {
	struct rr_transition move;
	const uint32_t *next;
	size_t size;
	bool found;
};

/* The log keeps what belongs to the move that is wanted: nothing comes after. */
static bool find_move(void *context, struct rr_transition move,
		      const uint32_t *next, unsigned broken)
{
	struct wanted *wanted = context;

	(void)broken;
	wanted->found = memcmp(&move, &wanted->move, sizeof(move)) == 0 &&
			memcmp(next, wanted->next, wanted->size) == 0;
	return !wanted->found;
}

bool rr_live_actions(struct rr_product *product, const struct rr_graph *graph,
		     const struct rr_way *way, struct rr_actions *actions)
{
	const size_t size = product->n_words * sizeof(uint32_t);
	rr_state_key begin;
	uint32_t state = 0;
	bool good;

	*actions = (struct rr_actions){ 0 };
	product->log = actions;
	good = rr_product_begin(product, begin);
	product->log = NULL;
	for (size_t i = 0; i < way->n && good; i++) {
		const struct rr_edge *edge = &graph->edges[way->edges[i]];
		struct wanted wanted = {
			.move = edge->move,
			.next = rr_intern_get(&graph->states, edge->to),
			.size = size,
		};
		rr_state_key key;
		unsigned flags;

		memcpy(key, rr_intern_get(&graph->states, state), size);
		product->log = actions;
		rr_product_expand(product, key, find_move, &wanted, &flags);
		product->log = NULL;
		good = wanted.found && !product->error[0];
		state = edge->to;
	}
	return good;
}

/* ---- Playing -------------------------------------------------------------- */

static enum rr_exit fail(struct rr_live *live, enum rr_exit code,
			 const char *why)
{
	snprintf(live->error, RR_CLUSTER_ERROR, "%s", why);
	return code;
}

static enum rr_exit differ(struct rr_live *live, const struct rr_action *action,
			   const char *what)
{
	const struct rr_terms *terms = live->product->config.program->terms;
	const bool has_command = action->kind == RR_ACTION_ASK &&
				 action->question.kind == RR_ASK_COMMAND;

	snprintf(live->error, RR_CLUSTER_ERROR,
		 "played for real, client %c %s than the tables say%s%s",
		 'A' + action->client, what, has_command ? ": " : "",
		 has_command ?
			 terms->command[action->command].words.words[0].text :
			 "");
	return RR_EXIT_INTERNAL;
}

static bool keep_messages(struct rr_live *live, size_t server)
{
	struct rr_terms *terms = live->product->config.program->terms;
	struct rl_reply message;

	for (uint16_t slot = 0; slot < RR_ASKER_SLOTS; slot++) {
		struct inbox *inbox = &live->inboxes[server][slot];

		while (rr_asker_message(live->askers[server], slot, &message)) {
			if (inbox->n == RR_CONNECTION_MESSAGES)
				return false;
			inbox->messages[inbox->n++] =
				rr_terms_reply(terms, &message);
		}
	}
	return true;
}

static uint32_t take_message(struct inbox *inbox)
{
	const uint32_t message = inbox->messages[0];

	memmove(inbox->messages, inbox->messages + 1,
		--inbox->n * sizeof(message));
	return message;
}

/* The server has sent the messages of what was asked before when it answers. */
static bool collect(struct rr_live *live, size_t server)
{
	struct rl_reply reply;

	return rr_asker_say(live->askers[server], &reply, "PING") &&
	       keep_messages(live, server);
}

static enum rr_exit ask(struct rr_live *live, const struct rr_action *action)
{
	struct rr_asker *asker = live->askers[action->server];
	struct rr_terms *terms = live->product->config.program->terms;
	const bool is_command = action->question.kind == RR_ASK_COMMAND;
	struct inbox *inbox =
		&live->inboxes[action->server][action->question.slot];
	struct rl_reply reply;
	uint32_t heard;
	bool blocks;

	if (action->question.kind == RR_ASK_READ) {
		if (inbox->n == 0 || take_message(inbox) != action->reply)
			return differ(live, action, "gets another message");
		return RR_EXIT_OK;
	}
	if (!rr_asker_ask(asker, &action->question,
			  is_command ? &terms->command[action->command].words :
				       NULL,
			  &reply, &blocks))
		return fail(live, RR_EXIT_REDIS, rr_asker_error(asker));
	heard = is_command ? rr_terms_reply(terms, &reply) : 0;
	if (is_command && inbox->n) {
		inbox->messages[inbox->n++] = heard;
		heard = take_message(inbox);
	}
	if (is_command && (heard != action->reply || blocks != action->blocks))
		return differ(live, action, "hears something else");
	if (action->question.kind == RR_ASK_CLOSE)
		inbox->n = 0;
	return collect(live, action->server) ?
		       RR_EXIT_OK :
		       fail(live, RR_EXIT_REDIS, rr_asker_error(asker));
}

static uint64_t signature_of(const struct rr_client_run *run)
{
	return rr_client_view_signature(rr_client_run_view(run));
}

static enum rr_exit feed(struct rr_live *live, const struct rr_action *action)
{
	struct rr_client_run *run = live->runs[action->client];

	if (!run)
		return differ(live, action, "is less alive");
	rr_client_run_feed(run, &action->input, action->ns);
	if (signature_of(run) != action->signature)
		return differ(live, action, "does something else");
	return RR_EXIT_OK;
}

static enum rr_exit pass_time(struct rr_live *live, int64_t ns)
{
	const struct rr_question question = { .kind = RR_ASK_TICK,
					      .argument = ns };
	struct rl_reply reply;
	bool blocks;

	for (size_t i = 0; i < live->n_servers; i++) {
		if (!rr_asker_ask(live->askers[i], &question, NULL, &reply,
				  &blocks))
			return fail(live, RR_EXIT_REDIS,
				    rr_asker_error(live->askers[i]));
	}
	return RR_EXIT_OK;
}

static enum rr_exit wipe(struct rr_live *live, size_t server)
{
	const struct rr_question question = { .kind = RR_ASK_WIPE };
	struct rl_reply reply;
	bool blocks;

	return rr_asker_ask(live->askers[server], &question, NULL, &reply,
			    &blocks) ?
		       RR_EXIT_OK :
		       fail(live, RR_EXIT_REDIS,
			    rr_asker_error(live->askers[server]));
}

static enum rr_exit act(struct rr_live *live, const struct rr_action *action)
{
	switch (action->kind) {
	case RR_ACTION_ASK:
		return ask(live, action);
	case RR_ACTION_FEED:
		return feed(live, action);
	case RR_ACTION_TIME:
		return pass_time(live, action->ns);
	case RR_ACTION_DOWN:
		return wipe(live, action->server);
	case RR_ACTION_CRASH:
		rr_client_run_free(live->runs[action->client]);
		live->runs[action->client] = NULL;
		return RR_EXIT_OK;
	default:
		return RR_EXIT_OK;
	}
}

static bool begin(struct rr_live *live)
{
	const struct rr_product *product = live->product;

	end_runs(live);
	memset(live->inboxes, 0, sizeof(live->inboxes));
	for (size_t i = 0; i < live->n_servers; i++) {
		if (!rr_asker_reset(live->askers[i]))
			return false;
	}
	for (size_t i = 0; i < product->n_clients; i++) {
		live->runs[i] = rr_client_run_new(product->config.program,
						  (int)i);
		if (!live->runs[i])
			return false;
	}
	return true;
}

enum rr_exit rr_live_play(struct rr_live *live,
			  const struct rr_actions *actions,
			  char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;

	live->error = error;
	error[0] = '\0';
	if (!begin(live))
		return fail(live, RR_EXIT_REDIS, "a server is gone");
	for (size_t i = 0; i < actions->n && code == RR_EXIT_OK; i++)
		code = act(live, &actions->all[i]);
	end_runs(live);
	return code;
}

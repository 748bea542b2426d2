/* SPDX-License-Identifier: MIT */
/* A client's commands: each is a step, unless nobody could notice it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "inside.h"
#include "link.h"

/* A machine may stand still for a while. */
enum { PATIENCE_MS = 10000 };

static int server_of(const struct rr_gate *gate, const struct rl_link *link)
{
	const struct rl_address *address = rl_link_address(link);

	for (size_t i = 0; i < gate->config.n_addresses; i++) {
		const struct rl_address *known = &gate->addresses[i];

		if (known->port == address->port &&
		    strcmp(known->host, address->host) == 0)
			return (int)i;
	}
	return -1;
}

struct rr_known_link *rr_gate_link_of(const struct rr_actor *actor,
				      const struct rl_link *link)
{
	for (size_t i = 0; i < actor->n_links; i++) {
		if (actor->links[i].link == link)
			return &actor->links[i];
	}
	return NULL;
}

bool rr_gate_know_link(struct rr_actor *actor, struct rl_link *link,
		       int *server)
{
	struct rr_known_link *known = rr_gate_link_of(actor, link);

	if (!known) {
		known = realloc(actor->links,
				(actor->n_links + 1) * sizeof(*known));
		if (!known)
			return false;
		actor->links = known;
		known += actor->n_links++;
		*known = (struct rr_known_link){
			.link = link, .server = server_of(actor->gate, link)
		};
		known->is_cut = known->server >= 0 &&
				actor->gate->has_restarted[known->server];
	}
	*server = known->server;
	return true;
}

void rr_gate_cut_links(struct rr_gate *gate, int server)
{
	gate->has_restarted[server] = true;
	for (size_t i = 0; i < RR_GATE_ACTORS; i++) {
		const struct rr_actor *actor = &gate->actors[i];

		for (size_t j = 0; j < actor->n_links; j++) {
			if (actor->links[j].server == server)
				actor->links[j].is_cut = true;
		}
	}
}

static bool is(const struct rl_word *word, const char *text)
{
	return word->length == strlen(text) &&
	       memcmp(word->text, text, word->length) == 0;
}

/* Nobody else could notice it, and whether it is sent depends on what the link
 * has been used for before. */
static bool is_quiet(const struct rl_command *command)
{
	return is(&command->words[0], "COMMAND") ||
	       (command->n_words > 1 && is(&command->words[0], "SCRIPT") &&
		is(&command->words[1], "LOAD"));
}

static enum rl_outcome plant(const struct rr_gate *gate, struct rl_link *link,
			     struct rl_command *command)
{
	const struct rl_driver *planted = gate->planted;

	if (!planted || !planted->ops->send)
		return RL_OK;
	return planted->ops->send(planted->context, link, command);
}

static bool is_refused(const struct rr_actor *actor)
{
	return actor->op.server >= 0 &&
	       actor->gate->is_down[actor->op.server];
}

/* Nobody listens there. */
static enum rl_outcome refuse(struct rr_actor *actor, struct rl_link *link)
{
	rl_link_disconnect(link);
	actor->has_lost = true;
	rr_gate_event_of(actor)->outcome = RL_ERROR;
	return RL_ERROR;
}

enum rl_outcome rr_gate_on_send(void *context, struct rl_link *link,
			       struct rl_command *command)
{
	struct rr_actor *actor = context;
	struct rr_gate *gate = actor->gate;
	enum rl_outcome outcome;

	if (actor->dead)
		return RL_ERROR;
	outcome = plant(gate, link, command);
	if (outcome != RL_OK)
		return outcome;
	actor->op = (struct rr_op){ .kind = RR_OP_SEND,
				    .link = link,
				    .n_words = command->n_words };
	actor->quiet = is_quiet(command);
	if (rr_gate_know_link(actor, link, &actor->op.server) && !actor->quiet)
		actor->op.words = rr_store_words(&gate->trace.store, command);
	if (actor->quiet && command->n_words > 2)
		rr_gate_load_script(gate, &command->words[2]);
	if (actor->quiet)
		return is_refused(actor) ? RL_ERROR : RL_OK;
	if (!actor->op.words)
		rr_gate_finish(gate, RR_GATE_NO_MEMORY);
	else
		rr_gate_see_pop(actor);
	if (!rr_gate_stop(actor))
		return RL_ERROR;
	if (is_refused(actor))
		return refuse(actor, link);
	rr_gate_send_pop(actor, command);
	rr_gate_read_messages(actor, link);
	return RL_OK;
}

static bool listens(const struct rr_actor *actor)
{
	for (size_t i = 0; i < actor->n_links; i++) {
		if (actor->links[i].listens)
			return true;
	}
	return actor->op.kind == RR_OP_WAIT && actor->on_socket;
}

/* Could messages come for somebody else? */
static bool is_listened_to(const struct rr_gate *gate,
			   const struct rr_actor *actor)
{
	for (size_t i = 0; i < gate->view.n_actors; i++) {
		const struct rr_actor *other = &gate->actors[i];

		if (other != actor && other->life == RR_LIFE_STOPPED &&
		    listens(other))
			return true;
	}
	return false;
}

struct rl_link *rr_gate_probe(struct rr_gate *gate, int server)
{
	if (!gate->probes[server])
		gate->probes[server] =
			rl_link_new(&gate->addresses[server], PATIENCE_MS);
	return gate->probes[server];
}

void rr_gate_meet(struct rr_gate *gate, int server)
{
	struct rl_link *probe = server < 0 ? NULL :
					     rr_gate_probe(gate, server);
	struct rl_reply reply;

	if (probe)
		rl_run(probe, &reply, "PING");
}

void rr_gate_read_messages(const struct rr_actor *actor, struct rl_link *link)
{
	struct rr_known_link *known = rr_gate_link_of(actor, link);

	known->is_behind = known->listens && rl_link_take_unread(link);
	known->listens = known->listens ||
			 strcasecmp(actor->op.words[0].text, "SUBSCRIBE") == 0;
}

/* The second round trip begins when the command before the first is done. */
void rr_gate_await_answer(const struct rr_actor *actor,
			  const struct rl_link *link)
{
	const struct rr_known_link *known = rr_gate_link_of(actor, link);

	for (int i = 0; i < 2 && known->is_behind; i++)
		rr_gate_meet(actor->gate, known->server);
}

/* A connection that is lost has lost its transaction. */
static void note_transaction(struct rr_known_link *known,
			     const struct rr_gate_event *event)
{
	const char *name = event->op.words[0].text;
	const bool is_alive = event->outcome == RL_OK ||
			      event->reply.type == RL_REPLY_FAILED;

	if (!is_alive || strcasecmp(name, "EXEC") == 0 ||
	    strcasecmp(name, "DISCARD") == 0 || strcasecmp(name, "RESET") == 0)
		known->in_multi = false;
	else if (strcasecmp(name, "MULTI") == 0)
		known->in_multi = true;
}

/* A reply that has not come, and no restart that closed the connection says why:
 * what real time did must not look like a choice. */
static void check_answer(struct rr_actor *actor, const struct rl_link *link,
			 const struct rl_reply *reply, enum rl_outcome outcome)
{
	struct rr_known_link *known = rr_gate_link_of(actor, link);
	const bool is_answered = outcome == RL_OK ||
				 reply->type == RL_REPLY_FAILED;

	if (actor->gate->config.servers_stay && !is_answered && !known->is_cut)
		rr_gate_finish(actor->gate, RR_GATE_SILENT);
	known->is_cut = false;
	actor->has_lost = actor->has_lost || !is_answered || actor->lose;
}

enum rl_outcome rr_gate_on_done(void *context, struct rl_link *link,
			       const struct rl_reply *reply,
			       enum rl_outcome outcome)
{
	struct rr_actor *actor = context;
	struct rr_gate *gate = actor->gate;
	struct rr_known_link *known = rr_gate_link_of(actor, link);
	struct rr_gate_event *event;

	check_answer(actor, link, reply, outcome);
	if (actor->quiet) {
		rr_gate_name_script(gate, reply);
		return outcome;
	}
	event = rr_gate_event_of(actor);
	if (outcome == RL_OK || reply->type == RL_REPLY_FAILED)
		event->reply = rr_store_reply(&gate->trace.store, reply);
	event->lost = actor->lose;
	event->unheard = known->is_deaf;
	known->is_deaf = known->is_deaf || actor->lose;
	event->outcome = actor->lose ? RL_UNKNOWN : outcome;
	outcome = event->outcome;
	note_transaction(known, event);
	rr_gate_await_answer(actor, link);
	if (is_listened_to(gate, actor))
		rr_gate_meet(gate, actor->op.server);
	return outcome;
}

/* Now it knows, and its connection is gone. */
enum rl_outcome rr_gate_on_receive(void *context, struct rl_link *link,
				   struct rl_reply *reply,
				   enum rl_outcome outcome)
{
	struct rr_known_link *known = rr_gate_link_of(context, link);

	(void)reply;
	if (known && outcome == RL_UNKNOWN)
		known->is_deaf = false;
	return outcome;
}

/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <string.h>

/* ---- Opening and closing --------------------------------------------------- */

bool rr_servers_open(struct rr_servers *servers, struct rr_cluster *cluster, size_t n,
		     struct rr_terms *terms, const struct rr_scripts *scripts)
{
	*servers = (struct rr_servers){ .terms = terms };
	for (; servers->n < n; servers->n++) {
		servers->askers[servers->n] = rr_asker_new(cluster, (int)servers->n, scripts,
							   &servers->error);
		if (!servers->askers[servers->n])
			return false;
	}
	return true;
}

void rr_servers_close(struct rr_servers *servers)
{
	for (size_t i = 0; i < servers->n; i++) {
		rr_asker_reset(servers->askers[i]);
		rr_asker_free(servers->askers[i]);
	}
	servers->n = 0;
}

static bool fail(struct rr_servers *servers, size_t server)
{
	return rr_error_set(&servers->error, RR_ERROR_REDIS, "%s",
			    rr_asker_error(servers->askers[server]));
}

bool rr_servers_reset(struct rr_servers *servers)
{
	memset(servers->inboxes, 0, sizeof(servers->inboxes));
	servers->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	for (size_t i = 0; i < servers->n; i++) {
		if (!rr_asker_reset(servers->askers[i]))
			return fail(servers, i);
	}
	return true;
}

/* ---- Messages -------------------------------------------------------------- */

static bool keep_messages(struct rr_servers *servers, size_t server)
{
	struct rdl_reply message;

	for (uint16_t slot = 0; slot < RR_ASKER_SLOTS; slot++) {
		struct rr_inbox *inbox = &servers->inboxes[server][slot];

		while (rr_asker_message(servers->askers[server], slot, &message)) {
			if (inbox->n == RR_SERVERS_MESSAGES)
				return rr_error_set(
					&servers->error, RR_ERROR_INTERNAL,
					"more than %d messages that a client has not read",
					RR_SERVERS_MESSAGES);
			inbox->messages[inbox->n++] = rr_terms_reply(servers->terms, &message);
		}
	}
	return true;
}

static uint32_t take_message(struct rr_inbox *inbox)
{
	const uint32_t message = inbox->n ? inbox->messages[0] : RR_NO_ID;

	if (inbox->n)
		memmove(inbox->messages, inbox->messages + 1, --inbox->n * sizeof(message));
	return message;
}

/* ---- Asking ---------------------------------------------------------------- */

bool rr_servers_ask(struct rr_servers *servers, size_t server, const struct rr_question *question,
		    struct rr_heard *heard)
{
	const bool is_command = question->kind == RR_ASK_COMMAND;
	const bool is_hold = question->kind == RR_ASK_HOLD;
	struct rr_inbox *inbox = &servers->inboxes[server][is_hold ? 0 : question->slot];
	const struct rdl_command *command =
		is_command || is_hold ? &servers->terms->command[question->argument].words : NULL;
	struct rdl_reply reply;

	*heard = (struct rr_heard){ .reply = RR_NO_ID };
	if (question->kind == RR_ASK_READ) {
		heard->reply = take_message(inbox);
		return true;
	}
	if (is_command && inbox->n == RR_SERVERS_MESSAGES)
		return rr_error_set(&servers->error, RR_ERROR_INTERNAL, "too many unread messages");
	if (!rr_asker_ask(servers->askers[server], question, command, &reply, &heard->blocks))
		return fail(servers, server);
	/* The reply of a command comes after the messages that came before it. */
	if (is_command && !heard->blocks) {
		heard->reply = rr_terms_reply(servers->terms, &reply);
		if (inbox->n) {
			inbox->messages[inbox->n++] = heard->reply;
			heard->reply = take_message(inbox);
		}
	}
	if (question->kind == RR_ASK_CLOSE)
		inbox->n = 0;
	if (question->kind == RR_ASK_WIPE)
		memset(servers->inboxes[server], 0, sizeof(servers->inboxes[server]));
	/* The server has sent the messages of what was asked before when it answers. */
	return rr_asker_say(servers->askers[server], &reply, "PING") ?
		       keep_messages(servers, server) :
		       fail(servers, server);
}

bool rr_servers_served(struct rr_servers *servers, size_t server, uint16_t slot, uint32_t *reply)
{
	struct rdl_reply text;

	if (!rr_asker_served(servers->askers[server], slot, &text))
		return false;
	*reply = rr_terms_reply(servers->terms, &text);
	return true;
}

/* SPDX-License-Identifier: MIT */
/* The connections of clients to a server that is asked, and what is said on them. */
#include "asker_state.h"

#include <string.h>

#include "base/reply.h"
#include "link.h"

/* Opens the connection, if it is not: what asks for its number goes before all else. */
static bool open_slot(struct rr_asker *asker, struct slot *slot)
{
	static const struct rl_command ask = { .n_words = 2,
					       .words = { { "CLIENT", 6 }, { "ID", 2 } } };

	if (slot->id || asker->opening == slot)
		return true;
	if (!slot->link)
		slot->link = rl_link_new(rr_cluster_address(asker->cluster, asker->server),
					 ASKER_TIMEOUT_MS);
	slot->is_changed = slot->listens = slot->blocks = false;
	if (!slot->link || !asker_queue(asker, slot->link, &ask))
		return false;
	asker->opening = slot;
	return true;
}

bool asker_queue_on_slot(struct rr_asker *asker, struct slot *slot,
			 const struct rl_command *command)
{
	if (!open_slot(asker, slot))
		return false;
	slot->is_changed = true;
	return asker_queue(asker, slot->link, command);
}

bool asker_close_slot(struct rr_asker *asker, struct slot *slot)
{
	const bool is_queued = slot->link && asker->queued_on == slot->link;
	long long id;

	if (is_queued && !rr_asker_flush(asker))
		return false;
	id = slot->id;
	if (!id)
		return true;
	rl_link_disconnect(slot->link);
	slot->id = 0;
	return asker_queue_words(asker, "CLIENT KILL ID %lld", id);
}

/* Those fields of CLIENT LIST that say what a connection carries. */
static bool says_something(const char *field)
{
	static const char *const names[] = {
		"name=",  "flags=", "db=",   "sub=",   "psub=", "ssub=",
		"multi=", "watch=", "user=", "redir=", "resp=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(field, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

bool rr_asker_connection(struct rr_asker *asker, uint16_t slot, char *text, size_t size)
{
	struct rl_reply reply;
	size_t used = 0;

	text[0] = '\0';
	if (!rr_asker_say(asker, &reply, "CLIENT LIST ID %lld", asker->slots[slot].id) ||
	    !reply.text)
		return false;
	for (const char *field = reply.text; *field;) {
		const size_t length = strcspn(field, " \n");

		if (says_something(field) && used + length + 2 < size) {
			memcpy(text + used, field, length);
			used += length;
			text[used++] = ' ';
			text[used] = '\0';
		}
		field += length + (field[length] != '\0');
	}
	return true;
}

bool rr_asker_message(struct rr_asker *asker, uint16_t slot, struct rl_reply *message)
{
	const struct slot *it = &asker->slots[slot];

	return it->id && it->listens && rl_link_listen(it->link, message, 0) == RL_OK;
}

/* ---- Commands -------------------------------------------------------------- */

/* A command that may wait: if nothing has come after two round trips, it does. */
static bool await(struct rr_asker *asker, struct slot *slot, const struct rl_command *command,
		  struct rl_reply *reply)
{
	const int64_t time_out_ns = rr_command_time_out_ns(command);
	struct rl_reply ours;

	for (int i = 0; i < 2; i++) {
		if (!rr_asker_say(asker, &ours, "PING"))
			return false;
	}
	if (rl_link_has_unread(slot->link))
		return asker_receive(asker, slot->link, reply);
	slot->blocks = slot->is_changed = true;
	slot->until_ns = time_out_ns < INT64_MAX - asker->clock_ns ? asker->clock_ns + time_out_ns :
								     INT64_MAX;
	return true;
}

bool rr_asker_served(struct rr_asker *asker, uint16_t number, struct rl_reply *reply)
{
	struct slot *slot = &asker->slots[number];

	if (!slot->id || !slot->blocks || !rl_link_has_unread(slot->link) ||
	    !asker_receive(asker, slot->link, reply))
		return false;
	slot->blocks = false;
	return true;
}

int64_t rr_asker_blocked_ns(const struct rr_asker *asker, uint16_t slot)
{
	const int64_t until_ns = asker->slots[slot].until_ns;

	return until_ns == INT64_MAX ? INT64_MAX : until_ns - asker->clock_ns;
}

bool asker_unblock_slot(struct rr_asker *asker, struct slot *slot)
{
	struct rl_reply ours;

	/* What it is answered comes behind what we are, and before the next answer to us. */
	return rr_asker_say(asker, &ours, "CLIENT UNBLOCK %lld TIMEOUT", slot->id) &&
	       rr_asker_say(asker, &ours, "PING");
}

bool asker_time_out(struct rr_asker *asker)
{
	for (;;) {
		struct slot *first = NULL;

		for (int i = 0; i < RR_ASKER_SLOTS; i++) {
			struct slot *slot = &asker->slots[i];

			if (slot->blocks && slot->until_ns <= asker->clock_ns &&
			    (!first || slot->until_ns < first->until_ns))
				first = slot;
		}
		if (!first)
			return true;
		if (!asker_unblock_slot(asker, first))
			return false;
		first->until_ns = INT64_MAX;
	}
}

bool asker_ask_command(struct rr_asker *asker, struct slot *slot, const struct rl_command *command,
		       struct rl_reply *reply, bool *blocks)
{
	const struct rr_command_info info = rr_asker_info(asker, command->words[0].text);

	asker_note_functions(asker, command);
	if (!open_slot(asker, slot) || !asker_send(asker, slot->link, command))
		return false;
	slot->is_changed = slot->is_changed || info.of_connection;
	if (info.blocks ? !await(asker, slot, command, reply) :
			  !asker_receive(asker, slot->link, reply))
		return false;
	*blocks = slot->blocks;
	slot->listens = slot->listens || strcasestr(command->words[0].text, "SUBSCRIBE");
	if (rr_lists_without_order(command->words[0].text))
		rr_reply_sort_list(reply);
	return true;
}

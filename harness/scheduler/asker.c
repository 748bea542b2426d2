/* SPDX-License-Identifier: MIT */
#include "asker_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/reply.h"
#include "command.h"
#include "link.h"

enum { QUEUED_MAX = 64 };

/* Keys that are over are removed first, then all that is left is read. In which order
 * the server has them depends on how far it is with making its table larger, which it
 * goes on with by itself. */
static const char read_data[] =
	"local all = {} "
	"for db in string.gmatch(redis.call('INFO', 'keyspace'), 'db(%d+):') do "
	"redis.call('SELECT', db) "
	"redis.call('SCAN', '0', 'COUNT', '100000000') "
	"local keys = redis.call('KEYS', '*') "
	"table.sort(keys) "
	"if #keys > 0 then all[#all + 1] = tonumber(db) end "
	"for _, key in ipairs(keys) do "
	"all[#all + 1] = key "
	"all[#all + 1] = redis.call('PTTL', key) "
	"all[#all + 1] = redis.call('DUMP', key) "
	"end end return all";

/* ---- Commands of our own -------------------------------------------------- */

bool asker_fail(struct rr_asker *asker, const struct rl_link *link)
{
	snprintf(asker->error, sizeof(asker->error), "a server is gone: %s", rl_link_error(link));
	return false;
}

static bool turn_to(struct rr_asker *asker, struct rl_link *link)
{
	if (asker->queued_on != link && !rr_asker_flush(asker))
		return false;
	asker->queued_on = link;
	return true;
}

bool asker_receive(struct rr_asker *asker, struct rl_link *link, struct rl_reply *reply)
{
	const enum rl_outcome outcome = rl_receive(link, reply);

	return outcome == RL_OK || reply->type == RL_REPLY_FAILED || asker_fail(asker, link);
}

bool asker_send(struct rr_asker *asker, struct rl_link *link, const struct rl_command *command)
{
	struct rl_command copy = *command;

	if (!turn_to(asker, link))
		return false;
	if (rl_queue_command(link, &copy) != RL_OK || rl_flush(link) != RL_OK)
		return asker_fail(asker, link);
	return rr_asker_flush(asker);
}

bool rr_asker_run(struct rr_asker *asker, struct rl_reply *reply, const struct rl_command *command)
{
	return asker_send(asker, asker->admin, command) &&
	       asker_receive(asker, asker->admin, reply);
}

bool asker_queue(struct rr_asker *asker, struct rl_link *link, const struct rl_command *command)
{
	struct rl_command copy = *command;

	if (!turn_to(asker, link))
		return false;
	if (rl_queue_command(link, &copy) != RL_OK)
		return asker_fail(asker, link);
	return ++asker->n_queued < QUEUED_MAX || rr_asker_flush(asker);
}

bool asker_queue_words(struct rr_asker *asker, const char *format, ...)
{
	struct rl_command command = { .n_words = 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rl_command_parse(&command, format, arguments);
	va_end(arguments);
	return good && asker_queue(asker, asker->admin, &command);
}

bool rr_asker_say(struct rr_asker *asker, struct rl_reply *reply, const char *format, ...)
{
	struct rl_command command = { .n_words = 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rl_command_parse(&command, format, arguments);
	va_end(arguments);
	return good && rr_asker_run(asker, reply, &command);
}

const char *rr_asker_error(const struct rr_asker *asker)
{
	return asker->error;
}

static bool load_scripts(struct rr_asker *asker)
{
	for (; asker->n_loaded < asker->scripts->n; asker->n_loaded++) {
		const struct rl_word *source = &asker->scripts->all[asker->n_loaded].source;

		if (!asker_queue_words(asker, "SCRIPT LOAD %.*s", (int)source->length,
				       source->text))
			return false;
	}
	return true;
}

struct rr_command_info rr_asker_info(struct rr_asker *asker, const char *name)
{
	struct known_info *known = asker->infos;
	struct rl_reply reply;

	for (; known < asker->infos + asker->n_infos; known++) {
		if (strcasecmp(known->name, name) == 0)
			return known->info;
	}
	if (asker->n_infos == ASKER_INFOS)
		known = asker->infos; /* is asked again some time */
	else
		asker->n_infos++;
	snprintf(known->name, sizeof(known->name), "%s", name);
	if (!rr_asker_say(asker, &reply, "COMMAND INFO %s", name))
		reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	known->info = rr_command_info_of(&reply, name);
	return known->info;
}

bool rr_asker_data(struct rr_asker *asker, struct rl_reply *data)
{
	return rr_asker_say(asker, data, "EVAL %s 0", read_data) &&
	       (data->type == RL_REPLY_ARRAY || asker_fail(asker, asker->admin));
}

/* ---- Questions ------------------------------------------------------------ */

void asker_note_functions(struct rr_asker *asker, const struct rl_command *command)
{
	asker->has_functions = asker->has_functions ||
			       strcasecmp(command->words[0].text, "FUNCTION") == 0;
}

static bool set_clock(struct rr_asker *asker, int64_t ns)
{
	struct rr_error error = { 0 };

	if (asker->clock_ns == ns)
		return true;
	asker->clock_ns = ns;
	if (asker->leaves_clock)
		return true;
	if (!rr_asker_flush(asker))
		return false;
	if (rr_cluster_skew(asker->cluster, asker->server, ns, &error))
		return true;
	snprintf(asker->error, sizeof(asker->error), "%s", error.text);
	return false;
}

/* Keys whose time is over are removed at once, and so commands end that have waited long enough. */
static bool tick(struct rr_asker *asker, int64_t ns)
{
	struct rl_reply data;

	return set_clock(asker, asker->clock_ns + ns) && rr_asker_data(asker, &data) &&
	       asker_time_out(asker);
}

static bool empty(struct rr_asker *asker)
{
	return asker_queue_words(asker, "FLUSHALL") &&
	       (!asker->scripts->are_state || asker_queue_words(asker, "SCRIPT FLUSH")) &&
	       (!asker->has_functions || asker_queue_words(asker, "FUNCTION FLUSH"));
}

static bool wipe(struct rr_asker *asker)
{
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (!asker_close_slot(asker, &asker->slots[i]))
			return false;
	}
	asker->was_wiped = true;
	asker->n_loaded = 0;
	return empty(asker) && asker_queue_words(asker, "SCRIPT FLUSH") && rr_asker_flush(asker);
}

void rr_asker_restarted(struct rr_asker *asker)
{
	rl_link_disconnect(asker->admin);
	for (int i = 0; i <= RR_ASKER_SLOTS; i++) {
		struct slot *slot = i < RR_ASKER_SLOTS ? &asker->slots[i] : &asker->first;

		if (slot->link)
			rl_link_disconnect(slot->link);
		slot->id = 0;
		slot->is_changed = slot->listens = slot->blocks = false;
	}
}

/* Asks for what is to be there from the beginning, one command after the other the first time,
 * and many in one write from then on. It has a connection of its own, which is closed if anything
 * is left there: a database that was selected last is no other connection's. */
static bool run_first(struct rr_asker *asker)
{
	for (size_t i = 0; i < asker->scripts->n_first; i++) {
		const struct rl_command *command = &asker->scripts->first[i];
		struct rl_reply reply;
		bool blocks = false;
		char *words;

		if (asker->has_begun) {
			if (!asker_queue_on_slot(asker, &asker->first, command))
				return false;
			continue;
		}
		if (!asker_ask_command(asker, &asker->first, command, &reply, &blocks))
			return false;
		if (reply.type != RL_REPLY_FAILED && !blocks)
			continue;
		asker->is_refused = true;
		words = rr_join_words(command->words, command->n_words);
		snprintf(asker->error, sizeof(asker->error),
			 "what is to be there at first, '%.300s', %s%.300s", words,
			 blocks ? "waits for another client" : "is refused: ",
			 blocks ? "" : reply.text);
		free(words);
		return false;
	}
	if (!asker->has_begun)
		asker->first_is_changed = asker->first.is_changed;
	asker->has_begun = true;
	return !asker->first_is_changed || asker_close_slot(asker, &asker->first);
}

bool rr_asker_queue_reset(struct rr_asker *asker)
{
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (asker->slots[i].is_changed && !asker_close_slot(asker, &asker->slots[i]))
			return false;
	}
	asker->was_wiped = false;
	return empty(asker) && set_clock(asker, asker->epoch_ns) && load_scripts(asker) &&
	       run_first(asker);
}

bool rr_asker_reset(struct rr_asker *asker)
{
	return rr_asker_queue_reset(asker) && rr_asker_flush(asker);
}

void rr_asker_set_epoch(struct rr_asker *asker, int64_t ns)
{
	asker->epoch_ns = ns;
}

void rr_asker_leave_clock(struct rr_asker *asker)
{
	asker->leaves_clock = true;
}

bool rr_asker_ask(struct rr_asker *asker, const struct rr_question *question,
		  const struct rl_command *command, struct rl_reply *reply, bool *blocks)
{
	struct slot *slot = &asker->slots[question->slot];

	if (question->kind == RR_ASK_COMMAND && !asker->was_wiped && !load_scripts(asker))
		return false;
	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	*blocks = false;
	if (question->kind == RR_ASK_COMMAND)
		return asker_ask_command(asker, slot, command, reply, blocks);
	if (!rr_asker_flush(asker))
		return false;
	switch (question->kind) {
	case RR_ASK_TICK:
		return tick(asker, question->argument);
	case RR_ASK_CLOSE:
		return asker_close_slot(asker, slot) && rr_asker_flush(asker);
	case RR_ASK_WIPE:
		return wipe(asker);
	case RR_ASK_UNBLOCK:
		return asker_unblock_slot(asker, slot);
	default:
		return true;
	}
}

bool rr_asker_queue(struct rr_asker *asker, const struct rl_command *command)
{
	return (asker->was_wiped || load_scripts(asker)) &&
	       asker_queue(asker, asker->admin, command);
}

bool rr_asker_queue_on(struct rr_asker *asker, uint16_t slot, const struct rl_command *command)
{
	return (asker->was_wiped || load_scripts(asker)) &&
	       asker_queue_on_slot(asker, &asker->slots[slot], command);
}

bool rr_asker_flush(struct rr_asker *asker)
{
	struct rl_reply reply;

	if (asker->n_queued && rl_flush(asker->queued_on) != RL_OK)
		return asker_fail(asker, asker->queued_on);
	for (; asker->n_queued > 0; asker->n_queued--) {
		if (!asker_receive(asker, asker->queued_on, &reply))
			return false;
		if (asker->opening)
			asker->opening->id = reply.integer;
		asker->opening = NULL;
	}
	return true;
}

/* ---- Making and freeing --------------------------------------------------- */

struct rr_asker *rr_asker_new(struct rr_cluster *cluster, int server,
			      const struct rr_scripts *scripts, struct rr_error *error)
{
	struct rr_asker *asker = rr_calloc(1, sizeof(*asker));
	struct rl_reply reply;

	asker->cluster = cluster;
	asker->server = server;
	asker->scripts = scripts;
	/* Without a clock of our own it is left alone. */
	asker->clock_ns = rr_cluster_has_time(cluster) ? -1 : 0;
	asker->admin = rl_link_new(rr_cluster_address(cluster, server), ASKER_TIMEOUT_MS);
	if (!asker->admin)
		rr_out_of_memory();
	/* Another asker may have left some on this server. */
	if (rr_asker_say(asker, &reply, "FUNCTION FLUSH") && rr_asker_reset(asker))
		return asker;
	rr_error_set(error, asker->is_refused ? RR_ERROR_DATA : RR_ERROR_REDIS, "%s", asker->error);
	rr_asker_free(asker);
	return NULL;
}

void rr_asker_free(struct rr_asker *asker)
{
	struct rr_error error = { 0 };

	if (!asker)
		return;
	rr_cluster_skew(asker->cluster, asker->server, 0, &error);
	for (int i = 0; i < RR_ASKER_SLOTS; i++)
		rl_link_free(asker->slots[i].link);
	rl_link_free(asker->first.link);
	rl_link_free(asker->admin);
	free(asker);
}

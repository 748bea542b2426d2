/* SPDX-License-Identifier: MIT */
#include "asker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/reply.h"
#include "command.h"
#include "link.h"

enum { TIMEOUT_MS = 20000, INFOS = 128, QUEUED_MAX = 64 };

struct slot {
	struct rl_link *link;
	long long id;
	bool is_changed; /* by a command that may leave something there */
	bool listens;
};

struct known_info {
	char name[32];
	struct rr_command_info info;
};

struct rr_asker {
	struct rr_cluster *cluster;
	int server;
	const struct rr_scripts *scripts;
	size_t n_loaded;
	bool was_wiped, has_functions;
	struct rl_link *admin;
	struct slot slots[RR_ASKER_SLOTS];
	int64_t clock_ns, epoch_ns;
	bool leaves_clock; /* to somebody else */
	size_t n_queued;   /* on the admin's connection */
	struct known_info infos[INFOS];
	size_t n_infos;
	char error[RR_ERROR_SIZE];
	bool is_refused; /* what was to be done first */
};

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

static bool fail(struct rr_asker *asker, const struct rl_link *link)
{
	snprintf(asker->error, sizeof(asker->error), "a server is gone: %s", rl_link_error(link));
	return false;
}

bool rr_asker_run(struct rr_asker *asker, struct rl_reply *reply, const struct rl_command *command)
{
	struct rl_command copy = *command;
	enum rl_outcome outcome;

	if (!rr_asker_flush(asker))
		return false;
	outcome = rl_run_command(asker->admin, reply, &copy);
	return outcome == RL_OK || reply->type == RL_REPLY_FAILED || fail(asker, asker->admin);
}

static bool queue(struct rr_asker *asker, const struct rl_command *command)
{
	struct rl_command copy = *command;

	if (rl_queue_command(asker->admin, &copy) != RL_OK)
		return fail(asker, asker->admin);
	return ++asker->n_queued < QUEUED_MAX || rr_asker_flush(asker);
}

/* A command whose reply does not matter. */
__attribute__((format(printf, 2, 3))) static bool queue_words(struct rr_asker *asker,
							      const char *format, ...)
{
	struct rl_command command = { .n_words = 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rl_command_parse(&command, format, arguments);
	va_end(arguments);
	return good && queue(asker, &command);
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

		if (!queue_words(asker, "SCRIPT LOAD %.*s", (int)source->length, source->text))
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
	if (asker->n_infos == INFOS)
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
	       (data->type == RL_REPLY_ARRAY || fail(asker, asker->admin));
}

/* ---- Connections ---------------------------------------------------------- */

static bool open_slot(struct rr_asker *asker, struct slot *slot)
{
	if (!slot->link)
		slot->link = rl_link_new(rr_cluster_address(asker->cluster, asker->server),
					 TIMEOUT_MS);
	slot->is_changed = slot->listens = false;
	return slot->link &&
	       (rl_queue(slot->link, "CLIENT ID") == RL_OK || fail(asker, slot->link));
}

/* Sends a command; what opens the connection goes before it, in the same write. */
static bool send_down(struct rr_asker *asker, struct slot *slot, const struct rl_command *command)
{
	struct rl_command copy = *command;
	struct rl_reply reply;

	if (!slot->id && !open_slot(asker, slot))
		return false;
	if (rl_queue_command(slot->link, &copy) != RL_OK || rl_flush(slot->link) != RL_OK)
		return fail(asker, slot->link);
	if (slot->id)
		return true;
	if (rl_receive(slot->link, &reply) != RL_OK)
		return fail(asker, slot->link);
	slot->id = reply.integer;
	return true;
}

/* The server has noticed when what is queued is flushed. */
static bool close_slot(struct rr_asker *asker, struct slot *slot)
{
	const long long id = slot->id;

	if (!id)
		return true;
	rl_link_disconnect(slot->link);
	slot->id = 0;
	return queue_words(asker, "CLIENT KILL ID %lld", id);
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

/* ---- Questions ------------------------------------------------------------ */

static bool receive(struct rr_asker *asker, struct slot *slot, struct rl_reply *reply)
{
	const enum rl_outcome outcome = rl_receive(slot->link, reply);

	return outcome == RL_OK || reply->type == RL_REPLY_FAILED || fail(asker, slot->link);
}

/* A command that may wait: if nothing has come after two round trips, it does; then
 * its time is made to be over. */
static bool await(struct rr_asker *asker, struct slot *slot, struct rl_reply *reply, bool *blocks)
{
	struct rl_reply ours;

	for (int i = 0; i < 2; i++) {
		if (!rr_asker_say(asker, &ours, "PING"))
			return false;
	}
	if (!rl_link_has_unread(slot->link)) {
		if (!rr_asker_say(asker, &ours, "CLIENT UNBLOCK %lld TIMEOUT", slot->id))
			return false;
		*blocks = ours.integer == 1;
	}
	return receive(asker, slot, reply);
}

static int compare_texts(const void *a, const void *b)
{
	const struct rl_reply *one = a, *other = b;

	return rr_compare_bytes(one->text, one->length, other->text, other->length);
}

/* In the order of their bytes, and for races, too (play/connection.c). The list of SCAN stands
 * behind a cursor. */
static void sort_list(const struct rl_command *command, struct rl_reply *reply)
{
	struct rl_reply *list = reply;

	if (!rr_lists_without_order(command->words[0].text))
		return;
	if (reply->type == RL_REPLY_ARRAY && reply->length == 2 &&
	    reply->elements[1].type == RL_REPLY_ARRAY)
		list = &reply->elements[1];
	if (list->type == RL_REPLY_ARRAY && list->length > 0)
		qsort(list->elements, list->length, sizeof(*list->elements), compare_texts);
}

static void note_functions(struct rr_asker *asker, const struct rl_command *command)
{
	asker->has_functions = asker->has_functions ||
			       strcasecmp(command->words[0].text, "FUNCTION") == 0;
}

static bool ask_command(struct rr_asker *asker, struct slot *slot, const struct rl_command *command,
			struct rl_reply *reply, bool *blocks)
{
	const struct rr_command_info info = rr_asker_info(asker, command->words[0].text);

	note_functions(asker, command);
	if (!send_down(asker, slot, command))
		return false;
	slot->is_changed = slot->is_changed || info.of_connection;
	if (info.blocks ? !await(asker, slot, reply, blocks) : !receive(asker, slot, reply))
		return false;
	slot->listens = slot->listens || strcasestr(command->words[0].text, "SUBSCRIBE");
	sort_list(command, reply);
	return true;
}

static bool set_clock(struct rr_asker *asker, int64_t ns)
{
	struct rr_error error = { 0 };

	if (asker->clock_ns == ns || asker->leaves_clock)
		return true;
	if (!rr_asker_flush(asker))
		return false;
	asker->clock_ns = ns;
	if (rr_cluster_skew(asker->cluster, asker->server, ns, &error))
		return true;
	snprintf(asker->error, sizeof(asker->error), "%s", error.text);
	return false;
}

/* Keys whose time is over are removed at once. */
static bool tick(struct rr_asker *asker, int64_t ns)
{
	struct rl_reply data;

	return set_clock(asker, asker->clock_ns + ns) && rr_asker_data(asker, &data);
}

static bool empty(struct rr_asker *asker)
{
	return queue_words(asker, "FLUSHALL") &&
	       (!asker->scripts->are_state || queue_words(asker, "SCRIPT FLUSH")) &&
	       (!asker->has_functions || queue_words(asker, "FUNCTION FLUSH"));
}

static bool wipe(struct rr_asker *asker)
{
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (!close_slot(asker, &asker->slots[i]))
			return false;
	}
	asker->was_wiped = true;
	asker->n_loaded = 0;
	return empty(asker) && queue_words(asker, "SCRIPT FLUSH") && rr_asker_flush(asker);
}

void rr_asker_restarted(struct rr_asker *asker)
{
	rl_link_disconnect(asker->admin);
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		struct slot *slot = &asker->slots[i];

		if (slot->link)
			rl_link_disconnect(slot->link);
		slot->id = 0;
		slot->is_changed = slot->listens = false;
	}
}

/* What is to be there from the beginning. */
static bool run_first(struct rr_asker *asker)
{
	for (size_t i = 0; i < asker->scripts->n_first; i++) {
		const struct rl_command *command = &asker->scripts->first[i];
		struct rl_reply reply;
		char *words;

		note_functions(asker, command);
		if (!rr_asker_run(asker, &reply, command))
			return false;
		if (reply.type != RL_REPLY_FAILED)
			continue;
		asker->is_refused = true;
		words = rr_join_words(command->words, command->n_words);
		snprintf(asker->error, sizeof(asker->error),
			 "what is to be there at first, '%.300s', is refused: %.300s", words,
			 reply.text);
		free(words);
		return false;
	}
	return true;
}

bool rr_asker_queue_reset(struct rr_asker *asker)
{
	for (int i = 0; i < RR_ASKER_SLOTS; i++) {
		if (asker->slots[i].is_changed && !close_slot(asker, &asker->slots[i]))
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
	if (!rr_asker_flush(asker))
		return false;
	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	*blocks = false;
	switch (question->kind) {
	case RR_ASK_COMMAND:
		return ask_command(asker, slot, command, reply, blocks);
	case RR_ASK_TICK:
		return tick(asker, question->argument);
	case RR_ASK_CLOSE:
		return close_slot(asker, slot) && rr_asker_flush(asker);
	case RR_ASK_WIPE:
		return wipe(asker);
	default:
		return true;
	}
}

bool rr_asker_queue(struct rr_asker *asker, const struct rl_command *command)
{
	return (asker->was_wiped || load_scripts(asker)) && queue(asker, command);
}

bool rr_asker_flush(struct rr_asker *asker)
{
	struct rl_reply reply;

	if (asker->n_queued && rl_flush(asker->admin) != RL_OK)
		return fail(asker, asker->admin);
	for (; asker->n_queued > 0; asker->n_queued--) {
		if (rl_receive(asker->admin, &reply) != RL_OK && reply.type != RL_REPLY_FAILED)
			return fail(asker, asker->admin);
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
	asker->admin = rl_link_new(rr_cluster_address(cluster, server), TIMEOUT_MS);
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
	rl_link_free(asker->admin);
	free(asker);
}

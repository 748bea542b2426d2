/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/reply.h"
#include "command.h"
#include "link.h"

enum { ASKER_TIMEOUT_MS = 20000, ASKER_INFOS = 128, QUEUED_MAX = 64 };

struct slot {
	struct rdl_link *link;
	long long id;
	bool is_changed; /* by a command that may leave something there */
	bool listens;
	bool blocks;      /* on a command */
	int64_t until_ns; /* by the server's clock; INT64_MAX = until it is served */
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
	struct rdl_link *admin;
	struct slot slots[RR_ASKER_SLOTS];
	struct slot first;     /* on which what is to be there first is asked for */
	bool has_begun;        /* all of that was done once, and nothing was refused */
	bool first_is_changed; /* and left something on its connection */
	int64_t clock_ns, epoch_ns;
	bool leaves_clock;          /* to somebody else */
	struct rdl_link *queued_on; /* one connection at a time */
	size_t n_queued;
	struct slot *opening; /* whose number is the first reply of what is queued */
	struct known_info infos[ASKER_INFOS];
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

/* Of a link that is gone; returns false. */
static bool asker_fail(struct rr_asker *asker, const struct rdl_link *link)
{
	snprintf(asker->error, sizeof(asker->error), "a server is gone: %s", rdl_link_error(link));
	return false;
}

static bool turn_to(struct rr_asker *asker, struct rdl_link *link)
{
	if (asker->queued_on != link && !rr_asker_flush(asker))
		return false;
	asker->queued_on = link;
	return true;
}

static bool asker_receive(struct rr_asker *asker, struct rdl_link *link, struct rdl_reply *reply)
{
	const enum rdl_outcome outcome = rdl_receive(link, reply);

	return outcome == RDL_OK || reply->type == RDL_REPLY_FAILED || asker_fail(asker, link);
}

/* Sends a command behind all that is queued, in the same write if that is on the same
 * connection. Its reply is what asker_receive() gets next. */
static bool asker_send(struct rr_asker *asker, struct rdl_link *link,
		       const struct rdl_command *command)
{
	struct rdl_command copy = *command;

	if (!turn_to(asker, link))
		return false;
	if (rdl_queue_command(link, &copy) != RDL_OK || rdl_flush(link) != RDL_OK)
		return asker_fail(asker, link);
	return rr_asker_flush(asker);
}

bool rr_asker_run(struct rr_asker *asker, struct rdl_reply *reply,
		  const struct rdl_command *command)
{
	return asker_send(asker, asker->admin, command) &&
	       asker_receive(asker, asker->admin, reply);
}

/* A command whose reply does not matter: what is queued on another connection is sent and
 * answered before, so that the order of the commands is that of the calls. */
static bool asker_queue(struct rr_asker *asker, struct rdl_link *link,
			const struct rdl_command *command)
{
	struct rdl_command copy = *command;

	if (!turn_to(asker, link))
		return false;
	if (rdl_queue_command(link, &copy) != RDL_OK)
		return asker_fail(asker, link);
	return ++asker->n_queued < QUEUED_MAX || rr_asker_flush(asker);
}

/* The same, on our own connection. */
static bool __attribute__((format(printf, 2, 3)))
asker_queue_words(struct rr_asker *asker, const char *format, ...)
{
	struct rdl_command command = { .n_words = 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rdl_command_parse(&command, format, arguments);
	va_end(arguments);
	return good && asker_queue(asker, asker->admin, &command);
}

bool rr_asker_say(struct rr_asker *asker, struct rdl_reply *reply, const char *format, ...)
{
	struct rdl_command command = { .n_words = 0 };
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rdl_command_parse(&command, format, arguments);
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
		const struct rdl_word *source = &asker->scripts->all[asker->n_loaded].source;

		if (!asker_queue_words(asker, "SCRIPT LOAD %.*s", (int)source->length,
				       source->text))
			return false;
	}
	return true;
}

struct rr_command_info rr_asker_info(struct rr_asker *asker, const char *name)
{
	struct known_info *known = asker->infos;
	struct rdl_reply reply;

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
		reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	known->info = rr_command_info_of(&reply, name);
	return known->info;
}

bool rr_asker_keys(struct rr_asker *asker, const struct rdl_command *command,
		   struct rdl_reply *keys)
{
	static const struct rdl_word before[] = { { "COMMAND", 7 }, { "GETKEYS", 7 } };
	struct rdl_command question = { .n_words = 2 + command->n_words };

	if (question.n_words > RDL_WORDS_MAX)
		return false;
	memcpy(question.words, before, sizeof(before));
	memcpy(question.words + 2, command->words, command->n_words * sizeof(*command->words));
	return rr_asker_run(asker, keys, &question) && keys->type == RDL_REPLY_ARRAY &&
	       keys->length > 0;
}

bool rr_asker_data(struct rr_asker *asker, struct rdl_reply *data)
{
	return rr_asker_say(asker, data, "EVAL %s 0", read_data) &&
	       (data->type == RDL_REPLY_ARRAY || asker_fail(asker, asker->admin));
}

/* ---- The clients' connections, and what is said on them ----------------------------- */

/* Opens the connection, if it is not: what asks for its number goes before all else. */
static bool open_slot(struct rr_asker *asker, struct slot *slot)
{
	static const struct rdl_command ask = { .n_words = 2,
						.words = { { "CLIENT", 6 }, { "ID", 2 } } };

	if (slot->id || asker->opening == slot)
		return true;
	if (!slot->link)
		slot->link = rdl_link_new(rr_cluster_address(asker->cluster, asker->server),
					  ASKER_TIMEOUT_MS);
	slot->is_changed = slot->listens = slot->blocks = false;
	if (!slot->link || !asker_queue(asker, slot->link, &ask))
		return false;
	asker->opening = slot;
	return true;
}

static bool asker_queue_on_slot(struct rr_asker *asker, struct slot *slot,
				const struct rdl_command *command)
{
	if (!open_slot(asker, slot))
		return false;
	slot->is_changed = true;
	return asker_queue(asker, slot->link, command);
}

/* The server has noticed when what is queued is flushed. */
static bool asker_close_slot(struct rr_asker *asker, struct slot *slot)
{
	const bool is_queued = slot->link && asker->queued_on == slot->link;
	long long id;

	if (is_queued && !rr_asker_flush(asker))
		return false;
	id = slot->id;
	if (!id)
		return true;
	rdl_link_disconnect(slot->link);
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
	struct rdl_reply reply;
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

bool rr_asker_message(struct rr_asker *asker, uint16_t slot, struct rdl_reply *message)
{
	const struct slot *it = &asker->slots[slot];

	return it->id && it->listens && rdl_link_listen(it->link, message, 0) == RDL_OK;
}

/* A command that may wait: if nothing has come after two round trips, it does. */
static bool await(struct rr_asker *asker, struct slot *slot, const struct rdl_command *command,
		  struct rdl_reply *reply)
{
	const int64_t time_out_ns = rr_command_time_out_ns(command);
	struct rdl_reply ours;

	for (int i = 0; i < 2; i++) {
		if (!rr_asker_say(asker, &ours, "PING"))
			return false;
	}
	if (rdl_link_has_unread(slot->link))
		return asker_receive(asker, slot->link, reply);
	slot->blocks = slot->is_changed = true;
	slot->until_ns = time_out_ns < INT64_MAX - asker->clock_ns ? asker->clock_ns + time_out_ns :
								     INT64_MAX;
	return true;
}

bool rr_asker_served(struct rr_asker *asker, uint16_t number, struct rdl_reply *reply)
{
	struct slot *slot = &asker->slots[number];

	if (!slot->id || !slot->blocks || !rdl_link_has_unread(slot->link) ||
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

/* That of one command ends, whatever the clock says. */
static bool asker_unblock_slot(struct rr_asker *asker, struct slot *slot)
{
	struct rdl_reply ours;

	/* What it is answered comes behind what we are, and before the next answer to us. */
	return rr_asker_say(asker, &ours, "CLIENT UNBLOCK %lld TIMEOUT", slot->id) &&
	       rr_asker_say(asker, &ours, "PING");
}

/* The time-outs of commands that block end, those whose time is over by the server's clock. */
static bool asker_time_out(struct rr_asker *asker)
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

/* As rr_asker_ask(). */
static bool asker_ask_command(struct rr_asker *asker, struct slot *slot,
			      const struct rdl_command *command, struct rdl_reply *reply,
			      bool *blocks)
{
	const struct rr_command_info info = rr_asker_info(asker, command->words[0].text);

	/* The server may have functions from now on. */
	asker->has_functions = asker->has_functions ||
			       strcasecmp(command->words[0].text, "FUNCTION") == 0;
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

/* ---- Questions ------------------------------------------------------------ */

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

static bool empty(struct rr_asker *asker)
{
	return asker_queue_words(asker, "FLUSHALL") &&
	       (!asker->scripts->are_state || asker_queue_words(asker, "SCRIPT FLUSH")) &&
	       (!asker->has_functions || asker_queue_words(asker, "FUNCTION FLUSH"));
}

void rr_asker_restarted(struct rr_asker *asker)
{
	rdl_link_disconnect(asker->admin);
	for (int i = 0; i <= RR_ASKER_SLOTS; i++) {
		struct slot *slot = i < RR_ASKER_SLOTS ? &asker->slots[i] : &asker->first;

		if (slot->link)
			rdl_link_disconnect(slot->link);
		slot->id = 0;
		slot->is_changed = slot->listens = slot->blocks = false;
	}
}

/* Asks for what is to be there from the beginning, one command after the other the first time,
 * and many in one write from then on. It has a connection of its own, which is closed if anything
 * is left there: a database that was selected last is no other connection's. */
static bool run_first(struct rr_asker *asker)
{
	for (size_t i = 0; i < asker->scripts->first.n; i++) {
		const struct rdl_command *command = &asker->scripts->first.all[i];
		struct rdl_reply reply;
		bool blocks = false;
		char *words;

		if (asker->has_begun) {
			if (!asker_queue_on_slot(asker, &asker->first, command))
				return false;
			continue;
		}
		if (!asker_ask_command(asker, &asker->first, command, &reply, &blocks))
			return false;
		if (reply.type != RDL_REPLY_FAILED && !blocks)
			continue;
		asker->is_refused = true;
		words = rr_command_text(command->words, command->n_words, 200);
		snprintf(
			asker->error, sizeof(asker->error),
			"what is to be there at first, '%s', %s%.300s: leave it out, or write it in another way",
			words, blocks ? "waits for another client" : "is refused: ",
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
		  const struct rdl_command *command, struct rdl_reply *reply, bool *blocks)
{
	struct slot *slot = &asker->slots[question->kind == RR_ASK_HOLD ? 0 : question->slot];

	if (question->kind == RR_ASK_COMMAND && !asker->was_wiped && !load_scripts(asker))
		return false;
	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	*blocks = false;
	if (question->kind == RR_ASK_COMMAND)
		return asker_ask_command(asker, slot, command, reply, blocks);
	if (!rr_asker_flush(asker))
		return false;
	switch (question->kind) {
	case RR_ASK_TICK: {
		/* Keys whose time is over are removed at once, and so commands end that have
		 * waited long enough. */
		struct rdl_reply data;

		return set_clock(asker, asker->clock_ns + question->argument) &&
		       rr_asker_data(asker, &data) && asker_time_out(asker);
	}
	case RR_ASK_CLOSE:
		return asker_close_slot(asker, slot) && rr_asker_flush(asker);
	case RR_ASK_WIPE: {
		for (int i = 0; i < RR_ASKER_SLOTS; i++) {
			if (!asker_close_slot(asker, &asker->slots[i]))
				return false;
		}
		asker->was_wiped = true;
		asker->n_loaded = 0;
		return empty(asker) && asker_queue_words(asker, "SCRIPT FLUSH") &&
		       rr_asker_flush(asker);
	}
	case RR_ASK_UNBLOCK:
		return asker_unblock_slot(asker, slot);
	case RR_ASK_HOLD: {
		struct rdl_reply held;

		/* The connection of ours stays in database 0. */
		return rr_asker_say(asker, &held, "SELECT %d", question->slot) &&
		       rr_asker_run(asker, &held, command) &&
		       rr_asker_say(asker, &held, "SELECT 0");
	}
	default:
		return true;
	}
}

bool rr_asker_queue(struct rr_asker *asker, const struct rdl_command *command)
{
	return (asker->was_wiped || load_scripts(asker)) &&
	       asker_queue(asker, asker->admin, command);
}

bool rr_asker_queue_on(struct rr_asker *asker, uint16_t slot, const struct rdl_command *command)
{
	return (asker->was_wiped || load_scripts(asker)) &&
	       asker_queue_on_slot(asker, &asker->slots[slot], command);
}

bool rr_asker_flush(struct rr_asker *asker)
{
	struct rdl_reply reply;

	if (asker->n_queued && rdl_flush(asker->queued_on) != RDL_OK)
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
	struct rdl_reply reply;

	asker->cluster = cluster;
	asker->server = server;
	asker->scripts = scripts;
	/* Without a clock of our own it is left alone. */
	asker->clock_ns = rr_cluster_has_time(cluster) ? -1 : 0;
	asker->admin = rdl_link_new(rr_cluster_address(cluster, server), ASKER_TIMEOUT_MS);
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
		rdl_link_free(asker->slots[i].link);
	rdl_link_free(asker->first.link);
	rdl_link_free(asker->admin);
	free(asker);
}

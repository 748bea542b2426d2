/* SPDX-License-Identifier: MIT */
/* The rows of the server table: asking, and learning. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "server_state.h"

#define MS INT64_C(1000000) /* in nanoseconds */

/* ---- Asking --------------------------------------------------------------- */

static const struct rdl_command *question_command(const struct rr_server_table *table,
						  const struct rr_question *question)
{
	return question->kind == RR_ASK_COMMAND || question->kind == RR_ASK_HOLD ?
		       &table->terms->command[question->argument].words :
		       NULL;
}

/* Does more come on it than replies? What was unsubscribed without being subscribed has as many
 * replies as names. */
static bool has_messages(const struct rr_connection *connection)
{
	return connection->listens || connection->n_messages > 0 || connection->blocks;
}

/* The messages that come with a question on the way have been noted already. */
static void skip_messages(struct rr_server_table *table, uint32_t state)
{
	size_t n;
	const struct rr_connection *all = rr_server_table_connections(table, state, &n);
	struct rdl_reply message;

	for (size_t i = 0; i < n; i++) {
		if (!has_messages(&all[i]))
			continue;
		rr_asker_say(table->asker, &message, "PING");
		while (rr_asker_message(table->asker, all[i].slot, &message))
			continue;
		rr_asker_served(table->asker, all[i].slot, &message);
	}
}

/* Somebody may get messages. */
static bool has_listener(const struct rr_server_table *table, uint32_t state)
{
	size_t n;
	const struct rr_connection *all = rr_server_table_connections(table, state, &n);

	for (size_t i = 0; i < n; i++) {
		if (has_messages(&all[i]))
			return true;
	}
	return false;
}

/* Has a question one reply, which nobody waits for? A command that is about subscriptions may have
 * several, and where somebody listens each may have. */
static bool has_one_reply(struct rr_server_table *table, uint32_t id, struct rr_command_info *info)
{
	const struct rr_server_snapshot *state = &table->states[id];
	const char *name;

	if (state->question.kind != RR_ASK_COMMAND || has_listener(table, state->parent) ||
	    has_listener(table, id))
		return false;
	name = rr_server_command_name(table, (uint32_t)state->question.argument);
	*info = rr_asker_info(table->asker, name);
	return !info->blocks && !strstr(name, "SUBSCRIBE");
}

/* One question of those that lead to a state. */
static bool replay_question(struct rr_server_table *table, uint32_t id)
{
	const struct rr_server_snapshot *state = &table->states[id];
	const struct rr_question *question = &state->question;
	struct rr_command_info info;
	struct rdl_reply reply;
	bool blocks;

	table->n_replayed++;
	if (has_one_reply(table, id, &info)) {
		const struct rdl_command *command = question_command(table, question);

		/* A command that has led to a state, sent when its reply is not needed. One on a
		 * connection that carried nothing, and left nothing there, may be sent on any
		 * connection. */
		if (info.of_connection ||
		    rr_server_table_connection(table, state->parent, question->slot))
			return rr_asker_queue_on(table->asker, question->slot, command);
		return rr_asker_queue(table->asker, command);
	}
	if (!rr_asker_ask(table->asker, question, question_command(table, question), &reply,
			  &blocks))
		return false;
	skip_messages(table, state->parent);
	skip_messages(table, id);
	return true;
}

bool rr_server_bring_to(struct rr_server_table *table, uint32_t id)
{
	uint32_t *path;
	uint32_t n = 0, at = id;
	bool good;

	if (table->is_live && id != table->at)
		return rr_error_set(&table->error, RR_ERROR_INTERNAL,
				    "a live server is not asked twice");
	path = rr_calloc(table->states[id].length + 1, sizeof(*path));
	for (; at != table->at && table->states[at].parent != RR_NO_ID;
	     at = table->states[at].parent)
		path[n++] = at;
	good = at == table->at || rr_asker_queue_reset(table->asker);
	while (good && n > 0)
		good = replay_question(table, path[--n]);
	free(path);
	table->at = good ? id : RR_NO_ID;
	return good || rr_server_fail_asking(table);
}

bool rr_server_may_draw(const struct rr_server_table *table, const char *name,
			const struct rdl_command *command)
{
	const struct rdl_word *text = &command->words[command->n_words > 1];

	if (strncmp(name, "EVALSHA", 7) == 0)
		text = rr_scripts_find(table->scripts, text->text);
	else if (strcmp(name, "FUNCTION") == 0 || strcmp(name, "SCRIPT") == 0)
		text = &command->words[command->n_words - 1];
	else if (strncmp(name, "EVAL", 4) != 0)
		return false;
	return text && (strcasestr(text->text, "rand") || strcasestr(text->text, "spop") ||
			rr_script_asks_of_objects(text));
}

const struct rr_wake *rr_server_table_wakes(const struct rr_server_table *table,
					    const struct rr_server_row *row, size_t *n)
{
	*n = table->wakes.values[row->wakes].length / sizeof(struct rr_wake);
	return rr_intern_get(&table->wakes, row->wakes);
}

/* The reply of a command; on a connection that listens the next that lies there
 * unread comes before it. */
static bool keep_row_reply(struct rr_server_table *table, struct rr_connections *connections,
			   const struct rr_question *question, const struct rdl_reply *reply,
			   struct rr_server_row *row)
{
	const uint32_t command = (uint32_t)question->argument;
	const char *name = rr_server_command_name(table, command);
	const struct rr_command_info info = rr_asker_info(table->asker, name);
	struct rr_connection *connection = rr_connections_find(connections, question->slot);

	row->reply = rr_terms_reply(table->terms, reply);
	if (reply->type == RDL_REPLY_INTEGER &&
	    (strcmp(name, "TTL") == 0 || strcmp(name, "PTTL") == 0))
		rr_terms_note_left(table->terms, reply->integer);
	if (reply->type == RDL_REPLY_FAILED && strncmp(reply->text, "NOSCRIPT", 8) == 0)
		table->lacked_script = true;
	if (info.is_random || rr_server_may_draw(table, name, question_command(table, question)))
		table->random_command = name;
	if (!connection && info.of_connection)
		connection = rr_connections_insert(connections, question->slot);
	if (!connection)
		return true;
	if (connection->n_messages) {
		if (!rr_connection_add_message(table, connection, row->reply))
			return false;
		row->reply = rr_connection_take_message(connection);
	}
	rr_connection_note(table, connection, command, reply);
	return true;
}

bool rr_server_ask(struct rr_server_table *table, struct rr_server_snapshot *state,
		   struct rr_connections *connections, struct rr_server_row *row)
{
	const struct rr_question *question = &row->question;
	struct rr_connection *connection = question->kind == RR_ASK_HOLD ?
						   NULL :
						   rr_connections_find(connections, question->slot);
	struct rdl_reply reply;
	bool good;

	if (question->kind == RR_ASK_READ) {
		row->reply = rr_connection_take_message(connection);
		return true;
	}
	if (question->kind == RR_ASK_COMMAND) {
		const char *name = rr_server_command_name(table, (uint32_t)question->argument);

		/* Idle times, frequencies and encodings are no part of the data, and what memory is
		 * used is not the clients' alone. */
		if (strcmp(name, "OBJECT") == 0 || strcmp(name, "MEMORY") == 0)
			return rr_error_set(
				&table->error, RR_ERROR_DATA,
				"%s was sent, which cannot be judged: it is answered by more than "
				"the data, so leave it out of what is searched",
				name);
	}
	table->n_asked++;
	if (!rr_asker_ask(table->asker, question, question_command(table, question), &reply,
			  &row->blocks))
		return rr_server_fail_asking(table);
	row->reply = RR_NO_ID;
	good = question->kind != RR_ASK_COMMAND || row->blocks ||
	       keep_row_reply(table, connections, question, &reply, row);
	if (row->blocks)
		rr_connection_block(connections, question->slot, (uint32_t)question->argument);
	if (question->kind == RR_ASK_TICK)
		state->clock_ns += question->argument;
	if (!table->absolute)
		state->clock_ns %= MS;
	if (question->kind == RR_ASK_CLOSE && connection)
		rr_connections_drop(connections, connection);
	if (question->kind == RR_ASK_WIPE) {
		state->was_wiped = true;
		connections->n = 0;
	}
	if (!good || !rr_server_read_data(table, table->asker, state))
		return false;
	rr_connections_note_served(table, connections, row);
	return rr_connections_look(table, connections);
}

/* ---- Learning ------------------------------------------------------------- */

uint32_t rr_server_ask_from(struct rr_server_table *table, uint32_t from, struct rr_server_row *row,
			    bool *is_new)
{
	struct rr_server_snapshot state = table->states[from];
	struct rr_connections before, after;
	struct rr_own_key key;

	rr_server_connections(table, from, &before);
	key = rr_server_own_key(table, from, &before, &row->question);
	rr_connections_copy(&after, &before);
	state.parent = from;
	state.question = row->question;
	if (row->question.kind != RR_ASK_READ) {
		state.lock = 0;
		state.lock_left_ms = 0;
		state.names = 0;
	}
	table->at = RR_NO_ID;
	if (!rr_server_ask(table, &state, &after, row) ||
	    !rr_server_take_apart(table, &key, &before, &after, row, &state))
		return RR_NO_ID;
	return rr_server_add_state(table, &state, &after, is_new);
}

static const struct rr_server_row *learn_row(struct rr_server_table *table, uint32_t from,
					     const struct rr_question *question, const void *key,
					     size_t size)
{
	struct rr_server_row row = { .from = from, .question = *question };
	struct rr_connections connections;
	struct rr_server_snapshot state;
	bool is_new = false;
	uint32_t id;

	rr_server_connections(table, from, &connections);
	if (rr_server_compose(table, from, &connections, &row, &state))
		row.to = rr_server_add_state(table, &state, &connections, &is_new);
	else if (rr_server_bring_to(table, from))
		row.to = table->at = rr_server_ask_from(table, from, &row, &is_new);
	if (table->error.kind)
		return NULL;
	id = rr_intern_put(&table->rows, key, size, NULL);
	row.merges = !is_new;
	rr_array_grow(&table->row, id, sizeof(row));
	table->row[id] = row;
	return &table->row[id];
}

const struct rr_server_row *rr_server_table_ask(struct rr_server_table *table, uint32_t state,
						const struct rr_question *question)
{
	struct {
		uint32_t state;
		uint16_t slot, kind;
		int64_t argument;
	} key = { state, question->slot, question->kind, question->argument };
	uint32_t id;

	if (table->error.kind)
		return NULL;
	id = rr_intern_find(&table->rows, &key, sizeof(key));
	if (id != RR_NO_ID)
		return &table->row[id];
	return learn_row(table, state, question, &key, sizeof(key));
}

/* ---- Making and freeing --------------------------------------------------- */

/* What CLIENT LIST says of a new connection: number 0. */
static bool learn_new_connection(struct rr_server_table *table)
{
	static const char *const ping[] = { "PING", NULL };
	const struct rr_question question = {
		.kind = RR_ASK_COMMAND,
		.argument = rr_terms_words(table->terms, ping),
	};
	struct rdl_reply reply;
	char text[400];
	bool blocks;

	if (!rr_asker_ask(table->asker, &question, question_command(table, &question), &reply,
			  &blocks) ||
	    !rr_asker_connection(table->asker, 0, text, sizeof(text)))
		return rr_server_fail_asking(table);
	rr_intern_put(&table->says, text, strlen(text) + 1, NULL);
	rr_intern_put(&table->wakes, NULL, 0, NULL);
	rr_connection_number(table, NULL);
	return rr_asker_reset(table->asker) || rr_server_fail_asking(table);
}

bool rr_server_table_init(struct rr_server_table *table, struct rr_cluster *cluster, int server,
			  struct rr_terms *terms, const struct rr_scripts *scripts,
			  const char *lock, bool absolute)
{
	struct rr_server_snapshot state = { .parent = RR_NO_ID };
	const struct rr_connections none = { .n = 0 };
	bool is_new;

	*table = (struct rr_server_table){
		.terms = terms, .scripts = scripts, .lock = lock, .absolute = absolute
	};
	table->asker = rr_asker_new(cluster, server, scripts, &table->error);
	if (!table->asker)
		return false;
	if (!learn_new_connection(table) || !rr_server_read_data(table, table->asker, &state))
		return false;
	rr_server_add_state(table, &state, &none, &is_new);
	return true;
}

void rr_server_table_release(struct rr_server_table *table)
{
	rr_asker_free(table->asker);
	rr_intern_release(&table->data);
	rr_intern_release(&table->connections);
	rr_intern_release(&table->says);
	rr_intern_release(&table->locks);
	rr_intern_release(&table->keys);
	rr_intern_release(&table->rows);
	rr_intern_release(&table->owns);
	rr_intern_release(&table->others);
	rr_intern_release(&table->singles);
	rr_intern_release(&table->lists);
	rr_intern_release(&table->wakes);
	rr_intern_release(&table->expiring);
	rr_scripts_release(&table->seen);
	free(table->own);
	free(table->other);
	free(table->states);
	free(table->row);
	*table = (struct rr_server_table){ 0 };
}

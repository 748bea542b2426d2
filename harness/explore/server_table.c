/* SPDX-License-Identifier: MIT */
#include "server_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scheduler/client_run.h"

#define MS INT64_C(1000000) /* in nanoseconds */

/* More than a day, so that nothing looks the same by chance. */
#define LATER_NS (INT64_C(100003) * 1000 * MS)

/* Among a connection's commands: the number of a database. */
#define NO_COMMAND UINT32_C(0x80000000)

/* What a state is known by. */
struct state_key {
	uint32_t data, connections;
	int64_t clock_ns;
	uint64_t was_wiped;
	uint64_t path; /* where no two paths lead to one state */
};

static bool fail_asking(struct rr_server_table *table)
{
	return rr_error_set(&table->error, RR_ERROR_REDIS, "%s",
			    rr_asker_error(table->asker));
}

static const char *name_of(const struct rr_server_table *table,
			   uint32_t command)
{
	return rr_intern_get(&table->terms->words,
			     table->terms->command[command].name);
}

/* ---- Data ----------------------------------------------------------------- */

static void append(FILE *file, const struct rl_reply *element)
{
	fwrite(&element->integer, sizeof(element->integer), 1, file);
	fwrite(&element->length, sizeof(element->length), 1, file);
	if (element->text)
		fwrite(element->text, 1, element->length, file);
}

static bool is_key(const struct rl_reply *element, const char *key)
{
	return element->text && strlen(key) == element->length &&
	       memcmp(element->text, key, element->length) == 0;
}

/* A key of database 0, the number of whose value stands for the lock. */
static void note_key(struct rr_server_table *table, const struct rl_reply *key,
		     long long db, struct rr_server_snapshot *state)
{
	const struct rl_reply *left = key + 1, *dump = key + 2;

	if (left->integer >= 0 &&
	    (left->integer + 1) * MS < state->first_end_ns)
		state->first_end_ns = (left->integer + 1) * MS;
	if (db == 0 && is_key(key, table->lock) && dump->text)
		state->lock = 1 + rr_intern_put(&table->locks, dump->text,
						dump->length, NULL);
}

/* An integer begins a database, three elements are a key. */
static void read_keys(struct rr_server_table *table,
		      const struct rl_reply *data, FILE *file,
		      struct rr_server_snapshot *state)
{
	long long db = 0;

	for (size_t i = 0; i < data->length;) {
		const struct rl_reply *element = &data->elements[i];

		append(file, element);
		if (element->type == RL_REPLY_INTEGER) {
			db = element->integer;
			i++;
			continue;
		}
		if (i + 2 >= data->length)
			return;
		append(file, element + 1);
		append(file, element + 2);
		note_key(table, element, db, state);
		i += 3;
	}
}

/* After a restart: which of the clients' scripts are known again. */
static bool read_scripts(struct rr_server_table *table, FILE *file)
{
	struct rl_reply reply;

	for (size_t i = 0; i < table->scripts->n; i++) {
		if (!rr_asker_say(table->asker, &reply, "SCRIPT EXISTS %s",
				  table->scripts->all[i].sha1))
			return false;
		if (reply.length == 1 && reply.elements[0].integer)
			fputs(table->scripts->all[i].sha1, file);
	}
	return true;
}

static bool read_functions(struct rr_server_table *table, FILE *file)
{
	struct rl_reply reply;

	if (rr_intern_find(&table->terms->words, "FUNCTION",
			   sizeof("FUNCTION")) == RR_NO_ID)
		return true;
	if (!rr_asker_say(table->asker, &reply, "FUNCTION DUMP"))
		return false;
	append(file, &reply);
	return true;
}

static bool read_data(struct rr_server_table *table,
		      struct rr_server_snapshot *state)
{
	struct rl_reply data;
	char *bytes = NULL;
	size_t size;
	FILE *file = open_memstream(&bytes, &size);
	bool good;

	if (!file)
		return false;
	state->first_end_ns = RR_NEVER;
	good = rr_asker_data(table->asker, &data);
	if (good)
		read_keys(table, &data, file, state);
	good = good && read_functions(table, file) &&
	       (!state->was_wiped || read_scripts(table, file));
	fclose(file);
	state->names = rr_terms_names_in(table->terms, bytes, size);
	state->data = rr_intern_put(&table->data, bytes, size, NULL);
	free(bytes);
	return good || fail_asking(table);
}

/* ---- Connections ---------------------------------------------------------- */

struct connections {
	size_t n;
	struct rr_connection all[RR_ASKER_SLOTS];
};

const struct rr_connection *
rr_server_table_connections(const struct rr_server_table *table,
			    uint32_t state, size_t *n)
{
	const uint32_t id = table->states[state].connections;

	*n = table->connections.values[id].length /
	     sizeof(struct rr_connection);
	return rr_intern_get(&table->connections, id);
}

const struct rr_connection *
rr_server_table_connection(const struct rr_server_table *table, uint32_t state,
			   uint16_t slot)
{
	size_t n;
	const struct rr_connection *all =
		rr_server_table_connections(table, state, &n);

	for (size_t i = 0; i < n; i++) {
		if (all[i].slot == slot)
			return &all[i];
	}
	return NULL;
}

static struct rr_connection *find(struct connections *connections,
				  uint16_t slot)
{
	for (size_t i = 0; i < connections->n; i++) {
		if (connections->all[i].slot == slot)
			return &connections->all[i];
	}
	return NULL;
}

/* In order of their slots. */
static struct rr_connection *insert(struct connections *connections,
				    uint16_t slot)
{
	size_t i = connections->n++;

	for (; i > 0 && connections->all[i - 1].slot > slot; i--)
		connections->all[i] = connections->all[i - 1];
	memset(&connections->all[i], 0, sizeof(connections->all[i]));
	connections->all[i].slot = slot;
	return &connections->all[i];
}

static void drop(struct connections *connections,
		 const struct rr_connection *connection)
{
	const size_t i = (size_t)(connection - connections->all);

	memmove(&connections->all[i], &connections->all[i + 1],
		(--connections->n - i) * sizeof(connections->all[0]));
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

/* Ends what the connection's commands consist of. */
static bool ends_transaction(const char *name, const struct rl_reply *reply)
{
	static const char *const names[] = { "EXEC", "DISCARD", "UNWATCH",
					     "RESET", NULL };

	return is_one_of(name, names) &&
	       !(reply->type == RL_REPLY_FAILED &&
		 strncmp(reply->text, "ERR", 3) == 0) &&
	       !(reply->type == RL_REPLY_STATUS &&
		 strcmp(reply->text, "QUEUED") == 0);
}

/* Becomes a part of its transaction, or watches. */
static bool belongs_to_transaction(const char *name,
				   const struct rl_reply *reply)
{
	static const char *const names[] = { "MULTI", "WATCH", NULL };

	return (is_one_of(name, names) && reply->type != RL_REPLY_FAILED) ||
	       (reply->type == RL_REPLY_STATUS &&
		strcmp(reply->text, "QUEUED") == 0);
}

static bool append_command(struct rr_server_table *table,
			   struct rr_connection *connection, uint32_t command)
{
	if (connection->n_commands == RR_CONNECTION_COMMANDS)
		return rr_error_set(&table->error, RR_ERROR_INTERNAL,
			    "a transaction of more than %d commands",
			    RR_CONNECTION_COMMANDS);
	connection->commands[connection->n_commands++] = command;
	return true;
}

static bool has_command(const struct rr_server_table *table,
			const struct rr_connection *connection,
			const char *name)
{
	for (uint32_t i = 0; i < connection->n_commands; i++) {
		if (!(connection->commands[i] & NO_COMMAND) &&
		    strcmp(name_of(table, connection->commands[i]), name) == 0)
			return true;
	}
	return false;
}

/* A command that is refused while its transaction is open makes EXEC fail. */
static bool spoils_transaction(const struct rr_server_table *table,
			       const struct rr_connection *connection,
			       const char *name, const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_FAILED && strcmp(name, "MULTI") != 0 &&
	       strcmp(name, "WATCH") != 0 &&
	       has_command(table, connection, "MULTI");
}

/* A WATCH is of the database that is selected. */
static bool append_database(struct rr_server_table *table,
			    struct rr_connection *connection)
{
	const char *says = rr_intern_get(&table->says, connection->says);
	const char *field = strstr(says, "db=");
	const uint32_t db = field ? (uint32_t)atoi(field + 3) : 0;

	return db == 0 ||
	       append_command(table, connection, NO_COMMAND | db);
}

static bool is_last(const struct rr_connection *connection, uint32_t command)
{
	return connection->n_commands &&
	       connection->commands[connection->n_commands - 1] == command;
}

static bool note_command(struct rr_server_table *table,
			 struct rr_connection *connection, uint32_t command,
			 const struct rl_reply *reply)
{
	const char *name = name_of(table, command);

	if (ends_transaction(name, reply)) {
		connection->n_commands = 0;
		memset(connection->commands, 0, sizeof(connection->commands));
		return true;
	}
	if (strcmp(name, "WATCH") == 0 && belongs_to_transaction(name, reply))
		return is_last(connection, command) ||
		       (append_database(table, connection) &&
			append_command(table, connection, command));
	if (strstr(name, "SUBSCRIBE"))
		return is_last(connection, command) ||
		       append_command(table, connection, command);
	return (!belongs_to_transaction(name, reply) &&
		!spoils_transaction(table, connection, name, reply)) ||
	       append_command(table, connection, command);
}

/* Nothing is subscribed to any more. */
static void forget_subscriptions(const struct rr_server_table *table,
				 struct rr_connection *connection)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < connection->n_commands; i++) {
		const uint32_t command = connection->commands[i];

		if (command & NO_COMMAND ||
		    !strstr(name_of(table, command), "SUBSCRIBE"))
			connection->commands[n++] = command;
	}
	memset(&connection->commands[n], 0,
	       (connection->n_commands - n) * sizeof(connection->commands[0]));
	connection->n_commands = n;
}

static bool add_message(struct rr_server_table *table,
			struct rr_connection *connection, uint32_t message)
{
	if (connection->n_messages == RR_CONNECTION_MESSAGES)
		return rr_error_set(&table->error, RR_ERROR_INTERNAL,
			    "more than %d messages that nobody reads",
			    RR_CONNECTION_MESSAGES);
	connection->messages[connection->n_messages++] = message;
	return true;
}

static uint32_t take_message(struct rr_connection *connection)
{
	const uint32_t message = connection->messages[0];

	connection->n_messages--;
	memmove(connection->messages, connection->messages + 1,
		connection->n_messages * sizeof(message));
	connection->messages[connection->n_messages] = 0;
	return message;
}

/* What the server says of it now, and what has come for it. */
static bool look_at(struct rr_server_table *table,
		    struct rr_connection *connection)
{
	struct rl_reply message;
	char text[400];

	if (!rr_asker_connection(table->asker, connection->slot, text,
				 sizeof(text)))
		return fail_asking(table);
	connection->says = rr_intern_put(&table->says, text, strlen(text) + 1,
					 NULL);
	connection->listens = !strstr(text, " sub=0 psub=0 ") ||
			      (strstr(text, " ssub=") &&
			       !strstr(text, " ssub=0 "));
	if (!connection->listens)
		forget_subscriptions(table, connection);
	while (rr_asker_message(table->asker, connection->slot, &message)) {
		if (!add_message(table, connection,
				 rr_terms_reply(table->terms, &message)))
			return false;
	}
	return true;
}

/* As it was when it was opened? Number 0 is what a new one says. */
static bool is_as_new(const struct rr_connection *connection)
{
	return connection->says == 0 && connection->n_commands == 0 &&
	       connection->n_messages == 0;
}

static bool look_at_all(struct rr_server_table *table,
			struct connections *connections)
{
	for (size_t i = connections->n; i-- > 0;) {
		struct rr_connection *connection = &connections->all[i];

		if (!look_at(table, connection))
			return false;
		if (is_as_new(connection))
			drop(connections, connection);
	}
	return true;
}

/* ---- States --------------------------------------------------------------- */

static void *enlarge(void *array, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return realloc(array, (n ? 2 * (size_t)n : 1) * size);
}

static uint32_t add_state(struct rr_server_table *table,
			  struct rr_server_snapshot *state,
			  const struct connections *connections, bool *is_new)
{
	struct state_key key;
	struct rr_server_snapshot *states;
	uint32_t id;

	for (size_t i = 0; i < connections->n; i++) {
		for (uint32_t j = 0; j < connections->all[i].n_messages; j++)
			state->names |= table->terms->reply[connections->all[i].messages[j]].names;
	}
	state->connections = rr_intern_put(
		&table->connections, connections->all,
		connections->n * sizeof(connections->all[0]), NULL);
	memset(&key, 0, sizeof(key));
	key.data = state->data;
	key.connections = state->connections;
	key.clock_ns = state->clock_ns;
	key.was_wiped = state->was_wiped;
	if (table->is_tree)
		key.path = (uint64_t)table->rows.n + 1;
	id = rr_intern_put(&table->keys, &key, sizeof(key), is_new);
	if (id == RR_NO_ID || !*is_new)
		return id;
	states = enlarge(table->states, id, sizeof(*states));
	if (!states)
		return RR_NO_ID;
	table->states = states;
	states[id] = *state;
	if (state->parent != RR_NO_ID)
		states[id].length = states[state->parent].length + 1;
	if (state->parent != RR_NO_ID)
		states[id].depth = states[state->parent].depth +
				   (state->question.kind == RR_ASK_COMMAND);
	if (states[id].depth > table->depth)
		table->depth = states[id].depth;
	return id;
}

/* ---- Asking --------------------------------------------------------------- */

static const struct rl_command *command_of(const struct rr_server_table *table,
					   const struct rr_question *question)
{
	return question->kind == RR_ASK_COMMAND ?
		       &table->terms->command[question->argument].words :
		       NULL;
}

/* The messages that come with a question on the way have been noted already. */
static void skip_messages(struct rr_server_table *table, uint32_t state)
{
	size_t n;
	const struct rr_connection *all =
		rr_server_table_connections(table, state, &n);
	struct rl_reply message;

	for (size_t i = 0; i < n; i++) {
		if (!all[i].listens)
			continue;
		rr_asker_say(table->asker, &message, "PING");
		while (rr_asker_message(table->asker, all[i].slot, &message))
			continue;
	}
}

/* Somebody may get messages by what led to the state. */
static bool has_listener(const struct rr_server_table *table,
			 const struct rr_server_snapshot *state)
{
	size_t n;
	const struct rr_connection *all =
		rr_server_table_connections(table, state->parent, &n);

	for (size_t i = 0; i < n; i++) {
		if (all[i].listens)
			return true;
	}
	return false;
}

/* The question was a command on a connection that carried nothing, and left nothing
 * there: any connection will do. */
static bool is_plain(struct rr_server_table *table,
		     const struct rr_server_snapshot *state)
{
	const struct rr_question *question = &state->question;
	struct rr_command_info info;

	if (question->kind != RR_ASK_COMMAND || has_listener(table, state) ||
	    rr_server_table_connection(table, state->parent, question->slot))
		return false;
	info = rr_asker_info(table->asker,
			     name_of(table, (uint32_t)question->argument));
	return !info.of_connection && !info.blocks;
}

/* One question of those that lead to a state. */
static bool replay(struct rr_server_table *table, uint32_t id)
{
	const struct rr_server_snapshot *state = &table->states[id];
	struct rl_reply reply;
	bool blocks;

	table->n_replayed++;
	if (is_plain(table, state))
		return rr_asker_queue(table->asker,
				      command_of(table, &state->question));
	if (!rr_asker_flush(table->asker) ||
	    !rr_asker_ask(table->asker, &state->question,
			  command_of(table, &state->question), &reply,
			  &blocks))
		return false;
	skip_messages(table, state->parent);
	skip_messages(table, id);
	return true;
}

/* Brings the server to a state, by the questions that led there. */
static bool bring_to(struct rr_server_table *table, uint32_t id)
{
	uint32_t *way = malloc((table->states[id].length + 1) * sizeof(*way));
	uint32_t n = 0, at = id;
	bool good = way != NULL;

	for (; good && at != table->at && table->states[at].parent != RR_NO_ID;
	     at = table->states[at].parent)
		way[n++] = at;
	if (good && at != table->at)
		good = rr_asker_reset(table->asker);
	while (good && n > 0)
		good = replay(table, way[--n]);
	good = good && rr_asker_flush(table->asker);
	free(way);
	table->at = good ? id : RR_NO_ID;
	return good || fail_asking(table);
}

/* The reply of a command; on a connection that listens the next that lies there
 * unread comes before it. */
static bool note_reply(struct rr_server_table *table,
		       struct connections *connections,
		       const struct rr_question *question,
		       const struct rl_reply *reply, struct rr_server_row *row)
{
	const uint32_t command = (uint32_t)question->argument;
	const struct rr_command_info info =
		rr_asker_info(table->asker, name_of(table, command));
	struct rr_connection *connection = find(connections, question->slot);

	row->reply = rr_terms_reply(table->terms, reply);
	if (reply->type == RL_REPLY_FAILED &&
	    strncmp(reply->text, "NOSCRIPT", 8) == 0)
		table->lacked_script = true;
	if (info.is_random)
		table->random_command = name_of(table, command);
	if (!connection && info.of_connection)
		connection = insert(connections, question->slot);
	if (!connection)
		return true;
	if (connection->n_messages) {
		if (!add_message(table, connection, row->reply))
			return false;
		row->reply = take_message(connection);
	}
	return note_command(table, connection, command, reply);
}

static bool ask(struct rr_server_table *table, struct rr_server_snapshot *state,
		struct connections *connections, struct rr_server_row *row)
{
	const struct rr_question *question = &row->question;
	struct rr_connection *connection = find(connections, question->slot);
	struct rl_reply reply;
	bool good;

	if (question->kind == RR_ASK_READ) {
		row->reply = take_message(connection);
		return true;
	}
	table->n_asked++;
	if (!rr_asker_ask(table->asker, question, command_of(table, question),
			  &reply, &row->blocks))
		return fail_asking(table);
	good = question->kind != RR_ASK_COMMAND ||
	       note_reply(table, connections, question, &reply, row);
	if (question->kind == RR_ASK_TICK)
		state->clock_ns += question->argument;
	if (!table->absolute)
		state->clock_ns %= MS;
	if (question->kind == RR_ASK_CLOSE && connection)
		drop(connections, connection);
	if (question->kind == RR_ASK_WIPE) {
		state->was_wiped = true;
		connections->n = 0;
	}
	return good && read_data(table, state) &&
	       look_at_all(table, connections);
}

/* ---- Composing ------------------------------------------------------------ */

/* What a question's reply depends on, but for what listens: `connection` is that of
 * the question, as a number of `singles`. */
struct own_key {
	uint32_t data, was_wiped;
	int64_t clock_ns;
	uint32_t connection, listening;
	struct rr_question question; /* of slot 0 */
};

/* What becomes of another connection. */
struct other_key {
	uint32_t own, connection;
};

/* A connection without its slot; number 0 is one that is as new. */
static uint32_t single(struct rr_server_table *table,
		       const struct rr_connection *connection)
{
	struct rr_connection copy;

	memset(&copy, 0, sizeof(copy));
	if (connection)
		copy = *connection;
	copy.slot = 0;
	return rr_intern_put(&table->singles, &copy, sizeof(copy), NULL);
}

/* All connections that listen, as one number. */
static uint32_t listening(struct rr_server_table *table,
			  const struct connections *connections)
{
	struct connections those = { .n = 0 };

	for (size_t i = 0; i < connections->n; i++) {
		if (connections->all[i].listens)
			those.all[those.n++] = connections->all[i];
	}
	return those.n == 0 ? 0 :
			      1 + rr_intern_put(&table->connections, those.all,
						those.n * sizeof(those.all[0]),
						NULL);
}

static struct own_key own_key_of(struct rr_server_table *table, uint32_t from,
				 struct connections *connections,
				 const struct rr_question *question)
{
	const struct rr_server_snapshot *state = &table->states[from];
	struct own_key key;

	memset(&key, 0, sizeof(key));
	key.data = state->data;
	key.was_wiped = state->was_wiped;
	key.clock_ns = state->clock_ns;
	key.connection = single(table, find(connections, question->slot));
	key.listening = listening(table, connections);
	key.question.kind = question->kind;
	key.question.argument = question->argument;
	/* Who of those that listen asks makes a difference. */
	if (key.listening)
		key.question.slot = question->slot;
	return key;
}

static bool has_slot(const struct rr_question *question)
{
	return question->kind != RR_ASK_TICK && question->kind != RR_ASK_WIPE;
}

static bool put_connection(struct rr_server_table *table,
			   struct connections *connections, uint16_t slot,
			   uint32_t number)
{
	struct rr_connection *connection = find(connections, slot);

	if (number == 0) {
		if (connection)
			drop(connections, connection);
		return true;
	}
	if (!connection)
		connection = insert(connections, slot);
	*connection = *(const struct rr_connection *)rr_intern_get(
		&table->singles, number);
	connection->slot = slot;
	return true;
}

/* Puts a row together from what is known. False: not all of it is. */
static bool compose(struct rr_server_table *table, uint32_t from,
		    struct connections *connections, struct rr_server_row *row,
		    struct rr_server_snapshot *state)
{
	const struct rr_question *question = &row->question;
	const struct own_key key =
		own_key_of(table, from, connections, question);
	const uint32_t id = rr_intern_find(&table->owns, &key, sizeof(key));
	const struct connections before = *connections;
	struct rr_own own;

	if (id == RR_NO_ID || question->kind == RR_ASK_READ || table->is_tree)
		return false;
	own = table->own[id];
	for (size_t i = 0; i < before.n; i++) {
		const struct rr_connection *connection = &before.all[i];
		const struct other_key other = { id, single(table, connection) };
		uint32_t after;

		if (has_slot(question) && connection->slot == question->slot)
			continue;
		after = rr_intern_find(&table->others, &other, sizeof(other));
		if (after == RR_NO_ID || connection->listens)
			return false;
		put_connection(table, connections, connection->slot,
			       table->other[after]);
	}
	if (has_slot(question))
		put_connection(table, connections, question->slot,
			       own.connection);
	*state = own.after;
	state->parent = from;
	state->question = *question;
	row->reply = own.reply;
	row->blocks = own.blocks;
	return true;
}

static bool is_same_own(const struct rr_own *a, const struct rr_own *b)
{
	return a->reply == b->reply && a->connection == b->connection &&
	       a->blocks == b->blocks && a->after.data == b->after.data &&
	       a->after.clock_ns == b->after.clock_ns &&
	       a->after.was_wiped == b->after.was_wiped;
}

static bool differ(struct rr_server_table *table,
		   const struct rr_server_row *row)
{
	const struct rr_question *question = &row->question;

	table->differs = true;
	return rr_error_set(&table->error, RR_ERROR_INTERNAL,
		    "the server answers '%s' in two ways, by two paths: there "
		    "is more to it than the table knows",
		    question->kind == RR_ASK_COMMAND ?
			    name_of(table, (uint32_t)question->argument) :
			    "a tick");
}

static bool note_own(struct rr_server_table *table, const struct own_key *key,
		     const struct rr_own *own, const struct rr_server_row *row,
		     uint32_t *number)
{
	bool is_new;
	struct rr_own *owns;

	*number = rr_intern_put(&table->owns, key, sizeof(*key), &is_new);
	if (!is_new)
		return is_same_own(&table->own[*number], own) ||
		       differ(table, row);
	owns = enlarge(table->own, *number, sizeof(*owns));
	if (!owns)
		return false;
	table->own = owns;
	owns[*number] = *own;
	return true;
}

static bool note_other(struct rr_server_table *table,
		       const struct other_key *key, uint32_t after,
		       const struct rr_server_row *row)
{
	bool is_new;
	const uint32_t number =
		rr_intern_put(&table->others, key, sizeof(*key), &is_new);
	uint32_t *others;

	if (!is_new)
		return table->other[number] == after || differ(table, row);
	others = enlarge(table->other, number, sizeof(*others));
	if (!others)
		return false;
	table->other = others;
	others[number] = after;
	return true;
}

/* Takes apart what was learned; or finds that it is not what was learned before. */
static bool take_apart(struct rr_server_table *table, const struct own_key *key,
		       const struct connections *before,
		       struct connections *after,
		       const struct rr_server_row *row,
		       const struct rr_server_snapshot *state)
{
	const struct rr_question *question = &row->question;
	const struct rr_own own = {
		.after = *state,
		.reply = row->reply,
		.blocks = row->blocks,
		.connection = has_slot(question) ?
				      single(table, find(after, question->slot)) :
				      0,
	};
	uint32_t number;

	if (question->kind == RR_ASK_READ || table->is_tree)
		return true;
	if (!note_own(table, key, &own, row, &number))
		return false;
	for (size_t i = 0; i < before->n; i++) {
		const struct rr_connection *other = &before->all[i];
		const struct other_key other_key = { number,
						     single(table, other) };

		if (other->listens || (has_slot(question) &&
				       other->slot == question->slot))
			continue;
		if (!note_other(table, &other_key,
				single(table, find(after, other->slot)), row))
			return false;
	}
	return true;
}

/* ---- Learning ------------------------------------------------------------- */

static bool note_merge(struct rr_server_table *table, uint32_t row)
{
	struct rr_merge *merges =
		enlarge(table->merges, table->n_merges, sizeof(*merges));

	if (!merges)
		return false;
	table->merges = merges;
	merges[table->n_merges++].row = row;
	return true;
}

static struct connections connections_of(const struct rr_server_table *table,
					 uint32_t state)
{
	struct connections connections;
	const struct rr_connection *all =
		rr_server_table_connections(table, state, &connections.n);

	memcpy(connections.all, all, connections.n * sizeof(all[0]));
	return connections;
}

/* Asks, and finds out which state that leads to; the server is at `from`. RR_NO_ID:
 * table->error. */
static uint32_t ask_from(struct rr_server_table *table, uint32_t from,
			 struct rr_server_row *row, bool *is_new)
{
	struct rr_server_snapshot state = table->states[from];
	struct connections before = connections_of(table, from), after = before;
	const struct own_key key =
		own_key_of(table, from, &before, &row->question);

	state.parent = from;
	state.question = row->question;
	if (row->question.kind != RR_ASK_READ) {
		state.lock = 0;
		state.names = 0;
	}
	table->at = RR_NO_ID;
	if (!ask(table, &state, &after, row) ||
	    !take_apart(table, &key, &before, &after, row, &state))
		return RR_NO_ID;
	return add_state(table, &state, &after, is_new);
}

static uint32_t find_out(struct rr_server_table *table, uint32_t from,
			 struct rr_server_row *row, bool *is_new)
{
	struct connections connections = connections_of(table, from);
	struct rr_server_snapshot state;
	uint32_t to;

	if (compose(table, from, &connections, row, &state))
		return add_state(table, &state, &connections, is_new);
	if (!bring_to(table, from))
		return RR_NO_ID;
	to = ask_from(table, from, row, is_new);
	table->at = to;
	return to;
}

static const struct rr_server_row *
learn(struct rr_server_table *table, uint32_t from,
      const struct rr_question *question, const void *key, size_t size)
{
	struct rr_server_row row = { .from = from, .question = *question };
	struct rr_server_row *rows;
	bool is_new = false;
	uint32_t id;

	row.to = find_out(table, from, &row, &is_new);
	if (table->error.kind)
		return NULL;
	id = rr_intern_put(&table->rows, key, size, NULL);
	rows = enlarge(table->row, id, sizeof(*rows));
	if (row.to == RR_NO_ID || id == RR_NO_ID || !rows ||
	    (!is_new && !note_merge(table, id))) {
		rr_error_no_memory(&table->error);
		return NULL;
	}
	table->row = rows;
	rows[id] = row;
	return &rows[id];
}

const struct rr_server_row *
rr_server_table_ask(struct rr_server_table *table, uint32_t state,
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
	return learn(table, state, question, &key, sizeof(key));
}

/* ---- Conformance ---------------------------------------------------------- */

static bool is_same(const struct rr_server_row *a,
		    const struct rr_server_row *b)
{
	return a->to == b->to && a->reply == b->reply &&
	       a->blocks == b->blocks;
}

/* Asks `row` behind `merge`, which leads to its state by another path. */
static int verify_row(struct rr_server_table *table, uint32_t merge,
		      uint32_t number)
{
	const struct rr_server_row detour = table->row[merge];
	const struct rr_server_row row = table->row[number];
	struct rr_server_row again = { .from = row.from,
				       .question = row.question };
	struct rr_server_row copy = { .from = detour.from,
				      .question = detour.question };
	bool is_new = false;

	if (!bring_to(table, detour.from) ||
	    ask_from(table, detour.from, &copy, &is_new) == RR_NO_ID)
		return -1;
	again.to = ask_from(table, row.from, &again, &is_new);
	table->at = RR_NO_ID;
	if (again.to == RR_NO_ID)
		return -1;
	if (is_same(&again, &row))
		return 0;
	differ(table, &row);
	return 1;
}

/* All rows of the state that a merge leads to. */
static int verify_merge(struct rr_server_table *table, uint32_t merge,
			unsigned long *left)
{
	const uint32_t n_rows = table->rows.n;
	int result = 0;

	for (uint32_t i = 0; i < n_rows && result == 0 && *left; i++) {
		if (table->row[i].from != table->row[merge].to ||
		    table->row[i].question.kind == RR_ASK_READ)
			continue;
		--*left;
		result = verify_row(table, merge, i);
	}
	return result;
}

/* Questions that changed nothing, as it seems, come last: they are many. */
int rr_server_table_verify(struct rr_server_table *table, unsigned long most,
			   unsigned long *n)
{
	unsigned long left = most;
	int result = table->error.kind ? -1 : 0;

	for (int stays = 0; stays < 2 && result == 0; stays++) {
		for (uint32_t i = 0; i < table->n_merges && result == 0; i++) {
			const uint32_t merge = table->merges[i].row;

			if ((table->row[merge].from == table->row[merge].to) ==
			    stays)
				result = verify_merge(table, merge, &left);
		}
	}
	*n += most - left;
	return result;
}

/* ---- The time of day ------------------------------------------------------- */

/* A row asked again, by a clock that has been ahead from the beginning. */
static bool is_same_later(struct rr_server_table *table, uint32_t number)
{
	const struct rr_server_row row = table->row[number];
	struct rr_server_row again = { .from = row.from,
				       .question = row.question };
	struct rr_server_snapshot state = table->states[row.from];
	struct connections connections = connections_of(table, row.from);

	if (!bring_to(table, row.from))
		return true;
	table->at = RR_NO_ID;
	return !ask(table, &state, &connections, &again) ||
	       (again.reply == row.reply &&
		state.data == table->states[row.to].data);
}

bool rr_server_table_tells_time(struct rr_server_table *table)
{
	enum { EACH = 6 };
	uint8_t *seen = calloc(table->terms->kinds.n + 1, 1);
	bool differs = false;

	rr_asker_set_epoch(table->asker, LATER_NS);
	table->at = RR_NO_ID;
	for (uint32_t i = 0; seen && i < table->rows.n && !differs; i++) {
		const struct rr_question *question = &table->row[i].question;
		uint32_t kind;

		if (question->kind != RR_ASK_COMMAND)
			continue;
		kind = table->terms->command[question->argument].kind;
		if (seen[kind]++ < EACH)
			differs = !is_same_later(table, i);
		else
			seen[kind] = EACH;
	}
	rr_asker_set_epoch(table->asker, 0);
	table->at = RR_NO_ID;
	free(seen);
	return differs && !table->error.kind;
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
	struct rl_reply reply;
	char text[400];
	bool blocks;

	if (!rr_asker_ask(table->asker, &question,
			  command_of(table, &question), &reply, &blocks) ||
	    !rr_asker_connection(table->asker, 0, text, sizeof(text)))
		return fail_asking(table);
	rr_intern_put(&table->says, text, strlen(text) + 1, NULL);
	single(table, NULL);
	return rr_asker_reset(table->asker) || fail_asking(table);
}

bool rr_server_table_init(struct rr_server_table *table,
			  struct rr_cluster *cluster, int server,
			  struct rr_terms *terms,
			  const struct rr_scripts *scripts, const char *lock,
			  bool absolute)
{
	struct rr_server_snapshot state = { .parent = RR_NO_ID };
	const struct connections none = { .n = 0 };
	char why[RR_CLUSTER_ERROR];
	bool is_new;

	*table = (struct rr_server_table){ .terms = terms,
					   .scripts = scripts,
					   .lock = lock,
					   .absolute = absolute };
	table->asker = rr_asker_new(cluster, server, scripts, why);
	if (!table->asker)
		return rr_error_set(&table->error, RR_ERROR_REDIS, "%s", why);
	return learn_new_connection(table) && read_data(table, &state) &&
	       (add_state(table, &state, &none, &is_new) == 0 ||
		rr_error_no_memory(&table->error));
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
	free(table->own);
	free(table->other);
	free(table->states);
	free(table->row);
	free(table->merges);
	*table = (struct rr_server_table){ 0 };
}

/* SPDX-License-Identifier: MIT */
/* What a server keeps for its connections: transactions, WATCH, subscriptions, and
 * messages that nobody has read. */
#include <stdlib.h>
#include <string.h>

#include "server_state.h"

/* Among a connection's commands: the number of a database. */
#define NO_COMMAND UINT32_C(0x80000000)

/* Or that of a list of commands that were there before. */
#define IS_LIST UINT32_C(0x40000000)

/* ---- Those that are not as new --------------------------------------------- */

const struct rr_connection *rr_server_table_connections(const struct rr_server_table *table,
							uint32_t state, size_t *n)
{
	const uint32_t id = table->states[state].connections;

	*n = table->connections.values[id].length / sizeof(struct rr_connection);
	return rr_intern_get(&table->connections, id);
}

const struct rr_connection *rr_server_table_connection(const struct rr_server_table *table,
						       uint32_t state, uint16_t slot)
{
	size_t n;
	const struct rr_connection *all = rr_server_table_connections(table, state, &n);

	for (size_t i = 0; i < n; i++) {
		if (all[i].slot == slot)
			return &all[i];
	}
	return NULL;
}

struct rr_connection *rr_connections_find(struct rr_connections *connections, uint16_t slot)
{
	for (size_t i = 0; i < connections->n; i++) {
		if (connections->all[i].slot == slot)
			return &connections->all[i];
	}
	return NULL;
}

/* In order of their slots. */
struct rr_connection *rr_connections_insert(struct rr_connections *connections, uint16_t slot)
{
	size_t i = connections->n++;

	for (; i > 0 && connections->all[i - 1].slot > slot; i--)
		connections->all[i] = connections->all[i - 1];
	memset(&connections->all[i], 0, sizeof(connections->all[i]));
	connections->all[i].slot = slot;
	return &connections->all[i];
}

void rr_connections_drop(struct rr_connections *connections, const struct rr_connection *connection)
{
	const size_t i = (size_t)(connection - connections->all);

	memmove(&connections->all[i], &connections->all[i + 1],
		(--connections->n - i) * sizeof(connections->all[0]));
}

void rr_server_connections(const struct rr_server_table *table, uint32_t state,
			   struct rr_connections *connections)
{
	const struct rr_connection *all = rr_server_table_connections(table, state,
								      &connections->n);

	memcpy(connections->all, all, connections->n * sizeof(all[0]));
}

/* ---- What they carry -------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

/* Becomes a part of its transaction, or watches. */
static bool belongs_to_transaction(const char *name, const struct rdl_reply *reply)
{
	static const char *const names[] = { "MULTI", "WATCH", NULL };

	return (is_one_of(name, names) && reply->type != RDL_REPLY_FAILED) ||
	       (reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0);
}

/* The full list of those that were there before; NULL: there were none. */
static const uint32_t *commands_before(const struct rr_server_table *table,
				       const uint32_t *commands)
{
	return commands[0] < (NO_COMMAND | IS_LIST) ?
		       NULL :
		       rr_intern_get(&table->lists, commands[0] & ~(NO_COMMAND | IS_LIST));
}

uint64_t rr_connection_names(const struct rr_server_table *table,
			     const struct rr_connection *connection)
{
	uint32_t n = connection->n_commands;
	uint64_t names = 0;

	for (const uint32_t *commands = connection->commands; commands;
	     commands = commands_before(table, commands)) {
		for (uint32_t i = 0; i < n; i++) {
			if (!(commands[i] & NO_COMMAND))
				names |= table->terms->command[commands[i]].names;
		}
		n = RR_CONNECTION_COMMANDS;
	}
	for (uint32_t i = 0; i < connection->n_messages; i++)
		names |= table->terms->reply[connection->messages[i]].names;
	return names;
}

static void append_command(struct rr_server_table *table, struct rr_connection *connection,
			   uint32_t command)
{
	if (connection->n_commands == RR_CONNECTION_COMMANDS) {
		const uint32_t list = rr_intern_put(&table->lists, connection->commands,
						    sizeof(connection->commands), NULL);

		/* Makes room: the commands become a list, whose number is the first of new ones. */
		memset(connection->commands, 0, sizeof(connection->commands));
		connection->commands[0] = NO_COMMAND | IS_LIST | list;
		connection->n_commands = 1;
	}
	connection->commands[connection->n_commands++] = command;
}

/* Among its commands, or those of the lists before them. */
static bool sent_command(const struct rr_server_table *table,
			 const struct rr_connection *connection, const char *name)
{
	uint32_t n = connection->n_commands;

	for (const uint32_t *commands = connection->commands; commands;
	     commands = commands_before(table, commands)) {
		for (uint32_t i = 0; i < n; i++) {
			if (!(commands[i] & NO_COMMAND) &&
			    strcmp(rr_server_command_name(table, commands[i]), name) == 0)
				return true;
		}
		n = RR_CONNECTION_COMMANDS;
	}
	return false;
}

bool rr_server_table_is_watched(const struct rr_server_table *table, uint32_t state)
{
	size_t n, i = 0;
	const struct rr_connection *all = rr_server_table_connections(table, state, &n);

	while (i < n && !sent_command(table, &all[i], "WATCH"))
		i++;
	return i < n;
}

/* A command that is refused while its transaction is open makes EXEC fail. */
static bool spoils_transaction(const struct rr_server_table *table,
			       const struct rr_connection *connection, const char *name,
			       const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_FAILED && strcmp(name, "MULTI") != 0 &&
	       strcmp(name, "WATCH") != 0 && sent_command(table, connection, "MULTI");
}

static bool is_last_command(const struct rr_connection *connection, uint32_t command)
{
	return connection->n_commands &&
	       connection->commands[connection->n_commands - 1] == command;
}

void rr_connection_note(struct rr_server_table *table, struct rr_connection *connection,
			uint32_t command, const struct rdl_reply *reply)
{
	const char *name = rr_server_command_name(table, command);
	static const char *const names[] = { "EXEC", "DISCARD", "UNWATCH", "RESET", NULL };

	/* Ends what the connection's commands consist of. */
	if (is_one_of(name, names) &&
	    !(reply->type == RDL_REPLY_FAILED && strncmp(reply->text, "ERR", 3) == 0) &&
	    !(reply->type == RDL_REPLY_STATUS && strcmp(reply->text, "QUEUED") == 0)) {
		connection->n_commands = 0;
		memset(connection->commands, 0, sizeof(connection->commands));
	} else if (strcmp(name, "WATCH") == 0 && belongs_to_transaction(name, reply)) {
		const char *says;
		const char *field;
		uint32_t db;

		if (is_last_command(connection, command))
			return;
		/* A WATCH is of the database that is selected. */
		says = rr_intern_get(&table->says, connection->says);
		field = strstr(says, "db=");
		db = field ? (uint32_t)atoi(field + 3) : 0;
		if (db)
			append_command(table, connection, NO_COMMAND | db);
		append_command(table, connection, command);
	} else if (strstr(name, "SUBSCRIBE")) {
		if (!is_last_command(connection, command))
			append_command(table, connection, command);
	} else if (belongs_to_transaction(name, reply) ||
		   spoils_transaction(table, connection, name, reply)) {
		append_command(table, connection, command);
	}
}

bool rr_connection_add_message(struct rr_server_table *table, struct rr_connection *connection,
			       uint32_t message)
{
	if (connection->n_messages == RR_CONNECTION_MESSAGES)
		return rr_error_set(&table->error, RR_ERROR_INTERNAL,
				    "more than %d messages that no client reads",
				    RR_CONNECTION_MESSAGES);
	connection->messages[connection->n_messages++] = message;
	return true;
}

uint32_t rr_connection_take_message(struct rr_connection *connection)
{
	const uint32_t message = connection->messages[0];

	connection->n_messages--;
	memmove(connection->messages, connection->messages + 1,
		connection->n_messages * sizeof(message));
	connection->messages[connection->n_messages] = 0;
	return message;
}

/* As it was when it was opened? Number 0 is what a new one says. */
static bool is_unchanged_connection(const struct rr_connection *connection)
{
	return connection->says == 0 && connection->n_commands == 0 &&
	       connection->n_messages == 0 && !connection->blocks;
}

/* ---- Commands that block ----------------------------------------------------- */

bool rr_connections_any_blocks(const struct rr_connections *connections)
{
	size_t i = 0;

	while (i < connections->n && !connections->all[i].blocks)
		i++;
	return i < connections->n;
}

void rr_connection_block(struct rr_connections *connections, uint16_t slot, uint32_t command)
{
	struct rr_connection *connection = rr_connections_find(connections, slot);
	uint32_t rank = 1;

	for (size_t i = 0; i < connections->n; i++)
		rank += connections->all[i].blocks != 0;
	if (!connection)
		connection = rr_connections_insert(connections, slot);
	connection->blocks = command + 1;
	connection->rank = rank;
}

void rr_connections_note_served(struct rr_server_table *table, struct rr_connections *connections,
				struct rr_server_row *row)
{
	struct rr_wake wakes[RR_ASKER_SLOTS];
	size_t n = 0;
	struct rdl_reply reply;

	for (size_t i = 0; i < connections->n; i++) {
		struct rr_connection *connection = &connections->all[i];

		if (!connection->blocks)
			continue;
		if (!rr_asker_served(table->asker, connection->slot, &reply)) {
			connection->left_ns = rr_asker_blocked_ns(table->asker, connection->slot);
			continue;
		}
		wakes[n++] = (struct rr_wake){ .slot = connection->slot,
					       .reply = rr_terms_reply(table->terms, &reply) };
		for (size_t j = 0; j < connections->n; j++)
			connections->all[j].rank -= connections->all[j].rank > connection->rank;
		connection->blocks = connection->rank = 0;
		connection->left_ns = 0;
	}
	row->wakes = rr_intern_put(&table->wakes, wakes, n * sizeof(wakes[0]), NULL);
}

/* The next connection from *i on that is not as new but for a command that blocks. */
static bool next_alike(const struct rr_connection *all, size_t n, size_t *i,
		       struct rr_connection *connection)
{
	while (*i < n) {
		const struct rr_connection *from = &all[(*i)++];

		/* As if nothing blocked; false: it is as new then. */
		*connection = *from;
		connection->blocks = connection->rank = 0;
		connection->left_ns = 0;
		if (!is_unchanged_connection(connection))
			return true;
	}
	return false;
}

bool rr_server_table_are_alike(const struct rr_server_table *table, uint32_t a, uint32_t b)
{
	const struct rr_server_snapshot *one = &table->states[a], *other = &table->states[b];
	struct rr_connection mine, its;
	size_t i = 0, j = 0, n_mine, n_its;
	const struct rr_connection *all = rr_server_table_connections(table, a, &n_mine);
	const struct rr_connection *others = rr_server_table_connections(table, b, &n_its);

	if (a == b)
		return true;
	if (one->data != other->data || one->clock_ns != other->clock_ns ||
	    one->was_wiped != other->was_wiped)
		return false;
	for (;;) {
		const bool has_mine = next_alike(all, n_mine, &i, &mine);
		const bool has_its = next_alike(others, n_its, &j, &its);

		if (!has_mine || !has_its)
			return has_mine == has_its;
		if (memcmp(&mine, &its, sizeof(mine)) != 0)
			return false;
	}
}

/* ---- Looking ------------------------------------------------------------------ */

/* What the server says of it now, and what has come for it. */
static bool look_at_connection(struct rr_server_table *table, struct rr_connection *connection)
{
	struct rdl_reply message;
	char text[400];
	static const char field[] = " flags=";
	char *flags, *flag;

	if (!rr_asker_connection(table->asker, connection->slot, text, sizeof(text)))
		return rr_server_fail_asking(table);
	/* In what CLIENT LIST says: that a command blocks is noted apart. A connection without any
	 * flag has "N". */
	flags = strstr(text, field);
	if (flags) {
		flags += strlen(field);
		flag = memchr(flags, 'b', strcspn(flags, " "));
		if (flag && flags[1] == ' ')
			*flag = 'N';
		else if (flag)
			memmove(flag, flag + 1, strlen(flag));
	}
	connection->says = rr_intern_put(&table->says, text, strlen(text) + 1, NULL);
	connection->listens = !strstr(text, " sub=0 psub=0 ") ||
			      (strstr(text, " ssub=") && !strstr(text, " ssub=0 "));
	if (!connection->listens) {
		uint32_t n = 0;

		/* Nothing is subscribed to any more. */
		for (uint32_t i = 0; i < connection->n_commands; i++) {
			const uint32_t command = connection->commands[i];

			if (command & NO_COMMAND ||
			    !strstr(rr_server_command_name(table, command), "SUBSCRIBE"))
				connection->commands[n++] = command;
		}
		memset(&connection->commands[n], 0,
		       (connection->n_commands - n) * sizeof(connection->commands[0]));
		connection->n_commands = n;
	}
	while (rr_asker_message(table->asker, connection->slot, &message)) {
		if (!rr_connection_add_message(table, connection,
					       rr_terms_reply(table->terms, &message)))
			return false;
	}
	return true;
}

bool rr_connections_look(struct rr_server_table *table, struct rr_connections *connections)
{
	for (size_t i = connections->n; i-- > 0;) {
		struct rr_connection *connection = &connections->all[i];

		if (!look_at_connection(table, connection))
			return false;
		if (is_unchanged_connection(connection))
			rr_connections_drop(connections, connection);
	}
	return true;
}

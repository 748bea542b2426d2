/* SPDX-License-Identifier: MIT */
/*
 * Rows of the server table that are composed of what was learned with other
 * connections around. What a command is answered, and what it does to the data and to
 * its own connection, depends on these and on what listens; what becomes of another
 * connection depends on that one as well, and on no third.
 */
#include <string.h>

#include "base/array.h"
#include "server_state.h"

/* What becomes of another connection. */
struct other_key {
	uint32_t own, connection;
};

uint32_t rr_connection_number(struct rr_server_table *table, const struct rr_connection *connection)
{
	struct rr_connection copy;

	memset(&copy, 0, sizeof(copy));
	if (connection)
		copy = *connection;
	copy.slot = 0;
	return rr_intern_put(&table->singles, &copy, sizeof(copy), NULL);
}

struct rr_own_key rr_server_own_key(struct rr_server_table *table, uint32_t from,
				    struct rr_connections *connections,
				    const struct rr_question *question)
{
	const struct rr_server_snapshot *state = &table->states[from];
	struct rr_own_key key;
	struct rr_connections those;

	memset(&key, 0, sizeof(key));
	key.data = state->data;
	key.was_wiped = state->was_wiped;
	key.clock_ns = state->clock_ns;
	key.connection = rr_connection_number(table,
					      rr_connections_find(connections, question->slot));
	/* All connections that listen, as one number. */
	those.n = 0;
	for (size_t i = 0; i < connections->n; i++) {
		if (connections->all[i].listens)
			those.all[those.n++] = connections->all[i];
	}
	key.listening = those.n == 0 ? 0 :
				       1 + rr_intern_put(&table->connections, those.all,
							 those.n * sizeof(those.all[0]), NULL);
	key.question.kind = question->kind;
	key.question.argument = question->argument;
	/* Who of those that listen asks makes a difference, and which database it is. */
	if (key.listening || question->kind == RR_ASK_HOLD)
		key.question.slot = question->slot;
	return key;
}

static bool question_has_slot(const struct rr_question *question)
{
	return question->kind != RR_ASK_TICK && question->kind != RR_ASK_WIPE &&
	       question->kind != RR_ASK_HOLD;
}

static void put_connection(struct rr_server_table *table, struct rr_connections *connections,
			   uint16_t slot, uint32_t number)
{
	struct rr_connection *connection = rr_connections_find(connections, slot);

	if (number == 0) {
		if (connection)
			rr_connections_drop(connections, connection);
		return;
	}
	if (!connection)
		connection = rr_connections_insert(connections, slot);
	*connection = *(const struct rr_connection *)rr_intern_get(&table->singles, number);
	connection->slot = slot;
}

bool rr_server_compose(struct rr_server_table *table, uint32_t from,
		       struct rr_connections *connections, struct rr_server_row *row,
		       struct rr_server_snapshot *state)
{
	const struct rr_question *question = &row->question;
	const struct rr_own_key key = rr_server_own_key(table, from, connections, question);
	const uint32_t id = rr_intern_find(&table->owns, &key, sizeof(key));
	struct rr_connections before;
	struct rr_own own;

	/* What blocks is served in an order of all. */
	if (id == RR_NO_ID || question->kind == RR_ASK_READ || table->is_tree ||
	    rr_connections_any_blocks(connections))
		return false;
	rr_connections_copy(&before, connections);
	own = table->own[id];
	for (size_t i = 0; i < before.n; i++) {
		const struct rr_connection *connection = &before.all[i];
		const struct other_key other = { id, rr_connection_number(table, connection) };
		uint32_t after;

		if (question_has_slot(question) && connection->slot == question->slot)
			continue;
		after = rr_intern_find(&table->others, &other, sizeof(other));
		if (after == RR_NO_ID || connection->listens)
			return false;
		put_connection(table, connections, connection->slot, table->other[after]);
	}
	if (question_has_slot(question))
		put_connection(table, connections, question->slot, own.connection);
	*state = own.after;
	state->parent = from;
	state->question = *question;
	row->reply = own.reply;
	row->blocks = own.blocks;
	row->wakes = own.wakes;
	return true;
}

bool rr_server_differ(struct rr_server_table *table, const struct rr_server_row *row)
{
	const struct rr_question *question = &row->question;

	table->differs = true;
	return rr_error_set(&table->error, RR_ERROR_INTERNAL,
			    "the server answers '%s' in two ways after two paths: its "
			    "state holds more than the table knows",
			    question->kind == RR_ASK_COMMAND ?
				    rr_server_command_name(table, (uint32_t)question->argument) :
				    "a tick");
}

static bool is_same_own(const struct rr_own *a, const struct rr_own *b)
{
	return a->reply == b->reply && a->connection == b->connection && a->blocks == b->blocks &&
	       a->wakes == b->wakes && a->after.data == b->after.data &&
	       a->after.clock_ns == b->after.clock_ns && a->after.was_wiped == b->after.was_wiped;
}

bool rr_server_take_apart(struct rr_server_table *table, const struct rr_own_key *key,
			  const struct rr_connections *before, struct rr_connections *after,
			  const struct rr_server_row *row, const struct rr_server_snapshot *state)
{
	const struct rr_question *question = &row->question;
	const struct rr_own own = {
		.after = *state,
		.reply = row->reply,
		.blocks = row->blocks,
		.wakes = row->wakes,
		.connection = question_has_slot(question) ?
				      rr_connection_number(
					      table, rr_connections_find(after, question->slot)) :
				      0,
	};
	uint32_t number;
	bool is_new;

	if (question->kind == RR_ASK_READ || table->is_tree || rr_connections_any_blocks(before))
		return true;
	number = rr_intern_put(&table->owns, key, sizeof(*key), &is_new);
	if (is_new) {
		rr_array_grow(&table->own, number, sizeof(own));
		table->own[number] = own;
	} else if (!is_same_own(&table->own[number], &own)) {
		return rr_server_differ(table, row);
	}
	for (size_t i = 0; i < before->n; i++) {
		const struct rr_connection *other = &before->all[i];
		const struct other_key other_key = { number, rr_connection_number(table, other) };
		uint32_t to, it;

		if (other->listens ||
		    (question_has_slot(question) && other->slot == question->slot))
			continue;
		to = rr_connection_number(table, rr_connections_find(after, other->slot));
		it = rr_intern_put(&table->others, &other_key, sizeof(other_key), &is_new);
		if (is_new) {
			rr_array_grow(&table->other, it, sizeof(to));
			table->other[it] = to;
		} else if (table->other[it] != to) {
			return rr_server_differ(table, row);
		}
	}
	return true;
}

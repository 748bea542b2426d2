/* SPDX-License-Identifier: MIT */
/* What the states and rows of the server table are made of. */
#ifndef RR_SERVER_STATE_H
#define RR_SERVER_STATE_H

#include <string.h>

#include "replay/replay.h"
#include "server_table.h"

/* ---- Data and states (server_state.c) --------------------------------------- */

/* table->error is what the asker says; returns false. */
bool rr_server_fail_asking(struct rr_server_table *table);

/* Reads all that a server, the asker's, says of its data into `state`. */
bool rr_server_read_data(struct rr_server_table *table, struct rr_asker *asker,
			 struct rr_server_snapshot *state);

struct rr_connections {
	size_t n;
	struct rr_connection all[RR_ASKER_SLOTS]; /* in order of their slots */
};

/* The number of a state. */
uint32_t rr_server_add_state(struct rr_server_table *table, struct rr_server_snapshot *state,
			     const struct rr_connections *connections, bool *is_new);

/* ---- Connections (connections.c) --------------------------------------------- */

/* Connections of a state that are not as new. */
const struct rr_connection *rr_server_table_connections(const struct rr_server_table *table,
							uint32_t state, size_t *n);

/* Copies those that are there, which are few. */
static inline void rr_connections_copy(struct rr_connections *to, const struct rr_connections *from)
{
	to->n = from->n;
	memcpy(to->all, from->all, from->n * sizeof(from->all[0]));
}

void rr_server_connections(const struct rr_server_table *table, uint32_t state,
			   struct rr_connections *connections);

struct rr_connection *rr_connections_find(struct rr_connections *connections, uint16_t slot);
struct rr_connection *rr_connections_insert(struct rr_connections *connections, uint16_t slot);
void rr_connections_drop(struct rr_connections *connections,
			 const struct rr_connection *connection);

/* What the server says of each now, and what has come for it. */
bool rr_connections_look(struct rr_server_table *table, struct rr_connections *connections);

/* A command blocks there from now on. */
void rr_connection_block(struct rr_connections *connections, uint16_t slot, uint32_t command);

/* Which of the commands that blocked have been served, a list for the row; for how long the others
 * block still. */
void rr_connections_note_served(struct rr_server_table *table, struct rr_connections *connections,
				struct rr_server_row *row);

bool rr_connections_any_blocks(const struct rr_connections *connections);

/* The random values in its commands and messages, a mask. */
uint64_t rr_connection_names(const struct rr_server_table *table,
			     const struct rr_connection *connection);

/* A command was answered there: what is left of it. */
void rr_connection_note(struct rr_server_table *table, struct rr_connection *connection,
			uint32_t command, const struct rdl_reply *reply);

bool rr_connection_add_message(struct rr_server_table *table, struct rr_connection *connection,
			       uint32_t message);
uint32_t rr_connection_take_message(struct rr_connection *connection);

/* ---- Composing (compose.c) --------------------------------------------------- */

/* What a question's reply depends on, but for what listens: `connection` is that of
 * the question, as a number of `singles`. */
struct rr_own_key {
	uint32_t data, was_wiped;
	int64_t clock_ns;
	uint32_t connection, listening;
	struct rr_question question; /* of slot 0 */
};

struct rr_own_key rr_server_own_key(struct rr_server_table *table, uint32_t from,
				    struct rr_connections *connections,
				    const struct rr_question *question);

/* A connection without its slot; number 0 is one that is as new. */
uint32_t rr_connection_number(struct rr_server_table *table,
			      const struct rr_connection *connection);

/* Puts a row together from what is known. False: not all of it is. */
bool rr_server_compose(struct rr_server_table *table, uint32_t from,
		       struct rr_connections *connections, struct rr_server_row *row,
		       struct rr_server_snapshot *state);

/* Takes apart what was learned; or finds that it is not what was learned before. */
bool rr_server_take_apart(struct rr_server_table *table, const struct rr_own_key *key,
			  const struct rr_connections *before, struct rr_connections *after,
			  const struct rr_server_row *row, const struct rr_server_snapshot *state);

/* One question was answered in two ways; returns false. */
bool rr_server_differ(struct rr_server_table *table, const struct rr_server_row *row);

/* ---- Asking (server_table.c) --------------------------------------------------- */

/* Brings the server to a state, by the questions that led there. */
bool rr_server_bring_to(struct rr_server_table *table, uint32_t id);

/* Asks the question of the row; `state` and `connections` are what there is before, and then
 * after. */
bool rr_server_ask(struct rr_server_table *table, struct rr_server_snapshot *state,
		   struct rr_connections *connections, struct rr_server_row *row);

/* Asks, and finds out which state that leads to; the server is at `from`. RR_NO_ID:
 * table->error. */
uint32_t rr_server_ask_from(struct rr_server_table *table, uint32_t from, struct rr_server_row *row,
			    bool *is_new);

/* What a script calls the server does not say before it runs: one that names a random
 * command, math.random or OBJECT, may be answered by more than the data. */
bool rr_server_may_draw(const struct rr_server_table *table, const char *name,
			const struct rdl_command *command);

#endif

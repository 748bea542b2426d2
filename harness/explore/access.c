/* SPDX-License-Identifier: MIT */
#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "effects.h"
#include "shapes.h"

enum { NAMES_MAX = 63, LINKS_MAX = 64, NAME_SIZE = 160, SERVERS_MAX = 16,
       DOUBTFUL_MAX = 64 };

/* What a connection has queued and watches. */
struct connection {
	const struct rl_link *link;
	struct rr_footprint queued, watched;
};

struct rr_access {
	struct rl_link *links[SERVERS_MAX];
	size_t n_servers;
	char timeless[NAME_SIZE];
	struct rr_shapes *shapes;
	char names[NAMES_MAX][NAME_SIZE]; /* what bit i stands for */
	size_t n_names;
	struct connection connections[LINKS_MAX];
	size_t n_connections;
	uint64_t doubtful[DOUBTFUL_MAX]; /* scripts, by hash */
	size_t n_doubtful;
};

/* Bit 0: who is inside. */
static const struct rr_footprint inside_read = { .reads = 1 };
static const struct rr_footprint inside_written = { .writes = 1 };

/* ---- Making and freeing --------------------------------------------------- */

struct rr_access *rr_access_new(const struct rl_address *addresses, size_t n,
				const char *timeless)
{
	struct rr_access *access = calloc(1, sizeof(*access));
	bool good = access != NULL;

	if (!good)
		return NULL;
	snprintf(access->timeless, sizeof(access->timeless), "%s",
		 timeless ? timeless : "");
	access->n_names = 1;
	access->n_servers = n;
	access->shapes = rr_shapes_new();
	good = access->shapes != NULL;
	for (size_t i = 0; good && i < n; i++) {
		access->links[i] = rl_link_new(&addresses[i], 2000);
		good = access->links[i] &&
		       rl_link_connect(access->links[i]) == RL_OK;
	}
	if (good)
		return access;
	rr_access_free(access);
	return NULL;
}

void rr_access_free(struct rr_access *access)
{
	if (!access)
		return;
	for (size_t i = 0; i < access->n_servers; i++)
		rl_link_free(access->links[i]);
	rr_shapes_free(access->shapes);
	free(access);
}

void rr_access_begin(struct rr_access *access)
{
	access->n_connections = 0;
}

/* ---- Names ---------------------------------------------------------------- */

/* Those for which no bit is left share the last one: they conflict more. */
static uint64_t bit_of(struct rr_access *access, const char *name)
{
	size_t i = 1;

	while (i < access->n_names && strcmp(access->names[i], name) != 0)
		i++;
	if (i == access->n_names && i < NAMES_MAX) {
		snprintf(access->names[i], NAME_SIZE, "%s", name);
		access->n_names++;
	}
	return UINT64_C(1) << i;
}

static uint64_t bit_of_key(struct rr_access *access, int server,
			   const struct rl_word *key)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%d:%.*s", server, (int)key->length,
		 key->text);
	return bit_of(access, name);
}

static uint64_t bit_of_mutex(struct rr_access *access,
			     const struct rl_mutex *mutex)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "mutex %p", (const void *)mutex);
	return bit_of(access, name);
}

/* ---- Commands ------------------------------------------------------------- */

static bool is_timeless(const struct rr_access *access, int server,
			const struct rl_word *key)
{
	return server == 0 && strcmp(access->timeless, key->text) == 0;
}

static struct rr_footprint of_keys(struct rr_access *access,
				   const struct rr_op *op)
{
	const struct rr_shape *shape =
		op->server < 0 ? NULL :
				 rr_shapes_of(access->shapes,
					      access->links[op->server], op);
	struct rr_footprint sum = { .all = !shape || shape->is_unknown };

	for (size_t i = 0; shape && i < shape->n_keys; i++) {
		const struct rl_word *key = &op->words[shape->keys[i].word];
		const uint64_t bit = bit_of_key(access, op->server, key);

		*(shape->keys[i].writes ? &sum.writes : &sum.reads) |= bit;
		sum.timed |= !is_timeless(access, op->server, key);
	}
	return sum;
}

/* ---- Transactions --------------------------------------------------------- */

static struct connection *connection_of(struct rr_access *access,
					const struct rl_link *link)
{
	struct connection *found = access->connections;
	struct connection *end = found + access->n_connections;

	while (found < end && found->link != link)
		found++;
	if (found < end)
		return found;
	if (access->n_connections == LINKS_MAX)
		return NULL;
	access->n_connections++;
	*found = (struct connection){ .link = link };
	return found;
}

/* The queue, if it was executed; in any case it looks at what is watched. */
static struct rr_footprint end_transaction(struct connection *connection,
					   const struct rl_reply *reply)
{
	struct rr_footprint sum = connection->watched;

	if (reply->type == RL_REPLY_ARRAY)
		rr_footprint_add(&sum, &connection->queued);
	*connection = (struct connection){ .link = connection->link };
	return sum;
}

static void as_read(struct rr_footprint *footprint)
{
	footprint->reads |= footprint->writes;
	footprint->writes = 0;
}

static bool is_queued(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_STATUS &&
	       strcmp(reply->text, "QUEUED") == 0;
}

static struct rr_footprint of_command(struct rr_access *access,
				      const struct rr_gate_event *event,
				      bool proved)
{
	const struct rr_op *op = &event->op;
	struct connection *connection = connection_of(access, op->link);
	struct rr_footprint footprint = { 0 };

	if (!connection)
		return (struct rr_footprint){ .all = true };
	if (rr_op_is(op, "MULTI"))
		connection->queued = (struct rr_footprint){ 0 };
	if (rr_op_is(op, "UNWATCH") || rr_op_is(op, "DISCARD"))
		connection->watched = (struct rr_footprint){ 0 };
	if (rr_op_is(op, "EXEC"))
		return end_transaction(connection, &event->reply);
	if (rr_op_is_local(op))
		return footprint;
	footprint = of_keys(access, op);
	if (is_queued(&event->reply)) {
		rr_footprint_add(&connection->queued, &footprint);
		return (struct rr_footprint){ 0 };
	}
	if (rr_op_is(op, "WATCH"))
		rr_footprint_add(&connection->watched, &footprint);
	if (proved || !rr_op_has_written(op, &event->reply))
		as_read(&footprint);
	return footprint;
}

/* ---- Steps ---------------------------------------------------------------- */

struct rr_footprint rr_access_of(struct rr_access *access,
				 const struct rr_gate_event *event,
				 bool proved)
{
	struct rr_footprint footprint = { 0 };

	switch (event->op.kind) {
	case RR_OP_SEND:
		footprint = of_command(access, event, proved);
		break;
	case RR_OP_LOCK:
	case RR_OP_UNLOCK:
		footprint.writes = bit_of_mutex(access, event->op.mutex);
		break;
	case RR_OP_WAIT:
		footprint.all = true;
		break;
	case RR_OP_CLOCK:
		footprint.timed = true;
		break;
	case RR_OP_SLEEP:
		footprint.timed = !event->op.yields;
		break;
	case RR_OP_JOIN:
		break;
	}
	footprint.timed = footprint.timed || event->timed;
	return footprint;
}

struct rr_footprint rr_access_of_mark(const struct rr_gate_event *event)
{
	if (event->kind == RR_EVENT_ENTER)
		return inside_read;
	if (event->kind == RR_EVENT_LEAVE)
		return inside_written;
	return (struct rr_footprint){ 0 };
}

/* ---- Scripts -------------------------------------------------------------- */

bool rr_access_is_doubtful(const struct rr_access *access,
			   const struct rr_op *op)
{
	const uint64_t hash = rr_shapes_hash(&op->words[1]);
	size_t i = 0;

	while (i < access->n_doubtful && access->doubtful[i] != hash)
		i++;
	return i < access->n_doubtful || i == DOUBTFUL_MAX;
}

void rr_access_doubt(struct rr_access *access, const struct rr_op *op)
{
	if (!rr_access_is_doubtful(access, op))
		access->doubtful[access->n_doubtful++] =
			rr_shapes_hash(&op->words[1]);
}

long long rr_access_changes(struct rr_access *access, int server)
{
	static const char field[] = "rdb_changes_since_last_save:";
	struct rl_reply reply;
	const char *found;

	if (server < 0 || rl_run(access->links[server], &reply,
				 "INFO persistence") != RL_OK)
		return -1;
	found = reply.text ? strstr(reply.text, field) : NULL;
	return found ? atoll(found + sizeof(field) - 1) : -1;
}

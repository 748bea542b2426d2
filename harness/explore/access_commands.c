/* SPDX-License-Identifier: MIT */
/* What a command touches, by its shape and its reply; in a transaction, when that
 * ends. */
#include "access_inside.h"

#include <string.h>

#include "effects.h"

/* ---- Keys ----------------------------------------------------------------- */

struct rr_footprint rr_access_of_keys(struct rr_access *access,
				      const struct rr_op *op)
{
	const struct rr_shape *shape =
		op->server < 0 ? NULL :
				 rr_shapes_of(access->shapes,
					      access->links[op->server], op);
	struct rr_footprint sum = { .all = !shape || shape->is_unknown };

	if (op->server >= 0)
		sum.reads |= rr_names_server(access, op->server);
	for (size_t i = 0; shape && i < shape->n_keys; i++) {
		const struct rl_word *key = &op->words[shape->keys[i].word];
		const uint64_t bit = rr_access_bit(access, op->server,
						   key->text);

		*(shape->keys[i].writes ? &sum.writes : &sum.reads) |=
			bit | rr_names_lease(access, bit);
	}
	return sum;
}

/* ---- Transactions --------------------------------------------------------- */

static struct rr_connection *connection_of(struct rr_access *access,
					const struct rl_link *link)
{
	struct rr_connection *found = access->connections;
	struct rr_connection *end = found + access->n_connections;

	while (found < end && found->link != link)
		found++;
	if (found < end)
		return found;
	if (access->n_connections == RR_LINKS_MAX)
		return NULL;
	access->n_connections++;
	*found = (struct rr_connection){ .link = link };
	return found;
}

/* It has written nothing. What refused it is a value; but for what sets leases,
 * and scripts: nobody knows. */
static void as_refused(const struct rr_access *access, const struct rr_op *op,
		       struct rr_footprint *footprint)
{
	uint64_t seen = footprint->writes;

	if (!rr_op_knows_lease(op))
		seen &= ~access->leases;
	footprint->reads |= seen;
	footprint->writes = footprint->changes = 0;
}

static void queue(struct rr_connection *connection, const struct rr_op *op,
		  const struct rr_footprint *footprint)
{
	if (connection->n_queued == RR_QUEUE_MAX) {
		connection->queued[0].footprint.all = true;
		return;
	}
	connection->queued[connection->n_queued].op = *op;
	connection->queued[connection->n_queued++].footprint = *footprint;
}

/* What the queue did; one that was refused has written nothing. */
static void add_executed(const struct rr_access *access,
			 const struct rr_connection *connection,
			 const struct rl_reply *reply, struct rr_footprint *sum)
{
	for (size_t i = 0; i < connection->n_queued; i++) {
		struct rr_footprint one = connection->queued[i].footprint;

		if (i < reply->length &&
		    !rr_op_has_written(&connection->queued[i].op,
				       &reply->elements[i]))
			as_refused(access, &connection->queued[i].op, &one);
		rr_footprint_add(sum, &one);
	}
}

/* The queue, if it was executed; in any case it looks at what is watched. EXEC
 * without MULTI fails and ends nothing. */
static struct rr_footprint end_transaction(const struct rr_access *access,
					   struct rr_connection *connection,
					   const struct rl_reply *reply)
{
	struct rr_footprint sum = connection->watched;

	if (reply->type == RL_REPLY_FAILED)
		return sum;
	if (reply->type == RL_REPLY_ARRAY)
		add_executed(access, connection, reply, &sum);
	connection->n_queued = 0;
	connection->watched = (struct rr_footprint){ 0 };
	return sum;
}

static bool is_queued(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_STATUS &&
	       strcmp(reply->text, "QUEUED") == 0;
}

/* What it forbids changes nothing: MULTI within MULTI, DISCARD without; and what
 * is queued not yet. */
static bool is_accepted(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_STATUS && !is_queued(reply);
}

static void note_transaction(struct rr_connection *connection,
			     const struct rr_op *op)
{
	if (rr_op_is(op, "MULTI"))
		connection->n_queued = 0;
	if (rr_op_is(op, "UNWATCH") || rr_op_is(op, "DISCARD"))
		connection->watched = (struct rr_footprint){ 0 };
}

/* ---- Commands ------------------------------------------------------------- */

/* Values; of a script of several keys nobody knows which. */
static uint64_t changes_of(const struct rr_access *access,
			   const struct rr_op *op,
			   const struct rr_footprint *footprint)
{
	const uint64_t values = footprint->writes & ~access->leases;

	return rr_access_is_script(op) && values & (values - 1) ? 0 : values;
}

/* It writes leases alone, and looks whether there is a key. */
static void spare_values(const struct rr_access *access,
			 struct rr_footprint *footprint)
{
	footprint->reads |= footprint->writes & ~access->leases;
	footprint->writes &= access->leases;
}

static const char *script_of(const struct rr_access *access,
			     const struct rr_op *op)
{
	if (op->n_words < 2 || rr_op_is(op, "EVAL"))
		return op->n_words < 2 ? NULL : op->words[1].text;
	return access->gate ? rr_gate_script(access->gate, op->words[1].text) :
			      NULL;
}

struct rr_footprint rr_access_of_command(struct rr_access *access,
					 const struct rr_gate_event *event,
					 bool proved)
{
	const struct rr_op *op = &event->op;
	struct rr_connection *connection = connection_of(access, op->link);
	struct rr_footprint footprint = { 0 };
	bool has_written;

	if (!connection)
		return (struct rr_footprint){ .all = true };
	if (rr_op_is(op, "EXEC"))
		return end_transaction(access, connection, &event->reply);
	if (is_accepted(&event->reply))
		note_transaction(connection, op);
	if (rr_op_is_local(op))
		return footprint;
	footprint = rr_access_of_keys(access, op);
	if (rr_op_sets_lease(op, script_of(access, op)))
		spare_values(access, &footprint);
	else if (!rr_op_knows_lease(op))
		footprint.reads &= ~access->leases;
	footprint.changes = changes_of(access, op, &footprint);
	has_written = !proved && rr_op_has_written(op, &event->reply);
	footprint.timed = rr_op_is_timed(op, script_of(access, op),
					 has_written);
	if (is_queued(&event->reply)) {
		queue(connection, op, &footprint);
		return (struct rr_footprint){ 0 };
	}
	if (rr_op_is(op, "WATCH"))
		rr_footprint_add(&connection->watched, &footprint);
	if (!has_written)
		as_refused(access, op, &footprint);
	return footprint;
}

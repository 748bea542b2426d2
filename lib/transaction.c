/* SPDX-License-Identifier: MIT */
/*
 * The end of a transaction (EXEC, and the replies to all that was queued), and
 * the optimistic update, which is one:
 *
 *	WATCH key   from here on the server notes every write to key
 *	GET key
 *	... compute ...
 *	MULTI
 *	SET key value
 *	EXEC        nil, and nothing stored, if another client wrote in between
 */
#include <stdio.h>

#include "hold.h"
#include "link.h"

/* EXEC succeeds although a command of the transaction has failed. */
static enum rdl_outcome outcome_of_exec(struct rdl_link *link, const struct rdl_reply *executed)
{
	if (executed->type != RDL_REPLY_ARRAY)
		return RDL_OK;
	for (size_t i = 0; i < executed->length; i++) {
		const struct rdl_reply *reply = &executed->elements[i];

		if (reply->type == RDL_REPLY_FAILED)
			return rdl_link_refuse(link, reply->text);
	}
	return RDL_OK;
}

enum rdl_outcome rdl_exec(struct rdl_link *link, unsigned n_queued, struct rdl_reply *reply)
{
	char why[256] = ""; /* EXEC only says that something was refused */
	enum rdl_outcome outcome = rdl_queue(link, "EXEC");

	*reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	if (outcome == RDL_OK)
		outcome = rdl_flush(link);
	if (outcome != RDL_OK)
		return outcome;
	while (n_queued-- > 0) {
		if (rdl_receive(link, reply) == RDL_ERROR && !why[0])
			snprintf(why, sizeof(why), "%s", rdl_link_error(link));
	}
	outcome = rdl_receive(link, reply);
	if (outcome == RDL_OK)
		return outcome_of_exec(link, reply);
	if (outcome == RDL_ERROR && why[0])
		rdl_link_refuse(link, why);
	return outcome;
}

/* ---- The optimistic update --------------------------------------------- */

enum { VALUE_SIZE = 4096 };

/* WATCH and GET in one write; the reply to GET. */
static enum rdl_outcome watch_and_get(struct rdl_link *link, const char *key, struct rdl_reply *old)
{
	struct rdl_reply reply;
	enum rdl_outcome watched;
	enum rdl_outcome outcome = rdl_queue(link, "WATCH %s", key);

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "GET %s", key);
	if (outcome == RDL_OK)
		outcome = rdl_flush(link);
	if (outcome != RDL_OK)
		return outcome;
	watched = rdl_receive(link, &reply);
	outcome = rdl_receive(link, old);
	return watched == RDL_OK ? outcome : watched;
}

/* MULTI, SET and EXEC in one write; the reply to EXEC. */
static enum rdl_outcome set_in_transaction(struct rdl_link *link, const char *key,
					   const char *value, struct rdl_reply *executed)
{
	enum rdl_outcome outcome = rdl_queue(link, "MULTI");

	if (outcome == RDL_OK)
		outcome = rdl_queue(link, "SET %s %s", key, value);
	return outcome == RDL_OK ? rdl_exec(link, 2, executed) : outcome;
}

/* Leaves no WATCH behind, so that the next command is not surprised by it. */
static enum rdl_outcome unwatch_after(struct rdl_link *link, enum rdl_outcome outcome)
{
	struct rdl_reply reply;

	if (outcome != RDL_UNKNOWN)
		rdl_run(link, &reply, "UNWATCH");
	return outcome;
}

enum rdl_outcome rdl_update_try(struct rdl_link *link, const char *key, rdl_change change,
				void *context)
{
	char value[VALUE_SIZE];
	struct rdl_reply reply;
	enum rdl_outcome outcome = watch_and_get(link, key, &reply);
	const uint64_t watched_on = link->connections;

	if (outcome == RDL_OK)
		outcome = change(context, &reply, value, sizeof(value));
	if (outcome != RDL_OK)
		return unwatch_after(link, outcome);
	if (!link->context || link->connections != watched_on)
		return RDL_BUSY; /* the WATCH went with its connection */
	outcome = set_in_transaction(link, key, value, &reply);
	if (outcome == RDL_ERROR && link->route && link->route->has_left)
		return RDL_BUSY; /* refused as a whole by what is not the node */
	if (outcome != RDL_OK)
		return outcome;
	return rdl_reply_is_nil(&reply) ? RDL_BUSY : RDL_OK;
}

enum rdl_outcome rdl_update(struct rdl_link *link, const char *key, rdl_change change,
			    void *context, unsigned attempts, const struct rdl_policy *policy)
{
	const struct rdl_policy used = rdl_policy_of(policy);
	const int64_t deadline_ns =
		used.wait_ms ?
			rdl_deadline_after(rdl_now_ns(link, RDL_CLOCK_MONOTONIC), used.wait_ms) :
			INT64_MAX;
	struct rdl_patience patience;
	enum rdl_outcome outcome = RDL_BUSY;

	for (unsigned n = 0; n < attempts && outcome == RDL_BUSY; n++) {
		if (n > 0 && !rdl_pause(link, &used, n - 1, deadline_ns))
			break;
		rdl_link_set_patience(link, &patience, &used, deadline_ns);
		outcome = rdl_update_try(link, key, change, context);
		rdl_link_set_patience(link, NULL, NULL, 0);
	}
	return outcome;
}

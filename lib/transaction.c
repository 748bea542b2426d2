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
 *	EXEC        nil, and nothing stored, if somebody wrote in between
 */
#include <stdio.h>

#include "hold.h"
#include "link.h"

/* EXEC succeeds although a command of the transaction has failed. */
static enum rl_outcome outcome_of_exec(struct rl_link *link, const struct rl_reply *executed)
{
	if (executed->type != RL_REPLY_ARRAY)
		return RL_OK;
	for (size_t i = 0; i < executed->length; i++) {
		const struct rl_reply *reply = &executed->elements[i];

		if (reply->type == RL_REPLY_FAILED)
			return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	}
	return RL_OK;
}

enum rl_outcome rl_exec(struct rl_link *link, unsigned n_queued, struct rl_reply *reply)
{
	char why[256] = ""; /* EXEC only says that something was refused */
	enum rl_outcome outcome = rl_queue(link, "EXEC");

	*reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (outcome == RL_OK)
		outcome = rl_flush(link);
	if (outcome != RL_OK)
		return outcome;
	while (n_queued-- > 0) {
		if (rl_receive(link, reply) == RL_ERROR && !why[0])
			snprintf(why, sizeof(why), "%s", rl_link_error(link));
	}
	outcome = rl_receive(link, reply);
	if (outcome == RL_OK)
		return outcome_of_exec(link, reply);
	if (outcome == RL_ERROR && why[0])
		rl_link_fail(link, RL_ERROR, "%s", why);
	return outcome;
}

/* ---- The optimistic update --------------------------------------------- */

enum { VALUE_SIZE = 4096 };

/* WATCH and GET in one write; the reply to GET. */
static enum rl_outcome watch_and_get(struct rl_link *link, const char *key, struct rl_reply *old)
{
	struct rl_reply reply;
	enum rl_outcome watched;
	enum rl_outcome outcome = rl_queue(link, "WATCH %s", key);

	if (outcome == RL_OK)
		outcome = rl_queue(link, "GET %s", key);
	if (outcome == RL_OK)
		outcome = rl_flush(link);
	if (outcome != RL_OK)
		return outcome;
	watched = rl_receive(link, &reply);
	outcome = rl_receive(link, old);
	return watched == RL_OK ? outcome : watched;
}

/* MULTI, SET and EXEC in one write; the reply to EXEC. */
static enum rl_outcome set_in_transaction(struct rl_link *link, const char *key, const char *value,
					  struct rl_reply *executed)
{
	enum rl_outcome outcome = rl_queue(link, "MULTI");

	if (outcome == RL_OK)
		outcome = rl_queue(link, "SET %s %s", key, value);
	return outcome == RL_OK ? rl_exec(link, 2, executed) : outcome;
}

/* Leaves no WATCH behind, so that the next command is not surprised by it. */
static enum rl_outcome unwatch_after(struct rl_link *link, enum rl_outcome outcome)
{
	struct rl_reply reply;

	if (outcome != RL_UNKNOWN)
		rl_run(link, &reply, "UNWATCH");
	return outcome;
}

enum rl_outcome rl_update_try(struct rl_link *link, const char *key, rl_change change,
			      void *context)
{
	char value[VALUE_SIZE];
	struct rl_reply reply;
	enum rl_outcome outcome = watch_and_get(link, key, &reply);
	const uint64_t watched_on = link->connections;

	if (outcome == RL_OK)
		outcome = change(context, &reply, value, sizeof(value));
	if (outcome != RL_OK)
		return unwatch_after(link, outcome);
	if (!link->context || link->connections != watched_on)
		return RL_BUSY; /* the WATCH went with its connection */
	outcome = set_in_transaction(link, key, value, &reply);
	if (outcome == RL_ERROR && link->route && link->route->has_left)
		return RL_BUSY; /* refused as a whole by what is not the node */
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : RL_OK;
}

enum rl_outcome rl_update(struct rl_link *link, const char *key, rl_change change, void *context,
			  unsigned attempts, const struct rl_policy *policy)
{
	const struct rl_policy plain = { .cancel_fd = -1 };
	const struct rl_policy *used = policy ? policy : &plain;
	const int64_t deadline_ns = used->wait_ms ?
					    rl_deadline_after(rl_now_ns(link, RL_CLOCK_MONOTONIC),
							      used->wait_ms) :
					    INT64_MAX;
	enum rl_outcome outcome = RL_BUSY;

	for (unsigned n = 0; n < attempts && outcome == RL_BUSY; n++) {
		if (n > 0 && !rl_pause(link, used, n - 1, deadline_ns))
			break;
		outcome = rl_update_try(link, key, change, context);
	}
	return outcome;
}

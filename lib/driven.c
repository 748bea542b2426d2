/* SPDX-License-Identifier: MIT */
/*
 * A link whose driver looks at every command: it is executed when it is queued,
 * and its reply is kept until the caller receives it. Otherwise a command would
 * only be on its way when its step is over, and which of two connections is
 * served first would be the server's choice.
 */
#include "driven.h"

#include <stdlib.h>
#include <string.h>

#include "link.h"

struct rl_kept {
	struct rl_kept *next;
	enum rl_outcome outcome;
	struct rl_reply reply;
	struct rl_arena arena;
	char error[256];
};

/* ---- Kept replies --------------------------------------------------------- */

static void put_aside(struct rl_keep *keep, struct rl_kept *kept)
{
	rl_arena_reset(&kept->arena);
	kept->next = keep->spare;
	keep->spare = kept;
}

void rl_keep_drop(struct rl_keep *keep)
{
	while (keep->first) {
		struct rl_kept *kept = keep->first;

		keep->first = kept->next;
		put_aside(keep, kept);
	}
	keep->last = NULL;
}

void rl_keep_release(struct rl_keep *keep)
{
	rl_keep_drop(keep);
	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = NULL;
	while (keep->spare) {
		struct rl_kept *kept = keep->spare;

		keep->spare = kept->next;
		free(kept);
	}
}

static struct rl_kept *append(struct rl_keep *keep)
{
	struct rl_kept *kept = keep->spare;

	if (kept)
		keep->spare = kept->next;
	else
		kept = calloc(1, sizeof(*kept));
	if (!kept)
		return NULL;
	kept->next = NULL;
	if (keep->last)
		keep->last->next = kept;
	else
		keep->first = kept;
	keep->last = kept;
	return kept;
}

static bool copy_reply(struct rl_arena *arena, struct rl_reply *copy,
		       const struct rl_reply *reply)
{
	*copy = *reply;
	if (reply->type == RL_REPLY_ARRAY) {
		copy->elements = rl_arena_take(
			arena, (reply->length + 1) * sizeof(*copy->elements));
		for (size_t i = 0; copy->elements && i < reply->length; i++) {
			if (!copy_reply(arena, &copy->elements[i],
					&reply->elements[i]))
				return false;
		}
		return copy->elements != NULL;
	}
	if (!reply->text)
		return true;
	copy->text = rl_arena_take(arena, reply->length + 1);
	if (copy->text)
		memcpy((char *)copy->text, reply->text, reply->length + 1);
	return copy->text != NULL;
}

/* ---- Queueing ------------------------------------------------------------- */

static enum rl_outcome execute(struct rl_link *link, struct rl_command *command,
			       struct rl_reply *reply)
{
	enum rl_outcome outcome;

	rl_link_leave_parents(link);
	outcome = rl_link_connect(link);
	if (outcome == RL_OK && !rl_command_encode(command, &link->out))
		outcome = rl_link_fail(link, RL_ERROR, "out of memory");
	if (outcome != RL_OK) {
		rl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	outcome = rl_flush(link);
	if (outcome != RL_OK)
		return outcome;
	link->pending++;
	return rl_link_read(link, reply, 0);
}

/* What the caller will receive. */
static bool keep_reply(struct rl_link *link, enum rl_outcome outcome,
		       const struct rl_reply *reply)
{
	struct rl_kept *kept = append(&link->keep);

	if (!kept || !copy_reply(&kept->arena, &kept->reply, reply))
		return false;
	kept->outcome = outcome;
	memcpy(kept->error, link->error, sizeof(kept->error));
	link->pending++;
	return true;
}

/* The driver takes the server's place: the link is open without a server. */
static enum rl_outcome submit(struct rl_link *link,
			      const struct rl_command *command)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome = rl_link_connect(link);

	if (outcome == RL_OK)
		outcome = driver->ops->submit(driver->context, link, command);
	if (outcome != RL_OK) {
		rl_link_disconnect(link);
		return outcome;
	}
	link->commands++;
	link->pending++;
	return RL_OK;
}

static enum rl_outcome deliver(struct rl_link *link, struct rl_reply *reply)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome;

	if (!link->context || !link->pending)
		return rl_link_fail(link, RL_UNKNOWN, "%s",
				    link->error[0] ? link->error :
						     "not connected");
	link->pending--;
	outcome = driver->ops->deliver(driver->context, link, reply);
	if (outcome == RL_OK && reply->type == RL_REPLY_FAILED)
		return rl_link_fail(link, RL_ERROR, "%s", reply->text);
	if (outcome == RL_OK)
		return RL_OK;
	rl_link_fail(link, outcome, "%s",
		     outcome == RL_ERROR ? "connection refused" :
					   "the reply was lost");
	rl_link_disconnect(link);
	return outcome;
}

static enum rl_outcome fail(struct rl_link *link, enum rl_outcome outcome)
{
	rl_link_disconnect(link);
	return outcome;
}

enum rl_outcome rl_driven_queue(struct rl_link *link,
				struct rl_command *command)
{
	const struct rl_driver *driver = link->driver;
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	enum rl_outcome outcome = RL_OK;

	if (driver->ops->submit)
		return submit(link, command);
	if (link->keep.first && !link->context)
		return fail(link, RL_UNKNOWN); /* went with those before it */
	outcome = driver->ops->send(driver->context, link, command);
	if (outcome != RL_OK)
		return fail(link, outcome);
	outcome = execute(link, command, &reply);
	if (driver->ops->done)
		outcome = driver->ops->done(driver->context, link, &reply,
					    outcome);
	if (outcome == RL_ERROR && reply.type != RL_REPLY_FAILED)
		return fail(link, outcome); /* it was never sent */
	if (outcome == RL_UNKNOWN && link->context)
		rl_link_fail(link, outcome, "the reply was lost");
	if (!keep_reply(link, outcome, &reply))
		return fail(link, rl_link_fail(link, RL_UNKNOWN,
					       "out of memory"));
	return RL_OK;
}

/* ---- Receiving ------------------------------------------------------------ */

static enum rl_outcome take(struct rl_link *link, struct rl_reply *reply)
{
	struct rl_keep *keep = &link->keep;
	struct rl_kept *kept = keep->first;

	if (keep->taken)
		put_aside(keep, keep->taken);
	keep->taken = kept;
	keep->first = kept->next;
	if (!keep->first)
		keep->last = NULL;
	link->pending--;
	if (kept->outcome != RL_OK)
		rl_link_fail(link, kept->outcome, "%s", kept->error);
	if (kept->outcome == RL_UNKNOWN)
		rl_link_disconnect(link); /* what is behind it is lost as well */
	else
		*reply = kept->reply;
	return kept->outcome;
}

enum rl_outcome rl_driven_receive(struct rl_link *link, struct rl_reply *reply,
				  int64_t deadline_ns)
{
	const struct rl_driver *driver = link->driver;
	enum rl_outcome outcome;

	if (driver->ops->deliver)
		return deliver(link, reply);
	if (link->keep.first)
		outcome = take(link, reply);
	else if (rl_link_spare_parents(link) != RL_OK)
		return RL_UNKNOWN;
	else
		outcome = rl_link_read(link, reply, deadline_ns);
	if (driver->ops->receive)
		outcome = driver->ops->receive(driver->context, link, reply,
					       outcome);
	return outcome;
}

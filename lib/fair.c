/* SPDX-License-Identifier: MIT */
/*
 * The fair lock: the key holds the holder's token, the list KEY:line the tokens
 * of those who wait. A token says whose it is and for how long it asks,
 * OBJECT:ATTEMPT:TTL, and OBJECT names the channel on which its owner listens.
 *
 *	B> ask: A holds it, stand in line      => 1
 *	A> give back: the lock goes to B       => PUBLISH KEY:wake:B reached 1
 *	B< message with B's token: it is yours
 *
 * The lease begins with the hand-over, so not before B's question was sent. If
 * much of it is left counted from there, B holds the lock; if not, or if no
 * message comes, B asks again. Asking is idempotent, so that a lost reply or
 * message costs time only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fair.h"
#include "fair_scripts.h"
#include "link.h"
#include "script.h"
#include "token.h"

static const char line_suffix[] = ":line";
static const char wake_suffix[] = ":wake:";

/* ---- Making and freeing --------------------------------------------------------- */

static char *joined(const char *key, const char *suffix)
{
	const size_t size = strlen(key) + strlen(suffix) + RL_TOKEN_SIZE;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s%s", key, suffix);
	return text;
}

struct rl_fair *rl_fair_new(struct rl_link *link, const char *key,
			    const char *data)
{
	struct rl_fair *fair = calloc(1, sizeof(*fair));

	if (!fair)
		return NULL;
	fair->link = link;
	fair->hold.link = link;
	fair->wake = rl_link_new(&link->address, link->timeout_ms);
	fair->key = joined(key, "");
	fair->line = joined(key, line_suffix);
	fair->channel = joined(key, wake_suffix);
	fair->data = data ? joined(data, "") : NULL;
	if (fair->wake && fair->key && fair->line && fair->channel &&
	    !fair->data == !data)
		return fair;
	rl_fair_free(fair);
	return NULL;
}

/* A script of ours with its keys. */
static enum rl_outcome run(struct rl_fair *fair, struct rl_reply *reply,
			   const char *script)
{
	if (fair->data)
		return rl_run_script(fair->link, reply, script,
				     "3 %s %s %s %s %ld %d", fair->key,
				     fair->line, fair->data, fair->token,
				     fair->ttl_ms, fair->asked);
	return rl_run_script(fair->link, reply, script, "2 %s %s %s %ld %d",
			     fair->key, fair->line, fair->token, fair->ttl_ms,
			     fair->asked);
}

/* Put there by this process, and not by its parent? */
static bool may_be_in_line(const struct rl_fair *fair)
{
	return (fair->in_line || fair->in_doubt) && fair->owner == getpid();
}

enum rl_outcome rl_fair_leave_line(struct rl_fair *fair)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = run(fair, &reply, rl_fair_leave);

	if (outcome == RL_OK)
		fair->in_line = false;
	return outcome != RL_OK || reply.integer == 1 ? outcome : RL_LOST;
}

void rl_fair_free(struct rl_fair *fair)
{
	if (!fair)
		return;
	if (may_be_in_line(fair) && !rl_hold_is_ours(&fair->hold))
		rl_fair_leave_line(fair);
	rl_link_free(fair->wake);
	free(fair->data);
	free(fair->channel);
	free(fair->line);
	free(fair->key);
	free(fair);
}

long rl_fair_remaining_ms(const struct rl_fair *fair)
{
	return rl_hold_remaining_ms(&fair->hold);
}

const struct rl_stats *rl_fair_stats(const struct rl_fair *fair)
{
	return &fair->hold.stats;
}

/* ---- Asking ------------------------------------------------------------------------ */

/* A name of its own for this object in this process, and its channel. */
static bool name_object(struct rl_fair *fair)
{
	char *end = fair->channel + strlen(fair->key) + strlen(wake_suffix);

	if (fair->owner == getpid())
		return true;
	if (!rl_token_fresh(fair->link, fair->object))
		return false;
	memcpy(end, fair->object, sizeof(fair->object));
	rl_link_disconnect(fair->wake);
	fair->subscribed_on = 0;
	fair->in_line = fair->in_doubt = fair->giving_back = false;
	fair->owner = getpid();
	return true;
}

/* The same token until an attempt has come to an end. A request that arrived
 * after that has put the old one there again. */
static enum rl_outcome name_attempt(struct rl_fair *fair, long ttl_ms)
{
	fair->asked = fair->in_line;
	if (fair->in_line)
		return RL_OK;
	if (fair->in_doubt) {
		const enum rl_outcome outcome = rl_fair_leave_line(fair);

		if (outcome != RL_OK && outcome != RL_LOST)
			return outcome;
	}
	fair->in_doubt = false;
	fair->ttl_ms = ttl_ms;
	snprintf(fair->token, sizeof(fair->token), "%s:%lu:%ld", fair->object,
		 ++fair->attempts, ttl_ms);
	fair->in_line = true;
	return RL_OK;
}

/* A hold that has run out, or whose release was not answered, ends before
 * another may begin: its token would stand in nobody's way but ours. */
static enum rl_outcome end_last_hold(struct rl_fair *fair)
{
	enum rl_outcome outcome;

	if (!rl_hold_is_ours(&fair->hold))
		return RL_OK;
	if (!fair->giving_back && rl_hold_remaining_ms(&fair->hold) > 0)
		return RL_BUSY;
	outcome = rl_fair_release(fair);
	return outcome == RL_LOST ? RL_OK : outcome;
}

/* The server would find out only when it hands the lock over, and refuse that
 * to the holder. */
static enum rl_outcome check_lease(struct rl_fair *fair, long ttl_ms)
{
	if (ttl_ms >= 1 && ttl_ms <= RL_FAIR_TTL_MAX_MS)
		return RL_OK;
	return rl_link_fail(fair->link, RL_ERROR,
			    "a lease of %ld ms is not from 1 ms to ten years",
			    ttl_ms);
}

static enum rl_outcome prepare(struct rl_fair *fair, long ttl_ms)
{
	enum rl_outcome outcome = end_last_hold(fair);

	if (outcome != RL_OK)
		return outcome;
	if (!name_object(fair))
		return rl_link_fail(fair->link, RL_ERROR, "no random bytes");
	outcome = rl_fair_subscribe(fair);
	if (outcome == RL_OK) {
		rl_script_learn(fair->link, rl_fair_give_back);
		outcome = name_attempt(fair, ttl_ms);
	}
	if (outcome != RL_OK)
		return outcome;
	rl_hold_ask(&fair->hold); /* first: see rl_fair_catch_up() */
	return fair->asked ? rl_fair_catch_up(fair) : RL_OK;
}

static enum rl_outcome answer(struct rl_fair *fair, enum rl_outcome outcome,
			      const struct rl_reply *reply)
{
	const int64_t waiting_ns = fair->hold.waiting_ns;
	const bool held = outcome == RL_OK && reply->type == RL_REPLY_ARRAY &&
			  reply->length == 2;

	fair->carried = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (held)
		fair->carried = reply->elements[1];
	else if (outcome == RL_OK)
		outcome = RL_BUSY;
	fair->in_doubt = fair->in_doubt || outcome == RL_UNKNOWN;
	rl_hold_answer(&fair->hold, outcome, fair->ttl_ms);
	if (outcome == RL_BUSY) /* goes on waiting */
		fair->hold.waiting_ns = waiting_ns;
	return outcome;
}

enum rl_outcome rl_fair_try(struct rl_fair *fair, long ttl_ms)
{
	struct rl_reply reply;
	enum rl_outcome outcome = check_lease(fair, ttl_ms);

	if (outcome == RL_OK)
		outcome = prepare(fair, ttl_ms);
	if (outcome != RL_OK)
		return outcome;
	outcome = run(fair, &reply, rl_fair_ask);
	if (outcome == RL_UNKNOWN) {
		fair->in_doubt = fair->asked = true;
		outcome = run(fair, &reply, rl_fair_ask);
	}
	return answer(fair, outcome, &reply);
}

const struct rl_reply *rl_fair_carried(const struct rl_fair *fair)
{
	return &fair->carried;
}

/* ---- Release -------------------------------------------------------------------------- */

static enum rl_outcome released(struct rl_fair *fair, enum rl_outcome outcome,
				const struct rl_reply *reply)
{
	if (outcome == RL_OK && reply->integer != 1)
		outcome = RL_LOST;
	fair->giving_back = outcome != RL_OK && outcome != RL_LOST;
	if (!fair->giving_back)
		fair->in_line = false;
	rl_hold_end(&fair->hold, outcome);
	return outcome;
}

enum rl_outcome rl_fair_queue_release(struct rl_fair *fair)
{
	if (!rl_hold_is_ours(&fair->hold))
		return RL_LOST;
	fair->giving_back = true;
	if (fair->data)
		return rl_queue_script(fair->link, rl_fair_give_back,
				       "3 %s %s %s %s", fair->key, fair->line,
				       fair->data, fair->token);
	return rl_queue_script(fair->link, rl_fair_give_back, "2 %s %s %s",
			       fair->key, fair->line, fair->token);
}

enum rl_outcome rl_fair_receive_release(struct rl_fair *fair)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	const enum rl_outcome outcome = rl_receive(fair->link, &reply);

	if (rl_script_is_forgotten(&reply))
		return rl_fair_release(fair);
	return released(fair, outcome, &reply);
}

enum rl_outcome rl_fair_release(struct rl_fair *fair)
{
	struct rl_reply reply;

	if (!rl_hold_is_ours(&fair->hold))
		return may_be_in_line(fair) ? rl_fair_leave_line(fair) : RL_LOST;
	return released(fair, run(fair, &reply, rl_fair_give_back), &reply);
}

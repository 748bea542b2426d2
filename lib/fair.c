/* SPDX-License-Identifier: MIT */
/*
 * The fair lock: the key holds the holder's token, KEY:line the tokens of
 * those who wait, the first one with the lowest number. A token says whose it
 * is and for how long it asks, OBJECT:ATTEMPT:TTL, and OBJECT names the channel
 * on which its owner listens.
 *
 *	B> ask: A holds it, stand in line      => A's lease has 9980 ms left
 *	A> give back: the lock goes to B       => PUBLISH KEY:wake:B reached 1
 *	B< message: it is yours
 *	B> ask: B holds it, lease from now on  => 0
 *
 * Asking is idempotent, so that a lost reply or message costs time only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold.h"
#include "link.h"
#include "script.h"
#include "token.h"

enum { LOOK_AGAIN_MS = 500, FAIR_TOKEN_SIZE = RL_TOKEN_SIZE + 48 };

static const char line_suffix[] = ":line";
static const char wake_suffix[] = ":wake:";

struct rl_fair {
	struct rl_link *link;
	struct rl_link *wake; /* subscribed to this object's channel */
	struct rl_hold hold;
	uint64_t subscribed_on; /* the wake link's connection; 0 = none */
	pid_t owner;            /* the process that `object` was made in */
	unsigned long attempts;
	bool in_line;     /* `token` may stand there, or hold the lock */
	bool in_doubt;    /* and a request with it may arrive yet */
	long ttl_ms;
	long left_ms;     /* of the lease we wait for */
	char object[RL_TOKEN_SIZE];
	char token[FAIR_TOKEN_SIZE];
	char *key, *line, *channel;
};

/* ---- Scripts ------------------------------------------------------------------ */

/*
 * KEYS: the lock, the line. Gives the lock to the first in line who listens,
 * or who is asking right now; those who do not are gone. Returns its token.
 */
#define RL_HAND_OVER \
	"local function hand_over(asking) " \
	"while true do " \
	"local first = redis.call('ZPOPMIN', KEYS[2])[1] " \
	"if not first then return false end " \
	"local object, ttl = string.match(first, '^(%x+):%d+:(%d+)$') " \
	"redis.call('SET', KEYS[1], first, 'PX', ttl) " \
	"if first == asking or redis.call('PUBLISH', KEYS[1] .. " \
	"':wake:' .. object, first) > 0 then return first end " \
	"end end "

/* ARGV: our token, its lease. 0: ours; else what is left of another's lease.
 * One script: between looking and standing in line the lock could come free,
 * and nobody would be woken. */
static const char ask_script[] =
	RL_HAND_OVER
	"local holder = redis.call('GET', KEYS[1]) "
	"if holder == ARGV[1] then "
	"redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 0 end "
	"local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] "
	"if not holder and not last then "
	"redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 0 end "
	"redis.call('ZADD', KEYS[2], 'NX', (last or 0) + 1, ARGV[1]) "
	"if not holder and hand_over(ARGV[1]) == ARGV[1] then return 0 end "
	"return math.max(1, redis.call('PTTL', KEYS[1]))";

/* ARGV: our token. 1: it was ours. One script: whoever came between the look
 * and the hand-over would lose the lock to it. */
#define RL_GIVE_BACK \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end " \
	"if not hand_over('') then redis.call('DEL', KEYS[1]) end " \
	"return 1"

static const char give_back_script[] = RL_HAND_OVER RL_GIVE_BACK;
static const char leave_script[] =
	RL_HAND_OVER "redis.call('ZREM', KEYS[2], ARGV[1]) " RL_GIVE_BACK;

/* ---- Making and freeing --------------------------------------------------------- */

static char *joined(const char *key, const char *suffix)
{
	const size_t size = strlen(key) + strlen(suffix) + RL_TOKEN_SIZE;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s%s", key, suffix);
	return text;
}

struct rl_fair *rl_fair_new(struct rl_link *link, const char *key)
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
	if (fair->wake && fair->key && fair->line && fair->channel)
		return fair;
	rl_fair_free(fair);
	return NULL;
}

/* Put there by this process, and not by its parent? */
static bool may_be_in_line(const struct rl_fair *fair)
{
	return (fair->in_line || fair->in_doubt) && fair->owner == getpid();
}

/* RL_OK: the lock had come to us, and is given on. RL_LOST: it had not. */
static enum rl_outcome leave(struct rl_fair *fair)
{
	struct rl_reply reply;
	const enum rl_outcome outcome =
		rl_run_script(fair->link, &reply, leave_script, "2 %s %s %s",
			      fair->key, fair->line, fair->token);

	if (outcome == RL_OK)
		fair->in_line = false;
	return outcome != RL_OK || reply.integer == 1 ? outcome : RL_LOST;
}

void rl_fair_free(struct rl_fair *fair)
{
	if (!fair)
		return;
	if (may_be_in_line(fair) && !rl_hold_is_ours(&fair->hold))
		leave(fair);
	rl_link_free(fair->wake);
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
	if (!rl_token_fresh(fair->object))
		return false;
	memcpy(end, fair->object, sizeof(fair->object));
	rl_link_disconnect(fair->wake);
	fair->subscribed_on = 0;
	fair->in_line = fair->in_doubt = false;
	fair->owner = getpid();
	return true;
}

/* Before standing in line: who does not listen is passed over. */
static enum rl_outcome subscribe(struct rl_fair *fair)
{
	struct rl_reply reply;
	enum rl_outcome outcome;

	if (fair->subscribed_on &&
	    fair->subscribed_on == rl_link_connection(fair->wake))
		return RL_OK;
	outcome = rl_run(fair->wake, &reply, "SUBSCRIBE %s", fair->channel);
	fair->subscribed_on = rl_link_connection(fair->wake);
	if (outcome == RL_OK)
		return RL_OK;
	return rl_link_fail(fair->link, RL_ERROR, "cannot subscribe: %s",
			    rl_link_error(fair->wake));
}

/* The same token until an attempt has come to an end. A request that arrived
 * after that has put the old one there again. */
static enum rl_outcome name_attempt(struct rl_fair *fair, long ttl_ms)
{
	if (fair->in_line)
		return RL_OK;
	if (fair->in_doubt) {
		const enum rl_outcome outcome = leave(fair);

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

static enum rl_outcome prepare(struct rl_fair *fair, long ttl_ms)
{
	enum rl_outcome outcome;

	if (!name_object(fair))
		return rl_link_fail(fair->link, RL_ERROR, "no random bytes");
	outcome = subscribe(fair);
	if (outcome == RL_OK)
		outcome = name_attempt(fair, ttl_ms);
	if (outcome == RL_OK)
		rl_hold_ask(&fair->hold);
	return outcome;
}

enum rl_outcome rl_fair_queue_try(struct rl_fair *fair, long ttl_ms)
{
	const enum rl_outcome outcome = prepare(fair, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	return rl_queue_script(fair->link, ask_script, "2 %s %s %s %ld",
			       fair->key, fair->line, fair->token,
			       fair->ttl_ms);
}

static enum rl_outcome answer(struct rl_fair *fair, enum rl_outcome outcome,
			      const struct rl_reply *reply)
{
	const int64_t waiting_ns = fair->hold.waiting_ns;

	if (outcome == RL_OK && reply->integer != 0) {
		fair->left_ms = (long)reply->integer;
		outcome = RL_BUSY;
	}
	fair->in_doubt = fair->in_doubt || outcome == RL_UNKNOWN;
	rl_hold_answer(&fair->hold, outcome, fair->ttl_ms);
	if (outcome == RL_BUSY) /* goes on waiting */
		fair->hold.waiting_ns = waiting_ns;
	return outcome;
}

enum rl_outcome rl_fair_receive_try(struct rl_fair *fair)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	const enum rl_outcome outcome = rl_receive(fair->link, &reply);

	if (rl_script_is_forgotten(&reply)) {
		rl_script_forget(fair->link, ask_script);
		fair->left_ms = 0;
		return RL_BUSY; /* ask again: it is sent whole then */
	}
	return answer(fair, outcome, &reply);
}

static enum rl_outcome ask(struct rl_fair *fair, struct rl_reply *reply)
{
	return rl_run_script(fair->link, reply, ask_script, "2 %s %s %s %ld",
			     fair->key, fair->line, fair->token, fair->ttl_ms);
}

enum rl_outcome rl_fair_try(struct rl_fair *fair, long ttl_ms)
{
	struct rl_reply reply;
	enum rl_outcome outcome = prepare(fair, ttl_ms);

	if (outcome != RL_OK)
		return outcome;
	outcome = ask(fair, &reply);
	if (outcome == RL_UNKNOWN) {
		fair->in_doubt = true;
		outcome = ask(fair, &reply);
	}
	return answer(fair, outcome, &reply);
}

/* ---- Waiting -------------------------------------------------------------------------- */

static bool is_for_us(const struct rl_fair *fair, const struct rl_reply *message)
{
	return message->type == RL_REPLY_ARRAY && message->length == 3 &&
	       message->elements[2].text &&
	       strcmp(message->elements[2].text, fair->token) == 0;
}

void rl_fair_wait(struct rl_fair *fair, long wait_ms)
{
	const long most_ms = fair->left_ms < LOOK_AGAIN_MS ? fair->left_ms :
							     LOOK_AGAIN_MS;
	const int64_t deadline_ns =
		rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) +
		(wait_ms < most_ms ? wait_ms : most_ms) * INT64_C(1000000);
	enum rl_outcome outcome;

	fair->hold.stats.waits++;
	do {
		struct rl_reply message = { .type = RL_REPLY_NIL };
		const int64_t left_ns =
			deadline_ns - rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);

		outcome = rl_link_listen(fair->wake, &message,
					 left_ns > 0 ? left_ns : 0);
		if (outcome == RL_OK && is_for_us(fair, &message))
			return;
	} while (outcome == RL_OK);
}

/* Whatever leaving found: the lock may have come to us in the meantime. */
static enum rl_outcome give_up(struct rl_fair *fair)
{
	enum rl_outcome outcome = leave(fair);

	if (outcome == RL_UNKNOWN)
		outcome = leave(fair);
	fair->hold.waiting_ns = 0;
	return outcome == RL_OK || outcome == RL_LOST ? RL_BUSY : outcome;
}

enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms, long wait_ms)
{
	const int64_t deadline_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) +
				    wait_ms * INT64_C(1000000);

	for (;;) {
		const enum rl_outcome outcome = rl_fair_try(fair, ttl_ms);
		int64_t left_ns;

		if (outcome != RL_BUSY)
			return outcome;
		left_ns = deadline_ns -
			  rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
		if (left_ns <= 0)
			return give_up(fair);
		rl_fair_wait(fair, (long)(left_ns / 1000000) + 1);
	}
}

/* ---- Release -------------------------------------------------------------------------- */

static enum rl_outcome released(struct rl_fair *fair, enum rl_outcome outcome,
				const struct rl_reply *reply)
{
	if (outcome == RL_OK && reply->integer != 1)
		outcome = RL_LOST;
	if (outcome == RL_OK || outcome == RL_LOST)
		fair->in_line = false;
	rl_hold_end(&fair->hold, outcome);
	return outcome;
}

enum rl_outcome rl_fair_queue_release(struct rl_fair *fair)
{
	if (!rl_hold_is_ours(&fair->hold))
		return RL_LOST;
	return rl_queue_script(fair->link, give_back_script, "2 %s %s %s",
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
	enum rl_outcome outcome;

	if (!rl_hold_is_ours(&fair->hold))
		return may_be_in_line(fair) ? leave(fair) : RL_LOST;
	outcome = rl_run_script(fair->link, &reply, give_back_script,
				"2 %s %s %s", fair->key, fair->line,
				fair->token);
	return released(fair, outcome, &reply);
}

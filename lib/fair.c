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

#include "fair.h"
#include "link.h"
#include "script.h"

static const char line_suffix[] = ":line";
static const char wake_suffix[] = ":wake:";

/* ---- Scripts ----------------------------------------------------------- */

/*
 * What the fair lock does on the server. KEYS: the lock, the line, and perhaps
 * the key whose value comes along. ARGV: our token, OBJECT:ATTEMPT:TTL, its
 * lease in milliseconds, and 1 if it may stand in line already.
 */
#define RL_CARRY                                     \
	"local function carried() "                  \
	"if not KEYS[3] then return false end "      \
	"local value = redis.pcall('GET', KEYS[3]) " \
	"return type(value) == 'string' and value end "

/* Gives the lock to the first in line who listens, or who is asking right now;
 * those who do not are gone, and so is what is no token: SET would refuse its
 * lease, and the holder could not give the lock back. Returns its token. */
#define RL_HAND_OVER                                                          \
	RL_CARRY                                                              \
	"local function hand_over(asking) "                                   \
	"while true do "                                                      \
	"local first = redis.call('LPOP', KEYS[2]) "                          \
	"if not first then return false end "                                 \
	"local object, ttl = string.match(first, '^(%x+):%d+:(%d+)$') "       \
	"local ms = tonumber(ttl or 0) "                                      \
	"if ms >= 1 and ms <= 2^52 then "                                     \
	"redis.call('SET', KEYS[1], first, 'PX', ttl) "                       \
	"if first == asking then return first end "                           \
	"local value = carried() "                                            \
	"if redis.call('PUBLISH', KEYS[1] .. ':wake:' .. object, "            \
	"first .. (value and '=' .. value or '')) > 0 then return first end " \
	"end end end "

/* ARGV: our token, its lease, 1 if it may be in line already. Ours: {1, value}.
 * One script: between looking and standing in line the lock could come free,
 * and nobody would be woken. */
static const char ask_script[] = RL_HAND_OVER
	"local holder = redis.call('GET', KEYS[1]) "
	"if holder == ARGV[1] then "
	"redis.call('PEXPIRE', KEYS[1], ARGV[2]) return {1, carried()} end "
	"if not holder and redis.call('EXISTS', KEYS[2]) == 0 then "
	"redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
	"return {1, carried()} end "
	"if ARGV[3] == '0' or not redis.call('LPOS', KEYS[2], ARGV[1]) then "
	"redis.call('RPUSH', KEYS[2], ARGV[1]) end "
	"if not holder and hand_over(ARGV[1]) == ARGV[1] then "
	"return {1, carried()} end "
	"return {0}";

/* ARGV: our token. 1: it was ours. One script: whoever came between the look
 * and the hand-over would lose the lock to it. */
#define RL_GIVE_BACK                                                  \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end " \
	"if not hand_over('') then redis.call('DEL', KEYS[1]) end "   \
	"return 1"

/* 1: it was ours; the first in line who listens has it now. */
static const char give_back_script[] = RL_HAND_OVER RL_GIVE_BACK;
/* The same, and out of the line. */
static const char leave_script[] = RL_HAND_OVER
	"redis.call('LREM', KEYS[2], 0, ARGV[1]) " RL_GIVE_BACK;

/* ---- Making and freeing ------------------------------------------------ */

static char *join_key(const char *key, const char *suffix)
{
	const size_t size = strlen(key) + strlen(suffix) + RL_TOKEN_SIZE;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s%s", key, suffix);
	return text;
}

struct rl_fair *rl_fair_new(struct rl_link *link, const char *key, const char *data)
{
	struct rl_fair *fair = calloc(1, sizeof(*fair));

	if (!fair)
		return NULL;
	fair->link = link;
	fair->hold.link = link;
	fair->wake = rl_link_new(&link->address, link->timeout_ms);
	if (fair->wake)
		rl_route_aim(fair->wake, key);
	fair->key = join_key(key, "");
	fair->line = join_key(key, line_suffix);
	fair->channel = join_key(key, wake_suffix);
	fair->data = data ? join_key(data, "") : NULL;
	if (fair->wake && fair->key && fair->line && fair->channel && !fair->data == !data)
		return fair;
	rl_fair_free(fair);
	return NULL;
}

/* A script of ours with its keys. */
static enum rl_outcome run_fair_script(struct rl_fair *fair, struct rl_reply *reply,
				       const char *script)
{
	if (fair->data)
		return rl_run_script(fair->link, reply, script, "3 %s %s %s %s %ld %d", fair->key,
				     fair->line, fair->data, fair->token, fair->ttl_ms,
				     fair->asked);
	return rl_run_script(fair->link, reply, script, "2 %s %s %s %ld %d", fair->key, fair->line,
			     fair->token, fair->ttl_ms, fair->asked);
}

/* Put there by this process, and not by its parent? */
static bool may_be_in_line(const struct rl_fair *fair)
{
	return (fair->in_line || fair->indeterminate) && fair->owner == rl_process(fair->link);
}

enum rl_outcome rl_fair_leave_line(struct rl_fair *fair)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = run_fair_script(fair, &reply, leave_script);

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

/* ---- Asking ------------------------------------------------------------ */

/* A name of its own for this object in this process, and its channel. */
static bool name_object(struct rl_fair *fair)
{
	char *end = fair->channel + strlen(fair->key) + strlen(wake_suffix);

	if (fair->owner == rl_process(fair->link))
		return true;
	if (!rl_token_fresh(fair->link, fair->object))
		return false;
	memcpy(end, fair->object, sizeof(fair->object));
	rl_link_disconnect(fair->wake);
	fair->subscribed_on = 0;
	fair->in_line = fair->indeterminate = fair->giving_back = false;
	fair->owner = rl_process(fair->link);
	return true;
}

/* The same token until an attempt has come to an end. A request that arrived
 * after that has put the old one there again. */
static enum rl_outcome name_attempt(struct rl_fair *fair, long ttl_ms)
{
	fair->asked = fair->in_line;
	if (fair->in_line)
		return RL_OK;
	if (fair->indeterminate) {
		const enum rl_outcome outcome = rl_fair_leave_line(fair);

		if (outcome != RL_OK && outcome != RL_LOST)
			return outcome;
	}
	fair->indeterminate = false;
	fair->ttl_ms = ttl_ms;
	snprintf(fair->token, sizeof(fair->token), "%s:%lu:%ld", fair->object, ++fair->attempts,
		 ttl_ms);
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
	return rl_link_fail(fair->link, RL_ERROR, "a lease of %ld ms is not from 1 ms to ten years",
			    ttl_ms);
}

static enum rl_outcome prepare_fair_try(struct rl_fair *fair, long ttl_ms)
{
	enum rl_outcome outcome = end_last_hold(fair);

	if (outcome != RL_OK)
		return outcome;
	if (!name_object(fair))
		return rl_link_fail(fair->link, RL_ERROR, "no random bytes");
	outcome = rl_fair_subscribe(fair);
	if (outcome == RL_OK) {
		rl_script_learn(fair->link, give_back_script);
		outcome = name_attempt(fair, ttl_ms);
	}
	if (outcome != RL_OK)
		return outcome;
	rl_hold_ask(&fair->hold); /* first: see rl_fair_catch_up() */
	return fair->asked ? rl_fair_catch_up(fair) : RL_OK;
}

static enum rl_outcome conclude_fair_try(struct rl_fair *fair, enum rl_outcome outcome,
					 const struct rl_reply *reply)
{
	const int64_t waiting_ns = fair->hold.waiting_ns;
	const bool held = outcome == RL_OK && reply->type == RL_REPLY_ARRAY && reply->length == 2;

	fair->carried = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (held)
		fair->carried = reply->elements[1];
	else if (outcome == RL_OK)
		outcome = RL_BUSY;
	fair->indeterminate = fair->indeterminate || outcome == RL_UNKNOWN;
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
		outcome = prepare_fair_try(fair, ttl_ms);
	if (outcome != RL_OK)
		return outcome;
	outcome = run_fair_script(fair, &reply, ask_script);
	if (outcome == RL_UNKNOWN) {
		fair->indeterminate = fair->asked = true;
		outcome = run_fair_script(fair, &reply, ask_script);
	}
	return conclude_fair_try(fair, outcome, &reply);
}

const struct rl_reply *rl_fair_carried(const struct rl_fair *fair)
{
	return &fair->carried;
}

/* ---- Release ----------------------------------------------------------- */

static enum rl_outcome conclude_fair_release(struct rl_fair *fair, enum rl_outcome outcome,
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
		return rl_queue_script(fair->link, give_back_script, "3 %s %s %s %s", fair->key,
				       fair->line, fair->data, fair->token);
	return rl_queue_script(fair->link, give_back_script, "2 %s %s %s", fair->key, fair->line,
			       fair->token);
}

enum rl_outcome rl_fair_receive_release(struct rl_fair *fair)
{
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	const enum rl_outcome outcome = rl_receive(fair->link, &reply);

	if (rl_script_is_forgotten(&reply))
		return rl_fair_release(fair);
	return conclude_fair_release(fair, outcome, &reply);
}

enum rl_outcome rl_fair_release(struct rl_fair *fair)
{
	struct rl_reply reply;

	if (!rl_hold_is_ours(&fair->hold))
		return may_be_in_line(fair) ? rl_fair_leave_line(fair) : RL_LOST;
	return conclude_fair_release(fair, run_fair_script(fair, &reply, give_back_script), &reply);
}

/* SPDX-License-Identifier: MIT */
/*
 * The fair lock: the key holds the holder's token, the list KEY:line the tokens
 * of those who wait. A token says whose it is and for how long it asks,
 * OBJECT:ATTEMPT:TTL, an f behind it where a fencing number is to be drawn, and @LABEL;
 * OBJECT names the channel on which its owner listens.
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

#include "compare.h"
#include "fair.h"
#include "link.h"
#include "lock.h"
#include "renewer.h"
#include "script.h"

static const char line_suffix[] = ":line";
static const char fence_suffix[] = ":fence";
static const char wake_suffix[] = ":wake:";

/* ---- Scripts ----------------------------------------------------------- */

/*
 * What the fair lock does on the server. KEYS: the lock, the line, the counter of its
 * fencing numbers, and perhaps the key whose value comes along. ARGV: our token,
 * OBJECT:ATTEMPT:TTL, its lease in milliseconds, and 1 if it may stand in line already.
 */
#define RDL_CARRY                                    \
	"local function carried() "                  \
	"if not KEYS[4] then return false end "      \
	"local value = redis.pcall('GET', KEYS[4]) " \
	"return type(value) == 'string' and value end "

/* The object, the lease, and an f where a fencing number is drawn with the grant. */
#define RDL_PARSE                      \
	"local function parse(token) " \
	"return string.match(token .. '@', '^(%x+):%d+:(%d+)(f?)@') end "

/* Gives the lock to the first in line who listens, or who is asking right now;
 * those who do not are gone, and so is what is no token: SET would refuse its
 * lease, and the holder could not give the lock back. Returns its token, and its number. */
#define RDL_HAND_OVER                                                                            \
	RDL_CARRY RDL_PARSE "local function hand_over(asking) "                                  \
			    "while true do "                                                     \
			    "local first = redis.call('LPOP', KEYS[2]) "                         \
			    "if not first then return false end "                                \
			    "local object, ttl, fenced = parse(first) "                          \
			    "local ms = tonumber(ttl or 0) "                                     \
			    "if ms >= 1 and ms <= 2^52 then "                                    \
			    "redis.call('SET', KEYS[1], first, 'PX', ttl) "                      \
			    "local number = fenced == 'f' and redis.call('INCR', KEYS[3]) "      \
			    "if first == asking then return first, number end "                  \
			    "local value = carried() "                                           \
			    "if redis.call('PUBLISH', KEYS[1] .. ':wake:' .. object, "           \
			    "first .. (number and string.format('#%.0f', number) or '') .. "     \
			    "(value and '=' .. value or '')) > 0 then return first, number end " \
			    "end end end "

/* ARGV: our token, its lease, 1 if it may be in line already. Ours: {1, value, number}.
 * One script: between looking and standing in line the lock could come free,
 * and no waiter would be woken. Asked again it is the same number: while the token holds
 * the lock none is drawn. */
static const char ask_script[] = RDL_HAND_OVER
	"local object, ttl, fenced = parse(ARGV[1]) "
	"local function draw(command) "
	"return fenced == 'f' and redis.call(command, KEYS[3]) end "
	"local holder = redis.call('GET', KEYS[1]) "
	"if holder == ARGV[1] then "
	"redis.call('PEXPIRE', KEYS[1], ARGV[2]) "
	"return {1, carried(), draw('GET') or draw('INCR')} end "
	"if not holder and redis.call('EXISTS', KEYS[2]) == 0 then "
	"redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) "
	"return {1, carried(), draw('INCR')} end "
	"if ARGV[3] == '0' or not redis.call('LPOS', KEYS[2], ARGV[1]) then "
	"redis.call('RPUSH', KEYS[2], ARGV[1]) end "
	"if not holder then "
	"local first, number = hand_over(ARGV[1]) "
	"if first == ARGV[1] then return {1, carried(), number} end end "
	"return {0}";

/* ARGV: our token. 1: it was ours. One script: a client that came between the look
 * and the hand-over would lose the lock to it. */
#define RDL_GIVE_BACK                                                 \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end " \
	"if not hand_over('') then redis.call('DEL', KEYS[1]) end "   \
	"return 1"

/* 1: it was ours; the first in line who listens has it now. */
static const char give_back_script[] = RDL_HAND_OVER RDL_GIVE_BACK;
/* The same, and out of the line. */
static const char leave_script[] = RDL_HAND_OVER
	"redis.call('LREM', KEYS[2], 0, ARGV[1]) " RDL_GIVE_BACK;

/* ---- Making and freeing ------------------------------------------------ */

/* The name of a key that belongs to `key`; NULL when out of memory. */
static char *name_key(const struct rdl_link *link, const char *key, const char *suffix)
{
	const size_t size = rdl_name_size(key, suffix);
	char *name = malloc(size);

	if (name)
		rdl_name_beside(link, key, suffix, name, size);
	return name;
}

static char *join_key(const char *key, const char *suffix)
{
	const size_t size = strlen(key) + strlen(suffix) + RDL_TOKEN_SIZE;
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s%s", key, suffix);
	return text;
}

struct rdl_fair *rdl_fair_new(struct rdl_link *link, const char *key, const char *data)
{
	struct rdl_fair *fair = calloc(1, sizeof(*fair));

	if (!fair)
		return NULL;
	fair->link = link;
	fair->hold.link = link;
	fair->wake = rdl_link_new(&link->address, link->timeout_ms);
	if (fair->wake)
		rdl_route_aim(fair->wake, key);
	fair->key = join_key(key, "");
	fair->line = name_key(link, key, line_suffix);
	fair->fence = name_key(link, key, fence_suffix);
	fair->channel = join_key(key, wake_suffix);
	fair->data = data ? join_key(data, "") : NULL;
	if (fair->wake && fair->key && fair->line && fair->fence && fair->channel &&
	    !fair->data == !data)
		return fair;
	rdl_fair_free(fair);
	return NULL;
}

/* A script of ours with its keys. */
static enum rdl_outcome run_fair_script(struct rdl_fair *fair, struct rdl_reply *reply,
					const char *script)
{
	if (fair->data)
		return rdl_run_script(fair->link, reply, script, "4 %s %s %s %s %s %ld %d",
				      fair->key, fair->line, fair->fence, fair->data, fair->token,
				      fair->ttl_ms, fair->asked);
	return rdl_run_script(fair->link, reply, script, "3 %s %s %s %s %ld %d", fair->key,
			      fair->line, fair->fence, fair->token, fair->ttl_ms, fair->asked);
}

/* Put there by this process, and not by its parent? */
static bool may_be_in_line(const struct rdl_fair *fair)
{
	return (fair->in_line || fair->indeterminate) && fair->owner == rdl_process(fair->link);
}

enum rdl_outcome rdl_fair_leave_line(struct rdl_fair *fair)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = run_fair_script(fair, &reply, leave_script);

	if (outcome == RDL_OK)
		fair->in_line = false;
	return outcome != RDL_OK || reply.integer == 1 ? outcome : RDL_LOST;
}

void rdl_fair_free(struct rdl_fair *fair)
{
	if (!fair)
		return;
	rdl_hold_detach(&fair->hold);
	if (may_be_in_line(fair) && !rdl_hold_is_ours(&fair->hold))
		rdl_fair_leave_line(fair);
	rdl_link_free(fair->wake);
	free(fair->data);
	free(fair->channel);
	free(fair->fence);
	free(fair->line);
	free(fair->key);
	free(fair);
}

long rdl_fair_remaining_ms(const struct rdl_fair *fair)
{
	return rdl_hold_remaining_ms(&fair->hold);
}

bool rdl_fair_set_label(struct rdl_fair *fair, const char *label)
{
	return rdl_label_take(fair->label, label);
}

const struct rdl_stats *rdl_fair_stats(const struct rdl_fair *fair)
{
	return &fair->hold.stats;
}

/* ---- Asking ------------------------------------------------------------ */

/* A name of its own for this object in this process, and its channel. */
static bool name_object(struct rdl_fair *fair)
{
	char *end = fair->channel + strlen(fair->key) + strlen(wake_suffix);

	if (fair->owner == rdl_process(fair->link))
		return true;
	if (!rdl_token_fresh(fair->link, fair->object))
		return false;
	memcpy(end, fair->object, sizeof(fair->object));
	rdl_link_disconnect(fair->wake);
	fair->subscribed_on = 0;
	fair->in_line = fair->indeterminate = fair->hold.giving_back = false;
	fair->owner = rdl_process(fair->link);
	return true;
}

/* The same token until an attempt has come to an end. A request that arrived
 * after that has put the old one there again. */
static enum rdl_outcome name_attempt(struct rdl_fair *fair, long ttl_ms)
{
	fair->asked = fair->in_line;
	if (fair->in_line && fair->wants_number && !fair->draws_number)
		return rdl_link_fail(fair->link, RDL_ERROR,
				     "stands in line without a fencing number: release it first");
	if (fair->in_line)
		return RDL_OK;
	if (fair->indeterminate) {
		const enum rdl_outcome outcome = rdl_fair_leave_line(fair);

		if (outcome != RDL_OK && outcome != RDL_LOST)
			return outcome;
	}
	fair->indeterminate = false;
	fair->ttl_ms = ttl_ms;
	fair->draws_number = fair->wants_number;
	snprintf(fair->token, sizeof(fair->token), "%s:%lu:%ld%s", fair->object, ++fair->attempts,
		 ttl_ms, fair->draws_number ? "f" : "");
	rdl_label_append(fair->token, fair->label);
	fair->in_line = true;
	return RDL_OK;
}

/* A hold that has run out, or whose release was not answered, ends before
 * another may begin: its token would keep out no client but ours. */
static enum rdl_outcome end_last_hold(struct rdl_fair *fair)
{
	enum rdl_outcome outcome;

	if (rdl_hold_remaining_ms(&fair->hold) > 0)
		return RDL_BUSY;
	rdl_hold_detach(&fair->hold); /* it is lost, or its parent's */
	if (!rdl_hold_is_ours(&fair->hold))
		return RDL_OK;
	outcome = rdl_fair_release(fair);
	return outcome == RDL_LOST ? RDL_OK : outcome;
}

/* The server would find out only when it hands the lock over, and refuse that
 * to the holder. */
static enum rdl_outcome check_lease(struct rdl_fair *fair, long ttl_ms)
{
	if (ttl_ms >= 1 && ttl_ms <= RDL_TTL_MAX_MS)
		return rdl_link_fail(fair->link, RDL_OK, "%s", "");
	return rdl_link_fail(fair->link, RDL_ERROR, rdl_bad_ttl, ttl_ms);
}

static enum rdl_outcome prepare_fair_try(struct rdl_fair *fair, long ttl_ms)
{
	enum rdl_outcome outcome = end_last_hold(fair);

	if (outcome != RDL_OK)
		return outcome;
	if (!name_object(fair))
		return rdl_link_fail(fair->link, RDL_ERROR, "no random bytes");
	outcome = rdl_fair_subscribe(fair);
	if (outcome == RDL_OK) {
		rdl_script_learn(fair->link, give_back_script);
		outcome = name_attempt(fair, ttl_ms);
	}
	if (outcome != RDL_OK)
		return outcome;
	rdl_hold_ask(&fair->hold); /* first: see rdl_fair_catch_up() */
	return fair->asked ? rdl_fair_catch_up(fair) : RDL_OK;
}

static enum rdl_outcome conclude_fair_try(struct rdl_fair *fair, enum rdl_outcome outcome,
					  const struct rdl_reply *reply)
{
	const int64_t waiting_ns = fair->hold.waiting_ns;
	bool held = outcome == RDL_OK && reply->type == RDL_REPLY_ARRAY && reply->length == 3;

	fair->carried = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	fair->number = 0;
	if (held && fair->draws_number && !rdl_reply_number(&reply->elements[2], &fair->number))
		held = false;
	if (held)
		fair->carried = reply->elements[1];
	else if (outcome == RDL_OK)
		outcome = RDL_BUSY;
	fair->indeterminate = fair->indeterminate || outcome == RDL_UNKNOWN;
	rdl_hold_answer(&fair->hold, outcome, fair->ttl_ms);
	if (outcome == RDL_BUSY) /* it waits still */
		fair->hold.waiting_ns = waiting_ns;
	return outcome;
}

enum rdl_outcome rdl_fair_ask(struct rdl_fair *fair, long ttl_ms)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = check_lease(fair, ttl_ms);

	if (outcome == RDL_OK)
		outcome = prepare_fair_try(fair, ttl_ms);
	if (outcome != RDL_OK)
		return outcome;
	outcome = run_fair_script(fair, &reply, ask_script);
	if (outcome == RDL_UNKNOWN) {
		fair->indeterminate = fair->asked = true;
		outcome = run_fair_script(fair, &reply, ask_script);
	}
	return conclude_fair_try(fair, outcome, &reply);
}

enum rdl_outcome rdl_fair_try(struct rdl_fair *fair, long ttl_ms)
{
	fair->wants_number = false;
	return rdl_fair_ask(fair, ttl_ms);
}

enum rdl_outcome rdl_fair_try_fenced(struct rdl_fair *fair, long ttl_ms, long long *number)
{
	enum rdl_outcome outcome;

	fair->wants_number = true;
	outcome = rdl_fair_ask(fair, ttl_ms);
	if (outcome == RDL_OK)
		*number = fair->number;
	return outcome;
}

long long rdl_fair_number(const struct rdl_fair *fair)
{
	return rdl_hold_is_ours(&fair->hold) ? fair->number : 0;
}

const struct rdl_reply *rdl_fair_carried(const struct rdl_fair *fair)
{
	return &fair->carried;
}

/* ---- While it is held -------------------------------------------------- */

enum rdl_outcome rdl_fair_extend(struct rdl_fair *fair, long ttl_ms)
{
	const bool was_ours = rdl_hold_is_ours(&fair->hold) && !fair->hold.giving_back;
	enum rdl_outcome outcome = check_lease(fair, ttl_ms);

	if (outcome == RDL_OK && fair->hold.attachment)
		return rdl_link_fail(fair->link, RDL_ERROR, rdl_is_extended);
	if (outcome == RDL_OK)
		outcome = rdl_hold_extend(fair->link, &fair->hold, fair->key, fair->token, ttl_ms);
	if (outcome == RDL_LOST && was_ours)
		fair->in_line = false; /* the next attempt has a token of its own */
	return outcome;
}

/* Its key and token do not change while it is held. */
static enum rdl_outcome renew_fair(void *held, struct rdl_link *link, long ttl_ms)
{
	const struct rdl_fair *fair = held;

	return rdl_guarded_run(link, &(struct rdl_guarded){ fair->key, fair->token, ttl_ms }, 0);
}

enum rdl_outcome rdl_renewer_add_fair(struct rdl_renewer *renewer, struct rdl_fair *fair,
				      long hold_max_ms)
{
	const struct rdl_renewable renewable = { .lock = fair,
						 .link = fair->link,
						 .hold = &fair->hold,
						 .ttl_ms = fair->ttl_ms,
						 .renew = renew_fair,
						 .lease = fair };

	return rdl_renewer_enter(renewer, &renewable, hold_max_ms);
}

/* ---- Release ----------------------------------------------------------- */

static enum rdl_outcome conclude_fair_release(struct rdl_fair *fair, enum rdl_outcome outcome,
					      const struct rdl_reply *reply)
{
	if (outcome == RDL_OK && reply->integer != 1)
		outcome = RDL_LOST;
	fair->hold.giving_back = outcome != RDL_OK && outcome != RDL_LOST;
	if (!fair->hold.giving_back)
		fair->in_line = false;
	rdl_hold_end(&fair->hold, outcome);
	return outcome;
}

enum rdl_outcome rdl_fair_queue_release(struct rdl_fair *fair)
{
	rdl_hold_detach(&fair->hold);
	if (!rdl_hold_is_ours(&fair->hold))
		return RDL_LOST;
	fair->hold.giving_back = true;
	if (fair->data)
		return rdl_queue_script(fair->link, give_back_script, "4 %s %s %s %s %s", fair->key,
					fair->line, fair->fence, fair->data, fair->token);
	return rdl_queue_script(fair->link, give_back_script, "3 %s %s %s %s", fair->key,
				fair->line, fair->fence, fair->token);
}

enum rdl_outcome rdl_fair_receive_release(struct rdl_fair *fair)
{
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	const enum rdl_outcome outcome = rdl_receive(fair->link, &reply);

	if (rdl_script_is_forgotten(&reply))
		return rdl_fair_release(fair);
	return conclude_fair_release(fair, outcome, &reply);
}

enum rdl_outcome rdl_fair_release(struct rdl_fair *fair)
{
	struct rdl_reply reply;

	rdl_hold_detach(&fair->hold);
	if (!rdl_hold_is_ours(&fair->hold))
		return may_be_in_line(fair) ? rdl_fair_leave_line(fair) : RDL_LOST;
	return conclude_fair_release(fair, run_fair_script(fair, &reply, give_back_script), &reply);
}

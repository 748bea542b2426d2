/* SPDX-License-Identifier: MIT */
/*
 * The delay queue:
 *
 *	put        ZADD due               unless the id is there already
 *	take       processing -> due      whatever was held too long
 *	           due -> dead            what was taken as often as it may be
 *	           due -> processing      the one that has been due the longest
 *	prolong    a later end in processing
 *	give back  processing -> due
 *	done       the effect, and out of processing
 *
 * The last three only if the take is the newest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "link.h"
#include "script.h"

struct rdl_delay_queue {
	struct rdl_link *link;
	char take[RDL_TOKEN_SIZE]; /* number of the newest take; "" = none */
	long long deadline_us;     /* until when that one is held, at least */
	long long next_us;         /* until something may be due, after a take that got nothing;
				    * below 0 = nothing is there */
	long limit;                /* of an item's takes; 0 = none */
	long attempt;              /* which take of its item that is */
	bool unsettled;            /* a done of it was sent and not answered */
	char *due, *processing, *takes, *attempts, *dead; /* keys, in `names` */
	char names[];
};

/* ---- Scripts ----------------------------------------------------------- */

/* Keys of all of them, from the first: due, processing, takes, attempts, dead. */

/* id, delay in us. One script: between looking and adding, another client could
 * add it, or take and end it. */
static const char put_script[] = "if redis.call('ZSCORE', KEYS[1], ARGV[1]) or "
				 "redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end "
				 "local t = redis.call('TIME') "
				 "redis.call('HDEL', KEYS[4], ARGV[1]) "
				 "return redis.call('ZADD', KEYS[1], "
				 "t[1] * 1000000 + t[2] + ARGV[2], ARGV[1])";

/*
 * hold in us, take number, longest id, limit of takes. One script: between reading an item and
 * moving it, others would read it too; between removing and adding, a crash would lose it. When
 * nothing is due, for how long nothing will be: until an item is due, or a hold runs out; -1 =
 * there is none; 0 = a hundred have gone to the dead, and there may be more.
 */
static const char take_script[] =
	"local t = redis.call('TIME') "
	"local now = t[1] * 1000000 + t[2] "
	"local late = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, "
	"'WITHSCORES', 'LIMIT', 0, 100) "
	"for i = 1, #late, 2 do "
	"redis.call('ZADD', KEYS[1], late[i + 1], late[i]) "
	"redis.call('ZREM', KEYS[2], late[i]) "
	"redis.call('HDEL', KEYS[3], late[i]) end "
	"for i = 1, 100 do "
	"local id = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)[1] "
	"if not id then "
	"local next = -1 "
	"for k = 1, 2 do "
	"local at = redis.call('ZRANGE', KEYS[k], 0, 0, 'WITHSCORES')[2] "
	"if at and (next < 0 or at - now < next) then next = math.max(at - now, 0) end end "
	"return next end "
	"if #id > tonumber(ARGV[3]) then "
	"return redis.error_reply('ERR the id of ' .. #id .. ' bytes does not fit') end "
	"local taken = tonumber(redis.call('HGET', KEYS[4], id) or 0) "
	"if tonumber(ARGV[4]) == 0 or taken < tonumber(ARGV[4]) then "
	"redis.call('ZADD', KEYS[2], now + ARGV[1], id) "
	"redis.call('HSET', KEYS[3], id, ARGV[2]) "
	"redis.call('HINCRBY', KEYS[4], id, 1) "
	"redis.call('ZREM', KEYS[1], id) "
	"return { id, now + ARGV[1], taken + 1 } end "
	"redis.call('RPUSH', KEYS[5], id) "
	"redis.call('HDEL', KEYS[3], id) "
	"redis.call('HDEL', KEYS[4], id) "
	"redis.call('ZREM', KEYS[1], id) end "
	"return 0";

/*
 * id, take number, its deadline, the effect's words. The effect comes first: an
 * error in it ends the script, and the item stays. 1: done. 2: not there at
 * all, and no client could have taken it over yet: if a done of ours has been sent
 * before, that one did it. 0: not ours.
 */
static const char done_script[] =
	"local there = redis.call('ZSCORE', KEYS[2], ARGV[1]) "
	"if there and redis.call('HGET', KEYS[3], ARGV[1]) == ARGV[2] then "
	"redis.call(unpack(ARGV, 4)) "
	"redis.call('ZREM', KEYS[2], ARGV[1]) "
	"redis.call('HDEL', KEYS[3], ARGV[1]) "
	"redis.call('HDEL', KEYS[4], ARGV[1]) "
	"return 1 end "
	"local t = redis.call('TIME') "
	"if t[1] * 1000000 + t[2] < tonumber(ARGV[3]) and not there and "
	"not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 2 end "
	"return 0";

/* id, take number, hold in us. The end of the hold, never an earlier one than before; 0: not
 * ours. One script: between looking and setting the end, the hold may end, and another
 * worker's would be set. */
static const char prolong_script[] =
	"local till = redis.call('ZSCORE', KEYS[2], ARGV[1]) "
	"if not till or redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end "
	"local t = redis.call('TIME') "
	"till = math.max(tonumber(till), t[1] * 1000000 + t[2] + ARGV[3]) "
	"redis.call('ZADD', KEYS[2], string.format('%.0f', till), ARGV[1]) "
	"return till";

/* id, take number, delay in us. The take's number stays until the next take, so that this can
 * be repeated after a lost reply. 1: it is due then; 0: not ours. */
static const char give_back_script[] =
	"if redis.call('HGET', KEYS[3], ARGV[1]) ~= ARGV[2] then return 0 end "
	"if redis.call('ZSCORE', KEYS[2], ARGV[1]) then "
	"local t = redis.call('TIME') "
	"redis.call('ZADD', KEYS[1], t[1] * 1000000 + t[2] + ARGV[3], ARGV[1]) "
	"redis.call('ZREM', KEYS[2], ARGV[1]) end "
	"return 1";

/* One script: an item on its way from one to the other is counted once. */
static const char length_script[] =
	"return { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) }";

/* id, delay in us. One script: an item between the list and the set would be nowhere. 2: an
 * item of that id is there, and the dead one stays. */
static const char revive_script[] =
	"if redis.call('ZSCORE', KEYS[1], ARGV[1]) or "
	"redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 2 end "
	"if redis.call('LREM', KEYS[5], 1, ARGV[1]) == 0 then return 0 end "
	"local t = redis.call('TIME') "
	"redis.call('ZADD', KEYS[1], t[1] * 1000000 + t[2] + ARGV[2], ARGV[1]) "
	"return 1";

enum { NOT_OURS, DONE_NOW, DONE_BEFORE };

/* ---- Making one -------------------------------------------------------- */

struct rdl_delay_queue *rdl_delay_queue_new(struct rdl_link *link, const char *name)
{
	static const char *const suffixes[] = { ":due", ":processing", ":takes", ":attempts",
						":dead" };
	enum { KEYS = sizeof(suffixes) / sizeof(suffixes[0]) };
	const size_t size = rdl_name_size(name, suffixes[1]);
	struct rdl_delay_queue *queue = calloc(1, sizeof(*queue) + KEYS * size);
	char **keys[KEYS];

	if (!queue)
		return NULL;
	queue->link = link;
	keys[0] = &queue->due;
	keys[1] = &queue->processing;
	keys[2] = &queue->takes;
	keys[3] = &queue->attempts;
	keys[4] = &queue->dead;
	for (size_t i = 0; i < KEYS; i++) {
		*keys[i] = queue->names + i * size;
		rdl_name_beside(link, name, suffixes[i], *keys[i], size);
	}
	return queue;
}

void rdl_delay_queue_free(struct rdl_delay_queue *queue)
{
	free(queue);
}

void rdl_delay_queue_set_limit(struct rdl_delay_queue *queue, long attempts)
{
	queue->limit = attempts > 0 ? attempts : 0;
}

long rdl_delay_queue_attempt(const struct rdl_delay_queue *queue)
{
	return queue->attempt;
}

/* ---- Putting and taking ------------------------------------------------ */

enum rdl_outcome rdl_delay_queue_put(struct rdl_delay_queue *queue, const char *id, long delay_ms)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome =
		rdl_run_script(queue->link, &reply, put_script, "4 %s %s %s %s %s %lld", queue->due,
			       queue->processing, queue->takes, queue->attempts, id,
			       (long long)rdl_span(delay_ms, RDL_US_PER_MS));

	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? RDL_OK : RDL_BUSY;
}

static enum rdl_outcome note_take(struct rdl_delay_queue *queue, const struct rdl_reply *reply,
				  char *id, size_t size)
{
	if (reply->type != RDL_REPLY_ARRAY || reply->length != 3 ||
	    reply->elements[0].type != RDL_REPLY_STRING || reply->elements[0].length >= size)
		return rdl_link_fail(queue->link, RDL_ERROR, "not the reply of a take");
	memcpy(id, reply->elements[0].text, reply->elements[0].length + 1);
	queue->deadline_us = reply->elements[1].integer;
	queue->attempt = (long)reply->elements[2].integer;
	return RDL_OK;
}

/* The number of the take before is of no use any more. */
static void forget_take(struct rdl_delay_queue *queue)
{
	queue->take[0] = '\0';
	queue->deadline_us = 0;
	queue->attempt = 0;
	queue->unsettled = false;
}

enum rdl_outcome rdl_delay_queue_take(struct rdl_delay_queue *queue, long hold_ms, char *id,
				      size_t size)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	forget_take(queue);
	if (size == 0 || !rdl_token_fresh(queue->link, queue->take))
		return rdl_link_fail(queue->link, RDL_ERROR, "%s",
				     size ? "no random bytes" : "no room for an id");
	outcome = rdl_run_script(queue->link, &reply, take_script,
				 "5 %s %s %s %s %s %lld %s %lld %ld", queue->due, queue->processing,
				 queue->takes, queue->attempts, queue->dead,
				 (long long)rdl_span(hold_ms, RDL_US_PER_MS), queue->take,
				 (long long)size - 1, queue->limit);
	if (outcome != RDL_OK)
		return outcome;
	if (reply.type != RDL_REPLY_INTEGER)
		return note_take(queue, &reply, id, size);
	queue->next_us = reply.integer;
	return RDL_BUSY;
}

/* ---- Waiting until something is due ------------------------------------ */

/* How long a wait sleeps at most: what others put meanwhile is found so late. */
enum { LOOK_AGAIN_US = 200000, LOOK_AT_LEAST_US = 1000 };

/* Sleeps until the next item is due, or it is time to look what others have put. False: the
 * time is over, or the caller has cancelled. */
static bool sleep_until_due(const struct rdl_delay_queue *queue, const struct rdl_policy *policy,
			    int64_t deadline_ns)
{
	const long most_us = policy->pause_max_us > 0 ? policy->pause_max_us : LOOK_AGAIN_US;
	const int64_t left_ns = deadline_ns - rdl_now_ns(queue->link, RDL_CLOCK_MONOTONIC);
	int64_t us = most_us, ns;

	if (left_ns <= 0)
		return false;
	if (queue->next_us >= 0 && queue->next_us < us)
		us = queue->next_us > LOOK_AT_LEAST_US ? queue->next_us : LOOK_AT_LEAST_US;
	ns = rdl_span(us, 1000) < left_ns ? rdl_span(us, 1000) : left_ns;
	if (policy->cancel_fd)
		return !rdl_wait(queue->link, *policy->cancel_fd, ns);
	rdl_sleep_ns(queue->link, ns);
	return true;
}

enum rdl_outcome rdl_delay_queue_wait(struct rdl_delay_queue *queue, long hold_ms, char *id,
				      size_t size, const struct rdl_policy *policy)
{
	const struct rdl_policy how = rdl_policy_of(policy);
	const int64_t deadline_ns = rdl_deadline_after(rdl_now_ns(queue->link, RDL_CLOCK_MONOTONIC),
						       how.wait_ms);
	struct rdl_patience patience;
	enum rdl_outcome outcome;
	bool is_away;

	do {
		queue->next_us = -1;
		rdl_link_set_patience(queue->link, &patience, &how, deadline_ns);
		outcome = rdl_delay_queue_take(queue, hold_ms, id, size);
		queue->link->patience = NULL;
		is_away = outcome == RDL_ERROR && rdl_is_worth_waiting(queue->link, &how);
	} while ((outcome == RDL_BUSY || is_away) && sleep_until_due(queue, &how, deadline_ns));
	return outcome;
}

/* ---- While it is taken ------------------------------------------------- */

/* Runs a script that may be repeated: asks again when the reply is lost. */
static enum rdl_outcome run_for_take(struct rdl_delay_queue *queue, struct rdl_reply *reply,
				     const char *script, const char *id, long ms)
{
	enum rdl_outcome outcome = RDL_UNKNOWN;

	if (!queue->take[0])
		return RDL_LOST;
	for (int i = 0; i < 2 && outcome == RDL_UNKNOWN; i++)
		outcome = rdl_run_script(queue->link, reply, script, "3 %s %s %s %s %s %lld",
					 queue->due, queue->processing, queue->takes, id,
					 queue->take, (long long)rdl_span(ms, RDL_US_PER_MS));
	if (outcome == RDL_OK && reply->integer == 0)
		return RDL_LOST;
	return outcome;
}

enum rdl_outcome rdl_delay_queue_prolong(struct rdl_delay_queue *queue, const char *id,
					 long hold_ms)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = run_for_take(queue, &reply, prolong_script, id, hold_ms);

	if (outcome == RDL_OK)
		queue->deadline_us = reply.integer;
	return outcome;
}

enum rdl_outcome rdl_delay_queue_give_back(struct rdl_delay_queue *queue, const char *id,
					   long delay_ms)
{
	struct rdl_reply reply;

	queue->deadline_us = 0; /* another worker may end it before that */
	return run_for_take(queue, &reply, give_back_script, id, delay_ms > 0 ? delay_ms : 0);
}

/* ---- Ending ------------------------------------------------------------ */

static bool append_words(struct rdl_command *command, const char *format, ...)
{
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rdl_command_parse(command, format, arguments);
	va_end(arguments);
	return good;
}

/* Asks once, after a lost reply twice. */
static enum rdl_outcome run_done_script(struct rdl_delay_queue *queue, struct rdl_command *command,
					struct rdl_reply *reply)
{
	enum rdl_outcome outcome = rdl_run_script_command(queue->link, reply, done_script, command);

	if (outcome == RDL_UNKNOWN) {
		queue->unsettled = true;
		outcome = rdl_run_script_command(queue->link, reply, done_script, command);
	}
	return outcome;
}

/* What an answer means; once a reply is missing, only "done" is certain. */
static enum rdl_outcome settle_done(struct rdl_delay_queue *queue, long long answer)
{
	const bool before = queue->unsettled && answer == DONE_BEFORE;

	if (answer == DONE_NOW || before) {
		queue->unsettled = false;
		return RDL_OK;
	}
	return queue->unsettled ? RDL_UNKNOWN : RDL_LOST;
}

enum rdl_outcome rdl_delay_queue_done(struct rdl_delay_queue *queue, const char *id,
				      const char *format, ...)
{
	struct rdl_command command;
	struct rdl_reply reply;
	enum rdl_outcome outcome;
	va_list arguments;
	bool good;

	rdl_script_begin(&command);
	va_start(arguments, format);
	good = append_words(&command, "4 %s %s %s %s %s %s %lld", queue->due, queue->processing,
			    queue->takes, queue->attempts, id, queue->take, queue->deadline_us) &&
	       rdl_command_parse(&command, format, arguments);
	va_end(arguments);
	if (!good)
		return rdl_link_fail(queue->link, RDL_ERROR, "bad command '%s'", format);
	outcome = run_done_script(queue, &command, &reply);
	if (outcome == RDL_OK)
		return settle_done(queue, reply.integer);
	return queue->unsettled ? RDL_UNKNOWN : outcome;
}

enum rdl_outcome rdl_delay_queue_length(struct rdl_delay_queue *queue, long long *due,
					long long *processing)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run_script(queue->link, &reply, length_script,
							"3 %s %s %s", queue->due, queue->processing,
							queue->takes);

	if (outcome != RDL_OK)
		return outcome;
	if (reply.type != RDL_REPLY_ARRAY || reply.length != 2)
		return rdl_link_fail(queue->link, RDL_ERROR, "not the reply of a length");
	*due = reply.elements[0].integer;
	*processing = reply.elements[1].integer;
	return RDL_OK;
}

/* ---- The dead ---------------------------------------------------------- */

enum rdl_outcome rdl_delay_queue_dead(struct rdl_delay_queue *queue, long index, char *id,
				      size_t size)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (index < 0)
		return RDL_BUSY;
	outcome = rdl_run(queue->link, &reply, "LINDEX %s %ld", queue->dead, index);
	if (outcome != RDL_OK || rdl_reply_is_nil(&reply))
		return outcome == RDL_OK ? RDL_BUSY : outcome;
	if (reply.type != RDL_REPLY_STRING || reply.length >= size)
		return rdl_link_fail(queue->link, RDL_ERROR, "the id of %zu bytes does not fit",
				     reply.length);
	memcpy(id, reply.text, reply.length + 1);
	return RDL_OK;
}

enum rdl_outcome rdl_delay_queue_remove_dead(struct rdl_delay_queue *queue, const char *id)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run(queue->link, &reply, "LREM %s 1 %s", queue->dead,
						 id);

	return outcome == RDL_OK && reply.integer == 0 ? RDL_LOST : outcome;
}

enum rdl_outcome rdl_delay_queue_revive(struct rdl_delay_queue *queue, const char *id,
					long delay_ms)
{
	static const enum rdl_outcome outcomes[] = { RDL_LOST, RDL_OK, RDL_BUSY };
	struct rdl_reply reply;
	const enum rdl_outcome outcome =
		rdl_run_script(queue->link, &reply, revive_script, "5 %s %s %s %s %s %s %lld",
			       queue->due, queue->processing, queue->takes, queue->attempts,
			       queue->dead, id, (long long)rdl_span(delay_ms, RDL_US_PER_MS));

	if (outcome != RDL_OK)
		return outcome;
	if (reply.type != RDL_REPLY_INTEGER || reply.integer < 0 || reply.integer > 2)
		return rdl_link_fail(queue->link, RDL_ERROR, "not the reply of a revival");
	return outcomes[reply.integer];
}

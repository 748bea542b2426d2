/* SPDX-License-Identifier: MIT */
/*
 * The delay queue:
 *
 *	put    ZADD due               unless the id is there already
 *	take   due -> processing      the one that has been due the longest
 *	       processing -> due      whatever was held too long
 *	done   the effect, and out of processing, if the take is the newest
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "link.h"
#include "script.h"

struct rl_delay_queue {
	struct rl_link *link;
	char take[RL_TOKEN_SIZE];       /* number of the newest take; "" = none */
	long long deadline_us;          /* until when that one is held */
	bool unsettled;                 /* a done of it was sent and not answered */
	char *due, *processing, *takes; /* keys, in `names` */
	char names[];
};

/* ---- Scripts ----------------------------------------------------------- */

/* Keys of all of them: due, processing, takes. */

/* id, delay in us. One script: between looking and adding, somebody else could
 * add it, or take and end it. */
static const char put_script[] = "if redis.call('ZSCORE', KEYS[1], ARGV[1]) or "
				 "redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 0 end "
				 "local t = redis.call('TIME') "
				 "return redis.call('ZADD', KEYS[1], "
				 "t[1] * 1000000 + t[2] + ARGV[2], ARGV[1])";

/* hold in us, take number, longest id. One script: between reading an item and
 * moving it, others would read it too; between removing and adding, a crash
 * would lose it. */
static const char take_script[] = "local t = redis.call('TIME') "
				  "local now = t[1] * 1000000 + t[2] "
				  "local late = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, "
				  "'WITHSCORES', 'LIMIT', 0, 100) "
				  "for i = 1, #late, 2 do "
				  "redis.call('ZADD', KEYS[1], late[i + 1], late[i]) "
				  "redis.call('ZREM', KEYS[2], late[i]) "
				  "redis.call('HDEL', KEYS[3], late[i]) end "
				  "local id = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, "
				  "'LIMIT', 0, 1)[1] "
				  "if not id then return false end "
				  "if #id > tonumber(ARGV[3]) then "
				  "return redis.error_reply('ERR the id of ' .. #id .. "
				  "' bytes does not fit') end "
				  "redis.call('ZADD', KEYS[2], now + ARGV[1], id) "
				  "redis.call('HSET', KEYS[3], id, ARGV[2]) "
				  "redis.call('ZREM', KEYS[1], id) "
				  "return { id, now + ARGV[1] }";

/*
 * id, take number, its deadline, the effect's words. The effect comes first: an
 * error in it ends the script, and the item stays. 1: done. 2: not there at
 * all, and nobody could have taken it over yet: if a done of ours has been sent
 * before, that one did it. 0: not ours.
 */
static const char done_script[] =
	"local there = redis.call('ZSCORE', KEYS[2], ARGV[1]) "
	"if there and redis.call('HGET', KEYS[3], ARGV[1]) == ARGV[2] then "
	"redis.call(unpack(ARGV, 4)) "
	"redis.call('ZREM', KEYS[2], ARGV[1]) "
	"redis.call('HDEL', KEYS[3], ARGV[1]) "
	"return 1 end "
	"local t = redis.call('TIME') "
	"if t[1] * 1000000 + t[2] < tonumber(ARGV[3]) and not there and "
	"not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 2 end "
	"return 0";

/* One script: an item on its way from one to the other is counted once. */
static const char length_script[] =
	"return { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) }";

enum { NOT_OURS, DONE_NOW, DONE_BEFORE };

/* ---- Making one -------------------------------------------------------- */

struct rl_delay_queue *rl_delay_queue_new(struct rl_link *link, const char *name)
{
	const size_t size = strlen(name) + sizeof(":processing");
	struct rl_delay_queue *queue = calloc(1, sizeof(*queue) + 3 * size);

	if (!queue)
		return NULL;
	queue->link = link;
	queue->due = queue->names;
	queue->processing = queue->names + size;
	queue->takes = queue->names + 2 * size;
	snprintf(queue->due, size, "%s:due", name);
	snprintf(queue->processing, size, "%s:processing", name);
	snprintf(queue->takes, size, "%s:takes", name);
	return queue;
}

void rl_delay_queue_free(struct rl_delay_queue *queue)
{
	free(queue);
}

/* ---- Putting and taking ------------------------------------------------ */

enum rl_outcome rl_delay_queue_put(struct rl_delay_queue *queue, const char *id, long delay_ms)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run_script(queue->link, &reply, put_script,
						      "3 %s %s %s %s %lld", queue->due,
						      queue->processing, queue->takes, id,
						      (long long)rl_span(delay_ms, RL_US_PER_MS));

	if (outcome != RL_OK)
		return outcome;
	return reply.integer == 1 ? RL_OK : RL_BUSY;
}

static enum rl_outcome note_take(struct rl_delay_queue *queue, const struct rl_reply *reply,
				 char *id, size_t size)
{
	if (reply->type != RL_REPLY_ARRAY || reply->length != 2 ||
	    reply->elements[0].type != RL_REPLY_STRING || reply->elements[0].length >= size)
		return rl_link_fail(queue->link, RL_ERROR, "not the reply of a take");
	memcpy(id, reply->elements[0].text, reply->elements[0].length + 1);
	queue->deadline_us = reply->elements[1].integer;
	return RL_OK;
}

enum rl_outcome rl_delay_queue_take(struct rl_delay_queue *queue, long hold_ms, char *id,
				    size_t size)
{
	struct rl_reply reply;
	enum rl_outcome outcome;

	queue->unsettled = false;
	if (size == 0 || !rl_token_fresh(queue->link, queue->take))
		return rl_link_fail(queue->link, RL_ERROR, "%s",
				    size ? "no random bytes" : "no room for an id");
	outcome = rl_run_script(queue->link, &reply, take_script, "3 %s %s %s %lld %s %lld",
				queue->due, queue->processing, queue->takes,
				(long long)rl_span(hold_ms, RL_US_PER_MS), queue->take,
				(long long)size - 1);
	if (outcome != RL_OK)
		return outcome;
	return rl_reply_is_nil(&reply) ? RL_BUSY : note_take(queue, &reply, id, size);
}

/* ---- Ending ------------------------------------------------------------ */

static bool append_words(struct rl_command *command, const char *format, ...)
{
	va_list arguments;
	bool good;

	va_start(arguments, format);
	good = rl_command_parse(command, format, arguments);
	va_end(arguments);
	return good;
}

/* Asks once, after a lost reply twice. */
static enum rl_outcome run_done_script(struct rl_delay_queue *queue, struct rl_command *command,
				       struct rl_reply *reply)
{
	enum rl_outcome outcome = rl_run_script_command(queue->link, reply, done_script, command);

	if (outcome == RL_UNKNOWN) {
		queue->unsettled = true;
		outcome = rl_run_script_command(queue->link, reply, done_script, command);
	}
	return outcome;
}

/* What an answer means; once a reply is missing, only "done" is certain. */
static enum rl_outcome settle_done(struct rl_delay_queue *queue, long long answer)
{
	const bool before = queue->unsettled && answer == DONE_BEFORE;

	if (answer == DONE_NOW || before) {
		queue->unsettled = false;
		return RL_OK;
	}
	return queue->unsettled ? RL_UNKNOWN : RL_LOST;
}

enum rl_outcome rl_delay_queue_done(struct rl_delay_queue *queue, const char *id,
				    const char *format, ...)
{
	struct rl_command command;
	struct rl_reply reply;
	enum rl_outcome outcome;
	va_list arguments;
	bool good;

	rl_script_begin(&command);
	va_start(arguments, format);
	good = append_words(&command, "3 %s %s %s %s %s %lld", queue->due, queue->processing,
			    queue->takes, id, queue->take, queue->deadline_us) &&
	       rl_command_parse(&command, format, arguments);
	va_end(arguments);
	if (!good)
		return rl_link_fail(queue->link, RL_ERROR, "bad command '%s'", format);
	outcome = run_done_script(queue, &command, &reply);
	if (outcome == RL_OK)
		return settle_done(queue, reply.integer);
	return queue->unsettled ? RL_UNKNOWN : outcome;
}

enum rl_outcome rl_delay_queue_length(struct rl_delay_queue *queue, long long *due,
				      long long *processing)
{
	struct rl_reply reply;
	const enum rl_outcome outcome = rl_run_script(queue->link, &reply, length_script,
						      "3 %s %s %s", queue->due, queue->processing,
						      queue->takes);

	if (outcome != RL_OK)
		return outcome;
	if (reply.type != RL_REPLY_ARRAY || reply.length != 2)
		return rl_link_fail(queue->link, RL_ERROR, "not the reply of a length");
	*due = reply.elements[0].integer;
	*processing = reply.elements[1].integer;
	return RL_OK;
}

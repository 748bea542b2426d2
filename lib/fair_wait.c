/* SPDX-License-Identifier: MIT */
/* Standing in a fair lock's line: until the message comes, or it is time to look
 * whether it was lost. */
#include <string.h>

#include "fair.h"
#include "link.h"

enum { LOOK_AGAIN_MS = 500 };

/* A message is a token, and after a = the value that comes along. */
static bool is_for_us(struct rl_fair *fair, const struct rl_reply *message)
{
	const size_t length = strlen(fair->token);
	const struct rl_reply *payload;

	if (message->type != RL_REPLY_ARRAY || message->length != 3)
		return false;
	payload = &message->elements[2];
	if (!payload->text || payload->length < length ||
	    memcmp(payload->text, fair->token, length) != 0)
		return false;
	fair->carried = (struct rl_reply){ .type = RL_REPLY_NIL };
	if (payload->text[length] == '=')
		fair->carried = (struct rl_reply){
			.type = RL_REPLY_STRING,
			.text = payload->text + length + 1,
			.length = payload->length - length - 1,
		};
	return true;
}

/* Handed over since our last question; a lease that is half over already is
 * better asked for again. */
static enum rl_outcome accept(struct rl_fair *fair)
{
	const int64_t half_ns = fair->ttl_ms * INT64_C(500000);

	if (rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) - fair->hold.sent_ns >
	    half_ns)
		return RL_BUSY;
	rl_hold_answer(&fair->hold, RL_OK, fair->ttl_ms);
	return RL_OK;
}

static int64_t wait_until_ns(const struct rl_fair *fair, long wait_ms)
{
	long most_ms = fair->ttl_ms < LOOK_AGAIN_MS ? fair->ttl_ms :
						      LOOK_AGAIN_MS;

	if (wait_ms < most_ms)
		most_ms = wait_ms;
	return rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) +
	       most_ms * INT64_C(1000000);
}

enum rl_outcome rl_fair_wait(struct rl_fair *fair, long wait_ms)
{
	const int64_t deadline_ns = wait_until_ns(fair, wait_ms);
	enum rl_outcome outcome = fair->in_line ? RL_OK : RL_BUSY;

	fair->hold.stats.waits++;
	while (outcome == RL_OK) {
		struct rl_reply message = { .type = RL_REPLY_NIL };
		const int64_t left_ns =
			deadline_ns - rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);

		outcome = rl_link_listen(fair->wake, &message,
					 left_ns > 0 ? left_ns : 0);
		if (outcome == RL_OK && is_for_us(fair, &message))
			return accept(fair);
	}
	return RL_BUSY;
}

/* Whatever leaving found: the lock may have come to us in the meantime. */
static enum rl_outcome give_up(struct rl_fair *fair)
{
	enum rl_outcome outcome = rl_fair_leave_line(fair);

	if (outcome == RL_UNKNOWN)
		outcome = rl_fair_leave_line(fair);
	fair->hold.waiting_ns = 0;
	return outcome == RL_OK || outcome == RL_LOST ? RL_BUSY : outcome;
}

enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms, long wait_ms)
{
	const int64_t deadline_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) +
				    wait_ms * INT64_C(1000000);

	for (;;) {
		enum rl_outcome outcome = rl_fair_try(fair, ttl_ms);
		int64_t left_ns;

		if (outcome != RL_BUSY)
			return outcome;
		left_ns = deadline_ns -
			  rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
		if (left_ns <= 0)
			return give_up(fair);
		outcome = rl_fair_wait(fair, (long)(left_ns / 1000000) + 1);
		if (outcome == RL_OK)
			return outcome;
	}
}

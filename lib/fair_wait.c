/* SPDX-License-Identifier: MIT */
/* Standing in a fair lock's line: until the message comes, or it is time to
 * look whether it was lost. */
#include <string.h>

#include "driver.h"
#include "fair.h"
#include "link.h"

enum { LOOK_AGAIN_MS = 500, CANCEL_LOOK_MS = 50 };

/* ---- The channel ------------------------------------------------------- */

static int64_t timeout_of(const struct rl_link *link)
{
	return rl_link_timeout_ms(link) * INT64_C(1000000);
}

static bool is_confirmation(const struct rl_reply *reply)
{
	return reply->type == RL_REPLY_ARRAY && reply->length == 3 && reply->elements[0].text &&
	       strcmp(reply->elements[0].text, "subscribe") == 0;
}

/* Messages may come before the answer, but not for ever: when the time-out is over,
 * none more is listened for. How long one is listened for does not depend on the
 * kernel's time: under a driver that would be another time in each run. */
static enum rl_outcome ask_for_messages(struct rl_fair *fair)
{
	const int64_t timeout_ns = timeout_of(fair->wake);
	const int64_t deadline_ns = rl_kernel_ns() + timeout_ns;
	struct rl_reply reply;
	enum rl_outcome outcome = rl_run(fair->wake, &reply, "SUBSCRIBE %s", fair->channel);

	while (outcome == RL_OK && !is_confirmation(&reply))
		outcome = rl_kernel_ns() < deadline_ns ?
				  rl_link_listen(fair->wake, &reply, timeout_ns) :
				  RL_BUSY;
	if (outcome == RL_BUSY)
		rl_link_fail(fair->wake, RL_BUSY, "no answer to SUBSCRIBE");
	if (outcome != RL_OK)
		rl_link_disconnect(fair->wake);
	fair->subscribed_on = rl_link_connection(fair->wake);
	return outcome;
}

static bool is_subscribed(const struct rl_fair *fair)
{
	return fair->subscribed_on && fair->subscribed_on == rl_link_connection(fair->wake);
}

/* A connection that was there before may have been cut since: once more. */
static enum rl_outcome subscribe_again(struct rl_fair *fair)
{
	const bool was_subscribed = is_subscribed(fair);
	enum rl_outcome outcome = ask_for_messages(fair);

	if (outcome != RL_OK && was_subscribed)
		outcome = ask_for_messages(fair);
	if (outcome == RL_OK)
		return RL_OK;
	return rl_link_fail(fair->link, RL_ERROR, "cannot subscribe: %s",
			    rl_link_error(fair->wake));
}

enum rl_outcome rl_fair_subscribe(struct rl_fair *fair)
{
	rl_link_set_driver(fair->wake, fair->link->driver);
	/* PUBLISH counts only those who listen at the same node. */
	if (!rl_route_is_shared(fair->wake, fair->link))
		rl_link_disconnect(fair->wake);
	return is_subscribed(fair) ? RL_OK : subscribe_again(fair);
}

/*
 * To subscribe again changes nothing, and its answer comes behind every
 * message the server had sent by then. So what is read after it was handed
 * over after it, hence after hold.sent_ns, and its lease lasts at least from
 * there. To read what is in the socket would not do: a message may be on its
 * way.
 */
enum rl_outcome rl_fair_catch_up(struct rl_fair *fair)
{
	return subscribe_again(fair);
}

/* ---- Messages ---------------------------------------------------------- */

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
static enum rl_outcome accept_hand_over(struct rl_fair *fair)
{
	const int64_t half_ns = fair->ttl_ms * INT64_C(500000);

	if (rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) - fair->hold.sent_ns > half_ns)
		return RL_BUSY;
	rl_hold_answer(&fair->hold, RL_OK, fair->ttl_ms);
	return RL_OK;
}

int64_t rl_fair_wait_ns(long wait_ms)
{
	const int64_t most_ms = INT64_C(36500) * 24 * 3600 * 1000;

	if (wait_ms < 0)
		return 0;
	return (wait_ms < most_ms ? wait_ms : most_ms) * INT64_C(1000000);
}

static int64_t lesser_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Not in a child of the process that stands there: the messages are not its. */
static bool is_waiting(const struct rl_fair *fair)
{
	return fair->in_line && fair->owner == rl_process(fair->link) &&
	       !rl_hold_is_ours(&fair->hold);
}

/* RL_BUSY: nothing has come, and the time is over or somebody cancelled. */
static enum rl_outcome listen_until(struct rl_fair *fair, struct rl_reply *message,
				    int64_t deadline_ns, int cancel_fd)
{
	const int64_t slice_ns = cancel_fd >= 0 ? CANCEL_LOOK_MS * INT64_C(1000000) : INT64_MAX;
	enum rl_outcome outcome;
	int64_t left_ns;

	do {
		if (cancel_fd >= 0 && rl_wait(fair->link, cancel_fd, 0))
			return RL_BUSY;
		left_ns = deadline_ns - rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
		left_ns = left_ns > 0 ? left_ns : 0;
		outcome = rl_link_listen(fair->wake, message, lesser_ns(left_ns, slice_ns));
	} while (outcome == RL_BUSY && left_ns > slice_ns);
	return outcome;
}

enum rl_outcome rl_fair_stand(struct rl_fair *fair, int64_t wait_ns, int cancel_fd)
{
	const int64_t look_again_ns = lesser_ns(fair->ttl_ms, LOOK_AGAIN_MS) * INT64_C(1000000);
	const int64_t deadline_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC) +
				    lesser_ns(wait_ns, look_again_ns);
	const int64_t flood_ns = rl_kernel_ns() + timeout_of(fair->wake) +
				 lesser_ns(wait_ns, look_again_ns);
	enum rl_outcome outcome = is_waiting(fair) ? RL_OK : RL_BUSY;

	fair->hold.stats.waits++;
	while (outcome == RL_OK) {
		struct rl_reply message = { .type = RL_REPLY_NIL };

		outcome = listen_until(fair, &message, deadline_ns, cancel_fd);
		if (outcome == RL_OK && is_for_us(fair, &message))
			return accept_hand_over(fair);
		/* No line is so long that its messages go on for so long. */
		if (rl_kernel_ns() > flood_ns)
			outcome = RL_BUSY;
	}
	return RL_BUSY;
}

enum rl_outcome rl_fair_wait(struct rl_fair *fair, long wait_ms)
{
	return rl_fair_stand(fair, rl_fair_wait_ns(wait_ms), -1);
}

/* ---- Asking until it is held ------------------------------------------- */

static int64_t fair_left_ns(const struct rl_fair *fair, int64_t deadline_ns)
{
	return deadline_ns - rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
}

/* Whatever leaving found: the lock may have come to us in the meantime. */
static enum rl_outcome give_up_waiting(struct rl_fair *fair)
{
	enum rl_outcome outcome = RL_OK;

	if (fair->in_line)
		outcome = rl_fair_leave_line(fair);
	if (outcome == RL_UNKNOWN)
		outcome = rl_fair_leave_line(fair);
	fair->hold.waiting_ns = 0;
	return outcome == RL_OK || outcome == RL_LOST ? RL_BUSY : outcome;
}

/* A lease that is too short already is given back. */
static enum rl_outcome keep_if_long_enough(struct rl_fair *fair, enum rl_outcome outcome,
					   long least_ms)
{
	if (outcome != RL_OK || rl_hold_remaining_ms(&fair->hold) >= least_ms)
		return outcome;
	rl_fair_release(fair);
	return RL_BUSY;
}

/* Waits until it is time to ask again. Out of line, after a lease that was too
 * short, it takes a pause: the next one might come as fast. False: the time is
 * over, or somebody cancelled. */
static bool wait_for_turn(struct rl_fair *fair, const struct rl_policy *policy, unsigned n,
			  int64_t deadline_ns, enum rl_outcome *outcome)
{
	if (!fair->in_line)
		return rl_pause(fair->link, policy, n, deadline_ns);
	if (fair_left_ns(fair, deadline_ns) <= 0 ||
	    (policy->cancel_fd >= 0 && rl_wait(fair->link, policy->cancel_fd, 0)))
		return false;
	*outcome = keep_if_long_enough(
		fair, rl_fair_stand(fair, fair_left_ns(fair, deadline_ns), policy->cancel_fd),
		policy->least_ms);
	return true;
}

static bool holds_fair(const struct rl_fair *fair)
{
	return !fair->giving_back && rl_hold_remaining_ms(&fair->hold) > 0;
}

enum rl_outcome rl_fair_acquire(struct rl_fair *fair, long ttl_ms, const struct rl_policy *policy)
{
	const struct rl_policy once = { .cancel_fd = -1 };
	const struct rl_policy *how = policy ? policy : &once;
	const int64_t start_ns = rl_now_ns(fair->link, RL_CLOCK_MONOTONIC);
	const int64_t deadline_ns = start_ns + rl_fair_wait_ns(how->wait_ms);
	enum rl_outcome outcome = RL_BUSY;

	if (holds_fair(fair))
		return RL_BUSY;
	for (unsigned n = 0; outcome == RL_BUSY; n++) {
		if (!fair->hold.waiting_ns)
			fair->hold.waiting_ns = start_ns;
		outcome = keep_if_long_enough(fair, rl_fair_try(fair, ttl_ms), how->least_ms);
		if (outcome == RL_BUSY && !wait_for_turn(fair, how, n, deadline_ns, &outcome))
			return give_up_waiting(fair);
	}
	return outcome;
}

/* SPDX-License-Identifier: MIT */
/* Standing in a fair lock's line: until the message comes, or it is time to
 * look whether it was lost. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "fair.h"
#include "link.h"

enum { LOOK_AGAIN_MS = 500, CANCEL_LOOK_MS = 50 };

/* ---- The channel ------------------------------------------------------- */

static int64_t timeout_of(const struct rdl_link *link)
{
	return rdl_link_timeout_ms(link) * INT64_C(1000000);
}

static bool is_confirmation(const struct rdl_reply *reply)
{
	return reply->type == RDL_REPLY_ARRAY && reply->length == 3 && reply->elements[0].text &&
	       strcmp(reply->elements[0].text, "subscribe") == 0;
}

/* Messages may come before the answer, but not for ever: when the time-out is over,
 * none more is listened for. How long one is listened for does not depend on the
 * kernel's time: under a driver that would be another time in each run. */
static enum rdl_outcome ask_for_messages(struct rdl_fair *fair)
{
	const int64_t timeout_ns = timeout_of(fair->wake);
	const int64_t deadline_ns = rdl_kernel_ns() + timeout_ns;
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_run(fair->wake, &reply, "SUBSCRIBE %s", fair->channel);

	while (outcome == RDL_OK && !is_confirmation(&reply))
		outcome = rdl_kernel_ns() < deadline_ns ?
				  rdl_link_listen(fair->wake, &reply, timeout_ns) :
				  RDL_BUSY;
	if (outcome == RDL_BUSY)
		rdl_link_fail(fair->wake, RDL_BUSY, "no answer to SUBSCRIBE");
	if (outcome != RDL_OK)
		rdl_link_disconnect(fair->wake);
	fair->subscribed_on = rdl_link_connection(fair->wake);
	return outcome;
}

static bool is_subscribed(const struct rdl_fair *fair)
{
	return fair->subscribed_on && fair->subscribed_on == rdl_link_connection(fair->wake);
}

/* A connection that was there before may have been cut since: once more. */
static enum rdl_outcome subscribe_again(struct rdl_fair *fair)
{
	const bool was_subscribed = is_subscribed(fair);
	enum rdl_outcome outcome = ask_for_messages(fair);

	if (outcome != RDL_OK && was_subscribed)
		outcome = ask_for_messages(fair);
	if (outcome == RDL_OK)
		return RDL_OK;
	rdl_link_fail(fair->link, RDL_ERROR, "cannot subscribe: %s", rdl_link_error(fair->wake));
	fair->link->reason = fair->wake->reason;
	return RDL_ERROR;
}

enum rdl_outcome rdl_fair_subscribe(struct rdl_fair *fair)
{
	rdl_link_set_driver(fair->wake, fair->link->driver);
	/* PUBLISH counts only those who listen at the same node. */
	if (!rdl_route_is_shared(fair->wake, fair->link))
		rdl_link_disconnect(fair->wake);
	return is_subscribed(fair) ? RDL_OK : subscribe_again(fair);
}

/*
 * To subscribe again changes nothing, and its answer comes behind every
 * message the server had sent by then. So what is read after it was handed
 * over after it, hence after hold.sent_ns, and its lease lasts at least from
 * there. To read what is in the socket would not do: a message may be on its
 * way.
 */
enum rdl_outcome rdl_fair_catch_up(struct rdl_fair *fair)
{
	return subscribe_again(fair);
}

/* ---- Messages ---------------------------------------------------------- */

/* A message is a token, after a # the fencing number, and after a = the value that comes
 * along. */
static bool is_for_us(struct rdl_fair *fair, const struct rdl_reply *message)
{
	const size_t length = strlen(fair->token);
	const struct rdl_reply *payload;
	char *at;

	if (message->type != RDL_REPLY_ARRAY || message->length != 3)
		return false;
	payload = &message->elements[2];
	if (!payload->text || payload->length < length ||
	    memcmp(payload->text, fair->token, length) != 0)
		return false;
	fair->carried = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	fair->number = 0;
	at = (char *)payload->text + length;
	if (*at == '#')
		fair->number = strtoll(at + 1, &at, 10);
	if (*at == '=')
		fair->carried = (struct rdl_reply){
			.type = RDL_REPLY_STRING,
			.text = at + 1,
			.length = payload->length - (size_t)(at + 1 - payload->text),
		};
	return !fair->draws_number || fair->number > 0;
}

/* Handed over since our last question; a lease that is half over already is
 * better asked for again. */
static enum rdl_outcome accept_hand_over(struct rdl_fair *fair)
{
	const int64_t half_ns = fair->ttl_ms * INT64_C(500000);

	if (rdl_now_ns(fair->link, RDL_CLOCK_MONOTONIC) - fair->hold.sent_ns > half_ns)
		return RDL_BUSY;
	rdl_hold_answer(&fair->hold, RDL_OK, fair->ttl_ms);
	return RDL_OK;
}

int64_t rdl_fair_wait_ns(long wait_ms)
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
static bool is_waiting(const struct rdl_fair *fair)
{
	return fair->in_line && fair->owner == rdl_process(fair->link) &&
	       !rdl_hold_is_ours(&fair->hold);
}

/* RDL_BUSY: nothing has come, and the time is over or the caller has cancelled. */
static enum rdl_outcome listen_until(struct rdl_fair *fair, struct rdl_reply *message,
				     int64_t deadline_ns, const int *cancel_fd)
{
	const int64_t slice_ns = cancel_fd ? CANCEL_LOOK_MS * INT64_C(1000000) : INT64_MAX;
	enum rdl_outcome outcome;
	int64_t left_ns;

	do {
		if (cancel_fd && rdl_wait(fair->link, *cancel_fd, 0))
			return RDL_BUSY;
		left_ns = deadline_ns - rdl_now_ns(fair->link, RDL_CLOCK_MONOTONIC);
		left_ns = left_ns > 0 ? left_ns : 0;
		outcome = rdl_link_listen(fair->wake, message, lesser_ns(left_ns, slice_ns));
	} while (outcome == RDL_BUSY && left_ns > slice_ns);
	return outcome;
}

enum rdl_outcome rdl_fair_stand(struct rdl_fair *fair, int64_t wait_ns, const int *cancel_fd)
{
	const int64_t look_again_ns = lesser_ns(fair->ttl_ms, LOOK_AGAIN_MS) * INT64_C(1000000);
	const int64_t deadline_ns = rdl_now_ns(fair->link, RDL_CLOCK_MONOTONIC) +
				    lesser_ns(wait_ns, look_again_ns);
	const int64_t flood_ns = rdl_kernel_ns() + timeout_of(fair->wake) +
				 lesser_ns(wait_ns, look_again_ns);
	enum rdl_outcome outcome = is_waiting(fair) ? RDL_OK : RDL_BUSY;

	fair->hold.stats.waits++;
	while (outcome == RDL_OK) {
		struct rdl_reply message = { .type = RDL_REPLY_NIL };

		outcome = listen_until(fair, &message, deadline_ns, cancel_fd);
		if (outcome == RDL_OK && is_for_us(fair, &message))
			return accept_hand_over(fair);
		/* No line is so long that its messages go on for so long. */
		if (rdl_kernel_ns() > flood_ns)
			outcome = RDL_BUSY;
	}
	return RDL_BUSY;
}

enum rdl_outcome rdl_fair_wait(struct rdl_fair *fair, long wait_ms)
{
	return rdl_fair_stand(fair, rdl_fair_wait_ns(wait_ms), NULL);
}

/* ---- Asking until it is held ------------------------------------------- */

static int64_t fair_left_ns(const struct rdl_fair *fair, int64_t deadline_ns)
{
	return deadline_ns - rdl_now_ns(fair->link, RDL_CLOCK_MONOTONIC);
}

/* Whatever leaving found: the lock may have come to us in the meantime. */
static enum rdl_outcome give_up_waiting(struct rdl_fair *fair)
{
	enum rdl_outcome outcome = RDL_OK;

	if (fair->in_line)
		outcome = rdl_fair_leave_line(fair);
	if (outcome == RDL_UNKNOWN)
		outcome = rdl_fair_leave_line(fair);
	fair->hold.waiting_ns = 0;
	return outcome == RDL_OK || outcome == RDL_LOST ? RDL_BUSY : outcome;
}

/* A lease that is too short already is released. */
static enum rdl_outcome keep_if_long_enough(struct rdl_fair *fair, enum rdl_outcome outcome,
					    long least_ms)
{
	if (outcome != RDL_OK || rdl_hold_remaining_ms(&fair->hold) >= least_ms)
		return outcome;
	rdl_fair_release(fair);
	return RDL_BUSY;
}

static bool is_over(const struct rdl_fair *fair, const struct rdl_policy *policy,
		    int64_t deadline_ns)
{
	return fair_left_ns(fair, deadline_ns) <= 0 ||
	       (policy->cancel_fd && rdl_wait(fair->link, *policy->cancel_fd, 0));
}

/* Waits until it is time to ask again. Out of line, after a lease that was too
 * short, it takes a pause: the next one might come as fast. False: the time is
 * over, or the caller cancelled. */
static bool wait_for_turn(struct rdl_fair *fair, const struct rdl_policy *policy, unsigned n,
			  int64_t deadline_ns, enum rdl_outcome *outcome)
{
	if (!fair->in_line)
		return rdl_pause(fair->link, policy, n, deadline_ns);
	if (is_over(fair, policy, deadline_ns))
		return false;
	*outcome = keep_if_long_enough(
		fair, rdl_fair_stand(fair, fair_left_ns(fair, deadline_ns), policy->cancel_fd),
		policy->least_ms);
	return true;
}

static bool holds_fair(const struct rdl_fair *fair)
{
	return rdl_hold_remaining_ms(&fair->hold) > 0;
}

static enum rdl_outcome acquire_in_line(struct rdl_fair *fair, long ttl_ms,
					const struct rdl_policy *policy)
{
	const struct rdl_policy how = rdl_policy_of(policy);
	const int64_t start_ns = rdl_now_ns(fair->link, RDL_CLOCK_MONOTONIC);
	const int64_t deadline_ns = start_ns + rdl_fair_wait_ns(how.wait_ms);
	struct rdl_patience patience;
	enum rdl_outcome outcome = RDL_BUSY;

	if (holds_fair(fair))
		return RDL_BUSY;
	for (unsigned n = 0; outcome == RDL_BUSY; n++) {
		bool is_last = false;

		if (!fair->hold.waiting_ns)
			fair->hold.waiting_ns = start_ns;
		rdl_link_set_patience(fair->link, &patience, &how, deadline_ns);
		fair->wake->patience = fair->link->patience;
		outcome = keep_if_long_enough(fair, rdl_fair_ask(fair, ttl_ms), how.least_ms);
		if (outcome == RDL_UNKNOWN || outcome == RDL_ERROR)
			is_last = how.wait_ms > 0 && is_over(fair, &how, deadline_ns);
		if (is_last)
			outcome = give_up_waiting(fair);
		fair->wake->patience = fair->link->patience = NULL;
		if (is_last)
			return outcome;
		if (outcome == RDL_ERROR && rdl_is_worth_waiting(fair->link, &how) &&
		    rdl_pause(fair->link, &how, n, deadline_ns))
			outcome = RDL_BUSY;
		else if (outcome == RDL_BUSY &&
			 !wait_for_turn(fair, &how, n, deadline_ns, &outcome))
			return give_up_waiting(fair);
	}
	return outcome;
}

enum rdl_outcome rdl_fair_acquire(struct rdl_fair *fair, long ttl_ms,
				  const struct rdl_policy *policy)
{
	fair->wants_number = false;
	return acquire_in_line(fair, ttl_ms, policy);
}

enum rdl_outcome rdl_fair_acquire_fenced(struct rdl_fair *fair, long ttl_ms,
					 const struct rdl_policy *policy, long long *number)
{
	enum rdl_outcome outcome;

	fair->wants_number = true;
	outcome = acquire_in_line(fair, ttl_ms, policy);
	if (outcome == RDL_OK)
		*number = fair->number;
	return outcome;
}

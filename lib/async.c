/* SPDX-License-Identifier: MIT */
/*
 * The token lock without waiting: what rdl_lock_acquire(), rdl_lock_extend() and
 * rdl_lock_release() do, cut where they would wait.
 *
 *	TAKING_BACK   a token of before may be there: its release was sent
 *	TRYING        SET was sent
 *	PAUSING       another client holds it, or the server was not there
 *	EXTENDING, RELEASING
 *
 * Each request is one command with one reply, so that no reply makes a second round trip
 * necessary: scripts are sent whole. A reply that does not come in time is left behind, and the
 * connection is kept, for to connect may mean to wait.
 */
#include <poll.h>
#include <stdlib.h>

#include "compare.h"
#include "link.h"
#include "lock.h"

enum phase { IDLE, TAKING_BACK, TRYING, PAUSING, EXTENDING, RELEASING, ENDED };

struct rdl_async {
	struct rdl_lock *lock;
	enum phase phase;
	enum rdl_outcome outcome; /* once it has ended */
	struct rdl_policy policy; /* of an acquire */
	long ttl_ms;
	unsigned n_pauses;
	bool tries_next;     /* after TAKING_BACK, instead of a pause */
	int64_t start_ns;    /* of the acquire */
	int64_t deadline_ns; /* of it, by its policy */
	int64_t sent_ns;     /* when the extension was */
	int64_t due_ns;      /* the end of a pause, or of the time for a reply */
};

static int64_t now_ns(const struct rdl_async *async)
{
	return rdl_now_ns(async->lock->link, RDL_CLOCK_MONOTONIC);
}

static bool is_awaiting(const struct rdl_async *async)
{
	return async->phase == TAKING_BACK || async->phase == TRYING || async->phase == EXTENDING ||
	       async->phase == RELEASING;
}

/* ---- Making and freeing ------------------------------------------------ */

struct rdl_async *rdl_async_new(struct rdl_lock *lock)
{
	struct rdl_async *async = calloc(1, sizeof(*async));

	if (async)
		async->lock = lock;
	return async;
}

void rdl_async_free(struct rdl_async *async)
{
	while (async && is_awaiting(async))
		rdl_async_cancel(async);
	free(async);
}

/* ---- Steps ------------------------------------------------------------- */

static void conclude(struct rdl_async *async, enum rdl_outcome outcome);

static void end(struct rdl_async *async, enum rdl_outcome outcome)
{
	async->phase = ENDED;
	async->outcome = outcome;
}

/* Sends what was queued, if it was, and awaits its reply: as long as the link's time-out, and in
 * an acquire not longer than the policy says. */
static void send_request(struct rdl_async *async, enum phase phase, enum rdl_outcome queued)
{
	struct rdl_link *link = async->lock->link;
	const int64_t sent_ns = now_ns(async);
	const int64_t least_ns = rdl_deadline_after(sent_ns, RDL_GRACE_MS);
	const int64_t latest_ns = async->deadline_ns > least_ns ? async->deadline_ns : least_ns;
	const bool is_limited = (phase == TAKING_BACK || phase == TRYING) &&
				async->policy.wait_ms > 0;

	async->phase = phase;
	async->due_ns = rdl_deadline_after(sent_ns, rdl_link_timeout_ms(link));
	if (is_limited && latest_ns < async->due_ns)
		async->due_ns = latest_ns;
	if (queued == RDL_OK)
		queued = rdl_flush(link);
	if (queued != RDL_OK)
		conclude(async, queued);
}

static void take_back(struct rdl_async *async, bool tries_next)
{
	struct rdl_lock *lock = async->lock;
	const struct rdl_guarded guarded = { lock->key, lock->token, 0 };

	async->tries_next = tries_next;
	send_request(async, TAKING_BACK, rdl_guarded_queue_whole(lock->link, &guarded));
}

static void try_lock(struct rdl_async *async)
{
	struct rdl_lock *lock = async->lock;
	enum rdl_outcome outcome = rdl_lock_prepare(lock, async->ttl_ms);

	if (outcome == RDL_OK)
		outcome = rdl_queue(lock->link, "SET %s %s NX PX %ld", lock->key, lock->token,
				    async->ttl_ms);
	if (outcome == RDL_OK || outcome == RDL_UNKNOWN)
		rdl_hold_mark_indeterminate(&lock->hold); /* until it is answered */
	send_request(async, TRYING, outcome);
}

static void begin_attempt(struct rdl_async *async)
{
	struct rdl_lock *lock = async->lock;

	lock->hold.waiting_ns = async->start_ns;
	rdl_hold_detach(&lock->hold);
	if (rdl_hold_may_be_there(&lock->hold))
		take_back(async, true);
	else
		try_lock(async);
}

/* It is held, or refused for good, or the time is over; else there is a pause. */
static void end_attempt(struct rdl_async *async, enum rdl_outcome outcome)
{
	const struct rdl_lock *lock = async->lock;
	const int64_t now = now_ns(async);

	if (outcome == RDL_OK || now >= async->deadline_ns ||
	    (outcome == RDL_ERROR && !rdl_is_worth_waiting(lock->link, &async->policy))) {
		end(async, outcome);
		return;
	}
	async->phase = PAUSING;
	async->due_ns = now + rdl_pause_ns(&async->policy, async->n_pauses++);
	if (async->due_ns > async->deadline_ns)
		async->due_ns = async->deadline_ns;
	async->lock->hold.stats.waits++;
}

static void conclude_try(struct rdl_async *async, enum rdl_outcome outcome)
{
	struct rdl_lock *lock = async->lock;

	if (outcome != RDL_UNKNOWN)
		lock->hold.indeterminate = false;
	if (outcome == RDL_OK && rdl_lease_is_over(lock->link, lock->hold.sent_ns, lock->ttl_ms)) {
		rdl_hold_mark_indeterminate(&lock->hold);
		rdl_hold_answer(&lock->hold, RDL_BUSY, lock->ttl_ms);
		take_back(async, false);
		return;
	}
	outcome = rdl_lock_conclude(lock, outcome);
	if (outcome == RDL_OK && rdl_lock_remaining_ms(lock) < async->policy.least_ms) {
		lock->hold.giving_back = true;
		take_back(async, false);
		return;
	}
	end_attempt(async, outcome);
}

static void conclude_taking_back(struct rdl_async *async, enum rdl_outcome outcome)
{
	struct rdl_lock *lock = async->lock;

	rdl_lock_conclude_release(lock, outcome);
	if (outcome != RDL_OK && outcome != RDL_LOST) {
		end_attempt(async, outcome == RDL_ERROR && !lock->hold.indeterminate ? RDL_ERROR :
										       RDL_UNKNOWN);
		return;
	}
	lock->hold.indeterminate = false;
	if (async->tries_next)
		try_lock(async);
	else
		end_attempt(async, RDL_BUSY);
}

/* What the request of this phase has come to. */
static void conclude(struct rdl_async *async, enum rdl_outcome outcome)
{
	struct rdl_lock *lock = async->lock;

	switch (async->phase) {
	case TAKING_BACK:
		conclude_taking_back(async, outcome);
		break;
	case TRYING:
		conclude_try(async, outcome);
		break;
	case EXTENDING:
		end(async, rdl_hold_conclude_extend(lock->link, &lock->hold, async->sent_ns,
						    async->ttl_ms, outcome));
		break;
	case RELEASING:
		end(async, rdl_lock_conclude_release(lock, outcome));
		break;
	case IDLE:
	case PAUSING:
	case ENDED:
		break;
	}
}

/* ---- Beginning --------------------------------------------------------- */

/* May it send something? */
static bool can_begin(struct rdl_async *async, long ttl_ms)
{
	struct rdl_link *link = async->lock->link;

	async->ttl_ms = ttl_ms;
	async->phase = ENDED;
	async->outcome = RDL_ERROR;
	rdl_link_fail(link, RDL_OK, "%s", "");
	if (link->route)
		rdl_link_fail(link, RDL_ERROR, "not over Sentinel or a Redis Cluster");
	else if (rdl_link_has_batch(link))
		rdl_link_fail(link, RDL_ERROR, "other replies are to come over this link");
	else if (ttl_ms < 1)
		rdl_link_fail(link, RDL_ERROR, rdl_short_ttl, ttl_ms);
	else
		return true;
	return false;
}

bool rdl_async_begin_acquire(struct rdl_async *async, long ttl_ms, const struct rdl_policy *policy)
{
	if (async->phase != IDLE)
		return false;
	if (!can_begin(async, ttl_ms))
		return true;
	async->policy = rdl_policy_of(policy);
	async->n_pauses = 0;
	async->start_ns = now_ns(async);
	async->deadline_ns = rdl_deadline_after(async->start_ns, async->policy.wait_ms);
	if (rdl_lock_remaining_ms(async->lock) > 0)
		end(async, RDL_BUSY);
	else
		begin_attempt(async);
	return true;
}

bool rdl_async_begin_extend(struct rdl_async *async, long ttl_ms)
{
	struct rdl_lock *lock = async->lock;
	const struct rdl_guarded guarded = { lock->key, lock->token, ttl_ms };

	if (async->phase != IDLE)
		return false;
	if (!can_begin(async, ttl_ms))
		return true;
	async->sent_ns = now_ns(async);
	if (lock->hold.attachment)
		end(async, rdl_link_fail(lock->link, RDL_ERROR, rdl_is_extended));
	else if (!rdl_hold_is_ours(&lock->hold) || lock->hold.giving_back)
		end(async, RDL_LOST);
	else
		send_request(async, EXTENDING, rdl_guarded_queue_whole(lock->link, &guarded));
	return true;
}

bool rdl_async_begin_release(struct rdl_async *async)
{
	struct rdl_lock *lock = async->lock;
	const struct rdl_guarded guarded = { lock->key, lock->token, 0 };

	if (async->phase != IDLE)
		return false;
	if (!can_begin(async, 1))
		return true;
	rdl_hold_detach(&lock->hold);
	if (!rdl_hold_may_be_there(&lock->hold)) {
		end(async, RDL_LOST);
		return true;
	}
	lock->hold.giving_back = true;
	send_request(async, RELEASING, rdl_guarded_queue_whole(lock->link, &guarded));
	return true;
}

/* ---- Going on ---------------------------------------------------------- */

short rdl_async_events(const struct rdl_async *async)
{
	return is_awaiting(async) ? POLLIN : 0;
}

int rdl_async_timeout_ms(const struct rdl_async *async)
{
	const int most_ms = 3600000;
	int64_t left_ns;

	if (async->phase == IDLE)
		return -1;
	if (async->phase == ENDED)
		return 0;
	left_ns = async->due_ns - now_ns(async);
	if (left_ns <= 0)
		return 0;
	return left_ns < most_ms * INT64_C(1000000) ? (int)((left_ns + 999999) / 1000000) : most_ms;
}

/* What a reply says: SET answers nil when the key is there, a script 1 when it has done it. */
static enum rdl_outcome outcome_of(enum phase phase, const struct rdl_reply *reply)
{
	if (phase == TRYING)
		return rdl_reply_is_nil(reply) ? RDL_BUSY : RDL_OK;
	return reply->integer == 1 ? RDL_OK : RDL_LOST;
}

static void look_for_reply(struct rdl_async *async, bool gives_up)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome = rdl_link_poll(async->lock->link, &reply, gives_up);

	if (outcome == RDL_BUSY)
		return;
	conclude(async, outcome == RDL_OK ? outcome_of(async->phase, &reply) : outcome);
}

bool rdl_async_handle(struct rdl_async *async, enum rdl_outcome *outcome)
{
	const bool is_due = now_ns(async) >= async->due_ns;

	if (is_awaiting(async))
		look_for_reply(async, is_due);
	else if (async->phase == PAUSING && is_due)
		begin_attempt(async);
	if (async->phase != ENDED)
		return false;
	async->phase = IDLE;
	*outcome = async->outcome;
	return true;
}

void rdl_async_cancel(struct rdl_async *async)
{
	async->deadline_ns = 0;
	async->tries_next = false;
	if (async->phase == PAUSING)
		end(async, RDL_BUSY);
	else if (is_awaiting(async))
		look_for_reply(async, true);
}

/* SPDX-License-Identifier: MIT */
/*
 * What every lock keeps about itself: is it held, by which process, for how
 * long still, and what it has been through. Times are of the monotonic clock.
 */
#ifndef RDL_HOLD_H
#define RDL_HOLD_H

#include <stdint.h>
#include <sys/types.h>

#include "redislock.h"

struct rdl_hold {
	const struct rdl_link *link;       /* whose clock counts */
	int64_t waiting_ns;                /* since when it is being asked for; 0 = is not */
	int64_t held_ns;                   /* since when it is held; 0 = it is not */
	int64_t sent_ns;                   /* when the attempt that counts was begun */
	int64_t until_ns;                  /* when the lease ends, drift taken off */
	pid_t owner;                       /* the process that holds it */
	struct rdl_attachment *attachment; /* to a renewer, which extends it; NULL = none */
	bool giving_back; /* a release was sent and has no answer: the caller has given
				     * it up, and the server may still have it */
	/* Of a lock with a token: it may be there, or may arrive yet. */
	bool indeterminate;
	pid_t token_owner; /* the process whose token that is */
	struct rdl_stats stats;
};

/* An attempt is about to be sent. */
void rdl_hold_ask(struct rdl_hold *hold);

/* It came to an end: RDL_OK begins a hold of ttl_ms from the attempt on. */
void rdl_hold_answer(struct rdl_hold *hold, enum rdl_outcome outcome, long ttl_ms);

/* Another ttl_ms from `sent_ns` on. */
void rdl_hold_prolong(struct rdl_hold *hold, int64_t sent_ns, long ttl_ms);

/* Perhaps ttl_ms from `sent_ns` on: that is not known, so the earlier end counts. */
void rdl_hold_shorten(struct rdl_hold *hold, int64_t sent_ns, long ttl_ms);

/* A release, or an extension, said that it is ours no more, or (RDL_UNKNOWN)
 * nothing at all. */
void rdl_hold_end(struct rdl_hold *hold, enum rdl_outcome outcome);

/* Its token may be there, or may arrive yet. */
void rdl_hold_mark_indeterminate(struct rdl_hold *hold);

/* May its token be there? Not in a child of the process that got it. */
bool rdl_hold_may_be_there(const struct rdl_hold *hold);

/* Before an attempt: removes a token that may be there, and would keep ourselves out, by
 * remove(lock). RDL_OK, or why it cannot. */
enum rdl_outcome rdl_hold_take_back(struct rdl_link *link, struct rdl_hold *hold,
				    enum rdl_outcome (*remove)(void *lock), void *lock);

/* Takes it out of its renewer's list, when nothing that was sent for it is in flight any more,
 * and keeps the lease that there is. */
void rdl_hold_detach(struct rdl_hold *hold);

/* Why a lock that a renewer extends cannot be extended by its user. */
#define rdl_is_extended "a renewer extends it"

/* Held, and by this process? */
bool rdl_hold_is_ours(const struct rdl_hold *hold);

/* What the holder may still use: 0 = not ours, expired, or being released. */
long rdl_hold_remaining_ms(const struct rdl_hold *hold);

/* When the lease ends: what the renewer got for it, where there is one. */
int64_t rdl_hold_until_ns(const struct rdl_hold *hold);

/* What is left of the lease itself, also while it is being released. */
long rdl_hold_lease_ms(const struct rdl_hold *hold);

/* When a lease of ttl_ms that was asked for at `sent_ns` ends, drift taken off:
 * 1 % of it, for clocks that differ in speed, and 2 ms for how exactly servers
 * expire keys. */
int64_t rdl_lease_end_ns(int64_t sent_ns, long ttl_ms);

/* Has that end come? */
bool rdl_lease_is_over(const struct rdl_link *link, int64_t sent_ns, long ttl_ms);

/* After an extension that was sent then: notes how it ended. */
enum rdl_outcome rdl_hold_conclude_extend(struct rdl_link *link, struct rdl_hold *hold,
					  int64_t sent_ns, long ttl_ms, enum rdl_outcome outcome);

/* The ttl to ask for at `sent_ns` so that a lease ends no earlier than at `until_ns`. */
long rdl_ttl_reaching_ms(int64_t sent_ns, int64_t until_ns);

/* Why a ttl below 1 ms is refused; a format with %ld. */
#define rdl_short_ttl "a lease of %ld ms: the shortest is 1 ms"

/* Ten years; in nanoseconds, and in per mille of them, still a number: the longest lease
 * that a script computes with. */
#define RDL_TTL_MAX_MS (INT64_C(3650) * 24 * 3600 * 1000)
#define rdl_bad_ttl "a lease of %ld ms is not from 1 ms to ten years"

/* The lease is known to be over, whatever it was thought to last. */
void rdl_hold_expire(struct rdl_hold *hold);

/* ---- Times ------------------------------------------------------------- */

/* Milliseconds that a caller gave, in a finer unit, without ever wrapping. */
enum { RDL_NS_PER_MS = 1000000, RDL_US_PER_MS = 1000 };

/* `ms` in units of which a millisecond has `per_ms`. A quarter of the range is
 * the longest there is: 73 years of nanoseconds, and adding a clock's reading
 * does not wrap either. */
static inline int64_t rdl_span(long ms, int64_t per_ms)
{
	const int64_t most = INT64_MAX / 4 / per_ms;

	if (ms > most)
		return most * per_ms;
	return (ms < -most ? -most : ms) * per_ms;
}

/* When `ms` from `start_ns` on are over. */
static inline int64_t rdl_deadline_after(int64_t start_ns, long ms)
{
	return start_ns + rdl_span(ms, RDL_NS_PER_MS);
}

/* ---- Asking until it is held ------------------------------------------- */

struct rdl_patience;

/* What rdl_acquire() needs to know of a lock. */
struct rdl_askable {
	void *lock;
	struct rdl_link *link; /* whose waits the policy limits; NULL = see `limit` */
	struct rdl_hold *hold;
	enum rdl_outcome (*ask)(void *lock, long ttl_ms);
	enum rdl_outcome (*give_back)(void *lock);
	/* Limits the waits of a lock on several links; the last arguments of
	 * rdl_link_set_patience(). NULL where `link` is all there is. */
	void (*limit)(void *lock, struct rdl_patience *patience, const struct rdl_policy *policy,
		      int64_t deadline_ns);
	long pause_min_us, pause_max_us; /* where the policy says 0 */
	bool errors_pass;                /* an RDL_ERROR is asked again as well */
};

enum rdl_outcome rdl_acquire(const struct rdl_askable *askable, long ttl_ms,
			     const struct rdl_policy *policy);

/* A policy as this version knows it; NULL = ask once. */
struct rdl_policy rdl_policy_of(const struct rdl_policy *given);

/* After an RDL_ERROR: a server that is gone for a moment, which the policy waits for. */
bool rdl_is_worth_waiting(const struct rdl_link *link, const struct rdl_policy *policy);

/* How long the n-th pause of a policy is. */
int64_t rdl_pause_ns(const struct rdl_policy *policy, unsigned n);

/* The n-th pause of a policy, not beyond `deadline_ns`. False: no time is left,
 * or the caller has cancelled. */
bool rdl_pause(const struct rdl_link *link, const struct rdl_policy *policy, unsigned n,
	       int64_t deadline_ns);

#endif

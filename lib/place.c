/* SPDX-License-Identifier: MIT */
#include "place.h"

#include "link.h"

static enum rdl_outcome run(const struct rdl_place *place, struct rdl_link *link,
			    const char *script, long ttl_ms,
			    const struct rdl_place_request *request)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	if (place->keys[1])
		outcome = rdl_run_script(link, &reply, script, "3 %s %s %s %s %ld %ld %s",
					 place->keys[0], place->keys[1], place->keys[2],
					 place->token, ttl_ms, request->number, request->word);
	else
		outcome = rdl_run_script(link, &reply, script, "1 %s %s %ld %ld", place->keys[0],
					 place->token, ttl_ms, request->number);
	if (outcome != RDL_OK)
		return outcome;
	return reply.integer == 1 ? RDL_OK : RDL_LOST;
}

static const struct rdl_place_request no_request = { .word = "" };

static enum rdl_outcome leave(void *left)
{
	const struct rdl_place *place = left;

	return run(place, place->link, place->scripts->leave, 0, &no_request);
}

static enum rdl_outcome check_lease(struct rdl_place *place, long ttl_ms)
{
	if (ttl_ms >= 1 && ttl_ms <= RDL_TTL_MAX_MS)
		return rdl_link_fail(place->link, RDL_OK, "%s", "");
	return rdl_link_fail(place->link, RDL_ERROR, rdl_bad_ttl, ttl_ms);
}

static enum rdl_outcome prepare(struct rdl_place *place, long ttl_ms)
{
	enum rdl_outcome outcome = check_lease(place, ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	if (rdl_hold_remaining_ms(&place->hold) > 0)
		return RDL_BUSY;
	rdl_hold_detach(&place->hold); /* it is lost */
	outcome = rdl_hold_take_back(place->link, &place->hold, leave, place);
	if (outcome != RDL_OK)
		return outcome;
	place->hold.indeterminate = false;
	if (!rdl_token_fresh(place->link, place->token))
		return rdl_link_fail(place->link, RDL_ERROR, "no random bytes");
	rdl_label_append(place->token, place->label);
	place->ttl_ms = ttl_ms;
	rdl_hold_ask(&place->hold);
	return RDL_OK;
}

/* Asks; a reply that never came is asked for again. A first request may arrive yet, so that
 * the next attempt takes the token back whatever the answer. */
static enum rdl_outcome enter(struct rdl_place *place, const struct rdl_place_request *request)
{
	const char *script = request->scripts->enter;
	enum rdl_outcome outcome = run(place, place->link, script, place->ttl_ms, request);

	if (outcome == RDL_UNKNOWN) {
		rdl_hold_mark_indeterminate(&place->hold);
		outcome = run(place, place->link, script, place->ttl_ms, request);
		if (outcome == RDL_ERROR)
			return RDL_UNKNOWN;
	}
	return outcome == RDL_LOST ? RDL_BUSY : outcome;
}

enum rdl_outcome rdl_place_try(struct rdl_place *place, const struct rdl_place_request *request,
			       long ttl_ms)
{
	enum rdl_outcome outcome = prepare(place, ttl_ms);
	bool is_spent;

	if (outcome != RDL_OK)
		return outcome;
	place->scripts = request->scripts;
	outcome = enter(place, request);
	is_spent = outcome == RDL_OK &&
		   rdl_lease_is_over(place->link, place->hold.sent_ns, place->ttl_ms);
	if (is_spent) /* this holder may not work on it, and others should not wait for its end */
		outcome = RDL_BUSY;
	if (is_spent && leave(place) != RDL_OK)
		rdl_hold_mark_indeterminate(&place->hold);
	rdl_hold_answer(&place->hold, outcome, ttl_ms);
	return outcome;
}

enum rdl_outcome rdl_place_extend(struct rdl_place *place, long ttl_ms)
{
	struct rdl_hold *hold = &place->hold;
	const int64_t sent_ns = rdl_now_ns(place->link, RDL_CLOCK_MONOTONIC);
	enum rdl_outcome outcome = check_lease(place, ttl_ms);

	if (outcome != RDL_OK)
		return outcome;
	if (hold->attachment)
		return rdl_link_fail(place->link, RDL_ERROR, rdl_is_extended);
	if (!rdl_hold_is_ours(hold) || hold->giving_back)
		return RDL_LOST;
	outcome = run(place, place->link, place->scripts->extend, ttl_ms, &no_request);
	return rdl_hold_conclude_extend(place->link, hold, sent_ns, ttl_ms, outcome);
}

enum rdl_outcome rdl_place_release(struct rdl_place *place)
{
	enum rdl_outcome outcome;

	rdl_hold_detach(&place->hold);
	if (!rdl_hold_may_be_there(&place->hold))
		return RDL_LOST;
	outcome = leave(place);
	place->hold.giving_back = outcome != RDL_OK && outcome != RDL_LOST;
	rdl_hold_end(&place->hold, outcome);
	return outcome;
}

/* Its keys, token and scripts do not change while it is held. */
static enum rdl_outcome renew_place(void *lease, struct rdl_link *link, long ttl_ms)
{
	const struct rdl_place *place = lease;

	return run(place, link, place->scripts->extend, ttl_ms, &no_request);
}

struct rdl_renewable rdl_place_renewable(struct rdl_place *place, void *lock)
{
	return (struct rdl_renewable){ .lock = lock,
				       .link = place->link,
				       .hold = &place->hold,
				       .ttl_ms = place->ttl_ms,
				       .renew = renew_place,
				       .lease = place };
}

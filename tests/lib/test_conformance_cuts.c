/* SPDX-License-Identifier: MIT */
/* Every lock, with its connection cut at every byte of what it says and hears. */
#include "conformance.h"
#include "relay.h"

#include <stdio.h>

static struct stage stage;
static struct relay relay;

/* A party whose first server is behind the relay. */
static void open_relayed(struct party *party, size_t row)
{
	struct rl_address address;

	stage_open(&stage, row);
	address = stage_address(&stage, 0);
	cr_assert(relay_start(&relay, &address));
	*party = (struct party){ .stage = &stage };
	for (size_t i = 0; i < stage.n_servers; i++) {
		address = i ? stage_address(&stage, i) : relay.address;
		party->links[i] = rl_link_new(&address, RR_TIMEOUT_MS);
	}
	party->lock = stage.row->make(party->links, stage.n_servers, "lock",
				      stage.hold_max_ms);
}

static void close_relayed(struct party *party)
{
	party_close(party);
	relay_stop(&relay);
	stage_close(&stage);
}

static void expect_at_most(size_t most, const char *when, long at)
{
	const size_t n = stage_count(&stage, "lock") +
			 stage_count(&stage, "lock:line");

	cr_assert_leq(n, most, "%s: %zu keys are left after a cut %s at byte %ld",
		      stage.row->name, n, when, at);
}

/* Nobody else wants it: whatever was cut, it is ours, or, where the row says
 * so, may be. It is never somebody else's. */
static void expect_not_busy(enum rl_outcome outcome, const char *when, long at)
{
	cr_assert(outcome == RL_OK ||
			  (stage.row->may_be_unknown && outcome != RL_BUSY),
		  "%s: %s after a cut %s at byte %ld", stage.row->name,
		  rl_outcome_name(outcome), when, at);
}

/* One round with a cut; false when it came too late to hit anything. */
static bool round_with_cut(struct party *party, enum relay_way way, long at)
{
	const char *when = way == RELAY_REQUESTS ? "of requests" : "of replies";
	enum rl_outcome outcome;
	bool was_cut;

	relay_cut(&relay, way, at);
	outcome = party_try(party, 60000);
	expect_not_busy(outcome, when, at);
	if (outcome == RL_OK) {
		outcome = party_settle(party);
		cr_assert(outcome == RL_OK || outcome == RL_LOST,
			  "%s: release is %s after a cut %s at byte %ld",
			  stage.row->name, rl_outcome_name(outcome), when, at);
	} else {
		party_settle(party);
	}
	was_cut = relay_spare(&relay);
	/* A majority is enough for a release; the next attempt cleans up. */
	expect_at_most(stage.n_servers > 1, when, at);
	stage_expect(&stage, "try after that", party_wait(party, 60000, 5000),
		     RL_OK);
	stage_expect(&stage, "release after that", party_settle(party), RL_OK);
	expect_at_most(0, when, at);
	return was_cut;
}

static void cut_everywhere(size_t row, enum relay_way way)
{
	struct party party;
	long at = 0;

	open_relayed(&party, row);
	party_get(&party, 60000); /* what is said once only is behind us */
	stage_expect(&stage, "release", party_release(&party), RL_OK);
	while (round_with_cut(&party, way, at))
		at++;
	cr_assert_gt(at, 5, "%s: only %ld bytes were cut", stage.row->name, at);
	close_relayed(&party);
}

FOR_EVERY_LOCK(conformance_cuts, replies_cut_at_every_byte)
{
	cut_everywhere(*row, RELAY_REPLIES);
}

FOR_EVERY_LOCK(conformance_cuts, requests_cut_at_every_byte)
{
	cut_everywhere(*row, RELAY_REQUESTS);
}

/* The request arrives when the lock was given up: what it grants then is ours,
 * and must not keep ourselves out. */
FOR_EVERY_LOCK(conformance_cuts, request_that_arrives_late)
{
	struct party party;
	enum rl_outcome outcome;

	open_relayed(&party, *row);
	party_get(&party, 60000);
	stage_expect(&stage, "release", party_release(&party), RL_OK);
	atomic_store(&relay.late_ms, 100);
	relay_cut(&relay, RELAY_REQUESTS, 0);
	outcome = party_try(&party, 60000);
	expect_not_busy(outcome, "late", 0);
	party_settle(&party);
	stage_sleep_ms(&stage, 250);
	cr_assert_eq(stage_count(&stage, "lock"), 1,
		     "%s: nothing arrived late", stage.row->name);
	stage_expect(&stage, "try after that", party_wait(&party, 60000, 5000),
		     RL_OK);
	stage_expect(&stage, "release after that", party_settle(&party), RL_OK);
	expect_at_most(0, "late", 0);
	close_relayed(&party);
}

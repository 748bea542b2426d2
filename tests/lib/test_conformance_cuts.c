/* SPDX-License-Identifier: MIT */
/* Every lock, with its connection cut at every byte of what it says and hears. */
#include "conformance.h"
#include "relay.h"

#include <stdio.h>

static struct scene scene;
static struct relay relay;

/* A party whose first server is behind the relay. */
static void open_relayed(struct rival *party, size_t row)
{
	struct rdl_address address;

	scene_open(&scene, row);
	address = scene_address(&scene, 0);
	cr_assert(relay_start(&relay, &address));
	*party = (struct rival){ .scene = &scene };
	for (size_t i = 0; i < scene.n_servers; i++) {
		address = i ? scene_address(&scene, i) : relay.address;
		party->links[i] = rdl_link_new(&address, RR_TIMEOUT_MS);
	}
	party->lock = scene.row->make(party->links, scene.n_servers, "lock", scene.hold_max_ms);
}

static void close_relayed(struct rival *party)
{
	rival_close(party);
	relay_stop(&relay);
	scene_close(&scene);
}

static void expect_at_most(size_t most, const char *when, long at)
{
	const size_t n = scene_count(&scene, "lock") + scene_count(&scene, "lock:line");

	cr_assert_leq(n, most, "%s: %zu keys are left after a cut %s at byte %ld", scene.row->name,
		      n, when, at);
}

/* Nobody else wants it: whatever was cut, it is ours, or, where the row says
 * so, may be. It is never somebody else's. */
static void expect_not_busy(enum rdl_outcome outcome, const char *when, long at)
{
	cr_assert(outcome == RDL_OK || (scene.row->may_be_unknown && outcome != RDL_BUSY),
		  "%s: %s after a cut %s at byte %ld", scene.row->name, rdl_outcome_name(outcome),
		  when, at);
}

/* One round with a cut; false when it came too late to hit anything. */
static bool round_with_cut(struct rival *party, enum relay_way way, long at)
{
	const char *when = way == RELAY_REQUESTS ? "of requests" : "of replies";
	enum rdl_outcome outcome;
	bool was_cut;

	relay_cut(&relay, way, at);
	outcome = rival_try(party, 60000);
	expect_not_busy(outcome, when, at);
	if (outcome == RDL_OK) {
		outcome = rival_settle(party);
		cr_assert(outcome == RDL_OK || outcome == RDL_LOST,
			  "%s: release is %s after a cut %s at byte %ld", scene.row->name,
			  rdl_outcome_name(outcome), when, at);
	} else {
		rival_settle(party);
	}
	was_cut = relay_spare(&relay);
	/* A majority is enough for a release; the next attempt cleans up. */
	expect_at_most(scene.n_servers > 1, when, at);
	scene_expect(&scene, "try after that", rival_wait(party, 60000, 5000), RDL_OK);
	scene_expect(&scene, "release after that", rival_settle(party), RDL_OK);
	expect_at_most(0, when, at);
	return was_cut;
}

static void cut_everywhere(size_t row, enum relay_way way)
{
	struct rival party;
	long at = 0;

	open_relayed(&party, row);
	rival_get(&party, 60000); /* what is said once only is behind us */
	scene_expect(&scene, "release", rival_release(&party), RDL_OK);
	while (round_with_cut(&party, way, at))
		at++;
	cr_assert_gt(at, 5, "%s: only %ld bytes were cut", scene.row->name, at);
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
	struct rival party;
	enum rdl_outcome outcome;

	open_relayed(&party, *row);
	rival_get(&party, 60000);
	scene_expect(&scene, "release", rival_release(&party), RDL_OK);
	atomic_store(&relay.keeps_late, true);
	relay_cut(&relay, RELAY_REQUESTS, 0);
	outcome = rival_try(&party, 60000);
	expect_not_busy(outcome, "late", 0);
	rival_settle(&party);
	cr_assert(relay_deliver_late(&relay), "%s: nothing arrived late", scene.row->name);
	cr_assert_eq(scene_count(&scene, "lock"), 1, "%s: it granted nothing", scene.row->name);
	scene_expect(&scene, "try after that", rival_wait(&party, 60000, 5000), RDL_OK);
	scene_expect(&scene, "release after that", rival_settle(&party), RDL_OK);
	expect_at_most(0, "late", 0);
	close_relayed(&party);
}

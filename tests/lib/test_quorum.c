/* SPDX-License-Identifier: MIT */
/* The quorum lock on servers that all answer. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../party.h"

static struct support support;

static void setup(void)
{
	support_open(&support, 5);
}

static void teardown(void)
{
	support_close(&support);
}

TestSuite(quorum, .init = setup, .fini = teardown);

static void open_five(struct party *party)
{
	party_open(party, support.addresses, 5, RR_TIMEOUT_MS);
}

Test(quorum, excludes_and_leaves_nothing_behind)
{
	struct party mine, theirs;

	open_five(&mine);
	open_five(&theirs);
	cr_assert_eq(party_try(&mine, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(party_try(&theirs, NULL), RDL_BUSY);
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(party_release(&mine, NULL), RDL_OK);
	cr_assert_eq(party_release(&mine, NULL), RDL_LOST);
	cr_assert_eq(locks_left(&support, 5), 0);
	cr_assert_eq(party_try(&theirs, NULL), RDL_OK);
	party_close(&mine);
	party_close(&theirs);
}

Test(quorum, release_survives_forgotten_scripts)
{
	struct party party;
	struct rdl_reply reply;

	open_five(&party);
	for (int round = 0; round < 2; round++) {
		cr_assert_eq(party_try(&party, NULL), RDL_OK);
		cr_assert_eq(party_release(&party, NULL), RDL_OK);
		for (size_t i = 0; i < 5; i++)
			rdl_run(party.links[i], &reply, "SCRIPT FLUSH");
	}
	cr_assert_eq(locks_left(&support, 5), 0);
	party_close(&party);
}

/* ---- Majorities ----------------------------------------------------------- */

Test(quorum, takes_1_to_15_servers)
{
	struct rdl_link *links[RDL_QUORUM_NODES_MAX + 1] = { NULL };

	cr_assert_null(rdl_quorum_new(links, 0, "lock", 10));
	cr_assert_null(rdl_quorum_new(links, 16, "lock", 10));
}

/* Somebody else holds as many as may be, then one more. */
static void minority_then_majority(size_t n)
{
	const size_t spare = n - (n / 2 + 1);
	struct party party;

	party_open(&party, support.addresses, n, RR_TIMEOUT_MS);
	lock_write(&support, 0, spare, "theirs");
	cr_assert_eq(party_try(&party, NULL), RDL_OK, "%zu servers", n);
	cr_assert_eq(party_release(&party, NULL), RDL_OK, "%zu servers", n);
	lock_write(&support, 0, spare + 1, "theirs");
	cr_assert_eq(party_try(&party, NULL), RDL_BUSY, "%zu servers", n);
	cr_assert_eq(rdl_quorum_remaining_ms(party.quorum), 0);
	cr_assert_eq(locks_left(&support, n), spare + 1, "%zu servers", n);
	lock_write(&support, 0, spare + 1, NULL);
	party_close(&party);
}

Test(quorum, needs_more_than_half)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 5, 15 };

	support_need(&support, 15);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		minority_then_majority(sizes[i]);
}

Test(quorum, split_vote_is_given_back_and_the_next_round_works)
{
	struct party party;

	open_five(&party);
	lock_write(&support, 0, 2, "a");
	lock_write(&support, 2, 2, "b");
	cr_assert_eq(party_try(&party, NULL), RDL_BUSY);
	cr_assert_str_eq(lock_at(&support, 4), "(nil)");
	cr_assert_eq(locks_left(&support, 4), 4);
	lock_write(&support, 0, 4, NULL);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
	party_close(&party);
}

/* ---- Time ---------------------------------------------------------------- */

/* A clock that jumps when the last answer of an attempt comes in. */
struct jump {
	int64_t by_ns;
	int64_t passed_ns;
};

static int64_t jumping_now(void *context, enum rdl_clock clock)
{
	const struct jump *jump = context;

	(void)clock;
	return monotonic_ms() * 1000000 + jump->passed_ns;
}

static enum rdl_outcome jump_ahead(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	struct jump *jump = context;

	(void)link;
	(void)reply;
	jump->passed_ns += jump->by_ns;
	jump->by_ns = 0;
	return outcome;
}

static const struct rdl_driver_ops jumping = { .now = jumping_now, .receive = jump_ahead };

/* The answer to an attempt after which so much of 60 s has gone by. */
static enum rdl_outcome try_slowly(struct party *party, int64_t spent_ms)
{
	struct jump jump = { spent_ms * 1000000, 0 };
	const struct rdl_driver driver = { &jumping, &jump };
	enum rdl_outcome outcome;

	rdl_link_set_driver(party->links[0], &driver);
	outcome = party_try(party, NULL);
	rdl_link_set_driver(party->links[0], NULL);
	return outcome;
}

Test(quorum, drift_is_taken_off_what_is_left)
{
	struct party party;
	long left_ms;

	open_five(&party);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	left_ms = rdl_quorum_remaining_ms(party.quorum);
	cr_assert_leq(left_ms, LONG_MS - LONG_MS / 100 - 2);
	cr_assert_gt(left_ms, LONG_MS / 2);
	party_close(&party);
}

/* Of 60 s 602 ms are drift: with 57 s spent there is time left, with 59.6 s
 * there is none, although the keys are still there. */
Test(quorum, attempt_that_took_too_long_is_given_back)
{
	struct party party;

	open_five(&party);
	cr_assert_eq(try_slowly(&party, 57000), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	cr_assert_eq(try_slowly(&party, 59600), RDL_BUSY);
	cr_assert_eq(rdl_quorum_remaining_ms(party.quorum), 0);
	cr_assert_eq(locks_left(&support, 5), 0);
	party_close(&party);
}

Test(quorum, without_time_left_is_not_held)
{
	struct party party;

	open_five(&party);
	cr_assert_eq(rdl_quorum_try(party.quorum, 2), RDL_BUSY);
	party_close(&party);
}

Test(quorum, lease_shorter_than_asked_for_is_given_back)
{
	const struct rdl_policy little = { .least_ms = LONG_MS / 2 };
	const struct rdl_policy much = { .least_ms = LONG_MS };
	struct party party;

	open_five(&party);
	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &much), RDL_BUSY);
	cr_assert_eq(locks_left(&support, 5), 0);
	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &little), RDL_OK);
	party_close(&party);
}

Test(quorum, acquire_waits_for_the_end_of_a_lease)
{
	const struct rdl_policy patient = { .wait_ms = 10000 };
	struct party mine, theirs;

	open_five(&mine);
	open_five(&theirs);
	cr_assert_eq(rdl_quorum_try(theirs.quorum, 1000), RDL_OK);
	cr_assert_eq(rdl_quorum_acquire(mine.quorum, LONG_MS, &patient), RDL_OK);
	cr_assert_gt(rdl_quorum_stats(mine.quorum)->waits, 0);
	party_close(&mine);
	party_close(&theirs);
}

Test(quorum, acquire_gives_up_when_the_time_is_over)
{
	const struct rdl_policy policy = { .wait_ms = 100 };
	const long start_ms = monotonic_ms();
	struct party party;

	open_five(&party);
	lock_write(&support, 0, 3, "theirs");
	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &policy), RDL_BUSY);
	cr_assert_geq(monotonic_ms() - start_ms, 100);
	cr_assert_eq(locks_left(&support, 5), 3);
	party_close(&party);
}

/* ---- Fork ------------------------------------------------------------------- */

/* 0, or which of the child's calls did not leave the parent's lock alone. */
static int child_of_a_holder(struct party *party)
{
	if (rdl_quorum_remaining_ms(party->quorum) != 0)
		return 1;
	if (party_release(party, NULL) != RDL_LOST)
		return 2;
	if (rdl_quorum_extend(party->quorum, LONG_MS) != RDL_LOST)
		return 3;
	if (rdl_quorum_query(party->quorum) != RDL_LOST)
		return 4;
	return party_try(party, NULL) == RDL_BUSY ? 0 : 5;
}

Test(quorum, lock_held_across_fork_stays_the_parents)
{
	struct party party;
	int status = -1;
	pid_t child;

	open_five(&party);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	child = fork();
	if (child == 0)
		_exit(child_of_a_holder(&party));
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0, "call %d", WEXITSTATUS(status));
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	party_close(&party);
}

/* SPDX-License-Identifier: MIT */
/* The quorum lock on servers that die, hang, lag or cannot be reached. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../party.h"

static struct support support;
static struct party party;

static void setup(void)
{
	support_open(&support, 5);
	party_open(&party, support.addresses, 5, NODE_MS);
}

static void teardown(void)
{
	party_close(&party);
	support_close(&support);
}

TestSuite(quorum_faults, .init = setup, .fini = teardown);

/* Held in spite of what is wrong, for the price of one time-out, and given
 * back for another one at most. */
static void assert_works(const char *what)
{
	long try_ms, release_ms;

	cr_assert_eq(party_try(&party, &try_ms), RDL_OK, "%s: %s", what,
		     rdl_quorum_error(party.quorum));
	cr_assert_eq(party_release(&party, &release_ms), RDL_OK, "%s: %s", what,
		     rdl_quorum_error(party.quorum));
	cr_assert_lt(try_ms, ONE_WAIT_MS, "%s: %ld ms", what, try_ms);
	cr_assert_lt(release_ms, ONE_WAIT_MS, "%s: %ld ms", what, release_ms);
}

/* Connected, and nothing to be found out any more. */
static void warm_up(void)
{
	assert_works("all well");
	cr_assert_eq(locks_left(&support, 5), 0);
}

/* ---- A minority -------------------------------------------------------------- */

Test(quorum_faults, dead_minority_is_done_without)
{
	server_crash(&support, 0, false);
	assert_works("1 dead from the beginning");
	server_crash(&support, 3, false);
	assert_works("2 dead");
	assert_works("2 dead, again");
}

Test(quorum_faults, hung_minority_costs_one_time_out)
{
	servers_signal(&support, 1, 1, SIGSTOP);
	assert_works("1 hung from the beginning");
	servers_signal(&support, 4, 1, SIGSTOP);
	assert_works("2 hung");
	servers_signal(&support, 4, 1, SIGCONT);
	servers_signal(&support, 1, 1, SIGCONT);
}

Test(quorum_faults, two_that_hang_together_cost_one_time_out)
{
	warm_up();
	servers_signal(&support, 2, 2, SIGSTOP);
	assert_works("2 hung");
	servers_signal(&support, 2, 2, SIGCONT);
}

Test(quorum_faults, slow_minority_costs_one_time_out)
{
	struct rdl_link *other = support_link(&support, 0);
	struct rdl_reply reply;

	warm_up();
	server_delay(&support, 2, 4 * NODE_MS);
	cr_assert_eq(rdl_run(other, &reply, "CLIENT PAUSE %d ALL", 4 * NODE_MS), RDL_OK);
	assert_works("2 slow");
	rdl_link_free(other);
}

/* ---- The policy's limits ------------------------------------------------------ */

/* Acquires while servers 0 .. n - 1 are stopped, with a time-out of 20 s for each round. */
static enum rdl_outcome acquire_from_stopped(size_t n, const struct rdl_policy *policy,
					     long *spent_ms)
{
	struct party patient;
	enum rdl_outcome outcome;
	long start_ms;

	party_open(&patient, support.addresses, 5, 20000);
	cr_assert_eq(party_try(&patient, NULL), RDL_OK);
	cr_assert_eq(party_release(&patient, NULL), RDL_OK);
	servers_signal(&support, 0, n, SIGSTOP);
	start_ms = support_asleep_ms(getpid());
	outcome = rdl_quorum_acquire(patient.quorum, LONG_MS, policy);
	*spent_ms = support_asleep_ms(getpid()) - start_ms;
	cr_assert_eq(rdl_quorum_remaining_ms(patient.quorum) > 0, outcome == RDL_OK);
	servers_signal(&support, 0, n, SIGCONT);
	for (size_t i = 0; outcome != RDL_OK && i < 5; i++)
		cr_assert(server_has_deleted(&support, i, 2), "server %zu was not sent the release",
			  i);
	cr_assert_eq(locks_left(&support, 5), outcome == RDL_OK ? 5 : 0);
	party_close(&patient);
	return outcome;
}

Test(quorum_faults, readable_descriptor_ends_a_round)
{
	int ends[2];
	const struct rdl_policy policy = { .wait_ms = LONG_MS, .cancel_fd = &ends[0] };
	long spent_ms;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_assert_eq(acquire_from_stopped(3, &policy, &spent_ms), RDL_ERROR);
	cr_assert_lt(spent_ms, 1000, "%ld ms", spent_ms);
}

Test(quorum_faults, majority_that_answers_is_heard_although_it_is_cancelled)
{
	int ends[2];
	const struct rdl_policy policy = { .wait_ms = LONG_MS, .cancel_fd = &ends[0] };
	long spent_ms;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_assert_eq(acquire_from_stopped(2, &policy, &spent_ms), RDL_OK);
	cr_assert_lt(spent_ms, 1000, "%ld ms", spent_ms);
}

/* So long servers may answer after a cancellation. */
enum { GRACE_MS = 100 };

/* Servers that answer within the grace are not left in doubt, whichever answers first. On a busy
 * machine they may be slower: then all of the grace was waited for. */
Test(quorum_faults, servers_that_answer_are_heard_although_it_is_cancelled)
{
	int ends[2];
	const struct rdl_policy policy = { .wait_ms = LONG_MS, .cancel_fd = &ends[0] };
	int n_heard = 0;

	warm_up();
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	for (size_t i = 0; i < 20; i++) {
		enum rdl_outcome outcome;
		long begun_ms;

		for (size_t k = 0; k < 3; k++)
			server_delay(&support, (i + k) % 5, 30);
		begun_ms = monotonic_ms();
		outcome = rdl_quorum_acquire(party.quorum, LONG_MS, &policy);
		cr_assert(outcome == RDL_OK || monotonic_ms() - begun_ms >= GRACE_MS - 1, "%zu: %s",
			  i, rdl_quorum_error(party.quorum));
		n_heard += outcome == RDL_OK;
		while (locks_left(&support, 5) > 0)
			rdl_quorum_release(party.quorum);
	}
	cr_assert_gt(n_heard, 0);
}

Test(quorum_faults, wait_bounds_a_round)
{
	const struct rdl_policy policy = { .wait_ms = 50 };
	long spent_ms;

	cr_assert_eq(acquire_from_stopped(5, &policy, &spent_ms), RDL_ERROR);
	cr_assert_lt(spent_ms, 1500, "%ld ms", spent_ms);
}

Test(quorum_faults, readable_descriptor_ends_connecting)
{
	struct hole holes[3];
	struct rdl_link *links[3];
	struct rdl_quorum *quorum;
	int ends[2];
	const struct rdl_policy policy = { .wait_ms = LONG_MS, .cancel_fd = &ends[0] };
	long start_ms;

	for (size_t i = 0; i < 3; i++) {
		hole_open_full(&holes[i]);
		links[i] = rdl_link_new(&holes[i].address, RR_TIMEOUT_MS);
	}
	quorum = rdl_quorum_new(links, 3, "lock", 20000);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	start_ms = support_asleep_ms(getpid());
	cr_assert_eq(rdl_quorum_acquire(quorum, LONG_MS, &policy), RDL_ERROR);
	cr_assert_lt(support_asleep_ms(getpid()) - start_ms, 1000);
	rdl_quorum_free(quorum);
	for (size_t i = 0; i < 3; i++) {
		rdl_link_free(links[i]);
		hole_close(&holes[i], NULL);
	}
}

/* A has servers 0 and 1 of three, and 1 forgets: B must not get 1 and 2. */
static enum rdl_outcome second_grant(long restart_delay_ms)
{
	struct rdl_quorum *a, *b;
	struct party second;
	enum rdl_outcome outcome;

	party_open(&second, support.addresses, 3, NODE_MS);
	a = rdl_quorum_new(party.links, 3, "lock", NODE_MS);
	b = rdl_quorum_new(second.links, 3, "lock", NODE_MS);
	lock_write(&support, 2, 1, "another's");
	cr_assert_eq(rdl_quorum_try(a, LONG_MS), RDL_OK, "%s", rdl_quorum_error(a));
	server_crash(&support, 1, true);
	lock_write(&support, 2, 1, NULL);
	rdl_quorum_set_restart_delay(b, restart_delay_ms);
	outcome = rdl_quorum_try(b, LONG_MS);
	cr_assert_gt(rdl_quorum_remaining_ms(a), 0);
	rdl_quorum_free(a);
	rdl_quorum_free(b);
	party_close(&second);
	return outcome;
}

Test(quorum_faults, server_that_forgot_grants_a_second_time)
{
	cr_assert_eq(second_grant(0), RDL_OK);
}

Test(quorum_faults, restart_delay_keeps_a_server_that_forgot_out)
{
	rdl_sleep_ns(party.links[0], INT64_C(5000000000)); /* the others are older than that */
	cr_assert_eq(second_grant(4000), RDL_BUSY);
}

Test(quorum_faults, server_counts_again_when_the_delay_is_over)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MS };

	for (size_t i = 0; i < 5; i++)
		server_crash(&support, i, true);
	rdl_quorum_set_restart_delay(party.quorum, LONG_MS);
	cr_assert_eq(rdl_quorum_try(party.quorum, LONG_MS), RDL_BUSY);
	rdl_quorum_set_restart_delay(party.quorum, 3000);
	for (size_t i = 0; i < 5; i++)
		rdl_link_disconnect(
			party.links[i]); /* how old it is, is asked once of a connection */
	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &policy), RDL_OK);
	cr_assert_eq(rdl_quorum_release(party.quorum), RDL_OK);
}

Test(quorum_faults, servers_restarted_empty_are_used_again)
{
	warm_up();
	server_crash(&support, 1, true);
	server_crash(&support, 2, true);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
}

/* One that was too slow once must not be missed for ever. */
Test(quorum_faults, servers_that_hung_are_heard_again)
{
	servers_signal(&support, 0, 5, SIGSTOP);
	cr_assert_eq(party_try(&party, NULL), RDL_ERROR);
	servers_signal(&support, 0, 5, SIGCONT);
	for (size_t i = 0; i < 5; i++)
		cr_assert(server_has_deleted(&support, i, 1));
	cr_assert_eq(locks_left(&support, 5), 0);
	cr_assert_eq(party_try(&party, NULL), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
}

/* ---- A majority --------------------------------------------------------------- */

static void assert_refused(const char *what)
{
	long spent_ms;

	cr_assert_eq(party_try(&party, &spent_ms), RDL_ERROR, "%s", what);
	cr_assert_lt(spent_ms, ONE_WAIT_MS, "%s: %ld ms", what, spent_ms);
	cr_assert(strstr(rdl_quorum_error(party.quorum), "redis.sock: "), "%s: '%s'", what,
		  rdl_quorum_error(party.quorum));
}

Test(quorum_faults, dead_majority_is_an_error_and_leaves_nothing)
{
	for (size_t i = 0; i < 3; i++)
		server_crash(&support, i, false);
	assert_refused("3 dead");
	cr_assert_str_eq(lock_at(&support, 3), "(nil)");
	cr_assert_str_eq(lock_at(&support, 4), "(nil)");
}

Test(quorum_faults, hung_majority_is_an_error_and_leaves_nothing)
{
	warm_up();
	servers_signal(&support, 0, 3, SIGSTOP);
	assert_refused("3 hung");
	cr_assert_str_eq(lock_at(&support, 3), "(nil)");
	cr_assert_str_eq(lock_at(&support, 4), "(nil)");
	assert_refused("3 hung, again");
	servers_signal(&support, 0, 3, SIGCONT);
}

static void *wake_up_later(void *unused)
{
	usleep(600000);
	servers_signal(&support, 0, 3, SIGCONT);
	return unused;
}

/* How often it tries within the wait, which is not given up before. */
static long attempts_within(int wait_ms)
{
	const struct rdl_policy policy = { .wait_ms = wait_ms };
	const long before = rdl_quorum_stats(party.quorum)->attempts;
	const long start_ms = monotonic_ms();

	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &policy), RDL_ERROR);
	cr_assert_geq(monotonic_ms() - start_ms, wait_ms);
	return rdl_quorum_stats(party.quorum)->attempts - before;
}

/* Beside other work an attempt takes longer. */
Test(quorum_faults, acquire_goes_on_until_servers_come_back)
{
	const struct rdl_policy patient = { .wait_ms = 20000 };
	int wait_ms = 2 * NODE_MS;
	pthread_t waker;

	servers_signal(&support, 0, 3, SIGSTOP);
	while (attempts_within(wait_ms) < 2 && wait_ms < 20000)
		wait_ms *= 2;
	cr_assert_lt(wait_ms, 20000);
	pthread_create(&waker, NULL, wake_up_later, NULL);
	cr_assert_eq(rdl_quorum_acquire(party.quorum, LONG_MS, &patient), RDL_OK, "%s",
		     rdl_quorum_error(party.quorum));
	pthread_join(waker, NULL);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	for (size_t i = 0; i < 3; i++)
		cr_assert(server_has_deleted(&support, i, 1));
	cr_assert_eq(locks_left(&support, 5), 0);
}

/* ---- Late grants ----------------------------------------------------------------- */

/* Three servers hang, `attempts` are given up, the servers go on. */
static void give_up(int attempts, int node_timeout_ms)
{
	party_close(&party);
	party_open(&party, support.addresses, 5, NODE_MS);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
	for (size_t i = 0; i < 5; i++)
		rdl_link_set_timeout(party.links[i], node_timeout_ms);
	servers_signal(&support, 0, 3, SIGSTOP);
	for (int i = 0; i < attempts; i++)
		cr_assert_eq(party_try(&party, NULL), RDL_ERROR);
	servers_signal(&support, 0, 3, SIGCONT);
	for (size_t i = 0; i < 3; i++) {
		cr_assert(server_has_set(&support, i, 2));
		cr_assert(server_has_deleted(&support, i, 2), "server %zu", i);
	}
}

Test(quorum_faults, late_grant_is_taken_back_without_another_call)
{
	give_up(1, NODE_MS);
	cr_assert_eq(locks_left(&support, 5), 0);
}

Test(quorum_faults, late_grants_of_many_attempts_are_taken_back)
{
	give_up(100, 1);
	cr_assert_eq(locks_left(&support, 5), 0);
}

/* The late "granted" must not answer the next request, which is refused. */
static void assert_answers_are_not_mixed_up(int attempts, int node_timeout_ms)
{
	give_up(attempts, node_timeout_ms);
	for (size_t i = 0; i < 5; i++)
		rdl_link_set_timeout(party.links[i], NODE_MS);
	lock_write(&support, 0, 5, "theirs");
	cr_assert_eq(party_try(&party, NULL), RDL_BUSY);
	cr_assert_eq(party_try(&party, NULL), RDL_BUSY);
	lock_write(&support, 0, 5, NULL);
	cr_assert_eq(party_try(&party, NULL), RDL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_OK);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
}

Test(quorum_faults, late_answers_are_not_taken_for_later_ones)
{
	assert_answers_are_not_mixed_up(1, NODE_MS);
}

Test(quorum_faults, late_answers_of_many_attempts_neither)
{
	assert_answers_are_not_mixed_up(100, 1);
}

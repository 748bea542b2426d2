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

	cr_assert_eq(party_try(&party, &try_ms), RL_OK, "%s: %s", what,
		     rl_quorum_error(party.quorum));
	cr_assert_eq(party_release(&party, &release_ms), RL_OK, "%s: %s", what,
		     rl_quorum_error(party.quorum));
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
	struct rl_link *other = support_link(&support, 0);
	struct rl_reply reply;

	warm_up();
	server_delay(&support, 2, 4 * NODE_MS);
	cr_assert_eq(rl_run(other, &reply, "CLIENT PAUSE %d ALL", 4 * NODE_MS), RL_OK);
	assert_works("2 slow");
	rl_link_free(other);
}

Test(quorum_faults, servers_restarted_empty_are_used_again)
{
	warm_up();
	server_crash(&support, 1, true);
	server_crash(&support, 2, true);
	cr_assert_eq(party_try(&party, NULL), RL_OK);
	cr_assert_eq(party_release(&party, NULL), RL_OK);
	cr_assert_eq(party_try(&party, NULL), RL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
}

/* One that was too slow once must not be missed for ever. */
Test(quorum_faults, servers_that_hung_are_heard_again)
{
	servers_signal(&support, 0, 5, SIGSTOP);
	cr_assert_eq(party_try(&party, NULL), RL_ERROR);
	servers_signal(&support, 0, 5, SIGCONT);
	for (size_t i = 0; i < 5; i++)
		cr_assert(server_has_deleted(&support, i, 1));
	cr_assert_eq(locks_left(&support, 5), 0);
	cr_assert_eq(party_try(&party, NULL), RL_OK, "%s", rl_quorum_error(party.quorum));
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(party_release(&party, NULL), RL_OK);
}

/* ---- A majority --------------------------------------------------------------- */

static void assert_refused(const char *what)
{
	long spent_ms;

	cr_assert_eq(party_try(&party, &spent_ms), RL_ERROR, "%s", what);
	cr_assert_lt(spent_ms, ONE_WAIT_MS, "%s: %ld ms", what, spent_ms);
	cr_assert(strstr(rl_quorum_error(party.quorum), "redis.sock: "), "%s: '%s'", what,
		  rl_quorum_error(party.quorum));
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
	const struct rl_policy policy = { .wait_ms = wait_ms, .cancel_fd = -1 };
	const long before = rl_quorum_stats(party.quorum)->attempts;
	const long start_ms = monotonic_ms();

	cr_assert_eq(rl_quorum_acquire(party.quorum, LONG_MS, &policy), RL_ERROR);
	cr_assert_geq(monotonic_ms() - start_ms, wait_ms);
	return rl_quorum_stats(party.quorum)->attempts - before;
}

/* Beside other work an attempt takes longer. */
Test(quorum_faults, acquire_goes_on_until_servers_come_back)
{
	const struct rl_policy patient = { .wait_ms = 20000, .cancel_fd = -1 };
	int wait_ms = 300;
	pthread_t waker;

	servers_signal(&support, 0, 3, SIGSTOP);
	while (attempts_within(wait_ms) < 2 && wait_ms < 20000)
		wait_ms *= 2;
	cr_assert_lt(wait_ms, 20000);
	pthread_create(&waker, NULL, wake_up_later, NULL);
	cr_assert_eq(rl_quorum_acquire(party.quorum, LONG_MS, &patient), RL_OK, "%s",
		     rl_quorum_error(party.quorum));
	pthread_join(waker, NULL);
	cr_assert_eq(party_release(&party, NULL), RL_OK);
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
	cr_assert_eq(party_try(&party, NULL), RL_OK);
	cr_assert_eq(party_release(&party, NULL), RL_OK);
	for (size_t i = 0; i < 5; i++)
		rl_link_set_timeout(party.links[i], node_timeout_ms);
	servers_signal(&support, 0, 3, SIGSTOP);
	for (int i = 0; i < attempts; i++)
		cr_assert_eq(party_try(&party, NULL), RL_ERROR);
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
		rl_link_set_timeout(party.links[i], NODE_MS);
	lock_write(&support, 0, 5, "theirs");
	cr_assert_eq(party_try(&party, NULL), RL_BUSY);
	cr_assert_eq(party_try(&party, NULL), RL_BUSY);
	lock_write(&support, 0, 5, NULL);
	cr_assert_eq(party_try(&party, NULL), RL_OK);
	cr_assert_eq(locks_left(&support, 5), 5);
	cr_assert_eq(rl_quorum_query(party.quorum), RL_OK);
	cr_assert_eq(party_release(&party, NULL), RL_OK);
}

Test(quorum_faults, late_answers_are_not_taken_for_later_ones)
{
	assert_answers_are_not_mixed_up(1, NODE_MS);
}

Test(quorum_faults, late_answers_of_many_attempts_neither)
{
	assert_answers_are_not_mixed_up(100, 1);
}

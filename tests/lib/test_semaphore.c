/* SPDX-License-Identifier: MIT */
/* The semaphore: as many holders as it has permits, each with a lease of its own. */
#include "pair.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PERMITS = 3, TTL_MS = 60000 };

static struct rdl_semaphore *permits[PERMITS + 1];

static void setup(void)
{
	pair_setup();
	for (int i = 0; i <= PERMITS; i++)
		permits[i] = rdl_semaphore_new(i % 2 ? other : link_, "sem", PERMITS);
}

static void teardown(void)
{
	for (int i = 0; i <= PERMITS; i++)
		rdl_semaphore_free(permits[i]);
	pair_teardown();
}

TestSuite(semaphore, .init = setup, .fini = teardown);

static void fill(long ttl_ms)
{
	for (int i = 0; i < PERMITS; i++)
		cr_assert_eq(rdl_semaphore_try(permits[i], ttl_ms), RDL_OK, "%s",
			     rdl_link_error(link_));
}

static long long holders(void)
{
	long long n = -1;

	cr_assert_eq(rdl_semaphore_count(permits[0], &n), RDL_OK);
	return n;
}

Test(semaphore, one_more_than_its_permits_is_busy)
{
	fill(TTL_MS);
	cr_assert_eq(holders(), PERMITS);
	cr_assert_gt(rdl_semaphore_remaining_ms(permits[0]), TTL_MS / 2);
	cr_assert_eq(rdl_semaphore_try(permits[PERMITS], TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_semaphore_remaining_ms(permits[PERMITS]), 0);
	cr_assert_eq(rdl_semaphore_try(permits[0], TTL_MS), RDL_BUSY, "two permits for one object");
	cr_assert_eq(rdl_semaphore_release(permits[PERMITS]), RDL_LOST);
	cr_assert_eq(holders(), PERMITS, "a release took another's permit");
	cr_assert_eq(rdl_semaphore_release(permits[1]), RDL_OK);
	cr_assert_eq(rdl_semaphore_try(permits[PERMITS], TTL_MS), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(permits[1]), RDL_LOST);
	cr_assert_eq(holders(), PERMITS);
	cr_assert_eq(rdl_semaphore_stats(permits[1])->holds, 1);
}

Test(semaphore, key_goes_with_the_last_holder_or_lease)
{
	fill(TTL_MS);
	cr_assert_gt(atoll(support_ask(other, "PTTL", "sem")), TTL_MS / 2);
	cr_assert_leq(atoll(support_ask(other, "PTTL", "sem")), TTL_MS + 1);
	for (int i = 0; i < PERMITS; i++)
		cr_assert_eq(rdl_semaphore_release(permits[i]), RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "sem"), "0");
}

/* A short lease after a long one may not shorten the key's life. */
Test(semaphore, key_outlives_the_longest_lease)
{
	const struct rdl_policy policy = { .wait_ms = TTL_MS };

	cr_assert_eq(rdl_semaphore_try(permits[0], TTL_MS), RDL_OK);
	cr_assert_eq(rdl_semaphore_acquire(permits[1], 50, &policy), RDL_OK);
	cr_assert_gt(atoll(support_ask(other, "PTTL", "sem")), TTL_MS / 2);
	cr_assert_eq(rdl_semaphore_extend(permits[0], 20000), RDL_OK);
	rdl_sleep_ns(other, 60000000);
	cr_assert_eq(holders(), 1);
	cr_assert_eq(rdl_semaphore_release(permits[0]), RDL_OK);
}

Test(semaphore, arguments_that_no_semaphore_has)
{
	struct rdl_semaphore *none = rdl_semaphore_new(link_, "sem", 0);
	const uint64_t sent = rdl_link_commands(link_);

	cr_assert_eq(rdl_semaphore_try(none, TTL_MS), RDL_ERROR);
	cr_assert_eq(rdl_semaphore_try(permits[0], 0), RDL_ERROR);
	cr_assert_eq(rdl_semaphore_try(permits[0], LONG_MAX), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_CALLER);
	cr_assert_eq(rdl_semaphore_acquire(none, TTL_MS, &(struct rdl_policy){ .wait_ms = 50 }),
		     RDL_ERROR);
	cr_assert_eq(rdl_link_commands(link_), sent);
	rdl_semaphore_free(none);
}

/* Who gives fewer permits is kept out by as many holders, and keeps nobody out. */
Test(semaphore, permits_that_differ_count_for_who_gives_them)
{
	struct rdl_semaphore *one = rdl_semaphore_new(other, "sem", 1);

	cr_assert_eq(rdl_semaphore_try(one, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_semaphore_try(permits[0], TTL_MS), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(one), RDL_OK);
	cr_assert_eq(rdl_semaphore_try(one, TTL_MS), RDL_BUSY);
	rdl_semaphore_free(one);
}

/* ---- Threads ------------------------------------------------------------------ */

enum { THREADS = 8, ROUNDS = 200 };

struct crowd {
	long permits;
	_Atomic int inside, most, failures;
};

static void *work(void *argument)
{
	struct crowd *crowd = argument;
	const struct rdl_policy policy = { .wait_ms = 120000 };
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_semaphore *semaphore = rdl_semaphore_new(link, "sem", crowd->permits);

	for (int i = 0; i < ROUNDS; i++) {
		int inside, most;
		bool good = rdl_semaphore_acquire(semaphore, TTL_MS, &policy) == RDL_OK;

		inside = ++crowd->inside;
		most = crowd->most;
		while (inside > most && !atomic_compare_exchange_weak(&crowd->most, &most, inside))
			;
		good = good && pair_increment(link);
		crowd->inside--;
		crowd->failures += !good || rdl_semaphore_release(semaphore) != RDL_OK;
	}
	rdl_semaphore_free(semaphore);
	rdl_link_free(link);
	return NULL;
}

static void gather(struct crowd *crowd)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, work, crowd), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(crowd->failures, 0);
	cr_assert_str_eq(support_ask(other, "EXISTS", "sem"), "0");
}

Test(semaphore, one_permit_counts_exactly)
{
	struct crowd crowd = { .permits = 1 };

	gather(&crowd);
	cr_assert_eq(crowd.most, 1);
	cr_assert_eq(atoi(support_ask(other, "GET", "counter")), THREADS * ROUNDS);
}

Test(semaphore, three_permits_have_three_inside_and_never_four)
{
	struct crowd crowd = { .permits = 3 };

	gather(&crowd);
	cr_assert_eq(crowd.most, 3);
}

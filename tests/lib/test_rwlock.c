/* SPDX-License-Identifier: MIT */
/* The read-write lock: many readers or one writer, and a writer that waits gets in. */
#include "pair.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { TTL_MS = 60000 };

static struct rdl_rwlock *a, *b, *c;

static void setup(void)
{
	pair_setup();
	a = rdl_rwlock_new(link_, "rw");
	b = rdl_rwlock_new(other, "rw");
	c = rdl_rwlock_new(other, "rw");
}

static void teardown(void)
{
	rdl_rwlock_free(a);
	rdl_rwlock_free(b);
	rdl_rwlock_free(c);
	pair_teardown();
}

TestSuite(rwlock, .init = setup, .fini = teardown);

static void assert_nothing_is_left(void)
{
	cr_assert_str_eq(support_ask(other, "EXISTS", "rw"), "0");
	cr_assert_str_eq(support_ask(other, "EXISTS", "rw:readers"), "0");
}

Test(rwlock, readers_share_and_keep_a_writer_out)
{
	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_OK, "%s", rdl_link_error(link_));
	cr_assert_eq(rdl_rwlock_read_try(b, TTL_MS), RDL_OK);
	cr_assert_gt(rdl_rwlock_remaining_ms(a), TTL_MS / 2);
	cr_assert_gt(atoll(support_ask(other, "PTTL", "rw:readers")), TTL_MS / 2);
	cr_assert_eq(rdl_rwlock_write_try(c, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_release(c), RDL_LOST);
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(c, TTL_MS), RDL_BUSY, "a reader is inside still");
	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_OK, "one attempt leaves no intent");
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(b), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(c, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(c), RDL_OK);
	assert_nothing_is_left();
}

Test(rwlock, writer_keeps_everybody_out)
{
	struct rdl_holder holder;

	cr_assert_eq(rdl_rwlock_write_try(a, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(b, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_read_try(c, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_release(b), RDL_LOST);
	cr_assert_eq(rdl_inspect(other, "rw", &holder), RDL_OK);
	cr_assert(holder.is_held);
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(a), RDL_LOST);
	assert_nothing_is_left();
}

Test(rwlock, no_upgrade_and_no_downgrade)
{
	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(a, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(a, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	assert_nothing_is_left();
}

/* ---- A writer that waits ------------------------------------------------------- */

struct waiter {
	pthread_t thread;
	enum rdl_outcome outcome;
	long wait_ms;
};

static void *wait_to_write(void *argument)
{
	struct waiter *waiter = argument;
	struct rdl_policy policy = { .wait_ms = waiter->wait_ms };
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_rwlock *lock = rdl_rwlock_new(link, "rw");

	waiter->outcome = rdl_rwlock_write_acquire(lock, TTL_MS, &policy);
	if (waiter->outcome == RDL_OK)
		waiter->outcome = rdl_rwlock_release(lock);
	rdl_rwlock_free(lock);
	rdl_link_free(link);
	return NULL;
}

static void await_intent(const char *wanted)
{
	for (int i = 0; i < 5000; i++) {
		if (atoi(support_ask(other, "EXISTS", "rw:intent")) == atoi(wanted))
			return;
		rdl_sleep_ns(other, 2000000);
	}
	cr_assert_fail("the intent never was %s", wanted);
}

Test(rwlock, waiting_writer_stops_new_readers)
{
	const struct rdl_policy policy = { .wait_ms = 60000 };
	struct waiter waiter = { .wait_ms = 60000 };

	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_OK);
	cr_assert_eq(pthread_create(&waiter.thread, NULL, wait_to_write, &waiter), 0);
	await_intent("1");
	cr_assert_leq(atoll(support_ask(other, "PTTL", "rw:intent")), 1000);
	cr_assert_eq(rdl_rwlock_read_try(b, TTL_MS), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_extend(a, TTL_MS), RDL_OK, "who is inside stays");
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_read_acquire(b, TTL_MS, &policy), RDL_OK);
	pthread_join(waiter.thread, NULL);
	cr_assert_eq(waiter.outcome, RDL_OK);
	cr_assert_str_eq(support_ask(other, "EXISTS", "rw:intent"), "0");
	cr_assert_eq(rdl_rwlock_release(b), RDL_OK);
	assert_nothing_is_left();
}

/* A writer that gave up, or died, does not stop readers for long. */
Test(rwlock, intent_of_a_writer_that_gave_up_ends)
{
	struct waiter waiter = { .wait_ms = 30 };

	cr_assert_eq(rdl_rwlock_read_try(a, TTL_MS), RDL_OK);
	wait_to_write(&waiter);
	cr_assert_eq(waiter.outcome, RDL_BUSY);
	await_intent("0");
	cr_assert_eq(rdl_rwlock_read_try(b, TTL_MS), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(a), RDL_OK);
	cr_assert_eq(rdl_rwlock_release(b), RDL_OK);
}

/* A reader who lets go only when another one is inside, unless a writer waits. */
struct readers {
	_Atomic bool is_over;
	_Atomic int failures, reads;
};

static void *read_always(void *argument)
{
	struct readers *readers = argument;
	const struct rdl_policy policy = { .wait_ms = 60000 };
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_rwlock *now = rdl_rwlock_new(link, "rw"), *next = rdl_rwlock_new(link, "rw");

	readers->failures += rdl_rwlock_read_acquire(now, TTL_MS, &policy) != RDL_OK;
	while (!readers->is_over) {
		struct rdl_rwlock *const left = now;
		const bool is_followed = rdl_rwlock_read_try(next, TTL_MS) == RDL_OK;

		readers->failures += rdl_rwlock_release(now) != RDL_OK;
		if (!is_followed)
			readers->failures += rdl_rwlock_read_acquire(next, TTL_MS, &policy) !=
					     RDL_OK;
		now = next;
		next = left;
		readers->reads++;
	}
	readers->failures += rdl_rwlock_release(now) != RDL_OK;
	rdl_rwlock_free(now);
	rdl_rwlock_free(next);
	rdl_link_free(link);
	return NULL;
}

Test(rwlock, writer_gets_in_among_constant_readers)
{
	enum { READERS = 3, WRITES = 10 };
	struct waiter waiter = { .wait_ms = 20000 };
	struct readers readers = { 0 };
	pthread_t threads[READERS];

	for (int i = 0; i < READERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, read_always, &readers), 0);
	for (int i = 0; i < WRITES; i++) {
		const int before = readers.reads;

		while (readers.reads < before + 10 * READERS)
			rdl_sleep_ns(other, 1000000);
		wait_to_write(&waiter);
		cr_assert_eq(waiter.outcome, RDL_OK, "write %d", i);
	}
	readers.is_over = true;
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(readers.failures, 0);
}

/* ---- Faults ------------------------------------------------------------------- */

/* ---- Threads ------------------------------------------------------------------ */

enum { THREADS = 8, ROUNDS = 200, READ_EVERY = 5 };

struct crowd {
	_Atomic int writers, readers, overlaps, failures, together;
};

/* Writes each time, and reads now and then. */
static void *work(void *argument)
{
	struct crowd *crowd = argument;
	const struct rdl_policy policy = { .wait_ms = 120000 };
	struct rdl_link *link = support_link(&support, 0);
	struct rdl_rwlock *lock = rdl_rwlock_new(link, "rw");

	for (int i = 0; i < ROUNDS; i++) {
		bool good = rdl_rwlock_write_acquire(lock, TTL_MS, &policy) == RDL_OK;

		crowd->overlaps += crowd->writers++ > 0 || crowd->readers > 0;
		good = good && pair_increment(link);
		crowd->writers--;
		good = good && rdl_rwlock_release(lock) == RDL_OK;
		if (good && i % READ_EVERY == 0) {
			good = rdl_rwlock_read_acquire(lock, TTL_MS, &policy) == RDL_OK;
			crowd->together += crowd->readers++ > 0;
			crowd->overlaps += crowd->writers > 0;
			rdl_sleep_ns(link, 200000);
			crowd->readers--;
			good = good && rdl_rwlock_release(lock) == RDL_OK;
		}
		crowd->failures += !good;
	}
	rdl_rwlock_free(lock);
	rdl_link_free(link);
	return NULL;
}

Test(rwlock, writers_among_readers_count_exactly)
{
	struct crowd crowd = { 0 };
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, work, &crowd), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_assert_eq(crowd.failures, 0);
	cr_assert_eq(crowd.overlaps, 0);
	cr_assert_gt(crowd.together, 0, "no two readers were ever inside together");
	cr_assert_eq(atoi(support_ask(other, "GET", "counter")), THREADS * ROUNDS);
	assert_nothing_is_left();
}

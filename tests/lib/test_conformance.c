/* SPDX-License-Identifier: MIT */
/* What every lock does while nothing but time gets in its way. */
#include "conformance.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct stage stage;
static struct party a, b;

/* Two parties who want the same key. */
static void open_two(size_t row)
{
	stage_open(&stage, row);
	party_open(&stage, &a, "lock");
	party_open(&stage, &b, "lock");
}

static void close_two(void)
{
	party_close(&a);
	party_close(&b);
	stage_expect_free(&stage, "lock:line");
	stage_close(&stage);
}

FOR_EVERY_LOCK(conformance, one_holder_and_nothing_left_behind)
{
	open_two(*row);
	party_get(&a, 60000);
	cr_assert_gt(party_remaining_ms(&a), 0, "%s", stage.row->name);
	cr_assert_leq(party_remaining_ms(&a), 60000 - 602, "%s",
		      stage.row->name);
	stage_expect_held(&stage, "lock");
	stage_expect(&stage, "try of a held one", party_try(&b, 60000), RL_BUSY);
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	cr_assert_eq(party_remaining_ms(&a), 0, "%s", stage.row->name);
	party_get(&b, 60000);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
	stage_expect_free(&stage, "lock");
	close_two();
}

FOR_EVERY_LOCK(conformance, release_by_a_non_owner_is_lost)
{
	open_two(*row);
	stage_expect(&stage, "release of one never held", party_release(&b),
		     RL_LOST);
	party_get(&a, 60000);
	stage_expect(&stage, "release by a stranger", party_release(&b),
		     RL_LOST);
	stage_expect(&stage, "try", party_try(&b, 60000), RL_BUSY);
	stage_expect(&stage, "release of one not got", party_release(&b),
		     RL_LOST);
	stage_expect_held(&stage, "lock");
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	stage_expect_free(&stage, "lock");
	stage_expect(&stage, "second release", party_release(&a), RL_LOST);
	close_two();
}

/* The server's clock is read in whole milliseconds: one less may do. */
FOR_EVERY_LOCK(conformance, lease_runs_out_and_the_next_is_spared)
{
	enum { TTL_MS = 300 };
	int64_t start_ms, waited_ms;

	stage_open(&stage, *row);
	stage.hold_max_ms = TTL_MS;
	party_open(&stage, &a, "lock");
	stage.hold_max_ms = 600000;
	party_open(&stage, &b, "lock");
	start_ms = stage_now_ms(&stage);
	party_get(&a, TTL_MS);
	party_get(&b, 60000);
	waited_ms = stage_now_ms(&stage) - start_ms;
	cr_assert_geq(waited_ms, TTL_MS - 1, "%s: got it after %lld ms",
		      stage.row->name, (long long)waited_ms);
	cr_assert_eq(party_remaining_ms(&a), 0, "%s", stage.row->name);
	stage_expect(&stage, "late release", party_release(&a), RL_LOST);
	stage_expect_held(&stage, "lock");
	cr_assert_gt(party_remaining_ms(&b), 0, "%s", stage.row->name);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
	stage_expect_free(&stage, "lock");
	close_two();
}

FOR_EVERY_LOCK(conformance, extension_prolongs_and_never_makes_one_again)
{
	const struct lock_row *r = &lock_rows[*row];

	if (!r->extend)
		cr_skip_test("%s has no extend", r->name);
	open_two(*row);
	party_get(&a, 10000);
	stage_expect(&stage, "extend", r->extend(a.lock, 60000), RL_OK);
	cr_assert_gt(party_remaining_ms(&a), 10000, "%s", r->name);
	stage_command(&stage, "DEL lock");
	stage_expect(&stage, "extend of one lost", r->extend(a.lock, 60000),
		     RL_LOST);
	stage_expect_free(&stage, "lock");
	cr_assert_eq(party_remaining_ms(&a), 0, "%s", r->name);
	party_get(&a, 60000);
	stage_command(&stage, "DEL lock");
	party_get(&b, 60000);
	stage_expect(&stage, "extend of another's", r->extend(a.lock, 90000),
		     RL_LOST);
	stage_expect(&stage, "extend after that", r->extend(a.lock, 90000),
		     RL_LOST);
	stage_expect(&stage, "release after that", party_release(&a), RL_LOST);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
	stage_expect(&stage, "extend after release", r->extend(b.lock, 60000),
		     RL_LOST);
	stage_expect_free(&stage, "lock");
	close_two();
}

/* ---- Waiting -------------------------------------------------------------------- */

FOR_EVERY_LOCK(conformance, waiting_ends_when_its_time_is_over)
{
	int64_t start_ms, waited_ms;

	open_two(*row);
	party_get(&a, 60000);
	start_ms = stage_now_ms(&stage);
	stage_expect(&stage, "acquire", party_wait(&b, 60000, 100), RL_BUSY);
	waited_ms = stage_now_ms(&stage) - start_ms;
	cr_assert_geq(waited_ms, 99, "%s: waited %lld ms", stage.row->name,
		      (long long)waited_ms);
	cr_assert_leq(waited_ms, 2000, "%s: waited %lld ms", stage.row->name,
		      (long long)waited_ms);
	stage_expect_free(&stage, "lock:line");
	stage_expect_held(&stage, "lock");
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	stage_expect_free(&stage, "lock");
	close_two();
}

static void *cancel_soon(void *fd)
{
	usleep(50000);
	eventfd_write(*(int *)fd, 1);
	return NULL;
}

FOR_EVERY_LOCK(conformance, waiting_ends_when_it_is_cancelled)
{
	const struct lock_row *r = &lock_rows[*row];
	int fd = eventfd(0, EFD_CLOEXEC);
	const struct rl_policy policy = { .wait_ms = 60000, .cancel_fd = fd };
	pthread_t canceller;
	int64_t start_ms;

	if (!r->has_policy)
		cr_skip_test("%s has no policy", r->name);
	open_two(*row);
	party_get(&a, 60000);
	start_ms = stage_now_ms(&stage);
	pthread_create(&canceller, NULL, cancel_soon, &fd);
	stage_expect(&stage, "acquire", r->acquire(b.lock, 60000, &policy),
		     RL_BUSY);
	cr_assert_lt(stage_now_ms(&stage) - start_ms, 20000, "%s", r->name);
	pthread_join(canceller, NULL);
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	stage_expect_free(&stage, "lock");
	close(fd);
	close_two();
}

FOR_EVERY_LOCK(conformance, lease_that_is_too_short_is_given_back)
{
	const struct lock_row *r = &lock_rows[*row];
	const struct rl_policy policy = { .least_ms = 1001 };

	if (!r->has_policy)
		cr_skip_test("%s has no policy", r->name);
	open_two(*row);
	stage_expect(&stage, "acquire", r->acquire(a.lock, 1000, &policy),
		     RL_BUSY);
	stage_expect_free(&stage, "lock");
	cr_assert_eq(party_remaining_ms(&a), 0, "%s", r->name);
	close_two();
}

/* Asking again while it is held must not lose the token that is there. */
FOR_EVERY_LOCK(conformance, asking_again_while_holding_loses_nothing)
{
	const bool again = lock_rows[*row].is_got_again;

	open_two(*row);
	party_get(&a, 60000);
	stage_expect(&stage, "try while held", party_try(&a, 60000),
		     again ? RL_OK : RL_BUSY);
	stage_expect_held(&stage, "lock");
	cr_assert_gt(party_remaining_ms(&a), 0, "%s", stage.row->name);
	stage_expect(&stage, "release", party_release(&a), RL_OK);
	if (again)
		party_release(&a);
	stage_expect_free(&stage, "lock");
	party_get(&b, 60000);
	stage_expect(&stage, "release", party_release(&b), RL_OK);
	close_two();
}

/* ---- Statistics ------------------------------------------------------------------- */

static uint64_t sum(const uint64_t buckets[RL_BUCKETS])
{
	uint64_t total = 0;

	for (int i = 0; i < RL_BUCKETS; i++)
		total += buckets[i];
	return total;
}

FOR_EVERY_LOCK(conformance, statistics_tell_what_happened)
{
	const struct rl_stats *first, *second;

	open_two(*row);
	first = stage.row->stats(a.lock);
	second = stage.row->stats(b.lock);
	stage_expect(&stage, "try", party_try(&a, 60000), RL_OK);
	party_wait(&b, 60000, 50);
	party_release(&a);
	party_get(&b, 60000);
	stage_command(&stage, "DEL lock");
	stage_expect(&stage, "release", party_release(&b), RL_LOST);
	cr_assert_eq(first->attempts, 1, "%s", stage.row->name);
	cr_assert_eq(first->waits, 0, "%s", stage.row->name);
	cr_assert_eq(first->holds, 1, "%s", stage.row->name);
	cr_assert_eq(first->lost, 0, "%s", stage.row->name);
	cr_assert_eq(sum(first->wait_us), 1, "%s", stage.row->name);
	cr_assert_eq(sum(first->hold_us), 1, "%s", stage.row->name);
	cr_assert_geq(second->attempts, 3, "%s", stage.row->name);
	cr_assert_geq(second->waits, 1, "%s", stage.row->name);
	cr_assert_eq(second->holds, 1, "%s", stage.row->name);
	cr_assert_eq(second->lost, 1, "%s", stage.row->name);
	cr_assert_eq(second->unknown, 0, "%s", stage.row->name);
	cr_assert_gt(rl_stats_quantile(first->hold_us, 0.5), 49999, "%s",
		     stage.row->name);
	close_two();
}

Test(conformance, quantiles_are_the_ends_of_buckets)
{
	uint64_t buckets[RL_BUCKETS] = { 0 };

	cr_assert_eq(rl_stats_quantile(buckets, 0.5), 0);
	buckets[3] = 98;
	buckets[10] = 2;
	cr_assert_eq(rl_stats_quantile(buckets, 0), 16);
	cr_assert_eq(rl_stats_quantile(buckets, 0.98), 16);
	cr_assert_eq(rl_stats_quantile(buckets, 0.99), 2048);
	cr_assert_eq(rl_stats_quantile(buckets, 1), 2048);
}

/* Of the rows that are there to release in a certain way: they do. */
Test(conformance, rows_release_as_they_say)
{
	for (size_t i = 0; i < n_lock_rows; i++) {
		enum rl_release_method method;

		if (!lock_rows[i].method)
			continue;
		open_two(i);
		party_get(&a, 60000);
		party_release(&a);
		method = rl_lock_release_method(a.lock);
		cr_assert_eq(method, lock_rows[i].method, "%s: %s",
			     lock_rows[i].name, rl_release_method_name(method));
		close_two();
	}
}

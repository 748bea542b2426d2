/* SPDX-License-Identifier: MIT */
/* What every lock does while nothing but time gets in its way. */
#include "conformance.h"

#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct scene scene;
static struct rival a, b;

/* Two parties who want the same key. */
static void open_two(size_t row)
{
	scene_open(&scene, row);
	rival_open(&scene, &a, "lock");
	rival_open(&scene, &b, "lock");
}

static void close_two(void)
{
	rival_close(&a);
	rival_close(&b);
	scene_expect_free(&scene, "lock:line");
	scene_close(&scene);
}

FOR_EVERY_LOCK(conformance, one_holder_and_nothing_left_behind)
{
	open_two(*row);
	rival_get(&a, 60000);
	cr_assert_gt(rival_remaining_ms(&a), 0, "%s", scene.row->name);
	cr_assert_leq(rival_remaining_ms(&a), 60000 - 602, "%s", scene.row->name);
	scene_expect_held(&scene, "lock");
	scene_expect(&scene, "try of a held one", rival_try(&b, 60000), RDL_BUSY);
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	cr_assert_eq(rival_remaining_ms(&a), 0, "%s", scene.row->name);
	rival_get(&b, 60000);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
	scene_expect_free(&scene, "lock");
	close_two();
}

FOR_EVERY_LOCK(conformance, release_by_a_non_owner_is_lost)
{
	open_two(*row);
	scene_expect(&scene, "release of one never held", rival_release(&b), RDL_LOST);
	rival_get(&a, 60000);
	scene_expect(&scene, "release by a stranger", rival_release(&b), RDL_LOST);
	scene_expect(&scene, "try", rival_try(&b, 60000), RDL_BUSY);
	scene_expect(&scene, "release of one not got", rival_release(&b), RDL_LOST);
	scene_expect_held(&scene, "lock");
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	scene_expect_free(&scene, "lock");
	scene_expect(&scene, "second release", rival_release(&a), RDL_LOST);
	close_two();
}

/* The server's clock is read in whole milliseconds: one less may do. */
FOR_EVERY_LOCK(conformance, lease_runs_out_and_the_next_is_spared)
{
	enum { TTL_MS = 300 };
	int64_t start_ms, waited_ms;

	scene_open(&scene, *row);
	scene.hold_max_ms = TTL_MS;
	rival_open(&scene, &a, "lock");
	scene.hold_max_ms = 600000;
	rival_open(&scene, &b, "lock");
	start_ms = scene_now_ms(&scene);
	rival_get(&a, TTL_MS);
	rival_get(&b, 60000);
	waited_ms = scene_now_ms(&scene) - start_ms;
	cr_assert_geq(waited_ms, TTL_MS - 1, "%s: got it after %lld ms", scene.row->name,
		      (long long)waited_ms);
	cr_assert_eq(rival_remaining_ms(&a), 0, "%s", scene.row->name);
	scene_expect(&scene, "late release", rival_release(&a), RDL_LOST);
	scene_expect_held(&scene, "lock");
	cr_assert_gt(rival_remaining_ms(&b), 0, "%s", scene.row->name);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
	scene_expect_free(&scene, "lock");
	close_two();
}

FOR_EVERY_LOCK(conformance, extension_prolongs_and_never_makes_one_again)
{
	const struct lock_row *r = &lock_rows[*row];

	if (!r->extend)
		cr_skip_test("%s: no extend", r->name);
	open_two(*row);
	rival_get(&a, 10000);
	scene_expect(&scene, "extend", r->extend(a.lock, 60000), RDL_OK);
	cr_assert_gt(rival_remaining_ms(&a), 10000, "%s", r->name);
	scene_command(&scene, "DEL lock");
	scene_expect(&scene, "extend of one lost", r->extend(a.lock, 60000), RDL_LOST);
	scene_expect_free(&scene, "lock");
	cr_assert_eq(rival_remaining_ms(&a), 0, "%s", r->name);
	rival_get(&a, 60000);
	scene_command(&scene, "DEL lock");
	rival_get(&b, 60000);
	scene_expect(&scene, "extend of another's", r->extend(a.lock, 90000), RDL_LOST);
	scene_expect(&scene, "extend after that", r->extend(a.lock, 90000), RDL_LOST);
	scene_expect(&scene, "release after that", rival_release(&a), RDL_LOST);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
	scene_expect(&scene, "extend after release", r->extend(b.lock, 60000), RDL_LOST);
	scene_expect_free(&scene, "lock");
	close_two();
}

/* ---- Waiting -------------------------------------------------------------------- */

FOR_EVERY_LOCK(conformance, waiting_ends_when_its_time_is_over)
{
	int64_t start_ms, waited_ms;

	open_two(*row);
	rival_get(&a, 60000);
	start_ms = scene_now_ms(&scene);
	scene_expect(&scene, "acquire", rival_wait(&b, 60000, 500), RDL_BUSY);
	waited_ms = scene_now_ms(&scene) - start_ms;
	cr_assert_geq(waited_ms, 499, "%s: waited %lld ms", scene.row->name, (long long)waited_ms);
	cr_assert_leq(waited_ms, 20000, "%s: waited %lld ms", scene.row->name,
		      (long long)waited_ms);
	scene_expect_free(&scene, "lock:line");
	scene_expect_held(&scene, "lock");
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	scene_expect_free(&scene, "lock");
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
	const int event = eventfd(0, EFD_CLOEXEC);
	int fd = dup2(event, 0); /* 0 is a descriptor like any other */
	const struct rdl_policy policy = { .wait_ms = 60000, .cancel_fd = &fd };
	pthread_t canceller;
	int64_t start_ms;

	open_two(*row);
	rival_get(&a, 60000);
	start_ms = scene_now_ms(&scene);
	pthread_create(&canceller, NULL, cancel_soon, &fd);
	scene_expect(&scene, "acquire", r->acquire(b.lock, 60000, &policy), RDL_BUSY);
	cr_assert_lt(scene_now_ms(&scene) - start_ms, 20000, "%s", r->name);
	pthread_join(canceller, NULL);
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	scene_expect_free(&scene, "lock");
	close(event);
	close_two();
}

FOR_EVERY_LOCK(conformance, lease_that_is_too_short_is_given_back)
{
	const struct lock_row *r = &lock_rows[*row];
	const struct rdl_policy policy = { .least_ms = 1001 };

	open_two(*row);
	scene_expect(&scene, "acquire", r->acquire(a.lock, 1000, &policy), RDL_BUSY);
	scene_expect_free(&scene, "lock");
	cr_assert_eq(rival_remaining_ms(&a), 0, "%s", r->name);
	close_two();
}

/* Asking again while it is held must not lose the token that is there. */
FOR_EVERY_LOCK(conformance, asking_again_while_holding_loses_nothing)
{
	const bool again = lock_rows[*row].is_got_again;

	open_two(*row);
	rival_get(&a, 60000);
	scene_expect(&scene, "try while held", rival_try(&a, 60000), again ? RDL_OK : RDL_BUSY);
	scene_expect_held(&scene, "lock");
	cr_assert_gt(rival_remaining_ms(&a), 0, "%s", scene.row->name);
	scene_expect(&scene, "release", rival_release(&a), RDL_OK);
	if (again)
		rival_release(&a);
	scene_expect_free(&scene, "lock");
	rival_get(&b, 60000);
	scene_expect(&scene, "release", rival_release(&b), RDL_OK);
	close_two();
}

/* ---- Statistics ------------------------------------------------------------------- */

static uint64_t sum(const uint64_t buckets[RDL_BUCKETS])
{
	uint64_t total = 0;

	for (int i = 0; i < RDL_BUCKETS; i++)
		total += buckets[i];
	return total;
}

FOR_EVERY_LOCK(conformance, statistics_tell_what_happened)
{
	const struct rdl_stats *first, *second;
	uint64_t n_calls = 0;

	open_two(*row);
	first = scene.row->stats(a.lock);
	second = scene.row->stats(b.lock);
	scene_expect(&scene, "try", rival_try(&a, 60000), RDL_OK);
	/* On a busy machine the time may be over before it has paused once. */
	do
		rival_wait(&b, 60000, 50);
	while (++n_calls < 100 && second->waits == 0);
	rival_release(&a);
	rival_get(&b, 60000);
	scene_command(&scene, "DEL lock");
	scene_expect(&scene, "release", rival_release(&b), RDL_LOST);
	cr_assert_eq(first->attempts, 1, "%s", scene.row->name);
	cr_assert_eq(first->waits, 0, "%s", scene.row->name);
	cr_assert_eq(first->holds, 1, "%s", scene.row->name);
	cr_assert_eq(first->lost, 0, "%s", scene.row->name);
	cr_assert_eq(sum(first->wait_us), 1, "%s", scene.row->name);
	cr_assert_eq(sum(first->hold_us), 1, "%s", scene.row->name);
	cr_assert_gt(second->attempts, n_calls, "%s", scene.row->name);
	cr_assert_geq(second->waits, 1, "%s", scene.row->name);
	cr_assert_eq(second->holds, 1, "%s", scene.row->name);
	cr_assert_eq(second->lost, 1, "%s", scene.row->name);
	cr_assert_eq(second->unknown, 0, "%s", scene.row->name);
	cr_assert_gt(rdl_stats_quantile(first->hold_us, 0.5), 49999, "%s", scene.row->name);
	close_two();
}

Test(conformance, quantiles_are_the_ends_of_buckets)
{
	uint64_t buckets[RDL_BUCKETS] = { 0 };

	cr_assert_eq(rdl_stats_quantile(buckets, 0.5), 0);
	buckets[3] = 98;
	buckets[10] = 2;
	cr_assert_eq(rdl_stats_quantile(buckets, 0), 16);
	cr_assert_eq(rdl_stats_quantile(buckets, 0.98), 16);
	cr_assert_eq(rdl_stats_quantile(buckets, 0.99), 2048);
	cr_assert_eq(rdl_stats_quantile(buckets, 1), 2048);
}

/* Of the rows that are there to release in a certain way: they do. */
Test(conformance, rows_release_as_they_say)
{
	for (size_t i = 0; i < n_lock_rows; i++) {
		enum rdl_release_method method;

		if (!lock_rows[i].method)
			continue;
		open_two(i);
		rival_get(&a, 60000);
		rival_release(&a);
		method = rdl_lock_release_method(a.lock);
		cr_assert_eq(method, lock_rows[i].method, "%s: %s", lock_rows[i].name,
			     rdl_release_method_name(method));
		close_two();
	}
}

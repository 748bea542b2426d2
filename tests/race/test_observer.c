/* SPDX-License-Identifier: MIT */
/* Every finding, from what an observer is told; no server is needed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "race/race.h"

enum { A, B, C, NOBODY = -1 };

/* A race with a lock, a counter and two keys that belong together, watched. */
struct watch {
	struct rr_race race;
	struct rr_observer observer;
	char remark[RR_REMARK_SIZE];
	char *together[RR_KEYS_SHOWN_MAX];
};

static void begin(struct watch *watch)
{
	*watch = (struct watch){
		.race = { .n_clients = 3,
			  .clients = { { "A", 0 }, { "B", 1 }, { "C", 2 } },
			  .lock = "lock",
			  .counter = "x" },
	};
	rr_observer_begin(&watch->observer, &watch->race);
}

static void mark(struct watch *watch, int client, enum rr_step_kind kind)
{
	const struct rr_step step = { .kind = kind, .client = client };

	watch->remark[0] = '\0';
	rr_observer_mark(&watch->observer, &step, watch->remark);
}

/* The lock after a step of `client`: NULL = gone; expires in s, -1 = never. */
static void lock(struct watch *watch, int client, const char *value, int end_s)
{
	struct rr_lock_state state = { .expires_ns = -1 };

	snprintf(state.value, sizeof(state.value), "%s", value ? value : "(nil)");
	if (value && end_s >= 0)
		state.expires_ns = end_s * INT64_C(1000000000);
	watch->remark[0] = '\0';
	rr_observer_lock(&watch->observer, client, &state, 1000, watch->remark);
}

static void end(struct watch *watch, const char *counter)
{
	rr_observer_end(&watch->observer, counter, watch->together);
}

static void assert_found(const struct watch *watch, rr_findings findings)
{
	cr_assert_eq(watch->observer.findings, findings, "%#x, wanted %#x",
		     watch->observer.findings, findings);
	for (int i = 0; i < RR_FINDINGS; i++)
		cr_assert_eq(!watch->observer.conclusion[i][0], !(findings & 1U << i), "%s",
			     rr_finding_name((enum rr_finding)i));
}

Test(observer, finds_nothing_in_a_good_race)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_COUNT);
	mark(&watch, A, RR_STEP_LEAVE);
	lock(&watch, A, NULL, -1);
	lock(&watch, B, "\"b\"", 10);
	mark(&watch, B, RR_STEP_ENTER);
	mark(&watch, B, RR_STEP_LEAVE);
	lock(&watch, B, NULL, -1);
	end(&watch, "\"1\"");
	assert_found(&watch, 0);
}

Test(observer, finds_two_inside)
{
	struct watch watch;

	begin(&watch);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, C, RR_STEP_ENTER);
	cr_assert_str_eq(watch.remark, "2 in the critical section: A C");
	assert_found(&watch, 1U << RR_EXCLUSION_BROKEN);
}

Test(observer, counts_those_inside_a_semaphore)
{
	struct watch watch;

	begin(&watch);
	watch.race.limit = 2;
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, C, RR_STEP_ENTER);
	assert_found(&watch, 0);
	mark(&watch, B, RR_STEP_ENTER);
	cr_assert_str_eq(watch.remark, "3 in the critical section, the limit is 2: A B C");
	assert_found(&watch, 1U << RR_EXCLUSION_BROKEN);
	begin(&watch);
	watch.race.limit = 2;
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, B, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_LEAVE);
	mark(&watch, C, RR_STEP_ENTER);
	assert_found(&watch, 0);
}

Test(observer, lets_the_dead_out)
{
	struct watch watch;

	begin(&watch);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_CRASH);
	mark(&watch, B, RR_STEP_ENTER);
	assert_found(&watch, 0);
}

Test(observer, finds_lost_updates_and_double_ones)
{
	struct watch watch;

	begin(&watch);
	watch.race.counter_from = 5;
	mark(&watch, A, RR_STEP_COUNT);
	mark(&watch, B, RR_STEP_COUNT);
	end(&watch, "\"6\"");
	assert_found(&watch, 1U << RR_UPDATE_LOST);
	cr_assert_str_eq(watch.observer.conclusion[RR_UPDATE_LOST], "expected 7, actual 6, lost 1");
	begin(&watch);
	end(&watch, "\"1\"");
	assert_found(&watch, 1U << RR_COUNTED_TWICE);
	begin(&watch);
	mark(&watch, A, RR_STEP_COUNT);
	end(&watch, "(nil)");
	assert_found(&watch, 1U << RR_UPDATE_LOST);
}

Test(observer, finds_who_removes_the_lock_of_another)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_ENTER);
	lock(&watch, B, NULL, -1);
	cr_assert_str_eq(watch.remark, "B removes A's lock");
	assert_found(&watch, 1U << RR_FOREIGN_RELEASE);
}

Test(observer, does_not_blame_time_nor_who_removes_a_dead_lock)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	lock(&watch, NOBODY, NULL, -1);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_CRASH);
	lock(&watch, B, NULL, -1);
	assert_found(&watch, 0);
}

Test(observer, finds_who_changes_the_lock_of_another)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_ENTER);
	lock(&watch, A, "\"a\"", 20); /* its own */
	assert_found(&watch, 0);
	lock(&watch, B, "\"b\"", 20);
	assert_found(&watch, 1U << RR_FOREIGN_CHANGE);
	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_ENTER);
	lock(&watch, B, "\"a\"", 30);
	assert_found(&watch, 1U << RR_FOREIGN_CHANGE);
}

Test(observer, lets_a_timestamp_end_a_lock)
{
	struct watch watch;

	begin(&watch);
	watch.race.lock_is_timestamp = true;
	lock(&watch, A, "\"999\"", -1);
	mark(&watch, A, RR_STEP_ENTER);
	lock(&watch, B, "\"1010\"", -1); /* taken over: it was over at 1000 */
	assert_found(&watch, 0);
	lock(&watch, C, "\"1020\"", -1);
	assert_found(&watch, 1U << RR_FOREIGN_CHANGE);
}

Test(observer, finds_a_deadlock)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", -1);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_CRASH);
	end(&watch, "(nil)");
	assert_found(&watch, 1U << RR_DEADLOCK);
	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_CRASH);
	end(&watch, "(nil)"); /* it will expire */
	assert_found(&watch, 0);
}

Test(observer, finds_a_dead_lock_that_is_kept_alive)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, A, "\"a\"", 10);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_CRASH);
	lock(&watch, B, "\"a\"", 15);
	cr_assert_neq(watch.remark[0], '\0');
	assert_found(&watch, 1U << RR_KEPT_ALIVE);
}

Test(observer, finds_a_ghost_lock_and_one_left_behind)
{
	struct watch watch;

	begin(&watch);
	lock(&watch, B, "\"b\"", -1);
	end(&watch, "(nil)");
	assert_found(&watch, 1U << RR_GHOST_LOCK);
	begin(&watch);
	lock(&watch, A, "\"a\"", -1);
	mark(&watch, A, RR_STEP_ENTER);
	mark(&watch, A, RR_STEP_LEAVE);
	end(&watch, "(nil)");
	assert_found(&watch, 1U << RR_LEFT_BEHIND);
	begin(&watch);
	lock(&watch, A, "\"a\"", -1);
	mark(&watch, A, RR_STEP_ENTER);
	end(&watch, "(nil)"); /* still inside */
	assert_found(&watch, 0);
}

/* Two keys that were 1 and 2 at the beginning. */
static void end_together(struct watch *watch, char *first, char *second)
{
	begin(watch);
	watch->race.counter = NULL;
	watch->race.n_together = 2;
	strcpy(watch->observer.together[0], "\"1\"");
	strcpy(watch->observer.together[1], "\"2\"");
	watch->together[0] = first;
	watch->together[1] = second;
	end(watch, "(nil)");
}

Test(observer, finds_what_is_half_done)
{
	struct watch watch;
	char one[] = "\"1\"", two[] = "\"2\"", three[] = "\"3\"";

	end_together(&watch, one, two);
	assert_found(&watch, 0);
	end_together(&watch, three, three);
	assert_found(&watch, 0);
	end_together(&watch, one, three);
	assert_found(&watch, 1U << RR_HALF_DONE);
	cr_assert_str_eq(watch.observer.conclusion[RR_HALF_DONE], "1 of 2 keys have changed");
}

Test(observer, finds_an_acknowledged_write_that_is_gone)
{
	struct watch watch;

	begin(&watch);
	rr_observer_survived(&watch.observer, "k", "\"1\"", "\"1\"", watch.remark);
	rr_observer_survived(&watch.observer, "k", "(nil)", "(nil)", watch.remark);
	assert_found(&watch, 0);
	rr_observer_survived(&watch.observer, "k", "\"1\"", "(nil)", watch.remark);
	cr_assert_str_eq(watch.remark, "k was \"1\", is (nil)");
	assert_found(&watch, 1U << RR_WRITE_LOST);
}

Test(observer, finds_replies_that_cross)
{
	struct watch watch;

	begin(&watch);
	rr_observer_crossed(&watch.observer, B, A, watch.remark);
	cr_assert_str_eq(watch.remark, "B reads the reply to A's command");
	rr_observer_crossed(&watch.observer, B, B, watch.remark);
	cr_assert_str_eq(watch.remark, "B reads the reply to an earlier command");
	assert_found(&watch, 1U << RR_REPLIES_CROSSED);
	cr_assert_str_eq(watch.observer.conclusion[RR_REPLIES_CROSSED],
			 "B reads the reply to A's command");
}

/* SPDX-License-Identifier: MIT */
/* Fencing: who is slower than the lease is refused by the store. */
#include "../support.h"

#include <stdlib.h>
#include <string.h>

static struct support support;
static struct rl_link *a, *b;
static struct rl_lock *lock_a, *lock_b;

static void setup(void)
{
	support_open(&support, 1);
	a = support_link(&support, 0);
	b = support_link(&support, 0);
	lock_a = rl_lock_new(a, "lock");
	lock_b = rl_lock_new(b, "lock");
}

static void teardown(void)
{
	rl_lock_free(lock_a);
	rl_lock_free(lock_b);
	rl_link_free(a);
	rl_link_free(b);
	support_close(&support);
}

TestSuite(fenced, .init = setup, .fini = teardown);

static long long grant(struct rl_lock *lock)
{
	long long number = -1;

	cr_assert_eq(rl_lock_try_fenced(lock, 60000, &number), RL_OK);
	return number;
}

static long long value_of(struct rl_link *link, long long number)
{
	struct rl_reply reply;

	cr_assert_eq(rl_fenced_get(link, "data", number, &reply), RL_OK);
	return reply.text ? atoll(reply.text) : 0;
}

static void lease_runs_out(void)
{
	cr_assert_str_eq(support_ask(b, "DEL", "lock"), "1");
}

Test(fenced, numbers_rise_with_every_grant)
{
	long long number = 77, last;

	last = grant(lock_a);
	cr_assert_eq(rl_lock_try_fenced(lock_b, 60000, &number), RL_BUSY);
	cr_assert_eq(number, 77, "a refused try has set a number");
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(rl_lock_release(i % 2 ? lock_b : lock_a), RL_OK);
		number = grant(i % 2 ? lock_a : lock_b);
		cr_assert_gt(number, last);
		last = number;
	}
}

Test(fenced, lower_number_is_refused_at_reads_and_writes)
{
	const long long low = grant(lock_a);
	struct rl_reply reply;
	long long high;

	cr_assert_eq(rl_fenced_set(a, "data", low, "first"), RL_OK);
	lease_runs_out();
	high = grant(lock_b);
	cr_assert_eq(rl_fenced_get(a, "data", low, &reply), RL_OK,
		     "nobody with a higher number was here yet");
	cr_assert_eq(rl_fenced_get(b, "data", high, &reply), RL_OK);
	cr_assert_str_eq(reply.text, "first");
	cr_assert_eq(rl_fenced_get(a, "data", low, &reply), RL_LOST);
	cr_assert_eq(rl_fenced_set(a, "data", low, "late"), RL_LOST);
	cr_assert_eq(rl_fenced_set(b, "data", high, "second"), RL_OK);
	cr_assert_str_eq(support_ask(b, "GET", "data"), "second");
}

/* A and B both have read 0 when A, whose lease is out, writes. */
Test(fenced, late_holder_between_read_and_write_of_the_next_loses_nothing)
{
	const long long low = grant(lock_a);
	long long high;

	cr_assert_eq(value_of(a, low), 0);
	lease_runs_out();
	high = grant(lock_b);
	cr_assert_eq(value_of(b, high), 0);
	cr_assert_eq(rl_fenced_set(a, "data", low, "1"), RL_LOST);
	cr_assert_eq(rl_fenced_set(b, "data", high, "1"), RL_OK);
	cr_assert_eq(rl_lock_release(lock_a), RL_LOST);
	cr_assert_eq(rl_lock_release(lock_b), RL_OK);
	cr_assert_eq(value_of(a, grant(lock_a)), 1);
}

/* The same with a store that looks at numbers only when it is written to. */
static enum rl_outcome careless_set(struct rl_link *link, long long number)
{
	static const char source[] = "local highest = tonumber(redis.call('GET', KEYS[2]) or '0') "
				     "if tonumber(ARGV[1]) < highest then return 0 end "
				     "redis.call('SET', KEYS[2], ARGV[1]) "
				     "redis.call('SET', KEYS[1], ARGV[2]) return 1";
	struct rl_reply reply;

	cr_assert_eq(rl_run(link, &reply, "EVAL %s 2 data data:fence %lld 1", source, number),
		     RL_OK);
	return reply.integer == 1 ? RL_OK : RL_LOST;
}

Test(fenced, planted_read_that_raises_nothing_loses_one)
{
	const long long low = grant(lock_a);
	int counted = 0;

	cr_assert_str_eq(support_ask(a, "GET", "data"), "(nil)");
	lease_runs_out();
	cr_assert_str_eq(support_ask(b, "GET", "data"), "(nil)");
	counted += careless_set(a, low) == RL_OK;
	counted += careless_set(b, grant(lock_b)) == RL_OK;
	cr_assert_eq(counted, 2);
	cr_assert_str_eq(support_ask(b, "GET", "data"), "1");
}

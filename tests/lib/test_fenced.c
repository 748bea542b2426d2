/* SPDX-License-Identifier: MIT */
/* Fencing: who is slower than the lease is refused by the store. */
#include "../support.h"

#include <stdlib.h>
#include <string.h>

#include "relay.h"

static struct support support;
static struct rdl_link *a, *b;
static struct rdl_lock *lock_a, *lock_b;

static void setup(void)
{
	support_open(&support, 1);
	a = support_link(&support, 0);
	b = support_link(&support, 0);
	lock_a = rdl_lock_new(a, "lock");
	lock_b = rdl_lock_new(b, "lock");
}

static void teardown(void)
{
	rdl_lock_free(lock_a);
	rdl_lock_free(lock_b);
	rdl_link_free(a);
	rdl_link_free(b);
	support_close(&support);
}

TestSuite(fenced, .init = setup, .fini = teardown);

static long long grant(struct rdl_lock *lock)
{
	long long number = -1;

	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK);
	return number;
}

static long long value_of(struct rdl_link *link, long long number)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_fenced_get(link, "data", number, &reply), RDL_OK);
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
	cr_assert_eq(rdl_lock_try_fenced(lock_b, 60000, &number), RDL_BUSY);
	cr_assert_eq(number, 77, "a refused try has set a number");
	for (int i = 0; i < 10; i++) {
		cr_assert_eq(rdl_lock_release(i % 2 ? lock_b : lock_a), RDL_OK);
		number = grant(i % 2 ? lock_a : lock_b);
		cr_assert_gt(number, last);
		last = number;
	}
}

Test(fenced, lower_number_is_refused_at_reads_and_writes)
{
	const long long low = grant(lock_a);
	struct rdl_reply reply;
	long long high;

	cr_assert_eq(rdl_fenced_set(a, "data", low, "first"), RDL_OK);
	lease_runs_out();
	high = grant(lock_b);
	cr_assert_eq(rdl_fenced_get(a, "data", low, &reply), RDL_OK,
		     "nobody with a higher number was here yet");
	cr_assert_eq(rdl_fenced_get(b, "data", high, &reply), RDL_OK);
	cr_assert_str_eq(reply.text, "first");
	cr_assert_eq(rdl_fenced_get(a, "data", low, &reply), RDL_LOST);
	cr_assert_eq(rdl_fenced_set(a, "data", low, "late"), RDL_LOST);
	cr_assert_eq(rdl_fenced_set(b, "data", high, "second"), RDL_OK);
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
	cr_assert_eq(rdl_fenced_set(a, "data", low, "1"), RDL_LOST);
	cr_assert_eq(rdl_fenced_set(b, "data", high, "1"), RDL_OK);
	cr_assert_eq(rdl_lock_release(lock_a), RDL_LOST);
	cr_assert_eq(rdl_lock_release(lock_b), RDL_OK);
	cr_assert_eq(value_of(a, grant(lock_a)), 1);
}

/* The same with a store that looks at numbers only when it is written to. */
static enum rdl_outcome careless_set(struct rdl_link *link, long long number)
{
	static const char source[] = "local highest = tonumber(redis.call('GET', KEYS[2]) or '0') "
				     "if tonumber(ARGV[1]) < highest then return 0 end "
				     "redis.call('SET', KEYS[2], ARGV[1]) "
				     "redis.call('SET', KEYS[1], ARGV[2]) return 1";
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link, &reply, "EVAL %s 2 data data:fence %lld 1", source, number),
		     RDL_OK);
	return reply.integer == 1 ? RDL_OK : RDL_LOST;
}

Test(fenced, planted_read_that_raises_nothing_loses_one)
{
	const long long low = grant(lock_a);
	int counted = 0;

	cr_assert_str_eq(support_ask(a, "GET", "data"), "(nil)");
	lease_runs_out();
	cr_assert_str_eq(support_ask(b, "GET", "data"), "(nil)");
	counted += careless_set(a, low) == RDL_OK;
	counted += careless_set(b, grant(lock_b)) == RDL_OK;
	cr_assert_eq(counted, 2);
	cr_assert_str_eq(support_ask(b, "GET", "data"), "1");
}

/* ---- Renewed and fair locks --------------------------------------------------- */

/* Until the lease of "lock" is longer than it was. */
static void await_renewal(void)
{
	long before_ms, left_ms = atol(support_ask(b, "PTTL", "lock"));

	for (int i = 0; i < 20000; i++) {
		rdl_sleep_ns(b, 1000000);
		before_ms = left_ms;
		left_ms = atol(support_ask(b, "PTTL", "lock"));
		if (left_ms > before_ms)
			return;
	}
	cr_assert_fail("nothing renews it");
}

Test(fenced, renewals_draw_no_number)
{
	struct rdl_renewed *renewed = rdl_renewed_new(a, "lock", 60000);
	const long long before = grant(lock_b);
	long long number = 0;

	cr_assert_eq(rdl_renewed_acquire_fenced(renewed, 2000, NULL, &number), RDL_BUSY);
	cr_assert_eq(number, 0);
	cr_assert_eq(rdl_lock_release(lock_b), RDL_OK);
	cr_assert_eq(rdl_renewed_acquire_fenced(renewed, 2000, NULL, &number), RDL_OK);
	cr_assert_eq(number, before + 1);
	await_renewal();
	cr_assert_eq(rdl_renewed_check(renewed), RDL_OK);
	cr_assert_eq(atoll(support_ask(b, "GET", "lock:fence")), number);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
}

Test(fenced, fair_lock_draws_its_number_with_the_grant)
{
	struct rdl_fair *fair_a = rdl_fair_new(a, "lock", "data");
	struct rdl_fair *fair_b = rdl_fair_new(b, "lock", "data");
	struct rdl_link *other = support_link(&support, 0);
	const long long before = grant(lock_a);
	long long first = 0, second = 0;
	struct rdl_reply reply;

	cr_assert_eq(rdl_lock_release(lock_a), RDL_OK);
	cr_assert_eq(rdl_fair_number(fair_a), 0);
	cr_assert_eq(rdl_fair_try_fenced(fair_a, 60000, &first), RDL_OK);
	cr_assert_eq(first, before + 1);
	cr_assert_eq(rdl_fair_number(fair_a), first);
	cr_assert_eq(rdl_fair_try_fenced(fair_b, 60000, &second), RDL_BUSY);
	cr_assert_eq(second, 0);
	cr_assert_eq(rdl_run(other, &reply, "SET data v=#1"), RDL_OK);
	cr_assert_eq(rdl_fair_release(fair_a), RDL_OK);
	cr_assert_eq(rdl_fair_number(fair_a), 0);
	cr_assert_eq(atoll(support_ask(other, "GET", "lock:fence")), first + 1,
		     "not drawn with the hand-over");
	cr_assert_eq(rdl_fair_wait(fair_b, 10000), RDL_OK); /* by the message */
	cr_assert_eq(rdl_fair_number(fair_b), first + 1);
	cr_assert_str_eq(rdl_fair_carried(fair_b)->text, "v=#1");
	cr_assert_eq(rdl_fair_release(fair_b), RDL_OK);
	rdl_fair_free(fair_a);
	rdl_fair_free(fair_b);
	rdl_link_free(other);
}

/* The message is not read: the question is repeated, and answered with the same number. */
Test(fenced, repeated_question_has_the_same_number)
{
	struct rdl_fair *fair_a = rdl_fair_new(a, "lock", NULL);
	struct rdl_fair *fair_b = rdl_fair_new(b, "lock", NULL);
	long long first, second;

	cr_assert_eq(rdl_fair_try_fenced(fair_a, 60000, &first), RDL_OK);
	cr_assert_eq(rdl_fair_try_fenced(fair_b, 60000, &second), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(fair_a), RDL_OK);
	cr_assert_eq(rdl_fair_try_fenced(fair_b, 60000, &second), RDL_OK);
	cr_assert_eq(second, first + 1);
	cr_assert_eq(rdl_fair_release(fair_b), RDL_OK);
	rdl_fair_free(fair_a);
	rdl_fair_free(fair_b);
}

Test(fenced, number_of_a_lost_reply_is_the_one_that_was_drawn)
{
	struct relay relay;
	struct rdl_link *through;
	struct rdl_fair *fair;
	long long number = 0;

	cr_assert(relay_start(&relay, &support.cluster.servers[0].address));
	through = rdl_link_new(&relay.address, RR_TIMEOUT_MS);
	fair = rdl_fair_new(through, "lock", NULL);
	cr_assert_eq(rdl_fair_try_fenced(fair, 60000, &number), RDL_OK); /* all is connected */
	cr_assert_eq(number, 1);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	relay_cut(&relay, RELAY_REPLIES, 0);
	cr_assert_eq(rdl_fair_try_fenced(fair, 60000, &number), RDL_OK, "%s",
		     rdl_link_error(through));
	cr_assert(relay_spare(&relay), "nothing was cut");
	cr_assert_eq(number, 2);
	cr_assert_str_eq(support_ask(b, "GET", "lock:fence"), "2");
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	rdl_fair_free(fair);
	rdl_link_free(through);
	relay_stop(&relay);
}

/* The reply is lost, or the request before it arrives. */
static void expect_number_settled(enum relay_way way)
{
	struct relay relay;
	struct rdl_link *through;
	struct rdl_lock *lock;
	long long number = 0;

	cr_assert(relay_start(&relay, &support.cluster.servers[0].address));
	through = rdl_link_new(&relay.address, RR_TIMEOUT_MS);
	lock = rdl_lock_new(through, "lock");
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK); /* the script is known */
	cr_assert_eq(number, 1);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	relay_cut(&relay, way, 0);
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK, "%s",
		     rdl_link_error(through));
	cr_assert(relay_spare(&relay), "nothing was cut");
	cr_assert_eq(number, 2);
	cr_assert_str_eq(support_ask(b, "GET", "lock:fence"), "2");
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_str_eq(support_ask(b, "EXISTS", "lock"), "0");
	cr_assert_eq(grant(lock_a), 3);
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_BUSY, "another client has it");
	cr_assert_eq(number, 2);
	cr_assert_str_eq(support_ask(b, "GET", "lock:fence"), "3");
	rdl_lock_free(lock);
	rdl_link_free(through);
	relay_stop(&relay);
}

Test(fenced, try_whose_reply_was_lost_has_the_number_that_was_drawn)
{
	expect_number_settled(RELAY_REPLIES);
}

Test(fenced, try_whose_request_was_lost_has_a_number_of_its_own)
{
	expect_number_settled(RELAY_REQUESTS);
}

Test(fenced, place_without_a_number_has_none_later)
{
	struct rdl_fair *fair = rdl_fair_new(b, "lock", NULL);
	const long long before = grant(lock_a);
	long long number = 0;

	cr_assert_eq(rdl_fair_try(fair, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_try_fenced(fair, 60000, &number), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(b), RDL_REASON_CALLER);
	cr_assert_eq(rdl_fair_release(fair), RDL_LOST);
	cr_assert_eq(rdl_lock_release(lock_a), RDL_OK);
	cr_assert_eq(rdl_fair_try(fair, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_number(fair), 0);
	cr_assert_eq(atoll(support_ask(a, "GET", "lock:fence")), before);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	cr_assert_eq(rdl_fair_acquire_fenced(fair, 60000, NULL, &number), RDL_OK);
	cr_assert_eq(number, before + 1);
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	rdl_fair_free(fair);
}

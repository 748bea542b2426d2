/* SPDX-License-Identifier: MIT */
#include "queue.h"

struct rdl_link *queue_links[2];
struct rdl_delay_queue *queue_workers[2];

static struct support support;

void queue_setup(void)
{
	support_open(&support, 1);
	for (int i = 0; i < 2; i++) {
		queue_links[i] = support_link(&support, 0);
		queue_workers[i] = rdl_delay_queue_new(queue_links[i], "q");
	}
}

void queue_teardown(void)
{
	for (int i = 0; i < 2; i++) {
		rdl_delay_queue_free(queue_workers[i]);
		rdl_link_free(queue_links[i]);
	}
	support_close(&support);
}

void queue_put(const char *id, long delay_ms)
{
	cr_assert_eq(rdl_delay_queue_put(queue_workers[0], id, delay_ms), RDL_OK, "%s",
		     rdl_link_error(queue_links[0]));
}

void queue_assert_taken(int worker, long hold_ms, const char *wanted)
{
	char id[ID_SIZE] = "";

	cr_assert_eq(rdl_delay_queue_take(queue_workers[worker], hold_ms, id, sizeof(id)), RDL_OK,
		     "%s", rdl_link_error(queue_links[worker]));
	cr_assert_str_eq(id, wanted);
}

void queue_assert_nothing_due(int worker)
{
	char id[ID_SIZE];

	cr_assert_eq(rdl_delay_queue_take(queue_workers[worker], LONG_MS, id, sizeof(id)),
		     RDL_BUSY);
}

void queue_assert_length(long long wanted_due, long long wanted_processing)
{
	long long due, processing;

	cr_assert_eq(rdl_delay_queue_length(queue_workers[0], &due, &processing), RDL_OK);
	cr_assert_eq(due, wanted_due, "%lld due", due);
	cr_assert_eq(processing, wanted_processing, "%lld processing", processing);
}

void queue_assert_effects(const char *wanted)
{
	cr_assert_str_eq(support_ask(queue_links[0], "GET", "effects"), wanted);
}

enum rdl_outcome queue_done(int worker, const char *id)
{
	return rdl_delay_queue_done(queue_workers[worker], id, "INCRBY %s %d", "effects", 1);
}

void queue_sleep_ms(long ms)
{
	rdl_sleep_ns(queue_links[0], ms * INT64_C(1000000));
}

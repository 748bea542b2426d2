/* SPDX-License-Identifier: MIT */
/* The delay queue on a real server: nothing lost, nothing done twice. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "queue.h"

TestSuite(delay_queue, .init = queue_setup, .fini = queue_teardown);

/* ---- The ordinary course ------------------------------------------------------ */

Test(delay_queue, put_twice_is_caught_by_id)
{
	queue_put("a", 0);
	cr_assert_eq(rdl_delay_queue_put(queue_workers[1], "a", 0), RDL_BUSY);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_put(queue_workers[1], "a", 0), RDL_BUSY);
	queue_assert_nothing_due(1);
	queue_assert_length(0, 1);
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	cr_assert_eq(rdl_delay_queue_put(queue_workers[1], "a", 0), RDL_OK);
	queue_assert_length(1, 0);
}

Test(delay_queue, the_longest_due_is_first)
{
	queue_put("third", 2000);
	queue_put("second", 1000);
	queue_put("first", 0);
	queue_sleep_ms(2020);
	queue_assert_taken(0, LONG_MS, "first");
	queue_assert_taken(1, LONG_MS, "second");
	queue_assert_taken(0, LONG_MS, "third");
	queue_assert_nothing_due(1);
}

Test(delay_queue, nothing_comes_before_its_time)
{
	queue_put("later", LONG_MS);
	queue_put("soon", 30);
	queue_assert_length(2, 0);
	queue_sleep_ms(40);
	queue_assert_taken(0, LONG_MS, "soon");
	queue_assert_nothing_due(0);
	queue_assert_length(1, 1);
}

Test(delay_queue, nothing_is_left_of_what_was_done)
{
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	cr_assert_eq(queue_done(0, "a"), RDL_LOST, "done twice");
	queue_assert_effects("1");
	queue_assert_length(0, 0);
	cr_assert_str_eq(support_ask(queue_links[0], "EXISTS", "q:takes"), "0");
}

Test(delay_queue, id_that_does_not_fit_is_not_taken)
{
	char id[4];

	queue_put("long", 0);
	cr_assert_eq(rdl_delay_queue_take(queue_workers[0], LONG_MS, id, sizeof(id)), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(queue_links[0]), "does not fit"));
	queue_assert_length(1, 0);
	queue_assert_taken(0, LONG_MS, "long");
}

Test(delay_queue, works_on_after_scripts_were_forgotten)
{
	for (int i = 0; i < 2; i++) {
		queue_put("a", 0);
		support_ask(queue_links[1], "SCRIPT", "FLUSH");
		queue_assert_taken(0, LONG_MS, "a");
		support_ask(queue_links[1], "SCRIPT", "FLUSH");
		cr_assert_eq(queue_done(0, "a"), RDL_OK);
		support_ask(queue_links[1], "SCRIPT", "FLUSH");
		queue_assert_length(0, 0);
		support_ask(queue_links[1], "SCRIPT", "FLUSH");
	}
	queue_assert_effects("2");
}

/* ---- Takes that end too late, or never -------------------------------------------- */

Test(delay_queue, a_take_whose_hold_ran_out_goes_back)
{
	queue_put("a", 0);
	queue_assert_taken(0, 20, "a");
	queue_sleep_ms(30);
	queue_assert_taken(1, LONG_MS, "a");
	cr_assert_eq(queue_done(1, "a"), RDL_OK);
	queue_assert_effects("1");
	queue_assert_length(0, 0);
}

Test(delay_queue, what_went_back_waits_for_those_that_were_due_before)
{
	queue_put("a", 0);
	queue_assert_taken(0, 1000, "a");
	queue_put("b", 0);
	queue_sleep_ms(1010);
	queue_assert_taken(1, LONG_MS, "b");
	queue_assert_taken(1, LONG_MS, "a");
}

Test(delay_queue, stale_done_is_refused_and_has_no_effect)
{
	queue_put("a", 0);
	queue_assert_taken(0, 20, "a");
	queue_sleep_ms(30);
	queue_assert_taken(1, LONG_MS, "a");
	cr_assert_eq(queue_done(0, "a"), RDL_LOST);
	queue_assert_length(0, 1);
	cr_assert_eq(queue_done(1, "a"), RDL_OK);
	queue_assert_effects("1");
}

Test(delay_queue, late_done_that_nobody_has_followed_counts)
{
	queue_put("a", 0);
	queue_assert_taken(0, 20, "a");
	queue_sleep_ms(30);
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	queue_assert_nothing_due(1);
	queue_assert_effects("1");
}

Test(delay_queue, another_item_cannot_be_ended_by_a_take)
{
	queue_put("a", 0);
	queue_put("b", LONG_MS);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(queue_done(0, "b"), RDL_LOST);
	queue_assert_length(1, 1);
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
}

/* ---- Many workers --------------------------------------------------------------------- */

enum { ITEMS = 400 };

/* Takes and ends what there is; how often each was done is in hash "effects". */
static void *work(void *argument)
{
	const int worker = *(const int *)argument;
	char id[ID_SIZE];

	while (rdl_delay_queue_take(queue_workers[worker], LONG_MS, id, sizeof(id)) == RDL_OK)
		rdl_delay_queue_done(queue_workers[worker], id, "HINCRBY effects %s 1", id);
	return NULL;
}

Test(delay_queue, two_workers_never_do_the_same_item)
{
	int numbers[2] = { 0, 1 };
	pthread_t threads[2];
	struct rdl_reply reply;
	char id[ID_SIZE];

	for (int i = 0; i < ITEMS; i++) {
		snprintf(id, sizeof(id), "item %d", i);
		queue_put(id, 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	queue_assert_length(0, 0);
	cr_assert_eq(rdl_run(queue_links[0], &reply, "HVALS effects"), RDL_OK);
	cr_assert_eq(reply.length, ITEMS);
	for (size_t i = 0; i < reply.length; i++)
		cr_assert_str_eq(reply.elements[i].text, "1");
}

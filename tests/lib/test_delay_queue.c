/* SPDX-License-Identifier: MIT */
/* The delay queue on a real server: nothing lost, nothing done twice. */
#include "../support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"

enum { LONG_MS = 60000, ID_SIZE = 32 };

/* Two workers at one queue. */
static struct support support;
static struct rl_link *links[2];
static struct rl_delay_queue *queues[2];

static void setup(void)
{
	support_open(&support, 1);
	for (int i = 0; i < 2; i++) {
		links[i] = support_link(&support, 0);
		queues[i] = rl_delay_queue_new(links[i], "q");
	}
}

static void teardown(void)
{
	for (int i = 0; i < 2; i++) {
		rl_delay_queue_free(queues[i]);
		rl_link_free(links[i]);
	}
	support_close(&support);
}

TestSuite(delay_queue, .init = setup, .fini = teardown);

static void put(const char *id, long delay_ms)
{
	cr_assert_eq(rl_delay_queue_put(queues[0], id, delay_ms), RL_OK, "%s",
		     rl_link_error(links[0]));
}

static void assert_taken(int worker, long hold_ms, const char *wanted)
{
	char id[ID_SIZE] = "";

	cr_assert_eq(rl_delay_queue_take(queues[worker], hold_ms, id,
					 sizeof(id)),
		     RL_OK, "%s", rl_link_error(links[worker]));
	cr_assert_str_eq(id, wanted);
}

static void assert_nothing_due(int worker)
{
	char id[ID_SIZE];

	cr_assert_eq(rl_delay_queue_take(queues[worker], LONG_MS, id,
					 sizeof(id)),
		     RL_BUSY);
}

static void assert_length(long long wanted_due, long long wanted_processing)
{
	long long due, processing;

	cr_assert_eq(rl_delay_queue_length(queues[0], &due, &processing),
		     RL_OK);
	cr_assert_eq(due, wanted_due, "%lld due", due);
	cr_assert_eq(processing, wanted_processing, "%lld processing",
		     processing);
}

static void assert_effects(const char *wanted)
{
	cr_assert_str_eq(support_ask(links[0], "GET", "effects"), wanted);
}

static enum rl_outcome done(int worker, const char *id)
{
	return rl_delay_queue_done(queues[worker], id, "INCRBY %s %d",
				   "effects", 1);
}

static void sleep_ms(long ms)
{
	rl_sleep_ns(links[0], ms * INT64_C(1000000));
}

/* ---- The ordinary course ------------------------------------------------------ */

Test(delay_queue, put_twice_is_caught_by_id)
{
	put("a", 0);
	cr_assert_eq(rl_delay_queue_put(queues[1], "a", 0), RL_BUSY);
	assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rl_delay_queue_put(queues[1], "a", 0), RL_BUSY);
	assert_nothing_due(1);
	assert_length(0, 1);
	cr_assert_eq(done(0, "a"), RL_OK);
	cr_assert_eq(rl_delay_queue_put(queues[1], "a", 0), RL_OK);
	assert_length(1, 0);
}

Test(delay_queue, the_longest_due_is_first)
{
	put("third", 400);
	put("second", 200);
	put("first", 0);
	sleep_ms(420);
	assert_taken(0, LONG_MS, "first");
	assert_taken(1, LONG_MS, "second");
	assert_taken(0, LONG_MS, "third");
	assert_nothing_due(1);
}

Test(delay_queue, nothing_comes_before_its_time)
{
	put("later", LONG_MS);
	put("soon", 30);
	assert_length(2, 0);
	sleep_ms(40);
	assert_taken(0, LONG_MS, "soon");
	assert_nothing_due(0);
	assert_length(1, 1);
}

Test(delay_queue, nothing_is_left_of_what_was_done)
{
	put("a", 0);
	assert_taken(0, LONG_MS, "a");
	cr_assert_eq(done(0, "a"), RL_OK);
	cr_assert_eq(done(0, "a"), RL_LOST, "done twice");
	assert_effects("1");
	assert_length(0, 0);
	cr_assert_str_eq(support_ask(links[0], "EXISTS", "q:takes"), "0");
}

Test(delay_queue, id_that_does_not_fit_is_not_taken)
{
	char id[4];

	put("long", 0);
	cr_assert_eq(rl_delay_queue_take(queues[0], LONG_MS, id, sizeof(id)),
		     RL_ERROR);
	cr_assert(strstr(rl_link_error(links[0]), "does not fit"));
	assert_length(1, 0);
	assert_taken(0, LONG_MS, "long");
}

Test(delay_queue, works_on_after_scripts_were_forgotten)
{
	for (int i = 0; i < 2; i++) {
		put("a", 0);
		support_ask(links[1], "SCRIPT", "FLUSH");
		assert_taken(0, LONG_MS, "a");
		support_ask(links[1], "SCRIPT", "FLUSH");
		cr_assert_eq(done(0, "a"), RL_OK);
		support_ask(links[1], "SCRIPT", "FLUSH");
		assert_length(0, 0);
		support_ask(links[1], "SCRIPT", "FLUSH");
	}
	assert_effects("2");
}

/* ---- Takes that end too late, or never -------------------------------------------- */

Test(delay_queue, a_take_whose_hold_ran_out_goes_back)
{
	put("a", 0);
	assert_taken(0, 20, "a");
	sleep_ms(30);
	assert_taken(1, LONG_MS, "a");
	cr_assert_eq(done(1, "a"), RL_OK);
	assert_effects("1");
	assert_length(0, 0);
}

Test(delay_queue, what_went_back_waits_for_those_that_were_due_before)
{
	put("a", 0);
	assert_taken(0, 300, "a");
	put("b", 0);
	sleep_ms(310);
	assert_taken(1, LONG_MS, "b");
	assert_taken(1, LONG_MS, "a");
}

Test(delay_queue, stale_done_is_refused_and_has_no_effect)
{
	put("a", 0);
	assert_taken(0, 20, "a");
	sleep_ms(30);
	assert_taken(1, LONG_MS, "a");
	cr_assert_eq(done(0, "a"), RL_LOST);
	assert_length(0, 1);
	cr_assert_eq(done(1, "a"), RL_OK);
	assert_effects("1");
}

Test(delay_queue, late_done_that_nobody_has_followed_counts)
{
	put("a", 0);
	assert_taken(0, 20, "a");
	sleep_ms(30);
	cr_assert_eq(done(0, "a"), RL_OK);
	assert_nothing_due(1);
	assert_effects("1");
}

Test(delay_queue, another_item_cannot_be_ended_by_a_take)
{
	put("a", 0);
	put("b", LONG_MS);
	assert_taken(0, LONG_MS, "a");
	cr_assert_eq(done(0, "b"), RL_LOST);
	assert_length(1, 1);
	cr_assert_eq(done(0, "a"), RL_OK);
}

/* ---- Both or neither ---------------------------------------------------------------- */

Test(delay_queue, refused_effect_leaves_the_item)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(links[1], &reply, "SADD effects x"), RL_OK);
	put("a", 0);
	assert_taken(0, LONG_MS, "a");
	cr_assert_eq(done(0, "a"), RL_ERROR);
	cr_assert(strstr(rl_link_error(links[0]), "WRONGTYPE"), "%s",
		  rl_link_error(links[0]));
	assert_length(0, 1);
	support_ask(links[1], "DEL", "effects");
	cr_assert_eq(done(0, "a"), RL_OK, "it was still ours");
	assert_effects("1");
}

/* ---- Lost replies ------------------------------------------------------------------- */

/* Loses so many replies or, if `unsent`, what they would be replies to; waits
 * and lets the other worker have its turn after each. */
struct loser {
	int left;
	bool unsent;
	long wait_ms;
	bool others_turn;
};

static enum rl_outcome lose(struct loser *loser)
{
	loser->left--;
	sleep_ms(loser->wait_ms);
	if (loser->others_turn)
		assert_taken(1, LONG_MS, "a");
	return RL_UNKNOWN;
}

static enum rl_outcome lose_command(void *context, struct rl_link *link,
				    struct rl_command *command)
{
	struct loser *loser = context;

	(void)link;
	(void)command;
	return loser->left && loser->unsent ? lose(loser) : RL_OK;
}

static enum rl_outcome lose_reply(void *context, struct rl_link *link,
				  struct rl_reply *reply,
				  enum rl_outcome outcome)
{
	struct loser *loser = context;

	(void)link;
	(void)reply;
	return loser->left && !loser->unsent ? lose(loser) : outcome;
}

/* What the first worker's done of "a" says, taken for hold_ms. */
static enum rl_outcome done_with(struct loser loser, long hold_ms)
{
	static const struct rl_driver_ops ops = { .send = lose_command,
						  .receive = lose_reply };
	const struct rl_driver driver = { .ops = &ops, .context = &loser };
	enum rl_outcome outcome;

	cr_assert_eq(done(0, "nothing"), RL_LOST); /* loads the script */
	put("a", 0);
	assert_taken(0, hold_ms, "a");
	rl_link_set_driver(links[0], &driver);
	outcome = done(0, "a");
	rl_link_set_driver(links[0], NULL);
	cr_assert_eq(loser.left, 0, "no reply was lost");
	return outcome;
}

Test(delay_queue, lost_reply_of_done_is_settled)
{
	cr_assert_eq(done_with((struct loser){ .left = 1 }, LONG_MS), RL_OK);
	assert_effects("1");
	assert_length(0, 0);
}

Test(delay_queue, lost_done_is_repeated)
{
	const struct loser loser = { .left = 1, .unsent = true };

	cr_assert_eq(done_with(loser, LONG_MS), RL_OK);
	assert_effects("1");
}

Test(delay_queue, two_lost_replies_are_unknown_until_asked_again)
{
	cr_assert_eq(done_with((struct loser){ .left = 2 }, LONG_MS),
		     RL_UNKNOWN);
	assert_effects("1");
	cr_assert_eq(done(0, "a"), RL_OK);
	assert_effects("1");
}

Test(delay_queue, lost_reply_past_the_hold_cannot_be_settled)
{
	const struct loser loser = { .left = 1, .wait_ms = 30 };

	cr_assert_eq(done_with(loser, 20), RL_UNKNOWN);
	assert_effects("1");
}

Test(delay_queue, lost_done_that_was_taken_over_has_no_effect)
{
	const struct loser loser = { .left = 1,
				     .unsent = true,
				     .wait_ms = 30,
				     .others_turn = true };

	cr_assert_eq(done_with(loser, 20), RL_UNKNOWN);
	assert_effects("(nil)");
	cr_assert_eq(done(1, "a"), RL_OK);
	assert_effects("1");
}

/* ---- Many workers --------------------------------------------------------------------- */

enum { ITEMS = 400 };

/* Takes and ends what there is; how often each was done is in hash "effects". */
static void *work(void *argument)
{
	const int worker = *(const int *)argument;
	char id[ID_SIZE];

	while (rl_delay_queue_take(queues[worker], LONG_MS, id, sizeof(id)) ==
	       RL_OK)
		rl_delay_queue_done(queues[worker], id, "HINCRBY effects %s 1",
				    id);
	return NULL;
}

Test(delay_queue, two_workers_never_do_the_same_item)
{
	int numbers[2] = { 0, 1 };
	pthread_t threads[2];
	struct rl_reply reply;
	char id[ID_SIZE];

	for (int i = 0; i < ITEMS; i++) {
		snprintf(id, sizeof(id), "item %d", i);
		put(id, 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_length(0, 0);
	cr_assert_eq(rl_run(links[0], &reply, "HVALS effects"), RL_OK);
	cr_assert_eq(reply.length, ITEMS);
	for (size_t i = 0; i < reply.length; i++)
		cr_assert_str_eq(reply.elements[i].text, "1");
}

/* ---- A planted bug -------------------------------------------------------------------- */

/* A worker takes "a" and dies. Is it ever done? */
static bool death_loses_nothing(const struct rl_driver *driver)
{
	char id[ID_SIZE];

	put("a", 0);
	rl_link_set_driver(links[0], driver);
	cr_assert_eq(rl_delay_queue_take(queues[0], 20, id, sizeof(id)), RL_OK);
	rl_link_set_driver(links[0], NULL);
	sleep_ms(30);
	return rl_delay_queue_take(queues[1], LONG_MS, id, sizeof(id)) ==
		       RL_OK &&
	       done(1, id) == RL_OK;
}

Test(delay_queue, death_between_taking_and_doing_loses_nothing)
{
	cr_assert(death_loses_nothing(NULL));
	assert_effects("1");
}

Test(delay_queue, planted_pop_is_seen)
{
	cr_assert_not(death_loses_nothing(&planted_pop));
	assert_length(0, 0);
	assert_effects("(nil)");
}

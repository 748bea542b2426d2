/* SPDX-License-Identifier: MIT */
/* What a delay queue makes of refusals, lost replies and workers that die. */
#include <string.h>

#include "../planted.h"
#include "queue.h"

TestSuite(delay_queue_faults, .init = queue_setup, .fini = queue_teardown);

/* ---- Both or neither ---------------------------------------------------------------- */

Test(delay_queue_faults, refused_effect_leaves_the_item)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(queue_links[1], &reply, "SADD effects x"), RDL_OK);
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(queue_done(0, "a"), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(queue_links[0]), "WRONGTYPE"), "%s",
		  rdl_link_error(queue_links[0]));
	queue_assert_length(0, 1);
	support_ask(queue_links[1], "DEL", "effects");
	cr_assert_eq(queue_done(0, "a"), RDL_OK, "it was still ours");
	queue_assert_effects("1");
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

static enum rdl_outcome lose(struct loser *loser)
{
	loser->left--;
	queue_sleep_ms(loser->wait_ms);
	if (loser->others_turn)
		queue_assert_taken(1, LONG_MS, "a");
	return RDL_UNKNOWN;
}

static enum rdl_outcome lose_command(void *context, struct rdl_link *link,
				     struct rdl_command *command)
{
	struct loser *loser = context;

	(void)link;
	(void)command;
	return loser->left && loser->unsent ? lose(loser) : RDL_OK;
}

static enum rdl_outcome lose_reply(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	struct loser *loser = context;

	(void)link;
	(void)reply;
	return loser->left && !loser->unsent ? lose(loser) : outcome;
}

/* What the first worker's done of "a" says, taken for hold_ms. */
static enum rdl_outcome done_with(struct loser loser, long hold_ms)
{
	static const struct rdl_driver_ops ops = { .send = lose_command, .receive = lose_reply };
	const struct rdl_driver driver = { .ops = &ops, .context = &loser };
	enum rdl_outcome outcome;

	cr_assert_eq(queue_done(0, "nothing"), RDL_LOST); /* loads the script */
	queue_put("a", 0);
	queue_assert_taken(0, hold_ms, "a");
	rdl_link_set_driver(queue_links[0], &driver);
	outcome = queue_done(0, "a");
	rdl_link_set_driver(queue_links[0], NULL);
	cr_assert_eq(loser.left, 0, "no reply was lost");
	return outcome;
}

Test(delay_queue_faults, lost_reply_of_done_is_settled)
{
	cr_assert_eq(done_with((struct loser){ .left = 1 }, LONG_MS), RDL_OK);
	queue_assert_effects("1");
	queue_assert_length(0, 0);
}

Test(delay_queue_faults, lost_done_is_repeated)
{
	const struct loser loser = { .left = 1, .unsent = true };

	cr_assert_eq(done_with(loser, LONG_MS), RDL_OK);
	queue_assert_effects("1");
}

Test(delay_queue_faults, two_lost_replies_are_unknown_until_asked_again)
{
	cr_assert_eq(done_with((struct loser){ .left = 2 }, LONG_MS), RDL_UNKNOWN);
	queue_assert_effects("1");
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	queue_assert_effects("1");
}

Test(delay_queue_faults, lost_reply_past_the_hold_cannot_be_settled)
{
	const struct loser loser = { .left = 1, .wait_ms = 30 };

	cr_assert_eq(done_with(loser, 20), RDL_UNKNOWN);
	queue_assert_effects("1");
}

Test(delay_queue_faults, lost_done_that_was_taken_over_has_no_effect)
{
	const struct loser loser = { .left = 1, .unsent = true, .wait_ms = 30, .others_turn = true };

	cr_assert_eq(done_with(loser, 20), RDL_UNKNOWN);
	queue_assert_effects("(nil)");
	cr_assert_eq(queue_done(1, "a"), RDL_OK);
	queue_assert_effects("1");
}

/* ---- A planted bug -------------------------------------------------------------------- */

/* A worker takes "a" and dies. Is it ever done? */
static bool death_loses_nothing(const struct rdl_driver *driver)
{
	char id[ID_SIZE];

	queue_put("a", 0);
	rdl_link_set_driver(queue_links[0], driver);
	cr_assert_eq(rdl_delay_queue_take(queue_workers[0], 20, id, sizeof(id)), RDL_OK);
	rdl_link_set_driver(queue_links[0], NULL);
	queue_sleep_ms(30);
	return rdl_delay_queue_take(queue_workers[1], LONG_MS, id, sizeof(id)) == RDL_OK &&
	       queue_done(1, id) == RDL_OK;
}

Test(delay_queue_faults, death_between_taking_and_doing_loses_nothing)
{
	cr_assert(death_loses_nothing(NULL));
	queue_assert_effects("1");
}

Test(delay_queue_faults, planted_pop_is_seen)
{
	cr_assert_not(death_loses_nothing(&planted_pop));
	queue_assert_length(0, 0);
	queue_assert_effects("(nil)");
}

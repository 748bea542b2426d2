/* SPDX-License-Identifier: MIT */
/* Clients that count how often they were refused, and do something else some day: as often as
 * they are followed, they are found; what was not followed is said. */
#include <stdio.h>
#include <stdlib.h>

#include "product/product.h"
#include "strangers.h"

struct patience {
	int refused, asked; /* since it was let in; in all */
	int increments;
	bool bears_grudge;
};

static enum rdl_outcome open_patience(struct rr_client *client)
{
	client->state = calloc(1, sizeof(struct patience));
	return client->state ? RDL_OK : RDL_ERROR;
}

static void close_patience(struct rr_client *client)
{
	free(client->state);
}

static struct rr_strategy with_patience(const char *name,
					enum rdl_outcome (*acquire)(struct rr_client *))
{
	struct rr_strategy strategy = stranger_named(name, acquire);

	strategy.open = open_patience;
	strategy.close = close_patience;
	return strategy;
}

/* Of the clients of one search. */
static int limit;

static enum rdl_outcome ask(struct rr_client *client)
{
	struct patience *patience = client->state;
	const enum rdl_outcome outcome = stranger_set_lock(client);

	patience->refused = outcome == RDL_BUSY ? patience->refused + 1 : 0;
	return outcome;
}

/* What is found of so many clients; the caller releases it. */
static struct rr_explore_result explore(const struct rr_strategy *strategy, size_t n_clients,
					long increments)
{
	const struct rr_explore_config config = { .n_clients = n_clients,
						  .increments = increments };
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(strategy, config, &result), RR_EXIT_OK, "%s %d: %s",
		     strategy->name, limit, result.error.text);
	return result;
}

static void expect_two_inside(const struct rr_strategy *strategy, size_t n_clients, long increments)
{
	struct rr_explore_result result = explore(strategy, n_clients, increments);

	cr_expect(result.breaks & RR_BREAKS_EXCLUSION,
		  "%s %d, %zu clients, %ld increments: breaks %x, ended %d, %lu states",
		  strategy->name, limit, n_clients, increments, result.breaks, result.explored,
		  result.states);
	rr_explore_release(&result);
}

static void expect_no_end(const struct rr_strategy *strategy, size_t n_clients, long increments)
{
	struct rr_explore_result result = explore(strategy, n_clients, increments);

	cr_expect_eq(result.explored, RR_EXPLORED_MOST);
	cr_expect(!stranger_is_safe(&result));
	rr_explore_release(&result);
}

/* ---- By force ------------------------------------------------------------------- */

static enum rdl_outcome take_by_force(struct rr_client *client)
{
	const struct patience *patience = client->state;
	const enum rdl_outcome outcome = ask(client);

	return patience->refused >= limit ? RDL_OK : outcome;
}

/* After so many refusals, among so many clients, in one of so many increments. Where that has more
 * states than are searched, nobody is called safe. */
Test(refusals, lock_is_taken_by_force)
{
	static const int refusals[] = { 5, 7, 20, 50 };
	const struct rr_strategy force = with_patience("force", take_by_force);

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		limit = refusals[i];
		for (size_t n_clients = 2; n_clients <= 3; n_clients++) {
			for (long increments = 1; increments <= 3; increments++) {
				if (limit == 50 && n_clients == 3 && increments > 1)
					expect_no_end(&force, n_clients, increments);
				else
					expect_two_inside(&force, n_clients, increments);
			}
		}
	}
}

/* Whose patience is longer than clients are followed is not found: for how many rounds they
 * were is a part of the verdict. */
Test(refusals, patience_that_is_longer_than_what_was_followed)
{
	const struct rr_strategy force = with_patience("force", take_by_force);
	struct rr_explore_result result;

	limit = RR_REFUSALS_ROUNDS + 1000;
	cr_expect_eq(stranger_explore(&force, (struct rr_explore_config){ 0 }, &result), RR_EXIT_OK,
		     "%s", result.error.text);
	cr_expect(stranger_is_safe(&result));
	cr_expect_eq(result.followed, RR_REFUSALS_ROUNDS);
	rr_explore_release(&result);
}

/* ---- Later ---------------------------------------------------------------------- */

/* Who was refused twice in its first increment does not ask in its third. */
static enum rdl_outcome bear_a_grudge(struct rr_client *client)
{
	struct patience *patience = client->state;
	enum rdl_outcome outcome;

	if (patience->increments == 2 && patience->bears_grudge)
		return RDL_OK;
	outcome = ask(client);
	patience->bears_grudge |= patience->increments == 0 && patience->refused == 2;
	patience->increments += outcome == RDL_OK;
	return outcome;
}

Test(refusals, grudge_shows_two_increments_later)
{
	const struct rr_strategy grudge = with_patience("grudge", bear_a_grudge);

	expect_two_inside(&grudge, 2, 3);
}

/* Who was refused so often in its first increment does not ask in its second. */
static enum rdl_outcome ask_once_less(struct rr_client *client)
{
	struct patience *patience = client->state;

	if (patience->asked >= limit && patience->increments == 1)
		return RDL_OK;
	patience->asked += ask(client) == RDL_BUSY;
	patience->increments += patience->refused == 0;
	return patience->refused ? RDL_BUSY : RDL_OK;
}

Test(refusals, many_refusals_show_in_the_next_increment)
{
	const struct rr_strategy late = with_patience("late", ask_once_less);

	limit = 6;
	expect_two_inside(&late, 2, 2);
	limit = 30;
	expect_two_inside(&late, 2, 2);
}

/* ---- Every tenth ------------------------------------------------------------------ */

/* Every tenth refusal it removes the lock, and asks once more. */
static enum rdl_outcome remove_every_tenth(struct rr_client *client)
{
	const struct patience *patience = client->state;
	const enum rdl_outcome outcome = ask(client);

	if (outcome == RDL_BUSY && patience->refused % 10 == 0)
		stranger_delete_lock(client);
	return outcome;
}

Test(refusals, mind_is_changed_every_tenth_time)
{
	const struct rr_strategy tenth = with_patience("tenth", remove_every_tenth);

	expect_two_inside(&tenth, 2, 1);
}

/* ---- Without an end ----------------------------------------------------------------- */

/* It says how often it was refused: no two of its attempts are alike. */
static enum rdl_outcome ask_with_a_number(struct rr_client *client)
{
	struct patience *patience = client->state;
	struct rdl_reply reply;
	const enum rdl_outcome outcome = stranger_won(rdl_run(client->data, &reply, "SETNX %s %d",
							      client->lock, patience->refused),
						      &reply);

	patience->refused += outcome == RDL_BUSY;
	return outcome;
}

Test(refusals, who_says_how_often_is_followed_for_some_rounds)
{
	const struct rr_strategy numbers = with_patience("numbers", ask_with_a_number);
	struct rr_explore_result result;

	cr_expect_eq(stranger_explore(&numbers, (struct rr_explore_config){ 0 }, &result),
		     RR_EXIT_OK, "%s", result.error.text);
	cr_expect_eq(result.breaks, 0);
	cr_expect_eq(result.explored, RR_EXPLORED_ROUNDS, "%d, %lu states", result.explored,
		     result.states);
	rr_explore_release(&result);
}

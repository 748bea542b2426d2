/* SPDX-License-Identifier: MIT */
/* A strategy: does it keep its invariants? If so, one of its mutants must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search.h"
#include "expected.h"

enum {
	DRAWS = 64,          /* of random values, that are compared */
	DRAWN_ATTEMPTS = 24, /* of each client, in each of them */
	DRAWS_SEARCHED = 4   /* in which it does something else */
};

/* ---- The program -------------------------------------------------------------- */

static bool open_strategy(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_product_config *wanted = &search->wanted;
	const char *lacking;

	search->counting = (struct rr_counting){
		.strategy = config->strategy,
		.n_servers = search->program.n_servers,
		.increments = config->increments,
		.ttl_ms = config->ttl_ms,
		.hold_us = config->work_ms * 1000,
		.repeats = config->budget.of[RR_LOST_REPLIES] > 0,
	};
	search->program.separate = config->separate;
	search->program.knows_scripts = config->budget.of[RR_RESTARTS] == 0;
	rr_counting_init(&search->counting, &search->program);
	rr_counting_share(&search->counting, &search->program);
	wanted->counter = search->counting.counter;
	wanted->stays_away = config->stays_away;
	wanted->skew_ns = config->skew_ns;
	wanted->bounded = config->all;
	search->program.suffixes = &search->suffixes;
	search->program.learning = config->all || config->random.runs ? RR_LEARN_NOTHING : 0;
	lacking = rr_strategy_lacking(config->strategy, &search->addresses[0], "spare");
	return !lacking || rr_error_set(&search->result->error, RR_ERROR_SKIPPED, "%s", lacking);
}

static enum rr_going verify_strategy(struct rr_search *search)
{
	const struct rr_product *product = &search->product;
	enum rr_going going = RR_GO_ON;

	if (search->end == RR_GRAPH_FAILED || search->program.mutate)
		return RR_GO_ON;
	for (size_t i = 1; i < product->n_clients && search->program.sent_as_own; i++) {
		if (rr_client_view_verify(&product->clients[i]))
			continue;
		rr_belief_withdraw(&search->beliefs, RR_BELIEF_ALIKE, NULL);
		going = RR_AGAIN;
		break;
	}
	if (search->program.learning & RR_LEARN_NOTHING)
		return going;
	/* Are histories of clients one state that are taken for one? */
	for (size_t i = 0; i < product->n_clients; i++) {
		struct rr_client_table *table = rr_product_client_table(product, i);
		const uint64_t n_runs = table ? table->n_runs : 0;

		if (!table)
			continue;
		if (!rr_learning_verify(table))
			return rr_search_stop(search, &table->error);
		search->result->stats.checked_clients += table->n_runs - n_runs;
		if (rr_learning_has_changed(table))
			going = RR_AGAIN;
	}
	return going;
}

/* ---- What is found -------------------------------------------------------------- */

static enum rr_going judge_invariants(struct rr_search *search)
{
	rr_graph_analyse(&search->graph);
	return RR_GO_ON;
}

static enum rr_going show_failure(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_explore_result *result = search->result;
	size_t *steps = rr_calloc(schedule->actions.n + 1, sizeof(*steps));
	/* What a race's own findings may not say. */
	const char *shows =
		result->shortest_breaks & (RR_DEADLOCKS | RR_STARVES) ?
			"No progress: the clients that are left are refused again and again." :
		result->shortest_breaks & RR_BREAKS_OWNERSHIP ?
			"A client has removed or changed a lock that another one holds." :
			NULL;
	char title[120];
	struct rr_outcome *finding;
	struct rr_contents contents;
	struct rr_why why;

	snprintf(title, sizeof(title), "%s: found by redrace explore",
		 search->config->strategy->name);
	result->findings[0] = (struct rr_outcome){ .found = 0 };
	result->n_findings = 1;
	result->findings[0].played.race = rr_actions_race(
		&search->product, &search->scripts, &schedule->actions,
		&(struct rr_transcript_headings){ .title = title, .shows = shows, .steps = steps });
	/* Why that is a failure, if the data server can tell. */
	finding = &search->result->findings[0];
	contents = (struct rr_contents){ .table = &search->tables[0] };
	if (!search->config->all) {
		why = rr_why_find(&(struct rr_why_question){
			.program = &search->program,
			.contents = &contents,
			.actions = &schedule->actions,
			.steps = steps,
			.end = schedule->end[0],
			.nearest = RR_NO_ID,
			.found = (schedule->broken & RR_BREAKS_COUNT ? RR_OUTCOME_NOT_SERIAL : 0) |
				 (schedule->broken & RR_BREAKS_EXCLUSION ? RR_OUTCOME_EXCLUSION :
									   0),
		});
		rr_contents_release(&contents);
		finding->why = why.text;
		finding->anomaly = why.anomaly;
	}
	free(steps);
	return RR_GO_ON;
}

/* ---- Nothing is found ------------------------------------------------------- */

/* Nothing was found with the random values that were drawn. If clients do something else
 * with others, the search begins again with these, some times. */
static enum rr_going compare_draws(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	unsigned draw = search->program.draw + 1;
	enum rr_going going = RR_GO_ON;
	bool is_same = true;

	for (; draw < DRAWS && is_same; draw += is_same) {
		for (size_t i = 0; i < search->product.n_clients && is_same; i++) {
			struct rr_client_table *table = rr_product_client_table(&search->product,
										i);

			is_same = !table ||
				  rr_client_table_is_same_draw(table, draw, DRAWN_ATTEMPTS);
		}
	}
	result->stats.draws = DRAWS;
	if (draw < DRAWS && search->draws_that_differ < DRAWS_SEARCHED) {
		search->program.draw = draw;
		rr_belief_withdraw(&search->beliefs, RR_BELIEF_ANY_DRAW, NULL);
		going = RR_AGAIN;
	}
	search->draws_that_differ += draw < DRAWS;
	if (search->draws_that_differ && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_DRAWS;
	return going;
}

static enum rr_going confirm_strategy(struct rr_search *search)
{
	const enum rr_going going = search->config->all ? RR_GO_ON : compare_draws(search);

	if (going == RR_GO_ON)
		rr_search_list_mutants(search);
	return going;
}

const struct rr_property rr_invariants = {
	.server = "data",
	.open = open_strategy,
	.verify = verify_strategy,
	.judge = judge_invariants,
	.show = show_failure,
	.confirm = confirm_strategy,
};

/* SPDX-License-Identifier: MIT */
/* A strategy: does it keep its invariants? If so, one of its mutants must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search.h"
#include "expected.h"
#include "why.h"

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

/* Are histories of clients one state that are taken for one? */
static enum rr_going verify_histories(struct rr_search *search)
{
	enum rr_going going = RR_GO_ON;

	for (size_t i = 0; i < search->product.n_clients; i++) {
		struct rr_client_table *table = rr_product_client_table(&search->product, i);
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
	if (!(search->program.learning & RR_LEARN_NOTHING)) {
		const enum rr_going of_histories = verify_histories(search);

		going = of_histories == RR_GO_ON ? going : of_histories;
	}
	return going;
}

/* ---- What is found -------------------------------------------------------------- */

static enum rr_going judge_invariants(struct rr_search *search)
{
	rr_graph_analyse(&search->graph);
	return RR_GO_ON;
}

/* What a race's own findings may not say. */
static const char *sum_up(unsigned broken)
{
	if (broken & (RR_DEADLOCKS | RR_STARVES))
		return "No progress: whoever is left is refused again and again.";
	if (broken & RR_BREAKS_OWNERSHIP)
		return "A client has removed or changed a lock that another one holds.";
	return NULL;
}

static enum rr_going show_failure(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_explore_result *result = search->result;
	size_t *steps = rr_calloc(schedule->actions.n + 1, sizeof(*steps));
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
		&(struct rr_transcript_headings){
			.title = title, .shows = sum_up(result->shortest_breaks), .steps = steps });
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

enum rr_going rr_search_conclude_walks(struct rr_search *search, void *unused)
{
	struct rr_schedule schedule = { 0 };
	enum rr_going going = RR_GO_ON;

	(void)unused;
	if (search->end == RR_GRAPH_STOPPED)
		search->result->explored = RR_EXPLORED_STOPPED;
	search->result->bound = rr_walks_bound(search->walks, search->result->schedules);
	if (search->result->failing)
		going = rr_walks_shortest(search->walks, &schedule) ?
				rr_search_show(search, &schedule) :
				rr_search_stop(search, &search->product.error);
	rr_schedule_release(&schedule);
	return going;
}

/* ---- Mutants -------------------------------------------------------------- */

void rr_search_list_mutants(struct rr_search *search)
{
	search->mutations = rr_calloc(RR_MUTANTS_MAX, sizeof(*search->mutations));
	search->n_mutations = rr_mutants_list(&search->product, &search->scripts,
					      search->mutations);
}

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

static enum rr_going conclude_mutant(struct rr_search *search, void *context)
{
	/* What a mutant's final states are counts for nothing else. */
	struct rr_explore_result *result = search->result, of_mutant = { .explored = 0 };
	struct rr_mutant_result *mutant = context;
	enum rr_going going = RR_GO_ON;

	if (search->end == RR_GRAPH_STOPPED) {
		if (search->config->strategy)
			result->explored = RR_EXPLORED_STOPPED;
		return RR_GO_ON;
	}
	if (search->end != RR_GRAPH_FIRST) {
		search->result = &of_mutant;
		going = search->property->judge(search);
		search->result = result;
	}
	if (of_mutant.error.kind)
		result->error = of_mutant.error;
	rr_explore_release(&of_mutant);
	if (going != RR_GO_ON)
		return going;
	mutant->breaks = search->graph.breaks;
	mutant->fails = search->end == RR_GRAPH_FIRST || search->graph.breaks;
	return RR_GO_ON;
}

bool rr_search_try_mutants(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;

	search->bounds.most = 2 * result->states + 5000;
	search->bounds.memory = 0;
	search->bounds.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION;
	for (size_t i = 0; i < search->n_mutations; i++) {
		struct rr_mutant_result *mutant = &result->mutants[result->n_mutants];
		struct rr_mutation *mutation = &search->mutations[i];
		bool good;

		if (rr_deadline_is_over(&search->deadline, "guards were weakened") ||
		    search->deadline.cut) {
			if (search->config->strategy)
				result->explored = RR_EXPLORED_STOPPED;
			break;
		}
		result->n_mutants++;
		rr_mutant_text(mutation, mutant);
		search->program.mutate = rr_mutant_apply;
		search->program.mutate_context = mutation;
		search->program.without_mutex = mutation->how == RR_MUTANT_NO_MUTEX;
		/* Does it fail in the bounds of the whole, which are wider than what it took? */
		good = rr_search_run(search, conclude_mutant, mutant);
		search->program.mutate = NULL;
		search->program.without_mutex = false;
		if (!good) {
			if (search->config->strategy)
				return false;
			/* A program may hang, or do what cannot be judged, after replies that
			 * it was not written for. */
			result->error.kind = RR_ERROR_NONE;
			result->n_mutants--;
			break;
		}
		if (mutant->fails && !result->noticed[0])
			memcpy(result->noticed, mutant->name, sizeof(result->noticed));
		if (result->explored == RR_EXPLORED_STOPPED ||
		    (result->noticed[0] && !search->config->all_mutants))
			break;
	}
	return true;
}

const struct rr_property rr_invariants = {
	.server = "data",
	.open = open_strategy,
	.verify = verify_strategy,
	.judge = judge_invariants,
	.show = show_failure,
	.confirm = confirm_strategy,
};

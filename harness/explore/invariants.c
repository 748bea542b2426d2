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

static bool check_strategy(struct rr_search *search)
{
	const char *lacking = rr_strategy_lacking(search->config->strategy, &search->addresses[0],
						  "spare");

	return !lacking || rr_error_set(&search->result->error, RR_ERROR_SKIPPED, "%s", lacking);
}

static bool open_strategy(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_product_config *wanted = &search->wanted;

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
	return check_strategy(search);
}

/* Are histories of clients one state that are taken for one? */
static bool verify_histories(struct rr_search *search)
{
	for (size_t i = 0; i < search->product.n_clients; i++) {
		struct rr_client_table *table = rr_product_client_table(&search->product, i);
		const uint64_t n_runs = table ? table->n_runs : 0;

		if (!table)
			continue;
		if (!rr_learning_verify(table))
			return rr_search_fail(search, &table->error);
		search->result->stats.checked_clients += table->n_runs - n_runs;
		if (table->learning.has_changed)
			search->learned |= rr_learned_bit(RR_LEARNED_HISTORIES);
	}
	return true;
}

/* Is there no end to what a client does? */
static void note_endless(struct rr_search *search)
{
	for (size_t i = 0; search->product.clients && i < search->product.n_clients; i++) {
		if (search->product.clients[i].table &&
		    search->product.clients[i].table->learning.is_bounded)
			search->learned |= rr_learned_bit(RR_LEARNED_ALL_HISTORIES);
	}
}

/* Does each client do what the first one does? */
static void verify_equality(struct rr_search *search)
{
	bool are_equal = true;

	for (size_t i = 1; i < search->product.n_clients && search->program.sent_as_own; i++)
		are_equal = are_equal && rr_client_view_verify(&search->product.clients[i]);
	if (!are_equal)
		search->learned |= rr_learned_bit(RR_LEARNED_NOT_EQUAL);
}

static bool verify_strategy(struct rr_search *search)
{
	if (search->end == RR_GRAPH_FAILED) {
		note_endless(search);
		return true;
	}
	if (search->program.mutate)
		return true;
	verify_equality(search);
	return search->program.learning & RR_LEARN_NOTHING || verify_histories(search);
}

/* ---- What is found -------------------------------------------------------------- */

static bool judge_invariants(struct rr_search *search)
{
	rr_graph_analyse(&search->graph);
	return true;
}

/* Why that is a failure, if the data server can tell. */
static void explain(struct rr_search *search, const struct rr_schedule *schedule,
		    const size_t *steps)
{
	struct rr_outcome *finding = &search->result->findings[0];
	struct rr_contents contents = { .table = &search->tables[0] };
	struct rr_why why;

	if (search->config->all)
		return;
	why = rr_why_find(&(struct rr_why_question){
		.program = &search->program,
		.contents = &contents,
		.actions = &schedule->actions,
		.steps = steps,
		.end = schedule->end[0],
		.nearest = RR_NO_ID,
		.found = (schedule->broken & RR_BREAKS_COUNT ? RR_OUTCOME_NOT_SERIAL : 0) |
			 (schedule->broken & RR_BREAKS_EXCLUSION ? RR_OUTCOME_EXCLUSION : 0),
	});
	rr_contents_release(&contents);
	*finding = (struct rr_outcome){ .why = why.text, .anomaly = why.name };
	search->result->n_findings = 1;
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

static bool show_failure(struct rr_search *search, const struct rr_schedule *schedule)
{
	size_t *steps = rr_calloc(schedule->actions.n + 1, sizeof(*steps));
	char title[120];

	snprintf(title, sizeof(title), "%s: found by redrace explore",
		 search->config->strategy->name);
	search->result->transcript = rr_actions_transcript(
		&search->product, &search->scripts, &schedule->actions,
		&(struct rr_transcript_headings){ .title = title,
						  .shows = sum_up(search->result->shortest_breaks),
						  .steps = steps });
	explain(search, schedule, steps);
	free(steps);
	return true;
}

bool rr_search_conclude_walks(struct rr_search *search, void *unused)
{
	struct rr_schedule schedule = { 0 };
	bool good = true;

	(void)unused;
	if (search->end == RR_GRAPH_STOPPED)
		search->result->explored = RR_EXPLORED_STOPPED;
	search->result->bound = rr_walks_bound(search->walks, search->result->schedules);
	if (search->result->failing)
		good = rr_walks_shortest(search->walks, &schedule) ?
			       rr_search_show(search, &schedule) :
			       rr_search_fail(search, &search->product.error);
	rr_schedule_release(&schedule);
	return good;
}

/* ---- Mutants -------------------------------------------------------------- */

void rr_search_list_mutants(struct rr_search *search)
{
	search->mutations = rr_calloc(RR_MUTANTS_MAX, sizeof(*search->mutations));
	search->n_mutations = rr_mutants_list(&search->product, &search->scripts,
					      search->mutations);
}

static bool is_same_draw(struct rr_search *search, unsigned draw)
{
	for (size_t i = 0; i < search->product.n_clients; i++) {
		struct rr_client_table *table = rr_product_client_table(&search->product, i);

		if (table && !rr_client_table_is_same_draw(table, draw, DRAWN_ATTEMPTS))
			return false;
	}
	return true;
}

/* Nothing was found with the random values that were drawn. If clients do something else
 * with others, the search begins anew with these, some times. */
static void compare_draws(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	unsigned draw = search->program.draw + 1;

	while (draw < DRAWS && is_same_draw(search, draw))
		draw++;
	result->stats.draws = DRAWS;
	if (draw < DRAWS && search->draws_that_differ < DRAWS_SEARCHED) {
		search->program.draw = draw;
		search->learned |= rr_learned_bit(RR_LEARNED_DRAW);
	}
	search->draws_that_differ += draw < DRAWS;
	if (search->draws_that_differ && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_DRAWS;
}

static bool confirm_strategy(struct rr_search *search)
{
	if (!search->config->all)
		compare_draws(search);
	if (!search->learned)
		rr_search_list_mutants(search);
	return true;
}

/* What a mutant's final states are counts for nothing else. */
static bool judge_mutant(struct rr_search *search)
{
	struct rr_explore_result *result = search->result, of_mutant = { .explored = 0 };
	bool good;

	search->result = &of_mutant;
	good = search->property->judge(search);
	search->result = result;
	if (!good)
		result->error = of_mutant.error;
	rr_explore_release(&of_mutant);
	return good;
}

static bool conclude_mutant(struct rr_search *search, void *context)
{
	struct rr_mutant_result *mutant = context;

	if (search->end == RR_GRAPH_STOPPED) {
		if (search->config->strategy)
			search->result->explored = RR_EXPLORED_STOPPED;
		return true;
	}
	if (search->end != RR_GRAPH_FIRST && !judge_mutant(search))
		return false;
	if (search->learned)
		return true;
	mutant->breaks = search->graph.breaks;
	mutant->fails = search->end == RR_GRAPH_FIRST || search->graph.breaks;
	return true;
}

/* Does it fail in the bounds of the whole, which are wider than what it took? */
static bool try_mutant(struct rr_search *search, struct rr_mutation *mutation,
		       struct rr_mutant_result *mutant)
{
	bool good;

	rr_mutant_text(mutation, mutant);
	search->program.mutate = rr_mutant_apply;
	search->program.mutate_context = mutation;
	search->program.without_mutex = mutation->how == RR_MUTANT_NO_MUTEX;
	good = rr_search_run(search, conclude_mutant, mutant);
	search->program.mutate = NULL;
	search->program.without_mutex = false;
	return good;
}

bool rr_search_try_mutants(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;

	search->bounds.most = 2 * result->states + 5000;
	search->bounds.memory = 0;
	search->bounds.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION;
	for (size_t i = 0; i < search->n_mutations; i++) {
		struct rr_mutant_result *mutant = &result->mutants[result->n_mutants];

		if (rr_search_is_called_off(search, "guards were weakened") || search->cut) {
			if (search->config->strategy)
				result->explored = RR_EXPLORED_STOPPED;
			break;
		}
		result->n_mutants++;
		if (!try_mutant(search, &search->mutations[i], mutant)) {
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

/* SPDX-License-Identifier: MIT */
/* Programs of others: can their interleavings end in a way that no serial order of them
 * does? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "explorer.h"
#include "outcomes.h"
#include "polling.h"

enum {
	SERIAL_MOST = 2000000, /* states of serial orders */
	SEARCHES_MAX = 12      /* until nothing new is learned of the programs */
};

/* What was learned of a command whose reply is random holds no longer than that. */
bool rr_outcomes_fail(struct rr_outcomes *outcomes, const struct rr_error *error)
{
	const char *command = outcomes->has_table ? outcomes->table.random_command :
						    outcomes->random_command;

	if (command && error->kind == RR_ERROR_INTERNAL)
		return rr_error_set(
			outcomes->error, RR_ERROR_DATA,
			"%s was answered in two ways, because its reply is random: a program that uses it can be checked only where the reply leaves no choice",
			command);
	return rr_error_set(outcomes->error, error->kind, "%s", error->text);
}

/* ---- Making ----------------------------------------------------------------- */

/* What is no step of a program is answered by a real server, once. */
static uint32_t answer_setup_command(void *context, int server, const struct rl_command *command)
{
	struct rr_outcomes *outcomes = context;
	const uint32_t id = rr_terms_command(&outcomes->terms, command);
	const uint32_t known = rr_intern_find(&outcomes->asked, &id, sizeof(id));
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	uint32_t number;

	(void)server;
	if (known != RR_NO_ID)
		return outcomes->answers[known];
	rr_array_grow(&outcomes->answers, outcomes->asked.n, sizeof(*outcomes->answers));
	rr_asker_run(outcomes->table.asker, &reply, command);
	if (command->n_words == 3 && reply.type == RL_REPLY_STRING)
		rr_scripts_add(&outcomes->scripts, reply.text, command->words[2].text,
			       command->words[2].length);
	number = rr_intern_put(&outcomes->asked, &id, sizeof(id), NULL);
	outcomes->answers[number] = rr_terms_reply(&outcomes->terms, &reply);
	outcomes->table.at = RR_NO_ID;
	return outcomes->answers[number];
}

static bool start_server(struct rr_outcomes *outcomes)
{
	const struct rr_server_options plain = { 0 };
	int server;

	rr_cluster_reset(outcomes->cluster);
	if (!rr_cluster_declare(outcomes->cluster, "redis", &plain, &server, outcomes->error) ||
	    !rr_cluster_start(outcomes->cluster, outcomes->error))
		return false;
	outcomes->address = *rr_cluster_address(outcomes->cluster, server);
	return true;
}

static void prepare_programs(struct rr_outcomes *outcomes)
{
	const struct rr_outcomes_config *config = outcomes->config;

	outcomes->scripts.first = config->given;
	outcomes->scripts.n_first = config->n_given;
	outcomes->program = (struct rr_program){
		.n_clients = config->n_clients,
		.n_servers = 1,
		.addresses = &outcomes->address,
		.separate = true,
		.terms = &outcomes->terms,
		.stacks = &outcomes->stacks,
		.ask = answer_setup_command,
		.ask_context = outcomes,
	};
	config->programs.init(config->programs.context, &outcomes->program);
	outcomes->config_of_product = (struct rr_product_config){
		.program = &outcomes->program,
		.increments = 1,
		.budget = config->budget,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
		.day_ns = RR_CLUSTER_START_NS,
		.rounds = config->rounds,
		.reads_clock = true,
		.is_local_first = true,
	};
}

static bool make_table(struct rr_outcomes *outcomes)
{
	if (outcomes->has_table)
		return true;
	outcomes->has_table = true;
	return rr_server_table_init(&outcomes->table, outcomes->cluster, 0, &outcomes->terms,
				    &outcomes->scripts, "", outcomes->config_of_product.absolute) ||
	       rr_outcomes_fail(outcomes, &outcomes->table.error);
}

void rr_outcomes_release_table(struct rr_outcomes *outcomes)
{
	if (outcomes->has_table) {
		outcomes->random_command = outcomes->table.random_command;
		rr_server_table_release(&outcomes->table);
	}
	outcomes->has_table = false;
}

void rr_way_release(struct rr_way *way)
{
	free(way->actions.all);
	free(way->words);
	*way = (struct rr_way){ .words = NULL };
}

static void release_search(struct rr_outcomes *outcomes)
{
	rr_judge_release(&outcomes->judge);
	rr_way_release(&outcomes->followed);
	rr_graph_release(&outcomes->graph);
	rr_product_release(&outcomes->product);
}

static void release_explorer(struct rr_outcomes *outcomes)
{
	release_search(outcomes);
	rr_outcomes_release_table(outcomes);
	rr_terms_release(&outcomes->terms);
	rr_stacks_release(&outcomes->stacks);
	rr_scripts_release(&outcomes->scripts);
	rr_intern_release(&outcomes->asked);
	free(outcomes->answers);
}

/* ---- Searching ---------------------------------------------------------------- */

/* Serial orders are looked at, too: what they are compared with. */
static void follow_schedule(struct rr_outcomes *outcomes)
{
	struct rr_way *way = &outcomes->followed;
	struct rr_product *product = &outcomes->product;

	if (!rr_product_follow(product, outcomes->config->schedule, &way->actions, way->end,
			       &way->broken, &product->error))
		return;
	way->words = strdup(outcomes->config->schedule);
	outcomes->end = RR_GRAPH_WHOLE;
}

/* What a failed search failed of: its product, unless programs are to be asked
 * first, or it has to begin anew. */
static bool search_states(struct rr_outcomes *outcomes)
{
	const struct rr_outcomes_config *config = outcomes->config;
	const struct rr_graph_config bounds = {
		.most = config->most,
		.memory = config->memory ? config->memory : rr_default_memory(),
		.progress = config->progress,
		.context = config->context,
	};

	outcomes->end = RR_GRAPH_FAILED;
	if (!config->programs.begin_search(config->programs.context))
		return rr_error_no_memory(outcomes->error);
	if (!make_table(outcomes))
		return false;
	if (!rr_product_init(&outcomes->product, &outcomes->config_of_product, &outcomes->table,
			     NULL))
		return true;
	if (config->schedule)
		follow_schedule(outcomes);
	else
		outcomes->end = rr_graph_explore(&outcomes->graph, &outcomes->product, &bounds);
	return true;
}

/* Has it to begin anew, for what was learned on the way? */
static bool has_to_repeat(struct rr_outcomes *outcomes, size_t n_scripts, bool *again)
{
	const struct rr_outcomes_programs *programs = &outcomes->config->programs;
	struct rr_product_config *config = &outcomes->config_of_product;
	struct rr_error error = { 0 };

	*again = outcomes->end == RR_GRAPH_AGAIN;
	if (outcomes->product.wants_absolute && !config->absolute) {
		config->absolute = true;
		rr_outcomes_release_table(outcomes);
		*again = true;
	}
	if (outcomes->table.lacked_script && outcomes->scripts.n > n_scripts) {
		rr_outcomes_release_table(outcomes);
		*again = true;
	}
	if (*again || outcomes->end == RR_GRAPH_STOPPED)
		return true;
	if (!programs->verify(programs->context, again, &error))
		return rr_outcomes_fail(outcomes, &error);
	if (!*again && outcomes->end == RR_GRAPH_FAILED)
		return rr_outcomes_fail(outcomes, &outcomes->product.error);
	if (outcomes->end == RR_GRAPH_MEMORY && outcomes->graph.out_of_memory)
		return rr_error_no_memory(outcomes->error);
	return true;
}

static bool search_until_known(struct rr_outcomes *outcomes)
{
	bool again = true;

	for (int i = 0; again; i++) {
		const size_t n_scripts = outcomes->scripts.n;

		if (i == SEARCHES_MAX)
			return rr_error_set(outcomes->error, RR_ERROR_INTERNAL,
					    "the programs behaved differently in each search");
		release_search(outcomes);
		if (!search_states(outcomes) || !has_to_repeat(outcomes, n_scripts, &again))
			return false;
	}
	return true;
}

/* ---- Judging -------------------------------------------------------------------- */

static bool fail_to_judge(struct rr_outcomes *outcomes)
{
	return rr_outcomes_fail(outcomes, &outcomes->judge.error);
}

/* All final states of a search. */
static bool judge_graph(struct rr_outcomes *outcomes)
{
	struct rr_graph *graph = &outcomes->graph;
	struct rr_outcomes_result *result = outcomes->result;
	struct rr_judgement judgement;

	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (!(graph->flags[i] & RR_STATE_FINAL))
			continue;
		if (!rr_judge_final(&outcomes->judge, rr_graph_key(graph, i), &judgement))
			return fail_to_judge(outcomes);
		result->finals++;
		result->ever_well |= rr_serial_good(&outcomes->product, rr_graph_key(graph, i));
		result->odd_outputs += judgement.has_odd_outputs;
		if (!judgement.found)
			continue;
		graph->flags[i] |= RR_STATE_WRONG;
		graph->breaks |= RR_BREAKS_COUNT;
		result->wrong++;
	}
	if (outcomes->end != RR_GRAPH_STOPPED && !rr_graph_follow_polling(graph))
		return rr_outcomes_fail(outcomes, &outcomes->product.error);
	return rr_graph_analyse(graph) || rr_error_no_memory(outcomes->error);
}

bool rr_outcomes_have_ended(const struct rr_outcomes *outcomes, const uint32_t *key)
{
	const struct rr_product *product = &outcomes->product;

	for (size_t i = 0; i < product->n_clients; i++) {
		if (!rr_product_part(product, key, i)->is_crashed &&
		    !rr_product_client(product, key, i)->has_ended)
			return false;
	}
	return true;
}

/* The one to which the schedule leads. */
static bool judge_way(struct rr_outcomes *outcomes)
{
	const struct rr_way *way = &outcomes->followed;
	struct rr_judgement judgement;

	if (!rr_outcomes_have_ended(outcomes, way->end)) {
		outcomes->graph.breaks = RR_STARVES | (way->broken & RR_BREAKS_EXCLUSION);
		return true;
	}
	if (!rr_judge_final(&outcomes->judge, way->end, &judgement))
		return fail_to_judge(outcomes);
	outcomes->result->finals = 1;
	outcomes->result->wrong = judgement.found != 0;
	outcomes->graph.breaks = (way->broken & RR_BREAKS_EXCLUSION) |
				 (judgement.found ? RR_BREAKS_COUNT : 0);
	return true;
}

/* Programs without an end have serial orders without an end. */
static unsigned long serial_most(const struct rr_outcomes *outcomes)
{
	return outcomes->end == RR_GRAPH_WHOLE || outcomes->end == RR_GRAPH_CUT ? SERIAL_MOST : 0;
}

/* *again: something new was learned of the checker. */
static bool judge_once(struct rr_outcomes *outcomes, bool *again)
{
	const struct rr_outcomes_programs *checker = &outcomes->config->checker;
	bool good;

	*again = false;
	rr_judge_release(&outcomes->judge);
	good = rr_judge_init(&outcomes->judge, outcomes->config, &outcomes->product,
			     &outcomes->program, serial_most(outcomes)) ?
		       (outcomes->config->schedule ? judge_way(outcomes) : judge_graph(outcomes)) :
		       fail_to_judge(outcomes);
	if (!checker->init)
		return good;
	if (!good)
		outcomes->error->kind = RR_ERROR_NONE;
	if (!checker->verify(checker->context, again, outcomes->error))
		return false;
	return good || *again || fail_to_judge(outcomes);
}

static bool judge_finals(struct rr_outcomes *outcomes)
{
	bool again = true;

	for (int i = 0; i < SEARCHES_MAX && again; i++) {
		outcomes->result->finals = outcomes->result->wrong = 0;
		outcomes->result->ever_well = 0;
		outcomes->result->odd_outputs = 0;
		if (!judge_once(outcomes, &again))
			return false;
	}
	return true;
}

static void note_search(struct rr_outcomes *outcomes)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,       [RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,       [RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
		[RR_GRAPH_STOPPED] = RR_EXPLORED_STOPPED, [RR_GRAPH_FIRST] = RR_EXPLORED_ALL,
		[RR_GRAPH_AGAIN] = RR_EXPLORED_ALL,       [RR_GRAPH_ENDLESS] = RR_EXPLORED_ALL,
		[RR_GRAPH_FAILED] = RR_EXPLORED_ALL,
	};
	struct rr_outcomes_result *result = outcomes->result;
	const unsigned breaks = outcomes->graph.breaks;

	result->explored = explored[outcomes->end];
	if (outcomes->judge.serial.is_cut && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_MOST;
	if (outcomes->table.random_command && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
	result->states = outcomes->graph.states.n;
	result->transitions = outcomes->graph.n_edges;
	result->bytes_per_state = result->states ?
					  rr_graph_bytes(&outcomes->graph) / result->states :
					  0;
	result->questions = outcomes->table.n_asked;
	result->found = 0;
	if (breaks & RR_BREAKS_COUNT)
		result->found |= RR_OUTCOME_NOT_SERIAL;
	if (breaks & RR_BREAKS_EXCLUSION)
		result->found |= RR_OUTCOME_EXCLUSION;
	if (breaks & (RR_DEADLOCKS | RR_STARVES))
		result->found |= RR_OUTCOME_STUCK;
}

static bool conclude_search(struct rr_outcomes *outcomes)
{
	note_search(outcomes);
	if (outcomes->config->schedule)
		return rr_outcomes_show(outcomes, &outcomes->followed);
	if (outcomes->result->found)
		return rr_outcomes_show_finding(outcomes);
	return outcomes->result->explored == RR_EXPLORED_STOPPED || rr_outcomes_audit(outcomes);
}

/* The programs were interrupted: what was found so far is reported. */
static bool conclude_early(struct rr_outcomes *outcomes)
{
	struct rr_graph *graph = &outcomes->graph;

	*outcomes->error = (struct rr_error){ .kind = RR_ERROR_NONE };
	outcomes->product.error.kind = RR_ERROR_NONE;
	for (size_t i = 0; outcomes->product.clients && i < outcomes->config->n_clients; i++)
		outcomes->product.clients[i].error.kind = RR_ERROR_NONE;
	outcomes->end = RR_GRAPH_STOPPED;
	graph->breaks &= RR_BREAKS_EXCLUSION;
	graph->n_edges = graph->n_expanded ? graph->first[graph->n_expanded] : 0;
	if (graph->breaks)
		return judge_finals(outcomes) && conclude_search(outcomes);
	note_search(outcomes);
	return true;
}

static bool search_once(struct rr_outcomes *outcomes)
{
	const bool good = search_until_known(outcomes) && judge_finals(outcomes) &&
			  conclude_search(outcomes);

	return good || (outcomes->error->kind == RR_ERROR_INTERRUPTED && conclude_early(outcomes));
}

/* It is made anew. */
static void forget_result(struct rr_outcomes *outcomes)
{
	const double begun = outcomes->result->seconds;

	rr_outcomes_release(outcomes->result);
	outcomes->result->seconds = begun;
}

bool rr_explore_outcomes(struct rr_cluster *cluster, const struct rr_outcomes_config *config,
			 struct rr_outcomes_result *result, struct rr_error *error)
{
	struct rr_outcomes outcomes = {
		.cluster = cluster, .config = config, .result = result, .error = error
	};
	bool good;

	*result = (struct rr_outcomes_result){ .seconds = rr_clock_s() };
	outcomes.repeats = start_server(&outcomes);
	prepare_programs(&outcomes);
	good = outcomes.repeats;
	while (outcomes.repeats && error->kind == RR_ERROR_NONE) {
		outcomes.repeats = false;
		forget_result(&outcomes);
		good = search_once(&outcomes);
	}
	release_explorer(&outcomes);
	result->seconds = rr_clock_s() - result->seconds;
	return good;
}

void rr_outcomes_release(struct rr_outcomes_result *result)
{
	free(result->transcript);
	free(result->data);
	free(result->nearest);
	free(result->unexpected);
	free(result->words);
	*result = (struct rr_outcomes_result){ 0 };
}

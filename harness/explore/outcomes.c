/* SPDX-License-Identifier: MIT */
/* Programs of others: can their interleavings end in a way that no serial order of them
 * does? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "contents.h"
#include "explorer.h"
#include "serial.h"

enum {
	VERIFY_QUESTIONS = 600, /* of the server's */
	SERIAL_MOST = 2000000,  /* states of serial orders */
	SEARCHES_MAX = 12,      /* until nothing new is learned of the programs */
	KEYS_SHOWN = 6
};

struct explorer {
	struct rr_cluster *cluster;
	const struct rr_outcomes_config *config;
	struct rr_outcomes_result *result;
	struct rr_error *error;
	struct rl_address address;
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_intern asked; /* commands that were answered at once */
	uint32_t *answers;      /* by their numbers */
	struct rr_server_table table;
	bool has_table;
	const char *random_command; /* of the table that was there last */
	struct rr_program program;
	struct rr_product_config config_of_product;
	struct rr_product product;
	struct rr_graph graph;
	struct rr_serial serial;
	enum rr_graph_end end;
	bool repeats; /* something new was learned of the programs at the end */
};

/* What was learned of a command whose reply is random holds no longer than that. */
static bool fail_outcomes(struct explorer *explorer,
			  const struct rr_error *error)
{
	const char *command = explorer->has_table ?
				      explorer->table.random_command :
				      explorer->random_command;

	if (command && error->kind == RR_ERROR_INTERNAL)
		return rr_error_set(
			explorer->error, RR_ERROR_DATA,
			"%s was answered in two ways, for its reply is random: a program that uses it can be checked only where there is nothing to choose from",
			command);
	return rr_error_set(explorer->error, error->kind, "%s", error->text);
}

/* ---- Making ----------------------------------------------------------------- */

/* What is no step of a program is answered by a real server, once. */
static uint32_t answer_setup_command(void *context, int server,
				     const struct rl_command *command)
{
	struct explorer *explorer = context;
	const uint32_t id = rr_terms_command(&explorer->terms, command);
	const uint32_t known =
		rr_intern_find(&explorer->asked, &id, sizeof(id));
	struct rl_reply reply = { .type = RL_REPLY_NIL };
	uint32_t number;

	(void)server;
	if (known != RR_NO_ID)
		return explorer->answers[known];
	if (!rr_array_grow(&explorer->answers, explorer->asked.n,
			   sizeof(*explorer->answers)))
		return RR_NO_ID;
	rr_asker_run(explorer->table.asker, &reply, command);
	if (command->n_words == 3 && reply.type == RL_REPLY_STRING)
		rr_scripts_add(&explorer->scripts, reply.text,
			       command->words[2].text,
			       command->words[2].length);
	number = rr_intern_put(&explorer->asked, &id, sizeof(id), NULL);
	explorer->answers[number] = rr_terms_reply(&explorer->terms, &reply);
	explorer->table.at = RR_NO_ID;
	return explorer->answers[number];
}

static bool start_server(struct explorer *explorer)
{
	const struct rr_server_options plain = { 0 };
	int server;

	rr_cluster_reset(explorer->cluster);
	if (!rr_cluster_declare(explorer->cluster, "redis", &plain, &server,
				explorer->error) ||
	    !rr_cluster_start(explorer->cluster, explorer->error))
		return false;
	explorer->address = *rr_cluster_address(explorer->cluster, server);
	return true;
}

static void prepare_programs(struct explorer *explorer)
{
	const struct rr_outcomes_config *config = explorer->config;

	explorer->scripts.first = config->given;
	explorer->scripts.n_first = config->n_given;
	explorer->program = (struct rr_program){
		.n_clients = config->n_clients,
		.n_servers = 1,
		.addresses = &explorer->address,
		.separate = true,
		.terms = &explorer->terms,
		.stacks = &explorer->stacks,
		.ask = answer_setup_command,
		.ask_context = explorer,
	};
	config->programs.init(config->programs.context, &explorer->program);
	explorer->config_of_product = (struct rr_product_config){
		.program = &explorer->program,
		.increments = 1,
		.budget = config->budget,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
		.day_ns = RR_CLUSTER_START_NS,
		.rounds = config->rounds,
		.reads_clock = true,
		.is_local_first = true,
	};
}

static bool make_table(struct explorer *explorer)
{
	if (explorer->has_table)
		return true;
	explorer->has_table = true;
	return rr_server_table_init(&explorer->table, explorer->cluster, 0,
				    &explorer->terms, &explorer->scripts, "",
				    explorer->config_of_product.absolute) ||
	       fail_outcomes(explorer, &explorer->table.error);
}

static void release_table(struct explorer *explorer)
{
	if (explorer->has_table) {
		explorer->random_command = explorer->table.random_command;
		rr_server_table_release(&explorer->table);
	}
	explorer->has_table = false;
}

static void release_search(struct explorer *explorer)
{
	rr_serial_release(&explorer->serial);
	rr_graph_release(&explorer->graph);
	rr_product_release(&explorer->product);
}

static void release_explorer(struct explorer *explorer)
{
	release_search(explorer);
	release_table(explorer);
	rr_terms_release(&explorer->terms);
	rr_stacks_release(&explorer->stacks);
	rr_scripts_release(&explorer->scripts);
	rr_intern_release(&explorer->asked);
	free(explorer->answers);
}

/* ---- Searching ---------------------------------------------------------------- */

/* What a failed search failed of: its product, unless programs are to be asked
 * first, or it has to begin anew. */
static bool search_states(struct explorer *explorer)
{
	const struct rr_outcomes_config *config = explorer->config;
	const struct rr_graph_config bounds = {
		.most = config->most,
		.memory = config->memory ? config->memory :
					   rr_default_memory(),
		.progress = config->progress,
		.context = config->context,
	};

	explorer->end = RR_GRAPH_FAILED;
	if (!config->programs.begin_search(config->programs.context))
		return rr_error_no_memory(explorer->error);
	if (!make_table(explorer))
		return false;
	if (rr_product_init(&explorer->product, &explorer->config_of_product,
			    &explorer->table, NULL))
		explorer->end = rr_graph_explore(
			&explorer->graph, &explorer->product, &bounds);
	return true;
}

/* Has it to begin anew, for what was learned on the way? */
static bool has_to_repeat(struct explorer *explorer, size_t n_scripts,
			  bool *again)
{
	const struct rr_outcomes_programs *programs =
		&explorer->config->programs;
	struct rr_product_config *config = &explorer->config_of_product;
	struct rr_error error = { 0 };

	*again = explorer->end == RR_GRAPH_AGAIN;
	if (explorer->product.wants_absolute && !config->absolute) {
		config->absolute = true;
		release_table(explorer);
		*again = true;
	}
	if (explorer->table.lacked_script &&
	    explorer->scripts.n > n_scripts) {
		release_table(explorer);
		*again = true;
	}
	if (*again || explorer->end == RR_GRAPH_STOPPED)
		return true;
	if (!programs->verify(programs->context, again, &error))
		return fail_outcomes(explorer, &error);
	if (!*again && explorer->end == RR_GRAPH_FAILED)
		return fail_outcomes(explorer, &explorer->product.error);
	if (explorer->end == RR_GRAPH_MEMORY && explorer->graph.out_of_memory)
		return rr_error_no_memory(explorer->error);
	return true;
}

static bool search_until_known(struct explorer *explorer)
{
	bool again = true;

	for (int i = 0; again; i++) {
		const size_t n_scripts = explorer->scripts.n;

		if (i == SEARCHES_MAX)
			return rr_error_set(
				explorer->error, RR_ERROR_INTERNAL,
				"the programs were another each time they were searched");
		release_search(explorer);
		if (!search_states(explorer) ||
		    !has_to_repeat(explorer, n_scripts, &again))
			return false;
	}
	return true;
}

/* ---- Judging -------------------------------------------------------------------- */

static bool judge_finals(struct explorer *explorer)
{
	struct rr_graph *graph = &explorer->graph;
	struct rr_outcomes_result *result = explorer->result;
	uint32_t nearest;

	/* Programs without an end have serial orders without an end. */
	if (explorer->end != RR_GRAPH_WHOLE && explorer->end != RR_GRAPH_CUT)
		return true;
	if (!rr_serial_learn(&explorer->serial, &explorer->product,
			     SERIAL_MOST, explorer->config->is_atomic))
		return fail_outcomes(explorer, &explorer->product.error) ||
		       rr_error_no_memory(explorer->error);
	for (uint32_t i = 0; i < graph->n_expanded; i++) {
		if (!(graph->flags[i] & RR_STATE_FINAL))
			continue;
		result->finals++;
		result->ever_well |= rr_serial_good(&explorer->product,
						    rr_graph_key(graph, i));
		if (explorer->serial.is_cut ||
		    rr_serial_allows(&explorer->serial, &explorer->product,
				     rr_graph_key(graph, i), &nearest))
			continue;
		graph->flags[i] |= RR_STATE_WRONG;
		graph->breaks |= RR_BREAKS_COUNT;
		result->wrong++;
	}
	result->serial_ends = explorer->serial.ends.n;
	if (explorer->table.error.kind)
		return fail_outcomes(explorer, &explorer->table.error);
	return rr_graph_analyse(graph) || rr_error_no_memory(explorer->error);
}

static void note_search(struct explorer *explorer)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,
		[RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,
		[RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
		[RR_GRAPH_STOPPED] = RR_EXPLORED_STOPPED,
		[RR_GRAPH_FIRST] = RR_EXPLORED_ALL,
		[RR_GRAPH_AGAIN] = RR_EXPLORED_ALL,
		[RR_GRAPH_ENDLESS] = RR_EXPLORED_ALL,
		[RR_GRAPH_FAILED] = RR_EXPLORED_ALL,
	};
	struct rr_outcomes_result *result = explorer->result;
	const unsigned breaks = explorer->graph.breaks;

	result->explored = explored[explorer->end];
	if (explorer->serial.is_cut && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_MOST;
	if (explorer->table.random_command &&
	    result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
	result->states = explorer->graph.states.n;
	result->transitions = explorer->graph.n_edges;
	result->questions = explorer->table.n_asked;
	result->found = 0;
	if (breaks & RR_BREAKS_COUNT)
		result->found |= RR_OUTCOME_NOT_SERIAL;
	if (breaks & RR_BREAKS_EXCLUSION)
		result->found |= RR_OUTCOME_EXCLUSION;
	if (breaks & (RR_DEADLOCKS | RR_STARVES))
		result->found |= RR_OUTCOME_STUCK;
}

/* ---- Findings --------------------------------------------------------------------- */

static struct rr_execution *open_execution(struct explorer *explorer)
{
	rr_asker_reset(explorer->table.asker);
	explorer->table.at = RR_NO_ID;
	return rr_execution_new(&(struct rr_execution_config){
		.program = &explorer->program,
		.cluster = explorer->cluster,
		.scripts = &explorer->scripts });
}

/* The programs themselves, all at once, and a real server. */
static bool play_for_real(struct explorer *explorer,
			  const struct rr_actions *actions)
{
	const struct rr_outcomes_programs *programs =
		&explorer->config->programs;
	struct rr_execution *execution = open_execution(explorer);
	bool good;

	if (!execution)
		return rr_error_no_memory(explorer->error);
	programs->set_live(programs->context, true);
	good = rr_execution_replay(execution, actions);
	if (!good && programs->verify(programs->context, &explorer->repeats,
				      explorer->error) &&
	    !explorer->repeats)
		fail_outcomes(explorer, rr_execution_error(execution));
	rr_execution_free(execution);
	programs->set_live(programs->context, false);
	return good;
}

/* Where a path leads to. */
static uint32_t end_of_path(const struct rr_graph *graph,
			   const struct rr_path *path)
{
	return path->n ? graph->edges[path->edges[path->n - 1]].to : 0;
}

/* A path as a transcript, and what it ends with. */
static bool tell_finding(struct explorer *explorer, const struct rr_path *path,
			 const struct rr_actions *actions)
{
	struct rr_outcomes_result *result = explorer->result;
	struct rr_product *product = &explorer->product;
	const uint32_t *key = rr_graph_key(&explorer->graph,
					   end_of_path(&explorer->graph, path));
	const uint32_t server = key[0];
	const char **keys;
	size_t n_keys = rr_contents_keys(&explorer->table, server, &keys);
	uint32_t nearest = RR_NO_ID;

	result->switches = path->switches;
	result->ended_well = rr_serial_good(product, key);
	result->data = rr_contents_text(&explorer->table, server, false);
	if (!rr_serial_allows(&explorer->serial, product, key, &nearest) &&
	    nearest != RR_NO_ID) {
		const struct rr_serial_end *end =
			rr_intern_get(&explorer->serial.ends, nearest);

		result->nearest = rr_contents_text(&explorer->table, end->server,
						   false);
	}
	for (size_t i = 0; i < product->n_clients; i++)
		result->endings[i] =
			rr_product_part(product, key, i)->is_crashed ?
				-1 :
				(int)rr_product_client(product, key, i)
					->tally.ending;
	result->transcript = rr_actions_transcript(
		product, &explorer->scripts, actions, explorer->config->title,
		keys, n_keys < KEYS_SHOWN ? n_keys : KEYS_SHOWN);
	free(keys);
	return result->transcript || rr_error_no_memory(explorer->error);
}

/* With its verdict: what comes of playing it. */
static bool conclude_transcript(struct explorer *explorer)
{
	struct rr_outcomes_result *result = explorer->result;
	struct rr_error why = { 0 };
	char *concluded = rr_conclude(result->transcript, 0, explorer->cluster,
				      &why);

	if (!concluded)
		return fail_outcomes(explorer, &why);
	free(result->transcript);
	result->transcript = concluded;
	return true;
}

static bool show_finding(struct explorer *explorer)
{
	struct rr_graph *graph = &explorer->graph;
	const unsigned breaks = graph->breaks;
	const unsigned worst = breaks & RR_BREAKS_COUNT ? RR_BREAKS_COUNT :
							  breaks & (~breaks + 1);
	struct rr_actions actions = { 0 };
	struct rr_path path = { 0 };
	bool good;

	if (!rr_graph_shortest(graph, worst, &path) ||
	    !rr_graph_actions(graph, &path, &actions))
		good = rr_error_set(explorer->error, RR_ERROR_INTERNAL,
				    "a path through the states is gone");
	else
		good = tell_finding(explorer, &path, &actions) &&
		       play_for_real(explorer, &actions);
	free(actions.all);
	rr_path_release(&path);
	release_table(explorer);
	return good && conclude_transcript(explorer);
}

/* ---- Without a finding ------------------------------------------------------------- */

static bool audit_paths(struct explorer *explorer)
{
	struct rr_path path = { 0 };
	bool good = true;

	for (unsigned long i = 0; i < explorer->config->audit && good; i++) {
		struct rr_actions actions = { 0 };

		good = rr_graph_random_path(&explorer->graph, i + 1, &path) &&
		       rr_graph_actions(&explorer->graph, &path, &actions) &&
		       play_for_real(explorer, &actions);
		free(actions.all);
	}
	rr_path_release(&path);
	return good;
}

static bool check_tables(struct explorer *explorer)
{
	unsigned long n = 0;

	if (rr_server_table_verify(&explorer->table, VERIFY_QUESTIONS, &n))
		return fail_outcomes(explorer, &explorer->table.error);
	return audit_paths(explorer);
}

static bool conclude_search(struct explorer *explorer)
{
	note_search(explorer);
	if (explorer->result->found)
		return show_finding(explorer);
	return explorer->result->explored == RR_EXPLORED_STOPPED ||
	       check_tables(explorer);
}

/* It is made anew. */
static void forget_result(struct explorer *explorer)
{
	const double begun = explorer->result->seconds;

	rr_outcomes_release(explorer->result);
	explorer->result->seconds = begun;
}

bool rr_explore_outcomes(struct rr_cluster *cluster,
			 const struct rr_outcomes_config *config,
			 struct rr_outcomes_result *result,
			 struct rr_error *error)
{
	struct explorer explorer = { .cluster = cluster,
				     .config = config,
				     .result = result,
				     .error = error };
	bool good;

	*result = (struct rr_outcomes_result){ .seconds = rr_clock_s() };
	explorer.repeats = start_server(&explorer);
	prepare_programs(&explorer);
	good = explorer.repeats;
	while (explorer.repeats && error->kind == RR_ERROR_NONE) {
		explorer.repeats = false;
		forget_result(&explorer);
		good = search_until_known(&explorer) &&
		       judge_finals(&explorer) && conclude_search(&explorer);
	}
	release_explorer(&explorer);
	result->seconds = rr_clock_s() - result->seconds;
	return good;
}

void rr_outcomes_release(struct rr_outcomes_result *result)
{
	free(result->transcript);
	free(result->data);
	free(result->nearest);
	*result = (struct rr_outcomes_result){ 0 };
}

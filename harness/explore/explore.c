/* SPDX-License-Identifier: MIT */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scheduler/counting.h"
#include "scheduler/execution.h"
#include "explore_transcript.h"
#include "graph.h"
#include "link.h"
#include "mutants.h"
#include "play/recorder.h"
#include "report.h"
#include "walks.h"

enum {
	VERIFY_CLIENTS = 1500, /* runs, of each client */
	VERIFY_SERVERS = 600, /* questions, of each table */
};

/* What is made once, for a strategy and all of its mutants. */
struct explorer {
	struct rr_cluster *cluster;
	const struct rr_explore_config *config;
	struct rr_explore_result *result;
	struct rl_address addresses[RR_PRODUCT_SERVERS];
	struct rr_terms terms;
	struct rr_stacks stacks;
	struct rr_scripts scripts;
	struct rr_intern asked;  /* commands that were answered at once */
	uint32_t *answers;       /* by their numbers */
	struct rr_server_table tables[2];
	bool has_tables;
	struct rr_counting counting;
	struct rr_program program;
	struct rr_product_config product;
};

/* One search. */
struct search {
	struct rr_product product;
	struct rr_graph graph;
	enum rr_graph_end end;
};

static enum rr_exit fail(struct explorer *explorer, enum rr_exit code,
			 const char *why)
{
	snprintf(explorer->result->error, RR_CLUSTER_ERROR, "%.*s",
		 RR_CLUSTER_ERROR - 1, why);
	return code;
}

static enum rr_exit fail_with(struct explorer *explorer,
			      const struct rr_error *error)
{
	return fail(explorer, rr_exit_of(error->kind), error->text);
}

const char *rr_invariant_name(int bit)
{
	static const char *const names[RR_INVARIANTS] = {
		"count",     "exclusion", "lease",
		"ownership", "deadlock",  "starvation"
	};

	return names[bit];
}

static size_t n_servers_of(const struct rr_explore_config *config)
{
	const size_t own = config->strategy->lock.servers;

	return 1 + (own && config->lock_servers ? config->lock_servers : own);
}

/* ---- Commands that nobody else can notice --------------------------------- */

static void keep_script(struct explorer *explorer,
			const struct rl_command *command,
			const struct rl_reply *reply)
{
	if (command->n_words == 3 && reply->type == RL_REPLY_STRING)
		rr_scripts_add(&explorer->scripts, reply->text,
			       command->words[2].text,
			       command->words[2].length);
}

/* Answered by a real server, once. */
static uint32_t answer_at_once(void *context, int server,
			       const struct rl_command *command)
{
	struct explorer *explorer = context;
	struct rr_server_table *table = &explorer->tables[server > 0];
	const uint32_t id = rr_terms_command(&explorer->terms, command);
	bool is_new;
	const uint32_t number = rr_intern_put(&explorer->asked, &id, sizeof(id),
					      &is_new);
	struct rl_reply reply;
	uint32_t *answers;

	if (!is_new)
		return explorer->answers[number];
	answers = realloc(explorer->answers,
			  ((size_t)number + 1) * sizeof(*answers));
	if (!answers)
		return RR_NO_ID;
	explorer->answers = answers;
	if (!rr_asker_run(table->asker, &reply, command))
		reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	keep_script(explorer, command, &reply);
	answers[number] = rr_terms_reply(&explorer->terms, &reply);
	table->at = RR_NO_ID; /* after a restart it would not know the script */
	return answers[number];
}

/* ---- Making --------------------------------------------------------------- */

static enum rr_exit start_servers(struct explorer *explorer)
{
	const struct rr_server_options plain = { 0 };
	struct rr_cluster *cluster = explorer->cluster;
	const size_t n = n_servers_of(explorer->config);
	struct rr_error error = { 0 };
	bool good = true;

	rr_cluster_reset(cluster);
	for (size_t i = 0; i < n && good; i++) {
		char name[RR_SERVER_NAME];
		int server;

		rr_recorder_server_name(name, "data", i);
		good = rr_cluster_declare(cluster, name, &plain, &server,
					  &error);
	}
	if (!good || !rr_cluster_start(cluster, &error))
		return fail(explorer, rr_exit_of(error.kind), error.text);
	for (size_t i = 0; i < n; i++)
		explorer->addresses[i] = *rr_cluster_address(cluster, (int)i);
	return RR_EXIT_OK;
}

static enum rr_exit check_strategy(struct explorer *explorer)
{
	const struct rr_strategy *strategy = explorer->config->strategy;
	struct rl_link *link = rl_link_new(&explorer->addresses[0], 2000);
	const char *lacking =
		link && strategy->lacks ? strategy->lacks(link, "spare") : NULL;
	enum rr_exit code = RR_EXIT_OK;

	if (!link)
		code = fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	else if (lacking)
		code = fail(explorer, RR_EXIT_SKIPPED, lacking);
	rl_link_free(link);
	return code;
}

static void set_up(struct explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;
	const size_t n_servers = n_servers_of(config);

	explorer->counting = (struct rr_counting){
		.strategy = config->strategy,
		.n_servers = n_servers,
		.increments = config->increments,
		.ttl_ms = config->ttl_ms,
		.hold_us = config->work_ms * 1000,
		.repeats = config->repeats,
	};
	explorer->program = (struct rr_program){
		.n_clients = config->n_clients,
		.n_servers = n_servers,
		.addresses = explorer->addresses,
		.separate = config->separate,
		.terms = &explorer->terms,
		.stacks = &explorer->stacks,
		.knows_scripts = config->budget.restarts == 0,
		.ask = answer_at_once,
		.ask_context = explorer,
	};
	rr_counting_init(&explorer->counting, &explorer->program);
	explorer->product = (struct rr_product_config){
		.program = &explorer->program,
		.strategy = config->strategy,
		.counter = explorer->counting.counter,
		.increments = config->increments,
		.budget = config->budget,
		.stays_away = config->stays_away,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
		.skew_ns = config->skew_ns,
		.day_ns = RR_CLUSTER_START_NS,
		.rounds = config->rounds,
		.remembers = config->all || config->random.runs ?
				     -1 :
				     config->strategy->remembers,
		.bounded = config->all,
	};
}

static enum rr_exit make_tables(struct explorer *explorer)
{
	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (i == 1 && explorer->program.n_servers == 1)
			break;
		if (!rr_server_table_init(table, explorer->cluster, i,
					  &explorer->terms, &explorer->scripts,
					  explorer->counting.lock,
					  explorer->product.absolute))
			return fail_with(explorer, &table->error);
		table->is_tree = explorer->config->all;
	}
	explorer->has_tables = true;
	return RR_EXIT_OK;
}

static void release_tables(struct explorer *explorer)
{
	rr_server_table_release(&explorer->tables[0]);
	rr_server_table_release(&explorer->tables[1]);
	explorer->has_tables = false;
}

static void release(struct explorer *explorer)
{
	release_tables(explorer);
	rr_terms_release(&explorer->terms);
	rr_stacks_release(&explorer->stacks);
	rr_scripts_release(&explorer->scripts);
	rr_intern_release(&explorer->asked);
	free(explorer->answers);
}

/* ---- One search ----------------------------------------------------------- */

static void release_search(struct search *search)
{
	rr_graph_release(&search->graph);
	rr_product_release(&search->product);
}

/* The bounds of a graph; a mutant's are wider than what it is made of. */
static enum rr_exit search_once(struct explorer *explorer,
				const struct rr_graph_config *bounds,
				struct search *search)
{
	struct rr_server_table *tables = explorer->tables;
	enum rr_exit code = explorer->has_tables ? RR_EXIT_OK :
						   make_tables(explorer);

	if (code != RR_EXIT_OK)
		return code;
	if (!rr_product_init(&search->product, &explorer->product, &tables[0],
			     explorer->program.n_servers > 1 ? &tables[1] :
							       NULL))
		return fail_with(explorer, &search->product.error);
	if (explorer->counting.cannot_open)
		return fail(explorer, RR_EXIT_REDIS,
			    "cannot open the strategy");
	search->end =
		rr_graph_explore(&search->graph, &search->product, bounds);
	if (search->end == RR_GRAPH_FAILED)
		return fail_with(explorer, &search->product.error);
	if (search->end == RR_GRAPH_MEMORY && search->graph.out_of_memory)
		return fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	return RR_EXIT_OK;
}

/* What has to be different when it begins anew; false: nothing. */
static bool adapt(struct explorer *explorer, const struct search *search)
{
	if (search->end == RR_GRAPH_AGAIN) {
		explorer->product.reads_clock |= search->product.wants_clock;
		if (search->product.wants_absolute) {
			explorer->product.absolute = true;
			release_tables(explorer);
		}
		return true;
	}
	if (search->end == RR_GRAPH_ENDLESS) {
		explorer->product.bounded = true;
		return true;
	}
	return false;
}

/* A script that servers did not know has become known: they know it from the
 * beginning, the next time. */
static bool has_new_script(const struct explorer *explorer, size_t n_before)
{
	return (explorer->tables[0].lacked_script ||
		explorer->tables[1].lacked_script) &&
	       explorer->scripts.n > n_before;
}

static enum rr_exit run_search(struct explorer *explorer,
			       const struct rr_graph_config *bounds,
			       struct search *search)
{
	for (;;) {
		const size_t n_scripts = explorer->scripts.n;
		enum rr_exit code;
		bool learns_anew;

		*search = (struct search){ .end = RR_GRAPH_FAILED };
		code = search_once(explorer, bounds, search);
		learns_anew = has_new_script(explorer, n_scripts);
		if (!learns_anew &&
		    (code != RR_EXIT_OK || !adapt(explorer, search)))
			return code;
		explorer->result->error[0] = '\0';
		release_search(search);
		if (learns_anew)
			release_tables(explorer);
	}
}

/* ---- Checks --------------------------------------------------------------- */

/* Do clients remember more than they are thought to? Then they are learned anew,
 * with more. */
static enum rr_exit check_clients(struct explorer *explorer,
				  struct search *search, bool *again)
{
	*again = false;
	for (size_t i = 0; i < search->product.n_clients; i++) {
		struct rr_client_table *table = &search->product.clients[i];
		const int result = rr_client_table_verify(
			table, VERIFY_CLIENTS,
			&explorer->result->stats.checked_clients);

		if (result < 0)
			return fail_with(explorer, &table->error);
		*again |= result > 0;
	}
	if (*again && explorer->product.remembers == RR_REMEMBERS_MAX) {
		explorer->product.remembers = -1;
		explorer->product.bounded = true;
	} else if (*again) {
		explorer->product.remembers++;
	}
	return RR_EXIT_OK;
}

static enum rr_exit check_servers(struct explorer *explorer)
{
	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (table->asker &&
		    rr_server_table_verify(
			    table, VERIFY_SERVERS,
			    &explorer->result->stats.checked_servers))
			return fail_with(explorer, &table->error);
	}
	return RR_EXIT_OK;
}

/* The tables' own askers keep nothing on the servers meanwhile. */
static struct rr_execution *open_live(struct explorer *explorer,
				 const struct search *search)
{
	struct rr_execution *live;

	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (table->asker)
			rr_asker_reset(table->asker);
		table->at = RR_NO_ID;
	}
	live = rr_execution_new(&(struct rr_execution_config){
		.program = search->product.config.program,
		.cluster = explorer->cluster,
		.scripts = &explorer->scripts });
	if (!live)
		fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	return live;
}

static enum rr_exit replay(struct explorer *explorer,
			   struct rr_execution *live,
			   const struct rr_actions *actions)
{
	const struct rr_error *error = rr_execution_error(live);

	if (rr_execution_replay(live, actions))
		return RR_EXIT_OK;
	return fail(explorer, rr_exit_of(error->kind), error->text);
}

static enum rr_exit play_way(struct explorer *explorer, struct search *search,
			     const struct rr_graph *graph,
			     const struct rr_way *way, struct rr_execution *live,
			     char **transcript)
{
	struct rr_actions actions;
	enum rr_exit code;

	if (!rr_graph_actions(graph, way, &actions))
		code = fail(explorer, RR_EXIT_INTERNAL,
			    search->product.error.kind ?
				    search->product.error.text :
				    "a way through the states is gone");
	else
		code = replay(explorer, live, &actions);
	if (code == RR_EXIT_OK && transcript)
		*transcript = rr_explore_transcript(&search->product,
						    &explorer->scripts,
						    &actions);
	free(actions.all);
	return code;
}

static enum rr_exit audit(struct explorer *explorer, struct search *search)
{
	struct rr_execution *live = open_live(explorer, search);
	struct rr_way way = { 0 };
	enum rr_exit code = live ? RR_EXIT_OK : RR_EXIT_INTERNAL;

	for (unsigned long i = 0; i < explorer->config->audit &&
				  code == RR_EXIT_OK;
	     i++) {
		if (!rr_graph_random_way(&search->graph, i + 1, &way))
			code = fail(explorer, RR_EXIT_INTERNAL,
				    "out of memory");
		else
			code = play_way(explorer, search, &search->graph, &way,
					live, NULL);
		explorer->result->stats.audited++;
	}
	rr_way_release(&way);
	rr_execution_free(live);
	return code;
}

/* ---- Failures ------------------------------------------------------------- */

static enum rr_exit show_shortest(struct explorer *explorer,
				  struct search *search)
{
	struct rr_explore_result *result = explorer->result;
	const unsigned bits =
		rr_explore_worst(result->breaks, explorer->config->shows);
	struct rr_execution *live;
	struct rr_way way = { 0 };
	enum rr_exit code;

	if (!rr_graph_shortest(&search->graph, bits, &way))
		return fail(explorer, RR_EXIT_INTERNAL,
			    "no way to a state that fails");
	live = open_live(explorer, search);
	code = live ? play_way(explorer, search, &search->graph, &way, live,
			       &result->transcript) :
		      RR_EXIT_INTERNAL;
	result->shortest_breaks = bits;
	result->switches = way.switches;
	result->moves = way.n;
	rr_way_release(&way);
	rr_execution_free(live);
	return code;
}

/* ---- Mutants -------------------------------------------------------------- */

static bool breaks(struct rr_graph *graph, enum rr_graph_end end)
{
	return end == RR_GRAPH_FIRST ||
	       (rr_graph_analyse(graph) && graph->breaks);
}

static enum rr_exit try_mutant(struct explorer *explorer,
			       struct rr_mutation *mutation,
			       unsigned long states,
			       struct rr_mutant_result *result)
{
	const struct rr_graph_config bounds = {
		.most = 2 * states + 5000,
		.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		.progress = explorer->config->progress,
		.context = explorer->config->context,
	};
	struct search search;
	enum rr_exit code;

	rr_mutant_text(mutation, result);
	explorer->program.mutate = rr_mutant_apply;
	explorer->program.mutate_context = mutation;
	explorer->program.without_mutex = mutation->how == RR_MUTANT_NO_MUTEX;
	code = run_search(explorer, &bounds, &search);
	if (code == RR_EXIT_OK && search.end == RR_GRAPH_STOPPED)
		explorer->result->explored = RR_EXPLORED_STOPPED;
	else if (code == RR_EXIT_OK)
		result->fails = breaks(&search.graph, search.end);
	release_search(&search);
	explorer->program.mutate = NULL;
	explorer->program.without_mutex = false;
	return code;
}

static enum rr_exit try_mutants(struct explorer *explorer,
				struct rr_mutation *mutations, size_t n,
				unsigned long states)
{
	struct rr_explore_result *result = explorer->result;
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < n && code == RR_EXIT_OK; i++) {
		struct rr_mutant_result *mutant =
			&result->mutants[result->n_mutants++];

		code = try_mutant(explorer, &mutations[i], states, mutant);
		if (mutant->fails && !result->noticed)
			result->noticed = mutant->name;
		if (result->explored == RR_EXPLORED_STOPPED ||
		    (result->noticed && !explorer->config->all_mutants))
			break;
	}
	return code;
}

/* ---- Results -------------------------------------------------------------- */

static void note(struct explorer *explorer, const struct search *search)
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
	struct rr_explore_result *result = explorer->result;
	const struct rr_graph *graph = &search->graph;

	result->explored = explored[search->end];
	result->states = graph->states.n;
	result->transitions = graph->n_edges;
	result->breaks = graph->breaks;
	result->interleavings = graph->interleavings;
	result->failing_interleavings = graph->failing_interleavings;
	result->remembers = explorer->product.remembers;
	memcpy(result->broken, graph->broken, sizeof(result->broken));
	for (int i = 0; i < RR_INVARIANTS; i++)
		result->failing += graph->broken[i];
	result->stats.bytes_per_state =
		graph->states.n ? rr_graph_bytes(graph) / graph->states.n : 0;
	for (size_t i = 0; i < search->product.n_clients; i++) {
		const struct rr_client_table *table =
			&search->product.clients[i];

		result->stats.client_states += table->n_states;
		result->stats.client_runs += table->n_runs;
	}
	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = &explorer->tables[i];

		result->stats.server_states += table->keys.n;
		result->stats.questions += table->n_asked;
		result->stats.replayed += table->n_replayed;
		if (table->random_command)
			snprintf(result->random_command,
				 sizeof(result->random_command), "%s",
				 table->random_command);
	}
	if (result->random_command[0] && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
}

/* Half of what is free. */
static size_t default_memory(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t kib = 0;
	char line[120];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib * 512;
}

static enum rr_exit conclude(struct explorer *explorer, struct search *search,
			     struct rr_mutation *mutations, size_t *n_mutations)
{
	struct rr_explore_result *result = explorer->result;
	enum rr_exit code = RR_EXIT_OK;
	const double begun = rr_monotonic_s();

	if (!rr_graph_analyse(&search->graph))
		return fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	note(explorer, search);
	code = rr_graph_export(
		&search->graph,
		rr_explore_worst(result->breaks, explorer->config->shows),
		explorer->config->dot, explorer->config->json);
	if (code == RR_EXIT_OK && result->breaks)
		code = show_shortest(explorer, search);
	else if (code == RR_EXIT_OK &&
		 result->explored != RR_EXPLORED_STOPPED) {
		code = check_servers(explorer);
		if (code == RR_EXIT_OK)
			code = audit(explorer, search);
		*n_mutations = rr_mutants_list(&search->product,
					       &explorer->scripts, mutations);
	}
	result->stats.checking += rr_monotonic_s() - begun;
	return code;
}

/* Searches until clients do what they are thought to do. */
static enum rr_exit search_all(struct explorer *explorer,
			       struct rr_mutation *mutations,
			       size_t *n_mutations)
{
	const struct rr_explore_config *config = explorer->config;
	const struct rr_graph_config bounds = {
		.most = config->most,
		.memory = config->memory ? config->memory : default_memory(),
		.progress = config->progress,
		.context = config->context,
	};
	bool again = true;
	enum rr_exit code = RR_EXIT_OK;

	while (again && code == RR_EXIT_OK) {
		const double begun = rr_monotonic_s();
		struct search search;

		code = run_search(explorer, &bounds, &search);
		explorer->result->stats.searching = rr_monotonic_s() - begun;
		again = false;
		if (code == RR_EXIT_OK && explorer->product.remembers >= 0 &&
		    search.end != RR_GRAPH_STOPPED)
			code = check_clients(explorer, &search, &again);
		if (code == RR_EXIT_OK && !again)
			code = conclude(explorer, &search, mutations,
					n_mutations);
		release_search(&search);
	}
	return code;
}

/* ---- Random schedules ------------------------------------------------------ */

static enum rr_exit show_walk(struct explorer *explorer, struct search *search,
			      const struct rr_walks *walks)
{
	const struct rr_graph *graph;
	const struct rr_way *way;
	struct rr_execution *live;
	enum rr_exit code;

	if (!rr_walks_shortest(walks, &graph, &way))
		return RR_EXIT_OK;
	live = open_live(explorer, search);
	code = live ? play_way(explorer, search, graph, way, live,
			       &explorer->result->transcript) :
		      RR_EXIT_INTERNAL;
	rr_execution_free(live);
	return code;
}

/* True: it has to begin anew. */
static bool walk_all(struct explorer *explorer, struct search *search,
		     struct rr_walks *walks, enum rr_exit *code)
{
	const struct rr_explore_config *config = explorer->config;
	struct rr_explore_result *result = explorer->result;
	bool goes_on = true;

	result->explored = RR_EXPLORED_RANDOM;
	while (goes_on && rr_walks_next(walks, result)) {
		goes_on = !config->progress ||
			  config->progress(config->context, result->schedules,
					   (double)result->schedules /
						   (double)config->random.runs);
	}
	if (!goes_on)
		result->explored = RR_EXPLORED_STOPPED;
	if (search->product.error.kind) {
		*code = fail_with(explorer, &search->product.error);
		return false;
	}
	search->end = RR_GRAPH_AGAIN;
	if ((search->product.wants_absolute || search->product.wants_clock) &&
	    adapt(explorer, search))
		return true;
	result->bound = rr_walks_bound(walks, result->schedules);
	*code = show_walk(explorer, search, walks);
	return false;
}

/* One try; true: it has to begin anew. */
static bool draw_schedules(struct explorer *explorer, enum rr_exit *code)
{
	struct rr_server_table *tables = explorer->tables;
	struct rr_explore_result *result = explorer->result;
	struct search search = { .end = RR_GRAPH_FAILED };
	struct rr_walks *walks = NULL;
	bool again = false;

	result->schedules = result->transitions = result->failing = 0;
	result->breaks = 0;
	memset(result->broken, 0, sizeof(result->broken));
	*code = explorer->has_tables ? RR_EXIT_OK : make_tables(explorer);
	if (*code == RR_EXIT_OK &&
	    !rr_product_init(&search.product, &explorer->product, &tables[0],
			     explorer->program.n_servers > 1 ? &tables[1] :
							       NULL))
		*code = fail_with(explorer, &search.product.error);
	if (*code == RR_EXIT_OK)
		walks = rr_walks_new(&search.product,
				     &explorer->config->random,
				     explorer->config->shows);
	if (*code == RR_EXIT_OK && !walks)
		*code = fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	if (*code == RR_EXIT_OK)
		again = walk_all(explorer, &search, walks, code);
	rr_walks_free(walks);
	release_search(&search);
	return again;
}

static enum rr_exit explore_at_random(struct explorer *explorer)
{
	enum rr_exit code;

	while (draw_schedules(explorer, &code))
		continue;
	return code;
}

static enum rr_exit explore(struct explorer *explorer)
{
	struct rr_mutation *mutations =
		calloc(RR_MUTANTS_MAX, sizeof(*mutations));
	struct rr_explore_result *result = explorer->result;
	size_t n_mutations = 0;
	enum rr_exit code;

	if (!mutations)
		return fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	code = search_all(explorer, mutations, &n_mutations);
	if (code == RR_EXIT_OK && !result->breaks && !explorer->config->all)
		code = try_mutants(explorer, mutations, n_mutations,
				   result->states);
	free(mutations);
	return code;
}

enum rr_exit rr_explore(struct rr_cluster *cluster,
			const struct rr_explore_config *config,
			struct rr_explore_result *result)
{
	struct explorer explorer = { .cluster = cluster,
				     .config = config,
				     .result = result };
	enum rr_exit code;

	*result = (struct rr_explore_result){ .seconds = rr_monotonic_s() };
	code = start_servers(&explorer);
	if (code == RR_EXIT_OK)
		code = check_strategy(&explorer);
	set_up(&explorer);
	if (code == RR_EXIT_OK)
		code = config->random.runs ? explore_at_random(&explorer) :
					     explore(&explorer);
	release(&explorer);
	result->seconds = rr_monotonic_s() - result->seconds;
	return code;
}

void rr_explore_release(struct rr_explore_result *result)
{
	free(result->transcript);
	result->transcript = NULL;
}

/* SPDX-License-Identifier: MIT */
/* A strategy is searched until its clients and servers do what they are thought to do;
 * then the graph is judged and checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "explorer.h"
#include "link.h"
#include "play/play.h"
#include "walks.h"

const char *rr_invariant_name(int bit)
{
	static const char *const names[RR_INVARIANTS] = {
		"count",     "exclusion", "lease",
		"ownership", "deadlock",  "starvation"
	};

	return names[bit];
}

/* The error of a part is that of the whole. */
static bool pass_error(struct rr_explorer *explorer,
		       const struct rr_error *error)
{
	if (!explorer->result->error.kind)
		explorer->result->error = *error;
	return false;
}

/* ---- Commands that nobody else can notice --------------------------------- */

/* Answered by a real server, once. */
static uint32_t answer_unnoticed(void *context, int server,
				 const struct rl_command *command)
{
	struct rr_explorer *explorer = context;
	struct rr_server_table *table = &explorer->tables[server > 0];
	const uint32_t id = rr_terms_command(&explorer->terms, command);
	bool is_new;
	const uint32_t number =
		rr_intern_put(&explorer->asked, &id, sizeof(id), &is_new);
	struct rl_reply reply;

	if (!is_new)
		return explorer->answers[number];
	if (!rr_array_grow(&explorer->answers, number,
			   sizeof(*explorer->answers)))
		return RR_NO_ID;
	if (!rr_asker_run(table->asker, &reply, command))
		reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	rr_scripts_keep(&explorer->scripts, command, &reply);
	explorer->answers[number] = rr_terms_reply(&explorer->terms, &reply);
	table->at = RR_NO_ID; /* after a restart it would not know the script */
	return explorer->answers[number];
}

/* ---- Making --------------------------------------------------------------- */

static size_t n_servers_of(const struct rr_explore_config *config)
{
	const size_t own = config->strategy->lock.servers;

	return 1 + (own && config->lock_servers ? config->lock_servers : own);
}

static bool start_servers(struct rr_explorer *explorer)
{
	const struct rr_server_options plain = { 0 };
	struct rr_cluster *cluster = explorer->cluster;
	struct rr_error *error = &explorer->result->error;
	const size_t n = n_servers_of(explorer->config);

	rr_cluster_reset(cluster);
	for (size_t i = 0; i < n; i++) {
		char name[RR_SERVER_NAME];
		int server;

		rr_recorder_server_name(name, "data", i);
		if (!rr_cluster_declare(cluster, name, &plain, &server, error))
			return false;
	}
	if (!rr_cluster_start(cluster, error))
		return false;
	for (size_t i = 0; i < n; i++)
		explorer->addresses[i] = *rr_cluster_address(cluster, (int)i);
	return true;
}

static bool check_strategy(struct rr_explorer *explorer)
{
	const struct rr_strategy *strategy = explorer->config->strategy;
	struct rr_error *error = &explorer->result->error;
	struct rl_link *link = rl_link_new(&explorer->addresses[0], 2000);
	const char *lacking =
		link && strategy->lacks ? strategy->lacks(link, "spare") : NULL;

	if (!link)
		rr_error_no_memory(error);
	else if (lacking)
		rr_error_set(error, RR_ERROR_SKIPPED, "%s", lacking);
	rl_link_free(link);
	return !error->kind;
}

static void set_up_program(struct rr_explorer *explorer)
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
		.ask = answer_unnoticed,
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

static bool make_tables(struct rr_explorer *explorer)
{
	for (int i = 0; i < (explorer->program.n_servers > 1 ? 2 : 1); i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (!rr_server_table_init(table, explorer->cluster, i,
					  &explorer->terms, &explorer->scripts,
					  explorer->counting.lock,
					  explorer->product.absolute))
			return pass_error(explorer, &table->error);
		table->is_tree = explorer->config->all;
	}
	explorer->has_tables = true;
	return true;
}

static void release_tables(struct rr_explorer *explorer)
{
	rr_server_table_release(&explorer->tables[0]);
	rr_server_table_release(&explorer->tables[1]);
	explorer->has_tables = false;
}

static void release_explorer(struct rr_explorer *explorer)
{
	release_tables(explorer);
	rr_terms_release(&explorer->terms);
	rr_stacks_release(&explorer->stacks);
	rr_scripts_release(&explorer->scripts);
	rr_intern_release(&explorer->asked);
	free(explorer->answers);
	free(explorer->mutations);
}

/* ---- One search ----------------------------------------------------------- */

void rr_search_release(struct rr_search *search)
{
	rr_graph_release(&search->graph);
	rr_product_release(&search->product);
}

static bool make_product(struct rr_explorer *explorer,
			 struct rr_product *product)
{
	struct rr_server_table *tables = explorer->tables;
	const bool has_locks = explorer->program.n_servers > 1;

	return (explorer->has_tables || make_tables(explorer)) &&
	       (rr_product_init(product, &explorer->product, &tables[0],
				has_locks ? &tables[1] : NULL) ||
		pass_error(explorer, &product->error));
}

static bool search_once(struct rr_explorer *explorer,
			const struct rr_graph_config *bounds,
			struct rr_search *search)
{
	struct rr_error *error = &explorer->result->error;

	if (!make_product(explorer, &search->product))
		return false;
	if (explorer->counting.cannot_open)
		return rr_error_set(error, RR_ERROR_REDIS,
				    "cannot open the strategy");
	search->end =
		rr_graph_explore(&search->graph, &search->product, bounds);
	if (search->end == RR_GRAPH_FAILED)
		return pass_error(explorer, &search->product.error);
	if (search->end == RR_GRAPH_MEMORY && search->graph.out_of_memory)
		return rr_error_no_memory(error);
	return true;
}

/* What has to be different when it begins anew; false: nothing. */
static bool adapt_search(struct rr_explorer *explorer,
			 const struct rr_search *search)
{
	if (search->end == RR_GRAPH_ENDLESS) {
		explorer->product.bounded = true;
		return true;
	}
	if (search->end != RR_GRAPH_AGAIN)
		return false;
	explorer->product.reads_clock |= search->product.wants_clock;
	if (search->product.wants_absolute) {
		explorer->product.absolute = true;
		release_tables(explorer);
	}
	return true;
}

/* A script that servers did not know has become known: they know it from the
 * beginning, the next time. */
static bool has_new_script(const struct rr_explorer *explorer, size_t n_before)
{
	return (explorer->tables[0].lacked_script ||
		explorer->tables[1].lacked_script) &&
	       explorer->scripts.n > n_before;
}

bool rr_search_run(struct rr_explorer *explorer,
		   const struct rr_graph_config *bounds,
		   struct rr_search *search)
{
	for (;;) {
		const size_t n_scripts = explorer->scripts.n;
		bool good, learns_anew;

		*search = (struct rr_search){ .end = RR_GRAPH_FAILED };
		good = search_once(explorer, bounds, search);
		learns_anew = has_new_script(explorer, n_scripts);
		if (!learns_anew && (!good || !adapt_search(explorer, search)))
			return good;
		explorer->result->error = (struct rr_error){ 0 };
		rr_search_release(search);
		if (learns_anew)
			release_tables(explorer);
	}
}

/* ---- Results -------------------------------------------------------------- */

static void add_table_stats(struct rr_explorer *explorer,
			    const struct rr_product *product)
{
	struct rr_explore_result *result = explorer->result;
	struct rr_explore_stats *stats = &result->stats;

	for (size_t i = 0; i < product->n_clients; i++) {
		stats->client_states += product->clients[i].n_states;
		stats->client_runs += product->clients[i].n_runs;
	}
	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = &explorer->tables[i];

		stats->server_states += table->keys.n;
		stats->questions += table->n_asked;
		stats->replayed += table->n_replayed;
		if (table->random_command)
			snprintf(result->random_command,
				 sizeof(result->random_command), "%s",
				 table->random_command);
	}
}

static void keep_result(struct rr_explorer *explorer,
			const struct rr_search *search)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,
		[RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,
		[RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
		[RR_GRAPH_STOPPED] = RR_EXPLORED_STOPPED,
	};
	struct rr_explore_result *result = explorer->result;
	const struct rr_graph *graph = &search->graph;

	result->explored = explored[search->end];
	result->states = graph->states.n;
	result->transitions = graph->n_edges;
	result->breaks = graph->breaks;
	result->interleavings = graph->interleavings;
	result->failing_interleavings = graph->failing_interleavings;
	memcpy(result->broken, graph->broken, sizeof(result->broken));
	for (int i = 0; i < RR_INVARIANTS; i++)
		result->failing += graph->broken[i];
	result->stats.bytes_per_state =
		graph->states.n ? rr_graph_bytes(graph) / graph->states.n : 0;
	add_table_stats(explorer, &search->product);
	if (result->random_command[0] && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
}

static bool list_mutants(struct rr_explorer *explorer,
			 const struct rr_product *product)
{
	explorer->mutations =
		calloc(RR_MUTANTS_MAX, sizeof(*explorer->mutations));
	if (!explorer->mutations)
		return rr_error_no_memory(&explorer->result->error);
	explorer->n_mutations = rr_mutants_list(product, &explorer->scripts,
						explorer->mutations);
	return true;
}

static bool judge_graph(struct rr_explorer *explorer, struct rr_search *search)
{
	struct rr_explore_result *result = explorer->result;
	const struct rr_explore_config *config = explorer->config;

	if (!rr_graph_analyse(&search->graph))
		return rr_error_no_memory(&result->error);
	keep_result(explorer, search);
	if (!rr_graph_export(&search->graph,
			     rr_worst_invariant(result->breaks, config->shows),
			     config->dot, config->json, &result->error))
		return false;
	if (result->breaks)
		return rr_check_shortest(explorer, search);
	return result->explored == RR_EXPLORED_STOPPED ||
	       (rr_check_servers(explorer) &&
		rr_check_audit(explorer, search) &&
		list_mutants(explorer, &search->product));
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

/* Searches until clients do what they are thought to do. */
static bool search_all(struct rr_explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;
	const struct rr_graph_config bounds = {
		.most = config->most,
		.memory = config->memory ? config->memory : default_memory(),
		.progress = config->progress,
		.context = config->context,
	};
	struct rr_explore_stats *stats = &explorer->result->stats;
	bool again, good;

	do {
		double begun = rr_clock_s();
		struct rr_search search;

		good = rr_search_run(explorer, &bounds, &search);
		stats->searching = rr_clock_s() - begun;
		again = false;
		if (good && explorer->product.remembers >= 0 &&
		    search.end != RR_GRAPH_STOPPED)
			good = rr_check_clients(explorer, &search, &again);
		begun = rr_clock_s();
		if (good && !again)
			good = judge_graph(explorer, &search);
		stats->checking += rr_clock_s() - begun;
		rr_search_release(&search);
	} while (again && good);
	return good;
}

/* ---- Random schedules ------------------------------------------------------ */

/* *again: it has to begin anew. */
static bool walk_all(struct rr_explorer *explorer, struct rr_search *search,
		     struct rr_walks *walks, bool *again)
{
	const struct rr_explore_config *config = explorer->config;
	struct rr_explore_result *result = explorer->result;
	const double n_runs = (double)config->random.runs;
	const struct rr_graph *graph;
	const struct rr_path *path;
	bool goes_on = true;

	result->explored = RR_EXPLORED_RANDOM;
	while (goes_on && rr_walks_next(walks, result))
		goes_on = !config->progress ||
			  config->progress(config->context, result->schedules,
					   (double)result->schedules / n_runs);
	if (!goes_on)
		result->explored = RR_EXPLORED_STOPPED;
	if (search->product.error.kind)
		return pass_error(explorer, &search->product.error);
	search->end = RR_GRAPH_AGAIN;
	*again = (search->product.wants_absolute ||
		  search->product.wants_clock) &&
		 adapt_search(explorer, search);
	if (*again)
		return true;
	result->bound = rr_walks_bound(walks, result->schedules);
	return !rr_walks_shortest(walks, &graph, &path) ||
	       rr_check_replay(explorer, graph, path);
}

static bool draw_schedules(struct rr_explorer *explorer)
{
	struct rr_explore_result *result = explorer->result;
	bool again, good;

	do {
		struct rr_search search = { .end = RR_GRAPH_FAILED };
		struct rr_walks *walks = NULL;

		again = false;
		result->schedules = result->transitions = result->failing = 0;
		result->breaks = 0;
		memset(result->broken, 0, sizeof(result->broken));
		good = make_product(explorer, &search.product);
		if (good)
			walks = rr_walks_new(&search.product,
					     &explorer->config->random,
					     explorer->config->shows);
		if (good)
			good = walks ? walk_all(explorer, &search, walks,
						&again) :
				       rr_error_no_memory(&result->error);
		rr_walks_free(walks);
		rr_search_release(&search);
	} while (again && good);
	return good;
}

/* ---- The whole ------------------------------------------------------------ */

static bool explore_all(struct rr_explorer *explorer)
{
	return search_all(explorer) &&
	       (explorer->result->breaks || explorer->config->all ||
		rr_check_mutants(explorer));
}

bool rr_explore(struct rr_cluster *cluster,
		const struct rr_explore_config *config,
		struct rr_explore_result *result)
{
	const double begun = rr_clock_s();
	struct rr_explorer explorer = { .cluster = cluster,
					.config = config,
					.result = result };
	bool good;

	*result = (struct rr_explore_result){ 0 };
	good = start_servers(&explorer) && check_strategy(&explorer);
	set_up_program(&explorer);
	if (good)
		good = config->random.runs ? draw_schedules(&explorer) :
					     explore_all(&explorer);
	release_explorer(&explorer);
	result->seconds = rr_clock_s() - begun;
	return good;
}

void rr_explore_release(struct rr_explore_result *result)
{
	free(result->transcript);
	result->transcript = NULL;
}

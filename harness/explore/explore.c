/* SPDX-License-Identifier: MIT */
/* A strategy is searched until its clients and servers do what they are thought to do;
 * then the graph is judged and checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "explorer.h"
#include "walks.h"

/* ---- Results -------------------------------------------------------------- */

static void add_table_stats(struct rr_explorer *explorer, const struct rr_product *product)
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
			snprintf(result->random_command, sizeof(result->random_command), "%s",
				 table->random_command);
	}
}

static void keep_result(struct rr_explorer *explorer, const struct rr_search *search)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,       [RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,       [RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
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
	result->stats.bytes_per_state = graph->states.n ? rr_graph_bytes(graph) / graph->states.n :
							  0;
	add_table_stats(explorer, &search->product);
	if (result->random_command[0] && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
}

static bool list_mutants(struct rr_explorer *explorer, const struct rr_product *product)
{
	explorer->mutations = calloc(RR_MUTANTS_MAX, sizeof(*explorer->mutations));
	if (!explorer->mutations)
		return rr_error_no_memory(&explorer->result->error);
	explorer->n_mutations = rr_mutants_list(product, &explorer->scripts, explorer->mutations);
	return true;
}

static bool judge_graph(struct rr_explorer *explorer, struct rr_search *search)
{
	struct rr_explore_result *result = explorer->result;
	const struct rr_explore_config *config = explorer->config;

	if (!rr_graph_analyse(&search->graph))
		return rr_error_no_memory(&result->error);
	keep_result(explorer, search);
	if (!rr_graph_export(&search->graph, rr_worst_invariant(result->breaks, config->shows),
			     config->dot, config->json, &result->error))
		return false;
	if (result->breaks)
		return rr_check_shortest(explorer, search);
	return result->explored == RR_EXPLORED_STOPPED ||
	       (rr_check_servers(explorer) && rr_check_audit(explorer, search) &&
		list_mutants(explorer, &search->product));
}

/* Half of what is free. */
size_t rr_default_memory(void)
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
		.memory = config->memory ? config->memory : rr_default_memory(),
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
		if (good && explorer->product.remembers >= 0 && search.end != RR_GRAPH_STOPPED)
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
static bool walk_all(struct rr_explorer *explorer, struct rr_search *search, struct rr_walks *walks,
		     bool *again)
{
	const struct rr_explore_config *config = explorer->config;
	struct rr_explore_result *result = explorer->result;
	const double n_runs = (double)config->random.runs;
	const struct rr_graph *graph;
	const struct rr_path *path;
	bool goes_on = true;

	result->explored = RR_EXPLORED_RANDOM;
	while (goes_on && rr_walks_next(walks, result))
		goes_on = !config->progress || config->progress(config->context, result->schedules,
								(double)result->schedules / n_runs);
	if (!goes_on)
		result->explored = RR_EXPLORED_STOPPED;
	if (search->product.error.kind)
		return rr_explorer_fail(explorer, &search->product.error);
	search->end = RR_GRAPH_AGAIN;
	*again = (search->product.wants_absolute || search->product.wants_clock) &&
		 rr_search_adapt(explorer, search);
	if (*again)
		return true;
	result->bound = rr_walks_bound(walks, result->schedules);
	return !rr_walks_shortest(walks, &graph, &path) || rr_check_replay(explorer, graph, path);
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
		good = rr_search_make_product(explorer, &search.product);
		if (good)
			walks = rr_walks_new(&search.product, &explorer->config->random,
					     explorer->config->shows);
		if (good)
			good = walks ? walk_all(explorer, &search, walks, &again) :
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
	       (explorer->result->breaks || explorer->config->all || rr_check_mutants(explorer));
}

bool rr_explore(struct rr_cluster *cluster, const struct rr_explore_config *config,
		struct rr_explore_result *result)
{
	const double begun = rr_clock_s();
	struct rr_explorer explorer = { .cluster = cluster, .config = config, .result = result };
	bool good;

	*result = (struct rr_explore_result){ 0 };
	good = rr_explorer_open(&explorer);
	if (good)
		good = config->random.runs ? draw_schedules(&explorer) : explore_all(&explorer);
	rr_explorer_release(&explorer);
	result->seconds = rr_clock_s() - begun;
	return good;
}

void rr_explore_release(struct rr_explore_result *result)
{
	free(result->transcript);
	result->transcript = NULL;
}

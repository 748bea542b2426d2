/* SPDX-License-Identifier: MIT */
/* What keeps a search honest: rows asked again, ways played for real, mutants. */
#include <stdlib.h>

#include "explorer.h"
#include "scheduler/scheduler.h"
#include "walks.h"

enum {
	VERIFY_CLIENTS = 1500, /* runs, of each client */
	VERIFY_SERVERS = 600,  /* questions, of each table */
};

/* ---- Rows ----------------------------------------------------------------- */

bool rr_check_clients(struct rr_explorer *explorer, struct rr_search *search, bool *again)
{
	struct rr_explore_result *result = explorer->result;
	struct rr_product_config *config = &explorer->product;

	*again = false;
	for (size_t i = 0; i < search->product.n_clients; i++) {
		struct rr_client_table *table = &search->product.clients[i];
		const int differs = rr_client_table_verify(table, VERIFY_CLIENTS,
							   &result->stats.checked_clients);

		if (differs < 0) {
			result->error = table->error;
			return false;
		}
		*again |= differs > 0;
	}
	if (*again && config->remembers == RR_REMEMBERS_MAX) {
		config->remembers = -1;
		config->bounded = true;
	} else if (*again) {
		config->remembers++;
	}
	return true;
}

bool rr_check_servers(struct rr_explorer *explorer)
{
	struct rr_explore_result *result = explorer->result;

	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (table->asker &&
		    rr_server_table_verify(table, VERIFY_SERVERS, &result->stats.checked_servers)) {
			result->error = table->error;
			return false;
		}
	}
	return true;
}

/* ---- Paths that are played -------------------------------------------------- */

/* The tables' own askers keep nothing on the servers meanwhile. */
static struct rr_execution *open_execution(struct rr_explorer *explorer)
{
	struct rr_execution *execution;

	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (table->asker)
			rr_asker_reset(table->asker);
		table->at = RR_NO_ID;
	}
	execution =
		rr_execution_new(&(struct rr_execution_config){ .program = &explorer->program,
								.cluster = explorer->cluster,
								.scripts = &explorer->scripts });
	if (!execution)
		rr_error_no_memory(&explorer->result->error);
	return execution;
}

static bool play_path(struct rr_explorer *explorer, const struct rr_graph *graph,
		      const struct rr_path *path, struct rr_execution *execution,
		      struct rr_actions *actions)
{
	struct rr_error *error = &explorer->result->error;

	if (!rr_graph_actions(graph, path, actions)) {
		*error = graph->product->error;
		return rr_error_set(error, RR_ERROR_INTERNAL, "a path through the states is gone");
	}
	if (rr_execution_replay(execution, actions))
		return true;
	*error = *rr_execution_error(execution);
	return false;
}

bool rr_check_audit(struct rr_explorer *explorer, struct rr_search *search)
{
	struct rr_execution *execution = open_execution(explorer);
	struct rr_path path = { 0 };
	bool good = execution != NULL;

	for (unsigned long i = 0; i < explorer->config->audit && good; i++) {
		struct rr_actions actions = { 0 };

		rr_graph_random_path(&search->graph, i + 1, &path);
		good = play_path(explorer, &search->graph, &path, execution, &actions);
		free(actions.all);
		explorer->result->stats.audited++;
	}
	rr_path_release(&path);
	rr_execution_free(execution);
	return good;
}

bool rr_check_replay(struct rr_explorer *explorer, const struct rr_graph *graph,
		     const struct rr_path *path)
{
	struct rr_execution *execution = open_execution(explorer);
	struct rr_actions actions = { 0 };
	const bool good = execution && play_path(explorer, graph, path, execution, &actions);
	char title[120];

	snprintf(title, sizeof(title), "%s: found by redrace explore",
		 explorer->config->strategy->name);
	if (good)
		explorer->result->transcript =
			rr_actions_transcript(graph->product, &explorer->scripts, &actions,
					      &(struct rr_transcript_headings){ .title = title });
	free(actions.all);
	rr_execution_free(execution);
	return good;
}

bool rr_check_shortest(struct rr_explorer *explorer, struct rr_search *search)
{
	struct rr_explore_result *result = explorer->result;
	const unsigned bits = rr_worst_invariant(result->breaks, explorer->config->shows);
	struct rr_path path = { 0 };
	bool good;

	result->shortest_breaks = bits;
	if (!rr_graph_shortest(&search->graph, bits, &path))
		return rr_error_set(&result->error, RR_ERROR_INTERNAL,
				    "no path to a state that fails");
	good = rr_check_replay(explorer, &search->graph, &path);
	result->switches = path.switches;
	result->steps = path.n;
	rr_path_release(&path);
	return good;
}

/* ---- Mutants -------------------------------------------------------------- */

/* Does it fail in the bounds of the whole, which are wider than what it took? */
static bool try_mutant(struct rr_explorer *explorer, struct rr_mutation *mutation,
		       struct rr_mutant_result *mutant)
{
	struct rr_explore_result *result = explorer->result;
	const struct rr_graph_config bounds = {
		.most = 2 * result->states + 5000,
		.first_of = RR_BREAKS_COUNT | RR_BREAKS_EXCLUSION,
		.progress = explorer->config->progress,
		.context = explorer->config->context,
	};
	struct rr_search search;
	bool good;

	rr_mutant_text(mutation, mutant);
	explorer->program.mutate = rr_mutant_apply;
	explorer->program.mutate_context = mutation;
	explorer->program.without_mutex = mutation->how == RR_MUTANT_NO_MUTEX;
	good = rr_search_run(explorer, &bounds, &search);
	if (good && search.end == RR_GRAPH_STOPPED)
		result->explored = RR_EXPLORED_STOPPED;
	else if (good)
		mutant->fails = search.end == RR_GRAPH_FIRST ||
				(rr_graph_analyse(&search.graph) && search.graph.breaks);
	rr_search_release(&search);
	explorer->program.mutate = NULL;
	explorer->program.without_mutex = false;
	return good;
}

bool rr_check_mutants(struct rr_explorer *explorer)
{
	struct rr_explore_result *result = explorer->result;

	for (size_t i = 0; i < explorer->n_mutations; i++) {
		struct rr_mutant_result *mutant = &result->mutants[result->n_mutants++];

		if (!try_mutant(explorer, &explorer->mutations[i], mutant))
			return false;
		if (mutant->fails && !result->noticed)
			result->noticed = mutant->name;
		if (result->explored == RR_EXPLORED_STOPPED ||
		    (result->noticed && !explorer->config->all_mutants))
			break;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/* Servers, program and tables of an explorer, and one search after another with
 * them. */
#include <stdlib.h>

#include "base/array.h"
#include "explorer.h"
#include "link.h"
#include "play/play.h"

bool rr_explorer_fail(struct rr_explorer *explorer, const struct rr_error *error)
{
	if (!explorer->result->error.kind)
		explorer->result->error = *error;
	return false;
}

/* ---- Commands that nobody else can notice --------------------------------- */

/* Answered by a real server, once. */
static uint32_t answer_unnoticed(void *context, int server, const struct rl_command *command)
{
	struct rr_explorer *explorer = context;
	struct rr_server_table *table = &explorer->tables[server > 0];
	const uint32_t id = rr_terms_command(&explorer->terms, command);
	bool is_new;
	const uint32_t number = rr_intern_put(&explorer->asked, &id, sizeof(id), &is_new);
	struct rl_reply reply;

	if (!is_new)
		return explorer->answers[number];
	rr_array_grow(&explorer->answers, number, sizeof(*explorer->answers));
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
	const char *lacking = link && strategy->lacks ? strategy->lacks(link, "spare") : NULL;

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
		.repeats = config->budget.of[RR_LOST_REPLIES] > 0,
	};
	explorer->program = (struct rr_program){
		.n_clients = config->n_clients,
		.n_servers = n_servers,
		.addresses = explorer->addresses,
		.separate = config->separate,
		.terms = &explorer->terms,
		.stacks = &explorer->stacks,
		.knows_scripts = config->budget.of[RR_RESTARTS] == 0,
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
		.remembers = config->all || config->random.runs ? -1 : config->strategy->remembers,
		.bounded = config->all,
	};
}

bool rr_explorer_open(struct rr_explorer *explorer)
{
	const bool good = start_servers(explorer) && check_strategy(explorer);

	set_up_program(explorer);
	return good;
}

static bool make_tables(struct rr_explorer *explorer)
{
	for (int i = 0; i < (explorer->program.n_servers > 1 ? 2 : 1); i++) {
		struct rr_server_table *table = &explorer->tables[i];

		if (!rr_server_table_init(table, explorer->cluster, i, &explorer->terms,
					  &explorer->scripts, explorer->counting.lock,
					  explorer->product.absolute))
			return rr_explorer_fail(explorer, &table->error);
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

void rr_explorer_release(struct rr_explorer *explorer)
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

bool rr_search_make_product(struct rr_explorer *explorer, struct rr_product *product)
{
	struct rr_server_table *tables = explorer->tables;
	const bool has_locks = explorer->program.n_servers > 1;

	return (explorer->has_tables || make_tables(explorer)) &&
	       (rr_product_init(product, &explorer->product, &tables[0],
				has_locks ? &tables[1] : NULL) ||
		rr_explorer_fail(explorer, &product->error));
}

static bool search_once(struct rr_explorer *explorer, const struct rr_graph_config *bounds,
			struct rr_search *search)
{
	struct rr_error *error = &explorer->result->error;

	if (!rr_search_make_product(explorer, &search->product))
		return false;
	if (explorer->counting.cannot_open)
		return rr_error_set(error, RR_ERROR_REDIS, "cannot open the strategy");
	search->end = rr_graph_explore(&search->graph, &search->product, bounds);
	if (search->end == RR_GRAPH_FAILED)
		return rr_explorer_fail(explorer, &search->product.error);
	if (search->end == RR_GRAPH_MEMORY && search->graph.out_of_memory)
		return rr_error_no_memory(error);
	return true;
}

bool rr_search_adapt(struct rr_explorer *explorer, const struct rr_search *search)
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
	return (explorer->tables[0].lacked_script || explorer->tables[1].lacked_script) &&
	       explorer->scripts.n > n_before;
}

bool rr_search_run(struct rr_explorer *explorer, const struct rr_graph_config *bounds,
		   struct rr_search *search)
{
	for (;;) {
		const size_t n_scripts = explorer->scripts.n;
		bool good, learns_anew;

		*search = (struct rr_search){ .end = RR_GRAPH_FAILED };
		good = search_once(explorer, bounds, search);
		learns_anew = has_new_script(explorer, n_scripts);
		if (!learns_anew && (!good || !rr_search_adapt(explorer, search)))
			return good;
		explorer->result->error = (struct rr_error){ 0 };
		rr_search_release(search);
		if (learns_anew)
			release_tables(explorer);
	}
}

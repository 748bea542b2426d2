/* SPDX-License-Identifier: MIT */
/* Servers, program and tables of a search, and the loop in which it begins anew. */
#include "search.h"

#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/machine.h"
#include "base/memory.h"
#include "play/play.h"

/* Beyond that, what clients do has no end. */
enum { SEARCHES_MAX = 64 };

/* What was learned of a command whose reply is random holds no longer than that. */
bool rr_search_fail(struct rr_search *search, const struct rr_error *error)
{
	const char *command = search->has_tables ? search->tables[0].random_command :
						   search->random_command;

	if (command && error->kind == RR_ERROR_INTERNAL)
		return rr_error_set(
			&search->result->error, RR_ERROR_DATA,
			"%s was answered in two ways, because its reply is random: whatever uses it can be searched only where the reply leaves no choice",
			command);
	return rr_error_set(&search->result->error, error->kind, "%s", error->text);
}

/* ---- When to end ------------------------------------------------------------ */

static void note_cut(struct rr_search *search, const char *phase)
{
	if (search->cut)
		return;
	search->cut = phase;
	search->cut_s = rr_clock_s();
}

bool rr_search_is_called_off(struct rr_search *search, const char *phase)
{
	const struct rr_explore_config *config = search->config;

	if (!config->progress || search->is_interrupted)
		return false;
	if (!search->cut && !config->progress(config->context, search->graph.n_expanded, 1))
		note_cut(search, phase);
	return search->cut != NULL;
}

bool rr_search_is_late(const struct rr_search *search)
{
	return search->cut && rr_clock_s() - search->cut_s > RR_LATE_S;
}

/* ---- Commands that nobody else can notice --------------------------------- */

/* SCRIPT EXISTS and SCRIPT FLUSH are steps, when the search begins anew. */
static bool asks_scripts(const struct rl_command *command)
{
	return strcasecmp(command->words[0].text, "SCRIPT") == 0 &&
	       strcasecmp(command->words[1].text, "LOAD") != 0;
}

/* Answered by a real server, once. */
static uint32_t answer_unnoticed(void *context, int server, const struct rl_command *command)
{
	struct rr_search *search = context;
	struct rr_server_table *table = &search->tables[server > 0];
	const uint32_t id = rr_terms_command(&search->terms, command);
	bool is_new;
	const uint32_t number = rr_intern_put(&search->asked, &id, sizeof(id), &is_new);
	struct rl_reply reply;

	if (!is_new)
		return search->answers[number];
	rr_array_grow(&search->answers, number, sizeof(*search->answers));
	if (!rr_asker_run(table->asker, &reply, command))
		reply = (struct rl_reply){ .type = RL_REPLY_NIL };
	rr_scripts_keep(&search->scripts, command, &reply);
	if (asks_scripts(&search->terms.command[id].words) && !search->config->strategy) {
		search->wants_scripts = true;
		rr_error_set(&search->product.error, RR_ERROR_INTERNAL, "scripts are asked for");
	}
	search->answers[number] = rr_terms_reply(&search->terms, &reply);
	table->at = RR_NO_ID; /* after a restart it would not know the script */
	return search->answers[number];
}

/* ---- Making --------------------------------------------------------------- */

static bool start_servers(struct rr_search *search)
{
	const struct rr_server_options plain = { 0 };
	struct rr_cluster *cluster = search->cluster;
	struct rr_error *error = &search->result->error;
	const size_t n = search->program.n_servers;

	rr_cluster_reset(cluster);
	for (size_t i = 0; i < n; i++) {
		char name[RR_SERVER_NAME];
		int server;

		rr_recorder_server_name(name, search->property->server, i);
		if (!rr_cluster_declare(cluster, name, &plain, &server, error))
			return false;
	}
	if (!rr_cluster_start(cluster, error))
		return false;
	for (size_t i = 0; i < n; i++)
		search->addresses[i] = *rr_cluster_address(cluster, (int)i);
	return true;
}

static size_t n_servers_of(const struct rr_explore_config *config)
{
	const size_t own = config->strategy ? config->strategy->lock.servers : 0;

	return 1 + (own && config->lock_servers ? config->lock_servers : own);
}

bool rr_search_open(struct rr_search *search, struct rr_cluster *cluster,
		    const struct rr_explore_config *config, struct rr_explore_result *result)
{
	*search = (struct rr_search){
		.cluster = cluster,
		.config = config,
		.result = result,
		.property = config->strategy ? &rr_invariants : &rr_serializability,
		.program = { .n_clients = config->n_clients,
			     .n_servers = n_servers_of(config),
			     .addresses = search->addresses,
			     .terms = &search->terms,
			     .stacks = &search->stacks,
			     .ask = answer_unnoticed,
			     .ask_context = search },
		.wanted = { .program = &search->program,
			    .strategy = config->strategy,
			    .increments = config->increments,
			    .budget = config->budget,
			    .lease_ns = config->ttl_ms * INT64_C(1000000),
			    .day_ns = RR_CLUSTER_START_NS,
			    .rounds = config->rounds },
		.bounds = { .most = config->most,
			    .memory = config->memory ? config->memory : rr_memory_available() / 2,
			    .progress = config->progress,
			    .context = config->context },
	};
	*result = (struct rr_explore_result){ 0 };
	rr_key_use_init(&search->key_use, &search->terms);
	return start_servers(search) && search->property->open(search);
}

static bool make_tables(struct rr_search *search)
{
	if (search->has_tables)
		return true;
	search->has_tables = true;
	for (int i = 0; i < (search->program.n_servers > 1 ? 2 : 1); i++) {
		struct rr_server_table *table = &search->tables[i];

		if (!rr_server_table_init(table, search->cluster, i, &search->terms,
					  &search->scripts, search->counting.lock,
					  search->wanted.absolute))
			return rr_search_fail(search, &table->error);
		table->is_tree = search->config->all;
	}
	return true;
}

void rr_search_release_tables(struct rr_search *search)
{
	if (search->has_tables)
		search->random_command = search->tables[0].random_command;
	rr_server_table_release(&search->tables[0]);
	rr_server_table_release(&search->tables[1]);
	search->has_tables = false;
}

static void release_states(struct rr_search *search)
{
	rr_judge_release(&search->judge);
	free(search->walks);
	search->walks = NULL;
	rr_schedule_release(&search->followed);
	rr_graph_release(&search->graph);
	rr_product_release(&search->product);
}

void rr_search_release(struct rr_search *search)
{
	release_states(search);
	rr_search_release_tables(search);
	rr_terms_release(&search->terms);
	rr_stacks_release(&search->stacks);
	rr_suffixes_release(&search->suffixes);
	rr_scripts_release(&search->scripts);
	rr_key_use_release(&search->key_use);
	rr_counting_release(&search->counting);
	rr_intern_release(&search->asked);
	free(search->answers);
	free(search->mutations);
	if (search->before)
		rr_explore_release(search->before);
	free(search->before);
}

/* ---- Looking at states ------------------------------------------------------ */

static enum rr_graph_end follow_schedule(struct rr_search *search)
{
	struct rr_schedule *schedule = &search->followed;

	if (!rr_product_follow(&search->product, search->config->schedule, &schedule->actions,
			       schedule->end, &schedule->broken, &search->product.error))
		return RR_GRAPH_FAILED;
	schedule->words = rr_strdup(search->config->schedule);
	return RR_GRAPH_WHOLE;
}

static enum rr_graph_end draw_schedules(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_explore_result *result = search->result;
	struct rr_product *product = &search->product;
	const double n_runs = (double)config->random.runs;
	bool goes_on = true;

	search->walks = rr_walks_new(product, &config->random, config->shows);
	*result = (struct rr_explore_result){ .explored = RR_EXPLORED_RANDOM };
	while (goes_on && rr_walks_next(search->walks, result))
		goes_on = !config->progress || config->progress(config->context, result->schedules,
								(double)result->schedules / n_runs);
	if (product->error.kind)
		return RR_GRAPH_FAILED;
	if (product->wants_absolute || product->wants_clock || product->wants_sleeps)
		return RR_GRAPH_AGAIN;
	return goes_on ? RR_GRAPH_WHOLE : RR_GRAPH_STOPPED;
}

static enum rr_graph_end look_at_states(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_product *product = &search->product;
	struct rr_server_table *tables = search->tables;

	if (!rr_product_init(product, &search->wanted, &tables[0],
			     search->program.n_servers > 1 ? &tables[1] : NULL))
		return RR_GRAPH_FAILED;
	if (search->counting.cannot_open) {
		rr_error_set(&product->error, RR_ERROR_REDIS, "cannot open the strategy");
		return RR_GRAPH_FAILED;
	}
	if (!config->strategy)
		rr_search_find_locks(search);
	if (config->random.runs)
		return draw_schedules(search);
	if (config->schedule)
		return follow_schedule(search);
	return rr_graph_explore(&search->graph, product, &search->bounds);
}

/* ---- Beginning anew --------------------------------------------------------- */

/* Servers were asked for a script that they did not know. If a strategy has loaded it since, servers
 * know it from the beginning, the next time. What a program does without it is searched: which
 * scripts a server knows is a part of its state from then on. */
static unsigned learned_of_scripts(const struct rr_search *search, size_t n_before)
{
	const bool is_lacked = search->tables[0].lacked_script || search->tables[1].lacked_script;

	if (search->config->strategy)
		return is_lacked && search->scripts.n > n_before ?
			       rr_learned_bit(RR_LEARNED_SCRIPT) :
			       0;
	return (is_lacked || search->wants_scripts) && !search->scripts.are_state ?
		       rr_learned_bit(RR_LEARNED_SCRIPTS) :
		       0;
}

static unsigned learned_from(const struct rr_search *search, size_t n_scripts)
{
	const struct rr_product *product = &search->product;

	if (search->end == RR_GRAPH_STOPPED)
		return 0;
	return learned_of_scripts(search, n_scripts) |
	       (product->wants_clock ? rr_learned_bit(RR_LEARNED_CLOCK) : 0) |
	       (product->wants_sleeps ? rr_learned_bit(RR_LEARNED_SLEEPS) : 0) |
	       (search->end == RR_GRAPH_BROAD ? rr_learned_bit(RR_LEARNED_BROAD) : 0) |
	       (search->key_use.is_wrong ? rr_learned_bit(RR_LEARNED_KEYS) : 0) |
	       (product->wants_absolute && !search->wanted.absolute ?
			rr_learned_bit(RR_LEARNED_DAY) :
			0);
}

/* What was learned decides what the next product is like. */
static void adapt(struct rr_search *search)
{
	const unsigned needs_tables = rr_learned_bit(RR_LEARNED_SCRIPT) |
				      rr_learned_bit(RR_LEARNED_SCRIPTS) |
				      rr_learned_bit(RR_LEARNED_DAY);
	struct rr_product_config *wanted = &search->wanted;
	const unsigned learned = search->learned;

	wanted->reads_clock |= (learned & rr_learned_bit(RR_LEARNED_CLOCK)) != 0;
	wanted->sleeps |= (learned & rr_learned_bit(RR_LEARNED_SLEEPS)) != 0;
	wanted->absolute |= (learned & rr_learned_bit(RR_LEARNED_DAY)) != 0;
	wanted->bounded |= (learned & rr_learned_bit(RR_LEARNED_NO_END)) != 0;
	if (learned & rr_learned_bit(RR_LEARNED_BROAD)) {
		wanted->key_use = &search->key_use;
		search->bounds.broad = 0;
	}
	/* What clients were taken for is not so any more, nor what they name. */
	if (learned & ~(rr_learned_bit(RR_LEARNED_BROAD) | rr_learned_bit(RR_LEARNED_KEYS)))
		rr_key_use_release(&search->key_use);
	rr_key_use_begin(&search->key_use);
	if (learned & rr_learned_bit(RR_LEARNED_ALL_HISTORIES)) {
		search->program.learning |= RR_LEARN_NOTHING;
		wanted->bounded = true;
	}
	if (learned & rr_learned_bit(RR_LEARNED_NOT_EQUAL)) {
		search->program.heard_as_self = NULL;
		search->program.sent_as_own = NULL;
	}
	if (learned & rr_learned_bit(RR_LEARNED_SCRIPTS)) {
		rr_scripts_become_state(&search->scripts);
		search->program.loads_scripts = true;
	}
	if (learned & needs_tables)
		rr_search_release_tables(search);
}

/* What a failed search failed of: its product, unless it has to begin anew. */
static bool search_once(struct rr_search *search)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	const size_t n_scripts = search->scripts.n;
	const double begun = rr_clock_s();

	if (!make_tables(search))
		return false;
	if (programs->begin_search && programs->begin_search(programs->programs)) {
		rr_search_release_tables(search);
		if (!make_tables(search))
			return false;
	}
	search->end = look_at_states(search);
	search->seconds = rr_clock_s() - begun;
	if (search->end == RR_GRAPH_STOPPED)
		note_cut(search, "states were searched");
	search->learned = learned_from(search, n_scripts);
	if (search->learned & ~rr_learned_bit(RR_LEARNED_BROAD) || search->end == RR_GRAPH_STOPPED)
		return true;
	if (!search->property->verify(search))
		return false;
	/* What is not so of clients may have had no end. */
	if (search->end == RR_GRAPH_ENDLESS && !search->learned)
		search->learned = rr_learned_bit(RR_LEARNED_NO_END);
	return (search->learned || search->end != RR_GRAPH_FAILED ||
		rr_search_fail(search, &search->product.error));
}

/* The programs were interrupted: what was found so far is concluded from. */
static bool stop_early(struct rr_search *search)
{
	struct rr_graph *graph = &search->graph;

	if (search->result->error.kind != RR_ERROR_INTERRUPTED)
		return false;
	note_cut(search, "programs were run");
	search->result->error.kind = search->product.error.kind = RR_ERROR_NONE;
	for (size_t i = 0; search->product.clients && i < search->product.n_clients; i++) {
		if (search->product.clients[i].table)
			search->product.clients[i].table->error.kind = RR_ERROR_NONE;
	}
	graph->breaks &= RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP;
	search->end = RR_GRAPH_STOPPED;
	search->is_interrupted = true;
	search->learned = 0;
	return true;
}

/* Nothing was found, but clients were followed for some rounds only, or did not do the same twice:
 * perhaps they do, and there is an end to it, if the time of day stands still while they wait. */
static bool holds_day(struct rr_search *search, bool good)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_explore_result *result = search->result;
	const bool is_bounded = good && !search->learned && !result->breaks &&
				result->explored == RR_EXPLORED_ROUNDS;

	const bool is_unlike = !good &&
			       (result->error.kind == RR_ERROR_DATA || search->is_unsettled);

	if ((!is_bounded && !is_unlike) || search->config->schedule || !programs->hold_day ||
	    !programs->hold_day(programs->programs))
		return false;
	search->before = rr_malloc(sizeof(*search->before));
	*search->before = *result;
	*result = (struct rr_explore_result){ 0 };
	search->learned = 0;
	return true;
}

static bool search_on(struct rr_search *search, bool (*conclude)(struct rr_search *, void *),
		      void *context)
{
	bool good;

	search->learned = 0;
	for (int i = 0; i < SEARCHES_MAX; i++) {
		adapt(search);
		release_states(search);
		search->learned = 0;
		search->is_misplayed = false;
		good = search_once(search);
		if (good && !search->learned)
			good = conclude(search, context);
		if (!good && stop_early(search))
			good = conclude(search, context);
		if (!search->learned || search->result->error.kind)
			return good;
	}
	search->is_unsettled = true;
	return rr_error_set(&search->result->error, RR_ERROR_INTERNAL,
			    "the clients behaved differently in each search");
}

/* Where the time of day stands still a program may wait for it in vain, or have no end either:
 * then what came of it before stands. */
static bool take_back(struct rr_search *search, bool good)
{
	struct rr_explore_result *result = search->result;
	const bool is_better = good && (result->breaks || result->explored == RR_EXPLORED_ALL);

	if (!search->before || is_better || result->error.kind == RR_ERROR_INTERRUPTED)
		return good;
	search->config->programs.take_back(search->config->programs.programs);
	rr_explore_release(result);
	*result = *search->before;
	*search->before = (struct rr_explore_result){ 0 };
	return result->error.kind == RR_ERROR_NONE;
}

bool rr_search_run(struct rr_search *search, bool (*conclude)(struct rr_search *, void *),
		   void *context)
{
	bool good = search_on(search, conclude, context);

	if (holds_day(search, good))
		good = search_on(search, conclude, context);
	return take_back(search, good);
}

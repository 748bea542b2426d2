/* SPDX-License-Identifier: MIT */
/* Servers, program and tables of a search, and the loop in which it begins again. */
#include "search.h"

#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "base/machine.h"
#include "base/memory.h"
#include "play/play.h"

/* Beyond that, what clients do has no end. */
enum { SEARCHES_MAX = 64 };

/* How often clients go round that are never where they were before, one search after another, as
 * long as nothing is found and the next search is not much larger than its rounds. */
static const int rounds_of_searches[] = { 2, 8, RR_ROUNDS_WITHOUT_END };

enum { RUNS_OF_ROUND = 4, STATES_OF_ROUND = 2 /* of the one before, by the share of rounds */ };

/* What was learned of a command whose reply is random holds no longer than that. */
bool rr_search_fail(struct rr_search *search, const struct rr_error *error)
{
	const char *command = search->has_tables ? search->tables[0].random_command :
						   search->random_command;

	if (command && error->kind == RR_ERROR_INTERNAL)
		return rr_error_set(
			&search->result->error, RR_ERROR_DATA,
			"%s was answered in two ways, because its reply is random: leave it out, or let the data (--init) have one possible reply",
			command);
	return rr_error_set(&search->result->error, error->kind, "%s", error->text);
}

enum rr_going rr_search_stop(struct rr_search *search, const struct rr_error *error)
{
	if (error->kind)
		rr_search_fail(search, error);
	return rr_error_going(error);
}

/* ---- Commands that nobody else can notice --------------------------------- */

/* Answered by a real server, once. */
static uint32_t answer_unnoticed(void *context, int server, const struct rdl_command *command)
{
	struct rr_search *search = context;
	struct rr_server_table *table = &search->tables[server > 0];
	const uint32_t id = rr_terms_command(&search->terms, command);
	bool is_new;
	const uint32_t number = rr_intern_put(&search->asked, &id, sizeof(id), &is_new);
	const struct rdl_word *words; /* that end with a NUL, as those of a process may not */
	struct rdl_reply reply;

	if (!is_new)
		return search->answers[number];
	rr_array_grow(&search->answers, number, sizeof(*search->answers));
	if (!rr_asker_run(table->asker, &reply, command))
		reply = (struct rdl_reply){ .type = RDL_REPLY_NIL };
	rr_scripts_keep(&search->scripts, command, &reply);
	/* SCRIPT EXISTS and SCRIPT FLUSH are steps, when the search begins again. */
	words = search->terms.command[id].words.words;
	if (!search->config->strategy && strcasecmp(words[0].text, "SCRIPT") == 0 &&
	    strcasecmp(words[1].text, "LOAD") != 0)
		rr_belief_withdraw(&search->beliefs, RR_BELIEF_SCRIPTS_KNOWN, NULL);
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

bool rr_search_open(struct rr_search *search, struct rr_cluster *cluster,
		    const struct rr_explore_config *config, struct rr_explore_result *result)
{
	const size_t own = config->strategy ? config->strategy->lock.servers : 0;

	*search = (struct rr_search){
		.cluster = cluster,
		.config = config,
		.result = result,
		.property = config->strategy ? &rr_invariants : &rr_serializability,
		.program = { .n_clients = config->n_clients,
			     .n_servers = 1 + (own && config->lock_servers ? config->lock_servers :
									     own),
			     .addresses = search->addresses,
			     .terms = &search->terms,
			     .stacks = &search->stacks,
			     .beliefs = &search->beliefs,
			     .ask = answer_unnoticed,
			     .ask_context = search },
		.wanted = { .program = &search->program,
			    .strategy = config->strategy,
			    .increments = config->increments,
			    .budget = config->budget,
			    .lease_ns = config->ttl_ms * INT64_C(1000000),
			    .day_ns = RR_CLUSTER_START_NS,
			    .rounds = config->rounds   ? config->rounds :
				      config->schedule ? RR_ROUNDS_WITHOUT_END :
							 rounds_of_searches[0] },
		.bounds = { .most = config->most,
			    .memory = config->memory ? config->memory : rr_memory_available() / 2,
			    .deadline = &search->deadline },
		.deadline = { .goes_on = config->progress,
			      .context = config->context,
			      .n = &search->graph.n_expanded },
	};
	*result = (struct rr_explore_result){ 0 };
	rr_key_use_init(&search->key_use, &search->terms, &search->beliefs);
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
}

/* ---- Looking at states ------------------------------------------------------ */

static enum rr_graph_end look_at_states(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_product *product = &search->product;
	struct rr_server_table *tables = search->tables;
	struct rr_schedule *followed = &search->followed;

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
		return rr_search_walk(search);
	if (!config->schedule)
		return rr_graph_explore(&search->graph, product, &search->bounds);
	if (!rr_product_follow(product, config->schedule, &followed->actions, followed->end,
			       &followed->broken, &product->error))
		return RR_GRAPH_FAILED;
	followed->words = rr_strdup(config->schedule);
	return RR_GRAPH_WHOLE;
}

/* ---- Beginning anew --------------------------------------------------------- */

/* Empties the register: what was withdrawn decides what this search is like. */
static bool begin(struct rr_search *search)
{
	enum {
		ASKS_SERVERS_ANEW = 1U << RR_BELIEF_SCRIPTS_LOADED | 1U << RR_BELIEF_SCRIPTS_KNOWN |
				    1U << RR_BELIEF_NO_DAY,
		KEEPS_KEYS = 1U << RR_BELIEF_FEW_STATES | 1U << RR_BELIEF_OWN_KEYS
	};
	const struct rr_explored_programs *programs = &search->config->programs;
	const unsigned withdrawn = rr_beliefs_begin(&search->beliefs);
	struct rr_product_config *wanted = &search->wanted;

	wanted->reads_clock |= withdrawn >> RR_BELIEF_NO_CLOCKS & 1;
	wanted->sleeps |= withdrawn >> RR_BELIEF_NO_SLEEPS & 1;
	wanted->absolute |= withdrawn >> RR_BELIEF_NO_DAY & 1;
	wanted->bounded |= withdrawn >> RR_BELIEF_STATES_END & 1;
	if (withdrawn >> RR_BELIEF_FEW_STATES & 1) {
		wanted->key_use = &search->key_use;
		search->bounds.broad = 0;
	}
	/* What clients were taken for is not so any more, nor what they name. */
	if (withdrawn & ~(unsigned)KEEPS_KEYS)
		rr_key_use_release(&search->key_use);
	rr_key_use_begin(&search->key_use);
	if (search->config->strategy && withdrawn >> RR_BELIEF_CLIENT_ENDS & 1) {
		search->program.learning |= RR_LEARN_NOTHING;
		wanted->bounded = true;
	}
	if (withdrawn >> RR_BELIEF_ALIKE & 1) {
		search->program.heard_as_self = NULL;
		search->program.sent_as_own = NULL;
	}
	if (withdrawn >> RR_BELIEF_SCRIPTS_KNOWN & 1) {
		rr_scripts_become_state(&search->scripts);
		search->program.loads_scripts = true;
	}
	release_states(search);
	if (withdrawn & ASKS_SERVERS_ANEW)
		rr_search_release_tables(search);
	if (!make_tables(search))
		return false;
	if (!programs->ops || !programs->ops->begin_search(programs->context, withdrawn))
		return true;
	rr_search_release_tables(search);
	return make_tables(search);
}

/* What a failed search failed of: its product, unless it has to begin again. */
static enum rr_going search_once(struct rr_search *search)
{
	const size_t n_scripts = search->scripts.n;
	const double begun = rr_clock_s();
	enum rr_going going;
	bool is_strategy;

	if (!begin(search))
		return rr_error_going(&search->result->error);
	search->is_misplayed = false;
	search->end = look_at_states(search);
	search->seconds = rr_clock_s() - begun;
	if (search->end == RR_GRAPH_STOPPED) {
		rr_deadline_cut(&search->deadline, "states were searched");
		return RR_GO_ON;
	}
	/* Servers were asked for a script that they did not know. If a strategy has loaded it
	 * since, servers know it from the beginning, the next time. What a program does without it
	 * is searched: which scripts a server knows is a part of its state from then on. */
	is_strategy = search->config->strategy != NULL;
	if (search->tables[0].lacked_script || search->tables[1].lacked_script) {
		if (is_strategy ? search->scripts.n > n_scripts : !search->scripts.are_state)
			rr_belief_withdraw(&search->beliefs,
					   is_strategy ? RR_BELIEF_SCRIPTS_LOADED :
							 RR_BELIEF_SCRIPTS_KNOWN,
					   NULL);
	}
	if (search->end == RR_GRAPH_BROAD)
		rr_belief_withdraw(&search->beliefs, RR_BELIEF_FEW_STATES, NULL);
	if (rr_beliefs_withdrawn(&search->beliefs) & RR_BELIEFS_OF_STATES &
	    ~(1U << RR_BELIEF_FEW_STATES))
		return RR_AGAIN;
	going = search->property->verify(search);
	if (going != RR_GO_ON || search->end == RR_GRAPH_BROAD)
		return going == RR_GO_ON ? RR_AGAIN : going;
	/* What is not so of clients may have had no end. */
	if (search->end == RR_GRAPH_ENDLESS) {
		rr_belief_withdraw(&search->beliefs, RR_BELIEF_STATES_END, NULL);
		return RR_AGAIN;
	}
	return search->end == RR_GRAPH_FAILED ? rr_search_stop(search, &search->product.error) :
						RR_GO_ON;
}

/* The programs were interrupted: what was found so far is concluded from. */
static bool stop_early(struct rr_search *search)
{
	struct rr_graph *graph = &search->graph;

	if (search->result->error.kind != RR_ERROR_INTERRUPTED)
		return false;
	rr_deadline_cut(&search->deadline, "programs were run");
	search->result->error.kind = search->product.error.kind = RR_ERROR_NONE;
	for (size_t i = 0; search->product.clients && i < search->product.n_clients; i++) {
		if (search->product.clients[i].table)
			search->product.clients[i].table->error.kind = RR_ERROR_NONE;
	}
	graph->breaks &= RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP;
	search->end = RR_GRAPH_STOPPED;
	search->deadline.is_lifted = true;
	return true;
}

/* What was found so far stands, unless the next search comes to something better. */
static void set_aside(struct rr_search *search)
{
	search->before = rr_malloc(sizeof(*search->before));
	*search->before = *search->result;
	*search->result = (struct rr_explore_result){ 0 };
}

/* Nothing was found, but clients were followed for some rounds only, or did not do the same twice:
 * perhaps they do, and there is an end to it, if the time of day stands still while they wait. */
static bool holds_day(struct rr_search *search, bool good)
{
	struct rr_programs *processes = search->config->programs.processes;
	struct rr_explore_result *result = search->result;
	const bool is_bounded = good && !result->breaks && result->explored == RR_EXPLORED_ROUNDS;

	const bool is_unlike = !good &&
			       (result->error.kind == RR_ERROR_DATA || search->is_unsettled);

	if ((!is_bounded && !is_unlike) || search->config->schedule || !processes ||
	    !rr_programs_hold_day(processes))
		return false;
	search->day = result->error.kind ? RR_DAY_HELD_TO_REPEAT : RR_DAY_HELD_TO_END;
	set_aside(search);
	return true;
}

/* Clients that have no end were followed for some rounds. The next search follows more of them, unless
 * it grows faster than the number of rounds. */
static bool goes_further(struct rr_search *search, bool good)
{
	const struct rr_explore_result *result = search->result;
	const int rounds = search->wanted.rounds;
	struct rr_graph_config *bounds = &search->bounds;
	size_t next = 0;

	while (next < sizeof(rounds_of_searches) / sizeof(*rounds_of_searches) &&
	       rounds_of_searches[next] <= rounds)
		next++;
	if (!good || result->breaks || search->config->rounds ||
	    result->explored != RR_EXPLORED_ROUNDS || search->config->strategy ||
	    search->config->schedule ||
	    next == sizeof(rounds_of_searches) / sizeof(*rounds_of_searches))
		return false;
	search->wanted.rounds = rounds_of_searches[next];
	bounds->most_runs = rr_graph_count_runs(&search->product) +
			    (unsigned long)(search->wanted.rounds - rounds) * RUNS_OF_ROUND *
				    search->program.n_clients;
	bounds->most = search->graph.states.n * STATES_OF_ROUND *
		       (unsigned long)search->wanted.rounds / (unsigned long)rounds;
	if (search->config->most && bounds->most > search->config->most)
		bounds->most = search->config->most;
	set_aside(search);
	return true;
}

static bool search_on(struct rr_search *search,
		      enum rr_going (*conclude)(struct rr_search *, void *), void *context)
{
	for (int i = 0; i < SEARCHES_MAX; i++) {
		enum rr_going going = search_once(search);

		if (going == RR_GO_ON)
			going = conclude(search, context);
		if (going != RR_GO_ON && stop_early(search))
			going = conclude(search, context);
		if (going != RR_AGAIN)
			return going == RR_GO_ON;
	}
	search->is_unsettled = true;
	return rr_error_set(&search->result->error, RR_ERROR_INTERNAL,
			    "the clients behaved differently in each search");
}

/* Is that better than what was set aside? If not, that stands again. */
static bool is_better(struct rr_search *search, bool good, bool is_further)
{
	struct rr_explore_result *result = search->result, *before = search->before;
	const bool is_better = result->error.kind == RR_ERROR_INTERRUPTED ||
			       (good && (result->breaks || result->explored == RR_EXPLORED_ALL ||
					 (is_further && result->explored == RR_EXPLORED_ROUNDS)));

	if (is_better)
		rr_explore_release(before);
	else
		rr_explore_release(result);
	if (!is_better)
		*result = *before;
	free(before);
	search->before = NULL;
	return is_better;
}

bool rr_search_run(struct rr_search *search, enum rr_going (*conclude)(struct rr_search *, void *),
		   void *context)
{
	bool good = search_on(search, conclude, context);

	/* Where the time of day stands still a program may wait for it in vain, or have no end
	 * either. */
	if (holds_day(search, good)) {
		good = search_on(search, conclude, context);
		if (!is_better(search, good, false)) {
			search->config->programs.processes->is_taken_back = true;
			search->day = RR_DAY_GOES_ON;
			return search->result->error.kind == RR_ERROR_NONE;
		}
	}
	while (goes_further(search, good)) {
		good = search_on(search, conclude, context);
		if (!is_better(search, good, true))
			return search->result->error.kind == RR_ERROR_NONE;
	}
	return good;
}

/* SPDX-License-Identifier: MIT */
#include "explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "holders.h"
#include "invariants.h"
#include "counterexample.h"
#include "interleavings.h"
#include "shards.h"

enum { REPORT_EVERY = 8 };

#define YIELD_NS INT64_C(100000000)

struct explorer {
	const struct rr_explore_config *config;
	struct rr_share *share;
	struct rr_explore_result *result;
	struct rr_world *world;
	struct rl_address addresses[RR_FLEET_MAX];
	struct rr_access *access;
	struct rr_search *search;
	struct rr_interleavings *room;
	struct rr_pct *pct; /* NULL = searches */
	struct rr_subject *subject;
	int jumped; /* the server whose clock is ahead, -1 = none */
};

/* ---- Setting up ----------------------------------------------------------- */

static enum rr_exit fail(struct explorer *explorer, enum rr_exit code,
			 const char *why)
{
	snprintf(explorer->result->error, RR_WORLD_ERROR, "%s", why);
	return code;
}

static void move_time(void *context, int64_t duration_ns)
{
	struct explorer *explorer = context;

	rr_world_tick_idle(explorer->world, duration_ns);
}

/* A server comes back empty, or its clock jumps; both for the rest of the run. */
static void strike(void *context, enum rr_choice_kind kind, int server,
		   int64_t by_ns)
{
	struct explorer *explorer = context;
	char error[RR_WORLD_ERROR];

	if (kind == RR_CHOOSE_RESTART) {
		rr_access_disconnect(explorer->access, server);
		rr_subject_wipe(explorer->subject, server);
	} else {
		explorer->jumped = server;
		rr_world_skew(explorer->world, server, by_ns, error);
	}
}

/* Clocks are together again. */
static void end_run(void *context)
{
	struct explorer *explorer = context;
	char error[RR_WORLD_ERROR];

	if (explorer->jumped >= 0)
		rr_world_skew(explorer->world, explorer->jumped, 0, error);
	explorer->jumped = -1;
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

static enum rr_exit make_search(struct explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;

	explorer->access = rr_access_new(explorer->addresses,
					 rr_explore_servers(config));
	if (!explorer->access)
		return fail(explorer, RR_EXIT_REDIS, "cannot connect");
	if (config->random.runs)
		explorer->pct = rr_pct_new(&config->random, &config->budget);
	if (config->random.runs && !explorer->pct)
		return fail(explorer, RR_EXIT_INTERNAL, "out of memory");
	explorer->search = rr_search_new(&(struct rr_search_config){
		.n_clients = config->n_clients,
		.n_servers = rr_explore_servers(config),
		.separate = config->separate,
		.all = config->all,
		.budget = config->budget,
		.stays_away = config->stays_away,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
		.rounds = config->rounds,
		.access = explorer->access,
		.pct = explorer->pct,
		.split = explorer->share->split,
		.claim = rr_shards_claim,
		.context = explorer->share,
	});
	explorer->room = rr_interleavings_new();
	return explorer->search && explorer->room ?
		       RR_EXIT_OK :
		       fail(explorer, RR_EXIT_INTERNAL, "out of memory");
}

static enum rr_exit make_subject(struct explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;

	explorer->subject = rr_subject_new(
		&(struct rr_subject_config){
			.strategy = config->strategy,
			.addresses = explorer->addresses,
			.prefix = "",
			.n_clients = config->n_clients,
			.separate = config->separate,
			.increments = config->increments,
			.ttl_ms = config->ttl_ms,
			.hold_us = config->work_ms * 1000,
			.lock_servers = config->lock_servers,
			.repeats = config->repeats,
			.day_ns = RR_WORLD_START_NS,
			.yield_ns = YIELD_NS,
			.servers_stay = true,
			.advance = move_time,
			.strike = strike,
			.over = end_run,
			.context = explorer,
			.planted = config->planted,
		},
		explorer->result->error, RR_WORLD_ERROR);
	if (!explorer->subject)
		return RR_EXIT_REDIS;
	rr_access_set_gate(explorer->access,
			   rr_subject_gate(explorer->subject));
	for (size_t i = 0; i < config->n_clients; i++)
		rr_gate_set_skew(rr_subject_gate(explorer->subject), (int)i,
				 (int64_t)i * config->skew_ns);
	if (!rr_subject_prepare(explorer->subject))
		return fail(explorer, RR_EXIT_REDIS,
			    rr_subject_error(explorer->subject));
	return RR_EXIT_OK;
}

static enum rr_exit set_up(struct explorer *explorer)
{
	enum rr_exit code;

	for (size_t i = 0; i < explorer->world->n_servers; i++)
		explorer->addresses[i] =
			*rr_world_address(explorer->world, (int)i);
	code = check_strategy(explorer);
	if (code == RR_EXIT_OK)
		code = make_search(explorer);
	if (code == RR_EXIT_OK)
		code = make_subject(explorer);
	return code;
}

/* ---- Judging -------------------------------------------------------------- */

static int switches_of(const struct rr_search *search)
{
	const size_t n = rr_search_n_moves(search);
	int switches = 0;

	for (size_t i = 1; i < n; i++)
		switches += rr_search_move(search, i).actor !=
			    rr_search_move(search, i - 1).actor;
	return switches;
}

static unsigned long last_part(const struct explorer *explorer)
{
	return rr_search_n_parts(explorer->search) - 1;
}

/* What is worst comes first in the set. */
static int worst(unsigned breaks, unsigned shows)
{
	if (breaks & shows)
		return -1;
	return breaks ? __builtin_ctz(breaks) : RR_INVARIANTS;
}

int rr_explore_compare(const struct rr_explore_result *a,
		       const struct rr_explore_result *b, unsigned shows)
{
	const int order = worst(a->shortest_breaks, shows) -
			  worst(b->shortest_breaks, shows);

	if (order)
		return order;
	if (a->switches != b->switches)
		return a->switches - b->switches;
	return (a->moves > b->moves) - (a->moves < b->moves);
}

static void keep_if_shorter(struct explorer *explorer, unsigned broken,
			    const struct rr_subject_result *run)
{
	struct rr_explore_result *result = explorer->result;
	const int switches = switches_of(explorer->search);
	const size_t moves = rr_search_n_moves(explorer->search);

	const struct rr_explore_result run_alone = {
		.shortest_breaks = broken,
		.switches = switches,
		.moves = moves,
	};

	if (result->transcript &&
	    rr_explore_compare(&run_alone, result, explorer->config->shows) >=
		    0)
		return;
	free(result->transcript);
	result->shortest_breaks = broken;
	result->switches = switches;
	result->moves = moves;
	result->seed = explorer->pct ? rr_pct_seed(explorer->pct) : 0;
	explorer->share->shortest = last_part(explorer);
	result->transcript = rr_counterexample_write(
		explorer->config, rr_subject_gate(explorer->subject), run);
}

/* How many interleavings the last run stands for, as long as it is known of all
 * that were before. */
static void count(struct explorer *explorer, bool fails)
{
	struct rr_explore_result *result = explorer->result;
	uint64_t n = 1;

	if (result->schedules > 1 && !result->interleavings)
		return;
	if (!explorer->config->all)
		n = rr_interleavings_of(explorer->room, explorer->search);
	result->interleavings =
		result->schedules == 1 ?
			n :
			rr_interleavings_add(result->interleavings, n);
	if (fails)
		result->failing_interleavings += n;
}

static void judge(struct explorer *explorer, enum rr_run_end end,
		  const struct rr_subject_result *run)
{
	struct rr_explore_result *result = explorer->result;
	const struct rr_gate *gate = rr_subject_gate(explorer->subject);
	const unsigned broken =
		rr_invariants_broken(explorer->config->strategy, run, end) |
		rr_holders_judge(explorer->config, explorer->access,
				 explorer->search, rr_gate_last_trace(gate));

	result->cut += end == RR_RUN_CUT;
	if (!explorer->pct)
		count(explorer, broken != 0);

	for (int i = 0; i < RR_INVARIANTS; i++)
		result->broken[i] += broken >> i & 1;
	result->breaks |= broken;
	if (!broken)
		return;
	result->failing++;
	if (broken & explorer->config->first_of)
		rr_shards_note_failure(explorer->share->shards,
				       last_part(explorer));
	keep_if_shorter(explorer, broken, run);
}

/* ---- Running -------------------------------------------------------------- */

static unsigned long commands_of(const struct rr_gate_trace *trace)
{
	unsigned long n = 0;

	for (size_t i = 0; i < trace->n_events; i++)
		n += trace->events[i].kind == RR_EVENT_STEP &&
		     trace->events[i].op.kind == RR_OP_SEND;
	return n;
}

static const char *why_broken(enum rr_gate_end end)
{
	const char *failure = rr_gate_failure(end);

	return failure ? failure : rr_gate_failure(RR_GATE_BAD_CHOICE);
}

static enum rr_exit drive(struct explorer *explorer,
			  struct rr_subject_result *run, enum rr_run_end *end)
{
	rr_search_begin(explorer->search);
	if (!rr_subject_run(explorer->subject, rr_search_choose,
			    explorer->search, run))
		return fail(explorer, RR_EXIT_REDIS,
			    rr_subject_error(explorer->subject));
	*end = rr_search_learn(explorer->search, run->end,
			       rr_gate_last_view(
				       rr_subject_gate(explorer->subject)));
	if (*end == RR_RUN_GONE)
		return fail(explorer, RR_EXIT_REDIS,
			    rr_gate_failure(RR_GATE_SILENT));
	if (*end == RR_RUN_BROKEN)
		return fail(explorer, RR_EXIT_INTERNAL, why_broken(run->end));
	return RR_EXIT_OK;
}

static enum rr_exit run_one(struct explorer *explorer)
{
	const struct rr_gate *gate = rr_subject_gate(explorer->subject);
	struct rr_subject_result run;
	enum rr_run_end end;
	const enum rr_exit code = drive(explorer, &run, &end);

	if (code != RR_EXIT_OK)
		return code;
	if (end == RR_RUN_AGAIN || end == RR_RUN_ELSEWHERE)
		return RR_EXIT_OK;
	if (end == RR_RUN_BLOCKED) {
		explorer->result->blocked++;
		return RR_EXIT_OK;
	}
	explorer->result->schedules++;
	explorer->result->commands += commands_of(rr_gate_last_trace(gate));
	atomic_fetch_add(&explorer->share->shards->schedules, 1);
	judge(explorer, end, &run);
	return RR_EXIT_OK;
}

/* How many steps a run has, before any is drawn. */
static enum rr_exit measure(struct explorer *explorer)
{
	struct rr_subject_result run;
	enum rr_run_end end;
	const enum rr_exit code = drive(explorer, &run, &end);

	rr_pct_measured(explorer->pct, rr_search_n_moves(explorer->search));
	rr_pct_next(explorer->pct);
	return code;
}

/* What share of the schedules has been run. */
static double share_of(const struct explorer *explorer)
{
	if (explorer->pct)
		return (double)explorer->result->schedules /
		       (double)explorer->config->random.runs;
	return rr_search_share(explorer->search);
}

/* Why to stop before the end; RR_EXPLORED_ALL: go on. */
static enum rr_explored look_up(const struct explorer *explorer)
{
	const struct rr_explore_config *config = explorer->config;
	const struct rr_explore_result *result = explorer->result;
	const unsigned long runs = result->schedules + result->blocked;
	struct rr_share *share = explorer->share;
	struct rr_shards *shards = share->shards;

	if (config->first_of && rr_search_n_parts(explorer->search) >
					atomic_load(&shards->failing))
		return RR_EXPLORED_FIRST;
	if (config->most && atomic_load(&shards->schedules) >= config->most)
		return RR_EXPLORED_MOST;
	share->gave_up = share->most_runs && runs >= share->most_runs;
	if (share->gave_up || atomic_load(&shards->is_over))
		return RR_EXPLORED_STOPPED;
	if (config->progress && runs % REPORT_EVERY == 0 &&
	    !config->progress(config->context, result->schedules,
			      share_of(explorer)))
		return RR_EXPLORED_STOPPED;
	return RR_EXPLORED_ALL;
}

static bool has_next(struct explorer *explorer)
{
	return explorer->pct ? rr_pct_next(explorer->pct) :
			       rr_search_next(explorer->search);
}

/* Why there is no other schedule. */
static void conclude(struct explorer *explorer)
{
	struct rr_explore_result *result = explorer->result;

	if (explorer->pct)
		result->bound = rr_pct_bound(explorer->pct, result->schedules);
	if (result->explored != RR_EXPLORED_ALL)
		return;
	if (explorer->pct)
		result->explored = RR_EXPLORED_RANDOM;
	else if (rr_search_was_cut(explorer->search))
		result->explored = RR_EXPLORED_ROUNDS;
}

static enum rr_exit run_all(struct explorer *explorer)
{
	struct rr_explore_result *result = explorer->result;
	enum rr_exit code = explorer->pct ? measure(explorer) : RR_EXIT_OK;

	if (code != RR_EXIT_OK)
		return code;
	do {
		code = run_one(explorer);
		result->explored = look_up(explorer);
	} while (code == RR_EXIT_OK && result->explored == RR_EXPLORED_ALL &&
		 has_next(explorer));
	conclude(explorer);
	explorer->share->n_parts = rr_search_n_parts(explorer->search);
	return code;
}

double rr_explore_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

size_t rr_explore_servers(const struct rr_explore_config *config)
{
	const size_t own = config->strategy->lock_servers;

	return 1 + (own && config->lock_servers ? config->lock_servers : own);
}

enum rr_exit rr_explore_share(struct rr_world *world,
			      const struct rr_explore_config *config,
			      struct rr_share *share,
			      struct rr_explore_result *result)
{
	struct explorer explorer = { .config = config,
				     .share = share,
				     .result = result,
				     .world = world,
				     .jumped = -1 };
	enum rr_exit code;

	*result = (struct rr_explore_result){ 0 };
	code = set_up(&explorer);
	result->seconds = rr_explore_seconds();
	if (code == RR_EXIT_OK)
		code = run_all(&explorer);
	result->seconds = rr_explore_seconds() - result->seconds;
	rr_subject_free(explorer.subject);
	rr_search_free(explorer.search);
	rr_interleavings_free(explorer.room);
	rr_pct_free(explorer.pct);
	rr_access_free(explorer.access);
	return code;
}

void rr_explore_release(struct rr_explore_result *result)
{
	free(result->transcript);
	result->transcript = NULL;
}

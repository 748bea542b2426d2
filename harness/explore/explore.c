/* SPDX-License-Identifier: MIT */
#include "explore_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPORT_EVERY = 8 };

enum rr_exit rr_explorer_fail(struct rr_explorer *explorer, enum rr_exit code,
			      const char *why)
{
	snprintf(explorer->result->error, RR_WORLD_ERROR, "%s", why);
	return code;
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

static enum rr_exit drive(struct rr_explorer *explorer,
			  struct rr_subject_result *run, enum rr_run_end *end)
{
	rr_search_begin(explorer->search);
	if (!rr_subject_run(explorer->subject, rr_search_choose,
			    explorer->search, run))
		return rr_explorer_fail(explorer, RR_EXIT_REDIS,
					rr_subject_error(explorer->subject));
	*end = rr_search_learn(explorer->search, run->end,
			       rr_gate_last_view(
				       rr_subject_gate(explorer->subject)));
	if (*end == RR_RUN_GONE)
		return rr_explorer_fail(explorer, RR_EXIT_REDIS,
					rr_gate_failure(RR_GATE_SILENT));
	if (*end == RR_RUN_BROKEN)
		return rr_explorer_fail(explorer, RR_EXIT_INTERNAL,
					why_broken(run->end));
	return RR_EXIT_OK;
}

static enum rr_exit run_one(struct rr_explorer *explorer)
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
	rr_explorer_judge(explorer, end, &run);
	return RR_EXIT_OK;
}

/* How many steps a run has, before any is drawn. */
static enum rr_exit measure(struct rr_explorer *explorer)
{
	struct rr_subject_result run;
	enum rr_run_end end;
	const enum rr_exit code = drive(explorer, &run, &end);

	rr_pct_measured(explorer->pct, rr_search_n_moves(explorer->search));
	rr_pct_next(explorer->pct);
	return code;
}

/* What share of the schedules has been run. */
static double share_of(const struct rr_explorer *explorer)
{
	if (explorer->pct)
		return (double)explorer->result->schedules /
		       (double)explorer->config->random.runs;
	return rr_search_share(explorer->search);
}

/* Why to stop before the end; RR_EXPLORED_ALL: go on. */
static enum rr_explored look_up(const struct rr_explorer *explorer)
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

static bool has_next(struct rr_explorer *explorer)
{
	return explorer->pct ? rr_pct_next(explorer->pct) :
			       rr_search_next(explorer->search);
}

/* Why there is no other schedule. */
static void conclude(struct rr_explorer *explorer)
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

static enum rr_exit run_all(struct rr_explorer *explorer)
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

/* ---- The whole ------------------------------------------------------------ */

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
	struct rr_explorer explorer = { .config = config,
				     .share = share,
				     .result = result,
				     .world = world,
				     .jumped = -1 };
	enum rr_exit code;

	*result = (struct rr_explore_result){ 0 };
	code = rr_explorer_begin(&explorer);
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

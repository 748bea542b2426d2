/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/machine.h"
#include "base/text.h"
#include "search.h"

#define LOOK_EVERY 0.1 /* seconds */

bool rr_explore(struct rr_cluster *cluster, const struct rr_explore_config *config,
		struct rr_explore_result *result)
{
	const double begun = rr_clock_s();
	struct rr_search search;
	const bool good = rr_search_open(&search, cluster, config, result) &&
			  rr_search_run(&search,
					config->random.runs ? rr_search_conclude_walks :
							      rr_search_conclude,
					NULL) &&
			  rr_search_conclude_findings(&search) &&
			  (result->breaks || config->all || rr_search_try_mutants(&search));

	rr_search_release(&search);
	result->seconds = rr_clock_s() - begun;
	return good;
}

bool rr_explore_has_counted(const struct rr_explore_result *result)
{
	return result->explored == RR_EXPLORED_ALL && result->interleavings &&
	       result->interleavings <= INT64_MAX;
}

/* ---- The graph alone ---------------------------------------------------------- */

static enum rr_going conclude_graph(struct rr_search *search, void *context)
{
	struct rr_error *error = &search->result->error;
	enum rr_going going;
	json_t **json = context;

	if (search->end == RR_GRAPH_STOPPED)
		rr_error_interrupted(error);
	else if (search->end != RR_GRAPH_WHOLE)
		rr_error_set(
			error, RR_ERROR_DATA,
			"not all of its states were seen: with fewer clients, increments or faults there are fewer");
	if (error->kind)
		return rr_error_going(error);
	going = rr_search_audit(search);
	if (going != RR_GO_ON)
		return going;
	rr_graph_analyse(&search->graph);
	*json = rr_search_graph_json(search, 0);
	return *json ? RR_GO_ON : RR_FAILED;
}

json_t *rr_explore_graph(struct rr_cluster *cluster, const struct rr_explore_config *config,
			 struct rr_error *error)
{
	struct rr_explore_result result;
	struct rr_search search;
	json_t *json = NULL;

	if (!rr_search_open(&search, cluster, config, &result) ||
	    !rr_search_run(&search, conclude_graph, &json))
		*error = result.error;
	rr_search_release(&search);
	return json;
}

/* ---- Progress ------------------------------------------------------------------ */

bool rr_explore_progress(void *context, unsigned long n, double share)
{
	struct rr_explore_progress *progress = context;
	const double now = rr_clock_s();

	/* Of a search that goes on, or of another one. */
	if (progress->begun == 0)
		progress->begun = now;
	if (n < progress->n)
		progress->n_before += progress->n;
	if (progress->line.begun == 0 || n < progress->n)
		rr_progress_begin(&progress->line);
	progress->n = n;
	if (now - progress->looked < LOOK_EVERY)
		return true;
	progress->looked = now;
	if (rr_progress_is_due(&progress->line)) {
		const unsigned long n_all = progress->n_before + n;
		const double elapsed = now - progress->begun;
		const double rate = elapsed > 0 ? (double)n_all / elapsed : 0;
		double left = rr_progress_left(&progress->line, share);
		char done[RR_GROUPED_SIZE], a_second[RR_GROUPED_SIZE], percent[40] = "";

		if (share < progress->shown)
			left = 0;
		if (left > 0) {
			snprintf(percent, sizeof(percent), ", about %.2g %% done", 100 * share);
			progress->shown = share;
		}
		/* "multi-watch: 12,345 states, 3,200 a second, about 40 % done, about 6 s left". */
		rr_progress_show(&progress->line, left, "%s: %s %s, %s a second%s", progress->name,
				 rr_grouped(done, (long long)n_all), progress->unit,
				 rr_grouped(a_second, (long long)rate), percent);
	}
	return rr_signals_wait(progress->signals, 0) &&
	       !(progress->until_ns && rr_clock_ns() > progress->until_ns);
}

void rr_explore_release(struct rr_explore_result *result)
{
	for (size_t i = 0; i < result->n_findings; i++) {
		struct rr_outcome *finding = &result->findings[i];

		rr_played_release(&finding->played);
		free(finding->words);
		free(finding->data);
		free(finding->nearest);
		free(finding->unexpected);
		free(finding->successor);
		free(finding->why);
		rr_command_list_release(&finding->given);
	}
	free(result->final_ends.all);
	free(result->serial_ends.all);
	result->final_ends = result->serial_ends = (struct rr_ends){ .is_known = false };
	free(result->mend);
	free(result->serial);
	json_decref(result->coverage);
	json_decref(result->graph);
	json_decref(result->moved_keys);
	json_decref(result->ignored);
	result->n_findings = 0;
	result->coverage = result->graph = result->moved_keys = result->ignored = NULL;
	result->mend = result->serial = NULL;
}

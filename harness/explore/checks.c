/* SPDX-License-Identifier: MIT */
/* What a search comes to, and what keeps that honest: what is found is played for real;
 * if nothing is, rows are asked again and random paths are played. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "search.h"

enum { VERIFY_SERVERS = 600 }; /* questions, of each table */

/* ---- Results -------------------------------------------------------------- */

static void note_graph(struct rr_search *search)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,       [RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,       [RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
		[RR_GRAPH_STOPPED] = RR_EXPLORED_STOPPED, [RR_GRAPH_FOUND] = RR_EXPLORED_FOUND,
	};
	struct rr_explore_result *result = search->result;
	const struct rr_graph *graph = &search->graph;
	const struct rr_intern *keys = &search->judge.contents.moved;

	result->explored = explored[search->end];
	if (search->end == RR_GRAPH_CUT && !search->config->strategy) {
		result->rounds = search->wanted.rounds;
		if (result->rounds == RR_ROUNDS_WITHOUT_END && !search->config->rounds)
			result->explored = RR_EXPLORED_ALL;
	}
	result->cut = search->end == RR_GRAPH_STOPPED ? search->deadline.cut : NULL;
	result->day = search->day;
	/* What was not compared, because it moves with the clock. */
	json_decref(result->moved_keys);
	result->moved_keys = keys->n ? json_array() : NULL;
	result->moved_outputs = search->judge.moved_outputs;
	for (uint32_t i = 0; i < keys->n; i++) {
		char *name = rr_plain_bytes(rr_intern_get(keys, i), keys->values[i].length);

		json_array_append_new(result->moved_keys, json_string(name));
		free(name);
	}
	result->need_each_other = result->finals > 0 && !search->judge.serial.is_cut &&
				  !search->judge.serial.has_whole;
	/* Has any key of the data server ever a time to live? */
	for (uint32_t i = 0; i < search->tables[0].keys.n; i++)
		result->has_leases |= search->tables[0].states[i].first_end_ns != RR_NEVER;
	result->left_out = search->product.left_out;
	result->has_own_keys = search->key_use.relying != 0;
	result->states = graph->states.n;
	result->transitions = graph->n_edges;
	result->breaks = graph->breaks;
	result->interleavings = graph->interleavings;
	result->failing_interleavings = graph->failing_interleavings;
	memcpy(result->broken, graph->broken, sizeof(result->broken));
	rr_graph_smallest(graph, result->smallest);
	for (int i = 0; i < RR_INVARIANTS; i++)
		result->failing += graph->broken[i];
	result->stats.bytes_per_state = graph->states.n ? rr_graph_bytes(graph) / graph->states.n :
							  0;
	if (result->random_command[0] && result->explored == RR_EXPLORED_ALL)
		result->explored = RR_EXPLORED_RANDOM_REPLIES;
}

/* ---- Paths that are played -------------------------------------------------- */

/* The tables' own askers keep nothing on the servers meanwhile. */
static struct rr_free_replay *open_replay(struct rr_search *search)
{
	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &search->tables[i];

		if (table->asker)
			rr_asker_reset(table->asker);
		table->at = RR_NO_ID;
	}
	return rr_free_replay_new(
		&(struct rr_free_replay_config){ .program = &search->program,
						 .cluster = search->cluster,
						 .scripts = &search->scripts,
						 .day_ns = search->wanted.day_ns,
						 .skew_ns = search->wanted.skew_ns });
}

/* All clients at once, and real servers. If they do something else, something may have
 * been learned of them; so it may of those whose first whole run that was. */
static enum rr_going play_actions(struct rr_search *search, struct rr_free_replay *replay,
				  const struct rr_actions *actions, const uint32_t *end,
				  unsigned broken, enum rr_play play)
{
	struct rr_programs *processes = search->config->programs.processes;
	const bool shows = processes && play != RR_PLAY_PATHS;
	struct rr_error error = { .kind = RR_ERROR_NONE };
	enum rr_going going = RR_GO_ON;
	bool good;

	if (processes)
		rr_programs_set_live(processes, play);
	good = rr_product_replay(&search->product, replay, actions, end, broken, &error);
	search->is_misplayed |= !good;
	if (!good || shows)
		going = search->property->verify(search);
	if (going == RR_GO_ON && !good)
		going = rr_search_stop(search, &error);
	if (processes)
		rr_programs_set_live(processes, RR_PLAY_NOTHING);
	return going;
}

static enum rr_going find_actions(struct rr_search *search, const struct rr_graph *graph,
				  const struct rr_path *path, struct rr_actions *actions)
{
	if (rr_graph_actions(graph, path, actions))
		return RR_GO_ON;
	if (!rr_product_failed(graph->product))
		rr_error_set(&graph->product->error, RR_ERROR_INTERNAL,
			     "a path through the states is gone");
	return rr_search_stop(search, &graph->product->error);
}

enum rr_going rr_search_audit(struct rr_search *search)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_programs *processes = programs->processes;
	struct rr_free_replay *replay = open_replay(search);
	/* Where nobody does anything, there is nothing to be played. */
	const unsigned long n = search->graph.n_edges ? search->config->audit : 0;
	enum rr_going going = RR_GO_ON;
	struct rr_path path = { 0 };
	struct rr_error error = { 0 };

	for (unsigned long i = 0; i < n && going == RR_GO_ON; i++) {
		const int rounds = processes ? rr_programs_next_rounds(processes) : 0;
		struct rr_actions actions = { 0 };

		if (rr_deadline_is_over(&search->deadline, "random interleavings were played")) {
			search->result->explored = RR_EXPLORED_STOPPED;
			search->result->cut = search->deadline.cut;
			break;
		}
		if (rounds > 0)
			rr_graph_looping_path(&search->graph, 1 + i, rounds, &path);
		else if (programs->ops && i < search->program.n_clients)
			rr_graph_lockstep_path(&search->graph, i, &path);
		else
			rr_graph_random_path(&search->graph, 1 + i, &path);
		going = find_actions(search, &search->graph, &path, &actions);
		if (going == RR_GO_ON)
			going = play_actions(search, replay, &actions,
					     rr_graph_path_end(&search->graph, &path),
					     rr_graph_path_breaks(&search->graph, &path),
					     RR_PLAY_PATHS);
		free(actions.all);
		search->result->stats.audited++;
	}
	rr_path_release(&path);
	rr_free_replay_free(replay);
	/* The numbers of rounds after which loops are left are tried by the paths, as far as these
	 * come to loops. */
	if (going == RR_GO_ON && search->end != RR_GRAPH_STOPPED && processes &&
	    rr_programs_verify_rounds(processes, &error) != RR_GO_ON)
		going = rr_search_stop(search, &error);
	return going;
}

/* ---- What is found -------------------------------------------------------------- */

void rr_schedule_release(struct rr_schedule *schedule)
{
	free(schedule->actions.all);
	free(schedule->words);
	*schedule = (struct rr_schedule){ 0 };
}

enum rr_going rr_search_play(struct rr_search *search, const struct rr_actions *actions,
			     const uint32_t *end)
{
	struct rr_free_replay *replay = open_replay(search);
	const enum rr_going going = play_actions(search, replay, actions, end, 0, RR_PLAY_ORDER);

	rr_free_replay_free(replay);
	return going;
}

enum rr_going rr_search_show(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_free_replay *replay = open_replay(search);
	const enum rr_going going = play_actions(search, replay, &schedule->actions, schedule->end,
						 schedule->broken, RR_PLAY_FINDING);

	rr_free_replay_free(replay);
	search->result->switches = schedule->switches;
	search->result->steps = schedule->steps;
	return going == RR_GO_ON ? search->property->show(search, schedule) : going;
}

static enum rr_going show_path(struct rr_search *search, const struct rr_path *path)
{
	const struct rr_graph *graph = &search->graph;
	struct rr_schedule schedule = { .steps = path->n,
					.switches = path->switches,
					.words = rr_path_words(graph, path),
					.broken = rr_graph_path_breaks(graph, path) };
	enum rr_going going;

	memcpy(schedule.end, rr_graph_path_end(graph, path),
	       graph->product->n_words * sizeof(schedule.end[0]));
	going = find_actions(search, graph, path, &schedule.actions);
	if (going == RR_GO_ON)
		going = rr_search_show(search, &schedule);
	rr_schedule_release(&schedule);
	return going;
}

/* ---- All that is found ------------------------------------------------------------ */

/* Are two ends wrong in the same way? Then one stands for both. */
static bool are_alike(struct rr_search *search, uint32_t a, uint32_t b)
{
	return rr_judge_are_alike(&search->judge, rr_graph_key(&search->graph, a),
				  rr_graph_key(&search->graph, b));
}

/* The shortest schedule has been shown, which leads to `shown`. */
static enum rr_going show_others(struct rr_search *search, uint32_t shown)
{
	uint32_t kinds[RR_FINDINGS_SHOWN]; /* a state of each */
	size_t n_kinds = 0;
	/* Of each state: is it like the one that is looked for? */
	bool *goals = rr_calloc(search->graph.states.n, sizeof(*goals));
	const struct rr_graph *graph = &search->graph;
	struct rr_explore_result *result = search->result;
	enum rr_going going = RR_GO_ON;
	struct rr_path path = { 0 };

	/* The first of each kind, in the order in which they were found. */
	for (uint32_t i = 0; i < graph->states.n; i++) {
		size_t j = 0;

		if (!(graph->flags[i] & RR_STATE_WRONG))
			continue;
		while (j < n_kinds && !are_alike(search, kinds[j], i))
			j++;
		if (j == RR_FINDINGS_SHOWN)
			result->n_unshown++;
		else if (j == n_kinds)
			kinds[n_kinds++] = i;
	}
	for (size_t i = 0; i < n_kinds && going == RR_GO_ON; i++) {
		if (are_alike(search, kinds[i], shown))
			continue;
		if (rr_deadline_is_over(&search->deadline, "other findings were played")) {
			result->n_unshown++;
			continue;
		}
		for (uint32_t j = 0; j < graph->states.n; j++)
			goals[j] = graph->flags[j] & RR_STATE_WRONG &&
				   are_alike(search, kinds[i], j);
		going = rr_graph_shortest_to(graph, goals, &path) ? show_path(search, &path) :
								    RR_FAILED;
		rr_path_release(&path);
	}
	/* The first one has been proved, and stands. */
	if (going == RR_INTERRUPTED) {
		result->error.kind = RR_ERROR_NONE;
		result->n_unshown++;
		going = RR_GO_ON;
	}
	free(goals);
	return going;
}

/* What breaks on the way to an end, right or wrong, if no schedule so far has shown it. */
static enum rr_going show_on_the_way(struct rr_search *search)
{
	static const struct {
		unsigned breaks, found;
	} all[] = { { RR_BREAKS_EXCLUSION, RR_OUTCOME_EXCLUSION },
		    { RR_BREAKS_OWNERSHIP, RR_OUTCOME_OWNERSHIP } };
	struct rr_explore_result *result = search->result;
	enum rr_going going = RR_GO_ON;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && going == RR_GO_ON; i++) {
		struct rr_path path = { 0 };
		unsigned shown = 0;

		for (size_t k = 0; k < result->n_findings; k++)
			shown |= result->findings[k].found;
		if (!(result->breaks & all[i].breaks) || shown & all[i].found)
			continue;
		if (result->n_findings == RR_FINDINGS_SHOWN ||
		    rr_deadline_is_over(&search->deadline, "other findings were played"))
			result->n_unshown++;
		else if (rr_graph_shortest(&search->graph, all[i].breaks, &path))
			going = show_path(search, &path);
		rr_path_release(&path);
	}
	return going;
}

static enum rr_going show_shortest(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	struct rr_path path = { 0 };
	enum rr_going going = RR_FAILED;

	result->shortest_breaks = rr_worst_invariant(result->breaks, search->config->shows);
	if (rr_graph_shortest(&search->graph, result->shortest_breaks, &path))
		going = rr_search_verify_finding(search, &path);
	else
		rr_error_set(&result->error, RR_ERROR_INTERNAL, "no path to a state that fails");
	if (going == RR_GO_ON)
		going = show_path(search, &path);
	if (going == RR_GO_ON && search->config->shows_all &&
	    result->shortest_breaks & RR_BREAKS_COUNT)
		going = show_others(search, rr_graph_path_state(&search->graph, &path));
	rr_path_release(&path);
	if (going == RR_GO_ON && search->config->shows_all)
		going = show_on_the_way(search);
	return going;
}

/* ---- The whole -------------------------------------------------------------- */

json_t *rr_search_graph_json(struct rr_search *search, unsigned worst)
{
	struct rr_error error = { 0 };
	json_t *json = rr_graph_json(
		&(struct rr_graph_shown){ .graph = &search->graph,
					  .product = &search->product,
					  .scripts = &search->scripts,
					  .script_names = search->config->script_names,
					  .programs = &search->config->programs,
					  .worst = worst },
		&error);

	if (!json)
		rr_search_fail(search, &error);
	return json;
}

/* The graph, into the files that the configuration names, and the result, if it is to have it. */
static bool write_graph(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_error *error = &search->result->error;
	const bool is_kept = search->end == RR_GRAPH_WHOLE &&
			     search->graph.states.n <= config->graph_of;
	json_t *graph;
	struct rr_draft draft;

	if (!config->dot && !config->json && !is_kept)
		return true;
	graph = rr_search_graph_json(search,
				     rr_worst_invariant(search->result->breaks, config->shows));
	if (graph && config->dot) {
		rr_draft_open(&draft);
		rr_graph_write_dot(draft.out, graph);
		rr_draft_replace(&draft, config->dot, error);
	}
	if (graph && config->json) {
		rr_draft_open(&draft);
		json_dumpf(graph, draft.out, JSON_COMPACT);
		fputc('\n', draft.out);
		rr_draft_replace(&draft, config->json, error);
	}
	if (!error->kind && is_kept)
		search->result->graph = json_incref(graph);
	json_decref(graph);
	return !error->kind;
}

static enum rr_going check_states(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_explore_result *result = search->result;
	struct rr_server_table *tables = search->tables;
	enum rr_going going;

	/* What was drawn once says nothing of what else could have been. */
	if (!config->strategy && tables[0].asker && !rr_server_table_verify_random(&tables[0]))
		return rr_search_stop(search, &tables[0].error);
	if (!write_graph(search))
		return rr_error_going(&result->error);
	/* It was interrupted before all of the schedule was followed. */
	if (config->schedule && !search->followed.words)
		return RR_GO_ON;
	if (config->schedule)
		return rr_search_show(search, &search->followed);
	if (result->breaks)
		return show_shortest(search);
	if (result->explored == RR_EXPLORED_STOPPED)
		return RR_GO_ON;
	for (int i = 0; i < 2; i++) {
		if (tables[i].asker && rr_server_table_verify(&tables[i], VERIFY_SERVERS,
							      &result->stats.checked_servers))
			return rr_search_stop(search, &tables[i].error);
	}
	going = rr_search_audit(search);
	return going == RR_GO_ON ? search->property->confirm(search) : going;
}

/* Notes what patterns of the user leave out of final states, also of those that are all the same and
 * were not compared for that. */
static enum rr_going note_ignored(struct rr_search *search)
{
	struct rr_contents *contents = &search->judge.contents;
	const struct rr_graph *graph = &search->graph;

	for (uint32_t i = 0; i < graph->states.n && contents->n_ignored; i++) {
		if (graph->flags[i] & RR_STATE_FINAL &&
		    rr_contents_number(contents, rr_graph_key(graph, i)[0]) == RR_NO_ID)
			return rr_search_stop(search, &search->tables[0].error);
	}
	json_decref(search->result->ignored);
	search->result->ignored = contents->n_ignored ? rr_contents_ignored_as_json(contents) :
							NULL;
	return RR_GO_ON;
}

enum rr_going rr_search_conclude(struct rr_search *search, void *unused)
{
	struct rr_explore_result *result = search->result;
	const unsigned long checked = result->stats.checked_clients;
	const double begun = rr_clock_s();
	enum rr_going going;
	const struct rr_product *product = &search->product;
	struct rr_explore_stats *stats = &result->stats;

	(void)unused;
	rr_explore_release(result);
	*result = (struct rr_explore_result){ .stats = { .checked_clients = checked,
							 .searching = search->seconds } };
	for (size_t i = 0; product->clients && i < product->n_clients; i++) {
		const struct rr_client_table *table = rr_product_client_table(product, i);

		stats->client_states += table ? rr_client_table_count_states(table) : 0;
		stats->client_runs += table ? table->n_runs : 0;
		if (!table || !search->config->strategy || table->learning.loops == 0)
			continue;
		result->followed = RR_REFUSALS_ROUNDS;
		result->unfollowed += table->learning.untested;
	}
	for (int i = 0; i < 2; i++) {
		const struct rr_server_table *table = &search->tables[i];

		stats->server_states += table->keys.n;
		stats->questions += table->n_asked;
		stats->replayed += table->n_replayed;
		if (table->random_command)
			snprintf(result->random_command, sizeof(result->random_command), "%s",
				 table->random_command);
	}
	going = search->property->judge(search);
	note_graph(search);
	if (going == RR_GO_ON)
		going = note_ignored(search);
	if (going == RR_GO_ON && !search->config->schedule)
		rr_search_note_ends(search);
	if (going == RR_GO_ON)
		going = check_states(search);
	if (going == RR_GO_ON && search->config->covers && !search->config->schedule &&
	    !search->program.mutate)
		rr_search_note_coverage(search);
	result->stats.checking = rr_clock_s() - begun;
	return going;
}

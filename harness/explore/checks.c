/* SPDX-License-Identifier: MIT */
/* What a search comes to, and what keeps that honest: what is found is played for real;
 * if nothing is, rows are asked again and random paths are played. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "search.h"

enum { VERIFY_SERVERS = 600 }; /* questions, of each table */

/* ---- Results -------------------------------------------------------------- */

static void note_tables(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	const struct rr_product *product = &search->product;
	struct rr_explore_stats *stats = &result->stats;

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
}

static enum rr_explored_day day_of(const struct rr_search *search)
{
	if (!search->before)
		return RR_DAY_GOES_ON;
	return search->before->error.kind ? RR_DAY_HELD_TO_REPEAT : RR_DAY_HELD_TO_END;
}

/* Has any key of the data server ever a time to live? */
static bool has_leases(const struct rr_server_table *table)
{
	uint32_t i = 0;

	while (i < table->keys.n && table->states[i].first_end_ns == RR_NEVER)
		i++;
	return i < table->keys.n;
}

/* What was not compared, because it moves with the clock. */
static void note_moved(struct rr_explore_result *result, const struct rr_judge *judge)
{
	const struct rr_intern *keys = &judge->contents.moved;

	json_decref(result->moved_keys);
	result->moved_keys = keys->n ? json_array() : NULL;
	result->moved_outputs = judge->moved_outputs;
	for (uint32_t i = 0; i < keys->n; i++) {
		char *name = rr_plain_bytes(rr_intern_get(keys, i), keys->values[i].length);

		json_array_append_new(result->moved_keys, json_string(name));
		free(name);
	}
}

static void note_graph(struct rr_search *search)
{
	static const enum rr_explored explored[] = {
		[RR_GRAPH_WHOLE] = RR_EXPLORED_ALL,       [RR_GRAPH_CUT] = RR_EXPLORED_ROUNDS,
		[RR_GRAPH_MOST] = RR_EXPLORED_MOST,       [RR_GRAPH_MEMORY] = RR_EXPLORED_MEMORY,
		[RR_GRAPH_STOPPED] = RR_EXPLORED_STOPPED, [RR_GRAPH_FOUND] = RR_EXPLORED_FOUND,
	};
	struct rr_explore_result *result = search->result;
	const struct rr_graph *graph = &search->graph;

	result->explored = explored[search->end];
	result->cut = search->end == RR_GRAPH_STOPPED ? search->cut : NULL;
	result->day = day_of(search);
	note_moved(result, &search->judge);
	result->need_each_other = result->finals > 0 && !search->judge.serial.is_cut &&
				  !search->judge.serial.has_whole;
	result->has_leases = has_leases(&search->tables[0]);
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
static bool play_actions(struct rr_search *search, struct rr_free_replay *replay,
			 const struct rr_actions *actions, const uint32_t *end, unsigned broken,
			 enum rr_play play)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	const bool shows = programs->set_live && play != RR_PLAY_PATHS;
	struct rr_error error = { .kind = RR_ERROR_NONE };
	bool good;

	if (programs->set_live)
		programs->set_live(programs->programs, play);
	good = rr_product_replay(&search->product, replay, actions, end, broken, &error);
	search->is_misplayed |= !good;
	if (!good || shows)
		good = search->property->verify(search) && !search->learned &&
		       (good || rr_search_fail(search, &error));
	if (programs->set_live)
		programs->set_live(programs->programs, RR_PLAY_NOTHING);
	return good;
}

static bool find_actions(struct rr_search *search, const struct rr_graph *graph,
			 const struct rr_path *path, struct rr_actions *actions)
{
	if (rr_graph_actions(graph, path, actions))
		return true;
	if (graph->product->error.kind)
		rr_search_fail(search, &graph->product->error);
	return rr_error_set(&search->result->error, RR_ERROR_INTERNAL,
			    "a path through the states is gone");
}

struct rr_audit {
	unsigned long n;
	uint64_t seed;
};

/* Where nobody does anything, there is nothing to be played. A check that has come to its end
 * before plays one path, another one each time. */
static struct rr_audit audit_of(const struct rr_search *search)
{
	struct rr_audit audit = { .n = search->graph.n_edges ? search->config->audit : 0,
				  .seed = 1 };

	if (audit.n > 0 && rr_search_is_settled(search))
		audit = (struct rr_audit){ .n = 1, .seed = (uint64_t)rr_clock_ns() };
	return audit;
}

bool rr_search_is_settled(const struct rr_search *search)
{
	const struct rr_explored_programs *programs = &search->config->programs;

	return programs->is_settled && programs->is_settled(programs->programs);
}

/* The numbers of rounds after which loops are left are tried by the paths, as far as these come to loops. */
static bool verify_rounds(struct rr_search *search)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_error error = { 0 };
	bool again = false;

	if (programs->verify_rounds && !programs->verify_rounds(programs->programs, &again, &error))
		return rr_search_fail(search, &error);
	if (again)
		search->learned |= rr_learned_bit(RR_LEARNED_PROGRAMS);
	return !again;
}

bool rr_search_audit(struct rr_search *search)
{
	const struct rr_explored_programs *programs = &search->config->programs;
	struct rr_free_replay *replay = open_replay(search);
	const struct rr_audit audit = audit_of(search);
	struct rr_path path = { 0 };
	bool good = true;

	for (unsigned long i = 0; i < audit.n && good; i++) {
		const int rounds = programs->next_rounds ?
					   programs->next_rounds(programs->programs) :
					   0;
		struct rr_actions actions = { 0 };

		if (rr_search_is_called_off(search, "random interleavings were played")) {
			search->result->explored = RR_EXPLORED_STOPPED;
			search->result->cut = search->cut;
			break;
		}
		if (rounds > 0)
			rr_graph_looping_path(&search->graph, audit.seed + i, rounds, &path);
		else
			rr_graph_random_path(&search->graph, audit.seed + i, &path);
		good = find_actions(search, &search->graph, &path, &actions) &&
		       play_actions(search, replay, &actions,
				    rr_graph_path_end(&search->graph, &path),
				    rr_graph_path_breaks(&search->graph, &path), RR_PLAY_PATHS);
		free(actions.all);
		search->result->stats.audited++;
	}
	rr_path_release(&path);
	rr_free_replay_free(replay);
	return good && (search->end == RR_GRAPH_STOPPED || verify_rounds(search));
}

/* ---- What is found -------------------------------------------------------------- */

void rr_schedule_release(struct rr_schedule *schedule)
{
	free(schedule->actions.all);
	free(schedule->words);
	*schedule = (struct rr_schedule){ 0 };
}

bool rr_search_play(struct rr_search *search, const struct rr_actions *actions, const uint32_t *end)
{
	struct rr_free_replay *replay = open_replay(search);
	const bool good = play_actions(search, replay, actions, end, 0, RR_PLAY_ORDER);

	rr_free_replay_free(replay);
	return good;
}

bool rr_search_show(struct rr_search *search, const struct rr_schedule *schedule)
{
	struct rr_free_replay *replay = open_replay(search);
	const bool good = play_actions(search, replay, &schedule->actions, schedule->end,
				       schedule->broken, RR_PLAY_FINDING);

	rr_free_replay_free(replay);
	search->result->switches = schedule->switches;
	search->result->steps = schedule->steps;
	return good && search->property->show(search, schedule);
}

static bool show_path(struct rr_search *search, const struct rr_path *path)
{
	const struct rr_graph *graph = &search->graph;
	struct rr_schedule schedule = { .steps = path->n,
					.switches = path->switches,
					.words = rr_path_words(graph, path),
					.broken = rr_graph_path_breaks(graph, path) };
	bool good;

	memcpy(schedule.end, rr_graph_path_end(graph, path),
	       graph->product->n_words * sizeof(schedule.end[0]));
	good = find_actions(search, graph, path, &schedule.actions) &&
	       rr_search_show(search, &schedule);
	rr_schedule_release(&schedule);
	return good;
}

/* ---- All that is found ------------------------------------------------------------ */

/* Ends that are wrong in the same way: one stands for all of them. */
struct wrong_ends {
	struct rr_search *search;
	size_t n;
	uint32_t all[RR_FINDINGS_SHOWN]; /* states */
	bool *goals;                     /* of each state: is it like the one that is looked for? */
};

static bool are_alike(struct wrong_ends *ends, uint32_t a, uint32_t b)
{
	struct rr_search *search = ends->search;

	return rr_judge_are_alike(&search->judge, rr_graph_key(&search->graph, a),
				  rr_graph_key(&search->graph, b));
}

/* The first of each kind, in the order in which they were found. */
static void find_kinds(struct wrong_ends *ends)
{
	const struct rr_graph *graph = &ends->search->graph;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		size_t j = 0;

		if (!(graph->flags[i] & RR_STATE_WRONG))
			continue;
		while (j < ends->n && !are_alike(ends, ends->all[j], i))
			j++;
		if (j == RR_FINDINGS_SHOWN)
			ends->search->result->n_unshown++;
		else if (j == ends->n)
			ends->all[ends->n++] = i;
	}
}

static bool show_kind(struct wrong_ends *ends, uint32_t like)
{
	const struct rr_graph *graph = &ends->search->graph;
	struct rr_path path = { 0 };
	bool good;

	for (uint32_t i = 0; i < graph->states.n; i++)
		ends->goals[i] = graph->flags[i] & RR_STATE_WRONG && are_alike(ends, like, i);
	good = rr_graph_shortest_to(graph, ends->goals, &path) && show_path(ends->search, &path);
	rr_path_release(&path);
	return good;
}

/* The shortest schedule has been shown, which leads to `shown`. */
static bool show_others(struct rr_search *search, uint32_t shown)
{
	struct wrong_ends ends = {
		.search = search, .goals = rr_calloc(search->graph.states.n, sizeof(*ends.goals))
	};
	struct rr_explore_result *result = search->result;
	bool good = true;

	find_kinds(&ends);
	for (size_t i = 0; i < ends.n && good; i++) {
		if (are_alike(&ends, ends.all[i], shown))
			continue;
		if (rr_search_is_called_off(search, "other findings were played"))
			result->n_unshown++;
		else
			good = show_kind(&ends, ends.all[i]);
	}
	/* The first one has been proved, and stands. */
	if (!good && result->error.kind == RR_ERROR_INTERRUPTED) {
		result->error.kind = RR_ERROR_NONE;
		result->n_unshown++;
		good = true;
	}
	free(ends.goals);
	return good;
}

static bool show_shortest(struct rr_search *search)
{
	struct rr_explore_result *result = search->result;
	struct rr_path path = { 0 };
	bool good;

	result->shortest_breaks = rr_worst_invariant(result->breaks, search->config->shows);
	good = rr_graph_shortest(&search->graph, result->shortest_breaks, &path) ?
		       rr_search_verify_finding(search, &path) && show_path(search, &path) :
		       rr_error_set(&result->error, RR_ERROR_INTERNAL,
				    "no path to a state that fails");
	if (good && search->config->shows_all && result->shortest_breaks & RR_BREAKS_COUNT)
		good = show_others(search, rr_graph_path_state(&search->graph, &path));
	rr_path_release(&path);
	return good;
}

/* ---- The whole -------------------------------------------------------------- */

/* What was drawn once says nothing of what else could have been. */
static bool verify_random(struct rr_search *search)
{
	struct rr_server_table *table = &search->tables[0];

	return search->config->strategy || !table->asker || rr_server_table_verify_random(table) ||
	       rr_search_fail(search, &table->error);
}

static bool verify_servers(struct rr_search *search)
{
	for (int i = 0; i < 2; i++) {
		struct rr_server_table *table = &search->tables[i];

		if (table->asker && rr_server_table_verify(table, VERIFY_SERVERS,
							   &search->result->stats.checked_servers))
			return rr_search_fail(search, &table->error);
	}
	return true;
}

static bool check_states(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	struct rr_explore_result *result = search->result;

	if (!rr_graph_write(search, rr_worst_invariant(result->breaks, config->shows)))
		return false;
	if (config->schedule)
		return rr_search_show(search, &search->followed);
	if (result->breaks)
		return show_shortest(search);
	return result->explored == RR_EXPLORED_STOPPED ||
	       (verify_servers(search) && rr_search_audit(search) &&
		search->property->confirm(search));
}

bool rr_search_conclude(struct rr_search *search, void *unused)
{
	struct rr_explore_result *result = search->result;
	const unsigned long checked = result->stats.checked_clients;
	const double begun = rr_clock_s();
	bool good;

	(void)unused;
	rr_explore_release(result);
	*result = (struct rr_explore_result){ .stats = { .checked_clients = checked,
							 .searching = search->seconds } };
	note_tables(search);
	good = search->property->judge(search);
	note_graph(search);
	good = good && (search->learned || (verify_random(search) && check_states(search)));
	result->stats.checking = rr_clock_s() - begun;
	return good;
}

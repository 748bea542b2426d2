/* SPDX-License-Identifier: MIT */
/* Programs of others: can their interleavings end in a way that no serial order of them
 * does? */
#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

enum {
	/* Most findings take few preemptions (Musuvathi and Qadeer 2007): what takes more of them,
	 * or faults, is searched so many transitions later each. */
	DETOUR = 64,
	ALONE_MOST = 100000 /* of those that are looked at before there is an end */
};

static const char comparing[] = "final states were compared";

static bool has_found(void *context);

/* ---- The programs ----------------------------------------------------------------- */

static bool open_programs(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;

	search->scripts.first = config->given;
	search->program.separate = true;
	search->program.names = config->client_names;
	search->wanted.increments = 1;
	search->wanted.reads_clock = true;
	search->wanted.counts_lapses = true;
	search->wanted.slow_time = true;
	search->wanted.keys_are_leases = true;
	search->wanted.is_local_first = true;
	/* A graph that is drawn is all of it. */
	search->bounds.broad = config->dot || config->json ? 0 : config->broad;
	search->bounds.has_found = search->bounds.broad && !config->shows_all ? has_found : NULL;
	search->bounds.search = search;
	search->bounds.detour = DETOUR;
	config->programs.ops->init(config->programs.context, &search->program);
	/* What is believed of an app takes more starts to verify than its states take to be seen: what
	 * is wrong among them is played instead. */
	search->bounds.asks_last = search->bounds.has_found && search->program.requests.n > 0;
	return true;
}

/* Whatever is believed of programs is verified, and may turn out to be otherwise. One
 * schedule that is followed says nothing of any other, and a mutant nothing of the programs. */
static enum rr_going verify(struct rr_search *search, const struct rr_explored_programs *programs,
			    unsigned left_out)
{
	const bool is_played = search->config->schedule || search->program.mutate ||
			       search->end == RR_GRAPH_BROAD ||
			       search->graph.breaks & RR_BREAKS_EXCLUSION;
	struct rr_error error = { 0 };

	/* The programs themselves are to play it: if they do, it is so. */
	if ((search->end == RR_GRAPH_FOUND || search->config->was_verified) &&
	    !search->is_misplayed)
		return RR_GO_ON;
	left_out |= is_played ? RR_LEAVE_HISTORIES : 0;
	if (!programs->ops ||
	    programs->ops->verify(programs->context, left_out, &error) == RR_GO_ON)
		return RR_GO_ON;
	return rr_search_stop(search, &error);
}

static enum rr_going verify_programs(struct rr_search *search)
{
	unsigned left_out = 0;
	bool sees_ends = true;
	enum rr_going going;

	/* A broad search has not seen the ends of clients, by which those are told apart that seem to
	 * be equal. Serial orders come to them. */
	if (search->end == RR_GRAPH_BROAD) {
		struct rr_serial serial;

		sees_ends = rr_serial_learn(&serial, &search->product, &search->deadline,
					    ALONE_MOST, search->config->compare.is_partial, NULL);
		rr_serial_release(&serial);
	}
	/* What is searched is judged next, unless the search has failed or begins again. Where the time
	 * of day stands still and the search fails, what came of it before stands. */
	if (search->end == RR_GRAPH_WHOLE || search->end == RR_GRAPH_CUT)
		left_out = RR_LEAVE_NAMES;
	else if (search->day && search->end == RR_GRAPH_FAILED)
		left_out = RR_LEAVE_HISTORIES;
	going = verify(search, &search->config->programs, left_out);
	return going == RR_GO_ON && !sees_ends ? rr_search_stop(search, &search->product.error) :
						 going;
}

/* ---- Judging -------------------------------------------------------------------- */

static void add_beginning(struct rr_beginnings *beginnings, uint32_t client, int64_t ns)
{
	struct rr_beginning it;

	memset(&it, 0, sizeof(it));
	it.ns = ns;
	it.client = client;
	for (size_t i = 0; i < beginnings->n; i++) {
		if (memcmp(&beginnings->all[i], &it, sizeof(it)) == 0)
			return;
	}
	rr_array_grow(&beginnings->all, beginnings->n, sizeof(it));
	beginnings->all[beginnings->n++] = it;
}

/* When clients have commands executed on the way to a state on which time passes as seldom as
 * possible. False: there is none. */
static bool find_beginnings(const struct rr_graph *graph, uint32_t state,
			    struct rr_beginnings *beginnings)
{
	bool *goals = rr_calloc(graph->states.n, sizeof(*goals));
	struct rr_path path = { 0 };
	struct rr_actions actions = { 0 };
	int64_t now_ns = 0;
	bool good;

	goals[state] = true;
	good = rr_graph_hastiest_to(graph, goals, &path) &&
	       rr_graph_actions(graph, &path, &actions);
	for (size_t i = 0; i < actions.n && good; i++) {
		const struct rr_action *action = &actions.all[i];

		now_ns += action->kind == RR_ACTION_TIME ? action->ns : 0;
		if (rr_action_is_command(action))
			add_beginning(beginnings, action->client, now_ns);
	}
	free(actions.all);
	free(goals);
	rr_path_release(&path);
	return good && now_ns > 0;
}

/* Is a final state that of a serial order in which clients begin later (rr_judge_later())? */
static bool judge_later(struct rr_search *search, uint32_t state, bool *is)
{
	struct rr_judge *judge = &search->judge;
	struct rr_product *product = &search->product;
	struct rr_beginnings beginnings = { 0 };

	*is = false;
	if (!judge->serial.is_cut && product->has_ends && search->program.requests.n == 0 &&
	    !rr_budget_has_faults(&product->config.budget) &&
	    find_beginnings(&search->graph, state, &beginnings))
		return rr_judge_later(judge, rr_graph_key(&search->graph, state), &beginnings, is);
	free(beginnings.all);
	return !rr_product_failed(product) ||
	       rr_error_set(&judge->error, product->error.kind, "%s", product->error.text);
}

static bool open_judge(struct rr_search *search, unsigned long most)
{
	return rr_judge_init(&search->judge,
			     &(struct rr_judge_setup){
				     .product = &search->product,
				     .programs = &search->config->programs,
				     .comparison = &search->config->compare,
				     .deadline = &search->deadline,
				     .of_checker = &search->beliefs_of_checker,
				     .of_successors = search->beliefs_of_successors,
			     },
			     most);
}

/* `state`: of the graph; RR_NO_ID = it is none of these. */
static bool judge_end(struct rr_search *search, const uint32_t *key, uint32_t state,
		      struct rr_judgement *judgement)
{
	const unsigned not_serial = RR_OUTCOME_NOT_SERIAL | RR_OUTCOME_OUTPUTS;
	bool is_later = false;

	if (!rr_judge_final(&search->judge, key, judgement))
		return false;
	if (state != RR_NO_ID && judgement->found & not_serial &&
	    !judge_later(search, state, &is_later))
		return false;
	if (is_later) {
		judgement->found &= ~not_serial;
		judgement->failures = 0;
	}
	return true;
}

static bool judge_final(struct rr_search *search, const uint32_t *key, uint32_t state,
			unsigned *found)
{
	struct rr_explore_result *result = search->result;
	const struct rr_serial_end end = rr_serial_end_of(&search->product, key, 0);
	struct rr_judgement judgement;

	if (!judge_end(search, key, state, &judgement))
		return false;
	*found = judgement.found;
	/* Operations that have come to an end, and have not done their work. */
	for (size_t i = 0; i < rr_program_operations(&search->program); i++) {
		if (end.endings[i] < 0 || end.good & 1U << i)
			continue;
		result->refused[i]++;
		result->refused_ending[i] = end.endings[i];
	}
	result->failures |= judgement.failures;
	result->finals++;
	result->wrong += (judgement.found & ~RR_OUTCOME_OUTPUTS) != 0;
	result->odd += judgement.found == RR_OUTCOME_OUTPUTS;
	result->ever_well |= rr_serial_good(&search->product, key) &
			     ~rr_serial_broken(&search->product, key);
	return true;
}

/* Is there no time for one more? What is wrong among those before is a finding. Of a search that was
 * ended data are not compared, and what else is expected of them is looked at a little longer. */
static bool ends_judging(struct rr_search *search)
{
	const bool is_over = rr_deadline_is_over(&search->deadline, comparing);

	if (search->end == RR_GRAPH_STOPPED)
		return rr_deadline_is_late(&search->deadline);
	if (is_over && search->result->wrong > 0)
		search->end = RR_GRAPH_FOUND;
	else if (is_over)
		rr_error_interrupted(&search->judge.error);
	return is_over;
}

static bool judge_finals(struct rr_search *search)
{
	struct rr_graph *graph = &search->graph;
	unsigned found;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (!(graph->flags[i] & RR_STATE_FINAL))
			continue;
		if (ends_judging(search))
			return search->judge.error.kind == RR_ERROR_NONE;
		if (!judge_final(search, rr_graph_key(graph, i), i, &found))
			return false;
		if (found)
			graph->flags[i] |= found == RR_OUTCOME_OUTPUTS ? RR_STATE_ODD :
									 RR_STATE_WRONG;
	}
	return true;
}

static void set_unfinished(const struct rr_search *search, bool is_unfinished)
{
	struct rr_programs *processes = search->config->programs.processes;

	if (processes)
		rr_programs_set_unfinished(processes, is_unfinished);
}

/* Are there wrong data among the final states so far, however many there are to come? What clients
 * print may turn out to differ between any two runs. */
static bool has_found(void *context)
{
	struct rr_search *search = context;
	struct rr_graph *graph = &search->graph;
	struct rr_judgement judgement = { 0 };
	bool is_wrong = false, good;

	set_unfinished(search, true);
	good = open_judge(search, graph->n_expanded) && !search->judge.serial.is_cut;

	for (uint32_t i = 0; i < graph->states.n && good && !is_wrong; i++) {
		if (!(graph->flags[i] & RR_STATE_FINAL))
			continue;
		good = !rr_deadline_is_over(&search->deadline, comparing) &&
		       judge_end(search, rr_graph_key(graph, i), i, &judgement);
		is_wrong = good && judgement.found & ~(unsigned)RR_OUTCOME_OUTPUTS;
	}
	rr_judge_release(&search->judge);
	set_unfinished(search, false);
	return is_wrong;
}

/* The one state to which the schedule leads. */
static bool judge_followed(struct rr_search *search)
{
	const struct rr_schedule *schedule = &search->followed;
	unsigned *breaks = &search->graph.breaks;
	unsigned found = 0;

	*breaks = schedule->broken & (RR_BREAKS_EXCLUSION | RR_BREAKS_OWNERSHIP);
	if (!rr_product_all_are_over(&search->product, schedule->end))
		*breaks |= RR_STARVES;
	else if (!judge_final(search, schedule->end, RR_NO_ID, &found))
		return false;
	if (found)
		*breaks |= RR_BREAKS_COUNT;
	return true;
}

/* Programs without an end have serial orders without an end. */
static bool judge_states(struct rr_search *search)
{
	const bool is_unfinished = search->end == RR_GRAPH_FOUND;
	const bool has_end = search->end == RR_GRAPH_WHOLE || search->end == RR_GRAPH_CUT ||
			     is_unfinished;

	set_unfinished(search, is_unfinished);
	if (!open_judge(search, has_end ? RR_SERIAL_MOST : 0))
		return false;
	if (has_end && rr_deadline_is_over(&search->deadline, "serial orders were computed"))
		return rr_error_interrupted(&search->judge.error);
	if (!(search->config->schedule ? judge_followed(search) : judge_finals(search)))
		return false;
	if (search->result->wrong + search->result->odd > 0)
		search->result->serial = rr_judge_serial_orders(&search->judge);
	return search->judge.error.kind == RR_ERROR_NONE;
}

static enum rr_going judge_programs(struct rr_search *search)
{
	const struct rr_explore_config *config = search->config;
	const struct rr_explored_programs *all[RR_SUCCESSORS + 2] = { &config->compare.checker };
	struct rr_graph *graph = &search->graph;
	enum rr_going going = RR_GO_ON;
	bool good, is_found;

	if (search->deadline.is_lifted && !graph->breaks)
		return RR_GO_ON;
	good = judge_states(search);
	if (!good && search->judge.error.kind == RR_ERROR_INTERRUPTED)
		return rr_search_stop(search, &search->judge.error);
	is_found = search->result->wrong + search->result->odd > 0 ||
		   graph->breaks & RR_BREAKS_EXCLUSION;
	for (int i = 0; i < RR_SUCCESSORS; i++)
		all[1 + i] = &config->compare.successors[i];
	all[RR_SUCCESSORS + 1] = &config->programs;
	/* If the search begins again, each of them has learned as much as it can. */
	for (int i = 0; i < RR_SUCCESSORS + 2; i++) {
		const enum rr_going next =
			verify(search, all[i],
			       all[i] == &config->programs && is_found ? RR_LEAVE_NAMES : 0);

		if (next != RR_GO_ON)
			going = next;
		if (next == RR_FAILED || next == RR_INTERRUPTED)
			break;
	}
	if (going == RR_GO_ON && !good)
		going = rr_search_stop(search, &search->judge.error);
	if (going != RR_GO_ON)
		return going;
	if (!config->schedule)
		rr_graph_analyse(graph);
	/* What clients say is a finding of its own, if there is no other. */
	if (!config->schedule && search->result->odd && (!graph->breaks || config->shows_all)) {
		for (uint32_t i = 0; i < graph->states.n; i++)
			graph->flags[i] |= graph->flags[i] & RR_STATE_ODD ? RR_STATE_WRONG : 0;
		search->result->wrong += search->result->odd;
		rr_graph_analyse(graph);
	}
	if (search->judge.serial.is_cut && search->end == RR_GRAPH_WHOLE)
		search->end = RR_GRAPH_MOST;
	search->result->found = (graph->breaks & RR_BREAKS_COUNT ? RR_OUTCOME_NOT_SERIAL : 0) |
				(graph->breaks & RR_BREAKS_EXCLUSION ? RR_OUTCOME_EXCLUSION : 0) |
				(graph->breaks & RR_BREAKS_OWNERSHIP ? RR_OUTCOME_OWNERSHIP : 0) |
				(graph->breaks & (RR_DEADLOCKS | RR_STARVES) ? RR_OUTCOME_STUCK :
									       0);
	return RR_GO_ON;
}

/* Where all is known, so can be what it rests on. */
static enum rr_going confirm_programs(struct rr_search *search)
{
	if (search->result->explored == RR_EXPLORED_ALL)
		rr_search_list_mutants(search);
	return RR_GO_ON;
}

const struct rr_property rr_serializability = {
	.server = "redis",
	.open = open_programs,
	.verify = verify_programs,
	.judge = judge_programs,
	.show = rr_search_show_finding,
	.confirm = confirm_programs,
};

/* SPDX-License-Identifier: MIT */
/* Programs of others: can their interleavings end in a way that no serial order of them
 * does? */
#include "search.h"

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
	search->scripts.n_first = config->n_given;
	search->program.separate = true;
	search->program.names = config->client_names;
	search->wanted.increments = 1;
	search->wanted.reads_clock = true;
	search->wanted.is_local_first = true;
	/* A graph that is drawn is all of it. */
	search->bounds.broad = config->dot || config->json ? 0 : config->broad;
	search->bounds.has_found = search->bounds.broad && !config->shows_all ? has_found : NULL;
	search->bounds.search = search;
	search->bounds.detour = DETOUR;
	config->programs.init(config->programs.programs, &search->program);
	return true;
}

/* Whatever is believed of programs is verified, and may turn out to be otherwise. One
 * schedule that is followed says nothing of any other, and a mutant nothing of the programs. */
static bool verify(struct rr_search *search, const struct rr_explored_programs *programs,
		   unsigned left_out)
{
	const bool is_played = search->config->schedule || search->program.mutate ||
			       search->end == RR_GRAPH_BROAD ||
			       search->graph.breaks & RR_BREAKS_EXCLUSION;
	struct rr_error error = { 0 };
	bool again = false;

	/* The programs themselves are to play it: if they do, it is so. */
	if (search->end == RR_GRAPH_FOUND && !search->is_misplayed)
		return true;
	left_out |= is_played ? RR_LEAVE_HISTORIES : 0;
	if (programs->init && !programs->verify(programs->programs, left_out, &again, &error))
		return rr_search_fail(search, &error);
	if (again)
		search->learned |= rr_learned_bit(RR_LEARNED_PROGRAMS);
	return true;
}

/* A broad search has not seen the ends of clients, by which those are told apart that seem to be
 * equal. Serial orders come to them. */
static bool look_at_ends(struct rr_search *search)
{
	struct rr_serial serial;
	const bool good = rr_serial_learn(&serial, search, ALONE_MOST, search->config->is_partial);

	rr_serial_release(&serial);
	return good;
}

/* What is searched is judged next, unless the search has failed or begins anew. Where the time of
 * day stands still and the search fails, what came of it before stands. */
static unsigned left_out_of(const struct rr_search *search)
{
	if (search->end == RR_GRAPH_WHOLE || search->end == RR_GRAPH_CUT)
		return RR_LEAVE_NAMES;
	return search->before && search->end == RR_GRAPH_FAILED ? RR_LEAVE_HISTORIES : 0;
}

static bool verify_programs(struct rr_search *search)
{
	const bool sees_ends = search->end != RR_GRAPH_BROAD || look_at_ends(search);

	return verify(search, &search->config->programs, left_out_of(search)) &&
	       (sees_ends || search->learned & rr_learned_bit(RR_LEARNED_PROGRAMS) ||
		rr_search_fail(search, &search->product.error));
}

/* ---- Judging -------------------------------------------------------------------- */

/* Operations that have come to an end, and have not done their work. */
static void note_refused(struct rr_search *search, const uint32_t *key)
{
	const struct rr_serial_end end = rr_serial_end_of(&search->product, key, 0);
	const size_t n = rr_program_operations(&search->program);

	for (size_t i = 0; i < n; i++) {
		if (end.endings[i] < 0 || end.good & 1U << i)
			continue;
		search->result->refused[i]++;
		search->result->refused_ending[i] = end.endings[i];
	}
}

static bool judge_final(struct rr_search *search, const uint32_t *key, unsigned *found)
{
	struct rr_explore_result *result = search->result;
	struct rr_judgement judgement;

	if (!rr_judge_final(&search->judge, key, &judgement))
		return false;
	*found = judgement.found;
	note_refused(search, key);
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
	const bool is_over = rr_search_is_called_off(search, comparing);

	if (search->end == RR_GRAPH_STOPPED)
		return rr_search_is_late(search);
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
		if (!judge_final(search, rr_graph_key(graph, i), &found))
			return false;
		if (found)
			graph->flags[i] |= found == RR_OUTCOME_OUTPUTS ? RR_STATE_ODD :
									 RR_STATE_WRONG;
	}
	return true;
}

static void set_unfinished(const struct rr_search *search, bool is_unfinished)
{
	const struct rr_explored_programs *programs = &search->config->programs;

	if (programs->set_unfinished)
		programs->set_unfinished(programs->programs, is_unfinished);
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
	good = rr_judge_init(&search->judge, search, graph->n_expanded) &&
	       !search->judge.serial.is_cut;

	for (uint32_t i = 0; i < graph->states.n && good && !is_wrong; i++) {
		if (!(graph->flags[i] & RR_STATE_FINAL))
			continue;
		good = !rr_search_is_called_off(search, comparing) &&
		       rr_judge_final(&search->judge, rr_graph_key(graph, i), &judgement);
		is_wrong = good && judgement.found & ~(unsigned)RR_OUTCOME_OUTPUTS;
	}
	rr_judge_release(&search->judge);
	set_unfinished(search, false);
	return is_wrong;
}

/* What clients say is a finding of its own, if there is no other. */
static void count_odd_as_wrong(struct rr_search *search)
{
	struct rr_graph *graph = &search->graph;

	for (uint32_t i = 0; i < graph->states.n; i++) {
		if (graph->flags[i] & RR_STATE_ODD)
			graph->flags[i] |= RR_STATE_WRONG;
	}
	search->result->wrong += search->result->odd;
	rr_graph_analyse(graph);
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
	else if (!judge_final(search, schedule->end, &found))
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
	if (!rr_judge_init(&search->judge, search, has_end ? RR_SERIAL_MOST : 0))
		return false;
	if (has_end && rr_search_is_called_off(search, "serial orders were computed"))
		return rr_error_interrupted(&search->judge.error);
	if (!(search->config->schedule ? judge_followed(search) : judge_finals(search)))
		return false;
	if (search->result->wrong + search->result->odd > 0)
		search->result->serial = rr_judge_serial_orders(&search->judge);
	return search->judge.error.kind == RR_ERROR_NONE;
}

static bool analyse(struct rr_search *search)
{
	if (search->config->schedule)
		return true;
	rr_graph_analyse(&search->graph);
	if (search->result->odd && (!search->graph.breaks || search->config->shows_all))
		count_odd_as_wrong(search);
	return true;
}

static void note_found(struct rr_search *search)
{
	const unsigned breaks = search->graph.breaks;

	search->result->found = (breaks & RR_BREAKS_COUNT ? RR_OUTCOME_NOT_SERIAL : 0) |
				(breaks & RR_BREAKS_EXCLUSION ? RR_OUTCOME_EXCLUSION : 0) |
				(breaks & RR_BREAKS_OWNERSHIP ? RR_OUTCOME_OWNERSHIP : 0) |
				(breaks & (RR_DEADLOCKS | RR_STARVES) ? RR_OUTCOME_STUCK : 0);
}

static bool verify_successors(struct rr_search *search)
{
	bool good = true;

	for (int i = 0; i < RR_SUCCESSORS && good; i++)
		good = verify(search, &search->config->successors[i], 0);
	return good;
}

static bool judge_programs(struct rr_search *search)
{
	bool good, is_found;

	if (search->is_interrupted && !search->graph.breaks)
		return true;
	good = judge_states(search);
	if (!good && search->judge.error.kind == RR_ERROR_INTERRUPTED)
		return rr_search_fail(search, &search->judge.error);
	is_found = search->result->wrong + search->result->odd > 0 ||
		   search->graph.breaks & RR_BREAKS_EXCLUSION;
	if (!verify(search, &search->config->checker, 0) || !verify_successors(search) ||
	    !verify(search, &search->config->programs, is_found ? RR_LEAVE_NAMES : 0))
		return false;
	if (search->learned)
		return true;
	if (!good)
		return rr_search_fail(search, &search->judge.error);
	if (!analyse(search))
		return false;
	if (search->judge.serial.is_cut && search->end == RR_GRAPH_WHOLE)
		search->end = RR_GRAPH_MOST;
	note_found(search);
	return true;
}

/* Where all is known, so can be what it rests on. */
static bool confirm_programs(struct rr_search *search)
{
	if (search->result->explored == RR_EXPLORED_ALL)
		rr_search_list_mutants(search);
	return true;
}

const struct rr_property rr_serializability = {
	.server = "redis",
	.open = open_programs,
	.verify = verify_programs,
	.judge = judge_programs,
	.show = rr_search_show_finding,
	.confirm = confirm_programs,
};

/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

#include "programs_parts.h"

/* A client of the explorer: a place in its tree. */
struct run {
	struct rr_programs *programs;
	struct rr_program_tree *tree;
	size_t client;
	uint32_t node;
	struct rr_run_view view; /* the node's, with the client's own values */
	struct rr_kept live;     /* its process, if programs are live */
};

/* ---- As clients of the explorer --------------------------------------------------------- */

/* The node's view with the client's own random values. */
static void see_node(struct run *run)
{
	const struct rr_renaming *own = &run->programs->own[run->client];
	struct rr_terms *terms = run->programs->instances.program->terms;

	run->view = run->tree->histories.all[run->node]->view;
	for (uint32_t i = 0; i < run->view.n_sent; i++)
		run->view.sent[i].command = rr_rename_command(own, terms,
							      run->view.sent[i].command);
}

static void *begin_program_run(const struct rr_program *program, int client)
{
	struct rr_programs *programs = program->context;
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->programs = programs;
	run->client = (size_t)client;
	run->tree = &programs->trees[programs->tree_of[client]];
	run->view.n_threads = 1;
	run->view.stops[0].kind = RR_STOP_ENDED;
	if (programs->problem.kind ||
	    (run->tree->histories.n == 0 && !rr_tree_learn_root(run->tree)))
		return run;
	if (programs->is_live && rr_tree_start_instance(run->tree, run->client, &run->live))
		rr_tree_compare_at(run->tree, run->live.instance, run->live.number,
				   run->tree->histories.all[0]);
	see_node(run);
	return run;
}

static void end_program_run(void *context)
{
	struct run *run = context;

	rr_instance_free(run->live.instance);
	free(run);
}

/* The process hears it, too. */
static bool feed_live(struct run *run, const struct rr_input *heard, uint8_t lane,
		      int64_t passed_ns, uint32_t child)
{
	struct rr_instance *instance = run->live.instance;

	if (!instance)
		return true;
	return rr_instance_feed(instance, heard, lane, passed_ns, &run->programs->problem) &&
	       rr_tree_compare_at(run->tree, instance, run->live.number,
				  run->tree->histories.all[child]);
}

static void feed_program_run(void *context, const struct rr_input *input, int64_t passed_ns)
{
	struct run *run = context;
	struct rr_programs *programs = run->programs;
	struct rr_input heard = *input;
	const uint8_t lane = run->view.stops[input->thread].lane;
	uint32_t child;

	if (programs->problem.kind)
		return;
	heard.thread = 0;
	if (heard.kind == RR_INPUT_REPLY || heard.kind == RR_INPUT_MESSAGE)
		heard.value = rr_rename_reply(&programs->own[run->client],
					      programs->instances.program->terms,
					      (uint32_t)input->value);
	child = rr_histories_find(&run->tree->histories, run->node, &heard, lane, passed_ns);
	if (child == RR_NO_ID)
		child = rr_tree_learn_child(run->tree, run->node, &heard, lane, passed_ns);
	if (child == RR_NO_ID || !feed_live(run, &heard, lane, passed_ns, child))
		return;
	run->node = child;
	see_node(run);
}

static const struct rr_run_view *view_of_program_run(const void *run)
{
	return &((const struct run *)run)->view;
}

static const char *problem_of_program_run(const void *context)
{
	const struct run *run = context;

	return run->programs->problem.kind ? run->programs->problem.text : NULL;
}

static const struct rr_run_ops program_run_ops = {
	.begin = begin_program_run,
	.end = end_program_run,
	.feed = feed_program_run,
	.view = view_of_program_run,
	.problem = problem_of_program_run,
};

/* ---- Making and freeing --------------------------------------------------------------------- */

static size_t tree_for(struct rr_programs *programs, size_t client)
{
	const char *const *argv = programs->config.argv[client];
	size_t i = 0;

	while (!programs->has_own_trees && i < programs->n_trees && programs->trees[i].argv != argv)
		i++;
	if (programs->has_own_trees)
		i = programs->n_trees;
	if (i == programs->n_trees)
		programs->trees[programs->n_trees++] =
			(struct rr_program_tree){ .programs = programs, .argv = argv };
	return i;
}

static void make_trees(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++)
		programs->tree_of[i] = tree_for(programs, i);
}

static void free_tree(struct rr_program_tree *tree)
{
	for (uint32_t i = 0; i < tree->histories.n; i++)
		rr_instance_free(tree->histories.all[i]->kept.instance);
	rr_histories_release(&tree->histories);
	rr_intern_release(&tree->drawn);
	for (size_t i = 0; i < tree->n_names; i++)
		free(tree->names[i]);
}

static void free_trees(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->n_trees; i++)
		free_tree(&programs->trees[i]);
	programs->n_trees = programs->n_kept = 0;
}

struct rr_programs *rr_programs_new(const struct rr_programs_config *config)
{
	struct rr_programs *programs = calloc(1, sizeof(*programs));

	if (!programs)
		return NULL;
	programs->config = *config;
	make_trees(programs);
	return programs;
}

static void release_own(struct rr_programs *programs)
{
	for (size_t i = 0; i < RR_PROGRAMS_MAX; i++)
		rr_renaming_release(&programs->own[i]);
}

void rr_programs_free(struct rr_programs *programs)
{
	if (!programs)
		return;
	free_trees(programs);
	release_own(programs);
	rr_intern_release(&programs->endings);
	rr_tokens_release(&programs->tokens);
	free(programs);
}

void rr_programs_init(struct rr_programs *programs, struct rr_program *program)
{
	programs->instances = programs->config.instances;
	programs->instances.program = program;
	programs->instances.times = &programs->figures.times;
	programs->instances.endings = &programs->endings;
	program->context = programs;
	program->run_ops = &program_run_ops;
}

/* ---- Between searches ---------------------------------------------------------------------- */

/* The tree's values and the client's own, exchanged: to the first client its own are
 * the tree's. */
static void make_own_values(struct rr_programs *programs, size_t client)
{
	const struct rr_program_tree *tree = &programs->trees[programs->tree_of[client]];
	struct rr_renaming *own = &programs->own[client];

	for (size_t i = 0; i < tree->n_names && client > 0; i++) {
		char *value = rr_token_of_client(tree->names[i], client);

		rr_renaming_add(own, tree->names[i], value);
		rr_renaming_add(own, value, tree->names[i]);
		free(value);
	}
}

void rr_programs_begin_search(struct rr_programs *programs)
{
	release_own(programs);
	if (programs->wants_own_trees) {
		free_trees(programs);
		programs->has_own_trees = true;
		programs->figures.outputs_vary = false;
		memset(programs->is_verified, 0, sizeof(programs->is_verified));
		make_trees(programs);
		programs->problem.kind = RR_ERROR_NONE;
	}
	programs->wants_own_trees = programs->has_new_names = false;
	for (size_t i = 0; i < programs->config.n_clients && !programs->has_own_trees; i++)
		make_own_values(programs, i);
}

void rr_programs_set_live(struct rr_programs *programs, bool is_live)
{
	programs->is_live = is_live;
	programs->instances.until_ns = is_live ? 0 : programs->config.instances.until_ns;
	if (programs->problem.kind == RR_ERROR_INTERRUPTED)
		programs->problem.kind = RR_ERROR_NONE;
}

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs)
{
	struct rr_programs_figures figures = programs->figures;

	for (size_t i = 0; i < programs->n_trees; i++)
		figures.n_random += programs->trees[i].n_names;
	return figures;
}

struct rr_ending rr_programs_ending(const struct rr_programs *programs, long ending)
{
	return rr_ending_of(&programs->endings, (uint32_t)ending);
}

bool rr_programs_last_ending(const struct rr_programs *programs, size_t client,
			     struct rr_ending *ending)
{
	const struct rr_histories *histories =
		&programs->trees[programs->tree_of[client]].histories;
	const uint32_t end = rr_histories_longest_end(histories);

	if (end == RR_NO_ID)
		return false;
	*ending = rr_programs_ending(programs, histories->all[end]->view.tally.ending);
	return true;
}

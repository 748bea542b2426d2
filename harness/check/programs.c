/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/machine.h"
#include "histories.h"
#include "tokens.h"

/* The number of processes that are kept waiting where they are. */
enum { KEPT_MAX = 24, TEXT_SIZE = 160 };

/* A value counts as random after DRAWS_MIN draws of which at most one in
 * DRAWS_PER_REPEAT came twice. With more repetitions it is a choice among few values,
 * which other clients may make, too. */
enum { DRAWS_MIN = 8, DRAWS_PER_REPEAT = 8 };

struct tree {
	struct rr_programs *programs;
	const char *const *argv;
	struct rr_histories histories;
	char *names[RR_NAMES_MAX]; /* random values, as the tree has them */
	size_t n_names;
	struct {
		unsigned long n, repeats;
	} draws[RR_NAMES_MAX]; /* by other processes */
	struct rr_intern drawn; /* what they had */
};

struct rr_programs {
	struct rr_programs_config config;
	struct rr_instance_config instances;
	size_t n_trees;
	struct tree trees[RR_PROGRAMS_MAX];
	size_t tree_of[RR_PROGRAMS_MAX]; /* of each client */
	struct rr_renaming own[RR_PROGRAMS_MAX]; /* tree's values and client's,
						  * exchanged */
	bool is_verified[RR_PROGRAMS_MAX]; /* under that name a program did in a
					    * whole history what another did */
	bool is_live;
	bool has_own_trees;   /* clients do different things */
	bool wants_own_trees, has_new_names;
	struct rr_intern endings;
	struct rr_tokens tokens;
	size_t n_kept, next_client;
	uint64_t n_uses;
	struct rr_programs_figures figures;
	struct rr_error problem;
};

/* A client of the explorer: a place in its tree. */
struct run {
	struct rr_programs *programs;
	struct tree *tree;
	size_t client;
	uint32_t node;
	struct rr_run_view view; /* the node's, with the client's own values */
	struct rr_kept live;      /* its process, if programs are live */
};

static struct rr_terms *terms_of_tree(const struct tree *tree)
{
	return tree->programs->instances.program->terms;
}

static bool note_tokens(struct tree *tree, const struct rr_run_view *view,
			uint32_t instance)
{
	return rr_tokens_note(&tree->programs->tokens, terms_of_tree(tree),
			      view, instance) ||
	       rr_error_no_memory(&tree->programs->problem);
}

/* ---- Comparing ------------------------------------------------------------------- */

static void print_words(FILE *file, const struct rl_command *words)
{
	for (size_t i = 0; i < words->n_words; i++)
		fprintf(file, "%s%.60s", i ? " " : "", words->words[i].text);
}

/* What a program does, in words. */
static void describe_view(const struct rr_programs *programs,
			  const struct rr_run_view *view, char text[TEXT_SIZE])
{
	const struct rr_terms *terms = programs->instances.program->terms;
	FILE *file = fmemopen(text, TEXT_SIZE, "w");

	text[0] = '\0';
	if (!file)
		return;
	if (view->stops[0].kind == RR_STOP_ENDED)
		fprintf(file, "ended with status %d",
			WEXITSTATUS(rr_programs_ending(programs,
						       view->tally.ending)
					    .status));
	else if (view->n_sent == 0)
		fprintf(file, "waited for a message%s",
			view->stops[0].duration_ns ? "" : " or a time-out");
	for (uint32_t i = 0; i < view->n_sent && i < 3; i++) {
		fputs(i ? ", " : "", file);
		print_words(file, &terms->command[view->sent[i].command].words);
	}
	fclose(file);
}

/* An instance does something else than another with the same history did. */
static bool fail_differing_run(struct rr_programs *programs,
			       const struct rr_history *known, size_t client,
			       const struct rr_run_view *seen)
{
	char before[TEXT_SIZE], now[TEXT_SIZE];

	if (known->client != client && !programs->has_own_trees) {
		programs->wants_own_trees = true;
		return rr_error_set(&programs->problem, RR_ERROR_INTERNAL,
				    "clients do different things");
	}
	describe_view(programs, &known->view, before);
	describe_view(programs, seen, now);
	return rr_error_set(
		&programs->problem, RR_ERROR_DATA,
		"the program is not deterministic: with the same replies, client %s did '%s' once and '%s' another time",
		programs->config.names[client], before, now);
}

static bool keep_name(struct tree *tree, const char *name, size_t *number)
{
	for (*number = 0; *number < tree->n_names; ++*number) {
		if (strcmp(tree->names[*number], name) == 0)
			return true;
	}
	if (tree->n_names == RR_NAMES_MAX)
		return false;
	tree->names[tree->n_names] = strdup(name);
	tree->programs->has_new_names = true;
	return tree->names[tree->n_names++] != NULL &&
	       rr_intern_put(&tree->drawn, name, strlen(name), NULL) !=
		       RR_NO_ID;
}

/* A process has another value than the tree. False: so have others, and it is not
 * random; or out of memory. */
static bool note_draw(struct tree *tree, const char *canonical,
		      const char *actual)
{
	bool is_new;
	size_t name;

	if (!keep_name(tree, canonical, &name) ||
	    rr_intern_put(&tree->drawn, actual, strlen(actual), &is_new) ==
		    RR_NO_ID)
		return false;
	tree->draws[name].n++;
	tree->draws[name].repeats += !is_new;
	return tree->draws[name].repeats * DRAWS_PER_REPEAT <=
	       tree->draws[name].n;
}

/* The first pair of commands that differ: do they differ in a random value? Then it
 * is renamed from now on. */
static bool rename_difference(struct tree *tree, struct rr_instance *instance,
			      const struct rr_run_view *known,
			      const struct rr_run_view *seen)
{
	const struct rr_terms *terms =
		tree->programs->instances.program->terms;
	char *canonical = NULL, *actual = NULL;
	bool renamed;
	uint32_t i = 0;

	if (known->n_sent != seen->n_sent)
		return false;
	while (i < known->n_sent &&
	       known->sent[i].command == seen->sent[i].command)
		i++;
	renamed = i < known->n_sent &&
		  rr_names_differ(
			  &terms->command[known->sent[i].command].words,
			  &terms->command[seen->sent[i].command].words,
			  &canonical, &actual) &&
		  note_draw(tree, canonical, actual) &&
		  rr_instance_rename(instance, canonical, actual);
	free(canonical);
	free(actual);
	return renamed;
}

/* Both have ended, and do the same: have they printed the same, too? */
static bool compare_outputs(struct tree *tree, const struct rr_history *known,
			    size_t client, const struct rr_run_view *seen)
{
	struct rr_programs *programs = tree->programs;

	if (seen->stops[0].kind != RR_STOP_ENDED ||
	    known->view.tally.ending == seen->tally.ending)
		return true;
	programs->figures.outputs_vary = true;
	if (!programs->config.compares_outputs)
		return true;
	if (known->client != client && !programs->has_own_trees) {
		programs->wants_own_trees = true;
		return rr_error_set(&programs->problem, RR_ERROR_INTERNAL,
				    "clients print different things");
	}
	return rr_error_set(
		&programs->problem, RR_ERROR_DATA,
		"--outputs: with the same replies, client %s printed '%.200s' once and '%.200s' another time",
		programs->config.names[client],
		rr_programs_ending(programs, known->view.tally.ending).output,
		rr_programs_ending(programs, seen->tally.ending).output);
}

/* An instance stands at a node: does it do what is known? */
static bool compare_at(struct tree *tree, struct rr_instance *instance,
		       uint32_t number, const struct rr_history *node)
{
	struct rr_run_view view = rr_instance_view(instance);

	while (!rr_views_are_same(&view, &node->view)) {
		if (!rename_difference(tree, instance, &node->view, &view))
			return fail_differing_run(tree->programs, node,
						  rr_instance_client(instance),
						  &view);
		view = rr_instance_view(instance);
	}
	return compare_outputs(tree, node, rr_instance_client(instance),
			       &view) &&
	       note_tokens(tree, &view, number);
}

/* ---- Instances ---------------------------------------------------------------------- */

static bool start_instance(struct tree *tree, size_t client,
			   struct rr_kept *started)
{
	struct rr_programs *programs = tree->programs;

	*started = (struct rr_kept){ .number = (uint32_t)programs->figures.starts };
	programs->figures.starts++;
	started->instance = rr_instance_start(&programs->instances, tree->argv,
					      client,
					      programs->config.names[client],
					      &programs->problem);
	if (started->instance)
		programs->figures.has_own_clock |=
			!rr_instance_has_shim(started->instance);
	return started->instance != NULL;
}

/* Tells an instance what was heard on the way to a node. */
static bool replay_to(struct tree *tree, const struct rr_kept *started,
		      uint32_t to)
{
	const struct rr_history *node = tree->histories.all[to];

	if (node->parent != RR_NO_ID &&
	    (!replay_to(tree, started, node->parent) ||
	     !rr_instance_feed(started->instance, &node->input, node->lane,
			       node->passed_ns, &tree->programs->problem)))
		return false;
	return compare_at(tree, started->instance, started->number, node);
}

static struct rr_history *longest_kept(const struct rr_programs *programs)
{
	struct rr_history *longest = NULL;

	for (size_t i = 0; i < programs->n_trees; i++) {
		const struct tree *tree = &programs->trees[i];

		for (uint32_t j = 0; j < tree->histories.n; j++) {
			struct rr_history *node = tree->histories.all[j];

			if (node->kept.instance &&
			    (!longest || node->kept.used < longest->kept.used))
				longest = node;
		}
	}
	return longest;
}

static struct rr_kept take_kept(struct rr_programs *programs,
				 struct rr_history *node)
{
	const struct rr_kept taken = node->kept;

	node->kept.instance = NULL;
	programs->n_kept--;
	return taken;
}

/* Keeps an instance where it stands, unless it has ended or another stands there. */
static void keep_instance(struct rr_programs *programs, struct rr_history *node,
		 struct rr_kept instance)
{
	if (rr_history_has_ended(node) || node->kept.instance) {
		rr_instance_free(instance.instance);
		return;
	}
	if (programs->n_kept == KEPT_MAX)
		rr_instance_free(
			take_kept(programs, longest_kept(programs)).instance);
	node->kept = instance;
	node->kept.used = ++programs->n_uses;
	programs->n_kept++;
}

/* The clients of a tree take turns, so that each is started now and then. */
static size_t next_client_of(struct rr_programs *programs,
			     const struct tree *tree)
{
	size_t client;

	do
		client = programs->next_client++ % programs->config.n_clients;
	while (&programs->trees[programs->tree_of[client]] != tree);
	return client;
}

/* An instance that stands at a node. */
static bool bring_instance_to(struct tree *tree, uint32_t to,
			      struct rr_kept *found)
{
	struct rr_programs *programs = tree->programs;
	struct rr_history *node = tree->histories.all[to];

	if (node->kept.instance) {
		*found = take_kept(programs, node);
		return true;
	}
	if (!start_instance(tree, next_client_of(programs, tree), found))
		return false;
	if (replay_to(tree, found, to))
		return true;
	rr_instance_free(found->instance);
	return false;
}

/* ---- Learning ------------------------------------------------------------------------- */

/* What an instance does that has just come to a place where none was before. */
static uint32_t learn_node(struct tree *tree, struct rr_kept found,
			   struct rr_history node)
{
	uint32_t id;

	node.view = rr_instance_view(found.instance);
	node.client = rr_instance_client(found.instance);
	id = rr_histories_add(&tree->histories, &node);
	if (id == RR_NO_ID || !note_tokens(tree, &node.view, found.number)) {
		rr_error_no_memory(&tree->programs->problem);
		rr_instance_free(found.instance);
		return RR_NO_ID;
	}
	keep_instance(tree->programs, tree->histories.all[id], found);
	return id;
}

static uint32_t learn_child(struct tree *tree, uint32_t at,
			    const struct rr_input *input, uint8_t lane,
			    int64_t passed_ns)
{
	struct rr_kept found;

	if (!bring_instance_to(tree, at, &found))
		return RR_NO_ID;
	if (!rr_instance_feed(found.instance, input, lane, passed_ns,
			      &tree->programs->problem)) {
		rr_instance_free(found.instance);
		return RR_NO_ID;
	}
	return learn_node(tree, found,
			  (struct rr_history){ .parent = at,
					 .input = *input,
					 .lane = lane,
					 .passed_ns = passed_ns });
}

static bool learn_root(struct tree *tree)
{
	struct rr_kept found;

	if (!start_instance(tree, next_client_of(tree->programs, tree), &found))
		return false;
	return learn_node(tree, found, (struct rr_history){ .parent = RR_NO_ID }) !=
	       RR_NO_ID;
}

/* ---- As clients of the explorer --------------------------------------------------------- */

/* The node's view with the client's own random values. */
static void see_node(struct run *run)
{
	const struct rr_renaming *own = &run->programs->own[run->client];
	struct rr_terms *terms = run->programs->instances.program->terms;

	run->view = run->tree->histories.all[run->node]->view;
	for (uint32_t i = 0; i < run->view.n_sent; i++)
		run->view.sent[i].command = rr_rename_command(
			own, terms, run->view.sent[i].command);
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
	    (run->tree->histories.n == 0 && !learn_root(run->tree)))
		return run;
	if (programs->is_live &&
	    start_instance(run->tree, run->client, &run->live))
		compare_at(run->tree, run->live.instance, run->live.number,
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
static bool feed_live(struct run *run, const struct rr_input *heard,
		      uint8_t lane, int64_t passed_ns, uint32_t child)
{
	struct rr_instance *instance = run->live.instance;

	if (!instance)
		return true;
	return rr_instance_feed(instance, heard, lane, passed_ns,
				&run->programs->problem) &&
	       compare_at(run->tree, instance, run->live.number,
			  run->tree->histories.all[child]);
}

static void feed_program_run(void *context, const struct rr_input *input,
			     int64_t passed_ns)
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
	child = rr_histories_find(&run->tree->histories, run->node, &heard, lane,
				  passed_ns);
	if (child == RR_NO_ID)
		child = learn_child(run->tree, run->node, &heard, lane,
				    passed_ns);
	if (child == RR_NO_ID ||
	    !feed_live(run, &heard, lane, passed_ns, child))
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

	while (!programs->has_own_trees && i < programs->n_trees &&
	       programs->trees[i].argv != argv)
		i++;
	if (programs->has_own_trees)
		i = programs->n_trees;
	if (i == programs->n_trees)
		programs->trees[programs->n_trees++] =
			(struct tree){ .programs = programs, .argv = argv };
	return i;
}

static void make_trees(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++)
		programs->tree_of[i] = tree_for(programs, i);
}

static void free_tree(struct tree *tree)
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

void rr_programs_init(struct rr_programs *programs,
		      struct rr_program *program)
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
static bool make_own_values(struct rr_programs *programs, size_t client)
{
	const struct tree *tree = &programs->trees[programs->tree_of[client]];
	struct rr_renaming *own = &programs->own[client];
	bool good = true;

	for (size_t i = 0; i < tree->n_names && client > 0; i++) {
		char *value = rr_token_of_client(tree->names[i], client);

		good &= value && rr_renaming_add(own, tree->names[i], value) &&
			rr_renaming_add(own, value, tree->names[i]);
		free(value);
	}
	return good;
}

bool rr_programs_begin_search(struct rr_programs *programs)
{
	bool good = true;

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
	for (size_t i = 0;
	     i < programs->config.n_clients && !programs->has_own_trees; i++)
		good &= make_own_values(programs, i);
	return good;
}

void rr_programs_set_live(struct rr_programs *programs, bool is_live)
{
	programs->is_live = is_live;
	programs->instances.until_ns =
		is_live ? 0 : programs->config.instances.until_ns;
	if (programs->problem.kind == RR_ERROR_INTERRUPTED)
		programs->problem.kind = RR_ERROR_NONE;
}

/* Does the command at a node, or before it, have this text in it? */
static bool path_has_name(const struct tree *tree, uint32_t at,
			  const char *name)
{
	const struct rr_terms *terms = terms_of_tree(tree);

	for (; at != RR_NO_ID; at = tree->histories.all[at]->parent) {
		const struct rr_run_view *view = &tree->histories.all[at]->view;

		for (uint32_t i = 0; i < view->n_sent; i++) {
			if (rr_command_has_text(
				    &terms->command[view->sent[i].command].words,
				    name))
				return true;
		}
	}
	return false;
}

/* A process that has come to a node with the very values of the tree. */
static void note_same_draws(struct tree *tree,
			    const struct rr_instance *instance, uint32_t at)
{
	for (size_t i = 0; i < tree->n_names; i++) {
		if (rr_instance_renames(instance, tree->names[i]) ||
		    !path_has_name(tree, at, tree->names[i]))
			continue;
		tree->draws[i].n++;
		tree->draws[i].repeats++;
	}
}

/* Another instance goes the same way. */
static bool run_again(struct tree *tree, size_t client, uint32_t to)
{
	struct rr_programs *programs = tree->programs;
	struct rr_kept again;
	bool good;

	if (!start_instance(tree, client, &again))
		return false;
	good = replay_to(tree, &again, to);
	if (good)
		note_same_draws(tree, again.instance, to);
	if (good)
		keep_instance(programs, tree->histories.all[to], again);
	else
		rr_instance_free(again.instance);
	return good;
}

static bool verify_names_of_clients(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct tree *tree = &programs->trees[programs->tree_of[i]];
		const uint32_t end = rr_histories_longest_end(&tree->histories);

		if (programs->is_verified[i] || end == RR_NO_ID ||
		    (!programs->has_own_trees &&
		     !programs->config.compares_outputs &&
		     tree->histories.all[end]->client == i))
			continue;
		if (!run_again(tree, i, end))
			return false;
		programs->is_verified[i] = true;
	}
	return true;
}

/* Whatever only one instance has sent may be random: another one tells. */
static bool verify_tokens(struct tree *tree)
{
	for (uint32_t i = tree->histories.n; i-- > 0;) {
		if (rr_tokens_are_open(&tree->programs->tokens,
				       terms_of_tree(tree),
				       &tree->histories.all[i]->view,
				       tree->names, tree->n_names) &&
		    !run_again(tree, next_client_of(tree->programs, tree), i))
			return false;
	}
	return true;
}

static bool has_few_draws(const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_names; i++) {
		if (tree->draws[i].n < DRAWS_MIN)
			return true;
	}
	return false;
}

/* Are they random, or choices out of few? */
static bool verify_draws(struct tree *tree)
{
	const uint32_t end = rr_histories_longest_end(&tree->histories);

	for (int i = 0; i < DRAWS_MIN && end != RR_NO_ID; i++) {
		if (!has_few_draws(tree))
			return true;
		if (!run_again(tree, next_client_of(tree->programs, tree), end))
			return false;
	}
	return true;
}

bool rr_programs_verify(struct rr_programs *programs, bool *again,
			struct rr_error *error)
{
	bool good = !programs->problem.kind && verify_names_of_clients(programs);

	for (size_t i = 0; i < programs->n_trees && good; i++)
		good = verify_tokens(&programs->trees[i]) &&
		       verify_draws(&programs->trees[i]);
	*again = programs->wants_own_trees ||
		 (good && programs->has_new_names);
	if (good || *again)
		return true;
	*error = programs->problem;
	return false;
}

struct rr_programs_figures
rr_programs_figures(const struct rr_programs *programs)
{
	struct rr_programs_figures figures = programs->figures;

	for (size_t i = 0; i < programs->n_trees; i++)
		figures.n_random += programs->trees[i].n_names;
	return figures;
}

struct rr_ending rr_programs_ending(const struct rr_programs *programs,
				    long ending)
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
	*ending = rr_programs_ending(programs,
				     histories->all[end]->view.tally.ending);
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/array.h"

/* PERIOD_MAX: commands of a loop that is recognised as one. */
enum { PARKED_MAX = 24, TEXT_SIZE = 160, PERIOD_MAX = 8 };

/* An instance that a tree knows. */
struct parked {
	struct rr_instance *instance;
	uint32_t number; /* how manieth it was */
	uint64_t used;   /* when it was parked, for the one longest there */
};

/* What a client has heard so far, and what it does then. */
struct node {
	uint32_t parent; /* RR_NO_ID: it has heard nothing */
	struct rr_input input;
	uint8_t lane;      /* that the input came on */
	int64_t passed_ns; /* when it did, since the time was told last */
	size_t client;     /* under whose name it was learned ... */
	uint32_t learner;  /* ... and by which instance */
	struct rr_run_view view;
	uint8_t repeats[PERIOD_MAX + 1]; /* so many steps in a row were those so
					  * many before them */
	struct parked parked; /* one that stands here */
};

struct tree {
	struct rr_programs *programs;
	const char *const *argv;
	struct node **nodes;
	uint32_t n_nodes;
	struct rr_intern edges; /* struct edge */
	uint32_t *children;     /* nodes, by the numbers of `edges` */
	char *names[RR_NAMES_MAX]; /* random values, as the tree has them */
	size_t n_names;
};

/* Instead of the time that has passed: whenever it comes, for the clock is not read; and
 * that it is read, at one time at least. */
enum { AT_ANY_TIME = -1, IS_TIMED = -2 };

struct edge {
	uint32_t node;
	uint8_t kind, lane;
	uint16_t padding;
	int64_t value, passed_ns;
};

/* A token, and whether it may be random. */
struct token {
	uint32_t learner;  /* the instance that was the first to send it */
	bool is_confirmed; /* another one has sent it, too */
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
	struct rr_intern endings, token_texts;
	struct token *tokens; /* by the numbers of token_texts */
	size_t n_parked, next_client;
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
	struct parked live;      /* its process, if programs are live */
};

static bool has_ended_at(const struct node *node)
{
	return node->view.stops[0].kind == RR_STOP_ENDED;
}

/* ---- Tokens -------------------------------------------------------------------- */

static void note_token(struct rr_programs *programs, const char *text,
		       size_t length, uint32_t learner)
{
	bool is_new;
	const uint32_t id = rr_intern_put(&programs->token_texts, text, length,
					  &is_new);
	struct token *tokens = programs->tokens;

	if (id == RR_NO_ID)
		return;
	if (is_new) {
		tokens = realloc(tokens, ((size_t)id + 1) * sizeof(*tokens));
		if (!tokens)
			return;
		programs->tokens = tokens;
		tokens[id] = (struct token){ .learner = learner };
	}
	tokens[id].is_confirmed |= tokens[id].learner != learner;
}

/* A token that only the instance that was first to send it has sent. */
static bool is_unconfirmed(const struct tree *tree, const char *text,
			   size_t length)
{
	const struct rr_programs *programs = tree->programs;
	const uint32_t id =
		rr_intern_find(&programs->token_texts, text, length);

	for (size_t i = 0; i < tree->n_names; i++) {
		if (strlen(tree->names[i]) == length &&
		    memcmp(tree->names[i], text, length) == 0)
			return false;
	}
	return id != RR_NO_ID && !programs->tokens[id].is_confirmed;
}

static void note_tokens(struct rr_programs *programs,
			const struct rr_run_view *view, uint32_t learner)
{
	const struct rr_terms *terms = programs->instances.program->terms;

	for (uint32_t i = 0; i < view->n_sent; i++) {
		const struct rl_command *words =
			&terms->command[view->sent[i].command].words;

		for (size_t j = 0; j < words->n_words; j++) {
			size_t at = 0, length;
			const char *token;

			while ((token = rr_next_token(&words->words[j], &at,
						      &length)))
				note_token(programs, token, length, learner);
		}
	}
}

static bool has_unconfirmed(const struct tree *tree, const struct node *node)
{
	const struct rr_terms *terms =
		tree->programs->instances.program->terms;

	for (uint32_t i = 0; i < node->view.n_sent; i++) {
		const struct rl_command *words =
			&terms->command[node->view.sent[i].command].words;

		for (size_t j = 0; j < words->n_words; j++) {
			size_t at = 0, length;
			const char *token;

			while ((token = rr_next_token(&words->words[j], &at,
						      &length))) {
				if (is_unconfirmed(tree, token, length))
					return true;
			}
		}
	}
	return false;
}

/* ---- Comparing ------------------------------------------------------------------- */

static bool is_same_view(const struct rr_run_view *a,
			 const struct rr_run_view *b)
{
	if (a->n_threads != b->n_threads || a->n_sent != b->n_sent ||
	    a->stops[0].kind != b->stops[0].kind ||
	    a->is_inside != b->is_inside || a->tally.ok != b->tally.ok)
		return false;
	for (uint32_t i = 0; i < a->n_sent; i++) {
		if (a->sent[i].lane != b->sent[i].lane ||
		    a->sent[i].command != b->sent[i].command)
			return false;
	}
	return true;
}

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
	if (view->n_sent == 0)
		fprintf(file, "ended with status %d",
			WEXITSTATUS(rr_programs_ending(programs,
						       view->tally.ending)
					    .status));
	for (uint32_t i = 0; i < view->n_sent && i < 3; i++) {
		fputs(i ? ", " : "", file);
		print_words(file, &terms->command[view->sent[i].command].words);
	}
	fclose(file);
}

/* An instance does something else than another with the same history did. */
static bool fail_differing_run(struct rr_programs *programs,
			       const struct node *known, size_t client,
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
		&programs->problem, RR_ERROR_INTERNAL,
		"the program is not deterministic: with the same replies, client %s did '%s' once and '%s' another time",
		programs->config.names[client], before, now);
}

static bool keep_name(struct tree *tree, char *name)
{
	for (size_t i = 0; i < tree->n_names; i++) {
		if (strcmp(tree->names[i], name) == 0)
			return true;
	}
	if (tree->n_names == RR_NAMES_MAX)
		return false;
	tree->names[tree->n_names] = strdup(name);
	tree->programs->has_new_names = true;
	return tree->names[tree->n_names++] != NULL;
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
		  keep_name(tree, canonical) &&
		  rr_instance_rename(instance, canonical, actual);
	free(canonical);
	free(actual);
	return renamed;
}

/* An instance stands at a node: does it do what is known? */
static bool compare_at(struct tree *tree, struct rr_instance *instance,
		       uint32_t number, const struct node *node)
{
	struct rr_run_view view = rr_instance_view(instance);

	while (!is_same_view(&view, &node->view)) {
		if (!rename_difference(tree, instance, &node->view, &view))
			return fail_differing_run(tree->programs, node,
						  rr_instance_client(instance),
						  &view);
		view = rr_instance_view(instance);
	}
	note_tokens(tree->programs, &view, number);
	return true;
}

/* ---- Nodes ------------------------------------------------------------------------ */

static struct edge edge_of(uint32_t node, const struct rr_input *input,
			   uint8_t lane, int64_t passed_ns)
{
	return (struct edge){ .node = node,
			      .kind = input->kind,
			      .lane = lane,
			      .value = input->value,
			      .passed_ns = passed_ns };
}

static uint32_t look_up_child(const struct tree *tree, uint32_t node,
			      const struct rr_input *input, uint8_t lane,
			      int64_t passed_ns)
{
	const struct edge edge = edge_of(node, input, lane, passed_ns);
	const uint32_t id = rr_intern_find(&tree->edges, &edge, sizeof(edge));

	return id == RR_NO_ID ? RR_NO_ID : tree->children[id];
}

static uint32_t find_child(const struct tree *tree, uint32_t node,
			   const struct rr_input *input, uint8_t lane,
			   int64_t passed_ns)
{
	const uint32_t child =
		look_up_child(tree, node, input, lane, passed_ns);

	return child == RR_NO_ID ? look_up_child(tree, node, input, lane,
						    AT_ANY_TIME) :
				   child;
}

static uint32_t add_node(struct tree *tree, const struct node *node)
{
	struct node **nodes = realloc(
		tree->nodes, ((size_t)tree->n_nodes + 1) * sizeof(*nodes));
	struct node *copy = malloc(sizeof(*copy));

	if (nodes)
		tree->nodes = nodes;
	if (!nodes || !copy) {
		free(copy);
		rr_error_no_memory(&tree->programs->problem);
		return RR_NO_ID;
	}
	*copy = *node;
	nodes[tree->n_nodes] = copy;
	return tree->n_nodes++;
}

static uint32_t put_child(struct tree *tree, const struct node *node,
			  int64_t passed_ns, uint32_t child)
{
	const struct edge edge = edge_of(node->parent, &node->input,
					 node->lane, passed_ns);
	uint32_t id;

	if (!rr_array_grow(&tree->children, tree->edges.n,
			   sizeof(*tree->children)) ||
	    (id = rr_intern_put(&tree->edges, &edge, sizeof(edge), NULL)) ==
		    RR_NO_ID) {
		rr_error_no_memory(&tree->programs->problem);
		return RR_NO_ID;
	}
	return tree->children[id] = child;
}

static uint32_t add_child(struct tree *tree, const struct node *node)
{
	const uint32_t child = add_node(tree, node);

	if (child == RR_NO_ID || !node->view.has_read)
		return child == RR_NO_ID ?
			       child :
			       put_child(tree, node, AT_ANY_TIME, child);
	put_child(tree, node, IS_TIMED, child);
	return put_child(tree, node, node->passed_ns, child);
}

/* ---- Instances ---------------------------------------------------------------------- */

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool start_instance(struct tree *tree, size_t client,
			   struct parked *started)
{
	struct rr_programs *programs = tree->programs;
	const double begun = seconds_now();

	*started = (struct parked){ .number = (uint32_t)programs->figures.starts };
	programs->figures.starts++;
	started->instance = rr_instance_start(&programs->instances, tree->argv,
					      client,
					      programs->config.names[client],
					      &programs->problem);
	programs->figures.start_seconds += seconds_now() - begun;
	if (started->instance)
		programs->figures.has_shim |=
			rr_instance_has_shim(started->instance);
	return started->instance != NULL;
}

/* Tells an instance what was heard on the way to a node. */
static bool replay_to(struct tree *tree, const struct parked *started,
		      uint32_t to)
{
	const struct node *node = tree->nodes[to];

	if (node->parent != RR_NO_ID &&
	    (!replay_to(tree, started, node->parent) ||
	     !rr_instance_feed(started->instance, &node->input, node->lane,
			       node->passed_ns, &tree->programs->problem)))
		return false;
	return compare_at(tree, started->instance, started->number, node);
}

static struct node *longest_parked(const struct rr_programs *programs)
{
	struct node *longest = NULL;

	for (size_t i = 0; i < programs->n_trees; i++) {
		const struct tree *tree = &programs->trees[i];

		for (uint32_t j = 0; j < tree->n_nodes; j++) {
			struct node *node = tree->nodes[j];

			if (node->parked.instance &&
			    (!longest || node->parked.used < longest->parked.used))
				longest = node;
		}
	}
	return longest;
}

static struct parked take_parked(struct rr_programs *programs,
				 struct node *node)
{
	const struct parked taken = node->parked;

	node->parked.instance = NULL;
	programs->n_parked--;
	return taken;
}

/* Keeps an instance where it stands, unless it has ended or another stands there. */
static void park(struct rr_programs *programs, struct node *node,
		 struct parked instance)
{
	if (has_ended_at(node) || node->parked.instance) {
		rr_instance_free(instance.instance);
		return;
	}
	if (programs->n_parked == PARKED_MAX)
		rr_instance_free(
			take_parked(programs, longest_parked(programs)).instance);
	node->parked = instance;
	node->parked.used = ++programs->n_uses;
	programs->n_parked++;
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
			      struct parked *found)
{
	struct rr_programs *programs = tree->programs;
	struct node *node = tree->nodes[to];

	if (node->parked.instance) {
		*found = take_parked(programs, node);
		return true;
	}
	if (!start_instance(tree, next_client_of(programs, tree), found))
		return false;
	if (replay_to(tree, found, to))
		return true;
	rr_instance_free(found->instance);
	return false;
}

/* ---- Loops ------------------------------------------------------------------------------ */

static bool is_same_step(const struct node *a, const struct node *b)
{
	return a->input.kind == b->input.kind &&
	       a->input.value == b->input.value && a->lane == b->lane &&
	       is_same_view(&a->view, &b->view);
}

/* How often in a row it has done the same, and heard the same. */
static void count_polls(const struct tree *tree, struct node *node)
{
	const struct node *before = node, *parent;

	if (node->parent == RR_NO_ID)
		return;
	parent = tree->nodes[node->parent];
	for (int period = 1; period <= PERIOD_MAX; period++) {
		before = tree->nodes[before->parent];
		if (before->parent == RR_NO_ID)
			return;
		if (is_same_step(node, before) &&
		    parent->repeats[period] < UINT8_MAX)
			node->repeats[period] = parent->repeats[period] + 1;
		if (node->repeats[period] / period > node->view.polls)
			node->view.polls = node->repeats[period] /
					   (uint8_t)period;
	}
}

/* ---- Learning ------------------------------------------------------------------------- */

/* What an instance does that has just come to a place where none was before. */
static uint32_t learn_node(struct tree *tree, struct parked found,
			   struct node node)
{
	uint32_t id;

	node.view = rr_instance_view(found.instance);
	/* Some read a clock now and then: once is enough for all times. */
	if (node.parent != RR_NO_ID &&
	    look_up_child(tree, node.parent, &node.input, node.lane,
			  IS_TIMED) != RR_NO_ID)
		node.view.has_read = true;
	node.client = rr_instance_client(found.instance);
	node.learner = found.number;
	note_tokens(tree->programs, &node.view, found.number);
	count_polls(tree, &node);
	id = node.parent == RR_NO_ID ? add_node(tree, &node) :
				       add_child(tree, &node);
	if (id == RR_NO_ID)
		rr_instance_free(found.instance);
	else
		park(tree->programs, tree->nodes[id], found);
	return id;
}

static uint32_t learn_child(struct tree *tree, uint32_t at,
			    const struct rr_input *input, uint8_t lane,
			    int64_t passed_ns)
{
	struct parked found;

	if (!bring_instance_to(tree, at, &found))
		return RR_NO_ID;
	if (!rr_instance_feed(found.instance, input, lane, passed_ns,
			      &tree->programs->problem)) {
		rr_instance_free(found.instance);
		return RR_NO_ID;
	}
	return learn_node(tree, found,
			  (struct node){ .parent = at,
					 .input = *input,
					 .lane = lane,
					 .passed_ns = passed_ns });
}

static bool learn_root(struct tree *tree)
{
	struct parked found;

	if (!start_instance(tree, next_client_of(tree->programs, tree), &found))
		return false;
	return learn_node(tree, found, (struct node){ .parent = RR_NO_ID }) !=
	       RR_NO_ID;
}

/* ---- As clients of the explorer --------------------------------------------------------- */

/* The node's view with the client's own random values. */
static void see_node(struct run *run)
{
	const struct rr_renaming *own = &run->programs->own[run->client];
	struct rr_terms *terms = run->programs->instances.program->terms;

	run->view = run->tree->nodes[run->node]->view;
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
	    (run->tree->n_nodes == 0 && !learn_root(run->tree)))
		return run;
	if (programs->is_live &&
	    start_instance(run->tree, run->client, &run->live))
		compare_at(run->tree, run->live.instance, run->live.number,
			   run->tree->nodes[0]);
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
			  run->tree->nodes[child]);
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
	if (heard.kind == RR_INPUT_REPLY)
		heard.value = rr_rename_reply(&programs->own[run->client],
					      programs->instances.program->terms,
					      (uint32_t)input->value);
	child = find_child(run->tree, run->node, &heard, lane, passed_ns);
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

static void plant_trees(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++)
		programs->tree_of[i] = tree_for(programs, i);
}

static void free_tree(struct tree *tree)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		rr_instance_free(tree->nodes[i]->parked.instance);
		free(tree->nodes[i]);
	}
	for (size_t i = 0; i < tree->n_names; i++)
		free(tree->names[i]);
	free(tree->nodes);
	free(tree->children);
	rr_intern_release(&tree->edges);
}

static void fell_trees(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->n_trees; i++)
		free_tree(&programs->trees[i]);
	programs->n_trees = programs->n_parked = 0;
}

struct rr_programs *rr_programs_new(const struct rr_programs_config *config)
{
	struct rr_programs *programs = calloc(1, sizeof(*programs));

	if (!programs)
		return NULL;
	programs->config = *config;
	plant_trees(programs);
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
	fell_trees(programs);
	release_own(programs);
	rr_intern_release(&programs->endings);
	rr_intern_release(&programs->token_texts);
	free(programs->tokens);
	free(programs);
}

void rr_programs_init(struct rr_programs *programs,
		      struct rr_program *program)
{
	const struct rr_programs_config *config = &programs->config;

	programs->instances = (struct rr_instance_config){
		.launcher = config->launcher,
		.directory = config->directory,
		.signals = config->signals,
		.preload = config->preload,
		.refused = config->refused,
		.start_ns = config->start_ns,
		.patience_ms = config->patience_ms,
		.program = program,
		.endings = &programs->endings,
	};
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
		fell_trees(programs);
		programs->has_own_trees = true;
		memset(programs->is_verified, 0, sizeof(programs->is_verified));
		plant_trees(programs);
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
}

static int depth_of(const struct tree *tree, uint32_t node)
{
	int depth = 0;

	while (tree->nodes[node]->parent != RR_NO_ID) {
		node = tree->nodes[node]->parent;
		depth++;
	}
	return depth;
}

/* The deepest node at which the program has ended. */
static uint32_t deepest_end(const struct tree *tree)
{
	uint32_t deepest = RR_NO_ID;

	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		if (has_ended_at(tree->nodes[i]) &&
		    (deepest == RR_NO_ID ||
		     depth_of(tree, i) > depth_of(tree, deepest)))
			deepest = i;
	}
	return deepest;
}

/* Another instance goes the same way. */
static bool run_again(struct tree *tree, size_t client, uint32_t to)
{
	struct rr_programs *programs = tree->programs;
	struct parked again;
	bool good;

	if (!start_instance(tree, client, &again))
		return false;
	good = replay_to(tree, &again, to);
	if (good)
		park(programs, tree->nodes[to], again);
	else
		rr_instance_free(again.instance);
	return good;
}

static bool verify_names_of_clients(struct rr_programs *programs)
{
	for (size_t i = 0; i < programs->config.n_clients; i++) {
		struct tree *tree = &programs->trees[programs->tree_of[i]];
		const uint32_t end = deepest_end(tree);

		if (programs->is_verified[i] || end == RR_NO_ID ||
		    (!programs->has_own_trees && tree->nodes[end]->client == i))
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
	for (uint32_t i = tree->n_nodes; i-- > 0;) {
		if (has_unconfirmed(tree, tree->nodes[i]) &&
		    !run_again(tree, next_client_of(tree->programs, tree), i))
			return false;
	}
	return true;
}

bool rr_programs_verify(struct rr_programs *programs, bool *again,
			struct rr_error *error)
{
	bool good = !programs->problem.kind && verify_names_of_clients(programs);

	for (size_t i = 0; i < programs->n_trees && good; i++)
		good = verify_tokens(&programs->trees[i]);
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

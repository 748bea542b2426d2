/* SPDX-License-Identifier: MIT */
/* Does an instance do what another with the same history did? Values in which they
 * differ are random if they hardly ever come twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "programs_parts.h"

enum { TEXT_SIZE = 160 };

struct rr_terms *rr_tree_terms(const struct rr_program_tree *tree)
{
	return tree->programs->instances.program->terms;
}

bool rr_tree_note_tokens(struct rr_program_tree *tree, const struct rr_run_view *view,
			 uint32_t instance)
{
	return rr_tokens_note(&tree->programs->tokens, rr_tree_terms(tree), view, instance) ||
	       rr_error_no_memory(&tree->programs->problem);
}

static void print_words(FILE *file, const struct rl_command *words)
{
	for (size_t i = 0; i < words->n_words; i++)
		fprintf(file, "%s%.60s", i ? " " : "", words->words[i].text);
}

/* What a program does, in words. */
static void describe_view(const struct rr_programs *programs, const struct rr_run_view *view,
			  char text[TEXT_SIZE])
{
	const struct rr_terms *terms = programs->instances.program->terms;
	FILE *file = fmemopen(text, TEXT_SIZE, "w");

	text[0] = '\0';
	if (!file)
		return;
	if (view->stops[0].kind == RR_STOP_ENDED)
		fprintf(file, "ended with status %d",
			WEXITSTATUS(rr_programs_ending(programs, view->tally.ending).status));
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
static bool fail_differing_run(struct rr_programs *programs, const struct rr_history *known,
			       size_t client, const struct rr_run_view *seen)
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

static bool keep_name(struct rr_program_tree *tree, const char *name, size_t *number)
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
	       rr_intern_put(&tree->drawn, name, strlen(name), NULL) != RR_NO_ID;
}

/* A process has another value than the tree. False: so have others, and it is not
 * random; or out of memory. */
static bool note_draw(struct rr_program_tree *tree, const char *canonical, const char *actual)
{
	bool is_new;
	size_t name;

	if (!keep_name(tree, canonical, &name) ||
	    rr_intern_put(&tree->drawn, actual, strlen(actual), &is_new) == RR_NO_ID)
		return false;
	tree->draws[name].n++;
	tree->draws[name].repeats += !is_new;
	return tree->draws[name].repeats * RR_DRAWS_PER_REPEAT <= tree->draws[name].n;
}

/* The first pair of commands that differ: do they differ in a random value? Then it
 * is renamed from now on. */
static bool rename_difference(struct rr_program_tree *tree, struct rr_instance *instance,
			      const struct rr_run_view *known, const struct rr_run_view *seen)
{
	const struct rr_terms *terms = tree->programs->instances.program->terms;
	char *canonical = NULL, *actual = NULL;
	bool renamed;
	uint32_t i = 0;

	if (known->n_sent != seen->n_sent)
		return false;
	while (i < known->n_sent && known->sent[i].command == seen->sent[i].command)
		i++;
	renamed = i < known->n_sent &&
		  rr_names_differ(&terms->command[known->sent[i].command].words,
				  &terms->command[seen->sent[i].command].words, &canonical,
				  &actual) &&
		  note_draw(tree, canonical, actual) &&
		  rr_instance_rename(instance, canonical, actual);
	free(canonical);
	free(actual);
	return renamed;
}

/* Both have ended, and do the same: have they printed the same, too? */
static bool compare_outputs(struct rr_program_tree *tree, const struct rr_history *known,
			    size_t client, const struct rr_run_view *seen)
{
	struct rr_programs *programs = tree->programs;

	if (seen->stops[0].kind != RR_STOP_ENDED || known->view.tally.ending == seen->tally.ending)
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

bool rr_tree_compare_at(struct rr_program_tree *tree, struct rr_instance *instance, uint32_t number,
			const struct rr_history *node)
{
	struct rr_run_view view = rr_instance_view(instance);

	while (!rr_views_are_same(&view, &node->view)) {
		if (!rename_difference(tree, instance, &node->view, &view))
			return fail_differing_run(tree->programs, node,
						  rr_instance_client(instance), &view);
		view = rr_instance_view(instance);
	}
	return compare_outputs(tree, node, rr_instance_client(instance), &view) &&
	       rr_tree_note_tokens(tree, &view, number);
}

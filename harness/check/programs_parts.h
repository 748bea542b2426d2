/* SPDX-License-Identifier: MIT */
/*
 * What the files of programs share: the tree of a command line, which grows by
 * instances that are compared with what is known of it.
 *
 * False, NULL or RR_NO_ID: why is in programs->problem.
 */
#ifndef RR_PROGRAMS_PARTS_H
#define RR_PROGRAMS_PARTS_H

#include "histories.h"
#include "programs.h"
#include "tokens.h"

/* A value counts as random after RR_DRAWS_MIN draws of which at most one in
 * RR_DRAWS_PER_REPEAT came twice. With more repetitions it is a choice among few values,
 * which other clients may make, too. */
enum { RR_DRAWS_MIN = 8, RR_DRAWS_PER_REPEAT = 8 };

struct rr_program_tree {
	struct rr_programs *programs;
	const char *const *argv;
	struct rr_histories histories;
	char *names[RR_NAMES_MAX]; /* random values, as the tree has them */
	size_t n_names;
	struct {
		unsigned long n, repeats;
	} draws[RR_NAMES_MAX];  /* by other processes */
	struct rr_intern drawn; /* what they had */
};

struct rr_programs {
	struct rr_programs_config config;
	struct rr_instance_config instances;
	size_t n_trees;
	struct rr_program_tree trees[RR_PROGRAMS_MAX];
	size_t tree_of[RR_PROGRAMS_MAX];         /* of each client */
	struct rr_renaming own[RR_PROGRAMS_MAX]; /* tree's values and client's,
						  * exchanged */
	bool is_verified[RR_PROGRAMS_MAX];       /* under that name a program did in a
					    * whole history what another did */
	bool is_live;
	bool has_own_trees; /* clients do different things */
	bool wants_own_trees, has_new_names;
	struct rr_intern endings;
	struct rr_tokens tokens;
	size_t n_kept, next_client;
	uint64_t n_uses;
	struct rr_programs_figures figures;
	struct rr_error problem;
};

struct rr_terms *rr_tree_terms(const struct rr_program_tree *tree);

/* Notes the tokens in what the instance with that number does. */
bool rr_tree_note_tokens(struct rr_program_tree *tree, const struct rr_run_view *view,
			 uint32_t instance);

/* An instance stands at a node: does it do what is known? */
bool rr_tree_compare_at(struct rr_program_tree *tree, struct rr_instance *instance, uint32_t number,
			const struct rr_history *node);

bool rr_tree_start_instance(struct rr_program_tree *tree, size_t client, struct rr_kept *started);

/* The clients of a tree take turns, so that each is started now and then. */
size_t rr_tree_next_client(struct rr_programs *programs, const struct rr_program_tree *tree);

/* Another instance goes the same way, to a node that is known. */
bool rr_tree_run_again(struct rr_program_tree *tree, size_t client, uint32_t to);

/* What the program does at first, and after it has heard something at a node: a new
 * node. */
bool rr_tree_learn_root(struct rr_program_tree *tree);
uint32_t rr_tree_learn_child(struct rr_program_tree *tree, uint32_t at,
			     const struct rr_input *input, uint8_t lane, int64_t passed_ns);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Levels of the game, as harness/report/game.levels says them. A line is a word and
 * what belongs to it; lines that begin with a blank go on with the one before.
 * TRANSITIONS are in the words of scheduler/words.h, as the graph has them.
 *
 *	level NAME           a new one begins
 *	title, task, intro, hint, explain TEXT    told to the reader; a second intro,
 *	                     hint or explain is another paragraph
 *	strategy NAME        clients N, increments N, processes, lock-servers N, and faults,
 *	                     such as crashes N: the options of redrace explore
 *	without TRANSITIONS  that are left out (half, drop:A:GET ...)
 *	begin TRANSITIONS    have happened when the level begins
 *	broken-is-end        nothing is shown of what comes after something has broken
 *	script NAME PART     a script that contains PART is called NAME
 *	goal WHAT            count, exclusion, lease, ownership, deadlock: breaks that;
 *	                     well: all end, and nothing is broken
 *	sees TEXT            and that happened on the way: "EXEC => (nil)"
 *	unbreakable          no way breaks anything
 *	solution TRANSITIONS reach the goal
 */
#ifndef RR_LEVELS_H
#define RR_LEVELS_H

#include "explore/explore.h"

enum { RR_LEVEL_TEXTS = 6, RR_LEVEL_SCRIPTS = 4, RR_LEVELS_MAX = 64 };

struct rr_level {
	const char *name, *title, *task, *goal, *sees, *solution;
	const char *intro[RR_LEVEL_TEXTS + 1]; /* NULL behind the last */
	const char *hints[RR_LEVEL_TEXTS + 1];
	const char *explain[RR_LEVEL_TEXTS + 1];
	const struct rr_strategy *strategy;
	bool unbreakable;
	struct rr_explore_config search;
	struct rr_script_name scripts[RR_LEVEL_SCRIPTS + 1];
	const char *begin, *without; /* NULL = nothing */
	bool ends_broken;            /* what comes after something has broken is left out */
};

struct rr_levels {
	struct rr_level *all;
	size_t n;
	char *text; /* that theirs are in */
};

/* Of a text. False: the error, which names the level. Release it in any case. */
bool rr_levels_parse(struct rr_levels *levels, const char *text, struct rr_error *error);
void rr_levels_release(struct rr_levels *levels);

/* Leaves in the JSON of a graph what a level shows of it, with counts (game_graph.c). The
 * transitions that lead to its beginning are "before". False: the error. */
struct json_t;
bool rr_level_show(const struct rr_level *level, struct json_t *graph, struct rr_error *error);

#endif

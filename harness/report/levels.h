/* SPDX-License-Identifier: MIT */
/*
 * Levels of the game, as harness/report/game.levels says them. A line is a word and
 * what belongs to it; lines that begin with a blank go on with the one before.
 * TRANSITIONS are in the words of replay/words.h, as the graph has them.
 *
 *	level NAME           a new one begins
 *	title, task, intro, hint, explain TEXT    told to the reader; a second intro,
 *	                     hint or explain is another paragraph
 *	checked NAME         instead of a strategy: programs whose check is kept (game_checked.c)
 *	command LINE         what checks them
 *	wrong TEXT           said of an end that is wrong
 *	strategy NAME        clients N, increments N, processes, lock-servers N, and faults,
 *	                     such as crashes N: the options of redrace explore
 *	without TRANSITIONS  that are left out (half, drop:A:GET ...)
 *	begin TRANSITIONS    have happened when the level begins
 *	broken-is-end        nothing is shown of what comes after something has broken
 *	script NAME PART     a script that contains PART is called NAME
 *	program LINES        what each client does, with ", " between two lines, where what the
 *	                     strategy says of itself names no commands: "SET NX PX token @n1"
 *	goal WHAT            count, exclusion, lease, ownership, deadlock: breaks that;
 *	                     well: all end, and nothing is broken
 *	sees TEXT            and that happened on the way: "EXEC => (nil)"
 *	unbreakable          no way breaks anything
 *	solution TRANSITIONS reach the goal
 */
#ifndef RR_LEVELS_H
#define RR_LEVELS_H

#include "report.h"

enum { RR_LEVEL_TEXTS = 6, RR_LEVEL_SCRIPTS = 4 };

/* Programs of others, instead of a strategy. */
struct rr_level_programs {
	const char *name;        /* of what is kept of their check; NULL = it is made now */
	const char *command;     /* that checks them */
	const char *replay;      /* that plays a schedule in schedule.race */
	const char *schedule;    /* what that file begins with */
	const char *path, *text; /* theirs, if it is one file; or NULL */
	const char *wrong;       /* what is said of an end that is */
	const char *verdict;     /* lines; NULL = none */
	bool is_app;
};

struct rr_level {
	const char *name, *title, *task, *goal, *sees, *solution;
	const char *program; /* its lines; NULL = the strategy's, or none are known */
	const char *intro[RR_LEVEL_TEXTS + 1]; /* NULL after the last */
	const char *hints[RR_LEVEL_TEXTS + 1];
	const char *explain[RR_LEVEL_TEXTS + 1];
	const struct rr_strategy *strategy; /* NULL = programs */
	struct rr_level_programs programs;
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

struct json_t;

/* A level as a page has it; takes the graph (game.c). */
struct json_t *rr_level_as_json(const struct rr_level *level, struct json_t *graph);

/* A page of these levels. */
void rr_levels_write_page(FILE *out, const struct json_t *levels, const char *navigation,
			  const struct rr_level *const *all, size_t n);

/* What is known of the programs whose check is kept by that name goes to the level. False:
 * there are none (game_checked.c). */
bool rr_level_take_kept(struct rr_level *level, const char *name);

/* The graph that is kept, the caller's to release. NULL: the error. */
struct json_t *rr_level_kept_graph(const char *name, struct rr_error *error);

/* Leaves in the JSON of a graph what a level shows of it, with counts (game_graph.c). The
 * transitions that lead to its beginning are "before". False: the error. */
bool rr_level_show(const struct rr_level *level, struct json_t *graph, struct rr_error *error);

#endif

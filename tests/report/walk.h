/* SPDX-License-Identifier: MIT */
/* Pages of the game for tests: their levels, as a reader walks through them. */
#ifndef TESTS_WALK_H
#define TESTS_WALK_H

#include <jansson.h>
#include <stdbool.h>

/* What stands in a state's row: texts of numbers, which are taken apart here. */
enum { ROW_FLAGS = 2, ROW_ALL, ROW_BAD, ROW_EDGES };

struct walk {
	const json_t *level;
	size_t state;
	unsigned broken;
	bool has_seen;
	bool refused[8];  /* clients, which sleep now */
	char words[2000]; /* for redrace play */
};

/* Of a page in the test's directory; each state's row is a list. */
json_t *levels_of(const char *name);
json_t *row_of(const char *text);

/* "" if there is none. */
const char *text_of(const json_t *object, const char *key);
size_t number_at(const json_t *array, size_t i);
const json_t *graph_part(const json_t *level, const char *key);
const json_t *state_row(const json_t *level, size_t state);

struct walk begin_walk(const json_t *level);

/* The goal is reached by the last move, and not before. */
void walk_solution(struct walk *walk);

/* Of what cannot be broken nothing is, anywhere; of the others something is. */
void check_broken(const json_t *level);
void check_ways(const json_t *levels, const char *name, size_t all, size_t bad);

#endif

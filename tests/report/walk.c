/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "../cli.h"

enum { PAGE_MAX = 1500000, FINAL = 1, WRONG = 2, STUCK = 4 };

/* ---- The page's data ------------------------------------------------------------ */

static char *read_page(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = calloc(PAGE_MAX + 1, 1);

	cr_assert_not_null(file);
	cr_assert_not_null(text);
	cr_assert_lt(fread(text, 1, PAGE_MAX, file), PAGE_MAX, "the page is too large");
	fclose(file);
	return text;
}

static json_t *numbers_of(const char *text, size_t length)
{
	json_t *numbers = json_array();

	for (const char *at = text; at < text + length; at += at < text + length) {
		json_array_append_new(numbers, json_integer(strtoll(at, NULL, 10)));
		at += strcspn(at, ", ;");
	}
	return numbers;
}

static json_t *edges_of(const char *text)
{
	json_t *edges = json_array();

	for (; *text; text += strcspn(text, " ")) {
		text++;
		json_array_append_new(edges, numbers_of(text, strcspn(text, " ")));
	}
	return edges;
}

json_t *row_of(const char *text)
{
	json_t *row = json_array();

	for (int part = 0; part < ROW_EDGES; part++) {
		const size_t length = strcspn(text, ";");

		json_array_append_new(row, part < ROW_FLAGS ?
						   numbers_of(text, length) :
						   json_integer(strtoll(text, NULL, 10)));
		text += length + 1;
	}
	json_array_append_new(row, edges_of(text));
	return row;
}

static void read_rows(json_t *levels)
{
	for (size_t i = 0; i < json_array_size(levels); i++) {
		json_t *graph = json_object_get(json_array_get(levels, i), "graph");
		json_t *states = json_object_get(graph, "states");

		for (size_t k = 0; k < json_array_size(states); k++)
			json_array_set_new(states, k,
					   row_of(json_string_value(json_array_get(states, k))));
	}
}

static json_t *page_levels(const char *page)
{
	static const char mark[] = "id=\"levels\">";
	const char *begin = strstr(page, mark), *end;
	json_t *levels;

	cr_assert_not_null(begin);
	begin += strlen(mark);
	end = strstr(begin, "</script>");
	cr_assert_not_null(end);
	levels = json_loadb(begin, (size_t)(end - begin), 0, NULL);
	cr_assert_not_null(levels);
	read_rows(levels);
	return levels;
}

json_t *levels_of(const char *name)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *levels;
	char *page;

	snprintf(path, sizeof(path), "%s/%s", cli_home, name);
	page = read_page(path);
	levels = page_levels(page);
	free(page);
	return levels;
}

const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

size_t number_at(const json_t *array, size_t i)
{
	return (size_t)json_integer_value(json_array_get(array, i));
}

const json_t *graph_part(const json_t *level, const char *key)
{
	return json_object_get(json_object_get(level, "graph"), key);
}

const json_t *state_row(const json_t *level, size_t state)
{
	return json_array_get(graph_part(level, "states"), state);
}

/* ---- Walking ---------------------------------------------------------------------- */

static void see_steps(struct walk *walk, const json_t *move)
{
	const json_t *steps = json_object_get(move, "steps");
	const char *sees = text_of(walk->level, "sees");

	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *step = json_array_get(steps, i);
		char text[500];

		snprintf(text, sizeof(text), "%s => %s", text_of(step, "text"),
			 text_of(step, "reply"));
		walk->has_seen |= strstr(text, sees) != NULL;
	}
}

static void add_word(struct walk *walk, const json_t *move)
{
	const char *client = text_of(move, "client");
	const int who = client[0] ? client[0] - 'A' : -1;
	const size_t used = strlen(walk->words);
	char sleep[12] = "";

	if (who >= 0 && walk->refused[who])
		snprintf(sleep, sizeof(sleep), "%c:sleep ", 'A' + who);
	if (who >= 0)
		walk->refused[who] = json_is_true(json_object_get(move, "refused"));
	snprintf(walk->words + used, sizeof(walk->words) - used, "%s%s%s", used ? " " : "", sleep,
		 text_of(move, "play"));
}

static void walk_step(struct walk *walk, const char *word)
{
	const json_t *edges = json_array_get(state_row(walk->level, walk->state), ROW_EDGES);
	const json_t *moves = graph_part(walk->level, "transitions");

	for (size_t i = 0; i < json_array_size(edges); i++) {
		const json_t *edge = json_array_get(edges, i);
		const json_t *move = json_array_get(moves, number_at(edge, 1));

		if (strcmp(text_of(move, "word"), word) != 0)
			continue;
		walk->broken |= (unsigned)number_at(edge, 2);
		walk->state = number_at(edge, 0);
		see_steps(walk, move);
		add_word(walk, move);
		return;
	}
	cr_assert_fail("%s: nobody can do '%s' there", text_of(walk->level, "name"), word);
}

static bool is_reached(const struct walk *walk)
{
	const json_t *names = graph_part(walk->level, "invariants");
	const char *goal = text_of(walk->level, "goal");
	const json_t *row = state_row(walk->level, walk->state);
	const size_t flags = number_at(row, ROW_FLAGS);
	unsigned wanted = 0;

	if (!walk->has_seen)
		return false;
	if (strcmp(goal, "well") == 0)
		return (flags & (FINAL | WRONG | STUCK)) == FINAL && !walk->broken;
	if (strcmp(goal, "count") == 0)
		return flags & WRONG;
	if (strcmp(goal, "deadlock") == 0)
		return flags & STUCK;
	for (unsigned i = 0; i < json_array_size(names); i++)
		wanted |= (unsigned)(strcmp(json_string_value(json_array_get(names, i)), goal) == 0)
			  << i;
	return walk->broken & wanted;
}

void walk_solution(struct walk *walk)
{
	char *moves = strdup(text_of(walk->level, "solution")), *rest = moves;
	const char *word;

	while ((word = strtok_r(rest, " ", &rest))) {
		cr_assert_not(is_reached(walk), "%s: reached before '%s'",
			      text_of(walk->level, "name"), word);
		walk_step(walk, word);
	}
	cr_assert(is_reached(walk), "%s: not reached", text_of(walk->level, "name"));
	free(moves);
}

struct walk begin_walk(const json_t *level)
{
	struct walk walk = { .level = level, .has_seen = !text_of(level, "sees")[0] };
	const json_t *before = graph_part(level, "before");

	for (size_t i = 0; i < json_array_size(before); i++)
		add_word(&walk,
			 json_array_get(graph_part(level, "transitions"), number_at(before, i)));
	return walk;
}

/* ---- What is counted ---------------------------------------------------------------- */

void check_broken(const json_t *level)
{
	const bool unbreakable = json_is_true(json_object_get(level, "unbreakable"));
	const json_t *states = graph_part(level, "states");
	size_t n_broken = 0;

	for (size_t i = 0; i < json_array_size(states); i++) {
		const json_t *row = json_array_get(states, i);

		const json_t *edges = json_array_get(row, ROW_EDGES);

		n_broken += (number_at(row, ROW_FLAGS) & (WRONG | STUCK)) != 0;
		cr_assert_geq(number_at(row, ROW_ALL), number_at(row, ROW_BAD));
		for (size_t j = 0; j < json_array_size(edges); j++)
			n_broken += number_at(json_array_get(edges, j), 2) != 0;
	}
	cr_assert_eq(n_broken == 0, unbreakable, "%s", text_of(level, "name"));
	cr_assert_eq(number_at(state_row(level, 0), ROW_BAD) == 0, unbreakable, "%s",
		     text_of(level, "name"));
}

void check_ways(const json_t *levels, const char *name, size_t all, size_t bad)
{
	for (size_t i = 0; i < json_array_size(levels); i++) {
		const json_t *level = json_array_get(levels, i);
		const json_t *row = state_row(level, 0);

		if (strcmp(text_of(level, "name"), name) != 0)
			continue;
		cr_assert_eq(number_at(row, ROW_ALL), all, "%s", name);
		cr_assert_eq(number_at(row, ROW_BAD), bad, "%s", name);
		return;
	}
	cr_assert_fail("no level %s", name);
}

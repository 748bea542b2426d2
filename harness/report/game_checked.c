/* SPDX-License-Identifier: MIT */
/* Levels of programs of others: of a check that has just been made, and of one that is kept
 * here as the graph that `redrace check --graph` has written. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "base/memory.h"
#include "levels.h"
#include "report.h"

/* ---- What is kept ------------------------------------------------------------------ */

static const struct kept_check {
	const char *name, *graph, *path, *text;
	bool is_app;
} kept_checks[] = {
	{ "shop", rr_asset_shop_graph, "examples/check/shop.py", rr_asset_shop_py, true },
};

static const struct kept_check *find_kept(const char *name)
{
	for (size_t i = 0; i < sizeof(kept_checks) / sizeof(kept_checks[0]); i++) {
		if (strcmp(kept_checks[i].name, name) == 0)
			return &kept_checks[i];
	}
	return NULL;
}

bool rr_level_take_kept(struct rr_level *level, const char *name)
{
	const struct kept_check *kept = find_kept(name);

	if (!kept)
		return false;
	level->programs.path = kept->path;
	level->programs.text = kept->text;
	level->programs.is_app = kept->is_app;
	return true;
}

json_t *rr_level_kept_graph(const char *name, struct rr_error *error)
{
	json_t *graph = json_loads(find_kept(name)->graph, 0, NULL);

	if (!graph)
		rr_error_set(error, RR_ERROR_INTERNAL, "the graph of '%s' cannot be read", name);
	return graph;
}

/* ---- What is to be done ---------------------------------------------------------------- */

#define SHARED_HINT \
	"What one has read may have changed when it acts upon that. What can come in between?"

/* By what was found, the first of these; the last if it was nothing. */
static const struct checked_task {
	unsigned found; /* RR_OUTCOME_... */
	const char *goal, *task, *of_app, *wrong, *hint;
} checked_tasks[] = {
	{ RR_OUTCOME_EXCLUSION, "exclusion", "Get two clients into their critical sections at once",
	  "Get two requests into their critical sections at once", NULL,
	  "What keeps the second one out, and for how long?" },
	{ RR_OUTCOME_UNEXPECTED, "count",
	  "Let all clients end so that the data are not as expected",
	  "Let all requests be answered so that the data are not as expected",
	  "The data are not as expected.", SHARED_HINT },
	{ RR_OUTCOME_NOT_SERIAL, "count",
	  "Let all clients end with data that no serial order of them leaves",
	  "Let all requests be answered so that data or answers are as in no serial order of them",
	  "No serial order ends like that.", SHARED_HINT },
	{ RR_OUTCOME_OUTPUTS, "count",
	  "Let all clients end so that what they print is as in no serial order of them",
	  "Let all requests be answered as in no serial order of them",
	  "No serial order ends like that.", SHARED_HINT },
	{ RR_OUTCOME_STUCK, "deadlock", "Get to where not all clients can come to an end",
	  "Get to where not all requests can be answered", NULL,
	  "Who waits for whom? Let that one be late, or stop." },
	{ 0, "well", "Try to break it. If you cannot, let all clients end",
	  "Try to break it. If you cannot, let all requests be answered", NULL,
	  "No way ends badly: the search has seen all of them. Just let everybody finish." },
};

/* "Let all clients end with data that no serial order of them leaves (lost update)." */
static char *task_text(const struct rr_checked_game *game, const struct checked_task *task)
{
	const char *anomaly = rr_anomaly_name(game->result->findings[0].anomaly);
	const char *text = game->is_app ? task->of_app : task->task;

	if (task->found && anomaly)
		return rr_asprintf("%s (%s).", text, anomaly);
	return rr_asprintf("%s.", text);
}

/* ---- A check that was just made ----------------------------------------------------------- */

static char *intro_text(const struct rr_checked_game *game)
{
	return game->is_app ?
		       rr_asprintf(
			       "An app, and %zu requests to it at once. You say who goes on: a request is sent, a command of the app is executed, an answer arrives.",
			       game->n_clients) :
		       rr_asprintf(
			       "%zu clients at once. Redis runs one command at a time, and you say whose is executed next.",
			       game->n_clients);
}

static char *explain_text(const struct rr_checked_game *game)
{
	const struct rr_outcome *finding = &game->result->findings[0];

	if (!game->result->found)
		return rr_asprintf(
			"All %lu states of the search lead to data that some serial order leaves, too, whoever goes next: serializable, within the bounds of the check.",
			game->result->states);
	if (game->is_app)
		return rr_strdup("Of the shortest way to that redrace check says:");
	return rr_asprintf("The shortest way is %s, and of that redrace check says:",
			   finding->words);
}

/* Where a state was come by from first. */
struct way_step {
	bool is_known;
	size_t from;
	const char *word;
};

static size_t number_of(const json_t *array, size_t i)
{
	return (size_t)json_integer_value(json_array_get(array, i));
}

/* The states that an edge more leads to than those that are known. */
static void go_on(const json_t *graph, size_t at, struct way_step *steps, size_t *queue, size_t *n)
{
	const json_t *edges = json_array_get(json_array_get(json_object_get(graph, "states"), at),
					     3);
	const json_t *transitions = json_object_get(graph, "transitions"), *edge;
	size_t i;

	json_array_foreach(edges, i, edge) {
		const size_t to = number_of(edge, 0);
		const json_t *move = json_array_get(transitions, number_of(edge, 1));

		if (steps[to].is_known)
			continue;
		steps[to] = (struct way_step){ true, at,
					       json_string_value(json_object_get(move, "word")) };
		queue[(*n)++] = to;
	}
}

static char *words_to(const struct way_step *steps, size_t state)
{
	char *words = rr_strdup("");

	for (; steps[state].word; state = steps[state].from) {
		char *before = rr_asprintf("%s%s%s", steps[state].word, *words ? " " : "", words);

		free(words);
		words = before;
	}
	return words;
}

/* Without a finding: one of the shortest ways to an end. */
static char *any_way(const json_t *graph)
{
	const json_t *states = json_object_get(graph, "states");
	struct way_step *steps = rr_calloc(json_array_size(states), sizeof(*steps));
	size_t *queue = rr_calloc(json_array_size(states), sizeof(*queue));
	size_t n = 1, at = 0;
	char *words;

	steps[0].is_known = true;
	for (; at < n; at++) {
		if (number_of(json_array_get(states, queue[at]), 2) & RR_GRAPH_FINAL)
			break;
		go_on(graph, queue[at], steps, queue, &n);
	}
	words = words_to(steps, at < n ? queue[at] : 0);
	free(steps);
	free(queue);
	return words;
}

static bool write_level(FILE *out, struct rr_level *level, json_t *graph, struct rr_error *error)
{
	const struct rr_level *all[] = { level };
	json_t *levels;

	if (!rr_level_show(level, graph, error)) {
		json_decref(graph);
		return false;
	}
	levels = json_pack("[o]", rr_level_as_json(level, graph));
	rr_levels_write_page(out, levels, NULL, all, 1);
	json_decref(levels);
	return true;
}

bool rr_game_write_checked(FILE *out, const struct rr_checked_game *game, struct rr_error *error)
{
	const struct checked_task *task = checked_tasks;

	while (task->found && !(task->found & game->result->found))
		task++;
	const char *words = game->result->findings[0].words;
	char *told = task_text(game, task), *intro = intro_text(game),
	     *explain = explain_text(game);
	char *way = task->found ? rr_strdup(words) : any_way(game->result->graph);
	char *last = strrchr(way, ' ');
	struct rr_level level = {
		.name = game->command,
		.title = game->programs,
		.task = told,
		.goal = task->goal,
		.solution = way,
		.intro = { intro },
		.hints = { task->hint },
		.explain = { explain },
		.unbreakable = !task->found,
		.programs = { .command = game->command,
			      .replay = game->replay,
			      .schedule = game->schedule,
			      .path = game->path,
			      .text = game->text,
			      .wrong = task->wrong,
			      .verdict = *game->verdict ? game->verdict : NULL,
			      .is_app = game->is_app },
	};
	bool good;

	/* Its end is shown with the last answer (game_graph.c). */
	if (game->is_app && last && strcmp(last, " A:ECHO") == 0)
		*last = '\0';
	good = write_level(out, &level, json_deep_copy(game->result->graph), error);

	free(told);
	free(intro);
	free(explain);
	free(way);
	return good;
}

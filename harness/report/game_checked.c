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
	{ RR_OUTCOME_EXCLUSION, "exclusion",
	  "Get two clients into their critical sections at the same time",
	  "Get two requests into their critical sections at the same time", NULL,
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

/* ---- A check that was just made ----------------------------------------------------------- */

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

/* Without a finding: one of the shortest ways to an end. */
static char *any_way(const json_t *graph)
{
	const json_t *states = json_object_get(graph, "states"), *edge;
	const json_t *transitions = json_object_get(graph, "transitions");
	struct way_step *steps = rr_calloc(json_array_size(states), sizeof(*steps));
	size_t *queue = rr_calloc(json_array_size(states), sizeof(*queue));
	char *words = rr_strdup("");
	size_t n = 1, at = 0, i;

	steps[0].is_known = true;
	for (; at < n; at++) {
		const json_t *state = json_array_get(states, queue[at]);

		if (number_of(state, 2) & RR_GRAPH_FINAL)
			break;
		json_array_foreach(json_array_get(state, 3), i, edge) {
			const size_t to = number_of(edge, 0);
			const json_t *move = json_array_get(transitions, number_of(edge, 1));
			const json_t *word = json_object_get(move, "word");

			if (steps[to].is_known)
				continue;
			steps[to] = (struct way_step){ true, queue[at], json_string_value(word) };
			queue[n++] = to;
		}
	}
	for (i = at < n ? queue[at] : 0; steps[i].word; i = steps[i].from) {
		char *before = rr_asprintf("%s%s%s", steps[i].word, *words ? " " : "", words);

		free(words);
		words = before;
	}
	free(steps);
	free(queue);
	return words;
}

bool rr_game_write_checked(FILE *out, const struct rr_checked_game *game, struct rr_error *error)
{
	const struct rr_explore_result *result = game->result;
	const struct rr_outcome *finding = &result->findings[0];
	const char *anomaly = rr_anomaly_name(finding->anomaly);
	const struct checked_task *task = checked_tasks;
	char *told, *intro, *explain, *way, *last;
	json_t *graph = json_deep_copy(result->graph), *levels;

	while (task->found && !(task->found & result->found))
		task++;
	/* "Let all clients end with data that no serial order of them leaves (lost update)." */
	told = rr_asprintf("%s%s%s%s.", game->is_app ? task->of_app : task->task,
			   task->found && anomaly ? " (" : "",
			   task->found && anomaly ? anomaly : "",
			   task->found && anomaly ? ")" : "");
	intro = rr_asprintf(
		game->is_app ?
			"An app, and %zu concurrent requests to it. You say who goes on: a request is sent, a command of the app is executed, an answer arrives." :
			"%zu clients. Redis runs one command at a time, and you say whose is executed next.",
		game->n_clients);
	if (!result->found)
		explain = rr_asprintf(
			"All %lu states of the search lead to data that some serial order leaves, too, whichever goes next: serializable, within the bounds of the check.",
			result->states);
	else if (game->is_app)
		explain = rr_strdup("Of the shortest way to that redrace check says:");
	else
		explain = rr_asprintf("The shortest way is %s, and of that redrace check says:",
				      finding->words);
	way = task->found ? rr_strdup(finding->words) : any_way(result->graph);
	last = strrchr(way, ' ');
	/* Its end is shown with the last answer (game_graph.c). */
	if (game->is_app && last && strcmp(last, " A:ECHO") == 0)
		*last = '\0';

	const struct rr_level level = {
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
	const bool good = rr_level_show(&level, graph, error);

	if (good) {
		levels = json_pack("[o]", rr_level_as_json(&level, graph));
		rr_levels_write_page(out, levels, NULL, &(const struct rr_level *){ &level }, 1);
		json_decref(levels);
	} else {
		json_decref(graph);
	}
	free(told);
	free(intro);
	free(explain);
	free(way);
	return good;
}

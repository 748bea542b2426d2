/* SPDX-License-Identifier: MIT */
/* The game's levels: regenerated from the explorer, walked through as a reader would,
 * here by their data and in a browser. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "../cluster/stage.h"
#include "explore/explore.h"
#include "report/levels.h"
#include "walk.h"

enum { LEVEL_MAX = 150000, LEVELS_LEAST = 10 };

TestSuite(game, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

static json_t *make_levels(void)
{
	cr_assert_eq(cli_run("$REDRACE game -o $HERE/game.html"), 0, "%s", cli_output);
	return levels_of("game.html");
}

/* On real servers, where redrace play has words for it. */
static void play_solution(const struct walk *walk)
{
	char command[3000];

	if (!text_of(walk->level, "play")[0])
		return;
	snprintf(command, sizeof(command), "$%s --stop --schedule \"%s\" %s 2>&1",
		 text_of(walk->level, "play"), walk->words, text_of(walk->level, "strategy"));
	memcpy(command, "$REDRACE", 8);
	cr_assert_leq(cli_run(command), 2, "%s: %s", command, cli_output);
}

Test(game, levels_reach_their_goals)
{
	json_t *levels = make_levels();

	cr_assert_geq(json_array_size(levels), LEVELS_LEAST);
	for (size_t i = 0; i < json_array_size(levels); i++) {
		const json_t *level = json_array_get(levels, i);
		char *text = json_dumps(level, JSON_COMPACT);
		struct walk walk = begin_walk(level);

		cr_assert_lt(strlen(text), LEVEL_MAX, "%s: %zu bytes", text_of(level, "name"),
			     strlen(text));
		free(text);
		walk_solution(&walk);
		check_broken(level);
		play_solution(&walk);
	}
	/* As explore counts the same interleavings. */
	check_ways(levels, "lost", 6, 4);
	check_ways(levels, "two-mutexes", 70, 60);
	check_ways(levels, "watch-late", 252, 10);
	check_ways(levels, "incr", 6, 0);
	json_decref(levels);
}

/* Who is refused asks again and again: these circles are left out, so that there is
 * one way for each order of the two. */
Test(game, circles_are_counted_once)
{
	const struct rr_level level = {
		.search = { .strategy = rr_strategy_find("set-nx-ex"),
			    .n_clients = 2,
			    .increments = 1,
			    .rounds = 2,
			    .ttl_ms = 10000 },
	};
	struct rr_error error = { 0 };
	struct stage stage;
	json_t *graph;
	json_t *row;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	graph = rr_explore_graph(&stage.cluster, &level.search, &error);
	cr_assert_not_null(graph, "%s", error.text);
	cr_assert(rr_level_show(&level, graph, &error), "%s", error.text);
	row = row_of(json_string_value(json_array_get(json_object_get(graph, "states"), 0)));
	cr_assert_eq(number_at(row, ROW_ALL), 2);
	cr_assert_eq(number_at(row, ROW_BAD), 0);
	json_decref(row);
	json_decref(graph);
	stage_close(&stage);
}

/* ---- Levels as they are written ------------------------------------------------------ */

static void assert_refused(const char *text, const char *part)
{
	struct rr_error error = { 0 };
	struct rr_levels levels;

	cr_assert_not(rr_levels_parse(&levels, text, &error));
	cr_assert(strstr(error.text, part), "%s", error.text);
	rr_levels_release(&levels);
}

Test(game, mistakes_in_levels_are_named)
{
	assert_refused("title x\n", "title");
	assert_refused("level a\nnonsense x\n", "level a");
	assert_refused("level a\nstrategy nix\n", "level a");
	assert_refused("level a\nchecked nix\n", "'nix'");
	assert_refused("level a\nclients many\n", "level a");
	assert_refused("level a\nscript x\n", "level a");
	assert_refused("level a\ntitle x\n\tand on\n", "level a");
}

Test(game, what_cannot_be_is_refused)
{
	cli_assert_one_line("$REDRACE game nix 2>&1", 64, "'nix'");
	cli_assert_one_line("script -qec \"$REDRACE game\" /dev/null </dev/null", 64, "-o FILE");
	cli_assert_one_line("$REDRACE game -o /nowhere/game.html incr 2>&1", 74, "/nowhere");
	cli_assert_one_line("$REDRACE game --redis-server /nowhere incr 2>&1", 69, "/nowhere");
}

/* ---- In a browser ---------------------------------------------------------------------- */

#define TAGS                                                                      \
	"-- sh -c \"v=\\$(redis-cli -u {url} GET '<!-- <script>'); redis-cli -u " \
	"{url} SET '<!-- <script>' \\$((v + 1))\""

/* Either would keep the page's own script from being run. */
Test(game, keys_neither_end_a_script_nor_begin_one)
{
	cr_assert_eq(cli_run("$REDRACE check --game $HERE/tags.html " TAGS), 1, "%s", cli_output);
	cr_assert_eq(
		cli_run("grep -q 'u003c!-- ' $HERE/tags.html && [ $(grep -o '<script' $HERE/tags.html | wc -l) = $(grep -o '</script>' $HERE/tags.html | wc -l) ] && ! grep -q '<!--' $HERE/tags.html"),
		0);
}

Test(game, in_a_browser)
{
	const int code = cli_run(
		"$REDRACE game -o $HERE/game.html && "
		"{ $REDRACE check --game $HERE/own.html -- sh examples/check/counter.sh; "
		"$REDRACE check --game $HERE/tags.html " TAGS "; "
		"node tests/report/game.js $HERE/game.html $HERE/own.html $HERE/tags.html 2>&1; }");

	if (code == 77)
		cli_skip("%s", cli_output);
	cr_assert_eq(code, 0, "%s", cli_output);
}

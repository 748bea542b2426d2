/* SPDX-License-Identifier: MIT */
/* Programs of others as levels of the game: redrace check --game, and what is kept of one. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "assets.h"
#include "report/levels.h"
#include "walk.h"

TestSuite(game_checked, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* A check of two counters is a level like that of the strategy that does the same. */
Test(game_checked, a_check_is_a_level)
{
	const json_t *level;
	json_t *levels;
	struct walk walk;

	cr_assert_eq(
		cli_run("$REDRACE check --game $HERE/own.html -- sh examples/check/counter.sh 2>&1"),
		1, "%s", cli_output);
	cr_assert(strstr(cli_output, "own.html"), "%s", cli_output);
	levels = levels_of("own.html");
	cr_assert_eq(json_array_size(levels), 1);
	level = json_array_get(levels, 0);
	cr_assert_str_eq(text_of(level, "goal"), "count");
	cr_assert_str_eq(text_of(level, "path"), "examples/check/counter.sh");
	cr_assert(strstr(text_of(level, "text"), "SET counter"), "%s", text_of(level, "text"));
	cr_assert(strstr(text_of(level, "verdict"), "counter = \"1\""), "%s",
		  text_of(level, "verdict"));
	cr_assert_str_eq(text_of(level, "explore"),
			 "redrace check -- sh examples/check/counter.sh");
	check_broken(level);
	check_ways(levels, text_of(level, "name"), 6, 4);
	walk = begin_walk(level);
	walk_solution(&walk);
	json_decref(levels);
}

/* What the page says to put into a file plays with the programs what was picked. */
Test(game_checked, a_way_through_a_check_is_replayed)
{
	char path[SUPPORT_DIRECTORY + 20];
	json_t *levels;
	const json_t *level;
	FILE *file;

	cr_assert_eq(cli_run("$REDRACE check --clients 3 --game=$HERE/own.html -- "
			     "sh examples/check/counter.sh 2>&1"),
		     1, "%s", cli_output);
	levels = levels_of("own.html");
	level = json_array_get(levels, 0);
	snprintf(path, sizeof(path), "%s/schedule.race", cli_home);
	file = fopen(path, "we");
	fprintf(file, "%s%s", text_of(level, "schedule"), "C:GET C:SET A:GET B:GET");
	fclose(file);
	cr_assert_str_eq(text_of(level, "replay"), "redrace check --replay schedule.race "
						   "--clients 3 -- sh examples/check/counter.sh");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --replay $HERE/schedule.race "
			     "--clients 3 -- sh examples/check/counter.sh 2>&1"),
		     1, "%s", cli_output);
	cli_assert_property("final_data", "counter = \"2\"");
	json_decref(levels);
}

Test(game_checked, a_check_without_a_finding_cannot_be_broken)
{
	const json_t *level;
	json_t *levels;
	struct walk walk;

	cr_assert_eq(cli_run("$REDRACE check --game $HERE/own.html -- "
			     "sh -c 'redis-cli -u $REDIS_URL INCR n' 2>&1"),
		     0, "%s", cli_output);
	levels = levels_of("own.html");
	level = json_array_get(levels, 0);
	cr_assert_str_eq(text_of(level, "goal"), "well");
	check_broken(level);
	walk = begin_walk(level);
	walk_solution(&walk);
	json_decref(levels);
}

/* The text that the page of a check shows is that of this file; "" = none. */
static void assert_text(const char *check, const char *path)
{
	json_t *levels;

	cr_assert_leq(cli_runf("$REDRACE check --game $HERE/own.html %s 2>&1", check), 1, "%s",
		      cli_output);
	levels = levels_of("own.html");
	cr_assert_str_eq(text_of(json_array_get(levels, 0), "path"), path, "%s", check);
	json_decref(levels);
}

Test(game_checked, the_program_is_shown_if_it_is_one)
{
	assert_text("-- sh -c 'sh examples/check/counter.sh'", "examples/check/counter.sh");
	assert_text(
		"--client a='sh examples/check/counter.sh' --client b='sh examples/check/counter.sh'",
		"examples/check/counter.sh");
	cli_write("other", "redis-cli -u $REDIS_URL SET counter 1\n");
	assert_text("--client a='sh examples/check/counter.sh' --client b=\"sh $HERE/other\"", "");
	assert_text(
		"-- sh -c 'v=$(redis-cli -u $REDIS_URL GET n); redis-cli -u $REDIS_URL SET n $((v + 1))'",
		"");
}

static void assert_no_game(const char *check, int code, const char *part)
{
	cr_assert_eq(cli_run(check), code, "%s: %s", check, cli_output);
	cr_assert(strstr(cli_output, part), "%s: %s", check, cli_output);
}

Test(game_checked, a_check_that_is_no_game_says_why)
{
	assert_no_game("$REDRACE check --skeptic off --max-states 5 --game $HERE/own.html -- "
		       "sh examples/check/counter.sh 2>&1",
		       65, "--game");
	assert_no_game("$REDRACE check --clients 4 --lost-replies 2 --crashes 3 --pauses 3 "
		       "--game $HERE/own.html -- sh examples/check/counter.sh 2>&1",
		       1, " 6000 ");
	cr_assert_eq(cli_run("test -e $HERE/own.html"), 1);
	cli_assert_one_line("$REDRACE check --game /nowhere/x.html -- true 2>&1", 74, "/nowhere");
}

static const char *command_of_level(const char *name, struct rr_levels *levels)
{
	struct rr_error error = { 0 };

	cr_assert(rr_levels_parse(levels, rr_asset_game_levels, &error), "%s", error.text);
	for (size_t i = 0; i < levels->n; i++) {
		if (strcmp(levels->all[i].name, name) == 0)
			return levels->all[i].programs.command;
	}
	return NULL;
}

/* The graph that the page of the shop is made of. If it has changed on purpose:
 * make game-graphs. How many histories are taken for one state depends on which of two
 * requests' threads was seen first: what can be done, and what comes of it, does not. */
Test(game_checked, what_is_kept_is_what_a_check_finds)
{
	char command[600], path[SUPPORT_DIRECTORY + 20];
	struct rr_levels levels;
	const char *checked = command_of_level("both-sold", &levels);
	json_t *now, *kept;

	if (cli_run("PATH=/usr/bin:$PATH; python3 -c 'import redis' && curl --version") != 0)
		cli_skip("no redis-py or no curl");
	cr_assert_not_null(checked);
	snprintf(command, sizeof(command),
		 "PATH=/usr/bin:$PATH; $REDRACE check --graph $HERE/shop.json%s 2>&1",
		 checked + strlen("redrace check"));
	cr_assert_eq(cli_run(command), 1, "%s", cli_output);
	snprintf(path, sizeof(path), "%s/shop.json", cli_home);
	now = json_load_file(path, 0, NULL);
	kept = json_load_file("harness/report/shop.graph", 0, NULL);
	cr_assert_eq(json_object_del(now, "states"), 0);
	cr_assert_eq(json_object_del(kept, "states"), 0);
	cr_assert(json_equal(now, kept), "harness/report/shop.graph: make game-graphs");
	json_decref(now);
	json_decref(kept);
	rr_levels_release(&levels);
}

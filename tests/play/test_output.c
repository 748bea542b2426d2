/* SPDX-License-Identifier: MIT */
/* What redrace play writes to a file, whose suffix says which drawing, and what it
 * prints beside. */
#include <stdio.h>
#include <string.h>

#include "../cli.h"
#include "base/error.h"

TestSuite(output, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

#define PLAY "LC_ALL=C.UTF-8 $REDRACE play "

static void assert_written(const char *options, const char *beginning)
{
	char command[300];

	snprintf(command, sizeof(command),
		 PLAY "%s tests/draw/lost.race >$HERE/printed && cat $HERE/lost*", options);
	cr_assert_eq(cli_run("rm -f $HERE/lost*"), 0);
	cr_assert_eq(cli_run(command), 0, "%s: %s", options, cli_output);
	cr_assert_eq(strncmp(cli_output, beginning, strlen(beginning)), 0, "%s: %s", options,
		     cli_output);
}

Test(output, follows_the_suffix)
{
	assert_written("-o $HERE/lost.svg", "<svg role=\"img\" ");
	assert_written("-o $HERE/lost.SVG", "<svg role=\"img\" ");
	assert_written("-o $HERE/lost.html", "<!DOCTYPE html>");
	assert_written("-o $HERE/lost.json", "{\n  \"schema\": 1");
	assert_written("-o $HERE/lost.mmd", "sequenceDiagram");
	assert_written("-o $HERE/lost.mermaid", "sequenceDiagram");
	assert_written("-o $HERE/lost.txt", "Two clients");
	assert_written("-o $HERE/lost.race", "title   Two clients");
	assert_written("-o $HERE/lost", "Two clients");
}

/* A file is what its suffix says, and if that says nothing, what is printed. */
Test(output, is_beside_what_format_prints)
{
	assert_written("-o $HERE/lost.svg --format mermaid", "<svg role=\"img\" ");
	cr_assert_eq(cli_run("head -1 $HERE/printed"), 0);
	cr_assert_str_eq(cli_output, "sequenceDiagram\n");
	assert_written("-o $HERE/lost --format svg", "<svg role=\"img\" ");
}

Test(output, of_another_suffix_is_refused)
{
	cli_assert_one_line(PLAY "-o $HERE/lost.gif tests/draw/lost.race 2>&1", RR_EXIT_USAGE,
			    "lost.gif");
}

/* As written, it is written again. */
Test(output, of_a_race_plays_again)
{
	cr_assert_eq(cli_run(PLAY "-o $HERE/a.race tests/draw/overrun.race && " PLAY
				  "-o $HERE/b.race $HERE/a.race && "
				  "cmp $HERE/a.race $HERE/b.race"),
		     0, "%s", cli_output);
}

/* Where a reply differs, what was played is another race, which is as written
 * from then on. */
Test(output, of_a_race_that_differs_plays_again)
{
	cr_assert_eq(
		cli_run("sed 's/^B> SET x 2 .*/B> SET x 2 => QUEUED/' tests/draw/lost.race >$HERE/wrong.race; " PLAY
			"-o $HERE/right.race $HERE/wrong.race"),
		RR_EXIT_VIOLATED);
	cr_assert_eq(
		cli_run("grep -v QUEUED $HERE/right.race | grep -x 'B> SET x 2  => OK' && " PLAY
			"$HERE/right.race"),
		0, "%s", cli_output);
}

/* The lock is there when the race is broken off, and not at its end. */
Test(output, of_a_race_that_is_broken_off_has_its_own_verdict)
{
	cr_assert_eq(
		cli_run("printf 'title t\\nclients A\\nlock l\\nrepeat 2\\nA> SET l 1 => OK\\nA> GET l => \"1\"\\nA> INCR n => 1\\nA> DEL l => 1\\nend\\nLU-1 says => 1\\nverdict nothing broken\\n' >$HERE/wrong.race; " PLAY
			"-o $HERE/right.race $HERE/wrong.race"),
		RR_EXIT_VIOLATED);
	cr_assert_eq(cli_run("cat $HERE/right.race; " PLAY "$HERE/right.race"), 0, "%s",
		     cli_output);
	cr_assert_not_null(strstr(cli_output, "INCR n  => (integer) 2\n"), "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "verdict ghost lock"), "%s", cli_output);
	cr_assert_null(strstr(cli_output, "says"), "%s", cli_output);
}

/* Without => any reply will do, but no error. */
Test(output, tells_of_an_error_that_no_line_expects)
{
	cr_assert_eq(
		cli_run("printf 'title t\\nclients A\\nA> SET x 1\\nA> LPUSH x 2\\nverdict nothing broken\\n' >$HERE/a.race; " PLAY
			"-o $HERE/b.race $HERE/a.race 2>&1"),
		RR_EXIT_VIOLATED, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "a.race:4: step 2, A: LPUSH x 2\n"), "%s",
			   cli_output);
	cr_assert_eq(cli_run(PLAY "$HERE/b.race"), 0, "%s", cli_output);
	cr_assert_eq(
		cli_run("sed 's/LPUSH x 2/& => (error) WRONGTYPE*/' $HERE/a.race >$HERE/c.race; " PLAY
			"$HERE/c.race"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run("sed 's/LPUSH x 2/& => */' $HERE/a.race >$HERE/c.race; " PLAY
			     "$HERE/c.race"),
		     0, "%s", cli_output);
}

/* Without it the name is the strategy's, whose trace has no title of a race file. */
Test(output, of_a_race_with_the_name_of_a_strategy)
{
	cr_assert_eq(cli_run(PLAY "-f race race:set-nx-ex >$HERE/race &&"
				  " grep '^title' scenarios/races/set-nx-ex.race >$HERE/title &&"
				  " grep '^title' $HERE/race | diff - $HERE/title"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(PLAY "race:none"), RR_EXIT_USAGE, "%s", cli_output);
	cr_assert_eq(cli_run(PLAY "race:set-nx-ex --interactive"), RR_EXIT_USAGE, "%s", cli_output);
	cr_assert_eq(cli_run(PLAY "set-nx-ex --schedule 'A:SET'"), 0, "%s", cli_output);
}

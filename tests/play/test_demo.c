/* SPDX-License-Identifier: MIT */
/* The tour: with somebody at the keys, and without. */
#include <stdlib.h>
#include <string.h>

#include "pseudo.h"

static void setup_tour(void)
{
	cli_setup();
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
}

TestSuite(demo, .init = setup_tour, .fini = cli_teardown);

static struct pseudo pseudo;

Test(demo, runs_the_commands_that_it_shows)
{
	cr_assert_eq(cli_run("$REDRACE demo proof 2>&1"), 0, "%s", cli_output);
	cli_assert_names("\n$ redrace explore none\n");
	cli_assert_names("\nnone: ");
	cli_assert_names("\n$ redrace explore lua-delifequals\n");
	cli_assert_names("\nlua-delifequals: ");
}

Test(demo, plays_a_schedule_where_nobody_can_choose)
{
	cr_assert_eq(cli_run("$REDRACE demo scheduler </dev/null 2>&1"), 0, "%s", cli_output);
	cli_assert_names("$ redrace play --schedule \"A:GET B:GET A:SET B:SET\" none");
	cli_assert_names("SET counter:0 1 => OK");
}

Test(demo, lets_somebody_at_a_terminal_choose)
{
	pseudo_open_command(&pseudo, 100, "demo scheduler");
	pseudo_await(&pseudo, "press a key, q to end");
	pseudo_type(&pseudo, " ");
	pseudo_await(&pseudo, "goal: make it lose an update");
	pseudo_type(&pseudo, "abab");
	pseudo_await(&pseudo, "REACHED");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
}

Test(demo, waits_between_acts_and_ends_with_q_or_a_signal)
{
	pseudo_open_command(&pseudo, 100, "demo --seconds-each 1");
	pseudo_await(&pseudo, "$ redrace demo counts");
	pseudo_await(&pseudo, "press a key, q to end");
	cr_assert_null(strstr(pseudo.screen, "2. See how"));
	pseudo_type(&pseudo, " ");
	pseudo_await(&pseudo, "$ redrace play lost-update");
	pseudo_await(&pseudo, "press a key for more");
	pseudo_type(&pseudo, " ");
	pseudo_await(&pseudo, "An increment that was acknowledged");
	/* The prompt after that one: a key that comes before it is not taken. */
	pseudo.screen = strstr(pseudo.screen, "An increment that was acknowledged");
	pseudo_await(&pseudo, "press a key, q to end");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	pseudo_open_command(&pseudo, 100, "demo scheduler");
	pseudo_await(&pseudo, "press a key, q to end");
	pseudo_type(&pseudo, "\003");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
}

/* A key that comes while something is shown does not answer the pause after it. */
Test(demo, a_pause_waits_for_a_key_of_its_own)
{
	pseudo_open_command(&pseudo, 100, "demo --seconds-each 1");
	pseudo_await(&pseudo, "lossy, as expected");
	pseudo_type(&pseudo, "\r");
	pseudo_await(&pseudo, "press a key, q to end");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_null(strstr(pseudo.screen, "2. See how"), "%s", pseudo.screen);
}

/* Lines between two keys. */
Test(demo, nothing_scrolls_away)
{
	const char *from;
	size_t n = 0;

	pseudo_open_command(&pseudo, 80, "demo lease");
	pseudo_await(&pseudo, "press a key for more");
	pseudo_type(&pseudo, "\n");
	pseudo_await(&pseudo, "It does not hold.");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	for (from = pseudo.screen; *from && strncmp(from, "press a key", 11) != 0; from++)
		n += *from == '\n';
	cr_assert_lt(n, 24, "%s", pseudo.screen);
}

Test(demo, says_what_is_wrong)
{
	cli_assert_one_line("$REDRACE demo proff 2>&1", RR_EXIT_USAGE, "proof");
	cr_assert_eq(
		cli_run("cp $(readlink -f $REDRACE) $HERE/redrace && cd $HERE && ./redrace demo program 2>&1"),
		0, "%s", cli_output);
	cli_assert_names("examples/check/counter.sh");
	cr_assert_eq(cli_run("$REDRACE demo how --redis-server /none 2>&1"), RR_EXIT_REDIS, "%s",
		     cli_output);
}

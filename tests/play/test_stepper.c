/* SPDX-License-Identifier: MIT */
/* A race at a terminal, key by key, forth and back. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pseudo.h"

static void setup_terminal(void)
{
	cli_setup();
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
}

TestSuite(stepper, .init = setup_terminal, .fini = cli_teardown);

static struct pseudo pseudo;

static void open_race(void)
{
	pseudo_open(&pseudo, "--step tests/draw/lost.race");
	pseudo_await(&pseudo, "1 A: GET x");
}

Test(stepper, shows_values_and_lanes_before_it_asks)
{
	open_race();
	pseudo_await(&pseudo, "reply? ");
	cr_assert_not_null(strstr(pseudo.screen, "Clients A, B; at the beginning x = 1."), "%s",
			   pseudo.screen);
	cr_assert_not_null(strstr(pseudo.screen, " #  A "), "%s", pseudo.screen);
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
}

Test(stepper, any_key_goes_on_and_answers_are_judged)
{
	open_race();
	pseudo_type(&pseudo, " ");
	pseudo_await(&pseudo, "2 B: GET x");
	cr_assert_not_null(strstr(pseudo.screen, "GET x => \"1\" ─"), "%s", pseudo.screen);
	pseudo_type(&pseudo, "7\1771\r");
	pseudo_await(&pseudo, "You said 1: right");
	pseudo_type(&pseudo, "nil\r");
	pseudo_await(&pseudo, "You said nil: that was not it");
	pseudo_type(&pseudo, "\033[C");
	pseudo_await(&pseudo, "5 ");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_not_null(strstr(pseudo.screen, "1 of 2 predictions were right; 3 replies"), "%s",
			   pseudo.screen);
}

/* The step is done again: what the servers say is as before it. */
Test(stepper, b_and_left_step_back)
{
	open_race();
	pseudo_type(&pseudo, "b");
	pseudo_await(&pseudo, "This is the beginning.");
	pseudo_type(&pseudo, "1\r ");
	pseudo_await(&pseudo, "3 A: SET x 2");
	pseudo_type(&pseudo, "b");
	pseudo_await(&pseudo, "2 B: GET x");
	cr_assert_null(strstr(pseudo.screen, "◀"), "%s", pseudo.screen);
	pseudo_type(&pseudo, "  ");
	pseudo_await(&pseudo, "4 A: ");
	pseudo_type(&pseudo, "\033[D\033[D");
	pseudo_await(&pseudo, "2 B: GET x");
	pseudo_type(&pseudo, "1\r");
	pseudo_await(&pseudo, "You said 1: right");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_not_null(strstr(pseudo.screen, "2 of 2 predictions were right; 2 replies"), "%s",
			   pseudo.screen);
}

Test(stepper, ends_with_the_whole_picture)
{
	open_race();
	pseudo_type(&pseudo, "                    ");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_not_null(strstr(pseudo.screen, "lost update: expected 3"), "%s", pseudo.screen);
}

Test(stepper, ends_with_the_terminal_as_it_was)
{
	open_race();
	pseudo_type(&pseudo, "\003");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
	open_race();
	kill(pseudo.pid, SIGTERM);
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
	pseudo_open(&pseudo, "--step tests/draw/lost.race --redis-server /none");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_REDIS);
}

Test(stepper, asks_line_by_line_where_the_screen_cannot_be_cleared)
{
	setenv("TERM", "dumb", 1);
	pseudo_open(&pseudo, "--step tests/draw/lost.race");
	pseudo_await(&pseudo, "at the beginning x = 1.");
	pseudo_await(&pseudo, "reply? ");
	pseudo_type(&pseudo, "q\r");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
}

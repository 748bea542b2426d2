/* SPDX-License-Identifier: MIT */
/* A user at a terminal. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "pseudo.h"

TestSuite(interactive, .init = cli_setup, .fini = cli_teardown);

static struct pseudo pseudo;

Test(interactive, four_keys_lose_an_update)
{
	pseudo_open(&pseudo, "none --interactive");
	pseudo_await(&pseudo, "goal: make it lose an update");
	pseudo_await(&pseudo, "b  B   make GET counter:0");
	pseudo_type(&pseudo, "aba");
	pseudo_await(&pseudo, "A> SET counter:0 1 => OK");
	cr_assert_null(strstr(pseudo.screen, "REACHED"));
	pseudo_type(&pseudo, "b");
	pseudo_await(&pseudo, "REACHED");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_not_null(strstr(pseudo.screen,
				  "reached, after 4 choices; at the end: lost update"),
			   "%s", pseudo.screen);
}

/* After each key the whole screen is drawn: it has at most 24 lines, of whatever many steps. */
Test(interactive, the_screen_fits_its_terminal)
{
	size_t n = 0;

	pseudo_open_in(&pseudo, 80, "none --clients 4 --increments-each 9 --interactive");
	pseudo_await(&pseudo, "? help");
	pseudo_type(&pseudo, "aaaabbbbccccddddaaaabbbb");
	pseudo_await(&pseudo, "  30  ");
	pseudo_await(&pseudo, "? help");
	for (const char *at = pseudo.screen; *at; at++)
		n += *at == '\n';
	cr_assert_lt(n, 24, "%s", pseudo.screen);
	cr_assert_not_null(strstr(pseudo.screen, "REACHED") ?: strstr(pseudo.screen, "goal:"));
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
}

Test(interactive, choices_are_taken_back_and_made_anew)
{
	pseudo_open(&pseudo, "none --interactive");
	pseudo_await(&pseudo, "next step");
	pseudo_type(&pseudo, "ab");
	pseudo_await(&pseudo, "2  B> GET counter:0");
	pseudo_type(&pseudo, "u?");
	pseudo_await(&pseudo, "begin again");
	pseudo_type(&pseudo, "a");
	pseudo_await(&pseudo, "2  A> SET counter:0 1 => OK");
	cr_assert_null(strstr(pseudo.screen, "B> GET"));
	pseudo_type(&pseudo, "bb");
	pseudo_await(&pseudo, "all clients have ended");
	cr_assert_null(strstr(pseudo.screen, "REACHED"));
	pseudo_type(&pseudo, "u");
	pseudo_await(&pseudo, "b  B   make SET counter:0 2");
	pseudo_type(&pseudo, "r");
	pseudo_await(&pseudo, "a  A   make GET counter:0");
	pseudo_type(&pseudo, "u");
	pseudo_await(&pseudo, "nothing to take back");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_not_null(strstr(pseudo.screen, "not reached"));
}

Test(interactive, what_was_done_is_saved_and_replays)
{
	char name[100];

	pseudo_open_in(&pseudo, 80, "set-nx-ex --interactive");
	pseudo_await(&pseudo, "get two clients into the critical section");
	pseudo_type(&pseudo, "ab");
	pseudo_await(&pseudo, "B   waits, go on after a sleep");
	pseudo_type(&pseudo, "b");
	pseudo_await(&pseudo, "B waits: t lets time pass");
	pseudo_type(&pseudo, "T");
	pseudo_await(&pseudo, "lock:0       (nil)");
	pseudo_type(&pseudo, "bb");
	pseudo_await(&pseudo, "REACHED");
	snprintf(name, sizeof(name), "s%s/i.racx\177e\r", cli_home);
	pseudo_type(&pseudo, name);
	pseudo_await(&pseudo, "saved: redrace play");
	pseudo_type(&pseudo, "q");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
	cr_assert_eq(cli_run("$REDRACE play $HERE/i.race 2>&1"), RR_EXIT_OK, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "exclusion broken"), "%s", cli_output);
}

Test(interactive, clients_crash_and_replies_get_lost)
{
	pseudo_open(&pseudo, "incr --clients 3 --interactive");
	pseudo_await(&pseudo, "nobody has yet");
	pseudo_type(&pseudo, "xb");
	pseudo_await(&pseudo, "B   has crashed");
	pseudo_type(&pseudo, "b");
	pseudo_await(&pseudo, "B has crashed");
	pseudo_type(&pseudo, "lc");
	pseudo_await(&pseudo, "its next reply is lost");
	pseudo_type(&pseudo, "ca");
	pseudo_await(&pseudo, "C> INCR counter:0 => (lost)");
	pseudo_type(&pseudo, "zq");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_OK);
}

Test(interactive, signals_end_it_with_the_terminal_as_it_was)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pseudo_open(&pseudo, "none --interactive");
		pseudo_await(&pseudo, "next step");
		kill(pseudo.pid, numbers[i]);
		cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
	}
	pseudo_open(&pseudo, "none --interactive");
	pseudo_await(&pseudo, "next step");
	pseudo_type(&pseudo, "\003");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
}

/* Servers and their directories go by themselves, in a moment. */
Test(interactive, kill_leaves_nothing_behind)
{
	pseudo_open(&pseudo, "none --interactive");
	pseudo_await(&pseudo, "next step");
	pseudo_type(&pseudo, "ab");
	pseudo_await(&pseudo, "B> GET");
	cr_assert_neq(cli_run("ls -A $HERE | grep ."), 1, "no servers to lose");
	kill(pseudo.pid, SIGKILL);
	cr_assert_eq(pseudo_close(&pseudo), 128 + SIGKILL);
	for (int i = 0; i < 1200; i++) {
		if (cli_run("ls -A $HERE; pgrep -f $HERE") != 0 && !cli_output[0])
			return;
		usleep(100000);
	}
	cr_assert(false, "left behind: %s", cli_output);
}

/* Without a key: who plays must not choose on in what is no more. */
Test(interactive, a_guardian_that_is_killed_ends_it)
{
	static const char *const commands[] = { "none --interactive",
						"--step tests/draw/lost.race" };
	char command[100];

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		pseudo_open(&pseudo, commands[i]);
		pseudo_await(&pseudo, i == 0 ? "next step" : "1 A: GET x");
		snprintf(command, sizeof(command), "kill -9 $(pgrep -P %d)", (int)pseudo.pid);
		cr_assert_eq(cli_run(command), 0);
		cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_REDIS, "%s", commands[i]);
	}
}

/* And the terminal is put back, which pseudo_close() looks at. */
Test(interactive, ctrl_c_is_heard_while_a_server_stands_still)
{
	int64_t begun_ns;

	pseudo_open(&pseudo, "none --interactive");
	pseudo_await(&pseudo, "next step");
	cli_run("for p in /proc/[0-9]*; do case $(readlink $p/cwd) in $HERE/redrace-*/*) kill -STOP ${p#/proc/};; esac; done");
	begun_ns = rr_clock_ns();
	pseudo_type(&pseudo, "aba");
	pseudo_type(&pseudo, "\003");
	cr_assert_eq(pseudo_close(&pseudo), RR_EXIT_INTERRUPTED);
	cr_assert_lt(rr_clock_ns() - begun_ns, INT64_C(3500000000));
}

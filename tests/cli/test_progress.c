/* SPDX-License-Identifier: MIT */
/* How far a long command is: a line on a terminal, one now and then elsewhere, and
 * results line by line. */
#include "base/progress.h"

#include <stdio.h>
#include <string.h>

#include "../play/pseudo.h"
#include "base/machine.h"
#include "explore/explore.h"

TestSuite(progress, .init = cli_setup, .fini = cli_teardown);

/* What a line looks like where it cannot be written over. */
Test(progress, is_a_line_every_ten_seconds_where_there_is_no_terminal)
{
	struct rr_progress progress = { 0 };
	char path[SUPPORT_DIRECTORY + 8], line[100] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/err", cli_home);
	cr_assert_not_null(freopen(path, "w", stderr));
	rr_progress_begin(&progress);
	cr_assert_not(rr_progress_is_due(&progress));
	progress.shown -= 5;
	cr_assert_not(rr_progress_is_due(&progress));
	progress.shown -= 6;
	cr_assert(rr_progress_is_due(&progress));
	rr_progress_show(&progress, 600, "%d of %d", 3, 4);
	cr_assert_not(rr_progress_is_due(&progress));
	rr_progress_end(&progress);
	fflush(stderr);
	file = fopen(path, "r");
	cr_assert(file && fgets(line, sizeof(line), file));
	cr_assert_str_eq(line, "redrace: 3 of 4, about 10 min left\n");
	cr_assert_eq(fgetc(file), EOF);
	fclose(file);
}

Test(progress, what_is_left_is_guessed_after_a_second)
{
	struct rr_progress progress = { 0 };

	rr_progress_begin(&progress);
	progress.begun += 30;
	cr_assert_eq(rr_progress_left(&progress, 0.5), 0);
	progress.begun -= 330;
	cr_assert_float_eq(rr_progress_left(&progress, 0.75), 100, 5);
	cr_assert_eq(rr_progress_left(&progress, 0), 0);
}

/* What a line begins and ends with when a search is so far, and 50 minutes have passed. */
static void await_line(struct rr_explore_progress *progress, FILE *seen, unsigned long n,
		       double share, const char *begin, const char *end)
{
	char line[100] = "";

	rr_explore_progress(progress, n, share);
	progress->line.begun -= 3000;
	progress->line.shown -= 3000;
	progress->begun -= 3000;
	progress->looked -= 3000;
	cr_assert(rr_explore_progress(progress, n, share));
	fflush(stderr);
	cr_assert_not_null(fgets(line, sizeof(line), seen), "%s", begin);
	cr_assert(strncmp(line, begin, strlen(begin)) == 0 && strstr(line, end), "%s", line);
}

/* A search that begins anew goes on from there. */
Test(progress, never_runs_backwards)
{
	struct rr_signals signals = { .fd = -1 };
	struct rr_explore_progress progress = { .signals = &signals,
						.name = "check",
						.unit = "states" };
	char path[SUPPORT_DIRECTORY + 8];
	FILE *seen;

	snprintf(path, sizeof(path), "%s/err", cli_home);
	cr_assert_not_null(freopen(path, "w", stderr));
	seen = fopen(path, "r");
	cr_assert_not_null(seen);
	await_line(&progress, seen, 3000, 0.5, "redrace: check: 3,000 states, ",
		   " a second, about 50 % done, about 50 min left\n");
	await_line(&progress, seen, 1500, 0.25, "redrace: check: 4,500 states, ", " a second\n");
	await_line(&progress, seen, 6000, 0.75, "redrace: check: 9,000 states, ",
		   " a second, about 75 % done, about 33 min left\n");
	fclose(seen);
}

/* In a terminal of 30 columns it is cut, so that it can be written over. */
Test(progress, is_one_line_on_a_terminal)
{
	struct pseudo pseudo;
	int n = 0;

	pseudo_open_command(&pseudo, 30,
			    "explore redlock --clients 3 --crashes 1 --max-states 60000");
	pseudo_await(&pseudo, "\r\033[Kredlock: ");
	pseudo_await(&pseudo, "\r\033[Kredlock: no failure found");
	for (const char *at = pseudo.seen; (at = strstr(at, "\r\033[Kred"));) {
		at += strlen("\r\033[K");
		cr_assert_leq(strcspn(at, "\r\n("), 29, "%.80s", at);
		n++;
	}
	cr_assert_gt(n, 1);
	pseudo_close(&pseudo);
}

/* A quick check says nothing of how long a slow one takes: a guess would grow with it. */
Test(progress, of_a_suite_guesses_no_time)
{
	struct pseudo pseudo;
	char command[SUPPORT_DIRECTORY + 80];

	cli_write("redrace.yaml", "%s",
		  "checks:\n"
		  "  quick: {command: 'redis-cli -p {port} INCR n'}\n"
		  "  slow: {command: sh -c 'while :; do :; done', hangs-after: 4}\n");
	snprintf(command, sizeof(command), "check --jobs 1 --suite %s/redrace.yaml", cli_home);
	pseudo_open_command(&pseudo, 80, command);
	pseudo_await(&pseudo, " s; slow"); /* after how many is the machine's affair */
	pseudo_await(&pseudo, "1 passed, 1 could not be judged");
	cr_assert_null(strstr(pseudo.seen, " left"), "%s", pseudo.seen);
	pseudo_close(&pseudo);
}

/* The first line is there while the others are still measured; and what has come by
 * then are whole lines. */
Test(progress, results_come_line_by_line_through_a_pipe)
{
	cr_assert_eq(
		cli_run("mkfifo $HERE/pipe; $REDRACE explore --clients 3 incr redlock >$HERE/pipe 2>&1 & P=$!; { read line; kill -INT $P; cat >/dev/null; } <$HERE/pipe; wait $P"),
		130, "%s", cli_output);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(
			cli_run("[ -z \"$($REDRACE list | dd bs=1M count=1 2>/dev/null | tail -c 1)\" ]"),
			0, "a line was cut");
}

/* In tests, on a machine where everything takes longer than ten seconds. */
Test(progress, is_left_out_of_what_tests_compare)
{
	cr_assert_eq(
		cli_run("printf 'redrace: %s\\n' 'redlock: 119,616 states, 5,953 a second' none "
			"'x: 3 runs, 1 a second, about 5 s left' '3 of 12, 11 s; TL-7' "
			"'1 of 2 claims' '2 of 9, incr: 30 %, 350/s, about 11 s left'; printf end"),
		0);
	cr_assert_str_eq(cli_output, "redrace: none\nredrace: 1 of 2 claims\nend");
}

/* SPDX-License-Identifier: MIT */
/* `redrace peers` and peers that miscount, hang, fail or are not there. Each
 * test writes the script that stands where harness/bench/peers/run is looked for. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

#include "base/child.h"

TestSuite(peers, .init = cli_setup, .fini = cli_teardown);

/* Runs the comparison in a directory where peers answer so to "count". */
static int run_beside(const char *count)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "program=$PWD/$REDRACE; cd $HERE && mkdir -p harness/bench/peers &&"
		 "cat >harness/bench/peers/run <<'END'\n"
		 "#!/bin/sh\n"
		 "if [ $2 = versions ]; then\n"
		 "echo '{\"peer\": \"p 1\", \"runtime\": \"r 1\"}'; exit\n"
		 "fi\n"
		 "%s\n"
		 "END\n"
		 "chmod +x harness/bench/peers/run;"
		 "$program peers --repeats 1 --increments 100 2>&1",
		 count);
	return cli_run(command);
}

static void assert_said(const char *part)
{
	cr_assert_not_null(strstr(cli_output, part), "said: %s", cli_output);
}

/* The increments and the warm-up that it was asked for, and `more`. */
#define COUNTS_TO(more)                                           \
	"printf '{\"increments_per_s\": 10.5, \"final\": %d}\\n'" \
	" $(($4 + $5 " more "))"

Test(peers, exact_counts_are_compared)
{
	cr_assert_eq(run_beside(COUNTS_TO("")), 0, "%s", cli_output);
	assert_said(
		"node-redlock                                          11            11            11");
	assert_said("redlock / node-redlock, 2.0 ");
}

Test(peers, wrong_count_of_a_peer_is_1_and_the_others_go_on)
{
	cr_assert_eq(run_beside(COUNTS_TO("- ($3 == 2 && 0$(echo $1 | grep -c py))")), 1, "%s",
		     cli_output);
	assert_said("redis-py, 2 clients, counted to 199 instead of 200");
	assert_said(
		"redis-py                                              11         wrong            11");
	assert_said(
		"node-redlock                                          11            11            11");
}

Test(peers, failure_of_a_peer_is_70_with_its_last_word)
{
	cr_assert_eq(run_beside("echo first; echo last >&2; exit 1"), 70);
	assert_said("redis-py failed: last");
}

Test(peers, none_installed_is_77)
{
	cli_assert_one_line(
		"cd $HERE && mkdir -p harness/bench/peers && cd - >/dev/null;"
		"program=$PWD/$REDRACE; cd $HERE;"
		"printf '#!/bin/sh\\necho gone >&2; exit 77\\n' >harness/bench/peers/run;"
		"chmod +x harness/bench/peers/run;"
		"$program peers 2>said; code=$?;"
		"grep node-redlock said; exit $code",
		77, "node-redlock is left out: gone");
}

Test(peers, outside_the_root_is_64)
{
	cli_assert_one_line("program=$PWD/$REDRACE; cd $HERE; $program peers 2>&1", 64,
			    "there is no harness/bench/peers/run here");
}

Test(peers, ctrl_c_is_130_and_ends_the_peer)
{
	cr_assert_eq(run_beside("echo $$ >pid; kill -INT $PPID; exec sleep 1000"), 130, "%s",
		     cli_output);
	cr_assert_eq(cli_run("kill -0 $(cat $HERE/pid) 2>&1"), 1, "%s", cli_output);
}

/* ---- A child ------------------------------------------------------------- */

static struct rr_error run_child(struct rr_child *child, const char *command, long limit_ms)
{
	const char *const argv[] = { "sh", "-c", command, NULL };
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct rr_signals signals;

	cr_assert(rr_signals_open(&signals));
	rr_child_run(child, argv, -1, limit_ms, &signals, &error);
	rr_signals_close(&signals);
	return error;
}

Test(peers, child_that_says_much_is_remembered_by_its_end)
{
	struct rr_child child;
	struct rr_error error = run_child(&child, "seq 100000; echo end 1; exit 3", 60000);
	char line[64];

	cr_assert_eq(error.kind, RR_ERROR_NONE, "%s", error.text);
	cr_assert(rr_child_exited(&child, 3));
	cr_assert(rr_child_line(&child, "end", line, sizeof(line)));
	cr_assert_str_eq(line, "end 1");
	cr_assert_not(rr_child_line(&child, "never", line, sizeof(line)));
}

Test(peers, child_that_takes_too_long_is_ended)
{
	struct rr_child child;
	struct rr_error error = run_child(&child, "sleep 1000", 100);

	cr_assert_eq(error.kind, RR_ERROR_INTERNAL);
	cr_assert_str_eq(error.text, "sh did not end within 0 s");
	cr_assert_not(rr_child_exited(&child, 0));
}

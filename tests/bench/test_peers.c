/* SPDX-License-Identifier: MIT */
/* tests/bench/peers and locks that miscount, fail or are not there. Each test writes the
 * script that stands for the locks of others. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(peers, .init = cli_setup, .fini = cli_teardown);

/* Runs the comparison where locks of others answer so to "count". */
static int run_beside(const char *count)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cat >$HERE/run <<'END'\n"
		 "#!/bin/sh\n"
		 "if [ $2 = versions ]; then\n"
		 "echo '{\"peer\": \"p 1\", \"runtime\": \"r 1\"}'; exit\n"
		 "fi\n"
		 "%s\n"
		 "END\n"
		 "chmod +x $HERE/run;"
		 "RR_LOCKS=$HERE/run tests/bench/peers --repeats 1 --increments 100 2>&1",
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

/* Of ours the figures are real: the relay counts what they send. Redlock asks again where a server
 * was so late that its lease was over. */
Test(peers, commands_and_round_trips_come_first, .timeout = 600)
{
	const char *redlock;
	double commands, trips;

	cr_assert_eq(run_beside(COUNTS_TO("")), 0, "%s", cli_output);
	assert_said("| lua-library | 4 | 4 |");
	assert_said("| lua-pipelined | 4 | 2 |");
	redlock = strstr(cli_output, "| redlock-parallel | ");
	cr_assert(redlock &&
			  sscanf(redlock, "| redlock-parallel | %lf | %lf |", &commands, &trips) ==
				  2 &&
			  /* Retries, on a busy machine; there a reply may be late for a relay that
			   * takes what it sees for one round trip. */
			  commands >= 12 && commands < 40 && trips > 3 && trips < 16,
		  "said: %s", cli_output);
	assert_said("| node-redlock | 10 | 10 | 10 |");
	assert_said("| node-redlock | p 1, r 1 |");
	cr_assert_eq(cli_run("ls -d $HERE/rr-* 2>/dev/null"), 2, "%s", cli_output);
}

Test(peers, wrong_count_is_1_and_the_others_go_on, .timeout = 600)
{
	cr_assert_eq(run_beside(COUNTS_TO("- ($3 == 2 && 0$(echo $1 | grep -c py))")), 1, "%s",
		     cli_output);
	assert_said("redis-py, 2 clients, counted to 199 instead of 200");
	assert_said("| redis-py | 10 | wrong | 10 |");
	assert_said("| node-redlock | 10 | 10 | 10 |");
}

Test(peers, failure_is_70_with_the_last_word)
{
	cr_assert_eq(run_beside("echo first; echo last >&2; exit 1"), 70);
	assert_said("redis-py failed: last");
}

Test(peers, none_installed_is_77)
{
	cli_assert_one_line("printf '#!/bin/sh\\necho gone >&2; exit 77\\n' >$HERE/run;"
			    "chmod +x $HERE/run;"
			    "RR_LOCKS=$HERE/run tests/bench/peers 2>$HERE/said; code=$?;"
			    "grep node-redlock $HERE/said; exit $code",
			    77, "node-redlock is left out: gone");
}

Test(peers, without_a_server_is_69)
{
	cli_assert_one_line("tests/bench/floor --redis-server $HERE/none 2>&1 >/dev/null",
			    RR_EXIT_REDIS, "/none");
	cli_assert_one_line("tests/bench/explore --redis-server $HERE/none 2>&1 >/dev/null",
			    RR_EXIT_REDIS, "/none");
}

Test(peers, ctrl_c_is_130_and_ends_what_runs)
{
	cr_assert_eq(run_beside("echo $$ >${0%/*}/pid; kill -INT $PPID; exec sleep 1000"), 130,
		     "%s", cli_output);
	/* What it had not begun to wait for yet, the kernel ends when it is gone. */
	cr_assert_eq(
		cli_run("i=0; while [ $i -lt 1200 ] && kill -0 $(cat $HERE/pid) 2>/dev/null; do"
			" sleep 0.1; i=$((i + 1)); done; [ $i -lt 1200 ]"),
		0);
}

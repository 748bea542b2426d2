/* SPDX-License-Identifier: MIT */
/* Findings that explain themselves: why, and what the anomaly is called. What the sentences
 * say was seen on real servers: every finding is played on one before it is printed. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(why, .init = cli_setup, .fini = cli_teardown);

#define CLI "redis-cli -p $REDIS_PORT "

/* `init`: commands, a line each; `arguments` and all the texts that are to be printed, the
 * last one NULL. */
static void check_says(const char *init, const char *arguments, const char *const *parts)
{
	cli_write("init.redis", "%s\n", init);
	cr_assert_eq(cli_runf("$REDRACE check --audit 1 --init $HERE/init.redis %s 2>&1",
			      arguments),
		     1, "%s", cli_output);
	for (; *parts; parts++)
		cli_assert_prints(*parts);
}

#define SAYS(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* ---- Two clients ------------------------------------------------------------------ */

Test(why, lost_update)
{
	check_says("SET x 5", "-- sh -c 'v=$(" CLI "GET x); " CLI "SET x $((v + 1))'",
		   SAYS("Why (lost update):\n"
			"  A is before B: A's GET x (2) did not see B's SET (4).\n"
			"  B is before A: B's GET x (1) did not see A's SET (3).\n"));
}

/* B has read nothing, and its update is lost as well. */
Test(why, lost_update_of_a_client_that_only_writes)
{
	check_says("SET x 5",
		   "--client A='v=$(" CLI "GET x); " CLI "SET x $((v + 1))' --client B='" CLI
		   "SET x 100'",
		   SAYS("Why (lost update):\n"
			"  A is before B: A's GET x (1) did not see B's SET (2).\n"
			"  B is before A: A's SET x 6 (3) overwrote B's SET (2).\n"));
}

Test(why, write_skew)
{
	check_says("MSET x 1 y 1",
		   "--client A='[ $(" CLI "GET y) = 1 ] && " CLI "SET x 0; true' "
		   "--client B='[ $(" CLI "GET x) = 1 ] && " CLI "SET y 0; true'",
		   SAYS("Why (write skew):\n", "GET y (2) did not see B's SET (4)",
			"GET x (1) did not see A's SET (3)"));
}

Test(why, both_did_what_one_should)
{
	check_says("SET stock 1",
		   "-- sh -c '[ $(" CLI "GET stock) -gt 0 ] && " CLI "DECR stock; true'",
		   SAYS("Why (both did what only one should):\n",
			"GET stock (2) did not see B's DECR (4)"));
}

/* Both say who did the job, and the last one is there; but that is so in a serial order, too. */
Test(why, what_is_hidden_in_any_order_is_no_lost_update)
{
	check_says("PING",
		   "-- sh -c '[ $(" CLI "EXISTS job) = 0 ] || exit 0; " CLI "SET job done; " CLI
		   "RPUSH mails report'",
		   SAYS("Why (both did what only one should):\n",
			"EXISTS job (1) did not see A's SET (3)"));
}

/* Who was refused in the other order has not seen the other. */
Test(why, a_lock_that_has_run_out_is_given_back)
{
	check_says("PING",
		   "--expiries 1 --client hold='" CLI
		   "SET seat h NX PX 1000 | grep -q OK || exit 1; " CLI
		   "DEL seat' --client buy='" CLI "SET seat b NX | grep -q OK'",
		   SAYS("  seat, which hold's SET (1) wrote, has run out (2).\n",
			"buy is before hold: hold's DEL seat (4) came after buy's SET (3).\n",
			"hold is before buy: hold's SET seat h (1) did not see buy's SET (3).\n"));
}

Test(why, a_retry_of_what_was_executed)
{
	check_says("PING",
		   "--lost-replies 1 -- sh -c '" CLI
		   "RPUSH jobs resize 2>&1 | grep -q [0-9]$ || " CLI "RPUSH jobs resize'",
		   SAYS("Why:\n  A sent again what had been executed, though the reply was lost: "
			"RPUSH jobs resize (1).\n"));
}

Test(why, resurrected_delete)
{
	check_says("HSET s name old",
		   "--client A='[ $(" CLI "EXISTS s) = 1 ] && " CLI "HSET s seen 1; true' "
		   "--client B='" CLI "DEL s'",
		   SAYS("Why (resurrected delete):\n", "EXISTS s (1) did not see B's DEL (2)",
			"A's HSET s seen (3) came after B's DEL (2)"));
}

Test(why, stale_read)
{
	check_says("MSET x 0 y 0",
		   "--client A='" CLI "SET x 1; " CLI "SET y 1' --client B='x=$(" CLI
		   "GET x); y=$(" CLI "GET y); " CLI "SET seen $x$y'",
		   SAYS("Why (stale read):\n", "B's GET x (2) saw A's SET (1)",
			"GET y (3) did not see A's SET (5)"));
}

/* The order of two lists contradicts itself, and nothing was read: that has no name. */
Test(why, what_has_no_name_has_its_sentences)
{
	check_says("PING",
		   "-- sh -c '" CLI "RPUSH a $REDRACE_CLIENT; " CLI "RPUSH b $REDRACE_CLIENT'",
		   SAYS("Why:\n  A is before B: B's RPUSH a B (2) came after A's RPUSH (1).\n"
			"  B is before A: A's RPUSH b A (4) came after B's RPUSH (3).\n"));
}

/* What EXEC does is one step, though each of its commands was sent before. */
Test(why, transactions_are_one_command)
{
	check_says("SET x 5",
		   "-- sh -c 'v=$(" CLI
		   "GET x); printf \"MULTI\\nSET x $((v + 1))\\nEXEC\\n\" | " CLI "'",
		   SAYS("Why (lost update):\n", " did not see B's EXEC ("));
}

/* ---- More clients, and none -------------------------------------------------------- */

Test(why, a_circle_of_three)
{
	check_says("MSET x 0 y 0 z 0",
		   "--client A='v=$(" CLI "GET x); " CLI "SET y a$v' --client B='v=$(" CLI
		   "GET y); " CLI "SET z b$v' --client C='v=$(" CLI "GET z); " CLI "SET x c$v'",
		   SAYS("Why:\n", "A is before C: A's GET x (", "C is before B: C's GET z (",
			"B is before A: B's GET y ("));
}

Test(why, left_without_a_lease)
{
	check_says("PING",
		   "--clients 1 --crashes 1 -- sh -c '" CLI "INCR hits; " CLI "EXPIRE hits 60'",
		   SAYS("Why (left without a lease):\n"
			"  hits stays for ever: in a serial order it has a time to live.\n"));
}

Test(why, a_lease_that_has_run_out)
{
	check_says("PING",
		   "--expiries 1 -- sh -c '" CLI
		   "SET lock $REDRACE_CLIENT NX PX 1000 | grep -q OK || exit 1; " CLI
		   "ECHO redrace:enter; " CLI "ECHO redrace:leave; " CLI "DEL lock'",
		   SAYS("two clients are in their critical sections",
			"Why:\n  lock, which A's SET (1) wrote, has run out (3).\n"));
}

/* B's lock has no lease, and only A's is over. */
Test(why, a_lock_that_is_given_back_is_anothers)
{
	check_says("PING",
		   "--expiries 1 --client A='" CLI
		   "SET lock A NX PX 1000 | grep -q OK || exit 1; " CLI "DEL lock' --client B='" CLI
		   "SET lock B NX | grep -q OK || exit 1; " CLI "GET x'",
		   SAYS("Why:\n  lock, which A's SET (1) wrote, has run out (2).\n  A's DEL lock (",
			") took away what B's SET (3) wrote, not its own SET (1).\n"));
}

/* ---- What would mend it -------------------------------------------------------------- */

#define PROGRAM "v=$(" CLI "GET x); " CLI "GET y; " CLI "SET x $((v + 1)); " CLI "SET done 1"

/* The smallest span; and a real script in its place is serializable. */
Test(why, what_would_mend_it)
{
	check_says("SET x 5", "-- sh -c '" PROGRAM "'",
		   SAYS("As one step (a script), GET x … SET x would leave 6 interleavings, all "
			"serializable: computed, not run.\n"));
	cr_assert_eq(cli_run("$REDRACE check --audit 1 -- sh -c '" CLI
			     "EVAL \"local v = redis.call(\\\"GET\\\", KEYS[1]) or 0; "
			     "redis.call(\\\"GET\\\", \\\"y\\\"); "
			     "redis.call(\\\"SET\\\", KEYS[1], v + 1)\" 1 x; " CLI
			     "SET done 1' 2>&1"),
		     0, "%s", cli_output);
}

/* One client's is enough, if the other only writes. */
Test(why, what_would_mend_it_may_concern_one_client)
{
	check_says(
		"SET x 5",
		"--client A='v=$(" CLI "GET x); " CLI "SET x $((v + 1))' --client B='" CLI
		"SET x 100'",
		SAYS("As one step (a script), A's GET x … SET x would leave 2 interleavings, all "));
	check_says(
		"MSET x 1 y 1",
		"--client A='[ $(" CLI "GET y) = 1 ] && " CLI "SET x 0; true' "
		"--client B='[ $(" CLI "GET x) = 1 ] && " CLI "SET y 0; true'",
		SAYS("As one step each (scripts), A's GET y … SET x and B's GET x … SET y would "));
}

/* A crash between two commands is none between the lines of a script. */
Test(why, what_would_mend_a_missing_lease)
{
	check_says("PING",
		   "--clients 1 --crashes 1 -- sh -c '" CLI "INCR hits; " CLI "EXPIRE hits 60'",
		   SAYS("INCR hits … EXPIRE hits would leave 2 interleavings, all serializable"));
}

Test(why, no_mend_is_offered_where_clients_block)
{
	check_says("RPUSH jobs 1 2",
		   "-- sh -c 'v=$(" CLI "GET x); " CLI "BLPOP jobs 1; " CLI "SET x $((v + 1))'",
		   SAYS("Why (lost update):\n"));
	cr_assert_not(cli_says(cli_output, "would leave"), "%s", cli_output);
}

/* ---- All of them --------------------------------------------------------------------- */

#define COUNTER "-- sh examples/check/counter.sh"

/* Three clients that read and write back leave 1, 2 or 3. */
Test(why, all_wrong_final_states_are_shown)
{
	check_says("PING", "--clients 3 --all " COUNTER,
		   SAYS("In the end there is\n  counter = \"2\"\n",
			"\nAnother wrong final state, 2 of 2\n"
			"In the end there is\n  counter = \"1\"\n"));
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --clients 3 " COUNTER " 2>&1"), 1);
	cr_assert_not(cli_says(cli_output, "Another"), "%s", cli_output);
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --clients 3 --all --format json " COUNTER
			     " 2>/dev/null | grep -c '\"final_data\": \"counter = '"),
		     0, "%s", cli_output);
	cr_assert_str_eq(cli_output, "3\n");
}

/* Each of twenty is played. */
Test(why, as_many_wrong_final_states_as_are_shown_are_said)
{
	check_says("PING",
		   "--all --clients 4 -- sh -c '" CLI "RPUSH a $REDRACE_CLIENT; " CLI
		   "RPUSH b $REDRACE_CLIENT'",
		   SAYS("Another wrong final state, 20 of 20\n",
			"\nFurther wrong final states, which are not shown: "));
}

/* ---- What a yes rests on ------------------------------------------------------------- */

/* Without NX both have the lock. Nothing of INCR can be weakened. */
Test(why, a_yes_says_which_command_it_rests_on)
{
	cr_assert_eq(
		cli_run("$REDRACE check --audit 1 -- sh -c '" CLI
			"SET lock a-token-of-$REDRACE_CLIENT-which-is-long NX PX 1000000 | grep -q OK || exit 1; v=$(" CLI
			"GET x); " CLI "SET x $((v + 1)); " CLI "DEL lock' 2>&1"),
		0, "%s", cli_output);
	cli_assert_prints(" as in some order of the clients, resting on "
			  "SET lock a-token-of-A-which-is-lo... NX PX 1000000: only if it is "
			  "absent (2 clients, ");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 -- sh -c '" CLI "INCR x' 2>&1"), 0);
	cr_assert_not(cli_says(cli_output, "resting on"), "%s", cli_output);
}

Test(why, a_yes_may_rest_on_watch)
{
	cli_write(
		"watch.py", "%s\n",
		"import os, socket\n"
		"s = socket.create_connection((os.environ['REDIS_HOST'], "
		"int(os.environ['REDIS_PORT'])))\n"
		"f = s.makefile('rb')\n"
		"def ask(line):\n"
		"    s.sendall(line + b'\\r\\n')\n"
		"    line = f.readline().strip()\n"
		"    return f.readline().strip() if line[:1] == b'$' and line != b'$-1' else line\n"
		"ask(b'WATCH x')\n"
		"v = ask(b'GET x')\n"
		"ask(b'MULTI')\n"
		"ask(b'SET x %d' % ((int(v) if v.isdigit() else 0) + 1))\n"
		"raise SystemExit(ask(b'EXEC')[1:] == b'-1')\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 -- python3 $HERE/watch.py 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_prints(", resting on WATCH x (2 clients, ");
}

/* ---- For programs ------------------------------------------------------------------ */

Test(why, stands_in_json)
{
	cr_assert_eq(
		cli_run("$REDRACE check --audit 1 --format json -- sh examples/check/counter.sh 2>&1"),
		1, "%s", cli_output);
	cli_assert_prints("\"anomaly\": \"lost update\"");
	cli_assert_prints("\"why\": \"A is before B: A's GET counter (2) did not");
}

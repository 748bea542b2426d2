/* SPDX-License-Identifier: MIT */
/* Findings that explain themselves: why, and what the anomaly is called. What the sentences
 * say was seen on real servers: every finding is played on one before it is printed. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(why, .init = cli_setup, .fini = cli_teardown);

/* `init`: commands, a line each; `kinds` are those of all that is found, "exclusion,
 * foreign_release". */
static void check_finds(const char *init, const char *arguments, const char *kinds)
{
	char filter[100];

	cli_write("init.redis", "%s\n", init);
	cr_assert_eq(cli_runf("$REDRACE check -o $HERE/result.json --audit 1 --init "
			      "$HERE/init.redis %s 2>&1",
			      arguments),
		     1, "%s", cli_output);
	snprintf(filter, sizeof(filter), "(.kinds | join(\", \")) == \"%s\"", kinds);
	cli_assert_json(filter);
}

/* Each sentence of `why` refers to these steps, by their numbers: "[[2,4],[1,3]]". The words of the sentences
 * are in tests/golden/why.txt. */
static void assert_why(const char *steps)
{
	char filter[300];

	snprintf(filter, sizeof(filter), CLI_WHY_STEPS " == %s", steps);
	cli_assert_json(filter);
}

/* Those steps of the finding are these commands, "SET x,GET x": their first two words. */
static void assert_steps(const char *numbers, const char *commands)
{
	char filter[300];

	snprintf(filter, sizeof(filter),
		 "[.findings[0].steps[%s] | .command[:2] | join(\" \")] | join(\",\") == \"%s\"",
		 numbers, commands);
	cli_assert_json(filter);
}

/* ---- Two clients ------------------------------------------------------------------ */

Test(why, lost_update)
{
	check_finds("SET x 5", "-- sh -c 'v=$(" CLI "GET x); " CLI "SET x $((v + 1))'",
		    "lost_update");
	assert_why("[[2, 4], [1, 3]]");
	cli_assert_property("findings.0.keys", "[\"x\"]");
}

/* B has read nothing, and its update is lost as well. */
/* Whichever database the key is in. */
Test(why, anomalies_of_other_databases_have_their_names)
{
#define IN_5 REDIS_CLI "-n 5 "
	check_finds("PING", "-- sh -c 'v=$(" IN_5 "GET n); " IN_5 "SET n $((v + 1))'",
		    "lost_update");
	cli_assert_property("known_as.0", "lost update (db 5: n)");
	check_finds("PING",
		    "--expiries 1 --client hold='" IN_5
		    "SET seat h NX PX 1000 | grep -q OK || exit 1; " IN_5
		    "DEL seat' --client buy='" IN_5 "SET seat b NX | grep -q OK'",
		    "not_serializable");
	cli_assert_json(".why | test(\"db 5: seat, which .* has expired\")");
}

Test(why, lost_update_of_a_client_that_only_writes)
{
	check_finds("SET x 5",
		    "--client A='v=$(" CLI "GET x); " CLI "SET x $((v + 1))' --client B='" CLI
		    "SET x 100'",
		    "lost_update");
	cli_assert_json(CLI_WHY_STEPS " | index([[3, 2]]) != null");
	assert_steps("1, 2", "SET x,SET x");
}

Test(why, write_skew)
{
	check_finds("MSET x 1 y 1",
		    "--client A='[ $(" CLI "GET y) = 1 ] && " CLI "SET x 0; true' "
		    "--client B='[ $(" CLI "GET x) = 1 ] && " CLI "SET y 0; true'",
		    "write_skew");
}

Test(why, both_did_what_one_should)
{
	check_finds("SET stock 1",
		    "-- sh -c '[ $(" CLI "GET stock) -gt 0 ] && " CLI "DECR stock; true'",
		    "check_then_act");
}

/* Both say who did the job, and the last one is there; but that is so in a serial order, too. */
Test(why, what_is_hidden_in_any_order_is_no_lost_update)
{
	check_finds("PING",
		    "-- sh -c '[ $(" CLI "EXISTS job) = 0 ] || exit 0; " CLI "SET job done; " CLI
		    "RPUSH mails report'",
		    "check_then_act");
}

/* Who was refused in the other order has not seen the other. */
Test(why, a_lock_that_has_run_out_is_given_back)
{
	check_finds("PING",
		    "--expiries 1 --client hold='" CLI
		    "SET seat h NX PX 1000 | grep -q OK || exit 1; " CLI
		    "DEL seat' --client buy='" CLI "SET seat b NX | grep -q OK'",
		    "not_serializable");
	cli_assert_json(CLI_WHY_STEPS " | index([[1, 2]]) != null and index([[4, 3]]) != null");
	cli_assert_json(".findings[0].steps[1].kind == \"tick\"");
}

Test(why, a_retry_of_what_was_executed)
{
	check_finds("PING",
		    "--lost-replies 1 -- sh -c '" CLI
		    "RPUSH jobs resize 2>&1 | grep -q [0-9]$ || " CLI "RPUSH jobs resize'",
		    "not_serializable");
	cli_assert_json(CLI_WHY_STEPS " | index([[1]]) != null");
	cli_assert_json(".findings[0].steps[0] | .fault == \"lost_reply\" and "
			".command == [\"RPUSH\", \"jobs\", \"resize\"]");
}

Test(why, resurrected_delete)
{
	check_finds("HSET s name old",
		    "--client A='[ $(" CLI "EXISTS s) = 1 ] && " CLI "HSET s seen 1; true' "
		    "--client B='" CLI "DEL s'",
		    "resurrected_delete");
}

Test(why, stale_read)
{
	check_finds("MSET x 0 y 0",
		    "--client A='" CLI "SET x 1; " CLI "SET y 1' --client B='x=$(" CLI
		    "GET x); y=$(" CLI "GET y); " CLI "SET seen $x$y'",
		    "stale_read");
	cli_assert_json(CLI_WHY_STEPS " | index([[2, 1]]) != null");
	assert_steps("0, 1", "SET x,GET x");
}

/* The order of two lists contradicts itself, and nothing was read: that has no name. */
Test(why, what_has_no_name_has_its_sentences)
{
	check_finds("PING",
		    "-- sh -c '" CLI "RPUSH a $REDRACE_CLIENT; " CLI "RPUSH b $REDRACE_CLIENT'",
		    "not_serializable");
	cli_assert_json(".anomaly == null and (.why | split(\"\\n\") | length == 2)");
}

/* What EXEC does is one step, though each of its commands was sent before. */
Test(why, transactions_are_one_command)
{
	check_finds("SET x 5",
		    "-- sh -c 'v=$(" CLI
		    "GET x); printf \"MULTI\\nSET x $((v + 1))\\nEXEC\\n\" | " REDIS_CLI "'",
		    "lost_update");
	cli_assert_json(".why | contains(\"EXEC (\") and (contains(\"MULTI\") | not)");
}

/* ---- More clients, and none -------------------------------------------------------- */

Test(why, a_circle_of_three)
{
	check_finds("MSET x 0 y 0 z 0",
		    "--client A='v=$(" CLI "GET x); " CLI "SET y a$v' --client B='v=$(" CLI
		    "GET y); " CLI "SET z b$v' --client C='v=$(" CLI "GET z); " CLI "SET x c$v'",
		    "not_serializable");
	/* Each of three steps reads what the one of the next client has not written yet. */
	cli_assert_json(".anomaly == null and (" CLI_WHY_STEPS
			" as $why | .findings[0].steps as $s | $why | map("
			"[$s[.[0] - 1].client, $s[.[1] - 1].client]) | sort == "
			"[[\"A\", \"C\"], [\"B\", \"A\"], [\"C\", \"B\"]])");
}

Test(why, left_without_a_lease)
{
	check_finds("PING",
		    "--clients 1 --crashes 1 -- sh -c '" CLI "INCR hits; " CLI "EXPIRE hits 60'",
		    "left_without_lease");
	cli_assert_json(".findings[0].keys == [\"hits\"] and (.why | contains(\"hits\"))");
}

Test(why, a_lease_that_has_run_out)
{
	check_finds("PING",
		    "--expiries 1 -- sh -c '" CLI
		    "SET lock $REDRACE_CLIENT NX PX 1000 | grep -q OK || exit 1; " CLI
		    "ECHO redrace:enter; " CLI "ECHO redrace:leave; " CLI "DEL lock'",
		    "exclusion, foreign_release");
}

/* A job is noted in two places, given back, and struck from both once more: a sentence for each. */
Test(why, each_lock_that_is_anothers_is_named)
{
	check_finds("RPUSH jobs mail",
		    "-- sh -c '" CLI "LPOP jobs | grep -q mail || exit 1; " CLI
		    "MSET owner $REDRACE_CLIENT since $REDRACE_CLIENT; " CLI
		    "EVAL \"redis.call(\\\"DEL\\\", \\\"owner\\\", \\\"since\\\") "
		    "redis.call(\\\"RPUSH\\\", \\\"jobs\\\", \\\"mail\\\")\" 0; " CLI
		    "DEL owner since >/dev/null'",
		    "foreign_release");
	cli_assert_json(".why | split(\"\\n\") | (map(contains(\"key owner\")) | any) and "
			"(map(contains(\"key since\")) | any)");
}

/* B's lock has no lease, and only A's is over. */
Test(why, a_lock_that_is_given_back_is_anothers)
{
	check_finds(
		"PING",
		"--expiries 1 --client A='" CLI "SET lock A NX PX 1000 | grep -q OK || exit 1; " CLI
		"DEL lock' --client B='" CLI "SET lock B NX | grep -q OK || exit 1; " CLI "GET x'",
		"not_serializable");
	cli_assert_json(CLI_WHY_STEPS " | map(.[1:]) | index([[3, 1]]) != null");
}

#define FIX ".mend"

/* ---- What would mend it -------------------------------------------------------------- */

#define PROGRAM "v=$(" CLI "GET x); " CLI "GET y; " CLI "SET x $((v + 1)); " CLI "SET done 1"

/* The smallest span; and a real script in its place is serializable. */
Test(why, what_would_mend_it)
{
	check_finds("SET x 5", "-- sh -c '" PROGRAM "'", "lost_update");
	cli_assert_json(FIX " | contains(\"GET x … SET x\") and test(\"\\\\b6\\\\b\")");
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
	check_finds("SET x 5",
		    "--client A='v=$(" CLI "GET x); " CLI "SET x $((v + 1))' --client B='" CLI
		    "SET x 100'",
		    "lost_update");
	cli_assert_json(FIX " | contains(\"A's GET x … SET x\")");
	check_finds("MSET x 1 y 1",
		    "--client A='[ $(" CLI "GET y) = 1 ] && " CLI "SET x 0; true' "
		    "--client B='[ $(" CLI "GET x) = 1 ] && " CLI "SET y 0; true'",
		    "write_skew");
	cli_assert_json(FIX
			" | contains(\"A's GET y … SET x\") and contains(\"B's GET x … SET y\")");
}

/* A crash between two commands is none between the lines of a script. */
Test(why, what_would_mend_a_missing_lease)
{
	check_finds("PING",
		    "--clients 1 --crashes 1 -- sh -c '" CLI "INCR hits; " CLI "EXPIRE hits 60'",
		    "left_without_lease");
	cli_assert_json(FIX " | contains(\"INCR hits … EXPIRE hits\")");
}

Test(why, no_mend_is_offered_where_clients_block)
{
	check_finds("RPUSH jobs 1 2",
		    "-- sh -c 'v=$(" CLI "GET x); " CLI "BLPOP jobs 1; " CLI "SET x $((v + 1))'",
		    "lost_update");
	cli_assert_json(FIX " == null");
}

/* ---- All of them --------------------------------------------------------------------- */

#define COUNTER "-- sh examples/check/counter.sh"

/* Three clients that read and write back leave 1, 2 or 3. */
Test(why, all_wrong_final_states_are_shown)
{
	check_finds("PING", "--clients 3 --all " COUNTER, "lost_update");
	cli_assert_json(
		"[.findings[].final_data] == [\"counter = \\\"2\\\"\", \"counter = \\\"1\\\"\"]");
	/* Each is drawn. */
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --clients 3 --all " COUNTER
			     " 2>&1 | grep -c '^ #  A '"),
		     0);
	cr_assert_str_eq(cli_output, "2\n");
	cr_assert_eq(cli_run("$REDRACE check --audit 1 --clients 3 " COUNTER
			     " 2>&1 | grep -c '^ #  A '"),
		     0);
	cr_assert_str_eq(cli_output, "1\n");
}

/* Each of twenty is played. */
Test(why, as_many_wrong_final_states_as_are_shown_are_said)
{
	check_finds("PING",
		    "--all --clients 4 -- sh -c '" CLI "RPUSH a $REDRACE_CLIENT; " CLI
		    "RPUSH b $REDRACE_CLIENT'",
		    "not_serializable");
	cli_assert_json(
		"(.findings | length) == 20 and .wrong_final_states == 20 + .wrong_not_shown");
}

/* ---- What a yes rests on ------------------------------------------------------------- */

/* Without NX both have the lock. Nothing of INCR can be weakened. */
Test(why, a_yes_says_which_command_it_rests_on)
{
	cr_assert_eq(
		cli_run("$REDRACE check -o $HERE/result.json --audit 1 -- sh -c '" CLI
			"SET lock a-token-of-$REDRACE_CLIENT-which-is-long NX PX 1000000 | grep -q OK || exit 1; v=$(" CLI
			"GET x); " CLI "SET x $((v + 1)); " CLI "DEL lock' 2>&1"),
		0, "%s", cli_output);
	cli_assert_json(
		".rests_on | startswith(\"SET lock a-token-of-A-which-is-lo... NX PX 1000000\")");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --audit 1 -- sh -c '" CLI
			     "INCR x' 2>&1"),
		     0);
	cli_assert_property("rests_on", "null");
}

Test(why, a_yes_may_rest_on_watch)
{
	cli_write("watch.py", "%s",
		  "import raw\nr = raw.Connection()\n"
		  "r('WATCH', 'x'); v = r('GET', 'x')\n"
		  "r('MULTI'); r('SET', 'x', int(v or 0) + 1)\n"
		  "raise SystemExit(r('EXEC') is None)\n");
	cr_assert_eq(cli_run("$REDRACE check -o $HERE/result.json --audit 1 -- " CLI_PYTHON
			     "watch.py 2>&1"),
		     0, "%s", cli_output);
	cli_assert_json(".rests_on | startswith(\"WATCH x\")");
}

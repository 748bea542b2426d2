/* SPDX-License-Identifier: MIT */
/* redrace check with programs that do what is awkward to follow: random choices,
 * names of their own, other databases, leases that they read, blocking, streams. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(awkward, .init = cli_setup, .fini = cli_teardown);

/* Some count their runs by directories. */
#define CHECK "$REDRACE check --audit 1 -o $HERE/result.json --allow-outside $HERE "

static void check_text(const char *interpreter, const char *options, const char *text, int code,
		       const char *part)
{
	cli_write("program", "%s\n", text);
	cr_assert_eq(cli_runf(CHECK "%s -- %s $HERE/program 2>&1", options, interpreter), code,
		     "%s: %s", text, cli_output);
	cli_assert_outcome(code, part);
}

static void check_shell(const char *options, const char *text, int code, const char *part)
{
	check_text("bash", options, text, code, part);
}

/* ---- Random values and names ---------------------------------------------------- */

/* Another number in each run, as if it were drawn: what is really drawn may come out the
 * same in all of them. */
#define DRAWS "drawn=0; until mkdir $HERE/run$drawn 2>/dev/null; do drawn=$((drawn + 1)); done\n"

/* A token of any bytes is its client's own. */
Test(awkward, a_random_value_may_have_any_bytes)
{
#define COUNTS "; v=$(" CLI "GET n); " CLI "SET n $((v + 1))"
	check_shell("",
		    CLI
		    "SET lock $(head -c 18 /dev/urandom | base64) NX | grep -q OK || exit 1" COUNTS,
		    0, CLI_SERIALIZABLE);
	check_shell("",
		    DRAWS "end=+; [ $drawn -lt 3 ] || end=c\n" CLI
			  "SET lock $(head -c 15 /dev/urandom | base64 | tr '+/' ab)$end NX | "
			  "grep -q OK || exit 1" COUNTS,
		    0, CLI_SERIALIZABLE);
	check_shell("",
		    "head -c 16 /dev/urandom | " REDIS_CLI
		    "-x SETNX lock | grep -q 1 || exit 1" COUNTS,
		    0, CLI_SERIALIZABLE);
	check_shell(
		"",
		"(printf '\\202\\242id\\304\\020'; head -c 16 /dev/urandom; printf '\\241n\\001') | " REDIS_CLI
		"-x LPUSH queue",
		0, CLI_SERIALIZABLE);
	/* Every other one begins alike, and none is controlled. */
	check_shell(
		"",
		DRAWS
		"first=201; [ $((drawn % 2)) -eq 0 ] || first=$(printf %o $((130 + drawn)))\n"
		"(printf \"\\\\$first\"; echo $$ $drawn | md5sum | head -c 15; printf '\\241n\\001') | " REDIS_CLI
		"-x LPUSH queue",
		0, CLI_SERIALIZABLE);
}

/* What differs is named, however long the command is. */
Test(awkward, a_difference_far_behind_is_shown)
{
	check_shell("", DRAWS CLI "SET k \"$(printf '%0300d' 7) v $drawn\"", 65,
		    "'...0000000000000000");
	check_shell("", DRAWS CLI "SET k \"$(printf '%06000d' 7) v $drawn\"", 65,
		    "'...0000000000000000");
}

/* Sixty-four random values have names. With one seed they are what they are, without names. */
Test(awkward, there_may_be_more_random_values_than_have_names)
{
	check_text("/usr/bin/python3 -S", "--clients 1 ",
		   "import raw\nr = raw.Connection()\n"
		   "for i in range(65): r('SET', 'k%d' % i, raw.token())",
		   0, CLI_SERIALIZABLE);
}

/* Clients may choose the same, and would then lose an update. */
Test(awkward, a_random_choice_is_no_random_value)
{
	check_shell("",
		    DRAWS "k=shard$((drawn % 3))\n"
			  "n=$(" CLI "GET $k); " CLI "SET $k $((n + 1))",
		    65, "'GET shard");
}

/* Heads and tails by the bits of its number (Thue and Morse): whichever runs a client gets, they
 * differ. */
Test(awkward, a_random_branch_is_named_with_both_commands)
{
	check_shell("",
		    DRAWS "for ((side = 0; drawn > 0; drawn /= 2)); do side=$((side ^ drawn & 1)); "
			  "done\n"
			  "if [ $side = 0 ]; then " CLI "INCR heads; else " CLI "INCR tails; fi",
		    65, "'INCR heads'");
	cli_assert_names("'INCR tails'");
}

/* Whoever was seen first gives its name to no one. */
Test(awkward, a_client_keeps_its_own_name)
{
	check_shell("",
		    "n=$(" CLI "GET n); " CLI "SET n $((n + 1)); " CLI
		    "HSET workers worker-$REDRACE_CLIENT \"n$n\"",
		    1, "final_data: workers = {\"worker-A\": \"n\", \"worker-B\": \"n\"}");
}

Test(awkward, unique_values_may_be_anywhere)
{
	check_shell("",
		    "id=$(cat /proc/sys/kernel/random/uuid)\n" CLI "SET job:$id new\n" CLI
		    "RPUSH jobs \"{\\\"id\\\": \\\"$id\\\", \\\"at\\\": $EPOCHREALTIME}\"",
		    0, CLI_SERIALIZABLE);
}

/* Some pauses have come before, and are no choice all the same: it is the time of day. */
Test(awkward, a_time_behind_a_random_pause_is_no_choice)
{
	check_shell("",
		    DRAWS "sleep 0.$((drawn / 2 % 3 + 1))\n" CLI "SET seen $EPOCHREALTIME; " CLI
			  "INCR n >/dev/null",
		    0, CLI_SERIALIZABLE);
}

/* ---- Connections ------------------------------------------------------------------ */

Test(awkward, a_user_with_a_password_is_let_in)
{
	check_shell("", REDIS_CLI "--user ada --pass secret --no-auth-warning INCR n", 0,
		    CLI_SERIALIZABLE);
}

Test(awkward, another_database_is_compared_too)
{
	check_shell("", "n=$(" REDIS_CLI "-n 1 GET n); " REDIS_CLI "-n 1 SET n $((n + 1))", 1,
		    CLI_NOT_SERIALIZABLE);
	check_shell("", REDIS_CLI "-n 1 INCR n", 0, CLI_SERIALIZABLE);
}

/* It does not wait for that the one before is closed. */
Test(awkward, a_pause_between_two_connections_does_not_matter)
{
	check_shell("",
		    DRAWS REDIS_CLI
		    "-n 1 INCR n >/dev/null; [ $((drawn % 2)) = 0 ] || sleep 1; " REDIS_CLI
		    "-n 1 INCR n >/dev/null",
		    0, CLI_SERIALIZABLE);
}

/* Who of them comes first is chance. */
Test(awkward, children_at_once_are_put_in_order)
{
	check_shell("--data-only", CLI "INCR one & " CLI "INCR two & " CLI "INCR three & wait", 0,
		    CLI_SERIALIZABLE);
}

/* What is drawn before a reply has come is sent behind any: the lists of both orders, and of
 * clients that both hear 0, are an identifier of each. */
Test(awkward, a_random_value_is_the_same_behind_other_replies)
{
#define IDENTIFIES "id=$(cat /proc/sys/kernel/random/uuid)\n"
	check_shell("",
		    IDENTIFIES CLI "LLEN q >/dev/null; " CLI
				   "RPUSH q $id >/dev/null; echo pushed $id",
		    0, CLI_SERIALIZABLE);
	check_shell("", IDENTIFIES CLI "ZCARD z >/dev/null; " CLI "ZADD z 1 $id >/dev/null", 0,
		    CLI_SERIALIZABLE);
	check_shell("",
		    IDENTIFIES "before=$(" CLI "GET last)\n" CLI "SET last $id; " CLI
			       "HSET before $id \"$before\"",
		    1, "wrong_final_states: 4");
}

/* A program whose first lines are left out here. */
static void check_raw(const char *text, int code, const char *part)
{
	cli_write("program",
		  "import os, random, time\nimport raw\nr = raw.Connection()\n"
		  "def token():\n    return os.urandom(16).hex()\n%s",
		  text);
	cr_assert_eq(cli_run(CHECK "-- " CLI_PYTHON "program 2>&1"), code, "%s: %s", text,
		     cli_output);
	cli_assert_outcome(code, part);
}

/* So many times a token is written with the next number, and drawn anew whenever that is refused. */
static void check_watch(int times)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "for i in range(%d):\n"
		 "    while True:\n"
		 "        r('WATCH', 'n')\n"
		 "        n = int(r('GET', 'n') or 0)\n"
		 "        r('MULTI')\n"
		 "        r('SET', 'n', n + 1)\n"
		 "        r('SET', 'by', token())\n"
		 "        if r('EXEC'):\n"
		 "            break\n",
		 times);
	check_raw(text, 0, CLI_SERIALIZABLE);
}

/* Behind 32 runs the final states so far are judged: some of these values only one run has sent
 * then, and that they are random is not known. */
Test(awkward, what_may_be_random_makes_no_early_finding)
{
	check_watch(2);
}

/* Whoever is refused draws once more, and what he drew first is in no data. */
Test(awkward, a_random_value_of_a_later_attempt_is_the_same_as_of_the_first)
{
	check_watch(1);
}

/* What another client has instead of a time of day is one, too. */
Test(awkward, a_time_of_day_behind_random_pauses_is_one_of_any_client)
{
	check_raw("while not r('SET', 'lock', 1, 'NX'):\n"
		  "    time.sleep(random.SystemRandom().random())\n"
		  "r('SET', 'at', int(time.time() * 1000))\n"
		  "r('INCR', 'n')\n"
		  "r('DEL', 'lock')\n",
		  0, CLI_SERIALIZABLE);
}

/* B keeps the first of two values that A draws: GET y is no value that an order leaves. */
Test(awkward, two_random_values_of_one_history_are_two)
{
	cr_assert_eq(cli_run(CHECK
			     "--client A='for i in 1 2; do " CLI
			     "SET x $(cat /proc/sys/kernel/random/uuid); done' --client B='v=$(" CLI
			     "GET x); test -z \"$v\" || " CLI "SET y $v >/dev/null; " CLI
			     "DEL x >/dev/null' --all 2>&1"),
		     1, "%s", cli_output);
	cli_assert_json(".wrong_final_states == 3 and .final_states == 5");
}

/* A client enters a job twice, under a random name, `finds` out how many there are, and takes it
 * out again. */
static void check_jobs(const char *options, const char *finds, int code, const char *part)
{
	cli_write("jobs.py",
		  "import raw\n"
		  "r = raw.Connection()\n"
		  "for i in range(2):\n"
		  "    me = raw.token()\n"
		  "    n = r('RPUSH', 'jobs', me)\n"
		  "    %s\n"
		  "    r('LREM', 'jobs', 0, me)\n",
		  finds);
	cr_assert_eq(cli_runf(CHECK "%s -- " CLI_PYTHON "jobs.py 2>&1", options), code, "%s: %s",
		     finds, cli_output);
	cli_assert_outcome(code, part);
}

/* What is drawn behind different replies is the same: how many have to be tried does not grow. */
Test(awkward, random_values_are_called_by_the_order_in_which_they_are_drawn, .timeout = 600)
{
	check_jobs("--no-cache --all", "if r('LLEN', 'jobs') > 1: r('INCR', 'busy')", 1,
		   "wrong_final_states: 4");
}

/* What stands in the place of a random value may be none: both clients push the same. */
Test(awkward, what_is_taken_for_random_and_is_not_is_noticed, .timeout = 600)
{
	check_jobs("--no-cache",
		   "same = '%032x' % (0x9e3779b97f4a7c15f39cc0605cedc834 * n % 2**128)\n"
		   "    if n > 1: r('RPUSH', 'jobs', same); r('LREM', 'jobs', 1, same)",
		   0, CLI_SERIALIZABLE);
}

/* ---- Commands ------------------------------------------------------------------------ */

/* Only who is told NOSCRIPT prints anything. */
Test(awkward, a_script_is_sent_by_its_digest)
{
	check_shell(
		"--data-only",
		"sha=$(printf %s \"return redis.call('INCR', KEYS[1])\" | sha1sum | cut -d' ' -f1)\n"
		"case $(" CLI "EVALSHA $sha 1 n) in NOSCRIPT*) " CLI
		"EVAL \"return redis.call('INCR', KEYS[1])\" 1 n >/dev/null ;; esac",
		0, CLI_SERIALIZABLE);
}

Test(awkward, a_consumer_blocks_until_there_is_a_job)
{
	cr_assert_eq(cli_run(CHECK "--client P='" CLI "RPUSH q job' --client C='" CLI
				   "BLPOP q 0; " CLI "INCR n' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--client P='" CLI "RPUSH q job' --client C='" CLI
				   "BLPOP q 0' --client D='" CLI "BLPOP q 0' 2>&1"),
		     1, "%s", cli_output);
	cli_assert_property("search.verdict", "no_progress");
}

Test(awkward, a_stream_gives_its_own_numbers)
{
	check_shell("", "id=$(" CLI "XADD log '*' who me)\n" CLI "HSET last $REDRACE_CLIENT $id", 0,
		    CLI_SERIALIZABLE);
}

Test(awkward, a_lease_may_be_read_back)
{
	check_shell("", CLI "SET lease x PX 5000\n" CLI "SET left $(" CLI "PTTL lease)", 0,
		    CLI_SERIALIZABLE);
}

Test(awkward, a_random_pause_costs_nothing)
{
	check_shell("",
		    "for i in 1 2 3; do\n"
		    "[ \"$(" CLI "SET lock me NX PX 10000)\" = OK ] && break\n"
		    "sleep $((RANDOM % 10)).$RANDOM\n[ $i = 3 ] && exit 1\ndone\n"
		    "n=$(" CLI "GET n); " CLI "SET n $((n + 1)); " CLI "DEL lock",
		    0, CLI_SERIALIZABLE);
}

/* ---- Ends ----------------------------------------------------------------------------- */

Test(awkward, who_kills_itself_has_not_succeeded)
{
	check_shell("", CLI "INCR n\nkill -9 $$", 2, "refused.0.signal: 9");
}

/* Else a mistyped option would be called serializable. */
Test(awkward, a_client_that_always_fails_is_named_with_what_it_printed)
{
	cr_assert_eq(cli_run(CHECK "--client A='" CLI
				   "INCR n' --client B='cat /no/such/file' 2>&1"),
		     2, "%s", cli_output);
	cli_assert_json("[.failing[] | [.client, .exit_status]] == [[\"B\", 1]] and "
			"(.failing[0].output | contains(\"/no/such/file\"))");
	cli_assert_names("/no/such/file");
}

/* No data differ: that all have succeeded is what does. */
Test(awkward, two_may_succeed_where_one_alone_can)
{
	check_shell("", "[ -z \"$(" CLI "GET seat)\" ] || exit 1\n" CLI "SET seat $REDRACE_CLIENT",
		    1, "search.verdict: not_serializable");
}

/* It is no fault of the program. */
Test(awkward, without_proc_it_says_so)
{
	if (cli_run("unshare -m mount -t tmpfs none /proc 2>&1") != 0)
		cli_skip("no mounts of one's own");
	cr_assert_eq(cli_run("unshare -m sh -c 'mount -t tmpfs none /proc && "
			     "exec $REDRACE check -- true' 2>&1"),
		     RR_EXIT_INTERNAL, "%s", cli_output);
	cli_assert_names("/proc");
}

/* SPDX-License-Identifier: MIT */
/* redrace check with faults: public patterns, right ones and wrong ones, and what a finding is. */
#include "../cli.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#define R CLI
#define QUIET " >/dev/null\n"
#define SAME "[ \"$(" R

/* A program in shell; the exit code of the check, and the name of what is found. */
struct pattern {
	char name[40], options[80], init[120], program[700];
	int code;
	char anomaly[40];
};

#define COUNT "v=$(" R "GET c); " R "SET c $((v + 1))" QUIET
#define COMPARE                                                                            \
	R "EVAL \"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', " \
	  "KEYS[1]) end\" 1 lock $REDRACE_CLIENT" QUIET
#define TAKE "j=$(" R "LMOVE q p RIGHT LEFT); [ \"$j\" ] || exit 0\n"
#define RECOVER "while [ \"$(" R "LMOVE p q RIGHT RIGHT)\" ]; do :; done\n"
#define WORK R "SET result:$j done" QUIET R "LREM p 1 $j" QUIET
#define SLOT                                                                    \
	R "ZADD sem $now $me" QUIET "[ \"$(" R "ZRANK sem $me)\" = 0 ] || { " R \
	  "ZREM sem $me; exit 1; }\n" R "INCR n" QUIET R "ZREM sem $me" QUIET
#define PENDING                                                           \
	"XGROUP CREATE s g 0 MKSTREAM\nXADD s 1-1 f v\nXREADGROUP GROUP " \
	"g gone STREAMS s >\nXCLAIM s g gone 0 1-1 IDLE 700000"
#define CLAIMED "[ \"$id\" ] || exit 0\n" R "XACK s g $id" QUIET
#define NAMED "now=$(date +%s); me=$REDRACE_CLIENT-$now\n"

#define INVISIBLE(until)                                                                           \
	"j=$(" R "EVAL \"local j = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], "         \
	"'LIMIT', 0, 1) if #j == 0 then return '' end redis.call('ZADD', KEYS[1], ARGV[2], "       \
	"j[1]) return j[1]\" 1 q $now " until "); [ \"$j\" ] || exit 0\n" R "SADD done $j" QUIET R \
	"ZREM q $j" QUIET

static const struct pattern patterns[] = {
	{ "a lock with a lease", "--crashes 1", "",
	  SAME "SET lock $REDRACE_CLIENT NX EX 10)\" = OK ] || exit 1\n" COUNT COMPARE, 0, "" },
	{ "a lock that gets its lease later", "--crashes 1", "",
	  SAME "SETNX lock 1)\" = 1 ] || exit 1\n" R "EXPIRE lock 60" QUIET COUNT R
	       "DEL lock" QUIET,
	  1, "left without TTL" },
	{ "a lock that is kept", "--crashes 1", "",
	  SAME "SETNX lock 1)\" = 1 ] || exit 1\n" R "EXPIRE lock 60" QUIET, 1,
	  "left without TTL" },
	{ "a limit", "--crashes 1", "",
	  "n=$(" R "INCR k)\n[ $n != 1 ] || " R "EXPIRE k 60" QUIET "[ $n -le 5 ]", 1,
	  "left without TTL" },
	{ "a limit that has a lease at once", "--crashes 1", "",
	  R "SET k 0 NX EX 60" QUIET R "INCR k" QUIET, 0, "" },
	{ "half a profile", "--crashes 1", "",
	  R "HSET p:$REDRACE_CLIENT name x" QUIET R "HSET p:$REDRACE_CLIENT mail y" QUIET, 1,
	  "half done" },
	{ "half a profile, allowed", "--crashes 1 --allow-partial", "",
	  R "HSET p:$REDRACE_CLIENT name x" QUIET R "HSET p:$REDRACE_CLIENT mail y" QUIET, 0, "" },
	{ "a whole profile", "--crashes 1", "", R "HSET p:$REDRACE_CLIENT name x mail y" QUIET, 0,
	  "" },
	{ "a queue with recovery", "--crashes 1 --clients 1", "RPUSH q j", RECOVER TAKE WORK, 0,
	  "" },
	{ "a queue without", "--crashes 1 --clients 1", "RPUSH q j", TAKE WORK, 1,
	  "taken and not done" },
	{ "a job that is taken", "--crashes 1", "RPUSH q j",
	  "j=$(" R "LPOP q); [ \"$j\" ] || exit 0\n" R "SET result done" QUIET, 1,
	  "taken and not done" },
	{ "an idempotency key", "--crashes 1 --restart", "",
	  SAME "SET idem 1 NX EX 60)\" = OK ] || exit 1\n" R "INCR balance" QUIET, 1, "half done" },
	{ "a repeat that counts twice", "--crashes 1 --restart --clients 1", "",
	  R "INCR balance" QUIET R "SET paid 1" QUIET, 1, "done twice when tried again" },
	{ "a repeat, allowed", "--crashes 1 --restart --allow-repeats --clients 1", "",
	  R "INCR balance" QUIET, 0, "" },
	{ "a repeat that may be", "--crashes 1 --restart", "",
	  R "SADD paid $REDRACE_CLIENT" QUIET R "SET last:$REDRACE_CLIENT 1" QUIET, 0, "" },
	{ "a slot that stays taken", "--crashes 1", "", NAMED SLOT, 1, "left without TTL" },
	{ "a slot that is given back", "--crashes 1", "",
	  NAMED R "ZREMRANGEBYSCORE sem -inf $((now - 10))" QUIET SLOT, 0, "" },
	{ "a queue with a visibility time-out", "--crashes 1", "ZADD q 0 job1 1 job2",
	  "now=$(date +%s)\n" INVISIBLE("$((now + 30))"), 0, "" },
	{ "a queue whose jobs stay invisible", "--crashes 1", "ZADD q 0 job1 1 job2",
	  "now=$(date +%s)\n" INVISIBLE("inf"), 1, "taken and not done" },
	{ "a job's owner in a hash", "--crashes 1", "HSET job until 0",
	  "now=$(date +%s)\n[ \"$(" R "EVAL \"if tonumber(redis.call('HGET', KEYS[1], 'until') or "
	  "'inf') > tonumber(ARGV[1]) then return 0 end return 1 + redis.call('HSET', KEYS[1], "
	  "'until', ARGV[1] + 30)\" 1 job $now)\" = 1 ] || exit 0\n" R "SADD done job" QUIET R
	  "DEL job" QUIET,
	  0, "" },
	{ "an entry that is claimed", "--crashes 1", PENDING,
	  "id=$(" R "XAUTOCLAIM s g $REDRACE_CLIENT 600000 0 | sed -n 2p)\n" CLAIMED, 0, "" },
	{ "an entry that is claimed of one owner", "--crashes 1", PENDING,
	  "id=$(" R "XPENDING s g - + 1 gone | sed -n 1p)\n[ \"$id\" ] && id=$(" R
	  "XCLAIM s g $REDRACE_CLIENT 600000 $id JUSTID)\n" CLAIMED,
	  1, "left without TTL" },
	{ "an entry that is struck before its work", "--crashes 1", PENDING,
	  "id=$(" R "XAUTOCLAIM s g worker 600000 0 | sed -n 2p)\n" CLAIMED R "INCR sent" QUIET, 1,
	  "taken and not done" },
	{ "a limit that has expired", "--expiries 1", "",
	  SAME "EXISTS k)\" = 1 ] || " R "SET k 0 NX EX 60" QUIET R "INCR k" QUIET, 1,
	  "left without TTL" },
	{ "a lost reply", "--lost-replies 1", "", R "INCR a 2>&1 | grep -q [0-9]$ || " R "INCR a",
	  1, "" },
	{ "a lost reply of a lock", "--lost-replies 1", "",
	  SAME "SET lock $REDRACE_CLIENT NX EX 10)\" = OK ] || exit 1\n" R
	       "INCR c || exit 1\n" COMPARE,
	  0, "" },
	{ "a lost reply of a lock without a lease", "--lost-replies 1", "",
	  SAME "SET lock $REDRACE_CLIENT NX)\" = OK ] || exit 1\n" R "INCR c || exit 1\n" COMPARE,
	  1, "left without TTL" },
	{ "a lost reply, told as a repeat", "--lost-replies 1", "",
	  "v=$(" R "SADD a $REDRACE_CLIENT 2>&1); case $v in [01]) ;; *) v=$(" R
	  "SADD a $REDRACE_CLIENT);; esac; echo $v",
	  0, "" },
};

/* Locks that are released, renewed or overwritten by another client than their holder. */
struct lock {
	char name[40], options[80], program[600];
	int code;
	char found[60];
};

#define TAKEN SAME "SET lock $REDRACE_CLIENT NX EX 10)\" = OK ]"
#define DONE R "RPUSH done x" QUIET
#define OTHERS "search.verdict: foreign_release"

#define MANY(first, last)                                                          \
	"EVAL \"if redis.call('EXISTS', 'l" first "') == 1 then return 0 end "     \
	"for i = " first ", " last " do redis.call('SET', 'l' .. i, ARGV[1]) end " \
	"return 1\" 0 $REDRACE_CLIENT"
#define NONE(first, last) \
	"EVAL \"for i = " first ", " last " do redis.call('DEL', 'l' .. i) end\" 0"

static const struct lock locks[] = {
	{ "DEL of what has expired", "--expiries 1", TAKEN " || exit 1\n" DONE R "DEL lock" QUIET,
	  1, OTHERS },
	{ "compare and delete", "--expiries 1", TAKEN " || exit 1\n" DONE COMPARE, 0, "" },
	{ "released by who was refused", "", TAKEN " && " DONE R "DEL lock" QUIET, 1, "" },
	{ "renewed by another", "--expiries 1",
	  TAKEN " || exit 1\n" R "EXPIRE lock 20" QUIET COMPARE, 1, OTHERS },
	{ "overwritten by who has lost it", "--expiries 1",
	  TAKEN " || exit 1\n" R "SET lock $REDRACE_CLIENT XX KEEPTTL" QUIET COMPARE, 1, OTHERS },
	{ "removed by who was refused", "--refused 1",
	  TAKEN " || { " R "DEL lock >/dev/null; exit 1; }\n" DONE COMPARE, 1, OTHERS },
	{ "renewed by who was refused", "--refused 1",
	  TAKEN " || { " R "EXPIRE lock 60 >/dev/null; exit 1; }\n" DONE COMPARE, 1, OTHERS },
	{ "no lock: a count that is taken back", "--refused 1",
	  SAME "INCR busy)\" = 1 ] || { " R "DECR busy >/dev/null; exit 1; }\n" DONE R
	       "DECR busy" QUIET,
	  0, "" },
	{ "no lock: nothing else is done with it", "",
	  R "SET note $REDRACE_CLIENT" QUIET R "DEL note" QUIET, 0, "" },
	{ "no lock: the last one removes it", "",
	  R "SADD busy $REDRACE_CLIENT" QUIET R "SREM busy $REDRACE_CLIENT" QUIET, 0, "" },
	{ "16 locks at once", "",
	  SAME MANY("0", "15") ")\" = 1 ] || exit 1\n" DONE R NONE("0", "15") QUIET, 0, "" },
	{ "17 locks: not all are followed", "",
	  SAME MANY("0", "16") ")\" = 1 ] || exit 1\n" DONE R NONE("0", "16") QUIET, 2,
	  "search.limit: left_out" },
	{ "no lock: it is never removed", "--expiries 1",
	  SAME "SET once 1 NX EX 10)\" = OK ] || exit 1\n" DONE, 0, "" },
};

TestSuite(faults_check, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

ParameterizedTestParameters(faults_check, patterns)
{
	static struct pattern copies[sizeof(patterns) / sizeof(patterns[0])];

	memcpy(copies, patterns, sizeof(patterns));
	return cr_make_param_array(struct pattern, copies, sizeof(patterns) / sizeof(patterns[0]));
}

ParameterizedTest(struct pattern *pattern, faults_check, patterns)
{
	cli_write("program", "%s", pattern->program);
	cli_write("init", "%s\n", pattern->init);
	cr_assert_eq(
		cli_runf("$REDRACE check --audit 2 --no-cache --skeptic off %s --init $HERE/init "
			 "-o $HERE/result.json -- sh $HERE/program 2>&1",
			 pattern->options),
		pattern->code, "%s: %s", pattern->name, cli_output);
	if (pattern->anomaly[0])
		cli_assert_property("anomaly", pattern->anomaly);
}

ParameterizedTestParameters(faults_check, locks)
{
	static struct lock copies[sizeof(locks) / sizeof(locks[0])];

	memcpy(copies, locks, sizeof(locks));
	return cr_make_param_array(struct lock, copies, sizeof(locks) / sizeof(locks[0]));
}

ParameterizedTest(struct lock *lock, faults_check, locks)
{
	cli_write("program", "%s", lock->program);
	cr_assert_eq(
		cli_runf("$REDRACE check --audit 2 --no-cache --skeptic off %s -o $HERE/result.json -- "
			 "sh $HERE/program 2>&1",
			 lock->options),
		lock->code, "%s: %s", lock->name, cli_output);
	if (lock->found[0])
		cli_assert_outcome(lock->code, lock->found);
}

/* The race is there without the crash, so that is how it is shown. */
Test(faults_check, a_fault_is_shown_only_if_it_matters)
{
	cli_write("program", COUNT);
	cr_assert_eq(
		cli_run("$REDRACE check --clients 3 --crashes 1 --expiries 1 --save $HERE/x.race "
			"-- sh $HERE/program 2>&1"),
		1, "%s", cli_output);
	cr_assert_neq(cli_run("grep -E '^# schedule .*(crash|whole)' $HERE/x.race"), 0, "%s",
		      cli_output);
}

/* The options by which it was found are those of the file. */
Test(faults_check, what_is_replayed_is_judged_as_it_was_found)
{
	cli_write("program", R "INCR balance" QUIET R "SET paid 1" QUIET);
	cr_assert_eq(cli_run("$REDRACE check --clients 1 --crashes 1 --restart --save $HERE/x.race "
			     "-- sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
	cr_assert_eq(
		cli_run("$REDRACE check --replay $HERE/x.race -o $HERE/result.json -- sh $HERE/program 2>&1"),
		1, "%s", cli_output);
	cli_assert_property("kinds", "[\"done_twice\"]");
}

/* A suite of before goes on working, and says what it need not say. */
Test(faults_check, a_key_that_is_gone_is_read)
{
	cli_write("redrace.yaml", "checks: {a: {command: '" R "INCR a', atomic: true}}\n");
	cr_assert_eq(cli_run("$REDRACE check --suite $HERE/redrace.yaml 2>&1"), 0, "%s",
		     cli_output);
	cli_assert_names("redrace.yaml:1: a: 'atomic'");
}

Test(faults_check, options_that_do_not_go_together_are_refused)
{
	cli_assert_one_line("$REDRACE check --atomic -- true 2>&1", 64, "--atomic");
	cli_assert_one_line("$REDRACE check --allow-repeats -- true 2>&1", 64, "--restart");
	cli_assert_one_line("$REDRACE check --crashes 1 --restart --allow-partial -- true 2>&1", 64,
			    "--allow-partial");
}

/* SPDX-License-Identifier: MIT */
/* What redrace check keeps of programs for the next check. Runs are counted: three tell what
 * two counters do, two play the finding, and two a serial order; with what was kept one is made
 * again, and two play the finding. */
#include "../cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cache, .init = cli_setup, .fini = cli_teardown);

#define CHECK "XDG_CACHE_HOME=$HERE/cache $REDRACE check --stats --audit 2 "
#define CLI "redis-cli -p $REDIS_PORT "
#define COUNT "v=$(" CLI "GET counter); " CLI "SET counter $((v + 1))"
#define LEARNED "5 runs of the program, "
#define KEPT "2 runs of the program beside those of another check, "

static void check_program(const char *options, int code, const char *runs)
{
	cr_assert_eq(cli_runf(CHECK "%s -- sh $HERE/program 2>&1", options), code, "%s",
		     cli_output);
	cli_assert_prints(runs);
}

static void check_counter(const char *options, const char *runs)
{
	check_program(options, 1, runs);
	cli_assert_prints("not serializable (1 of 2 final states; 2 clients, ");
	cli_assert_prints("In the end there is\n  counter = \"1\"\n");
}

/* Counts in one command, and nothing that was kept is used, as is said; then it is. */
static void check_learned_anew(const char *why)
{
	check_program("", 0, "runs of the program, ");
	cli_assert_prints(why);
	check_program("", 0, "beside those of another check, ");
}

Test(cache, second_check_runs_programs_only_to_play_them)
{
	cli_write("program", "%s\n", COUNT);
	check_counter("", LEARNED);
	cli_assert_prints("nothing from another check (nothing was kept before)");
	check_counter("", KEPT);
	cli_assert_prints("5 histories from another check, 0 of them run again\n");
	check_counter("", KEPT);
}

/* Neither does anything that is seen, nor is anything played: it is run once more all the same. */
Test(cache, a_program_that_does_nothing_is_run_again)
{
	cli_write("program", "echo there is no library; exit 1\n");
	check_program("", 2, "runs of the program, ");
	check_program("", 2, "1 run of the program beside those of another check, ");
}

/* Other clients are other programs. Other final data are asked of the same ones, and all is
 * played once more. */
Test(cache, another_question_is_asked_of_what_is_known)
{
	cli_write("program", "%s\n", CLI "INCR counter");
	check_program("", 0, "runs of the program, ");
	check_program("", 0, "2 runs of the program beside those of another check, ");
	check_program("--final 'GET counter' 2", 0,
		      "6 runs of the program beside those of another check, ");
	check_program("--clients 3", 0, "runs of the program, ");
	cli_assert_prints("nothing from another check (nothing was kept before)");
}

Test(cache, random_values_are_kept)
{
	cli_write("program", "read token </proc/sys/kernel/random/uuid; %s\n",
		  CLI "SET key $token NX; " CLI "GET key");
	check_program("", 0, "runs of the program, ");
	check_program("", 0, "2 runs of the program beside those of another check, ");
}

/* That servers know a script from then on changes nothing of what the program has heard. */
Test(cache, who_sends_a_script_in_full_is_not_learned_anew)
{
	cli_write("program", "%s\n",
		  "s='return 1'; sha=$(printf %s \"$s\" | sha1sum | cut -d ' ' -f 1)\n"
		  "case $(" CLI "EVALSHA $sha 0) in NOSCRIPT*) " CLI "EVAL \"$s\" 0;; esac\n" CLI
		  "INCR n >/dev/null");
	check_program("--data-only", 0, "runs of the program, ");
	check_program("--data-only", 0, "3 runs of the program beside those of another check, ");
}

/* ---- Files that change ---------------------------------------------------------------- */

Test(cache, changed_program_is_learned_anew)
{
	cli_write("program", "%s\n", COUNT);
	check_counter("", LEARNED);
	cli_write("program", "%s\n", CLI "INCR counter");
	check_learned_anew("/program has changed)");
}

Test(cache, touched_program_is_the_same)
{
	cli_write("program", "%s\n", COUNT);
	check_counter("", LEARNED);
	cr_assert_eq(cli_run("touch $HERE/program && cp -p $HERE/program $HERE/other && "
			     "mv $HERE/other $HERE/program"),
		     0);
	check_counter("", KEPT);
}

/* Also one that was looked for in vain. */
Test(cache, files_that_a_program_reads_count)
{
	cli_write("package", "count() { %s; }\n", COUNT);
	cli_write("program", ". $HERE/package; cat $HERE/settings 2>/dev/null; count\n");
	check_counter("", LEARNED);
	check_counter("", KEPT);
	cli_write("package", "count() { %s; } # changed\n", COUNT);
	check_counter("", LEARNED);
	cli_assert_prints("/package has changed)");
	cli_write("settings", "verbose\n");
	check_counter("", LEARNED);
	cli_assert_prints("/settings has changed)");
	check_counter("", KEPT);
}

Test(cache, files_that_a_program_writes_do_not_count)
{
	cli_write("program", "%s; echo done >>$HERE/log; cat $HERE/log >$HERE/copy\n", COUNT);
	check_counter("", LEARNED);
	check_counter("", KEPT);
}

/* What a program read and then changed is not what another one will read. */
Test(cache, program_that_changes_what_it_reads_is_not_kept)
{
	cli_write("state", "0\n");
	cli_write("program", "read n <$HERE/state; echo $((n + 1)) >$HERE/state; %s\n", COUNT);
	check_counter("", LEARNED);
	cli_assert_prints("/state has changed meanwhile)");
	check_counter("", LEARNED);
}

/* It looks for a file without opening it. */
Test(cache, program_that_does_something_else_is_learned_anew)
{
	cli_write("program", "[ -e $HERE/flag ] && exec %s\n%s\n", CLI "INCR counter", COUNT);
	check_counter("", LEARNED);
	cli_write("flag", "\n");
	check_learned_anew("The program does something else than it did in another check");
}

/* ---- The file itself ------------------------------------------------------------------ */

Test(cache, only_its_owner_may_read_it)
{
	cli_write("program", "%s\n", COUNT);
	check_counter("", LEARNED);
	cr_assert_eq(cli_run("stat -c %a $HERE/cache/redrace $HERE/cache/redrace/*.check"), 0);
	cr_assert_str_eq(cli_output, "700\n600\n");
}

Test(cache, broken_file_is_not_used)
{
	static const char *const ways[] = { "truncate -s -1", "truncate -s 20", "truncate -s 0",
					    "sed -i s/counter/cOunter/" };

	cli_write("program", "%s\n", COUNT);
	check_counter("", LEARNED);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		cr_assert_eq(cli_runf("%s $HERE/cache/redrace/*.check", ways[i]), 0);
		check_counter("", LEARNED);
		cli_assert_prints("  What was kept of the program is broken, and was not used.\n");
	}
	check_counter("", KEPT);
}

Test(cache, two_checks_at_once_keep_one_file)
{
	cli_write("program", "%s\n", COUNT);
	cr_assert_eq(cli_run(CHECK "-- sh $HERE/program >$HERE/one 2>&1 & " CHECK
				   "-- sh $HERE/program >$HERE/two 2>&1; wait; "
				   "cat $HERE/one $HERE/two; ls $HERE/cache/redrace | wc -l"),
		     0, "%s", cli_output);
	cr_assert_str_eq(cli_output + strlen(cli_output) - 2, "1\n", "%s", cli_output);
	check_counter("", KEPT);
}

Test(cache, home_that_cannot_be_written_is_no_error)
{
	cli_write("program", "%s\n", COUNT);
	cli_write("file", "\n");
	cr_assert_eq(cli_run("XDG_CACHE_HOME=$HERE/file $REDRACE check --stats -- "
			     "sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
	cli_assert_prints(LEARNED);
	cli_assert_prints(".check cannot be written)");
	cr_assert_eq(cli_run("env -u XDG_CACHE_HOME -u HOME $REDRACE check --stats -- "
			     "sh $HERE/program 2>&1"),
		     1, "%s", cli_output);
	cli_assert_prints("(there is no HOME)");
}

Test(cache, no_cache_neither_reads_nor_writes)
{
	cli_write("program", "%s\n", COUNT);
	check_counter("--no-cache", LEARNED);
	cr_assert_neq(cli_run("test -e $HERE/cache"), 0);
	check_counter("", LEARNED);
	check_counter("--no-cache", LEARNED);
}

/* What was answered so far is a part of each of its states, and a finding in what is answered would
 * be a yes without it. */
Test(cache, nothing_is_kept_of_an_app, .timeout = 600)
{
	cr_assert_eq(
		cli_run("cc -o $HERE/shop tests/check/programs/shop.c -lhiredis -pthread 2>&1 && "
			"cc -o $HERE/ask tests/check/programs/ask.c 2>&1"),
		0, "%s", cli_output);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(cli_run(CHECK "--app $HERE/shop --request '$HERE/ask {app}/note' "
					   "--request '$HERE/ask {app}/noted' 2>&1"),
			     1, "%s", cli_output);
		cli_assert_prints("nothing from another check (nothing is kept of an app)");
	}
	cr_assert_neq(cli_run("ls $HERE/cache/redrace/*.check"), 0, "%s", cli_output);
}

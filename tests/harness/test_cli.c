/* SPDX-License-Identifier: MIT */
/* The program as a user meets it: exit codes, messages, what it leaves behind. */
#include "../support.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A directory of the test's own: TMPDIR and results go there. */
static char home[] = "/tmp/rr-test-XXXXXX";

static void setup(void)
{
	cr_assert_not_null(mkdtemp(home));
	setenv("TMPDIR", home, 1);
	setenv("HERE", home, 1);
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", home);
	if (system(command) != 0)
		return;
}

TestSuite(cli, .init = setup, .fini = teardown);

static char output[16384];

static int run(const char *command)
{
	return support_shell(command, output, sizeof(output));
}

/* Exactly one line, and it holds `part`. */
static void assert_one_line(const char *command, int code, const char *part)
{
	const int got = run(command);
	const char *end = strchr(output, '\n');

	cr_assert_eq(got, code, "%s: exit %d, expected %d: %s", command, got,
		     code, output);
	cr_assert_not_null(strstr(output, part), "%s said: %s", command,
			   output);
	cr_assert(end && end[1] == '\0', "%s said more than a line: %s",
		  command, output);
}

Test(cli, wrong_usage_is_64_in_one_line)
{
	static const struct {
		const char *arguments, *part;
	} wrong[] = {
		{ "bench nonne", "did you mean 'none'?" },
		{ "bench xyzzyxyzzy", "'redrace list' shows them" },
		{ "bnech", "did you mean 'bench'?" },
		{ "bench --threads 0", "from 1 to" },
		{ "bench --threads -3", "from 1 to" },
		{ "bench --threads 2,x", "'x' is not a whole number" },
		{ "bench --threads ,", "--threads" },
		{ "bench --threads 99999999999999999999", "from 1 to" },
		{ "bench --processes 200 --threads 200", "clients" },
		{ "bench --increments 0", "from 1 to" },
		{ "bench --repeats 1.5", "from 1 to" },
		{ "bench --ttl-ms 1500 set-nx-ex", "multiple of 1000" },
		{ "bench --persistence sometimes", "--persistence" },
		{ "bench --pin here", "--pin" },
		{ "bench --redis localhost", "expected redis://" },
		{ "bench --redis ,", "no server" },
		{ "bench --redis redis://a --pin same", "--pin same" },
		{ "bench --redis redis://a,redis://b,redis://b", "the same" },
		{ "bench --redis redis://a --persistence rdb",
		  "not configured" },
		{ "bench --out ''", "is empty" },
		{ "bench --redis-server ''", "is empty" },
		{ "list all", "takes no arguments" },
		{ "demo now", "takes no arguments" },
	};
	char command[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command), "$REDRACE %s 2>&1",
			 wrong[i].arguments);
		assert_one_line(command, RR_EXIT_USAGE, wrong[i].part);
	}
}

Test(cli, more_threads_than_open_files_is_64)
{
	assert_one_line("ulimit -n 100; $REDRACE bench none --threads 200 2>&1",
			RR_EXIT_USAGE, "open files");
}

Test(cli, missing_redis_is_69_in_one_line)
{
	assert_one_line(
		"$REDRACE bench none --redis-server /no/such/program --out $HERE/r 2>&1",
		RR_EXIT_REDIS, "cannot start a server");
	assert_one_line(
		"$REDRACE bench none --redis-server false --out $HERE/r 2>&1",
		RR_EXIT_REDIS, "exited with status 1");
	assert_one_line(
		"R=$(readlink -f $REDRACE); PATH=/nowhere $R bench none --out $HERE/r 2>&1",
		RR_EXIT_REDIS, "install redis-server");
	assert_one_line(
		"$REDRACE bench none --redis unix://$HERE/none --out $HERE/r 2>&1",
		RR_EXIT_REDIS, "No such file");
	assert_one_line(
		"$REDRACE bench none --redis redis://127.0.0.1:1 --out $HERE/r 2>&1",
		RR_EXIT_REDIS, "Connection refused");
}

Test(cli, unwritable_results_are_74)
{
	assert_one_line("$REDRACE bench none --out /proc/here 2>&1",
			RR_EXIT_FILE, "cannot create");
	assert_one_line("$REDRACE list 2>&1 >/dev/full", RR_EXIT_FILE,
			"standard output");
	assert_one_line("$REDRACE bench incr --increments 100 --out $HERE/a 2>&1 >&-",
			RR_EXIT_FILE, "standard output");
	cr_assert_eq(run("grep -c increments $HERE/a/runs.csv"), 0);
	cr_assert_str_eq(output, "1\n", "the table went into the results");
}

Test(cli, full_disk_is_74_and_leaves_no_half_row)
{
	if (run("mkdir $HERE/full && mount -t tmpfs -o size=16k tmpfs $HERE/full 2>&1") !=
	    0)
		cr_skip("cannot mount a small tmpfs here");
	cr_assert_eq(run("head -c 100000 /dev/zero >$HERE/full/fill 2>/dev/null;"
			 "$REDRACE bench none --increments 100 --out $HERE/full/r 2>&1"),
		     RR_EXIT_FILE, "%s", output);
	cr_assert_not_null(strstr(output, "No space left"), "%s", output);
	run("find $HERE/full -name '*.[0-9]*'; tail -c 1 $HERE/full/r/runs.csv | od -c | head -n 1");
	cr_assert_null(strstr(output, "csv."), "left behind: %s", output);
	run("umount $HERE/full");
}

Test(cli, lossy_loses_and_exact_is_exact)
{
	cr_assert_eq(run("$REDRACE bench none --increments 20000 --out $HERE/a"),
		     0, "%s", output);
	cr_assert_not_null(strstr(output, "lossy, as expected"));
	cr_assert_eq(run("$REDRACE bench local-mutex --increments 5000 --out $HERE/b"),
		     0);
	cr_assert_not_null(strstr(output, "exact, as expected"));
	cr_assert_eq(run("$REDRACE bench local-mutex --processes 2 --threads 2 --increments 20000 --out $HERE/c"),
		     0);
	cr_assert_not_null(strstr(output, "lossy, as expected"));
}

Test(cli, lossy_that_lost_nothing_is_2)
{
	cr_assert_eq(run("$REDRACE bench none --threads 2 --increments 1 --out $HERE/a"),
		     RR_EXIT_INCONCLUSIVE, "%s", output);
}

Test(cli, hold_longer_than_the_lease_is_2)
{
	cr_assert_eq(run("$REDRACE bench lua-delifequals --ttl-ms 50 --hold-us 60000 --increments 4 --warmup 0 --out $HERE/a"),
		     RR_EXIT_INCONCLUSIVE, "%s", output);
	cr_assert_not_null(strstr(output, "longer than the lease"));
}

Test(cli, lease_that_runs_out_by_chance_is_2)
{
	cr_assert_eq(run("$REDRACE bench lua-delifequals redlock --threads 4 --warmup 0 --ttl-ms 10 --hold-us 9900 --increments 40 --out $HERE/a"),
		     RR_EXIT_INCONCLUSIVE, "%s", output);
}

Test(cli, readme_shows_the_table_of_strategies)
{
	cr_assert_eq(run("$REDRACE list --markdown >$HERE/rows; grep -c '^| \\[' $HERE/rows;"
			 "grep -vxF -f README.md $HERE/rows"),
		     1, "not in the README: %s", output);
	cr_assert_gt(atoi(output), 8);
}

Test(cli, rows_add_up)
{
	cr_assert_eq(run("$REDRACE bench --increments 1000 --repeats 2 --threads 1,3 --out $HERE/a >/dev/null;"
			 "sh tests/check_csv $HERE/a"),
		     0, "%s", output);
	cr_assert_not_null(strstr(output, "36 rows add up"), "%s", output);
	cr_assert_eq(run("ls $HERE/a/percentiles | wc -l; wc -l <$HERE/a/summary.csv; "
			 "grep -c '\"commit\"' $HERE/a/env.json"),
		     0);
	cr_assert_str_eq(output, "36\n19\n1\n");
}

/* ---- What is left behind ------------------------------------------------------- */

/* Processes that work in a directory below the test's own. */
static int processes_at_home(void)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(proc))) {
		char path[300], target[300];
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/%.32s/cwd", entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		n += strncmp(target, home, strlen(home)) == 0;
	}
	closedir(proc);
	return n;
}

static bool directories_left(void)
{
	return run("ls -d $HERE/redrace-* 2>/dev/null | grep -q .") == 0;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Starts a long bench and waits until its servers are there. */
static pid_t start_bench(void)
{
	const char *program = getenv("REDRACE") ? getenv("REDRACE") :
						  "build/redrace";
	char out[64];
	pid_t pid;

	snprintf(out, sizeof(out), "%s/out", home);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(program, program, "bench", "redlock", "incr",
		      "--increments", "100000000", "--processes", "2", "--out",
		      out, (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < 500 && processes_at_home() < 6; i++)
		pause_ms(10);
	cr_assert_eq(processes_at_home(), 6, "the servers did not start");
	pause_ms(300);
	return pid;
}

static void assert_nothing_left(void)
{
	for (int i = 0; i < 500 && (processes_at_home() || directories_left());
	     i++)
		pause_ms(10);
	cr_assert_eq(processes_at_home(), 0, "servers were left behind");
	cr_assert_not(directories_left(), "directories were left behind");
}

Test(cli, kill_9_leaves_nothing_behind)
{
	const pid_t pid = start_bench();

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_nothing_left();
}

Test(cli, ctrl_c_is_130_and_leaves_nothing_behind)
{
	const pid_t pid = start_bench();
	int status;

	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), RR_EXIT_INTERRUPTED);
	assert_nothing_left();
}

Test(cli, server_killed_in_the_middle_is_69_and_keeps_finished_rows)
{
	cr_assert_eq(run("$REDRACE bench none local-mutex --increments 200 --repeats 1 --seed 1 --out $HERE/a >/dev/null;"
			 "($REDRACE bench incr --increments 100000000 --out $HERE/a 2>$HERE/err; echo $? >$HERE/code) & "
			 "sleep 1; for p in /proc/[0-9]*; do case $(readlink $p/cwd) in $HERE/redrace-*) kill -9 ${p#/proc/};; esac; done; wait; "
			 "cat $HERE/err; cat $HERE/code; wc -l <$HERE/a/runs.csv"),
		     0);
	cr_assert_not_null(strstr(output, "\n69\n3\n"), "%s", output);
	cr_assert_eq(strchr(output, '\n'), strstr(output, "\n69"),
		     "more than a line: %s", output);
	assert_nothing_left();
}

Test(cli, guardian_killed_leaves_nothing_behind)
{
	const pid_t pid = start_bench();
	char command[128];
	int status;

	snprintf(command, sizeof(command),
		 "kill -9 $(tr ' ' '\\n' </proc/%d/task/%d/children | head -n 1)",
		 (int)pid, (int)pid);
	cr_assert_eq(run(command), 0, "%s", output);
	waitpid(pid, &status, 0);
	cr_assert_eq(WEXITSTATUS(status), RR_EXIT_REDIS);
	assert_nothing_left();
}

Test(cli, servers_started_by_a_wrapper_or_as_daemons_are_ended)
{
	run("printf '#!/bin/sh\\nredis-server \"$@\"\\n' >$HERE/wrapper;"
	    "printf '#!/bin/sh\\nexec redis-server \"$@\" --daemonize yes\\n' >$HERE/daemon;"
	    "chmod +x $HERE/wrapper $HERE/daemon;"
	    "$REDRACE bench incr --increments 500 --redis-server $HERE/wrapper --out $HERE/a 2>&1;"
	    "$REDRACE bench incr --increments 500 --redis-server $HERE/daemon --out $HERE/b 2>&1");
	assert_nothing_left();
}

/* ---- The user's own server ------------------------------------------------------- */

/* Everything a user would mind losing, as text. */
static void describe_server(char *text, size_t size)
{
	support_shell("R='redis-cli -s '$SOCK; $R DBSIZE; $R --scan | sort; $R GET mine;"
		      "$R CONFIG GET '*'; $R SLOWLOG LEN; $R SCRIPT EXISTS $SHA",
		      text, size);
}

Test(cli, own_server_is_left_as_it_was)
{
	static char before[65536], after[65536];
	struct support support;

	support_open(&support, 1);
	setenv("SOCK", support.fleet.addresses[0].host, 1);
	run("R='redis-cli -s '$SOCK; $R SET mine 7; $R SET redrace:mine 8; $R CONFIG SET slowlog-log-slower-than 0;"
	    "$R PING; $R CONFIG SET slowlog-log-slower-than 1000000");
	run("redis-cli -s $SOCK SCRIPT LOAD 'return 42' | tr -d '\\n'");
	setenv("SHA", output, 1);
	describe_server(before, sizeof(before));
	cr_assert_eq(run("$REDRACE bench --redis unix://$SOCK --increments 2000 --out $HERE/a 2>&1"),
		     0, "%s", output);
	cr_assert_not_null(strstr(output, "redlock skipped"), "%s", output);
	describe_server(after, sizeof(after));
	cr_assert_str_eq(after, before);
	support_close(&support);
}

Test(cli, own_server_is_clean_after_kill_9)
{
	struct support support;

	support_open(&support, 1);
	setenv("SOCK", support.fleet.addresses[0].host, 1);
	run("$REDRACE bench lua-delifequals --redis unix://$SOCK --increments 100000000 --out $HERE/a & P=$!;"
	    "sleep 0.7; redis-cli -s $SOCK DBSIZE; kill -9 $P; wait $P; sleep 0.7; redis-cli -s $SOCK DBSIZE");
	cr_assert_neq(output[0], '0', "no key while it ran: %s", output);
	cr_assert_not_null(strstr(output, "\n0\n"), "%s", output);
	support_close(&support);
}

Test(cli, own_servers_serve_redlock)
{
	struct support support;
	char list[2048] = "";
	struct rl_link *link;
	struct rl_reply reply;

	support_open(&support, 6);
	for (int i = 0; i < 6; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 "%sunix://%s", i ? "," : "",
			 support.fleet.addresses[i].host);
	setenv("LIST", list, 1);
	cr_assert_eq(run("$REDRACE bench redlock --redis $LIST --increments 500 --out $HERE/a 2>&1"),
		     0, "%s", output);
	link = support_link(&support, 0);
	rl_run(link, &reply, "CONFIG SET requirepass secretword");
	rl_link_free(link);
	assert_one_line("$REDRACE bench none --redis $LIST --out $HERE/a 2>&1",
			RR_EXIT_REDIS, "NOAUTH");
	support_close(&support);
}

Test(cli, password_stays_out_of_the_results)
{
	struct support support;
	struct rl_link *link;
	struct rl_reply reply;
	char port[16];

	support_open(&support, 1);
	link = support_link(&support, 0);
	snprintf(port, sizeof(port), "%d", 20000 + getpid() % 20000);
	setenv("PORT", port, 1);
	rl_run(link, &reply, "CONFIG SET bind 127.0.0.1");
	cr_assert_eq(rl_run(link, &reply, "CONFIG SET port %s", port), RL_OK);
	rl_run(link, &reply, "CONFIG SET requirepass s@cretword");
	rl_link_free(link);
	cr_assert_eq(run("$REDRACE bench incr --redis redis://:s@cretword@127.0.0.1:$PORT/2 --increments 500 --out $HERE/a 2>&1"),
		     0, "%s", output);
	cr_assert_eq(run("grep -rn cretword $HERE/a; grep -o 'redis://.*:[0-9]*/2' $HERE/a/env.json | sed s/$PORT/P/"),
		     0);
	cr_assert_str_eq(output, "redis://***@127.0.0.1:P/2\n");
	assert_one_line("$REDRACE bench incr --redis redis://:other@127.0.0.1:$PORT --out $HERE/a 2>&1",
			RR_EXIT_REDIS, "WRONGPASS");
	support_close(&support);
}

/* SPDX-License-Identifier: MIT */
/* What a run leaves behind, however it ends, and what it leaves alone. */
#include "../cli.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(traces, .init = cli_setup, .fini = cli_teardown);

/* Looks at what is soon so, on a machine that has nothing else to do; two minutes. */
enum { LOOK_MS = 10, LOOKS = 12000 };

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
		n += strncmp(target, cli_home, strlen(cli_home)) == 0;
	}
	closedir(proc);
	return n;
}

static bool directories_left(void)
{
	return cli_run("ls -d $HERE/redrace-* 2>/dev/null | grep -q .") == 0;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Starts what takes long and waits until its `servers` are there. What it says
 * is in $HERE/said. */
static pid_t start(const char *arguments, int servers)
{
	char command[300];
	pid_t pid;

	snprintf(command, sizeof(command),
		 "exec ${REDRACE:-build/redrace} %s >/dev/null 2>$HERE/said", arguments);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	for (int i = 0; i < LOOKS && processes_at_home() < servers; i++)
		pause_ms(LOOK_MS);
	cr_assert_eq(processes_at_home(), servers, "the servers did not start");
	pause_ms(300);
	return pid;
}

static pid_t start_bench(void)
{
	return start("bench redlock incr --increments 100000000 --processes 2 --output $HERE/out",
		     6);
}

static void assert_nothing_left(void)
{
	for (int i = 0; i < LOOKS && (processes_at_home() || directories_left()); i++)
		pause_ms(LOOK_MS);
	cr_assert_eq(processes_at_home(), 0, "servers were left behind");
	cr_assert_not(directories_left(), "directories were left behind");
}

Test(traces, kill_9_leaves_nothing_behind)
{
	const pid_t pid = start_bench();

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_nothing_left();
}

/* In the first milliseconds, too, when the directory is made. */
Test(traces, kill_9_at_the_start_leaves_nothing_behind)
{
	cr_assert_eq(
		cli_run("mkdir $HERE/t; for i in $(seq 0 59); do TMPDIR=$HERE/t $REDRACE play lost-update >/dev/null 2>&1 & "
			"sleep 0.00$((i / 10))$((i % 10)); kill -9 $!; wait $! 2>/dev/null; done; "
			"for i in $(seq 600); do sleep 0.2; rmdir $HERE/t 2>/dev/null && break; done; ls -A $HERE/t 2>/dev/null; true"),
		0);
	cr_assert_str_eq(cli_output, "");
}

/* It was taken for one to which the library of the clocks does nothing, and claims got
 * false verdicts. */
Test(traces, a_first_server_that_dies_is_69)
{
	cli_run("printf '#!/bin/sh\n[ -e $HERE/once ] || { touch $HERE/once; exit 3; }\nexec redis-server \"$@\"\n' >$HERE/wrapper; chmod +x $HERE/wrapper");
	cli_assert_one_line(
		"$REDRACE claims TL-7 --jobs 1 --redis-server $HERE/wrapper 2>&1 >/dev/null", 69,
		"/wrapper'");
}

/* Whatever got past the parser would be executed. */
Test(traces, a_race_is_not_played_on_a_server_that_cannot_be_restricted)
{
	cli_run("printf '#!/bin/sh\necho \"rename-command ACL NONE\" >>redis.conf\nexec redis-server \"$@\"\n' >$HERE/wrapper; chmod +x $HERE/wrapper");
	cli_assert_one_line(
		"$REDRACE play lost-update --redis-server $HERE/wrapper 2>&1 >/dev/null", 69,
		"config");
}

Test(traces, a_server_s_path_may_be_relative)
{
	cr_assert_eq(
		cli_run("redrace=$(realpath $REDRACE) && ln -s $(command -v redis-server) $HERE/server && cd $HERE && $redrace play --redis-server ./server lost-update 2>&1"),
		0, "%s", cli_output);
}

Test(traces, kill_9_of_an_explorer_leaves_nothing_behind)
{
	const pid_t pid = start("explore redlock --clients 3", 6);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_nothing_left();
}

Test(traces, ctrl_c_is_130_and_leaves_nothing_behind)
{
	const pid_t pid = start_bench();
	int status;

	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), RR_EXIT_INTERRUPTED);
	assert_nothing_left();
}

Test(traces, server_killed_in_the_middle_is_69_and_keeps_finished_rows)
{
	cr_assert_eq(
		cli_run("$REDRACE bench none local-mutex --increments 200 --repeats 1 --seed 1 --output $HERE/a >/dev/null;"
			"($REDRACE bench incr --increments 100000000 --output $HERE/a 2>$HERE/err; echo $? >$HERE/code) & "
			"until redis-cli -s $(find $HERE -type s) INFO commandstats 2>/dev/null | grep -q cmdstat_incr:; do sleep 0.1; done; "
			"kill -9 $(find /proc/[0-9]*/cwd -maxdepth 0 -lname \"$HERE/redrace-*\" 2>/dev/null | cut -d / -f 3); wait; "
			"cat $HERE/err; cat $HERE/code; wc -l <$HERE/a/runs.csv"),
		0);
	cr_assert_not_null(strstr(cli_output, "\n69\n3\n"), "%s", cli_output);
	cr_assert_eq(strchr(cli_output, '\n'), strstr(cli_output, "\n69"), "more than a line: %s",
		     cli_output);
	assert_nothing_left();
}

Test(traces, guardian_killed_leaves_nothing_behind)
{
	const pid_t pid = start_bench();
	char command[128];
	int status;

	snprintf(command, sizeof(command),
		 "kill -9 $(tr ' ' '\\n' </proc/%d/task/%d/children | head -n 1)", (int)pid,
		 (int)pid);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
	waitpid(pid, &status, 0);
	cr_assert_eq(WEXITSTATUS(status), RR_EXIT_REDIS);
	cli_assert_one_line("cat $HERE/said", 0, "redrace: ");
	assert_nothing_left();
}

Test(traces, servers_started_by_a_wrapper_or_as_daemons_are_ended)
{
	cli_run("printf '#!/bin/sh\\nredis-server \"$@\"\\n' >$HERE/wrapper;"
		"printf '#!/bin/sh\\nexec redis-server \"$@\" --daemonize yes\\n' >$HERE/daemon;"
		"chmod +x $HERE/wrapper $HERE/daemon;"
		"$REDRACE bench incr --increments 500 --redis-server $HERE/wrapper --output $HERE/a 2>&1;"
		"$REDRACE bench incr --increments 500 --redis-server $HERE/daemon --output $HERE/b 2>&1");
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

Test(traces, own_server_is_left_as_it_was)
{
	static char before[65536], after[65536];
	struct support support;
	int code;

	support_open(&support, 1);
	setenv("SOCK", support.cluster.servers[0].address.host, 1);
	cli_run("R='redis-cli -s '$SOCK; $R SET mine 7; $R SET redrace:mine 8; $R CONFIG SET slowlog-log-slower-than 0;"
		"$R PING; $R CONFIG SET slowlog-log-slower-than 1000000");
	cli_run("redis-cli -s $SOCK SCRIPT LOAD 'return 42' | tr -d '\\n'");
	setenv("SHA", cli_output, 1);
	describe_server(before, sizeof(before));
	code = cli_run(
		"$REDRACE bench --redis unix://$SOCK --increments 2000 --output $HERE/a -o $HERE/result.json 2>&1");
	/* It may well be that so few lose nothing this time. */
	cr_assert(code == 0 || code == 2, "%d: %s", code, cli_output);
	cli_assert_json("[$all.cases[] | select(.name == \"redlock\").verdict] == [\"skipped\"]");
	describe_server(after, sizeof(after));
	cr_assert_str_eq(after, before);
	support_close(&support);
}

Test(traces, own_server_is_clean_after_kill_9)
{
	struct support support;

	support_open(&support, 1);
	setenv("SOCK", support.cluster.servers[0].address.host, 1);
	cli_run("$REDRACE bench lua-delifequals --redis unix://$SOCK --increments 100000000 --output $HERE/a & P=$!;"
		"until n=$(redis-cli -s $SOCK DBSIZE) && [ $n -gt 0 ]; do sleep 0.1; done; echo $n; kill -9 $P; wait $P; "
		"for i in $(seq 600); do n=$(redis-cli -s $SOCK DBSIZE); [ $n -gt 0 ] || break; sleep 0.2; done; echo $n");
	cr_assert_neq(cli_output[0], '0', "no key while it ran: %s", cli_output);
	cr_assert_not_null(strstr(cli_output, "\n0\n"), "%s", cli_output);
	support_close(&support);
}

Test(traces, own_servers_serve_redlock)
{
	struct support support;
	char list[2048] = "";
	struct rdl_link *link;
	struct rdl_reply reply;

	support_open(&support, 6);
	for (int i = 0; i < 6; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%sunix://%s",
			 i ? "," : "", support.cluster.servers[i].address.host);
	setenv("LIST", list, 1);
	cr_assert_eq(
		cli_run("$REDRACE bench redlock --redis $LIST --increments 500 --output $HERE/a 2>&1"),
		0, "%s", cli_output);
	link = support_link(&support, 0);
	rdl_run(link, &reply, "CONFIG SET requirepass secretword");
	rdl_link_free(link);
	cli_assert_one_line("$REDRACE bench none --redis $LIST --output $HERE/a 2>&1",
			    RR_EXIT_REDIS, "NOAUTH");
	support_close(&support);
}

Test(traces, password_stays_out_of_the_results)
{
	struct support support;
	struct rdl_link *link;
	struct rdl_reply reply;
	char port[16];

	support_open(&support, 1);
	link = support_link(&support, 0);
	snprintf(port, sizeof(port), "%u", support_listen(link));
	setenv("PORT", port, 1);
	rdl_run(link, &reply, "CONFIG SET requirepass s@cretword");
	rdl_link_free(link);
	cr_assert_eq(
		cli_run("$REDRACE bench incr --redis redis://:s@cretword@127.0.0.1:$PORT/2 --increments 500 --output $HERE/a 2>&1"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("grep -rn cretword $HERE/a; grep -o 'redis://.*:[0-9]*/2' $HERE/a/env.json | sed s/$PORT/P/"),
		0);
	cr_assert_str_eq(cli_output, "redis://***@127.0.0.1:P/2\n");
	cli_assert_one_line(
		"$REDRACE bench incr --redis redis://:other@127.0.0.1:$PORT --output $HERE/a 2>&1",
		RR_EXIT_REDIS, "WRONGPASS");
	support_close(&support);
}

/* SPDX-License-Identifier: MIT */
/* Ctrl-C, SIGTERM and SIGHUP end every command at once, whatever it waits for. */
#include "../cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"

TestSuite(signals, .init = cli_setup, .fini = cli_teardown);

/* A second and a half of sleep are promised. Without the promise the time-outs of stopped
 * servers are at least four seconds. */
enum { LIMIT_MS = 3500, START_MS = 120000 };

struct started {
	pid_t pid;
	char home[SUPPORT_DIRECTORY + 24]; /* its TMPDIR */
};

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* A group of its own, as a shell at a terminal makes it. */
static struct started start_command(size_t number, const char *arguments)
{
	struct started started;
	char command[400];

	snprintf(started.home, sizeof(started.home), "%s/%zu", cli_home, number);
	snprintf(
		command, sizeof(command),
		"exec env --default-signal=HUP,INT ${REDRACE:-build/redrace} %s >/dev/null 2>$TMPDIR/said </dev/null",
		arguments);
	cr_assert_eq(mkdir(started.home, 0700), 0);
	started.pid = fork();
	if (started.pid == 0) {
		setpgid(0, 0);
		setenv("TMPDIR", started.home, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(1);
	}
	setpgid(started.pid, started.pid);
	return started;
}

/* Of a status of proc(5), the line of a set of signals. */
static bool is_in_set(const char *status, const char *name, int number)
{
	const char *line = strstr(status, name);

	return line && strtoull(line + strlen(name), NULL, 16) >> (number - 1) & 1;
}

/* Is a started one the program, and no shell any more, and does it see to a signal itself? */
static bool handles(pid_t pid, int number)
{
	char path[40], status[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	status[fread(status, 1, sizeof(status) - 1, file)] = '\0';
	fclose(file);
	return strncmp(status, "Name:\tredrace\n", 14) == 0 &&
	       (is_in_set(status, "\nSigBlk:", number) || is_in_set(status, "\nSigCgt:", number));
}

static void await_handling(pid_t pid, int number)
{
	for (int ms = 0; !handles(pid, number) && ms < START_MS; ms += 20)
		rest_ms(20);
}

/* Does a process work below `home`? */
static bool works_below(const char *home, const char *pid)
{
	char path[64], target[300];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%.32s/cwd", pid);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	return strncmp(target, home, strlen(home)) == 0 && target[strlen(home)] == '/';
}

/* Does something to each process that works below `home`; how many there are. */
static int signal_servers(const char *home, int number)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(proc))) {
		if (!works_below(home, entry->d_name))
			continue;
		kill(atoi(entry->d_name), number);
		n++;
	}
	closedir(proc);
	return n;
}

/* Does a process run, or wait for a processor, and which group is it of? */
static bool wants_to_run(const char *pid, pid_t *group)
{
	char path[64], stat[300] = "", *rest;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.32s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	stat[fread(stat, 1, sizeof(stat) - 1, file)] = '\0';
	fclose(file);
	rest = strrchr(stat, ')');
	return rest && sscanf(rest, ") R %*d %d", group) == 1;
}

/* Does anything of it, its guardian's and its servers'? */
static bool is_at_work(const struct started *started)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	bool is = false;

	while (!is && (entry = readdir(proc))) {
		pid_t group = 0;

		is = wants_to_run(entry->d_name, &group) &&
		     (group == started->pid || works_below(started->home, entry->d_name));
	}
	closedir(proc);
	return is;
}

static void stop_its_servers(const struct started *started, const char *arguments)
{
	int waited_ms = 0;

	while (signal_servers(started->home, 0) == 0 && waited_ms < START_MS) {
		rest_ms(20);
		waited_ms += 20;
	}
	rest_ms(100);
	cr_assert_gt(signal_servers(started->home, SIGSTOP), 0, "%s: no server is there",
		     arguments);
}

/* Counted is the time in which all of it sleeps, and not what others take of the processors. */
static int await_its_end(const struct started *started, const char *arguments, long limit_ms)
{
	long asleep_ms = 0;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(started->pid, &status, WNOHANG)) == 0 && asleep_ms < limit_ms) {
		rest_ms(10);
		asleep_ms += is_at_work(started) ? 0 : 10;
	}
	if (ended == 0)
		kill(started->pid, SIGKILL);
	cr_assert_eq(ended, started->pid, "%s: goes on", arguments);
	return status;
}

static void assert_is_ended_by(const struct started *started, const char *arguments, int number,
			       bool is_group)
{
	int status;

	kill(is_group ? -started->pid : started->pid, number);
	status = await_its_end(started, arguments, LIMIT_MS);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == RR_EXIT_INTERRUPTED,
		  "%s: ends with %d", arguments, status);
}

static void assert_nothing_stays(const struct started *started, const char *arguments)
{
	char command[sizeof(started->home) + 64];
	int waited_ms = 0;

	snprintf(command, sizeof(command), "ls %s | grep -v said", started->home);
	while ((signal_servers(started->home, 0) || cli_run(command) == 0) &&
	       waited_ms < START_MS) {
		rest_ms(50);
		waited_ms += 50;
	}
	cr_assert_eq(signal_servers(started->home, SIGKILL), 0, "%s: servers stay", arguments);
	cr_assert_str_eq(cli_output, "", "%s leaves %s", arguments, cli_output);
}

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

/* Each is told to end as soon as its servers stand still, the process alone or, like Ctrl-C,
 * its group: while others are started it would find out that they do. */
static void end_all(const char *const commands[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct started started = start_command(i, commands[i]);

		stop_its_servers(&started, commands[i]);
		rest_ms(300);
		assert_is_ended_by(&started, commands[i], ending[i % 3], i % 2);
		assert_nothing_stays(&started, commands[i]);
	}
}

Test(signals, end_commands_whose_servers_stand_still)
{
	static const char *const commands[] = {
		"bench redlock incr --increments 100000000 --output $HERE/out",
		"play --clients 3 --increments-each 50 redlock",
		"explore --clients 3 redlock",
		"explore --stateless --clients 3 redlock",
		"check -- sh -c 'seq 1000 | sed s/^/INCR\\ a/ | redis-cli -p $REDIS_PORT'",
	};

	end_all(commands, sizeof(commands) / sizeof(commands[0]));
}

Test(signals, end_long_commands_whose_servers_stand_still)
{
	static const char *const commands[] = {
		"matrix --jobs 1 redlock",
		"claims --jobs 1",
		"game",
		"demo --auto --seconds-each 20",
	};

	end_all(commands, sizeof(commands) / sizeof(commands[0]));
}

/* A server that is stopped before it has become one: its guardian waits for that,
 * and hears all the same that the program is to end, and that it has ended. */
Test(signals, end_commands_whose_servers_are_stopped_at_their_start)
{
	static const char *const commands[] = { "explore --stateless redlock",
						"claims --jobs 1 TL-1" };

	cr_assert_eq(
		cli_run("printf '%s\n' '#include <dlfcn.h>' '#include <signal.h>' '#include <stdarg.h>' "
			"'#include <string.h>' '#include <sys/syscall.h>' 'long syscall(long number, ...)' "
			"'{ long (*next)(long, ...) = dlsym(RTLD_NEXT, \"syscall\"), words[6]; va_list list;' "
			"'va_start(list, number); for (int i = 0; i < 6; i++) words[i] = va_arg(list, long);' "
			"'va_end(list); if (number == SYS_execve && strstr((char *)words[0], \"redis-server\"))' "
			"'raise(SIGSTOP); return next(number, words[0], words[1], words[2], words[3],' "
			"'words[4], words[5]); }' >$HERE/stop.c && "
			"cc -D_GNU_SOURCE -shared -fPIC -o $HERE/stop.so $HERE/stop.c 2>&1"),
		0, "%s", cli_output);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char preload[SUPPORT_DIRECTORY + 16];
		struct started started;

		snprintf(preload, sizeof(preload), "%s/stop.so", cli_home);
		setenv("LD_PRELOAD", preload, 1);
		started = start_command(i, commands[i]);
		unsetenv("LD_PRELOAD");
		await_handling(started.pid, ending[i]);
		rest_ms(500);
		assert_is_ended_by(&started, commands[i], ending[i], false);
		assert_nothing_stays(&started, commands[i]);
	}
}

/* Before a server is there, too, as while a file is read that does not come. */
Test(signals, end_commands_that_wait_for_a_file)
{
	char race[SUPPORT_DIRECTORY + 16], arguments[400];
	static const char *const formats[] = { "play %s", "report %s", "compare %s %s" };

	for (size_t i = 0; i < 3; i++) {
		struct started started;

		snprintf(race, sizeof(race), "%s/%zu.race", cli_home, i);
		cr_assert_eq(mkfifo(race, 0600), 0);
		if (i == 2) { /* a directory whose runs do not come */
			snprintf(arguments, sizeof(arguments),
				 "mkdir $HERE/d && mv %s $HERE/d/runs.csv", race);
			cr_assert_eq(cli_run(arguments), 0);
			snprintf(race, sizeof(race), "%s/d", cli_home);
		}
		snprintf(arguments, sizeof(arguments), formats[i], race, race);
		started = start_command(i, arguments);
		await_handling(started.pid, ending[i]);
		rest_ms(300);
		assert_is_ended_by(&started, arguments, ending[i], false);
		assert_nothing_stays(&started, arguments);
	}
}

/* Whoever starts it by nohup(1) wants it to stay when the terminal goes. */
Test(signals, a_hangup_that_is_ignored_ends_nothing)
{
	cr_assert_eq(
		cli_run("trap '' HUP; $REDRACE play lost-update >$HERE/out 2>&1 & P=$!; "
			"for i in $(seq 200); do kill -HUP $P 2>/dev/null || break; sleep 0.01; done; wait $P"),
		0, "%s", cli_output);
}

/* ---- Guardians and servers that die --------------------------------------------- */

/* Kills what `which` makes a list of, of the process $P whose TMPDIR is $T: one line
 * follows, and 69. */
static void end_with_69(const char *const commands[], size_t n, const char *which)
{
	for (size_t i = 0; i < n; i++) {
		struct started started = start_command(i, commands[i]);
		char command[600];
		int status, waited_ms = 0;

		while (signal_servers(started.home, 0) == 0 && waited_ms < START_MS) {
			rest_ms(20);
			waited_ms += 20;
		}
		rest_ms(200);
		snprintf(command, sizeof(command), "P=%d; T=%s; kill -9 $(%s)", (int)started.pid,
			 started.home, which);
		cr_assert_eq(cli_run(command), 0, "%s: %s", commands[i], cli_output);
		status = await_its_end(&started, commands[i], START_MS);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == RR_EXIT_REDIS,
			  "%s: ends with %d", commands[i], status);
		snprintf(command, sizeof(command), "cat %s/said", started.home);
		cli_assert_one_line(command, 0, "redrace: ");
		cli_run("rm -f $HERE/*/said");
		assert_nothing_stays(&started, commands[i]);
	}
}

static const char *const long_commands[] = {
	"bench incr --increments 100000000 --output $HERE/out",
	"explore --stateless --clients 3 redlock",
	"demo --auto counts --seconds-each 20",
};

enum { N_LONG = sizeof(long_commands) / sizeof(long_commands[0]) };

Test(signals, that_kill_the_guardian_are_69)
{
	end_with_69(long_commands, N_LONG, "tr ' ' '\\n' </proc/$P/task/$P/children | head -n 1");
}

Test(signals, that_kill_all_servers_are_69)
{
	end_with_69(
		long_commands, N_LONG,
		"find /proc/[0-9]*/cwd -maxdepth 0 -lname \"$T/redrace-*/*\" 2>/dev/null | cut -d / -f 3");
}

/* A pipe that nobody reads is waited for a little when all is done: where it is looked for, there
 * is a sleep between two looks: clock_nanosleep(2), whose number is that of x86-64 or arm64. */
Test(signals, end_the_wait_for_the_reader_of_a_pipe)
{
	cr_assert_eq(
		cli_run("mkfifo $HERE/p.json; $REDRACE claims TL-1 -o $HERE/p.json >$HERE/out & P=$!\n"
			"until grep -qs recorded $HERE/out && grep -qs '^\\(230\\|115\\) ' /proc/$P/syscall; do kill -0 $P && sleep 0.02 || break; done\n"
			"kill $P; wait $P"),
		RR_EXIT_INTERRUPTED);
}

/* Somebody looks at the first page of it. */
Test(signals, end_the_wait_for_the_reader_of_standard_output)
{
	static const char *const printers[] = {
		"claims TL-1 -f json",
		"matrix incr --hazard threads -f json",
		"check --suite $HERE/s.yaml -f json",
		"explore none -f json",
	};

	cli_write("s.yaml", "checks:\n  a: {command: sh examples/check/counter.sh}\n");
	for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
		cr_expect_eq(
			cli_runf("rm -f $HERE/p; mkfifo $HERE/p; exec 3<>$HERE/p\n"
				 "head -c 65500 /dev/zero >$HERE/p\n"
				 "$REDRACE_ONCE %s >$HERE/p 2>/dev/null & P=$!\n"
				 "i=0; until grep -q '^[0-9]* 0x1 ' /proc/$P/syscall || [ $i -eq 300 ]; do sleep 0.1; i=$((i + 1)); done\n"
				 "kill $P; wait $P",
				 printers[i]),
			RR_EXIT_INTERRUPTED, "%s", printers[i]);
}

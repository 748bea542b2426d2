/* SPDX-License-Identifier: MIT */
/* Time inside programs that are checked: they wait for minutes, and it costs nothing. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(check_time, .init = cli_setup, .fini = cli_teardown, .timeout = 120);

/* REAL_S: what a wait of 100 seconds may take really. */
#define CHECK "$REDRACE check --audit 1 --hangs-after 20 "
#define CLI "redis-cli -p $REDIS_PORT "
#define REAL_S "8"

/* A program that fails is told by an exit code that is not the one wanted. */
static void check_program(const char *text, int code)
{
	char path[SUPPORT_DIRECTORY + 40];
	FILE *file;

	snprintf(path, sizeof(path), "%s/program", cli_home);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
	cr_assert_eq(cli_run("HERE=$HERE timeout -s KILL " REAL_S " " CHECK
			     "-- sh $HERE/program 2>&1"),
		     code, "%s: %s", text, cli_output);
}

static void compile(const char *name)
{
	char command[300];

	snprintf(command, sizeof(command),
		 "cc -O1 -o $HERE/%s tests/check/programs/%s.c -pthread 2>&1",
		 name, name);
	cr_assert_eq(cli_run(command), 0, "%s", cli_output);
}

/* ---- C ------------------------------------------------------------------------- */

static void check_waits(const char *const *names, size_t n)
{
	char text[200];

	compile("waits");
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text),
			 "$HERE/waits %s && " CLI "INCR counter", names[i]);
		check_program(text, 0);
	}
}

#define CHECK_WAITS(...)                                                     \
	check_waits((const char *const[]){ __VA_ARGS__ },                    \
		    sizeof((const char *const[]){ __VA_ARGS__ }) /           \
			    sizeof(const char *))

Test(check_time, waits_for_threads_cost_nothing)
{
	CHECK_WAITS("cond_timedwait_realtime", "cond_timedwait_monotonic",
		    "cond_clockwait", "sem_timedwait", "sem_clockwait",
		    "mutex_timedlock", "timedjoin", "futex_wait",
		    "futex_wait_bitset");
}

Test(check_time, alarms_come_when_nobody_can_go_on)
{
	CHECK_WAITS("alarm", "setitimer", "alarm_in_sleep", "sigtimedwait");
}

Test(check_time, waits_for_descriptors_and_sleeping_cost_nothing)
{
	CHECK_WAITS("ppoll", "pselect", "epoll_pwait2", "usleep",
		    "thrd_sleep");
}

/* Time passes to the end of one sleep after the other. */
Test(check_time, each_sleeper_wakes_at_its_own_time)
{
	CHECK_WAITS("two_sleepers", "killed_sleeper");
}

Test(check_time, a_loop_that_reads_the_clock_ends)
{
	CHECK_WAITS("spin", "spin_beside_a_sleeper");
}

/* SPDX-License-Identifier: MIT */
/* Whether a program sleeps, as its processes are seen from outside. */
#include "../cli.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "party/process_tree.h"

enum { CHILDREN = 50, SECONDS = 5, OTHERS = 8, PATIENCE_S = 120 };

TestSuite(process_tree, .init = cli_setup, .fini = cli_teardown);

static int first_processor(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

static void pin_to_first_processor(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(first_processor(), &first);
	sched_setaffinity(0, sizeof(first), &first);
}

/* Waits in a loop for a child to end, and leaves it unreaped. */
static void watch_end(pid_t child)
{
	siginfo_t seen;

	do {
		seen.si_pid = 0;
		sched_yield();
		waitid(P_PID, (id_t)child, &seen, WEXITED | WNOWAIT | WNOHANG);
	} while (seen.si_pid == 0);
}

/* Never sleeps, whatever its state says while it reaps those that have ended. */
static void reap_for_ever(void)
{
	pid_t children[CHILDREN];

	for (;;) {
		for (int i = 0; i < CHILDREN; i++) {
			children[i] = fork();
			if (children[i] == 0)
				_exit(0);
		}
		for (int i = 0; i < CHILDREN; i++)
			watch_end(children[i]);
		for (int i = 0; i < CHILDREN; i++)
			waitpid(children[i], NULL, 0);
	}
}

static void compute_for_ever(void)
{
	for (;;)
		;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static pid_t start(void (*run)(void))
{
	const pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid(); /* the kernel may share processors out by sessions */
	pin_to_first_processor();
	run();
	_exit(0);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Beside another process on its processor, which takes it away at any place. */
Test(process_tree, one_that_reaps_its_children_is_never_seen_asleep)
{
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };
	struct rr_process_files files = { 0 };
	const pid_t other = start(compute_for_ever);
	const struct rr_process_tree tree = {
		.pid = start(reap_for_ever), .guardian = getpid(), .clock = &clock, .files = &files
	};
	const int64_t until_ns = rr_clock_ns() + SECONDS * INT64_C(1000000000);
	struct rr_process_look before = { .sleeps = false };
	long n = 0, n_asleep = 0;

	for (; rr_clock_ns() < until_ns; n++) {
		const struct rr_process_look look = rr_process_tree_look(&tree);

		n_asleep += before.sleeps && look.sleeps && before.stamp == look.stamp;
		before = look;
	}
	end(tree.pid);
	end(other);
	rr_process_files_close(&files);
	cr_assert_eq(n_asleep, 0, "%ld of %ld looks", n_asleep, n);
}

static struct rr_process_look look_until_asleep(const struct rr_process_tree *tree)
{
	const int64_t until_ns = rr_clock_ns() + PATIENCE_S * INT64_C(1000000000);
	struct rr_process_look look;

	do
		look = rr_process_tree_look(tree);
	while (!look.sleeps && rr_clock_ns() < until_ns);
	return look;
}

static size_t count_open(void)
{
	size_t n = 0;

	for (int fd = 0; fd < sysconf(_SC_OPEN_MAX) && fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* And the list of the guardian's children. The only thread of a process is not listed. */
Test(process_tree, files_of_a_thread_stay_open_until_they_are_closed)
{
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };
	struct rr_process_files files = { 0 };
	const size_t n = count_open();
	const struct rr_process_tree tree = {
		.pid = start(sleep_for_ever), .guardian = getpid(), .clock = &clock, .files = &files
	};
	struct rr_process_look look = look_until_asleep(&tree);

	cr_assert(look.sleeps);
	cr_assert_eq(files.n, 1);
	cr_assert_eq(count_open(), n + RR_THREAD_FILES + 1);
	look = rr_process_tree_look(&tree);
	cr_assert(look.sleeps && look.stamp == rr_process_tree_look(&tree).stamp);
	cr_assert_eq(count_open(), n + RR_THREAD_FILES + 1, "opened again");
	end(tree.pid);
	rr_process_files_close(&files);
	cr_assert_eq(count_open(), n);
}

/* An app has a thread or a process for each request: one after the other takes a place. */
Test(process_tree, places_of_threads_that_have_ended_are_others)
{
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };
	struct rr_process_files files = { 0 };
	struct rr_process_tree tree = { .guardian = getpid(), .clock = &clock, .files = &files };

	for (int i = 0; i < RR_FILES_MAX + 2; i++) {
		bool is_kept = false;

		tree.pid = start(sleep_for_ever);
		for (int look = 0; look < 4; look++)
			cr_assert(look_until_asleep(&tree).sleeps);
		for (size_t at = 0; at < files.n; at++)
			is_kept |= files.of[at].thread == tree.pid;
		cr_assert(is_kept, "process %d", i);
		end(tree.pid);
	}
	rr_process_files_close(&files);
}

/* The last one of them computes: a look at all finds it, also where their list is long. */
static void wait_for_children(int n)
{
	for (int i = 0; i <= n; i++) {
		if (fork() != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (i < n)
			sleep_for_ever();
		compute_for_ever();
	}
	sleep_for_ever();
}

static void wait_for_few(void)
{
	wait_for_children(1);
}

static void wait_for_many(void)
{
	wait_for_children(150);
}

Test(process_tree, all_children_are_looked_at)
{
	static void (*const runs[])(void) = { wait_for_few, wait_for_many };
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };

	for (int i = 0; i < 2; i++) {
		struct rr_process_files files = { 0 };
		const struct rr_process_tree tree = { .pid = start(runs[i]),
						      .guardian = getpid(),
						      .clock = &clock,
						      .files = &files };
		bool slept = false;

		/* Before the last one is there they do sleep. */
		usleep(500000);
		for (int look = 0; look < 100; look++) {
			slept = rr_process_tree_look(&tree).sleeps;
			usleep(5000);
		}
		cr_assert(!slept, "run %d", i);
		end(tree.pid);
		rr_process_files_close(&files);
	}
}

static void *compute_in_a_thread(void *unused)
{
	(void)unused;
	compute_for_ever();
	return NULL;
}

static void compute_beside_the_first_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, compute_in_a_thread, NULL);
	for (;;)
		pause();
}

/* The first thread sleeps; another one does not, and is listed. */
Test(process_tree, all_threads_are_looked_at)
{
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };
	struct rr_process_files files = { 0 };
	const struct rr_process_tree tree = { .pid = start(compute_beside_the_first_thread),
					      .guardian = getpid(),
					      .clock = &clock,
					      .files = &files };
	const int64_t until_ns = rr_clock_ns() + PATIENCE_S * INT64_C(1000000000);
	bool slept = false;

	while (files.n < 2 && rr_clock_ns() < until_ns)
		rr_process_tree_look(&tree);
	cr_assert_geq(files.n, 2);
	usleep(200000);
	for (int i = 0; i < 50 && !slept; i++)
		slept = rr_process_tree_look(&tree).sleeps;
	cr_assert(!slept);
	end(tree.pid);
	rr_process_files_close(&files);
}

/* A number may be another thread's later: what is open is not of that one. */
Test(process_tree, files_of_one_that_has_ended_are_opened_anew)
{
	struct rr_program_page page = { 0 };
	const struct rr_program_clock clock = { .page = &page };
	struct rr_process_files files = { 0 };
	const struct rr_process_tree first = {
		.pid = start(sleep_for_ever), .guardian = getpid(), .clock = &clock, .files = &files
	};
	struct rr_process_tree second = first;

	cr_assert(look_until_asleep(&first).sleeps);
	end(first.pid);
	second.pid = start(compute_for_ever);
	files.of[0].thread = second.pid;
	cr_assert(!rr_process_tree_look(&second).sleeps);
	end(second.pid);
	rr_process_files_close(&files);
}

/* It computes for 0.2 s, which take 1.8 on a processor that it shares with eight others. */
Test(process_tree, one_that_is_kept_from_the_processor_does_not_hang)
{
	pid_t others[OTHERS];
	int code;

	for (int i = 0; i < OTHERS; i++)
		others[i] = start(compute_for_ever);
	code = cli_runf(
		"$REDRACE check -o $HERE/result.json --clients 1 --hangs-after 1 -- taskset -c %d /usr/bin/python3 -c '"
		"import time\n"
		"while time.process_time() < 0.2: pass' 2>&1",
		first_processor());
	for (int i = 0; i < OTHERS; i++)
		end(others[i]);
	cr_assert_eq(code, 2, "%s", cli_output);
	cli_assert_property("search.limit", "no_command");
}

/* It computes after the end of its parent: less than a daemon is waited for, if it had a processor alone. */
Test(process_tree, a_stray_that_is_kept_from_the_processor_is_no_daemon)
{
	pid_t others[OTHERS];
	int code;

	cli_write("stray.py", "import sys\nsys.stdin.read()\nfor i in range(7000000): pass\n");
	cli_write("program",
		  "mkfifo $HERE/$$; setsid taskset -c %d " CLI_PYTHON "stray.py <$HERE/$$ &\n"
		  "exec 3>$HERE/$$; " CLI "INCR counter\n",
		  first_processor());
	for (int i = 0; i < OTHERS; i++)
		others[i] = start(compute_for_ever);
	code = cli_run("HERE=$HERE $REDRACE_ONCE check --skeptic off --no-cache --audit 0 "
		       "--allow-outside $HERE --clients 1 -- sh $HERE/program 2>&1");
	for (int i = 0; i < OTHERS; i++)
		end(others[i]);
	cr_assert_eq(code, 0, "%s", cli_output);
}

/* SPDX-License-Identifier: MIT */
/* The guardian's answers, when they come too late. */
#include "../support.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/cluster.h"

static void start_guardian(struct rr_guardian *guardian)
{
	struct rr_error error = { 0 };

	cr_assert(rr_guardian_start(guardian, &error), "%s", error.text);
}

static void start_sleeper(struct rr_guardian *guardian, struct rr_guarded *process)
{
	const char *const argv[] = { "sleep", "600", NULL };
	struct rr_error error = { 0 };

	cr_assert(rr_guardian_prepare(guardian, process, &error) &&
			  rr_guardian_run(guardian, process, argv, NULL, -1, &error),
		  "%s", error.text);
}

/* A request that the guardian does not answer in time. It is answered later. */
static void ask_in_vain(struct rr_guardian *guardian)
{
	struct rr_guarded process = { 0 };
	struct rr_error error = { 0 };

	kill(guardian->pid, SIGSTOP);
	guardian->answer_ms = 50;
	cr_assert_not(rr_guardian_prepare(guardian, &process, &error));
	cr_assert_str_eq(error.text, "the guardian process has not answered for 0.05 s");
	guardian->answer_ms = RR_GUARDIAN_ANSWER_MS;
	kill(guardian->pid, SIGCONT);
}

/* The late answer says of a directory that nothing runs in it. */
Test(guardian, a_late_answer_does_not_answer_the_next_request)
{
	struct rr_guardian guardian;
	struct rr_guarded sleeper, next;
	struct rr_error error = { 0 };
	struct stat info;
	int status;

	start_guardian(&guardian);
	start_sleeper(&guardian, &sleeper);
	ask_in_vain(&guardian);
	cr_assert_not(rr_guardian_has_ended(&guardian, &sleeper, &status));
	ask_in_vain(&guardian);
	ask_in_vain(&guardian);
	cr_assert(rr_guardian_prepare(&guardian, &next, &error), "%s", error.text);
	cr_assert_eq(next.index, 4, "%d", next.index);
	cr_assert_eq(stat(next.directory, &info), 0);
	cr_assert(rr_guardian_signal(&guardian, &sleeper, SIGKILL));
	cr_assert(rr_guardian_has_ended(&guardian, &sleeper, &status));
	rr_guardian_stop(&guardian);
	cr_assert_neq(access(guardian.base, F_OK), 0);
}

/* A process that has left its group and its parent, and that nothing ends when its
 * parent is killed, ends with the program at the latest. */
Test(guardian, one_that_is_killed_leaves_nobody_behind)
{
	const char *const argv[] = { "sh", "-c",
				     "setsid sh -c 'echo $$ >pid; exec sleep 600' & wait", NULL };
	struct rr_guardian guardian;
	struct rr_guarded process;
	struct rr_error error = { 0 };
	char path[128];
	int pid = 0;

	start_guardian(&guardian);
	cr_assert(rr_guardian_prepare(&guardian, &process, &error) &&
			  rr_guardian_run(&guardian, &process, argv, NULL, -1, &error),
		  "%s", error.text);
	snprintf(path, sizeof(path), "%s/pid", process.directory);
	for (int i = 0; i < 12000 && pid == 0; i++) {
		FILE *file = fopen(path, "r");

		usleep(10000);
		if (file && fscanf(file, "%d", &pid) != 1)
			pid = 0;
		if (file)
			fclose(file);
	}
	cr_assert(pid > 0 && kill(pid, 0) == 0);
	kill(guardian.pid, SIGKILL);
	rr_guardian_stop(&guardian);
	cr_assert_neq(kill(pid, 0), 0);
	cr_assert_neq(access(guardian.base, F_OK), 0);
}

Test(guardian, a_long_base_is_refused_in_one_line)
{
	struct rr_guardian guardian;
	struct rr_error error = { 0 };
	char name[90];

	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	name[sizeof(name) - 1] = '\0';
	setenv("TMPDIR", name, 1);
	cr_assert_not(rr_guardian_start(&guardian, &error));
	cr_assert_eq(error.kind, RR_ERROR_FILE);
	cr_assert_not_null(strstr(error.text, "TMPDIR is too long"));
	rr_guardian_stop(&guardian);
}

Test(guardian, a_base_may_be_relative)
{
	struct rr_guardian guardian;
	struct rr_guarded process;
	struct rr_error error = { 0 };
	char home[SUPPORT_DIRECTORY];

	support_directory(home);
	cr_assert_eq(chdir(home), 0);
	cr_assert_eq(mkdir("here", 0700), 0);
	setenv("TMPDIR", "here", 1);
	cr_assert(rr_guardian_start(&guardian, &error), "%s", error.text);
	cr_assert_eq(guardian.base[0], '/');
	cr_assert(rr_guardian_prepare(&guardian, &process, &error), "%s", error.text);
	cr_assert_eq(access(process.directory, F_OK), 0);
	rr_guardian_stop(&guardian);
	cr_assert_eq(rmdir("here"), 0);
	support_remove(home);
}

Test(guardian, a_base_that_is_missing_is_named)
{
	struct rr_guardian guardian;
	struct rr_error error = { 0 };

	setenv("TMPDIR", "/none", 1);
	cr_assert_not(rr_guardian_start(&guardian, &error));
	cr_assert_eq(error.kind, RR_ERROR_FILE);
	cr_assert_not_null(strstr(error.text, "cannot use '/none'"));
}

/* SPDX-License-Identifier: MIT */
/* The guardian's servers: their directories and their processes. */
#include "guardian_wards.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/placement.h"

enum { ARGV_MAX = 48 };

/* ---- Directories -------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int type,
			struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void guardian_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void ward_directory(const struct guardian_wards *wards, int index,
			   char *path, size_t size)
{
	snprintf(path, size, "%s/%d", wards->base, index);
}

/* ---- Starting and ending a ward ----------------------------------------- */

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: becomes the server, or writes errno to `failed`. */
static void become(const struct guardian_request *request, const char *path,
		   int failed)
{
	char *argv[ARGV_MAX + 1] = { NULL };
	char *word = (char *)request->words;
	int log;

	for (int i = 0; i < request->n_argv && i < ARGV_MAX; i++) {
		argv[i] = word;
		word += strlen(word) + 1;
	}
	for (int i = 0; i < request->n_environment; i++) {
		putenv(word);
		word += strlen(word) + 1;
	}
	reset_signals();
	setpgid(0, 0); /* not setsid(): a session is a scheduling group */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rr_placement_pin(request->cpu);
	log = open("/dev/null", O_RDONLY);
	dup2(log, STDIN_FILENO);
	if (chdir(path) == 0) {
		log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execvp(argv[0], argv);
	}
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks the ward; 0, or the errno of what failed. */
static int launch(const struct guardian_request *request, const char *path,
		  pid_t *pid)
{
	int failed[2], number = 0;

	if (pipe2(failed, O_CLOEXEC) != 0)
		return errno;
	*pid = fork();
	if (*pid == 0)
		become(request, path, failed[1]);
	if (*pid < 0)
		number = errno;
	close(failed[1]);
	if (*pid > 0 && read(failed[0], &number, sizeof(number)) > 0)
		waitpid(*pid, NULL, 0);
	close(failed[0]);
	return number;
}

/* A ward's directory, under the first number that is free. */
void guardian_prepare(struct guardian_wards *wards,
		    struct guardian_answer *answer)
{
	char path[96];
	int i = 0;

	while (i < wards->n && wards->list[i].is_used)
		i++;
	if (i == GUARDIAN_WARDS_MAX) {
		answer->error_number = EAGAIN;
		return;
	}
	ward_directory(wards, i, path, sizeof(path));
	if (mkdir(path, 0700) != 0) {
		answer->error_number = errno;
		return;
	}
	wards->list[i] = (struct guardian_ward){ .is_used = true };
	if (i == wards->n)
		wards->n++;
	answer->index = i;
}

void guardian_spawn(struct guardian_wards *wards,
		  const struct guardian_request *request,
		  struct guardian_answer *answer)
{
	struct guardian_ward *ward = &wards->list[request->index];
	char path[96];

	if (ward->pid) {
		answer->error_number = EBUSY;
		return;
	}
	ward_directory(wards, request->index, path, sizeof(path));
	answer->error_number = launch(request, path, &answer->pid);
	if (!answer->error_number)
		ward->pid = answer->pid;
}

static void end_process(struct guardian_ward *ward)
{
	if (!ward->pid)
		return;
	kill(-ward->pid, SIGKILL); /* whatever it started, too */
	kill(ward->pid, SIGKILL);
	waitpid(ward->pid, &ward->status, 0);
	ward->pid = 0;
}

void guardian_end(struct guardian_wards *wards, int index)
{
	char path[96];

	end_process(&wards->list[index]);
	wards->list[index].is_used = false;
	ward_directory(wards, index, path, sizeof(path));
	guardian_remove_tree(path);
}

/* Not reaped yet, so its number is nobody else's. */
void guardian_signal(struct guardian_ward *ward, int number,
			struct guardian_answer *answer)
{
	if (!ward->pid) {
		answer->error_number = ESRCH;
	} else if (number == SIGKILL) {
		end_process(ward);
	} else {
		kill(ward->pid, number);
		if (number == SIGSTOP &&
		    waitpid(ward->pid, &ward->status, WUNTRACED) ==
			    ward->pid &&
		    !WIFSTOPPED(ward->status))
			ward->pid = 0;
	}
}

void guardian_reap(struct guardian_wards *wards)
{
	for (int i = 0; i < wards->n; i++) {
		struct guardian_ward *ward = &wards->list[i];

		if (ward->pid &&
		    waitpid(ward->pid, &ward->status, WNOHANG) == ward->pid)
			ward->pid = 0;
	}
}

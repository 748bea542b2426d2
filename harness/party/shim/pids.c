/* SPDX-License-Identifier: MIT */
/*
 * Process ids that are the same in each run, where the page asks for them: the program sees numbers
 * that are made of its processes' keys (random.c), and that no process of the kernel has. Calls that
 * take one are given the kernel's, and calls that return one the program's. Another process's number,
 * or one that came another way (siginfo_t, credentials of a socket), stays what it is, and the calls
 * take it.
 *
 * Several runs of a program go on side by side, and so do several checks. What they name by their
 * process ids, they must not share: redrace is told of a file that has such a name, and leaves
 * process ids to the kernel from then on.
 */
#include "shim.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Which process ------------------------------------------------------------------- */

static bool are_fixed(void)
{
	const struct rr_program_page *page = rr_shim_page();

	return page && atomic_load(&page->fixes_pids);
}

/* Somebody wants to know one, which counts as drawn where they are fixed: returns whether they are. */
static bool ask(void)
{
	struct rr_program_page *page = rr_shim_page();

	if (page && !atomic_exchange(&page->asks_pids, 1) && are_fixed())
		atomic_fetch_add(&page->n_drawn, sizeof(int));
	return are_fixed();
}

/* Of a process, or, if it is negative, of a group. */
static int real_of(int shown)
{
	return shown < 0 ? -rr_shim_real_pid_of(-shown) : rr_shim_real_pid_of(shown);
}

static int shown_of(int pid)
{
	return ask() ? rr_shim_shown_pid(pid, false) : pid;
}

static int child_of(int pid)
{
	return are_fixed() ? rr_shim_shown_pid(pid, true) : pid;
}

pid_t getpid(void)
{
	return ask() ? rr_shim_own_pid() : rr_shim_real_pid();
}

pid_t gettid(void)
{
	return ask() ? rr_shim_own_tid() : rr_shim_real_tid();
}

pid_t getppid(void)
{
	return shown_of(RR_SHIM_NEXT(getppid)());
}

pid_t getpgrp(void)
{
	return shown_of(RR_SHIM_NEXT(getpgrp)());
}

pid_t getpgid(pid_t pid)
{
	return shown_of(RR_SHIM_NEXT(getpgid)(real_of(pid)));
}

pid_t getsid(pid_t pid)
{
	return shown_of(RR_SHIM_NEXT(getsid)(real_of(pid)));
}

pid_t setsid(void)
{
	return shown_of(RR_SHIM_NEXT(setsid)());
}

pid_t tcgetpgrp(int fd)
{
	return shown_of(RR_SHIM_NEXT(tcgetpgrp)(fd));
}

/* ---- Children -------------------------------------------------------------------------- */

pid_t wait(int *status)
{
	return child_of(RR_SHIM_NEXT(wait)(status));
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return child_of(RR_SHIM_NEXT(waitpid)(real_of(pid), status, options));
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return child_of(RR_SHIM_NEXT(wait3)(status, options, usage));
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return child_of(RR_SHIM_NEXT(wait4)(real_of(pid), status, options, usage));
}

int waitid(idtype_t type, id_t id, siginfo_t *of_child, int options)
{
	const id_t real = type == P_PID || type == P_PGID ? (id_t)real_of((int)id) : id;
	const int result = RR_SHIM_NEXT(waitid)(type, real, of_child, options);

	if (result == 0 && of_child)
		of_child->si_pid = child_of(of_child->si_pid);
	return result;
}

/* ---- Calls that take one ---------------------------------------------------------------- */

int kill(pid_t pid, int number)
{
	return RR_SHIM_NEXT(kill)(real_of(pid), number);
}

int killpg(pid_t group, int number)
{
	return RR_SHIM_NEXT(killpg)(real_of(group), number);
}

int tgkill(pid_t pid, pid_t thread, int number)
{
	return RR_SHIM_NEXT(tgkill)(real_of(pid), real_of(thread), number);
}

int sigqueue(pid_t pid, int number, const union sigval value)
{
	return RR_SHIM_NEXT(sigqueue)(real_of(pid), number, value);
}

int setpgid(pid_t pid, pid_t group)
{
	return RR_SHIM_NEXT(setpgid)(real_of(pid), real_of(group));
}

int tcsetpgrp(int fd, pid_t group)
{
	return RR_SHIM_NEXT(tcsetpgrp)(fd, real_of(group));
}

int getpriority(__priority_which_t which, id_t of)
{
	return RR_SHIM_NEXT(getpriority)(which, which == PRIO_USER ? of : (id_t)real_of((int)of));
}

int setpriority(__priority_which_t which, id_t of, int priority)
{
	return RR_SHIM_NEXT(setpriority)(which, which == PRIO_USER ? of : (id_t)real_of((int)of),
					 priority);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	return RR_SHIM_NEXT(sched_getaffinity)(real_of(pid), size, set);
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	return RR_SHIM_NEXT(sched_setaffinity)(real_of(pid), size, set);
}

int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit, struct rlimit *old)
{
	return RR_SHIM_NEXT(prlimit)(real_of(pid), resource, limit, old);
}

int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *limit,
	      struct rlimit64 *old)
{
	return RR_SHIM_NEXT(prlimit64)(real_of(pid), resource, limit, old);
}

/* The C library has it from 2.36 on. */
int pidfd_open(pid_t pid, unsigned flags);

int pidfd_open(pid_t pid, unsigned flags)
{
	const long words[6] = { real_of(pid), (long)flags };

	return (int)rr_shim_kernel_call(SYS_pidfd_open, words);
}

bool rr_shim_pid_call(long number, const long words[6], long *result)
{
	switch (number) {
	case SYS_getpid:
		*result = getpid();
		return true;
	case SYS_gettid:
		*result = gettid();
		return true;
	case SYS_getppid:
		*result = getppid();
		return true;
	case SYS_kill:
		*result = kill((pid_t)words[0], (int)words[1]);
		return true;
	case SYS_tgkill:
		*result = tgkill((pid_t)words[0], (pid_t)words[1], (int)words[2]);
		return true;
	case SYS_pidfd_open:
		*result = pidfd_open((pid_t)words[0], (unsigned)words[1]);
		return true;
	default:
		return false;
	}
}

/* ---- Paths ------------------------------------------------------------------------------ */

/* The next number from there on that is a process id which the program sees, and where it ends; 0: there
 * is none. */
static int next_pid(const char **at, const char **end)
{
	while (*(*at += strcspn(*at, "0123456789"))) {
		char *behind;
		const long pid = strtol(*at, &behind, 10);

		*end = behind;
		if (pid > RR_PIDS_FIRST && pid < RR_PIDS_FIRST + RR_PIDS &&
		    real_of((int)pid) != (int)pid)
			return (int)pid;
		*at = behind;
	}
	return 0;
}

const char *rr_shim_real_path(const char *path, char text[RR_SHIM_PROC_PATH])
{
	static const char proc[] = "/proc/";
	const char *at = path, *from = path, *end;
	size_t n = 0;
	int pid;

	if (!path || !are_fixed() || strncmp(path, proc, sizeof(proc) - 1) != 0 ||
	    strlen(path) >= RR_SHIM_PROC_PATH)
		return path;
	while ((pid = next_pid(&at, &end))) {
		n += (size_t)snprintf(text + n, RR_SHIM_PROC_PATH - n, "%.*s%d", (int)(at - from),
				      from, real_of(pid));
		at = from = end;
	}
	/* The kernel's numbers are not longer. */
	snprintf(text + n, RR_SHIM_PROC_PATH - n, "%s", from);
	return text;
}

/* The C library opens it without asking open(2) of this library. */
DIR *opendir(const char *path)
{
	char real[RR_SHIM_PROC_PATH];

	return RR_SHIM_NEXT(opendir)(rr_shim_real_path(path, real));
}

/* Each start has a directory of its own for temporary files: that of the page. */
bool rr_shim_is_private(const char *path)
{
	const char *page = getenv(RR_PROGRAM_PAGE_VARIABLE);
	const char *end = page ? strrchr(page, '/') : NULL;

	return end && strncmp(path, page, (size_t)(end - page) + 1) == 0;
}

void rr_shim_note_made(const char *path)
{
	const char *at = path, *end;

	if (path && are_fixed() && !rr_shim_is_private(path) && next_pid(&at, &end))
		atomic_store(&rr_shim_page()->names_pid_file, 1);
}

int mkdir(const char *path, mode_t mode)
{
	const long words[6] = { AT_FDCWD, (long)path, (long)mode };

	rr_shim_note_made(path);
	return (int)rr_shim_kernel_call(SYS_mkdirat, words);
}

int mkfifo(const char *path, mode_t mode)
{
	rr_shim_note_made(path);
	return RR_SHIM_NEXT(mkfifo)(path, mode);
}

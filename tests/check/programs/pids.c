/* SPDX-License-Identifier: MIT */
/* Prints process ids, after it has seen that all calls agree about them; 1: some do not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int n_wrong;

static void expect(int holds, const char *what)
{
	if (!holds)
		fprintf(stderr, "%s\n", what);
	n_wrong += !holds;
}

static volatile sig_atomic_t n_signals;

static void count_signal(int number)
{
	(void)number;
	n_signals++;
}

static void *look_in_thread(void *own)
{
	expect(getpid() == *(int *)own, "a thread has its process's id");
	expect(gettid() != getpid() && gettid() == syscall(SYS_gettid), "a thread has one id");
	expect(tgkill(getpid(), gettid(), 0) == 0, "a thread is found by its id");
	return NULL;
}

/* A child reads a byte and then waits for a signal, or says what its ids are. */
static int begin_child(int parent, int *to_child)
{
	int ends[2], pid;
	char byte;

	expect(pipe(ends) == 0, "pipe");
	pid = fork();
	if (pid != 0) {
		close(ends[0]);
		*to_child = ends[1];
		return pid;
	}
	close(ends[1]);
	if (getppid() != parent || getpid() == parent || setpgid(0, 0) != 0 ||
	    getpgrp() != getpid() || getpgid(0) != getpid())
		_exit(2);
	if (read(ends[0], &byte, 1) == 1)
		_exit(7);
	pause();
	_exit(3);
}

static void look_at_children(int self)
{
	int to_child, status, pid = begin_child(self, &to_child);
	siginfo_t info;
	char path[60];
	struct stat file;

	expect(write(to_child, "x", 1) == 1, "write");
	memset(&info, 0, sizeof(info));
	expect(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == pid,
	       "waitid(2) names the child");
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	expect(stat(path, &file) == 0, "/proc has the child");
	expect(waitpid(-1, &status, 0) == pid && WEXITSTATUS(status) == 7,
	       "the child has its parent and group");
	close(to_child);
	pid = begin_child(self, &to_child);
	expect(kill(pid, 0) == 0 && getpgid(pid) > 0 &&
		       getpriority(PRIO_PROCESS, (id_t)pid) == getpriority(PRIO_PROCESS, 0),
	       "a child is found");
	expect(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status),
	       "a child is killed");
	expect(kill(pid, 0) != 0, "a child that was waited for is gone");
	close(to_child);
}

static void look_at_programs(int self, char *path)
{
	char own[20], parent[20], *argv[] = { path, own, parent, NULL };
	int status, pid;

	snprintf(parent, sizeof(parent), "%d", self);
	strcpy(own, "0");
	pid = vfork();
	if (pid == 0) {
		execv(path, argv);
		_exit(127);
	}
	expect(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 0,
	       "a program has its parent");
	expect(posix_spawn(&pid, path, NULL, NULL, argv, environ) == 0, "posix_spawn");
	expect(wait(&status) == pid && WEXITSTATUS(status) == 0, "one that is spawned, too");
	/* exec(2) keeps the process id. */
	pid = fork();
	if (pid == 0) {
		snprintf(own, sizeof(own), "%d", getpid());
		execv(path, argv);
		_exit(127);
	}
	expect(wait4(pid, &status, 0, NULL) == pid && WEXITSTATUS(status) == 0,
	       "a program has the id that it had before exec(2)");
	expect(system("exit 5") == 5 << 8, "system(3)");
}

/* With arguments: the id that it has, or 0, and that of its parent. */
int main(int argc, char **argv)
{
	int self = getpid();
	pthread_t thread;
	FILE *status;
	DIR *directory;
	char line[200];

	if (argc == 3)
		return (atoi(argv[1]) && atoi(argv[1]) != self) || atoi(argv[2]) != getppid();
	expect(self == syscall(SYS_getpid) && self == gettid(), "the process has one id");
	signal(SIGUSR1, count_signal);
	expect(kill(getpid(), SIGUSR1) == 0 && raise(SIGUSR1) == 0 &&
		       tgkill(self, self, SIGUSR1) == 0 && n_signals == 3,
	       "the process signals itself");
	snprintf(line, sizeof(line), "/proc/%d/status", self);
	status = fopen(line, "r");
	expect(status && fgets(line, sizeof(line), status), "/proc has the process");
	if (status)
		fclose(status);
	snprintf(line, sizeof(line), "/proc/self/task/%d/children", self);
	expect(access(line, R_OK) == 0, "/proc has the process's thread");
	snprintf(line, sizeof(line), "/proc/%d/task/%d", self, self);
	directory = opendir(line);
	expect(directory != NULL, "/proc has the directory of the process's thread");
	if (directory)
		closedir(directory);
	pthread_create(&thread, NULL, look_in_thread, &self);
	pthread_join(thread, NULL);
	look_at_children(self);
	look_at_programs(self, argv[0]);
	printf("%d %d\n", self, getppid());
	return n_wrong > 0;
}

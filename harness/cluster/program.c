/* SPDX-License-Identifier: MIT */
/* The program that is to be a server, which is named by --redis-server: where it is,
 * and whether it is one. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "server.h"

enum { LOG_BYTES_MAX = 1 << 20, SUSPECT_MS = 1000, VERSION_MS = 800 };

char *rr_program_locate(const char *program)
{
	char *here = program[0] != '/' && strchr(program, '/') ? getcwd(NULL, 0) : NULL;
	char *path = rr_asprintf("%s%s%s", here ? here : "", here ? "/" : "", program);

	free(here);
	return path;
}

/* A server says little before it answers; yes(1) fills the disk. */
static bool floods_its_log(const struct rr_server *server)
{
	char path[128];
	struct stat info;

	snprintf(path, sizeof(path), "%s/log", server->process.directory);
	return stat(path, &info) == 0 && info.st_size > LOG_BYTES_MAX;
}

/* Starts the program with --version in a process group of its own, its output into the
 * pipe; it ends with us. -1 = it cannot be started. */
static pid_t ask_version(const char *program, const int pipe_ends[2])
{
	const pid_t asker = getpid();
	const pid_t pid = fork();
	int nothing;

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != asker) /* it died before that was set */
		_exit(1);
	setpgid(0, 0);
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(nothing, STDIN_FILENO);
	dup2(pipe_ends[1], STDOUT_FILENO);
	dup2(pipe_ends[1], STDERR_FILENO);
	execlp(program, program, "--version", (char *)NULL);
	_exit(1);
}

/* "Redis server v=7.0.15 ..." or "Valkey server v=9.1.0 ...", written at once. */
static bool tells_a_version(const char *program)
{
	char said[200] = "";
	struct pollfd ready = { .events = POLLIN };
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return true;
	pid = ask_version(program, ends);
	close(ends[1]);
	ready.fd = ends[0];
	if (pid > 0 && poll(&ready, 1, VERSION_MS) == 1 &&
	    read(ends[0], said, sizeof(said) - 1) < 0)
		said[0] = '\0';
	close(ends[0]);
	if (pid > 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it may have no group of its own yet */
		waitpid(pid, NULL, 0);
	}
	return strstr(said, " server v=");
}

bool rr_program_is_likely(struct rr_suspicion *suspicion, struct rr_cluster *cluster,
			  const struct rr_server *server, struct rr_error *error)
{
	const char *program = cluster->options.program;

	if (floods_its_log(server))
		return rr_error_set(
			error, RR_ERROR_REDIS,
			"'%.300s' is no redis-server: it writes without an end and does not answer",
			program);
	if (suspicion->is_settled ||
	    rr_clock_ns() - suspicion->begun_ns < SUSPECT_MS * INT64_C(1000000))
		return true;
	suspicion->is_settled = true;
	if (tells_a_version(program))
		return true;
	if (!rr_signals_wait(&cluster->session->signals, 0))
		return rr_error_interrupted(error);
	return rr_error_set(
		error, RR_ERROR_REDIS,
		"'%.300s' is no redis-server: it does not answer, and --version shows none",
		program);
}

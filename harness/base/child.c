/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"

/* In the child: becomes the program, in a process group of its own so that all
 * it may start ends with it. */
static _Noreturn void become(const char *const argv[], int output)
{
	sigset_t none;
	int input;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(RR_CHILD_NOT_FOUND);
}

/* Appends what can be read; when the buffer is full its older half goes. */
static bool append_output(struct rr_child *child, int fd, size_t *used)
{
	const size_t half = RR_CHILD_OUTPUT / 2;
	ssize_t n;

	if (*used + 1 == RR_CHILD_OUTPUT) {
		memmove(child->output, child->output + half, *used - half);
		*used -= half;
	}
	n = read(fd, child->output + *used, RR_CHILD_OUTPUT - 1 - *used);
	if (n > 0)
		*used += (size_t)n;
	child->output[*used] = '\0';
	return n > 0;
}

/* All that comes out of `fd`; false when it does not end in time, or when
 * somebody does not want to wait for it. */
static bool read_all(struct rr_child *child, int fd, long limit_ms, struct rr_signals *signals)
{
	struct pollfd ready[] = { { .fd = fd, .events = POLLIN },
				  { .fd = signals->fd, .events = POLLIN } };
	const long end_ms = rr_clock_ns() / 1000000 + limit_ms;
	size_t used = 0;

	for (;;) {
		const long left_ms = end_ms - rr_clock_ns() / 1000000;

		if (left_ms <= 0 || poll(ready, 2, (int)left_ms) < 1)
			return false;
		rr_signals_wait(signals, 0);
		if (signals->interrupted)
			return false;
		if (ready[0].revents && !append_output(child, fd, &used))
			return true;
	}
}

static pid_t start(const char *const argv[], int *output)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(argv, ends[1]);
	if (pid > 0)
		setpgid(pid, pid);
	else
		close(ends[0]);
	close(ends[1]);
	*output = ends[0];
	return pid;
}

bool rr_child_run(struct rr_child *child, const char *const argv[], long limit_ms,
		  struct rr_signals *signals, struct rr_error *error)
{
	bool ended;
	int output;
	pid_t pid;

	*child = (struct rr_child){ 0 };
	pid = start(argv, &output);
	if (pid < 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot start %s: %s", argv[0],
				    strerror(errno));
	ended = read_all(child, output, limit_ms, signals);
	close(output);
	if (!ended)
		kill(-pid, SIGKILL);
	waitpid(pid, &child->status, 0);
	if (signals->interrupted)
		return rr_error_interrupted(error);
	return ended || rr_error_set(error, RR_ERROR_INTERNAL, "%s did not end within %ld s",
				     argv[0], limit_ms / 1000);
}

bool rr_child_exited(const struct rr_child *child, int code)
{
	return WIFEXITED(child->status) && WEXITSTATUS(child->status) == code;
}

bool rr_child_line(const struct rr_child *child, char *line, size_t size)
{
	const char *at = child->output;
	bool found = false;

	while (*at) {
		const size_t length = strcspn(at, "\n");

		if (length > 0) {
			snprintf(line, size, "%.*s", (int)length, at);
			found = true;
		}
		at += length;
		at += *at == '\n';
	}
	return found;
}

/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement.h"

enum { LIMIT_MS = 120000, OUTPUT_SIZE = 4096, NOT_FOUND = 127 };

/* In the child: becomes redis-benchmark, its output in `output`. */
static _Noreturn void become(const struct rr_fleet *fleet, int connections,
			     long requests, int output)
{
	char clients[16], number[24];
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rr_placement_pin(fleet->cpu);
	snprintf(clients, sizeof(clients), "%d", connections);
	snprintf(number, sizeof(number), "%ld", requests);
	dup2(output, STDOUT_FILENO);
	execlp("redis-benchmark", "redis-benchmark", "-s",
	       fleet->addresses[0].host, "-t", "incr", "-c", clients, "-n",
	       number, "--csv", (char *)NULL);
	_exit(NOT_FOUND);
}

/* All that comes out of `fd`; false when it does not end in time, or when
 * somebody does not want to wait for it. */
static bool read_all(int fd, struct rr_signals *signals,
		     char output[OUTPUT_SIZE])
{
	struct pollfd ready[] = { { .fd = fd, .events = POLLIN },
				  { .fd = signals->fd, .events = POLLIN } };
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && used + 1 < OUTPUT_SIZE) {
		if (poll(ready, 2, LIMIT_MS) < 1)
			return false;
		rr_signals_wait(signals, 0);
		if (signals->interrupted)
			return false;
		if (!ready[0].revents)
			continue;
		n = read(fd, output + used, OUTPUT_SIZE - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	output[used] = '\0';
	return true;
}

/* The figure in the line "INCR","57636.89",... */
static bool parse(const char *output, double *per_s)
{
	static const char begin[] = "\"INCR\",\"";
	const char *line = strstr(output, begin);

	if (!line)
		return false;
	*per_s = strtod(line + strlen(begin), NULL);
	return *per_s > 0;
}

enum rr_exit rr_peer_incr(const struct rr_fleet *fleet, int connections,
			  long requests, double *per_s)
{
	char output[OUTPUT_SIZE];
	int ends[2], status = 0;
	bool ended;
	pid_t pid;

	if (pipe(ends) != 0)
		return rr_complain(RR_EXIT_INTERNAL, "pipe: %s",
				   strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(fleet, connections, requests, ends[1]);
	close(ends[1]);
	ended = pid > 0 && read_all(ends[0], fleet->signals, output);
	close(ends[0]);
	if (pid > 0 && !ended)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (fleet->signals->interrupted)
		return RR_EXIT_INTERRUPTED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return rr_complain(RR_EXIT_SKIPPED,
				   "redis-benchmark is not on PATH; install redis-tools (make deps)");
	if (!ended || !parse(output, per_s))
		return rr_complain(RR_EXIT_INTERNAL,
				   "redis-benchmark gave no result");
	return RR_EXIT_OK;
}

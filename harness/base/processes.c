/* SPDX-License-Identifier: MIT */
#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

void rr_processes_init(struct rr_processes *processes, int n)
{
	*processes = (struct rr_processes){
		.n = n,
		.pids = rr_calloc((size_t)n, sizeof(*processes->pids)),
	};
}

void rr_processes_release(struct rr_processes *processes)
{
	for (int i = 0; processes->pids && i < processes->n; i++) {
		if (processes->pids[i] == 0)
			continue;
		kill(processes->pids[i], SIGKILL);
		while (waitpid(processes->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(processes->pids);
	*processes = (struct rr_processes){ 0 };
}

bool rr_processes_start(struct rr_processes *processes, int slot,
			int (*body)(void *context, int slot), void *context, struct rr_error *error)
{
	const pid_t program = getpid();
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != program) /* it died before that was set */
			_exit(1);
		_exit(body(context, slot));
	}
	if (pid < 0)
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot start a process: %s",
				    strerror(errno));
	processes->pids[slot] = pid;
	processes->n_alive++;
	return true;
}

int rr_processes_reap(struct rr_processes *processes, int *status)
{
	for (int i = 0; i < processes->n; i++) {
		const pid_t pid = processes->pids[i];

		if (pid == 0 || waitpid(pid, status, WNOHANG) != pid)
			continue;
		processes->pids[i] = 0;
		processes->n_alive--;
		return i;
	}
	return -1;
}

void rr_processes_signal(const struct rr_processes *processes, int number)
{
	for (int i = 0; i < processes->n; i++) {
		if (processes->pids[i])
			kill(processes->pids[i], number);
	}
}

const char *rr_process_end(int status, char text[RR_PROCESS_END_SIZE])
{
	const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const char *name = sigabbrev_np(number);

	if (number && name)
		snprintf(text, RR_PROCESS_END_SIZE, "was killed by signal %d (SIG%s)", number,
			 name);
	else if (number)
		snprintf(text, RR_PROCESS_END_SIZE, "was killed by signal %d", number);
	else
		snprintf(text, RR_PROCESS_END_SIZE, "exited with %d", WEXITSTATUS(status));
	return text;
}

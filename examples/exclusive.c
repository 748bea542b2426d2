/* SPDX-License-Identifier: MIT */
/*
 * Long work under the renewed lock: runs a command that must not run twice,
 * and ends it when the lock is lost.
 *
 *	exclusive redis://localhost nightly-report make report
 *
 * The lease is short, so that a crash keeps the others out for seconds only,
 * and is renewed while the work lasts. The loss of the lock is an event like
 * the end of the work: poll() waits for both.
 *
 * Exit: as the command; 75 it runs already, or the lock was lost; 69 no server.
 */
#include <errno.h>
#include <poll.h>
#include <redislock.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum { TTL_MS = 3000, HOLD_MAX_MS = 3600 * 1000, TIMEOUT_MS = 500 };

extern char **environ;

/* Until the command has ended: true, or the lock is lost: false. */
static bool outlives(const struct rl_renewed *lock, int pid_fd)
{
	struct pollfd events[] = {
		{ .fd = pid_fd, .events = POLLIN },
		{ .fd = rl_renewed_loss_fd(lock), .events = POLLIN },
	};

	while (!events[0].revents && !events[1].revents)
		poll(events, 2, -1);
	return !events[1].revents;
}

/* The command's exit code; a command that may run twice is ended. */
static int attend(const struct rl_renewed *lock, pid_t pid)
{
	const int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	const bool kept = pid_fd >= 0 && outlives(lock, pid_fd);
	int status = 0;

	if (!kept) {
		fprintf(stderr, "exclusive: %s\n",
			pid_fd < 0 ? strerror(errno) : "the lock was lost");
		kill(pid, SIGTERM);
	}
	waitpid(pid, &status, 0);
	close(pid_fd);
	if (!kept)
		return pid_fd < 0 ? EX_OSERR : EX_TEMPFAIL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(struct rl_link *link, struct rl_renewed *lock, char **command)
{
	const enum rl_outcome outcome = rl_renewed_try(lock, TTL_MS);
	pid_t pid;

	if (outcome != RL_OK) {
		fprintf(stderr, "exclusive: %s: %s\n", rl_outcome_name(outcome),
			outcome == RL_BUSY ? "it runs already" :
					     rl_link_error(link));
		return outcome == RL_BUSY ? EX_TEMPFAIL : EX_UNAVAILABLE;
	}
	if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) == 0)
		return attend(lock, pid);
	fprintf(stderr, "exclusive: cannot run '%s'\n", command[0]);
	return EX_OSERR;
}

int main(int argc, char **argv)
{
	char error[128] = "usage: exclusive URI KEY COMMAND [ARGUMENT...]";
	struct rl_address address;
	struct rl_link *link;
	struct rl_renewed *lock;
	int code = EX_OSERR;

	if (argc < 4 ||
	    !rl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "exclusive: %s\n", error);
		return EX_USAGE;
	}
	link = rl_link_new(&address, TIMEOUT_MS);
	lock = link ? rl_renewed_new(link, argv[2], HOLD_MAX_MS) : NULL;
	if (lock) {
		code = run(link, lock, argv + 3);
		rl_renewed_release(lock); /* RL_LOST when it was lost */
	}
	rl_renewed_free(lock);
	rl_link_free(link);
	return code;
}

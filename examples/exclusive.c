/* SPDX-License-Identifier: MIT */
/*
 * Long work under the renewed lock: runs a command that must not run twice,
 * and ends it when the lock is lost.
 *
 *	exclusive redis://localhost nightly-report make report
 *
 * The lease is short: a crash keeps the others out for seconds only. It is
 * renewed while the work lasts, and given back when the command has ended: a
 * SIGINT or SIGTERM goes on to the command, and kill -9 of this program is one
 * of the command, too. What the command has started itself is not followed.
 *
 * Exit: as the command; 75 it runs already, or the lock was lost; 69 no server.
 */
#include <poll.h>
#include <redislock.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum { TTL_MS = 3000, HOLD_MAX_MS = 3600 * 1000, TIMEOUT_MS = 500 };

/* Until the command has ended: true, or the lock is lost: false. */
static bool outlives(const struct rdl_renewed *lock, pid_t pid, int signals, int *status)
{
	struct pollfd events[] = {
		{ .fd = rdl_renewed_loss_fd(lock), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct signalfd_siginfo got;

	while (waitpid(pid, status, WNOHANG) == 0) {
		poll(events, 2, -1);
		if (events[0].revents)
			return false;
		if (read(signals, &got, sizeof(got)) == sizeof(got) && got.ssi_signo != SIGCHLD)
			kill(pid, (int)got.ssi_signo);
	}
	return true;
}

/* The command's exit code; a command that may run twice is ended. */
static int attend(const struct rdl_renewed *lock, pid_t pid, int signals)
{
	int status = 0;

	if (!outlives(lock, pid, signals, &status)) {
		fputs("exclusive: the lock was lost\n", stderr);
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
		return EX_TEMPFAIL;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(struct rdl_renewed *lock, char **command, const sigset_t *set)
{
	const int signals = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	const pid_t parent = getpid(), pid = signals < 0 ? -1 : fork();

	if (pid > 0)
		return attend(lock, pid, signals);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_UNBLOCK, set, NULL);
		if (getppid() == parent) /* it had not ended before prctl() */
			execvp(command[0], command);
	}
	fprintf(stderr, "exclusive: cannot run '%s'\n", command[0]);
	if (pid == 0)
		_exit(EX_OSERR);
	return EX_OSERR;
}

static int take_and_run(struct rdl_link *link, struct rdl_renewed *lock, char **command)
{
	enum rdl_outcome outcome;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL); /* the renewer's thread has this, too */
	outcome = rdl_renewed_try(lock, TTL_MS);
	if (outcome == RDL_OK)
		return run(lock, command, &set);
	fprintf(stderr, "exclusive: %s: %s\n", rdl_outcome_name(outcome),
		outcome == RDL_BUSY ? "it runs already" : rdl_link_error(link));
	return outcome == RDL_BUSY ? EX_TEMPFAIL : EX_UNAVAILABLE;
}

int main(int argc, char **argv)
{
	char error[128] = "usage: exclusive URI KEY COMMAND [ARGUMENT...]";
	struct rdl_address address;
	struct rdl_link *link;
	struct rdl_renewed *lock;
	int code = EX_OSERR;

	if (argc < 4 || !rdl_address_parse(&address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "exclusive: %s\n", error);
		return EX_USAGE;
	}
	link = rdl_link_new(&address, TIMEOUT_MS);
	lock = link ? rdl_renewed_new(link, argv[2], HOLD_MAX_MS) : NULL;
	if (lock) {
		code = take_and_run(link, lock, argv + 3);
		rdl_renewed_release(lock); /* RDL_LOST when it was lost */
	}
	rdl_renewed_free(lock);
	rdl_link_free(link);
	return code;
}

/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static sigset_t wanted(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return set;
}

bool rr_signals_open(struct rr_signals *signals)
{
	const sigset_t set = wanted();

	signal(SIGPIPE, SIG_IGN); /* errors of write(2) are enough */
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals->interrupted = false;
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd >= 0;
}

void rr_signals_wait(struct rr_signals *signals, int timeout_ms)
{
	struct pollfd fd = { .fd = signals->fd, .events = POLLIN };
	struct signalfd_siginfo info;

	poll(&fd, 1, timeout_ms);
	while (read(signals->fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			signals->interrupted = true;
	}
}

void rr_signals_close(struct rr_signals *signals)
{
	const sigset_t set = wanted();

	rr_signals_wait(signals, 0); /* what came late ends nobody */
	close(signals->fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The machine as the program sees it: its signals, processors and clocks. */
#include "machine.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* ---- Signals ----------------------------------------------------------------- */

static sigset_t watched_signals(void)
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
	const sigset_t set = watched_signals();

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
	const sigset_t set = watched_signals();

	rr_signals_wait(signals, 0); /* what came late ends nobody */
	close(signals->fd);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- Processors --------------------------------------------------------------- */

int rr_placement_nth(int n)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -1;
	n %= CPU_COUNT(&set);
	for (int i = CPU_SETSIZE; i-- > 0;) {
		if (CPU_ISSET(i, &set) && n-- == 0)
			return i;
	}
	return -1;
}

int rr_placement_cpu(void)
{
	return rr_placement_nth(0);
}

void rr_placement_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void rr_placement_settle(int cpu)
{
	rr_placement_pin(cpu);
	sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){ 0 });
}

int rr_placement_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return CPU_COUNT(&set);
}

/* ---- Clocks -------------------------------------------------------------------- */

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t rr_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t rr_clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

double rr_clock_s(void)
{
	return (double)rr_clock_ns() / 1e9;
}

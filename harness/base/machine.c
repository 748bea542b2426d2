/* SPDX-License-Identifier: MIT */
/* The machine as the program sees it: its signals, processors, memory and clocks. */
#include "machine.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "error.h"

/* ---- Signals ----------------------------------------------------------------- */

/* Those that ask the program to end. */
static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP };

enum { N_ENDING = sizeof(ending_signals) / sizeof(ending_signals[0]) };

/* How the terminal is to be left. A signal's handler is given nothing else. */
static struct termios terminal_before;
static volatile sig_atomic_t is_terminal_changed;

static _Noreturn void end_at_once(int number)
{
	(void)number;
	if (is_terminal_changed)
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
	_exit(RR_EXIT_INTERRUPTED);
}

bool rr_terminal_change(const struct termios *settings)
{
	if (tcgetattr(STDIN_FILENO, &terminal_before) != 0)
		return false;
	is_terminal_changed = true;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, settings) == 0)
		return true;
	is_terminal_changed = false;
	return false;
}

void rr_terminal_restore(void)
{
	if (is_terminal_changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal_before);
	is_terminal_changed = false;
}

struct winsize rr_terminal_size(int fd)
{
	struct winsize size = { 0 };

	ioctl(fd, TIOCGWINSZ, &size);
	return size;
}

bool rr_terminal_is_smart(void)
{
	const char *name = getenv("TERM");

	return name && *name && strcmp(name, "dumb") != 0;
}

/* `nohup` means it. */
static bool is_ignored(int number)
{
	struct sigaction before;

	return number == SIGHUP && sigaction(number, NULL, &before) == 0 &&
	       before.sa_handler == SIG_IGN;
}

static sigset_t watched_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < N_ENDING; i++) {
		if (!is_ignored(ending_signals[i]))
			sigaddset(&set, ending_signals[i]);
	}
	sigaddset(&set, SIGCHLD);
	return set;
}

/* Errors of write(2) are enough: what else is to be written shall be. */
static void ignore_failed_writes(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void rr_signals_end_program(void)
{
	ignore_failed_writes();
	for (size_t i = 0; i < N_ENDING; i++) {
		if (!is_ignored(ending_signals[i]))
			signal(ending_signals[i], end_at_once);
	}
}

bool rr_signals_have_come(void)
{
	struct itimerval left;

	return getitimer(ITIMER_REAL, &left) == 0 &&
	       (left.it_value.tv_sec || left.it_value.tv_usec);
}

void rr_signals_hold(sigset_t *before)
{
	sigset_t set = watched_signals();

	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, before);
}

void rr_signals_let(sigset_t *before)
{
	sigset_t set = watched_signals();

	sigdelset(&set, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &set, before);
}

bool rr_signals_open(struct rr_signals *signals)
{
	const sigset_t set = watched_signals();

	ignore_failed_writes();
	signal(SIGALRM, end_at_once);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals->interrupted = false;
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd >= 0;
}

bool rr_signals_wait(struct rr_signals *signals, int timeout_ms)
{
	struct pollfd fd = { .fd = signals->fd, .events = POLLIN };
	struct signalfd_siginfo info;

	if (timeout_ms != 0)
		poll(&fd, 1, timeout_ms);
	while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			signals->interrupted = true;
	}
	if (signals->interrupted) {
		/* Whatever the program is at, it has ended then. */
		const struct itimerval limit = {
			.it_value = { .tv_usec = RR_SIGNAL_END_MS % 1000 * 1000,
				      .tv_sec = RR_SIGNAL_END_MS / 1000 },
		};

		if (!rr_signals_have_come())
			setitimer(ITIMER_REAL, &limit, NULL);
	}
	return !signals->interrupted;
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

/* ---- Memory -------------------------------------------------------------------- */

size_t rr_memory_available(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t kib = 0;
	char line[120];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %zu", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib * 1024;
}

/* ---- Clocks -------------------------------------------------------------------- */

int64_t rr_time_ns(struct timespec time)
{
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return rr_time_ns(now);
}

int64_t rr_clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t rr_clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t rr_clock_files_ns(void)
{
	return read_clock(CLOCK_REALTIME_COARSE);
}

double rr_clock_s(void)
{
	return (double)rr_clock_ns() / 1e9;
}

/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program that is checked: its clocks stand still but for what the
 * page says, and sleeping and waiting for a time-out ends when redrace says so.
 *
 * Functions that glibc calls by itself are not seen: waiting for a condition variable,
 * a semaphore or a timer keeps the kernel's clock. A static program keeps all of it.
 *
 * Allocators read the clock while they start: until this library's constructor has
 * run, the kernel is asked. Nothing here allocates. A preloaded library has no caller
 * that could own its state: hence the one static struct.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "check/program_page.h"

#define SECOND_NS INT64_C(1000000000)

/* LOOK: between two looks at whether the time is over. Sets of signals have so many
 * bytes for the kernel. */
enum { LOOK_MS = 1, SIGNALS_BYTES = 8 };

static struct {
	struct rr_program_page *page; /* NULL: nothing is changed */
} shim;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv(RR_PROGRAM_PAGE_VARIABLE);
	struct rr_program_page *page;
	const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	close(fd);
	if (page == MAP_FAILED)
		return;
	shim.page = page;
	atomic_store(&page->has_shim, 1);
}

/* ---- Clocks ------------------------------------------------------------------ */

static int64_t start_of(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return atomic_load(&shim.page->start_ns);
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return atomic_load(&shim.page->monotonic_ns);
	default:
		return -1;
	}
}

/* The processor's own time goes on as it does. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int64_t start = shim.page ? start_of(clock) : -1;
	int64_t ns;

	if (start < 0)
		return (int)syscall(SYS_clock_gettime, clock, now);
	atomic_fetch_add(&shim.page->n_reads, 1);
	ns = start + atomic_load(&shim.page->passed_ns);
	now->tv_sec = ns / SECOND_NS;
	now->tv_nsec = ns % SECOND_NS;
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void)zone; /* obsolete, and nobody fills it in */
	clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}

/* ---- Waiting ------------------------------------------------------------------- */

/* A slot for somebody who waits so long; NULL: there is none, or no page. */
static struct rr_waiter *take_slot(int64_t duration_ns)
{
	for (int i = 0; shim.page && i < RR_WAITERS_MAX; i++) {
		struct rr_waiter *waiter = &shim.page->waiters[i];
		int none = RR_WAITER_NONE;

		if (!atomic_compare_exchange_strong(&waiter->state, &none,
						    RR_WAITER_TAKEN))
			continue;
		atomic_store(&waiter->until_ns,
			     atomic_load(&shim.page->passed_ns) + duration_ns);
		atomic_store(&waiter->state, RR_WAITER_WAITS);
		return waiter;
	}
	return NULL;
}

static bool is_over(const struct rr_waiter *waiter)
{
	return atomic_load(&waiter->state) == RR_WAITER_OVER;
}

static void give_slot_back(struct rr_waiter *waiter)
{
	atomic_store(&waiter->state, RR_WAITER_NONE);
}

static int kernel_poll(struct pollfd *list, nfds_t n, int timeout_ms,
		       const sigset_t *mask)
{
	const struct timespec timeout = { timeout_ms / 1000,
					  timeout_ms % 1000 * 1000000L };

	return (int)syscall(SYS_ppoll, list, n, timeout_ms < 0 ? NULL : &timeout,
			    mask, mask ? SIGNALS_BYTES : 0);
}

/* False: there is no slot, and the kernel has to do it. */
static bool sleep_until_over(int64_t duration_ns)
{
	struct rr_waiter *waiter;

	if (duration_ns <= 0)
		return true;
	waiter = take_slot(duration_ns);
	if (!waiter)
		return false;
	while (!is_over(waiter))
		kernel_poll(NULL, 0, LOOK_MS, NULL);
	give_slot_back(waiter);
	return true;
}

static int64_t ns_of(const struct timespec *time)
{
	return time->tv_sec * SECOND_NS + time->tv_nsec;
}

int nanosleep(const struct timespec *duration, struct timespec *left)
{
	if (sleep_until_over(ns_of(duration)))
		return 0;
	return (int)syscall(SYS_nanosleep, duration, left);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration,
		    struct timespec *left)
{
	const int64_t start = shim.page ? start_of(clock) : -1;
	int64_t ns = ns_of(duration);

	if (start >= 0 && flags & TIMER_ABSTIME)
		ns -= start + atomic_load(&shim.page->passed_ns);
	if (start >= 0 && sleep_until_over(ns))
		return 0;
	return syscall(SYS_clock_nanosleep, clock, flags, duration, left) == 0 ?
		       0 :
		       errno;
}

unsigned int sleep(unsigned int seconds)
{
	const struct timespec duration = { seconds, 0 };

	nanosleep(&duration, NULL);
	return 0;
}

int usleep(useconds_t us)
{
	const struct timespec duration = { us / 1000000,
					   us % 1000000 * 1000L };

	return nanosleep(&duration, NULL);
}

/* ---- Waiting for descriptors ------------------------------------------------------ */

static int poll_until_over(struct pollfd *list, nfds_t n, int64_t timeout_ns,
			   const sigset_t *mask)
{
	int n_ready = kernel_poll(list, n, 0, mask);
	struct rr_waiter *waiter;

	if (n_ready != 0 || timeout_ns == 0)
		return n_ready;
	if (timeout_ns < 0 || !(waiter = take_slot(timeout_ns)))
		return kernel_poll(list, n,
				   timeout_ns < 0 ?
					   -1 :
					   (int)(timeout_ns / 1000000),
				   mask);
	while (n_ready == 0 && !is_over(waiter))
		n_ready = kernel_poll(list, n, LOOK_MS, mask);
	give_slot_back(waiter);
	return n_ready;
}

int poll(struct pollfd *list, nfds_t n, int timeout_ms)
{
	return poll_until_over(list, n, timeout_ms * INT64_C(1000000), NULL);
}

int ppoll(struct pollfd *list, nfds_t n, const struct timespec *timeout,
	  const sigset_t *mask)
{
	return poll_until_over(list, n, timeout ? ns_of(timeout) : -1, mask);
}

static int kernel_select(int n, fd_set *sets[3], const fd_set before[3],
			 int timeout_ms, const sigset_t *mask)
{
	struct timespec timeout = { timeout_ms / 1000,
				    timeout_ms % 1000 * 1000000L };
	const struct {
		const sigset_t *set;
		size_t size;
	} with_mask = { mask, SIGNALS_BYTES };

	for (int i = 0; i < 3; i++) {
		if (sets[i])
			*sets[i] = before[i];
	}
	return (int)syscall(SYS_pselect6, n, sets[0], sets[1], sets[2],
			    timeout_ms < 0 ? NULL : &timeout,
			    mask ? &with_mask : NULL);
}

static int select_until_over(int n, fd_set *sets[3], int64_t timeout_ns,
			     const sigset_t *mask)
{
	fd_set before[3];
	struct rr_waiter *waiter;
	int n_ready;

	for (int i = 0; i < 3; i++) {
		if (sets[i])
			before[i] = *sets[i];
	}
	n_ready = kernel_select(n, sets, before, 0, mask);
	if (n_ready != 0 || timeout_ns == 0)
		return n_ready;
	if (timeout_ns < 0 || !(waiter = take_slot(timeout_ns)))
		return kernel_select(n, sets, before,
				     timeout_ns < 0 ?
					     -1 :
					     (int)(timeout_ns / 1000000),
				     mask);
	while (n_ready == 0 && !is_over(waiter))
		n_ready = kernel_select(n, sets, before, LOOK_MS, mask);
	give_slot_back(waiter);
	return n_ready;
}

int select(int n, fd_set *reading, fd_set *writing, fd_set *excepting,
	   struct timeval *timeout)
{
	fd_set *sets[3] = { reading, writing, excepting };

	return select_until_over(n, sets,
				 timeout ? timeout->tv_sec * SECOND_NS +
						   timeout->tv_usec * 1000 :
					   -1,
				 NULL);
}

int pselect(int n, fd_set *reading, fd_set *writing, fd_set *excepting,
	    const struct timespec *timeout, const sigset_t *mask)
{
	fd_set *sets[3] = { reading, writing, excepting };

	return select_until_over(n, sets, timeout ? ns_of(timeout) : -1, mask);
}

static int kernel_epoll(int epoll, struct epoll_event *events, int most,
			int timeout_ms, const sigset_t *mask)
{
	return (int)syscall(SYS_epoll_pwait, epoll, events, most, timeout_ms,
			    mask, SIGNALS_BYTES);
}

int epoll_pwait(int epoll, struct epoll_event *events, int most,
		int timeout_ms, const sigset_t *mask)
{
	int n_ready = kernel_epoll(epoll, events, most, 0, mask);
	struct rr_waiter *waiter;

	if (n_ready != 0 || timeout_ms == 0)
		return n_ready;
	if (timeout_ms < 0 ||
	    !(waiter = take_slot(timeout_ms * INT64_C(1000000))))
		return kernel_epoll(epoll, events, most, timeout_ms, mask);
	while (n_ready == 0 && !is_over(waiter))
		n_ready = kernel_epoll(epoll, events, most, LOOK_MS, mask);
	give_slot_back(waiter);
	return n_ready;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	return epoll_pwait(epoll, events, most, timeout_ms, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Sleeping, and waiting for signals with a time-out. */
#include "shim.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

enum { SIGNALS_BYTES = 8 }; /* of a set of signals, for the kernel */

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration,
		    struct timespec *left)
{
	/* A signal ends a wait of the kernel that has a time-out, whatever its handler's flags
	 * are: so one has it. */
	static const struct timespec long_time = { 3600, 0 };
	const int64_t now_ns = rr_shim_now(clock);
	const int64_t ns = rr_shim_ns(duration) - (flags & TIMER_ABSTIME ? now_ns : 0);
	struct rr_shim_wait wait;
	int64_t left_ns;
	int result = 0;

	if (now_ns >= 0 && ns <= 0)
		return 0;
	/* Without a slot the kernel has to do it. */
	if (now_ns < 0 || !rr_shim_wait_begin(&wait, ns))
		return syscall(SYS_clock_nanosleep, clock, flags, duration, left) == 0 ? 0 : errno;
	/* Until redrace changes the state, or a signal comes. */
	while (result == 0 && !rr_shim_wait_is_over(&wait)) {
		const long words[6] = { (long)&wait.slot->state, FUTEX_WAIT, RR_WAITER_WAITS,
					(long)&long_time };

		if (rr_shim_kernel_call(SYS_futex, words) != 0 && errno == EINTR)
			result = EINTR;
	}
	left_ns = atomic_load(&wait.slot->until_ns) - atomic_load(&rr_shim_page()->passed_ns);
	rr_shim_wait_end(&wait);
	if (result == EINTR && left && !(flags & TIMER_ABSTIME)) {
		left->tv_sec = left_ns / RR_SHIM_SECOND_NS;
		left->tv_nsec = left_ns % RR_SHIM_SECOND_NS;
	}
	return result;
}

int nanosleep(const struct timespec *duration, struct timespec *left)
{
	const int result = clock_nanosleep(CLOCK_REALTIME, 0, duration, left);

	if (result == 0)
		return 0;
	errno = result;
	return -1;
}

int thrd_sleep(const struct timespec *duration, struct timespec *left)
{
	const int result = clock_nanosleep(CLOCK_REALTIME, 0, duration, left);

	if (result == 0)
		return 0;
	return result == EINTR ? -1 : -2;
}

unsigned int sleep(unsigned int seconds)
{
	const struct timespec duration = { seconds, 0 };
	struct timespec left = { 0, 0 };

	nanosleep(&duration, &left);
	return (unsigned int)left.tv_sec + (left.tv_nsec > 0);
}

int usleep(useconds_t us)
{
	const struct timespec duration = { us / 1000000, us % 1000000 * 1000L };

	return nanosleep(&duration, NULL);
}

static int kernel_sigtimedwait(const sigset_t *set, siginfo_t *signal_info,
			       const struct timespec *timeout)
{
	return (int)syscall(SYS_rt_sigtimedwait, set, signal_info, timeout, SIGNALS_BYTES);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict signal_info,
		 const struct timespec *restrict timeout)
{
	const struct timespec none = { 0, 0 };
	struct rr_shim_wait wait;
	int result = kernel_sigtimedwait(set, signal_info, &none);

	if (result > 0 || (timeout && rr_shim_ns(timeout) == 0))
		return result;
	if (!timeout || !rr_shim_wait_begin(&wait, rr_shim_ns(timeout)))
		return kernel_sigtimedwait(set, signal_info, timeout);
	while (result < 0 && errno == EAGAIN && !rr_shim_wait_is_over(&wait)) {
		const struct timespec look = rr_shim_look(&wait);

		result = kernel_sigtimedwait(set, signal_info, &look);
	}
	rr_shim_wait_end(&wait);
	return result;
}

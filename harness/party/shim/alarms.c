/* SPDX-License-Identifier: MIT */
/* Alarms by the program's time: redrace sends the signal. Without room on the page, for a
 * process's own time of work, and for a timerfd the kernel keeps them. */
#include "shim.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int64_t ns_of_timeval(const struct timeval *time)
{
	return time->tv_sec * RR_SHIM_SECOND_NS + time->tv_usec * 1000;
}

static struct timeval timeval_of(int64_t ns)
{
	return (struct timeval){ ns / RR_SHIM_SECOND_NS, ns % RR_SHIM_SECOND_NS / 1000 };
}

/* This process's; NULL: there is none, and no room or no wish for one. */
static struct rr_alarm *own_alarm(struct rr_program_page *page, bool is_wanted)
{
	const int self = rr_shim_real_pid();

	for (int i = 0; i < RR_ALARMS_MAX; i++) {
		if (atomic_load(&page->alarms[i].process) == self)
			return &page->alarms[i];
	}
	for (int i = 0; i < RR_ALARMS_MAX && is_wanted; i++) {
		int nobody = 0;

		if (atomic_compare_exchange_strong(&page->alarms[i].process, &nobody, self))
			return &page->alarms[i];
	}
	return NULL;
}

static int change_alarm(const struct itimerval *value, struct itimerval *old)
{
	struct rr_program_page *page = rr_shim_page();
	struct rr_alarm *alarm = own_alarm(page, value != NULL);

	if (value && !alarm)
		return (int)syscall(SYS_setitimer, ITIMER_REAL, value, old);
	if (old) {
		const int64_t until_ns = alarm ? atomic_load(&alarm->until_ns) : 0;
		const int64_t left_ns = until_ns - atomic_load(&page->passed_ns);

		*old = (struct itimerval){ { 0, 0 }, { 0, 0 } };
		if (until_ns != 0) {
			old->it_interval = timeval_of(atomic_load(&alarm->interval_ns));
			old->it_value = timeval_of(left_ns > 1000 ? left_ns : 1000);
		}
	}
	if (value) {
		const int64_t ns = ns_of_timeval(&value->it_value);

		atomic_store(&alarm->until_ns, 0);
		atomic_store(&alarm->interval_ns, ns_of_timeval(&value->it_interval));
		if (ns > 0)
			atomic_store(&alarm->until_ns, atomic_load(&page->passed_ns) + ns);
	}
	return 0;
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict value,
	      struct itimerval *restrict old)
{
	if (!rr_shim_page() || which != ITIMER_REAL)
		return (int)syscall(SYS_setitimer, which, value, old);
	return change_alarm(value, old);
}

int getitimer(__itimer_which_t which, struct itimerval *value)
{
	if (!rr_shim_page() || which != ITIMER_REAL)
		return (int)syscall(SYS_getitimer, which, value);
	return change_alarm(NULL, value);
}

unsigned int alarm(unsigned int seconds)
{
	const struct itimerval value = { .it_value = { seconds, 0 } };
	struct itimerval old = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &value, &old);
	return (unsigned int)(old.it_value.tv_sec + (old.it_value.tv_usec > 0));
}

/* Whoever has one is not kept waiting for long. The kernel has other clocks than the program: a time
 * is told to it as how long it is until then. */
int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	struct rr_program_page *page = rr_shim_page();
	struct itimerspec left = value ? *value : (struct itimerspec){ 0 };
	const int64_t until_ns = rr_shim_ns(&left.it_value);

	if (!page || !value)
		return (int)syscall(SYS_timerfd_settime, fd, flags, value, old);
	atomic_store(&page->has_timer, 1);
	if (flags & TFD_TIMER_ABSTIME && until_ns > 0) {
		const int64_t left_ns = until_ns - rr_shim_now(rr_shim_clock_of(until_ns));

		left.it_value.tv_sec = left_ns > 0 ? left_ns / RR_SHIM_SECOND_NS : 0;
		left.it_value.tv_nsec = left_ns > 0 ? left_ns % RR_SHIM_SECOND_NS : 1;
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags & ~TFD_TIMER_ABSTIME, &left, old);
}

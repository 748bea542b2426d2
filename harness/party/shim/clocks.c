/* SPDX-License-Identifier: MIT */
/* The clocks of a program that is checked: they show what the page says. */
#include "shim.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* Each thread counts what it reads in a row, so that it is the same in every run. */
static __thread struct {
	uint64_t n_heard; /* the page's, at the first of them */
	uint64_t n;
} reads __attribute__((tls_model("initial-exec")));

static int64_t start_of(const struct rr_program_page *page, clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_TAI:
		return atomic_load(&page->start_ns);
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return atomic_load(&page->monotonic_ns);
	default:
		return -1;
	}
}

static bool is_of_day(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int64_t rr_shim_now(clockid_t clock)
{
	const struct rr_program_page *page = rr_shim_page();
	const int64_t start = page ? start_of(page, clock) : -1;
	const bool is_held = page && is_of_day(clock) && atomic_load(&page->holds_day);

	if (start < 0)
		return -1;
	return start + atomic_load(is_held ? &page->told_ns : &page->passed_ns);
}

clockid_t rr_shim_clock_of(int64_t ns)
{
	const int64_t middle = rr_shim_now(CLOCK_REALTIME) / 2 + rr_shim_now(CLOCK_MONOTONIC) / 2;

	return ns > middle ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

void rr_shim_forget_reads(void)
{
	reads.n = 0;
}

void rr_shim_count_idle_look(void)
{
	reads.n += RR_IDLE_LOOK_READS;
}

/* The processor's own time goes on as it does. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	struct rr_program_page *page = rr_shim_page();
	const int64_t ns = rr_shim_now(clock);
	uint64_t n_heard;

	if (ns < 0)
		return (int)syscall(SYS_clock_gettime, clock, now);
	now->tv_sec = ns / RR_SHIM_SECOND_NS;
	now->tv_nsec = ns % RR_SHIM_SECOND_NS;
	if (is_of_day(clock) && !atomic_load(&page->reads_day) &&
	    atomic_load(&page->passed_ns) != atomic_load(&page->told_ns))
		atomic_store(&page->reads_day, 1);
	/* Counts that it was read. */
	n_heard = atomic_load(&page->n_heard);
	atomic_fetch_add(&page->n_reads, 1);
	if (n_heard != reads.n_heard)
		reads.n = 0;
	reads.n_heard = n_heard;
	if (++reads.n > RR_SPIN_READS) {
		atomic_fetch_add(&page->passed_ns, RR_SPIN_STEP_NS);
		atomic_fetch_add(&page->told_ns, RR_SPIN_STEP_NS);
	}
	return 0;
}

int timespec_get(struct timespec *now, int base)
{
	return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
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

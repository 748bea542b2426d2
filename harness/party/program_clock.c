/* SPDX-License-Identifier: MIT */
#include "program_clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files.h"
#include "base/machine.h"

/* Really, until one that was woken must have gone on: several looks (shim.h). */
#define WAY_MAX_NS INT64_C(200000000)

/* What monotonic clocks show when a program begins, at every start: many begin their random numbers
 * with them. */
#define START_MONOTONIC_NS INT64_C(1000000000000000)

/* After the end of a wait it is later than that end, as it is with the kernel: Ruby's sleep
 * begins again, with nothing left to wait for, until it is. */
#define LATE_NS 1

bool rr_program_clock_open(struct rr_program_clock *clock, const char *directory, int64_t start_ns,
			   bool holds_day, bool notes_files)
{
	struct rr_program_page *page;

	snprintf(clock->path, sizeof(clock->path), "%s/page", directory);
	clock->size = notes_files ? sizeof(*page) : offsetof(struct rr_program_page, paths);
	page = rr_files_map_new(clock->path, clock->size);
	if (!page)
		return false;
	clock->page = page;
	page->notes_files = notes_files;
	atomic_store(&page->start_ns, start_ns);
	atomic_store(&page->holds_day, holds_day);
	atomic_store(&page->monotonic_ns, START_MONOTONIC_NS);
	atomic_store(&page->begun_ns, rr_clock_files_ns());
	return true;
}

int64_t rr_program_clock_tell(struct rr_program_clock *clock, int64_t ns)
{
	atomic_fetch_add(&clock->page->told_ns, ns);
	return atomic_fetch_add(&clock->page->passed_ns, ns) + ns;
}

void rr_program_clock_close(struct rr_program_clock *clock)
{
	if (clock->page)
		munmap(clock->page, clock->size);
	*clock = (struct rr_program_clock){ .page = NULL };
}

uint64_t rr_program_clock_ticket(const struct rr_program_clock *clock, pid_t thread)
{
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		const struct rr_waiter *waiter = &clock->page->waiters[i];

		if (atomic_load(&waiter->thread) == thread &&
		    atomic_load(&waiter->state) == RR_WAITER_WAITS)
			return ((uint64_t)i << 32) + atomic_load(&waiter->ticket) + 1;
	}
	return 0;
}

/* ---- Who waits ----------------------------------------------------------------- */

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) != 0 && errno == ESRCH;
}

static void end_wait(struct rr_waiter *waiter)
{
	int waits = RR_WAITER_WAITS;

	if (atomic_compare_exchange_strong(&waiter->state, &waits, RR_WAITER_OVER))
		syscall(SYS_futex, &waiter->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Whoever was woken gives his slot back, unless a signal has taken him out of his
 * wait. */
bool rr_program_clock_is_waking(struct rr_program_clock *clock)
{
	struct rr_program_page *page = clock->page;
	struct rr_waiter *last = NULL;

	/* Nobody gives back what a thread held that was killed. */
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		struct rr_waiter *waiter = &page->waiters[i];

		if (atomic_load(&waiter->state) != RR_WAITER_NONE &&
		    atomic_load(&waiter->thread) != 0 && is_gone(atomic_load(&waiter->thread))) {
			atomic_store(&waiter->thread, 0);
			atomic_store(&waiter->state, RR_WAITER_NONE);
		}
	}
	for (int i = 0; i < RR_ALARMS_MAX; i++) {
		struct rr_alarm *alarm = &page->alarms[i];

		if (atomic_load(&alarm->process) != 0 && is_gone(atomic_load(&alarm->process))) {
			atomic_store(&alarm->until_ns, 0);
			atomic_store(&alarm->process, 0);
		}
	}
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		if (atomic_load(&page->waiters[i].state) == RR_WAITER_OVER)
			last = &page->waiters[i];
	}
	if (last && clock->woken_ns == 0)
		clock->woken_ns = rr_clock_ns();
	if (last && rr_clock_ns() - clock->woken_ns < WAY_MAX_NS)
		return true;
	if (last)
		atomic_store(&last->state, RR_WAITER_NONE);
	clock->woken_ns = 0;
	return last != NULL;
}

/* INT64_MAX: nobody waits for time. */
static int64_t first_end(const struct rr_program_page *page)
{
	int64_t first_ns = INT64_MAX;

	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		const struct rr_waiter *waiter = &page->waiters[i];
		const int64_t until_ns = atomic_load(&waiter->until_ns);

		if (atomic_load(&waiter->state) == RR_WAITER_WAITS && until_ns < first_ns)
			first_ns = until_ns;
	}
	for (int i = 0; i < RR_ALARMS_MAX; i++) {
		const int64_t until_ns = atomic_load(&page->alarms[i].until_ns);

		if (until_ns > 0 && until_ns < first_ns)
			first_ns = until_ns;
	}
	return first_ns;
}

int64_t rr_program_clock_left_ns(const struct rr_program_clock *clock)
{
	const int64_t first_ns = first_end(clock->page);
	const int64_t left_ns = first_ns - atomic_load(&clock->page->passed_ns);

	return first_ns == INT64_MAX ? first_ns : left_ns > 0 ? left_ns : 0;
}

bool rr_program_clock_wake(struct rr_program_clock *clock)
{
	struct rr_program_page *page = clock->page;
	const int64_t first_ns = first_end(page);

	if (first_ns == INT64_MAX)
		return false;
	if (first_ns >= atomic_load(&page->passed_ns))
		atomic_store(&page->passed_ns, first_ns + LATE_NS);
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		if (atomic_load(&page->waiters[i].until_ns) <= first_ns)
			end_wait(&page->waiters[i]);
	}
	for (int i = 0; i < RR_ALARMS_MAX; i++) {
		struct rr_alarm *alarm = &page->alarms[i];
		const int64_t until_ns = atomic_load(&alarm->until_ns);
		const int64_t interval_ns = atomic_load(&alarm->interval_ns);

		if (until_ns == 0 || until_ns > first_ns)
			continue;
		atomic_store(&alarm->until_ns, interval_ns > 0 ? until_ns + interval_ns : 0);
		kill(atomic_load(&alarm->process), SIGALRM);
	}
	return true;
}

void rr_program_clock_wake_busy(struct rr_program_clock *clock)
{
	struct rr_program_page *page = clock->page;

	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		struct rr_waiter *waiter = &page->waiters[i];

		if (atomic_load(&waiter->is_brief) ||
		    atomic_load(&waiter->until_ns) <= atomic_load(&page->passed_ns))
			end_wait(waiter);
	}
}

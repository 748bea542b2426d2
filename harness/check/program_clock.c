/* SPDX-License-Identifier: MIT */
#include "program_clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/machine.h"

enum { NOTICE_NS = 500 * 1000 * 1000 };

bool rr_program_clock_open(struct rr_program_clock *clock,
			   const char *directory, unsigned number,
			   int64_t start_ns)
{
	struct rr_program_page *page = MAP_FAILED;
	int fd;

	snprintf(clock->path, sizeof(clock->path), "%s/%u.page", directory,
		 number);
	fd = open(clock->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(*page)) == 0)
		page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return false;
	clock->page = page;
	atomic_store(&page->start_ns, start_ns);
	atomic_store(&page->monotonic_ns, rr_clock_ns());
	return true;
}

void rr_program_clock_close(struct rr_program_clock *clock)
{
	if (clock->page)
		munmap(clock->page, sizeof(*clock->page));
	if (clock->path[0])
		unlink(clock->path);
	*clock = (struct rr_program_clock){ .page = NULL };
}

void rr_program_clock_pass(struct rr_program_clock *clock, int64_t ns)
{
	if (clock->page)
		atomic_fetch_add(&clock->page->passed_ns, ns);
}

uint64_t rr_program_clock_reads(const struct rr_program_clock *clock)
{
	return clock->page ? atomic_load(&clock->page->n_reads) : 0;
}

bool rr_program_clock_is_used(const struct rr_program_clock *clock)
{
	return clock->page && atomic_load(&clock->page->has_shim);
}

static bool has_waiter_that(const struct rr_program_clock *clock,
			    enum rr_waiter_state state)
{
	bool found = false;

	for (int i = 0; clock->page && i < RR_WAITERS_MAX; i++)
		found |= atomic_load(&clock->page->waiters[i].state) ==
			 (int)state;
	return found;
}

bool rr_program_clock_has_waiter(const struct rr_program_clock *clock)
{
	return has_waiter_that(clock, RR_WAITER_WAITS);
}

/* A process that was killed in its sleep never notices. */
bool rr_program_clock_is_waking(const struct rr_program_clock *clock)
{
	return has_waiter_that(clock, RR_WAITER_OVER) &&
	       rr_clock_ns() - clock->woken_ns < NOTICE_NS;
}

bool rr_program_clock_wake(struct rr_program_clock *clock)
{
	struct rr_program_page *page = clock->page;
	int64_t first_ns = INT64_MAX;

	for (int i = 0; page && i < RR_WAITERS_MAX; i++) {
		const struct rr_waiter *waiter = &page->waiters[i];
		const int64_t until_ns = atomic_load(&waiter->until_ns);

		if (atomic_load(&waiter->state) == RR_WAITER_WAITS &&
		    until_ns < first_ns)
			first_ns = until_ns;
	}
	if (first_ns == INT64_MAX)
		return false;
	clock->woken_ns = rr_clock_ns();
	if (first_ns > atomic_load(&page->passed_ns))
		atomic_store(&page->passed_ns, first_ns);
	for (int i = 0; i < RR_WAITERS_MAX; i++) {
		struct rr_waiter *waiter = &page->waiters[i];
		int waits = RR_WAITER_WAITS;

		if (atomic_load(&waiter->until_ns) <= first_ns)
			atomic_compare_exchange_strong(&waiter->state, &waits,
						       RR_WAITER_OVER);
	}
	return true;
}

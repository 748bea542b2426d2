/* SPDX-License-Identifier: MIT */
/*
 * The renewed lock: a token lock and, while it is held, a renewer beside its
 * holder.
 *
 *	holder    SET key token NX PX ttl, start the renewer
 *	renewer   every ttl/3: if GET(key) == token then PEXPIRE(key, ttl)
 *	          said no, or unanswered until the lease is over: lost
 *	holder    stop the renewer, wait until it has ended, compare-and-delete
 *
 * What both touch is atomic or an eventfd; all else has one owner: the renewer
 * while it runs, the holder otherwise.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "compare.h"
#include "link.h"
#include "lock.h"

enum { RENEWALS_PER_LEASE = 3, RETRY_NS = 20000000 };

struct rl_renewed {
	struct rl_lock *lock;
	long hold_max_ms;
	struct rl_link *link; /* the renewer's own */
	struct rl_task task;
	int timeout_ms;           /* of that link, when the lease leaves so much */
	pid_t runs_in;            /* the process whose renewer runs; 0 = none */
	pid_t owner;              /* the process whose events these are */
	int stop_fd, loss_fd;     /* readable: end; lost */
	int64_t held_ns;          /* when the attempt that got it was sent */
	_Atomic int64_t until_ns; /* the end of the lease; 0 = lost */
};

/* ---- Making and freeing ------------------------------------------------ */

void rl_renewed_free(struct rl_renewed *renewed)
{
	if (!renewed)
		return;
	if (renewed->stop_fd >= 0)
		close(renewed->stop_fd);
	if (renewed->loss_fd >= 0)
		close(renewed->loss_fd);
	rl_link_free(renewed->link);
	rl_lock_free(renewed->lock);
	free(renewed);
}

struct rl_renewed *rl_renewed_new(struct rl_link *link, const char *key, long hold_max_ms)
{
	struct rl_renewed *renewed = calloc(1, sizeof(*renewed));

	if (!renewed)
		return NULL;
	renewed->hold_max_ms = hold_max_ms;
	renewed->timeout_ms = link->timeout_ms;
	renewed->owner = getpid();
	renewed->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	renewed->loss_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	renewed->lock = rl_lock_new(link, key);
	renewed->link = rl_link_new(&link->address, link->timeout_ms);
	if (renewed->link && renewed->lock && renewed->stop_fd >= 0 && renewed->loss_fd >= 0)
		return renewed;
	rl_renewed_free(renewed);
	return NULL;
}

static void raise_event(int fd)
{
	while (eventfd_write(fd, 1) != 0)
		continue;
}

static void clear_event(int fd)
{
	eventfd_t count;

	eventfd_read(fd, &count);
}

/* Another event under the same number. */
static bool replace_event(int fd)
{
	const int fresh = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const bool good = fresh >= 0 && dup3(fresh, fd, O_CLOEXEC) == fd;

	if (fresh >= 0)
		close(fresh);
	return good;
}

/* After a fork these are the parent's as well, who would be stopped by ours. */
static bool own_events(struct rl_renewed *renewed)
{
	if (renewed->owner == getpid())
		return true;
	if (!replace_event(renewed->stop_fd) || !replace_event(renewed->loss_fd))
		return false;
	renewed->owner = getpid();
	return true;
}

/* ---- The renewer ------------------------------------------------------- */

static int64_t renewer_now_ns(const struct rl_link *link)
{
	return rl_now_ns(link, RL_CLOCK_MONOTONIC);
}

static void note_loss(struct rl_renewed *renewed)
{
	atomic_store(&renewed->until_ns, 0);
	raise_event(renewed->loss_fd);
}

/* The lease to ask for next, so that the hold as a whole keeps its limit. */
static long next_ttl_ms(const struct rl_renewed *renewed, int64_t sent_ns)
{
	const long left_ms = renewed->hold_max_ms - (long)((sent_ns - renewed->held_ns) / 1000000);

	return left_ms < renewed->lock->ttl_ms ? left_ms : renewed->lock->ttl_ms;
}

/* A server that hangs is waited for until the lease is over, and no longer. */
static void limit_renewal_wait(struct rl_renewed *renewed, int64_t now)
{
	const int64_t left_ms = (atomic_load(&renewed->until_ns) - now) / 1000000 + 1;

	rl_link_set_timeout(renewed->link,
			    left_ms < renewed->timeout_ms ? (int)left_ms : renewed->timeout_ms);
}

/* One renewal; false when it is lost. Nothing is asked for that would not
 * reach beyond the lease there is. */
static bool renew_once(struct rl_renewed *renewed)
{
	const int64_t sent_ns = renewer_now_ns(renewed->link);
	const long ttl_ms = next_ttl_ms(renewed, sent_ns);
	const int64_t until_ns = rl_lease_end_ns(sent_ns, ttl_ms);
	const struct rl_guarded guarded = { renewed->lock->key, renewed->lock->token, ttl_ms };
	enum rl_outcome outcome;

	if (sent_ns >= atomic_load(&renewed->until_ns))
		return false;
	if (until_ns <= atomic_load(&renewed->until_ns))
		return true;
	limit_renewal_wait(renewed, sent_ns);
	outcome = rl_guarded_run(renewed->link, &guarded, 0);
	if (outcome == RL_OK)
		atomic_store(&renewed->until_ns, until_ns);
	return outcome != RL_LOST;
}

/* When to look next: after a third of a lease, or at its end if that is
 * nearer, and soon again while the server does not answer. */
static int64_t renewal_pause_ns(const struct rl_renewed *renewed, int64_t renewed_ns)
{
	const int64_t third_ns = rl_span(renewed->lock->ttl_ms, RL_NS_PER_MS) / RENEWALS_PER_LEASE;
	const int64_t now = renewer_now_ns(renewed->link);
	const int64_t left_ns = atomic_load(&renewed->until_ns) - now;
	int64_t pause = renewed_ns + third_ns - now;

	if (pause < RETRY_NS && third_ns > RETRY_NS)
		pause = RETRY_NS;
	else if (pause < third_ns / 8)
		pause = third_ns / 8;
	return pause < left_ns ? pause : left_ns;
}

static void keep_renewing(void *argument)
{
	struct rl_renewed *renewed = argument;
	int64_t renewed_ns = renewed->held_ns;

	while (!rl_wait(renewed->link, renewed->stop_fd, renewal_pause_ns(renewed, renewed_ns))) {
		const int64_t before_ns = atomic_load(&renewed->until_ns);

		if (!renew_once(renewed)) {
			note_loss(renewed);
			return;
		}
		if (atomic_load(&renewed->until_ns) != before_ns)
			renewed_ns = renewer_now_ns(renewed->link);
	}
}

/* ---- The holder -------------------------------------------------------- */

/* Synchronously: nothing of the renewer is on its way afterwards. */
static void stop_renewer(struct rl_renewed *renewed)
{
	if (renewed->runs_in != getpid())
		return;
	raise_event(renewed->stop_fd);
	rl_join(renewed->lock->link, &renewed->task);
	renewed->runs_in = 0;
}

static bool start_renewer(struct rl_renewed *renewed)
{
	clear_event(renewed->stop_fd);
	clear_event(renewed->loss_fd);
	renewed->held_ns = renewed->lock->hold.sent_ns;
	atomic_store(&renewed->until_ns, renewed->lock->hold.until_ns);
	renewed->task = (struct rl_task){ .body = keep_renewing,
					  .argument = renewed,
					  .link = renewed->link };
	if (!rl_spawn(renewed->lock->link, &renewed->task))
		return false;
	renewed->runs_in = getpid();
	return true;
}

enum rl_outcome rl_renewed_acquire(struct rl_renewed *renewed, long ttl_ms,
				   const struct rl_policy *policy)
{
	struct rl_link *link = renewed->lock->link;
	enum rl_outcome outcome;

	if (renewed->hold_max_ms < 1)
		return rl_link_fail(link, RL_ERROR,
				    "held for %ld ms at most: the shortest "
				    "is 1 ms",
				    renewed->hold_max_ms);
	if (renewed->runs_in == getpid() && rl_renewed_check(renewed) == RL_OK)
		return RL_BUSY; /* held, by this very lock */
	stop_renewer(renewed);
	rl_hold_expire(&renewed->lock->hold); /* if it was held, it is lost */
	if (!own_events(renewed))
		return rl_link_fail(link, RL_ERROR, "no file descriptors");
	if (ttl_ms > renewed->hold_max_ms)
		ttl_ms = renewed->hold_max_ms;
	outcome = rl_lock_acquire(renewed->lock, ttl_ms, policy);
	if (outcome != RL_OK || start_renewer(renewed))
		return outcome;
	rl_lock_release(renewed->lock);
	return rl_link_fail(link, RL_ERROR, "cannot start the renewer's thread");
}

enum rl_outcome rl_renewed_try(struct rl_renewed *renewed, long ttl_ms)
{
	return rl_renewed_acquire(renewed, ttl_ms, NULL);
}

long rl_renewed_remaining_ms(const struct rl_renewed *renewed)
{
	const int64_t left_ns = atomic_load(&renewed->until_ns) -
				renewer_now_ns(renewed->lock->link);

	if (!rl_hold_is_ours(&renewed->lock->hold) || left_ns < 0)
		return 0;
	return (long)(left_ns / 1000000);
}

enum rl_outcome rl_renewed_check(const struct rl_renewed *renewed)
{
	return rl_renewed_remaining_ms(renewed) > 0 ? RL_OK : RL_LOST;
}

int rl_renewed_loss_fd(const struct rl_renewed *renewed)
{
	return renewed->loss_fd;
}

enum rl_outcome rl_renewed_release(struct rl_renewed *renewed)
{
	stop_renewer(renewed);
	return rl_lock_release(renewed->lock);
}

const struct rl_stats *rl_renewed_stats(const struct rl_renewed *renewed)
{
	return rl_lock_stats(renewed->lock);
}

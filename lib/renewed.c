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
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "link.h"
#include "lock.h"
#include "renewal.h"

struct rdl_renewed {
	struct rdl_lock *lock;
	long hold_max_ms;
	struct rdl_link *link; /* the renewer's own */
	struct rdl_task task;
	pid_t runs_in;        /* the process whose renewer runs; 0 = none */
	pid_t owner;          /* the process whose events these are */
	int stop_fd, loss_fd; /* readable: end; lost */
	struct rdl_renewal renewal;
};

/* ---- Making and freeing ------------------------------------------------ */

static void raise_event(int fd)
{
	while (eventfd_write(fd, 1) != 0)
		continue;
}

/* Waits until the renewer has ended, if one was started here: nothing that it has sent is in
 * flight afterwards. */
static void stop_renewer(struct rdl_renewed *renewed)
{
	if (renewed->runs_in != getpid())
		return;
	raise_event(renewed->stop_fd);
	rdl_join(renewed->lock->link, &renewed->task);
	renewed->runs_in = 0;
}

void rdl_renewed_free(struct rdl_renewed *renewed)
{
	if (!renewed)
		return;
	stop_renewer(renewed);
	if (renewed->stop_fd >= 0)
		close(renewed->stop_fd);
	if (renewed->loss_fd >= 0)
		close(renewed->loss_fd);
	rdl_link_free(renewed->link);
	rdl_lock_free(renewed->lock);
	free(renewed);
}

struct rdl_renewed *rdl_renewed_new(struct rdl_link *link, const char *key, long hold_max_ms)
{
	struct rdl_renewed *renewed = calloc(1, sizeof(*renewed));

	if (!renewed)
		return NULL;
	renewed->hold_max_ms = hold_max_ms;
	renewed->owner = getpid();
	renewed->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	renewed->loss_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	renewed->lock = rdl_lock_new(link, key);
	renewed->link = rdl_link_new(&link->address, link->timeout_ms);
	if (renewed->link && renewed->lock && renewed->stop_fd >= 0 && renewed->loss_fd >= 0)
		return renewed;
	rdl_renewed_free(renewed);
	return NULL;
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
static bool own_events(struct rdl_renewed *renewed)
{
	if (renewed->owner == getpid())
		return true;
	if (!replace_event(renewed->stop_fd) || !replace_event(renewed->loss_fd))
		return false;
	renewed->owner = getpid();
	return true;
}

/* ---- The renewer ------------------------------------------------------- */

static void note_loss(struct rdl_renewed *renewed)
{
	atomic_store(&renewed->renewal.until_ns, 0);
	raise_event(renewed->loss_fd);
}

static void keep_renewing(void *argument)
{
	struct rdl_renewed *renewed = argument;

	while (!rdl_wait(renewed->link, renewed->stop_fd,
			 rdl_renewal_pause_ns(&renewed->renewal, renewed->link))) {
		if (!rdl_renewal_run(&renewed->renewal, renewed->link, INT64_MAX)) {
			note_loss(renewed);
			return;
		}
	}
}

/* ---- The holder -------------------------------------------------------- */

static bool start_renewer(struct rdl_renewed *renewed)
{
	const struct rdl_renewable renewable = rdl_lock_renewable(renewed->lock);

	clear_event(renewed->stop_fd);
	clear_event(renewed->loss_fd);
	rdl_renewal_begin(&renewed->renewal, &renewable, renewed->hold_max_ms);
	renewed->task = (struct rdl_task){ .body = keep_renewing,
					   .argument = renewed,
					   .link = renewed->link };
	if (!rdl_spawn(renewed->lock->link, &renewed->task))
		return false;
	renewed->runs_in = getpid();
	return true;
}

/* `number` is NULL where none is to be drawn. */
static enum rdl_outcome acquire_renewed(struct rdl_renewed *renewed, long ttl_ms,
					const struct rdl_policy *policy, long long *number)
{
	struct rdl_link *link = renewed->lock->link;
	enum rdl_outcome outcome;

	if (renewed->hold_max_ms < 1)
		return rdl_link_fail(link, RDL_ERROR,
				     "held for %ld ms at most: the shortest "
				     "is 1 ms",
				     renewed->hold_max_ms);
	if (renewed->runs_in == getpid() && rdl_renewed_check(renewed) == RDL_OK)
		return RDL_BUSY; /* held, by this very lock */
	stop_renewer(renewed);
	rdl_hold_expire(&renewed->lock->hold); /* if it was held, it is lost */
	if (!own_events(renewed))
		return rdl_link_fail(link, RDL_ERROR, "no file descriptors");
	if (ttl_ms > renewed->hold_max_ms)
		ttl_ms = renewed->hold_max_ms;
	outcome = number ? rdl_lock_acquire_fenced(renewed->lock, ttl_ms, policy, number) :
			   rdl_lock_acquire(renewed->lock, ttl_ms, policy);
	if (outcome != RDL_OK || start_renewer(renewed))
		return outcome;
	rdl_lock_release(renewed->lock);
	return rdl_link_fail(link, RDL_ERROR, "cannot start the renewer's thread");
}

enum rdl_outcome rdl_renewed_acquire(struct rdl_renewed *renewed, long ttl_ms,
				     const struct rdl_policy *policy)
{
	return acquire_renewed(renewed, ttl_ms, policy, NULL);
}

enum rdl_outcome rdl_renewed_acquire_fenced(struct rdl_renewed *renewed, long ttl_ms,
					    const struct rdl_policy *policy, long long *number)
{
	return acquire_renewed(renewed, ttl_ms, policy, number);
}

enum rdl_outcome rdl_renewed_try(struct rdl_renewed *renewed, long ttl_ms)
{
	return rdl_renewed_acquire(renewed, ttl_ms, NULL);
}

long rdl_renewed_remaining_ms(const struct rdl_renewed *renewed)
{
	const int64_t left_ns = atomic_load(&renewed->renewal.until_ns) -
				rdl_now_ns(renewed->lock->link, RDL_CLOCK_MONOTONIC);

	if (!rdl_hold_is_ours(&renewed->lock->hold) || left_ns < 0)
		return 0;
	return (long)(left_ns / 1000000);
}

enum rdl_outcome rdl_renewed_check(const struct rdl_renewed *renewed)
{
	return rdl_renewed_remaining_ms(renewed) > 0 ? RDL_OK : RDL_LOST;
}

int rdl_renewed_loss_fd(const struct rdl_renewed *renewed)
{
	return renewed->loss_fd;
}

enum rdl_outcome rdl_renewed_release(struct rdl_renewed *renewed)
{
	stop_renewer(renewed);
	atomic_store(&renewed->renewal.until_ns, 0); /* whether or not the release is answered */
	return rdl_lock_release(renewed->lock);
}

bool rdl_renewed_set_label(struct rdl_renewed *renewed, const char *label)
{
	return rdl_lock_set_label(renewed->lock, label);
}

const struct rdl_stats *rdl_renewed_stats(const struct rdl_renewed *renewed)
{
	return rdl_lock_stats(renewed->lock);
}

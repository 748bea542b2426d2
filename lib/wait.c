/* SPDX-License-Identifier: MIT */
/* How long a link waits for the bytes of a reply. */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "link.h"

/* Waits until something is there, as long as `left_ns`. False: a signal came
 * first. */
static bool wait_readable(const struct rl_link *link, int64_t left_ns)
{
	struct pollfd ready = { .fd = link->context->fd, .events = POLLIN };

	return poll(&ready, 1, (int)((left_ns + 999999) / 1000000)) >= 0;
}

bool rl_link_has_unread(const struct rl_link *link)
{
	struct pollfd ready = { .events = POLLIN };
	const redisReader *reader;

	if (!link->context)
		return false;
	reader = link->context->reader;
	ready.fd = link->context->fd;
	return reader->pos < reader->len || poll(&ready, 1, 0) > 0;
}

/* The kernel's time, which is what recv() waits by; a driver's may stand. */
static int64_t kernel_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* What is left of the time-out, or until the deadline (0 = none). */
static int64_t left_to_wait_ns(const struct rl_link *link, int64_t timeout_ns,
			       int64_t deadline_ns)
{
	int64_t left_ns;

	if (!deadline_ns)
		return timeout_ns;
	left_ns = deadline_ns - rl_now_ns(link, RL_CLOCK_MONOTONIC);
	return left_ns < timeout_ns ? left_ns : timeout_ns;
}

ssize_t rl_link_take_bytes(const struct rl_link *link, char *bytes, size_t size,
			   int64_t deadline_ns)
{
	const int64_t timeout_ns =
		rl_link_patience_ms(link) * INT64_C(1000000);
	const int64_t start_ns = kernel_ns();
	int64_t left_ns = left_to_wait_ns(link, timeout_ns, deadline_ns);

	for (;;) {
		/* Nearly all of the time-out: recv() itself waits as long. */
		const bool waits = left_ns >= timeout_ns - 1000000;
		ssize_t n = -1;

		if (waits || left_ns <= 0 || wait_readable(link, left_ns))
			n = recv(link->context->fd, bytes, size,
				 waits ? 0 : MSG_DONTWAIT);
		if (n >= 0 || errno != EINTR)
			return n;
		left_ns = left_to_wait_ns(link,
					  timeout_ns - (kernel_ns() - start_ns),
					  deadline_ns);
	}
}

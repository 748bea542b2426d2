/* SPDX-License-Identifier: MIT */
/*
 * Waiting for descriptors with a time-out. What is ready is looked for first, and
 * costs no slot. A time-out of the socket itself (SO_RCVTIMEO) is never set: it would
 * run by the kernel's clock while a reply is being held.
 */
#include "shim.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIGNALS_BYTES = 8 }; /* of a set of signals, for the kernel */

static int64_t timeout_ns_of(const struct timespec *timeout)
{
	return timeout ? rr_shim_ns(timeout) : -1;
}

/* What all of them do: `ask` asks the kernel, waiting so long (NULL: for ever). */
static int ask_until_over(int (*ask)(void *, const struct timespec *), void *call,
			  int64_t timeout_ns)
{
	const struct timespec none = { 0, 0 };
	const struct timespec whole = { timeout_ns / RR_SHIM_SECOND_NS,
					timeout_ns % RR_SHIM_SECOND_NS };
	struct rr_shim_wait wait;
	int n_ready = ask(call, &none);

	if (n_ready == 0 && timeout_ns == 0)
		rr_shim_count_idle_look();
	if (n_ready != 0 || timeout_ns == 0)
		return n_ready;
	rr_shim_forget_reads();
	if (timeout_ns < 0)
		return ask(call, NULL);
	if (!rr_shim_wait_begin(&wait, timeout_ns))
		return ask(call, &whole);
	while (n_ready == 0 && !rr_shim_wait_is_over(&wait)) {
		const struct timespec look = rr_shim_look(&wait);

		n_ready = ask(call, &look);
	}
	rr_shim_wait_end(&wait);
	return n_ready;
}

/* ---- poll ------------------------------------------------------------------------ */

struct poll_call {
	struct pollfd *list;
	nfds_t n;
	const sigset_t *mask;
};

static int ask_poll(void *context, const struct timespec *timeout)
{
	const struct poll_call *call = context;
	struct timespec copy = timeout ? *timeout : (struct timespec){ 0, 0 };

	return (int)syscall(SYS_ppoll, call->list, call->n, timeout ? &copy : NULL, call->mask,
			    SIGNALS_BYTES);
}

int poll(struct pollfd *list, nfds_t n, int timeout_ms)
{
	struct poll_call call = { list, n, NULL };

	return ask_until_over(ask_poll, &call, timeout_ms * INT64_C(1000000));
}

int ppoll(struct pollfd *list, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct poll_call call = { list, n, mask };

	return ask_until_over(ask_poll, &call, timeout_ns_of(timeout));
}

/* ---- select ---------------------------------------------------------------------- */

struct select_call {
	int n;
	fd_set *sets[3];
	fd_set before[3];
	const sigset_t *mask;
};

static int ask_select(void *context, const struct timespec *timeout)
{
	struct select_call *call = context;
	struct timespec copy = timeout ? *timeout : (struct timespec){ 0, 0 };
	const struct {
		const sigset_t *set;
		size_t size;
	} with_mask = { call->mask, SIGNALS_BYTES };

	for (int i = 0; i < 3; i++) {
		if (call->sets[i])
			*call->sets[i] = call->before[i];
	}
	return (int)syscall(SYS_pselect6, call->n, call->sets[0], call->sets[1], call->sets[2],
			    timeout ? &copy : NULL, call->mask ? &with_mask : NULL);
}

int pselect(int n, fd_set *reading, fd_set *writing, fd_set *excepting,
	    const struct timespec *timeout, const sigset_t *mask)
{
	struct select_call call = { .n = n, .sets = { reading, writing, excepting }, .mask = mask };

	for (int i = 0; i < 3; i++) {
		if (call.sets[i])
			call.before[i] = *call.sets[i];
	}
	return ask_until_over(ask_select, &call, timeout_ns_of(timeout));
}

int select(int n, fd_set *reading, fd_set *writing, fd_set *excepting, struct timeval *timeout)
{
	struct timespec precise;

	if (timeout)
		precise = (struct timespec){ timeout->tv_sec, timeout->tv_usec * 1000 };
	return pselect(n, reading, writing, excepting, timeout ? &precise : NULL, NULL);
}

/* ---- epoll ----------------------------------------------------------------------- */

struct epoll_call {
	int epoll;
	struct epoll_event *events;
	int most;
	const sigset_t *mask;
};

/* Looks are whole milliseconds, or begin with one. */
static int ask_epoll(void *context, const struct timespec *timeout)
{
	const struct epoll_call *call = context;
	const int ms = timeout ? (int)(rr_shim_ns(timeout) / 1000000) : -1;

	return (int)syscall(SYS_epoll_pwait, call->epoll, call->events, call->most, ms, call->mask,
			    SIGNALS_BYTES);
}

int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout_ms,
		const sigset_t *mask)
{
	struct epoll_call call = { epoll, events, most, mask };

	return ask_until_over(ask_epoll, &call, timeout_ms * INT64_C(1000000));
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	return epoll_pwait(epoll, events, most, timeout_ms, NULL);
}

int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
		 const sigset_t *mask)
{
	struct epoll_call call = { epoll, events, most, mask };

	return ask_until_over(ask_epoll, &call, timeout_ns_of(timeout));
}

/* ---- Sockets --------------------------------------------------------------------- */

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	if (rr_shim_page() && level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO))
		return 0;
	return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

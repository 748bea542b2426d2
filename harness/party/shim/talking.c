/* SPDX-License-Identifier: MIT */
/* Which threads send something to Redis: noted in the page, once each. */
#include "shim.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_port_of_redis(const struct rr_program_page *page, in_port_t port)
{
	bool is = false;

	for (unsigned i = 0; i < page->redis_at.n_places; i++)
		is |= ntohs(port) == page->redis_at.ports[i];
	return is;
}

/* Redis is at one of its ports, or at a path. */
static bool leads_to_redis(const struct rr_program_page *page, int fd)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} peer = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t size = sizeof(peer);

	if (getpeername(fd, &peer.any, &size) != 0)
		return false;
	switch (peer.any.sa_family) {
	case AF_INET:
		return is_port_of_redis(page, peer.in.sin_port);
	case AF_INET6:
		return is_port_of_redis(page, peer.in6.sin6_port);
	case AF_UNIX:
		return size > sizeof(sa_family_t) && peer.un.sun_path[0] == '/';
	default:
		return false;
	}
}

/* A child has its parent's copy, and another number. */
static _Thread_local int noted;

bool rr_shim_talks(void)
{
	return noted != 0;
}

static void note_talker(int fd)
{
	struct rr_program_page *page = rr_shim_page();
	const int why = errno;
	int thread;

	if (!page)
		return;
	thread = rr_shim_real_tid();
	if (noted != thread && leads_to_redis(page, fd)) {
		const unsigned i = atomic_fetch_add(&page->n_talkers, 1);

		noted = thread;
		if (i < RR_TALKERS_MAX)
			atomic_store(&page->talkers[i], thread);
	}
	errno = why;
}

/* Connections that are made without connect(2) are refused as on a kernel that lacks TCP Fast Open. Where
 * the kernel asks redrace, it does that, too. */
static bool is_refused(int flags)
{
	if (!(flags & MSG_FASTOPEN) || !rr_shim_page())
		return false;
	errno = EOPNOTSUPP;
	return true;
}

/* ---- Functions that send ------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t n)
{
	note_talker(fd);
	return RR_SHIM_NEXT(write)(fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	note_talker(fd);
	return RR_SHIM_NEXT(writev)(fd, parts, n);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	note_talker(fd);
	return RR_SHIM_NEXT(send)(fd, bytes, n, flags);
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *address,
	       socklen_t size)
{
	if (is_refused(flags))
		return -1;
	note_talker(fd);
	return RR_SHIM_NEXT(sendto)(fd, bytes, n, flags, address, size);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (is_refused(flags))
		return -1;
	note_talker(fd);
	return RR_SHIM_NEXT(sendmsg)(fd, message, flags);
}

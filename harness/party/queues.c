/* SPDX-License-Identifier: MIT */
/* What is under way to and from an app. */
#include <limits.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "sockets.h"

/* States between connect(2) and accept(2), in which an end is still to come. */
static bool is_under_way(const struct rr_socket *socket)
{
	return socket->state == TCP_SYN_SENT || socket->state == TCP_SYN_RECV;
}

/* NULL = it is gone. */
static const struct rr_socket *other_end(const struct rr_queue_ends *ends,
					 const struct rr_socket *one)
{
	for (size_t i = 0; i < ends->n; i++) {
		const struct rr_socket *it = &ends->list[i];

		if (it->local == one->remote && it->remote == one->local)
			return it;
	}
	return NULL;
}

/* Its last word, which counts as a byte. */
static bool has_closed(const struct rr_socket *socket)
{
	return socket->state == TCP_FIN_WAIT1 || socket->state == TCP_CLOSING ||
	       socket->state == TCP_LAST_ACK;
}

/* An end that the other has heard of has one byte more there. */
static unsigned long sent_by(const struct rr_queue_ends *ends, const struct rr_socket *socket)
{
	const struct rr_socket *other = other_end(ends, socket);

	if (socket->state == TCP_LISTEN || socket->sent == 0)
		return 0;
	if (!other || !socket->has_counts || !other->has_counts || socket->holds_back)
		return socket->sent;
	return other->in >= socket->out + has_closed(socket) ? 0 : socket->sent;
}

static void list_ends(unsigned port, unsigned states, struct rr_queue_ends *ends)
{
	struct rr_sockets sockets = { .states = states, .port = port };
	struct rr_socket it;

	while (rr_sockets_next(&sockets, &it)) {
		rr_array_grow(&ends->list, ends->n, sizeof(it));
		ends->list[ends->n++] = it;
	}
}

struct rr_queues rr_queues_look(unsigned port, struct rr_queue_ends *ends, unsigned n_called)
{
	struct rr_queues queues = { 0, 0 };

	if (!ends->is_open)
		ends->fd = -1;
	ends->is_open = true;
	if (ends->are_all && n_called == ends->n_called) {
		/*
		 * What listens is listed in any case: the kernel has a table of its own for it,
		 * which is small.
		 */
		size_t n = 0;

		for (size_t i = 0; i < ends->n; i++) {
			if (ends->list[i].state != TCP_LISTEN &&
			    rr_sockets_read_again(&ends->fd, &ends->list[i]))
				ends->list[n++] = ends->list[i];
		}
		ends->n = n;
		list_ends(port, RR_SOCKETS_LISTENING, ends);
	} else {
		ends->n = 0;
		list_ends(port, RR_SOCKETS_CONNECTED | RR_SOCKETS_LISTENING, ends);
	}
	ends->n_called = n_called;
	ends->are_all = n_called != UINT_MAX;
	for (size_t i = 0; i < ends->n; i++) {
		const struct rr_socket *it = &ends->list[i];

		queues.sent += sent_by(ends, it);
		queues.received += it->received;
		ends->are_all &= it->family != 0 && (it->state == TCP_LISTEN ||
						     (!is_under_way(it) && other_end(ends, it)));
	}
	return queues;
}

void rr_queue_ends_release(struct rr_queue_ends *ends)
{
	free(ends->list);
	if (ends->is_open && ends->fd >= 0)
		close(ends->fd);
	*ends = (struct rr_queue_ends){ 0 };
}

/* SPDX-License-Identifier: MIT */
/* What is under way to and from an app. */
#include <netinet/tcp.h>
#include <stdlib.h>

#include "base/array.h"
#include "sockets.h"

struct ends {
	struct rr_socket *list;
	size_t n;
};

static struct ends find_ends(unsigned port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_CONNECTED | RR_SOCKETS_LISTENING };
	struct ends ends = { NULL, 0 };
	struct rr_socket it;

	while (rr_sockets_next(&sockets, &it)) {
		if (it.local != port && it.remote != port)
			continue;
		rr_array_grow(&ends.list, ends.n, sizeof(it));
		ends.list[ends.n++] = it;
	}
	return ends;
}

/* NULL = it is gone. */
static const struct rr_socket *other_end(const struct ends *ends, const struct rr_socket *one)
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
static unsigned long sent_by(const struct ends *ends, const struct rr_socket *socket)
{
	const struct rr_socket *other = other_end(ends, socket);

	if (socket->state == TCP_LISTEN || socket->sent == 0)
		return 0;
	if (!other || !socket->has_counts || !other->has_counts || socket->holds_back)
		return socket->sent;
	return other->in >= socket->out + has_closed(socket) ? 0 : socket->sent;
}

struct rr_queues rr_queues_look(unsigned port)
{
	const struct ends ends = find_ends(port);
	struct rr_queues queues = { 0, 0 };

	for (size_t i = 0; i < ends.n; i++) {
		queues.sent += sent_by(&ends, &ends.list[i]);
		queues.received += ends.list[i].received;
	}
	free(ends.list);
	return queues;
}

/* SPDX-License-Identifier: MIT */
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/machine.h"

enum { BACKLOG = 64 };

/* ---- Beginning and end -------------------------------------------------------------- */

bool rr_endpoint_open(struct rr_endpoint *endpoint, const struct rr_endpoint_owner *owner,
		      const char *directory)
{
	*endpoint = (struct rr_endpoint){ .owner = *owner, .tcp_fd = -1, .unix_fd = -1 };
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);

	endpoint->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (endpoint->tcp_fd < 0 ||
	    bind(endpoint->tcp_fd, (struct sockaddr *)&address, size) != 0 ||
	    listen(endpoint->tcp_fd, BACKLOG) != 0 ||
	    getsockname(endpoint->tcp_fd, (struct sockaddr *)&address, &size) != 0)
		return false;
	endpoint->port = ntohs(address.sin_port);
	struct sockaddr_un file = { .sun_family = AF_UNIX };
	const int length = snprintf(file.sun_path, sizeof(file.sun_path), "%s/redis.sock",
				    directory);

	if (length < 0 || (size_t)length >= sizeof(file.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(endpoint->socket_path, file.sun_path, sizeof(endpoint->socket_path));
	endpoint->unix_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return endpoint->unix_fd >= 0 &&
	       bind(endpoint->unix_fd, (struct sockaddr *)&file, sizeof(file)) == 0 &&
	       listen(endpoint->unix_fd, BACKLOG) == 0;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void rr_endpoint_close(struct rr_endpoint *endpoint)
{
	for (int i = 0; i < RR_ENDPOINT_CONNECTIONS; i++)
		rr_wire_release(&endpoint->connections[i]);
	close_descriptor(&endpoint->tcp_fd);
	close_descriptor(&endpoint->unix_fd);
}

/* ---- What comes ---------------------------------------------------------------------- */

static bool accept_connections(struct rr_endpoint *endpoint, int listener, struct rr_error *error)
{
	const int yes = 1;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		const struct rr_endpoint_owner *owner = &endpoint->owner;
		int i = 0;

		if (owner->is_stranger && owner->is_stranger(owner->process, fd)) {
			close(fd);
			continue;
		}
		while (i < RR_ENDPOINT_CONNECTIONS && endpoint->connections[i].is_open)
			i++;
		if (i == RR_ENDPOINT_CONNECTIONS) {
			close(fd);
			return rr_error_set(error, RR_ERROR_DATA,
					    "client %s opened more than %d connections",
					    endpoint->owner.name, RR_ENDPOINT_CONNECTIONS);
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		rr_wire_begin(&endpoint->connections[i], fd);
		endpoint->spent_ns = 0;
	}
	return true;
}

/* Hands on all whole requests that have come on a connection, which the owner may cut. */
static bool take_requests(struct rr_endpoint *endpoint, int number, struct rr_error *error)
{
	const struct rr_endpoint_owner *owner = &endpoint->owner;
	struct rr_wire *wire = &endpoint->connections[number];
	enum rr_resp_result result = RR_RESP_COMPLETE;
	const int yes = 1;

	endpoint->spent_ns = 0;
	while (wire->is_open && result == RR_RESP_COMPLETE) {
		struct rdl_command command;

		result = rr_wire_take(wire, &command);
		if (result == RR_RESP_COMPLETE &&
		    !owner->on_request(owner->context, number, &command))
			return false;
	}
	if (result == RR_RESP_MALFORMED || result == RR_RESP_TOO_LONG) {
		return rr_error_set(
			error, RR_ERROR_DATA,
			result == RR_RESP_TOO_LONG ?
				"client %s sent a command of more than %d words" :
				"client %s sent something that is not a request of the Redis protocol (TLS, or HTTP?): connect a client of Redis to this port, and send commands of up to %d words",
			endpoint->owner.name, RDL_WORDS_MAX);
	}
	/* A program that has not turned Nagle's algorithm off sleeps while its kernel keeps the
	 * next short write back, until the one before is acknowledged. */
	if (wire->is_open)
		setsockopt(wire->fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
	else if (result == RR_RESP_PARTIAL)
		owner->on_close(owner->context, number);
	return true;
}

void rr_endpoint_list(const struct rr_endpoint *endpoint, struct pollfd *list)
{
	for (int i = 0; i < RR_ENDPOINT_CONNECTIONS; i++)
		list[i] = (struct pollfd){ endpoint->connections[i].is_open ?
						   endpoint->connections[i].fd :
						   -1,
					   POLLIN, 0 };
	list[RR_ENDPOINT_CONNECTIONS] = (struct pollfd){ endpoint->tcp_fd, POLLIN, 0 };
	list[RR_ENDPOINT_CONNECTIONS + 1] = (struct pollfd){ endpoint->unix_fd, POLLIN, 0 };
}

bool rr_endpoint_take(struct rr_endpoint *endpoint, const struct pollfd *list,
		      struct rr_error *error)
{
	if ((list[RR_ENDPOINT_CONNECTIONS].revents &&
	     !accept_connections(endpoint, endpoint->tcp_fd, error)) ||
	    (list[RR_ENDPOINT_CONNECTIONS + 1].revents &&
	     !accept_connections(endpoint, endpoint->unix_fd, error)))
		return false;
	for (int i = 0; i < RR_ENDPOINT_CONNECTIONS; i++) {
		if (list[i].revents && !take_requests(endpoint, i, error))
			return false;
	}
	return true;
}

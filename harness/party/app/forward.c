/* SPDX-License-Identifier: MIT */
/*
 * What a request says to the app and is answered, passed on byte by byte, so that the status of a
 * response is known whatever the command prints. A response begins where the app sends something
 * after the request has; a status is read from its first line, and again behind one of 1xx.
 */
#include "app.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of a head that is looked at, as an informational response is. */
enum { CONNECTIONS_MAX = 64, HEAD_MAX = 4096 };

struct connection {
	int request,
		app; /* sockets; -1 = closed, both are when either has nothing more to say to */
	bool request_is_over, app_is_over;
	bool is_in_head; /* of a response, which has not been read as far as its status */
	char head[HEAD_MAX + 1];
	size_t n_head;
};

struct forwarding {
	struct app_forward forward;
	size_t n;
	struct connection connections[CONNECTIONS_MAX];
};

static struct sockaddr_in address_of(unsigned port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				     .sin_port = htons((uint16_t)port) };
}

/* Reads the status of what the app has sent so far in this response. */
static void read_head(struct forwarding *forwarding, struct connection *connection)
{
	int status;
	char *end;

	while (connection->is_in_head) {
		if (sscanf(connection->head, "HTTP/%*[0-9.] %3d", &status) != 1) {
			connection->is_in_head = connection->n_head < HEAD_MAX &&
						 !memchr(connection->head, '\n',
							 connection->n_head);
			return;
		}
		if (status >= 200 || status == 101) {
			atomic_store(&forwarding->forward.status, status);
			connection->is_in_head = false;
			return;
		}
		end = strstr(connection->head, "\r\n\r\n");
		if (!end)
			return;
		connection->n_head -= (size_t)(end + 4 - connection->head);
		memmove(connection->head, end + 4, connection->n_head + 1);
	}
}

static void see_response(struct forwarding *forwarding, struct connection *connection,
			 const char *bytes, size_t n)
{
	const size_t room = HEAD_MAX - connection->n_head, taken = n < room ? n : room;

	if (!connection->is_in_head)
		return;
	memcpy(connection->head + connection->n_head, bytes, taken);
	connection->n_head += taken;
	connection->head[connection->n_head] = '\0';
	read_head(forwarding, connection);
}

/* Nothing is kept back by Nagle's algorithm, neither what is passed on nor what comes: a sender that
 * has not turned it off keeps its next short write back until the one before is acknowledged. All
 * wait then, for 40 ms, and it looks as if nothing were to come. */
static void keep_nothing_back(int socket)
{
	const int yes = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
}

static bool send_all(int to, const char *bytes, size_t n)
{
	while (n > 0) {
		const ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		n -= (size_t)sent;
	}
	return true;
}

static void close_connection(struct connection *connection)
{
	close(connection->request);
	close(connection->app);
	connection->request = connection->app = -1;
}

/* Passes on what has come from one end. That it has said its last is passed on, too; that it has gone
 * away, by closing both. */
static void pass_on(struct forwarding *forwarding, struct connection *connection, bool is_request)
{
	const int from = is_request ? connection->request : connection->app;
	const int to = is_request ? connection->app : connection->request;
	bool *is_over = is_request ? &connection->request_is_over : &connection->app_is_over;
	char bytes[16 * 1024];
	const ssize_t n = recv(from, bytes, sizeof(bytes), 0);

	keep_nothing_back(from); /* the kernel forgets it in time */
	if (n == 0) {
		*is_over = true;
		shutdown(to, SHUT_WR);
	}
	if (is_request && n > 0) {
		connection->is_in_head = true;
		connection->n_head = 0;
	} else if (n > 0) {
		see_response(forwarding, connection, bytes, (size_t)n);
	}
	if (n < 0 || (n > 0 && !send_all(to, bytes, (size_t)n)) ||
	    (connection->request_is_over && connection->app_is_over))
		close_connection(connection);
}

static void accept_connection(struct forwarding *forwarding)
{
	const struct sockaddr_in address = address_of(forwarding->forward.app_port);
	const int request = accept4(forwarding->forward.listener, NULL, NULL, SOCK_CLOEXEC);
	struct connection *connection = forwarding->connections;

	while (connection < forwarding->connections + forwarding->n && connection->request >= 0)
		connection++;
	if (request < 0 || connection == forwarding->connections + CONNECTIONS_MAX) {
		close(request);
		return;
	}
	if (connection == forwarding->connections + forwarding->n)
		forwarding->n++;
	*connection = (struct connection){ .request = request };
	connection->app = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(connection->app, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		close_connection(connection);
		return;
	}
	keep_nothing_back(connection->request);
	keep_nothing_back(connection->app);
}

static void *forward(void *context)
{
	struct forwarding *forwarding = context;

	for (;;) {
		struct pollfd list[2 * CONNECTIONS_MAX + 1];
		const size_t n = forwarding->n;

		list[0] = (struct pollfd){ forwarding->forward.listener, POLLIN, 0 };
		for (size_t i = 0; i < n; i++) {
			const struct connection *it = &forwarding->connections[i];

			list[1 + 2 * i] = (struct pollfd){ it->request_is_over ? -1 : it->request,
							   POLLIN, 0 };
			list[2 + 2 * i] = (struct pollfd){ it->app_is_over ? -1 : it->app, POLLIN,
							   0 };
		}
		if (poll(list, 1 + 2 * n, -1) < 0)
			continue;
		if (list[0].revents)
			accept_connection(forwarding);
		for (size_t i = 0; i < 2 * n; i++) {
			struct connection *it = &forwarding->connections[i / 2];

			if (list[1 + i].revents && it->request >= 0)
				pass_on(forwarding, it, i % 2 == 0);
		}
	}
	return NULL;
}

const struct app_forward *app_forward_begin(unsigned app_port)
{
	struct forwarding *forwarding = app_port ? calloc(1, sizeof(*forwarding)) : NULL;
	struct sockaddr_in address = address_of(0);
	socklen_t size = sizeof(address);
	pthread_t thread;
	int listener;

	if (!forwarding)
		return NULL;
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
	    listen(listener, CONNECTIONS_MAX) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
		close(listener);
		free(forwarding);
		return NULL;
	}
	forwarding->forward.app_port = app_port;
	forwarding->forward.port = ntohs(address.sin_port);
	forwarding->forward.listener = listener;
	if (pthread_create(&thread, NULL, forward, forwarding) == 0)
		return &forwarding->forward;
	close(listener);
	free(forwarding);
	return NULL;
}

int app_forward_status(const struct app_forward *forward)
{
	return atomic_load(&forward->status);
}

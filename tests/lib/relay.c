/* SPDX-License-Identifier: MIT */
#include "relay.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un name_of(const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	snprintf(name.sun_path, sizeof(name.sun_path), "%.107s", path);
	return name;
}

static void end_pair(struct relay_pair *pair)
{
	close(pair->client);
	close(pair->server);
	pair->client = pair->server = -1;
}

static void welcome(struct relay *relay)
{
	const struct sockaddr_un name = name_of(relay->target);
	struct relay_pair *pair = relay->pairs;

	while (pair->client >= 0) /* no test has so many connections */
		pair++;
	pair->client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
	pair->server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(pair->server, (const struct sockaddr *)&name, sizeof(name)) != 0)
		end_pair(pair);
}

/* How many of `n` bytes may pass; fewer mean the cut, which is spent then. */
static long allow(struct relay *relay, enum relay_way way, long n)
{
	const long left = atomic_load(&relay->left[way]);

	if (left < 0)
		return n;
	atomic_store(&relay->left[way], n > left ? -1 : left - n);
	return n > left ? left : n;
}

/* The client is gone; what it had sent can arrive all the same, but late. */
static void keep_for_later(struct relay *relay, struct relay_pair *pair, const char *bytes,
			   size_t n)
{
	memcpy(relay->late.bytes, bytes, n);
	relay->late.length = n;
	atomic_store(&relay->late.server, dup(pair->server));
}

static void forward(struct relay *relay, struct relay_pair *pair, enum relay_way way)
{
	const bool asks = way == RELAY_REQUESTS;
	const int from = asks ? pair->client : pair->server;
	const int to = asks ? pair->server : pair->client;
	char bytes[4096];
	const ssize_t n = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);
	long passing = n > 0 ? allow(relay, way, n) : 0;

	if (passing > 0 && send(to, bytes, (size_t)passing, MSG_NOSIGNAL) < 0)
		passing = 0;
	if (n > 0 && passing == n)
		return;
	if (n > 0 && asks && atomic_load(&relay->keeps_late))
		keep_for_later(relay, pair, bytes + passing, (size_t)(n - passing));
	end_pair(pair);
}

static void serve_pairs(struct relay *relay, const struct pollfd *ready)
{
	for (int i = 0; i < RELAY_PAIRS_MAX; i++) {
		struct relay_pair *pair = &relay->pairs[i];

		if (pair->client >= 0 && ready[2 * i].revents)
			forward(relay, pair, RELAY_REQUESTS);
		if (pair->client >= 0 && ready[2 * i + 1].revents)
			forward(relay, pair, RELAY_REPLIES);
	}
}

static void *serve(void *argument)
{
	struct relay *relay = argument;
	struct pollfd ready[2 * RELAY_PAIRS_MAX + 2];

	for (;;) {
		struct pollfd *listener = &ready[2 * RELAY_PAIRS_MAX];
		struct pollfd *stop = listener + 1;

		for (int i = 0; i < RELAY_PAIRS_MAX; i++) {
			ready[2 * i].fd = relay->pairs[i].client;
			ready[2 * i + 1].fd = relay->pairs[i].server;
		}
		listener->fd = relay->listener;
		stop->fd = relay->stop_fd;
		for (int i = 0; i < 2 * RELAY_PAIRS_MAX + 2; i++) {
			ready[i].events = POLLIN;
			ready[i].revents = 0;
		}
		poll(ready, 2 * RELAY_PAIRS_MAX + 2, -1);
		if (stop->revents)
			return NULL;
		serve_pairs(relay, ready);
		if (listener->revents)
			welcome(relay);
	}
}

bool relay_start(struct relay *relay, const struct rdl_address *address)
{
	struct sockaddr_un name;

	memset(relay, 0, sizeof(*relay));
	atomic_store(&relay->late.server, -1);
	relay->address = *address;
	snprintf(relay->target, sizeof(relay->target), "%s", address->host);
	snprintf(relay->address.host, sizeof(relay->address.host), "%.240s.relay", address->host);
	for (int i = 0; i < RELAY_PAIRS_MAX; i++)
		relay->pairs[i] = (struct relay_pair){ -1, -1 };
	atomic_store(&relay->left[RELAY_REQUESTS], -1);
	atomic_store(&relay->left[RELAY_REPLIES], -1);
	name = name_of(relay->address.host);
	relay->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	relay->stop_fd = eventfd(0, EFD_CLOEXEC);
	return bind(relay->listener, (struct sockaddr *)&name, sizeof(name)) == 0 &&
	       listen(relay->listener, 16) == 0 &&
	       pthread_create(&relay->thread, NULL, serve, relay) == 0;
}

void relay_stop(struct relay *relay)
{
	eventfd_write(relay->stop_fd, 1);
	pthread_join(relay->thread, NULL);
	for (int i = 0; i < RELAY_PAIRS_MAX; i++) {
		if (relay->pairs[i].client >= 0)
			end_pair(&relay->pairs[i]);
	}
	if (relay->late.server >= 0)
		close(relay->late.server);
	close(relay->listener);
	close(relay->stop_fd);
	unlink(relay->address.host);
}

void relay_cut(struct relay *relay, enum relay_way way, long bytes)
{
	atomic_store(&relay->left[way], bytes);
}

bool relay_deliver_late(struct relay *relay)
{
	char reply[4096];
	int server = -1;
	bool good;

	for (int i = 0; i < 120000 && (server = atomic_load(&relay->late.server)) < 0; i++)
		usleep(1000);
	good = server >= 0 &&
	       send(server, relay->late.bytes, relay->late.length, MSG_NOSIGNAL) > 0 &&
	       recv(server, reply, sizeof(reply), 0) > 0;
	if (server >= 0)
		close(server);
	atomic_store(&relay->late.server, -1);
	return good;
}

bool relay_spare(struct relay *relay)
{
	bool spare = true;

	for (int way = 0; way < RELAY_WAYS; way++) {
		if (atomic_exchange(&relay->left[way], -1) >= 0)
			spare = false;
	}
	return spare;
}

/* SPDX-License-Identifier: MIT */
/* What is under way on connections to a port, as it is seen from outside. */
#include "../support.h"

#include <arpa/inet.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "party/sockets.h"

TestSuite(queues);

struct pair {
	unsigned port, from;
	int listener, client, server;
	struct rr_queue_ends ends; /* kept from look to look */
};

static void open_pair(struct pair *pair)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);

	pair->ends = (struct rr_queue_ends){ 0 };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pair->listener = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(pair->listener, (struct sockaddr *)&address, size), 0);
	cr_assert_eq(listen(pair->listener, 4), 0);
	getsockname(pair->listener, (struct sockaddr *)&address, &size);
	pair->port = ntohs(address.sin_port);
	pair->client = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(connect(pair->client, (struct sockaddr *)&address, size), 0);
	getsockname(pair->client, (struct sockaddr *)&address, &size);
	pair->from = ntohs(address.sin_port);
}

/* Until something can be read there, or be accepted: a busy kernel delivers it a little later. */
static void await_arrival(int fd)
{
	struct pollfd arrival = { .fd = fd, .events = POLLIN };

	cr_assert_eq(poll(&arrival, 1, 60000), 1);
}

static void expect_queues(struct pair *pair, unsigned long sent, unsigned long received)
{
	struct rr_queue_ends none = { 0 };
	const struct rr_queues queues[] = { rr_queues_look(pair->port, &none, UINT_MAX),
					    rr_queues_look(pair->port, &pair->ends, 1) };

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(queues[i].sent, sent, "%lu bytes have not come, look %d",
			     queues[i].sent, i);
		cr_assert_eq(queues[i].received, received, "%lu bytes were not read, look %d",
			     queues[i].received, i);
	}
	cr_assert_not(none.are_all);
	rr_queue_ends_release(&none);
}

/* Ends that are known are read again; another one is looked for where a call may have made it. */
Test(queues, ends_are_listed_when_a_connection_may_have_come)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct pair pair;
	int client;

	open_pair(&pair);
	pair.server = accept(pair.listener, NULL, NULL);
	expect_queues(&pair, 0, 0);
	cr_assert(pair.ends.are_all);
	cr_assert_eq(pair.ends.n, 3);
	client = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)pair.port);
	cr_assert_eq(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	await_arrival(pair.listener);
	cr_assert_eq(rr_queues_look(pair.port, &pair.ends, 1).received, 1, "of what listens");
	cr_assert_eq(pair.ends.n, 3);
	cr_assert_eq(rr_queues_look(pair.port, &pair.ends, 2).received, 1);
	cr_assert_eq(pair.ends.n, 5);
	cr_assert_eq(write(client, "x", 1), 1);
	close(accept(pair.listener, NULL, NULL));
	await_arrival(client);
	close(client);
	/* Reset: both ends are gone. */
	cr_assert_eq(rr_queues_look(pair.port, &pair.ends, 2).received, 0);
	cr_assert_eq(pair.ends.n, 3);
	rr_queue_ends_release(&pair.ends);
}

/* Whoever is connected and was not accepted waits to be; an answer is not waited for, nor that
 * what was read is acknowledged. */
Test(queues, what_has_come_and_was_not_read_is_under_way)
{
	struct pair pair;
	char bytes[100] = "";

	open_pair(&pair);
	await_arrival(pair.listener);
	expect_queues(&pair, 0, 1);
	pair.server = accept(pair.listener, NULL, NULL);
	expect_queues(&pair, 0, 0);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(write(pair.client, bytes, 60), 60);
		await_arrival(pair.server);
		expect_queues(&pair, 0, 60);
		cr_assert_eq(read(pair.server, bytes, 60), 60);
		expect_queues(&pair, 0, 0);
	}
	close(pair.client);
	await_arrival(pair.server);
	expect_queues(&pair, 0, 1);
	cr_assert_eq(read(pair.server, bytes, 60), 0);
	expect_queues(&pair, 0, 0);
}

/* More than the other side has room for. */
Test(queues, what_waits_to_be_sent_is_under_way)
{
	static char bytes[1024 * 1024];
	struct pair pair;
	struct rr_queues queues;
	ssize_t n, sum = 0;

	open_pair(&pair);
	pair.server = accept(pair.listener, NULL, NULL);
	while ((n = send(pair.client, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		sum += n;
	rr_queues_look(pair.port, &pair.ends, 1);
	queues = rr_queues_look(pair.port, &pair.ends, 1);
	cr_assert(pair.ends.are_all);
	cr_assert_gt(queues.sent, 0);
	cr_assert_gt(queues.received, 0);
	while (sum > 0 && (n = read(pair.server, bytes, sizeof(bytes))) > 0)
		sum -= n;
	expect_queues(&pair, 0, 0);
}

Test(queues, a_connection_is_found_by_its_ports)
{
	struct rr_socket found;
	struct pair pair;

	open_pair(&pair);
	cr_assert(rr_sockets_find(pair.from, pair.port, &found));
	cr_assert_eq(found.user, getuid());
	cr_assert(rr_socket_is_of(found.inode, getpid()));
	close(pair.client);
	cr_assert_not(rr_sockets_find(pair.from, pair.port, &found) && found.inode);
}

/* Of a listener, and both ends of a connection; by the kernel, which has more to list. */
Test(queues, a_list_may_be_of_one_port)
{
	struct rr_sockets sockets = { .states = RR_SOCKETS_CONNECTED | RR_SOCKETS_LISTENING };
	struct pair pair, another;
	struct rr_socket socket;
	size_t n = 0;

	open_pair(&pair);
	open_pair(&another);
	sockets.port = pair.port;
	while (rr_sockets_next(&sockets, &socket)) {
		cr_assert(socket.local == pair.port || socket.remote == pair.port);
		cr_assert_null(sockets.file, "the kernel refuses the filter");
		n++;
	}
	cr_assert_eq(n, 3);
}

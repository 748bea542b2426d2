/* SPDX-License-Identifier: MIT */
/* What is under way on connections to a port, as it is seen from outside. */
#include "../support.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check/sockets.h"
#include "check/sockets.h"

TestSuite(queues);

struct pair {
	unsigned port, from;
	int listener, client, server;
};

static void open_pair(struct pair *pair)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);

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

static void expect_queues(const struct pair *pair, unsigned long sent, unsigned long received)
{
	const struct rr_queues queues = rr_queues_look(pair->port);

	cr_assert_eq(queues.sent, sent, "%lu bytes have not come", queues.sent);
	cr_assert_eq(queues.received, received, "%lu bytes were not read", queues.received);
}

/* Whoever is connected and was not accepted waits to be; an answer is not waited for, nor that
 * what was read is acknowledged. */
Test(queues, what_has_come_and_was_not_read_is_under_way)
{
	struct pair pair;
	char bytes[100] = "";

	open_pair(&pair);
	expect_queues(&pair, 0, 1);
	pair.server = accept(pair.listener, NULL, NULL);
	expect_queues(&pair, 0, 0);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(write(pair.client, bytes, 60), 60);
		expect_queues(&pair, 0, 60);
		cr_assert_eq(read(pair.server, bytes, 60), 60);
		expect_queues(&pair, 0, 0);
	}
	close(pair.client);
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
	queues = rr_queues_look(pair.port);
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

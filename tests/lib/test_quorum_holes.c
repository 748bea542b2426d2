/* SPDX-License-Identifier: MIT */
/* The quorum lock where some servers cannot be reached at all. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../party.h"

enum { SHORT_MS = 600 };

static struct support support;
static struct party party;
static struct hole holes[3];
static struct rdl_address addresses[5];

static void setup(void)
{
	support_open(&support, 5);
	memcpy(addresses, support.addresses, sizeof(addresses));
}

static void teardown(void)
{
	party_close(&party);
	support_close(&support);
}

TestSuite(quorum_holes, .init = setup, .fini = teardown);

/* In the place of the first n servers. */
static void open_party(size_t n, bool full, const char *password)
{
	for (size_t i = 0; i < n; i++) {
		if (full)
			hole_open_full(&holes[i]);
		else
			hole_open_mute(&holes[i], &support, (int)i);
		addresses[i] = holes[i].address;
		strcpy(addresses[i].password, password);
	}
	party_open(&party, addresses, 5, NODE_MS);
}

static void close_holes(size_t n, bool come_back)
{
	for (size_t i = 0; i < n; i++)
		hole_close(&holes[i], come_back ? &support : NULL);
}

static void assert_works(void)
{
	long try_ms, release_ms;

	cr_assert_eq(party_try(&party, &try_ms), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_eq(party_release(&party, &release_ms), RDL_OK);
	cr_assert_lt(try_ms, ONE_WAIT_MS);
	cr_assert_lt(release_ms, ONE_WAIT_MS);
}

Test(quorum_holes, connecting_without_end_costs_one_time_out)
{
	open_party(2, true, "");
	assert_works();
	assert_works();
	close_holes(2, false);
}

Test(quorum_holes, accepted_but_mute_costs_one_time_out)
{
	open_party(2, false, "");
	assert_works();
	assert_works();
	close_holes(2, false);
}

/* These do not even answer AUTH. */
Test(quorum_holes, mute_introductions_cost_one_time_out)
{
	open_party(2, false, "pw");
	assert_works();
	assert_works();
	close_holes(2, false);
}

/* One wait for the connection, one for the answer: no more, however many. */
Test(quorum_holes, unreachable_and_hung_together_cost_two_time_outs)
{
	long spent_ms;

	open_party(1, true, "");
	servers_signal(&support, 4, 1, SIGSTOP);
	cr_assert_eq(party_try(&party, &spent_ms), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_lt(spent_ms, NODE_MS + ONE_WAIT_MS);
	servers_signal(&support, 4, 1, SIGCONT);
	close_holes(1, false);
}

static void assert_refused(const char *where)
{
	long spent_ms;

	cr_assert_eq(party_try(&party, &spent_ms), RDL_ERROR);
	cr_assert_lt(spent_ms, ONE_WAIT_MS);
	cr_assert(strstr(rdl_quorum_error(party.quorum), where), "%s",
		  rdl_quorum_error(party.quorum));
	cr_assert_str_eq(lock_at(&support, 3), "(nil)");
	cr_assert_str_eq(lock_at(&support, 4), "(nil)");
}

Test(quorum_holes, unreachable_majority_is_an_error)
{
	open_party(3, true, "");
	assert_refused("127.0.0.1");
	close_holes(3, false);
}

Test(quorum_holes, mute_majority_is_an_error)
{
	open_party(3, false, "");
	assert_refused("redis.sock.");
	close_holes(3, false);
}

/* Small commands must not wait for each other's acknowledgement. */
static void assert_no_delay(const struct rdl_address *address)
{
	size_t found = 0;

	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_in peer = { 0 };
		socklen_t length = sizeof(peer), size = sizeof(int);
		int on = 0;

		if (getpeername(fd, (struct sockaddr *)&peer, &length) != 0 ||
		    peer.sin_family != AF_INET || ntohs(peer.sin_port) != address->port)
			continue;
		getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size);
		cr_assert(on);
		found++;
	}
	cr_assert_eq(found, 1);
}

Test(quorum_holes, servers_that_come_back_are_used_again)
{
	open_party(3, true, "");
	assert_refused("127.0.0.1");
	close_holes(3, true);
	cr_assert_eq(party_try(&party, NULL), RDL_OK, "%s", rdl_quorum_error(party.quorum));
	cr_assert_eq(rdl_quorum_query(party.quorum), RDL_OK);
	for (size_t i = 0; i < 3; i++)
		assert_no_delay(&addresses[i]);
	cr_assert_eq(party_release(&party, NULL), RDL_OK);
}

/* The connection stands, so only its silence tells that the other side is not
 * there; a lease later another one is made. */
Test(quorum_holes, mute_servers_that_come_back_are_used_again)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MS };

	open_party(3, false, "");
	cr_assert_eq(rdl_quorum_try(party.quorum, SHORT_MS), RDL_ERROR);
	for (size_t i = 0; i < 3; i++) {
		const int listener = dup(holes[i].listener);

		unlink(holes[i].address.host);
		hole_close(&holes[i], &support);
		holes[i].listener = listener; /* and the old one stands */
	}
	usleep((SHORT_MS + NODE_MS) * 1000);
	cr_assert_eq(rdl_quorum_acquire(party.quorum, SHORT_MS, &policy), RDL_OK, "%s",
		     rdl_quorum_error(party.quorum));
	for (size_t i = 0; i < 3; i++)
		close(holes[i].listener);
}

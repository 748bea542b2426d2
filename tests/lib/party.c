/* SPDX-License-Identifier: MIT */
#include "../party.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void party_open(struct party *party, const struct rdl_address *addresses, size_t n,
		int node_timeout_ms)
{
	party->n = n;
	for (size_t i = 0; i < n; i++)
		party->links[i] = rdl_link_new(&addresses[i], RR_TIMEOUT_MS);
	party->quorum = rdl_quorum_new(party->links, n, "lock", node_timeout_ms);
	cr_assert_not_null(party->quorum);
}

void party_close(struct party *party)
{
	rdl_quorum_free(party->quorum);
	for (size_t i = 0; i < party->n; i++)
		rdl_link_free(party->links[i]);
}

long monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum rdl_outcome timed(long start_ms, enum rdl_outcome outcome, long *spent_ms)
{
	if (spent_ms)
		*spent_ms = support_asleep_ms(getpid()) - start_ms;
	return outcome;
}

enum rdl_outcome party_try(struct party *party, long *spent_ms)
{
	const long start_ms = support_asleep_ms(getpid());

	return timed(start_ms, rdl_quorum_try(party->quorum, LONG_MS), spent_ms);
}

enum rdl_outcome party_release(struct party *party, long *spent_ms)
{
	const long start_ms = support_asleep_ms(getpid());

	return timed(start_ms, rdl_quorum_release(party->quorum), spent_ms);
}

/* ---- Servers ---------------------------------------------------------------- */

void servers_signal(struct support *support, size_t first, size_t n, int sig)
{
	for (size_t i = first; i < first + n; i++)
		cr_assert_eq(kill(support->cluster.servers[i].process.pid, sig), 0);
}

static void await_answer(const struct rdl_address *address)
{
	struct rdl_link *link = rdl_link_new(address, RR_TIMEOUT_MS);
	const long start_ms = monotonic_ms();
	struct rdl_reply reply;

	while (rdl_run(link, &reply, "PING") != RDL_OK) {
		cr_assert_lt(monotonic_ms() - start_ms, 120000);
		rdl_sleep_ns(link, 2000000);
	}
	rdl_link_free(link);
}

static void start_server_at(struct support *support, const struct rdl_address *address)
{
	struct rr_guardian *guardian = &support->session.guardian;
	struct rr_error error = { 0 };
	char port[16];
	const char *const argv[] = { "redis-server",
				     "--port",
				     port,
				     "--unixsocket",
				     address->is_unix ? address->host : "spare.sock",
				     "--save",
				     "",
				     "--bind",
				     "127.0.0.1",
				     NULL };
	struct rr_guarded process;

	snprintf(port, sizeof(port), "%d", address->is_unix ? 0 : address->port);
	cr_assert(rr_guardian_prepare(guardian, &process, &error) &&
			  rr_guardian_run(guardian, &process, argv, NULL, -1, &error),
		  "%s", error.text);
	await_answer(address);
}

void server_crash(struct support *support, size_t i, bool again)
{
	support_inject(support, i, again ? RR_FAULT_WIPE : RR_FAULT_KILL);
}

static const char busy_loop[] = "local function now() local t = redis.call('TIME'); "
				"return t[1] * 1000000 + t[2] end; local start = now(); "
				"while now() - start < ARGV[1] * 1000 do end";

void server_delay(struct support *support, size_t i, int ms)
{
	struct rdl_link *link = support_link(support, i);

	cr_assert_eq(rdl_queue(link, "EVAL %s 0 %d", busy_loop, ms), RDL_OK);
	cr_assert_eq(rdl_flush(link), RDL_OK);
	usleep(20000); /* it has begun by then, or else it is not slow */
	rdl_link_free(link);
}

const char *lock_at(struct support *support, size_t i)
{
	struct rdl_link *link = support_link(support, i);
	const char *text = support_ask(link, "GET", "lock");

	rdl_link_free(link);
	return text;
}

void lock_write(struct support *support, size_t first, size_t n, const char *value)
{
	for (size_t i = first; i < first + n; i++) {
		struct rdl_link *link = support_link(support, i);
		struct rdl_reply reply;

		cr_assert_eq(value ? rdl_run(link, &reply, "SET lock %s", value) :
				     rdl_run(link, &reply, "DEL lock"),
			     RDL_OK);
		rdl_link_free(link);
	}
}

size_t locks_left(struct support *support, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		left += strcmp(lock_at(support, i), "(nil)") != 0;
	return left;
}

long command_count(struct rdl_link *link, const char *name)
{
	struct rdl_reply reply;
	char wanted[64];
	const char *found;

	cr_assert_eq(rdl_run(link, &reply, "INFO commandstats"), RDL_OK);
	snprintf(wanted, sizeof(wanted), "cmdstat_%s:calls=", name);
	found = strstr(reply.text, wanted);
	return found ? atol(found + strlen(wanted)) : 0;
}

/* Any of these commands, together. */
static bool await_commands(struct support *support, size_t i, const char *const names[], long times)
{
	struct rdl_link *link = support_link(support, i);
	const long start_ms = monotonic_ms();
	long count = 0;

	while (count < times && monotonic_ms() - start_ms < 120000) {
		count = 0;
		for (size_t k = 0; names[k]; k++)
			count += command_count(link, names[k]);
		usleep(2000);
	}
	rdl_link_free(link);
	return count >= times;
}

bool server_has_set(struct support *support, size_t i, long times)
{
	return await_commands(support, i, (const char *[]){ "set", NULL }, times);
}

bool server_has_deleted(struct support *support, size_t i, long times)
{
	return await_commands(support, i, (const char *[]){ "del", "delifeq", "delex", NULL },
			      times);
}

/* ---- Holes -------------------------------------------------------------------- */

void hole_open_mute(struct hole *hole, struct support *support, int number)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	*hole = (struct hole){ .address = { .is_unix = true } };
	snprintf(hole->address.host, sizeof(hole->address.host), "%.90s.%d",
		 support->cluster.servers[0].address.host, number);
	snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", hole->address.host);
	hole->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(hole->listener, (struct sockaddr *)&name, sizeof(name)), 0);
	cr_assert_eq(listen(hole->listener, 64), 0);
}

void hole_open_full(struct hole *hole)
{
	struct sockaddr_in name = { .sin_family = AF_INET };
	socklen_t length = sizeof(name);
	const int on = 1;

	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*hole = (struct hole){ .address = { .host = "127.0.0.1" } };
	hole->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(hole->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	cr_assert_eq(bind(hole->listener, (struct sockaddr *)&name, length), 0);
	cr_assert_eq(listen(hole->listener, 0), 0);
	getsockname(hole->listener, (struct sockaddr *)&name, &length);
	hole->address.port = ntohs(name.sin_port);
	for (size_t i = 0; i < 8; i++) {
		hole->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connect(hole->fillers[i], (struct sockaddr *)&name, length);
	}
}

void hole_close(struct hole *hole, struct support *support)
{
	for (size_t i = 0; i < 8; i++) {
		if (hole->fillers[i])
			close(hole->fillers[i]);
	}
	close(hole->listener);
	if (support)
		start_server_at(support, &hole->address);
}

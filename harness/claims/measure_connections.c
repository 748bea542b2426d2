/* SPDX-License-Identifier: MIT */
/* Replies that belong to somebody else, and reads and pipelines that others
 * come between. */
#include "measure.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

enum { ROUNDS = 1000, THREADS = 4 };

/* ---- One writes three keys again and again, another reads --------------------------- */

struct interference {
	int rounds;
	bool (*read)(struct rdl_link *link, struct interference *interference);
	_Atomic bool done;
	/* Reads, of two sorts, that the writer came between. */
	long first, second;
};

/* Thread 0 writes, thread 1 reads. */
static void write_or_read(struct rr_measure_thread *thread)
{
	struct interference *interference = thread->context;
	struct rdl_reply reply;

	if (thread->number == 0) {
		for (long i = 0; !interference->done && !thread->failed; i++)
			thread->failed = rdl_run(thread->link, &reply, "MSET a %ld b %ld c %ld", i,
						 i, i) != RDL_OK;
		return;
	}
	for (int i = 0; i < interference->rounds && !thread->failed; i++)
		thread->failed = !interference->read(thread->link, interference);
	interference->done = true;
}

static bool interfere(struct rr_measuring *measuring, struct interference *interference)
{
	struct rdl_reply reply;

	return rdl_run(measuring->link, &reply, "MSET a 0 b 0 c 0") == RDL_OK &&
	       rr_measure_threads(measuring, 2, write_or_read, interference);
}

/* ---- Reads of several keys ------------------------------------------------------------ */

static bool read_number(struct rdl_link *link, const char *key, long long *value)
{
	struct rdl_reply reply;

	return rdl_run(link, &reply, "GET %s", key) == RDL_OK && rdl_reply_number(&reply, value);
}

/* By one command, and by three. */
static bool read_three(struct rdl_link *link, struct interference *torn)
{
	struct rdl_reply reply;
	long long a, b, c;

	if (rdl_run(link, &reply, "MGET a b c") != RDL_OK)
		return false;
	torn->first += strcmp(reply.elements[0].text, reply.elements[1].text) != 0 ||
		       strcmp(reply.elements[0].text, reply.elements[2].text) != 0;
	if (!read_number(link, "c", &c) || !read_number(link, "b", &b) ||
	    !read_number(link, "a", &a))
		return false;
	torn->second += a != b || b != c;
	return true;
}

bool rr_measure_torn_reads(struct rr_measuring *measuring)
{
	struct interference torn = { .rounds = ROUNDS, .read = read_three };

	if (!interfere(measuring, &torn))
		return false;
	rr_measure_say(measuring, "torn in 1,000 reads: %ld by one MGET, %ld by three GETs",
		       torn.first, torn.second);
	rr_measure_judge(measuring, torn.first == 0, torn.second > 0);
	return true;
}

/* ---- Pipelines ------------------------------------------------------------------------- */

enum { SHORT = 100, LONG = 5000, TRIES = 20 };

/* One write with `n` reads of a key: did the value change in between? */
static bool read_pipeline(struct rdl_link *link, int n, long *interrupted)
{
	long long first = 0, value = 0;
	struct rdl_reply reply;

	for (int i = 0; i < n; i++) {
		if (rdl_queue(link, "GET a") != RDL_OK)
			return false;
	}
	if (rdl_flush(link) != RDL_OK)
		return false;
	for (int i = 0; i < n; i++) {
		if (rdl_receive(link, &reply) != RDL_OK || !rdl_reply_number(&reply, &value))
			return false;
		if (i == 0)
			first = value;
	}
	*interrupted += value != first;
	return true;
}

static bool read_pipelines(struct rdl_link *link, struct interference *cut)
{
	return read_pipeline(link, SHORT, &cut->first) && read_pipeline(link, LONG, &cut->second);
}

bool rr_measure_pipeline_size(struct rr_measuring *measuring)
{
	struct interference cut = { .rounds = TRIES, .read = read_pipelines };

	if (!interfere(measuring, &cut))
		return false;
	rr_measure_say(measuring,
		       "interrupted: %ld of %d pipelines of %d commands, %ld of %d of %d",
		       cut.first, TRIES, SHORT, cut.second, TRIES, LONG);
	rr_measure_judge(measuring, true, cut.second > 0);
	return true;
}

/* ---- A connection each ------------------------------------------------------------------ */

static void read_own(struct rr_measure_thread *thread)
{
	_Atomic long *wrong = thread->context;
	const int own = thread->number; /* the key, and its value */
	struct rdl_reply reply;
	long long value;

	thread->failed = rdl_run(thread->link, &reply, "SET %d %d", own, own) != RDL_OK;
	for (int i = 0; i < ROUNDS && !thread->failed; i++) {
		thread->failed = rdl_run(thread->link, &reply, "GET %d", own) != RDL_OK;
		if (!thread->failed && (!rdl_reply_number(&reply, &value) || value != own))
			++*wrong;
	}
}

bool rr_measure_own_connections(struct rr_measuring *measuring)
{
	_Atomic long wrong = 0;

	if (!rr_measure_threads(measuring, THREADS, read_own, &wrong))
		return false;
	rr_measure_say(measuring,
		       "four threads, a connection each: %ld of 4,000 replies were not their own",
		       wrong);
	rr_measure_judge(measuring, wrong == 0, true);
	return true;
}

/* ---- One connection for all --------------------------------------------------------------- */

struct shared {
	int socket;
	_Atomic long wrong;
};

/* A bare socket: rdl_link would be used by two threads at once. */
static int connect_bare(const struct rdl_address *address)
{
	const struct timeval limit = { .tv_usec = 200000 };
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof(name.sun_path), "%.*s", (int)sizeof(name.sun_path) - 1,
		 address->host);
	if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
			connect(fd, (const struct sockaddr *)&name, sizeof(name)) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ECHO of its number: each reply is seven bytes, and tells whose it is. */
static void echo_own(struct rr_measure_thread *thread)
{
	struct shared *shared = thread->context;
	char command[64], reply[7];
	const int length = snprintf(command, sizeof(command), "*2\r\n$4\r\nECHO\r\n$1\r\n%d\r\n",
				    thread->number);

	for (int i = 0; i < ROUNDS; i++) {
		if (send(shared->socket, command, (size_t)length, MSG_NOSIGNAL) != length)
			return;
		if (recv(shared->socket, reply, sizeof(reply), MSG_WAITALL) !=
		    (ssize_t)sizeof(reply))
			return;
		shared->wrong += reply[4] != '0' + thread->number;
	}
}

bool rr_measure_shared_connection(struct rr_measuring *measuring)
{
	struct shared shared = {
		.socket = connect_bare(&measuring->cluster.servers[0].address),
	};
	char wrong[RR_GROUPED_SIZE];
	bool good;

	if (shared.socket < 0)
		return rr_measure_fail(measuring, RR_EXIT_REDIS, "cannot connect");
	good = rr_measure_threads(measuring, THREADS, echo_own, &shared);
	close(shared.socket);
	if (!good)
		return false;
	rr_measure_say(measuring,
		       "four threads on one connection: %s of 4,000 replies were not their own",
		       rr_grouped(wrong, shared.wrong));
	rr_measure_judge(measuring, true, shared.wrong > 0);
	return true;
}

/* ---- One connection, a mutex around each command -------------------------------------------- */

struct guarded {
	struct rdl_link *link;
	struct rdl_mutex mutex;
	_Atomic long crossed;
};

/* Reads into `value`, or writes `store` if that is NULL. */
static bool run_guarded(struct guarded *guarded, long long *value, long long store)
{
	struct rdl_reply reply;
	enum rdl_outcome outcome;

	rdl_mutex_lock(guarded->link, &guarded->mutex);
	outcome = value ? rdl_run(guarded->link, &reply, "GET x") :
			  rdl_run(guarded->link, &reply, "SET x %lld", store);
	if (outcome == RDL_OK && value && !rdl_reply_number(&reply, value))
		guarded->crossed++;
	rdl_mutex_unlock(guarded->link, &guarded->mutex);
	return outcome == RDL_OK;
}

static void count_guarded(struct rr_measure_thread *thread)
{
	struct guarded *guarded = thread->context;
	long long value = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (!run_guarded(guarded, &value, 0) || !run_guarded(guarded, NULL, value + 1))
			return;
	}
}

bool rr_measure_mutex_on_connection(struct rr_measuring *measuring)
{
	struct guarded guarded = { .link = measuring->link };
	long long final = 0;
	bool good;

	rdl_mutex_init(&guarded.mutex);
	good = run_guarded(&guarded, NULL, 0) &&
	       rr_measure_threads(measuring, 2, count_guarded, &guarded) &&
	       run_guarded(&guarded, &final, 0);
	rdl_mutex_destroy(&guarded.mutex);
	if (!good)
		return false;
	rr_measure_say(
		measuring,
		"two threads, one connection, a mutex around each command: %ld replies crossed, 2,000 increments left %lld",
		guarded.crossed, final);
	rr_measure_judge(measuring, guarded.crossed == 0, final != 2 * ROUNDS);
	return true;
}

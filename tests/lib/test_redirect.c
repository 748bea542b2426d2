/* SPDX-License-Identifier: MIT */
/*
 * Links to Sentinels and clusters, against servers that answer what a test tells
 * them: which commands come where, and how often, after MOVED, READONLY, a lost
 * reply. Real ones are in test_route.c.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../party.h"

enum { NODES = 3, LINES = 12, FDS = 16, LIMIT_MS = 20000, SHORT_MS = 1500 };

/* The answer to a command of that name: the first time, and from then on. NULL:
 * the connection is closed. */
struct line {
	const char *name;
	const char *first, *later;
};

struct actor {
	int listener, port;
	const struct line *lines;
	pid_t pid;
};

static struct actor actors[NODES];
static int (*counts)[LINES]; /* shared: of each node, of each of its lines */
static char texts[4][200];

/* ---- The servers --------------------------------------------------------- */

static bool answer_one(int i, int fd, const char *name, size_t length)
{
	const struct line *line = actors[i].lines;
	const char *text;
	int n = 0;

	while (line->name &&
	       (strlen(line->name) != length || memcmp(line->name, name, length) != 0)) {
		line++;
		n++;
	}
	if (!line->name)
		return write(fd, "-ERR unknown command\r\n", 22) > 0;
	text = counts[i][n]++ == 0 ? line->first : line->later;
	return text && send(fd, text, strlen(text), MSG_NOSIGNAL) > 0;
}

/* All commands of what has come; they come whole, since they are short. */
static bool answer_all(int i, int fd)
{
	char bytes[4096], *at = bytes;
	const ssize_t n = read(fd, bytes, sizeof(bytes) - 1);

	if (n <= 0)
		return false;
	bytes[n] = '\0';
	while (*at == '*') {
		const long words = strtol(at + 1, &at, 10);

		at += 2;
		for (long word = 0; word < words; word++) {
			const long length = strtol(at + 1, &at, 10);

			at += 2;
			if (word == 0 && !answer_one(i, fd, at, (size_t)length))
				return false;
			at += length + 2;
		}
	}
	return true;
}

static void play_server(int i)
{
	struct pollfd fds[FDS] = { { actors[i].listener, POLLIN, 0 } };
	nfds_t n = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (poll(fds, n, -1) > 0) {
		if (fds[0].revents && n < FDS)
			fds[n++] = (struct pollfd){ accept(fds[0].fd, NULL, NULL), POLLIN, 0 };
		for (nfds_t k = 1; k < n; k++) {
			if (fds[k].revents && !answer_all(i, fds[k].fd)) {
				close(fds[k].fd);
				fds[k] = (struct pollfd){ -1, 0, 0 };
			}
		}
	}
	_exit(0);
}

static void open_port(struct actor *actor)
{
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(name);

	actor->listener = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(actor->listener, (struct sockaddr *)&name, size), 0);
	cr_assert_eq(listen(actor->listener, 8), 0);
	getsockname(actor->listener, (struct sockaddr *)&name, &size);
	actor->port = ntohs(name.sin_port);
}

static void open_ports(void)
{
	counts = mmap(NULL, sizeof(*counts) * NODES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < NODES; i++)
		open_port(&actors[i]);
}

static void start(int i, const struct line *lines)
{
	actors[i].lines = lines;
	actors[i].pid = fork();
	if (actors[i].pid == 0)
		play_server(i);
}

static void stop_all(void)
{
	for (int i = 0; i < NODES; i++) {
		if (actors[i].pid > 0) {
			kill(actors[i].pid, SIGKILL);
			waitpid(actors[i].pid, NULL, 0);
		}
		close(actors[i].listener);
	}
}

TestSuite(redirect, .init = open_ports, .fini = stop_all, .timeout = 600);

/* How often a command of that name has come to a node. */
static int count(int i, const char *name)
{
	int n = 0;

	while (strcmp(actors[i].lines[n].name, name) != 0)
		n++;
	return counts[i][n];
}

/* ---- What they say ------------------------------------------------------- */

/* CLUSTER SLOTS, when node `i` has them all. */
static const char *all_slots(int i)
{
	snprintf(texts[0], sizeof(texts[0]),
		 "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:%d\r\n", actors[i].port);
	return texts[0];
}

static const char *moved_to(int i)
{
	char *text = texts[1 + i % 2];

	snprintf(text, sizeof(texts[0]), "-MOVED 7 127.0.0.1:%d\r\n", actors[i].port);
	return text;
}

static const char *master_is(int i)
{
	char *text = texts[i % 4];

	snprintf(text, sizeof(texts[0]), "*2\r\n$9\r\n127.0.0.1\r\n$5\r\n%05d\r\n", actors[i].port);
	return text;
}

static const char ok[] = "+OK\r\n", nil[] = "$-1\r\n", one[] = ":1\r\n";
static const char is_master[] = "*1\r\n$6\r\nmaster\r\n";
static const char is_replica[] = "*1\r\n$5\r\nslave\r\n";

static struct rdl_link *link_by(const char *format)
{
	char uri[200], error[200];
	struct rdl_address address;
	struct rdl_link *link;

	snprintf(uri, sizeof(uri), format, actors[0].port);
	cr_assert(rdl_address_parse(&address, uri, error, sizeof(error)), "%s", error);
	link = rdl_link_new(&address, LIMIT_MS);
	cr_assert_not_null(link);
	return link;
}

static struct rdl_link *cluster_link(void)
{
	return link_by("redis+cluster://127.0.0.1:%d");
}

static struct rdl_link *sentinel_link(void)
{
	return link_by("redis+sentinel://:pw@127.0.0.1:%d/m");
}

/* ---- A cluster ----------------------------------------------------------- */

Test(redirect, what_may_have_been_done_is_not_sent_again)
{
	const struct line lines[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				      { "INCR", NULL, one },
				      { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;

	start(0, lines);
	cr_assert_eq(rdl_run(link, &reply, "INCR x"), RDL_UNKNOWN);
	cr_assert_eq(count(0, "INCR"), 1);
	cr_assert_eq(rdl_run(link, &reply, "INCR x"), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(count(0, "INCR"), 2);
	rdl_link_free(link);
}

Test(redirect, a_refused_batch_goes_to_the_named_node)
{
	const struct line old[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				    { "SET", moved_to(1), moved_to(1) },
				    { "INCR", moved_to(1), moved_to(1) },
				    { NULL, NULL, NULL } };
	const struct line new[] = { { "SET", ok, ok }, { "INCR", one, one }, { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;

	start(0, old);
	start(1, new);
	cr_assert_eq(rdl_queue(link, "SET y 1"), RDL_OK);
	cr_assert_eq(rdl_queue(link, "INCR x"), RDL_OK);
	cr_assert_eq(rdl_flush(link), RDL_OK);
	cr_assert_eq(rdl_receive(link, &reply), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_receive(link, &reply), RDL_OK);
	cr_assert_eq(reply.integer, 1);
	cr_assert_eq(count(1, "SET") + count(1, "INCR"), 2);
	rdl_link_free(link);
}

/* Once more would be twice. */
Test(redirect, a_batch_of_which_something_was_done_is_not_sent_again)
{
	const struct line old[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				    { "SET", moved_to(1), moved_to(1) },
				    { "INCR", one, one },
				    { NULL, NULL, NULL } };
	const struct line new[] = { { "SET", ok, ok }, { "INCR", one, one }, { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;

	start(0, old);
	start(1, new);
	cr_assert_eq(rdl_queue(link, "SET y 1"), RDL_OK);
	cr_assert_eq(rdl_queue(link, "INCR x"), RDL_OK);
	cr_assert_eq(rdl_flush(link), RDL_OK);
	cr_assert_eq(rdl_receive(link, &reply), RDL_ERROR);
	cr_assert_not_null(strstr(rdl_link_error(link), "MOVED"));
	cr_assert_eq(rdl_receive(link, &reply), RDL_UNKNOWN);
	cr_assert_eq(count(1, "SET") + count(1, "INCR"), 0);
	rdl_link_free(link);
}

static const struct line transactions[] = { { "MULTI", ok, ok },
					    { "SET", "+QUEUED\r\n", "+QUEUED\r\n" },
					    { "EXEC", "*1\r\n+OK\r\n", "*1\r\n+OK\r\n" },
					    { NULL, NULL, NULL } };

/* From MULTI on: SET alone would be done outside of the transaction. */
Test(redirect, a_transaction_is_sent_again_as_a_whole)
{
	const struct line old[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				    { "MULTI", ok, ok },
				    { "SET", moved_to(1), moved_to(1) },
				    { "EXEC", "-EXECABORT no\r\n", "-EXECABORT no\r\n" },
				    { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;

	start(0, old);
	start(1, transactions);
	cr_assert_eq(rdl_run(link, &reply, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(link, "SET y 1"), RDL_OK);
	cr_assert_eq(rdl_exec(link, 1, &reply), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(reply.type, RDL_REPLY_ARRAY);
	cr_assert_eq(count(1, "MULTI"), 1);
	cr_assert_eq(count(1, "EXEC"), 1);
	rdl_link_free(link);
}

static enum rdl_outcome to_seven(void *context, const struct rdl_reply *old, char *value,
				 size_t size)
{
	(void)context;
	(void)old;
	snprintf(value, size, "7");
	return RDL_OK;
}

/* At the new node nobody watches. */
Test(redirect, nothing_is_sent_again_without_its_watch)
{
	const struct line old[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				    { "WATCH", ok, ok },
				    { "GET", nil, nil },
				    { "MULTI", ok, ok },
				    { "SET", moved_to(1), moved_to(1) },
				    { "EXEC", "-EXECABORT no\r\n", "-EXECABORT no\r\n" },
				    { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();

	start(0, old);
	start(1, transactions);
	cr_assert_eq(rdl_update_try(link, "x", to_seven, NULL), RDL_BUSY);
	cr_assert_eq(count(1, "SET") + count(1, "EXEC"), 0);
	rdl_link_free(link);
}

Test(redirect, nodes_that_name_each_other_are_given_up_in_time)
{
	const struct line left[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				     { "SET", moved_to(1), moved_to(1) },
				     { NULL, NULL, NULL } };
	const struct line right[] = { { "SET", moved_to(0), moved_to(0) }, { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;
	const long begun_ms = monotonic_ms();

	start(0, left);
	start(1, right);
	rdl_link_set_timeout(link, SHORT_MS);
	cr_assert_neq(rdl_run(link, &reply, "SET y 1"), RDL_OK);
	cr_assert_lt(monotonic_ms() - begun_ms, 10 * SHORT_MS);
	cr_assert_gt(count(1, "SET"), 0);
	rdl_link_free(link);
}

/* ASK is for one command: the next one goes to the owner again. */
Test(redirect, ask_is_for_one_command)
{
	char ask[64];
	const struct line old[] = { { "CLUSTER", all_slots(0), all_slots(0) },
				    { "SET", ask, ok },
				    { NULL, NULL, NULL } };
	const struct line new[] = { { "ASKING", ok, ok }, { "SET", ok, ok }, { NULL, NULL, NULL } };
	struct rdl_link *link = cluster_link();
	struct rdl_reply reply;

	snprintf(ask, sizeof(ask), "-ASK 7 127.0.0.1:%d\r\n", actors[1].port);
	start(0, old);
	start(1, new);
	cr_assert_eq(rdl_run(link, &reply, "SET y 1"), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(count(1, "ASKING"), 1);
	cr_assert_eq(rdl_run(link, &reply, "SET y 1"), RDL_OK);
	cr_assert_eq(count(0, "SET"), 2);
	cr_assert_eq(count(1, "SET"), 1);
	rdl_link_free(link);
}

/* ---- Sentinel ------------------------------------------------------------ */

Test(redirect, what_a_replica_refuses_goes_to_the_master)
{
	const struct line sentinel[] = { { "SENTINEL", master_is(1), master_is(2) },
					 { NULL, NULL, NULL } };
	const struct line old[] = { { "AUTH", ok, ok },
				    { "ROLE", is_master, is_replica },
				    { "SET", "-READONLY replica\r\n", ok },
				    { NULL, NULL, NULL } };
	const struct line new[] = { { "AUTH", ok, ok },
				    { "ROLE", is_master, is_master },
				    { "SET", ok, ok },
				    { NULL, NULL, NULL } };
	struct rdl_link *link = sentinel_link();
	struct rdl_reply reply;

	start(0, sentinel);
	start(1, old);
	start(2, new);
	cr_assert_eq(rdl_run(link, &reply, "SET y 1"), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(count(1, "SET"), 1);
	cr_assert_eq(count(2, "SET"), 1);
	rdl_link_free(link);
}

/* A Sentinel with a password, that names one which is not a master yet. */
Test(redirect, who_is_named_is_asked_for_its_role)
{
	const struct line sentinel[] = { { "SENTINEL", "-NOAUTH who is it\r\n", master_is(1) },
					 { "AUTH", ok, ok },
					 { NULL, NULL, NULL } };
	const struct line master[] = { { "AUTH", ok, ok },
				       { "ROLE", is_replica, is_master },
				       { "SET", ok, ok },
				       { NULL, NULL, NULL } };
	struct rdl_link *link = sentinel_link();
	struct rdl_reply reply;

	start(0, sentinel);
	start(1, master);
	/* What has never led to a master is not waited for. */
	cr_assert_eq(rdl_run(link, &reply, "SET y 1"), RDL_ERROR);
	cr_assert_not_null(strstr(rdl_link_error(link), "is not a master"), "%s",
			   rdl_link_error(link));
	cr_assert_eq(rdl_run(link, &reply, "SET y 1"), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(count(0, "AUTH"), 1);
	cr_assert_eq(count(1, "ROLE"), 2);
	rdl_link_free(link);
}

Test(redirect, a_service_that_nobody_knows)
{
	const struct line sentinel[] = { { "SENTINEL", "*-1\r\n", "*-1\r\n" },
					 { NULL, NULL, NULL } };
	struct rdl_link *link = sentinel_link();

	start(0, sentinel);
	cr_assert_eq(rdl_link_connect(link), RDL_ERROR);
	cr_assert_not_null(strstr(rdl_link_error(link), "knows no master of the name 'm'"), "%s",
			   rdl_link_error(link));
	rdl_link_free(link);
}

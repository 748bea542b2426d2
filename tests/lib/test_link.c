/* SPDX-License-Identifier: MIT */
#include "../support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct support support;
static struct rdl_link *link_;

static void setup(void)
{
	support_open(&support, 1);
	link_ = support_link(&support, 0);
}

static void teardown(void)
{
	rdl_link_free(link_);
	support_close(&support);
}

TestSuite(link, .init = setup, .fini = teardown);

Test(link, reads_every_type_of_reply)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "SET k %s", "two words"), RDL_OK);
	cr_assert_eq(reply.type, RDL_REPLY_STATUS);
	cr_assert_str_eq(reply.text, "OK");
	cr_assert_eq(rdl_run(link_, &reply, "GET k"), RDL_OK);
	cr_assert_str_eq(reply.text, "two words");
	cr_assert_eq(reply.length, 9);
	cr_assert_eq(rdl_run(link_, &reply, "GET other"), RDL_OK);
	cr_assert(rdl_reply_is_nil(&reply));
	cr_assert_eq(rdl_run(link_, &reply, "DEL k"), RDL_OK);
	cr_assert_eq(reply.integer, 1);
	cr_assert_eq(rdl_run(link_, &reply, "EVAL %s 0", "return {1, 'a', {2, {3}}, false}"),
		     RDL_OK);
	cr_assert_eq(reply.length, 4);
	cr_assert_str_eq(reply.elements[1].text, "a");
	cr_assert_eq(reply.elements[2].elements[1].elements[0].integer, 3);
	cr_assert(rdl_reply_is_nil(&reply.elements[3]));
}

Test(link, refused_command_is_an_error_and_the_link_goes_on)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "NOSUCH"), RDL_ERROR);
	cr_assert_eq(reply.type, RDL_REPLY_FAILED);
	cr_assert(strstr(rdl_link_error(link_), "unknown command"));
	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
}

Test(link, pipeline_keeps_its_order)
{
	struct rdl_reply reply;

	for (int i = 0; i < 100; i++)
		cr_assert_eq(rdl_queue(link_, "ECHO %d", i), RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(rdl_receive(link_, &reply), RDL_OK);
		cr_assert_eq(atoi(reply.text), i);
	}
}

Test(link, large_reply_arrives_whole)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "EVAL %s 0", "return string.rep('x', 1000000)"),
		     RDL_OK);
	cr_assert_eq(reply.length, 1000000);
	cr_assert_eq(reply.text[999999], 'x');
}

Test(link, silent_server_is_unknown_and_its_late_reply_is_never_read)
{
	struct rdl_reply reply;

	rdl_link_set_timeout(link_, 100);
	kill(support.cluster.servers[0].process.pid, SIGSTOP);
	cr_assert_eq(rdl_run(link_, &reply, "ECHO late"), RDL_UNKNOWN);
	cr_assert_str_eq(rdl_link_error(link_), "no reply in time");
	kill(support.cluster.servers[0].process.pid, SIGCONT);
	rdl_link_set_timeout(link_, RR_TIMEOUT_MS);
	cr_assert_eq(rdl_run(link_, &reply, "ECHO next"), RDL_OK);
	cr_assert_str_eq(reply.text, "next");
}

/* Asked `n` times while the server hangs, and never waited for. */
static void leave_behind(int n)
{
	struct rdl_reply reply;

	for (int i = 0; i < n; i++) {
		cr_assert_eq(rdl_queue(link_, "ECHO late"), RDL_OK);
		cr_assert_eq(rdl_flush(link_), RDL_OK);
		cr_assert_eq(rdl_receive_until(link_, &reply, 1), RDL_UNKNOWN);
	}
}

Test(link, overdue_replies_are_skipped_however_many)
{
	struct rdl_reply reply;

	for (int n = 1; n <= 1000; n *= 10) {
		kill(support.cluster.servers[0].process.pid, SIGSTOP);
		leave_behind(n);
		kill(support.cluster.servers[0].process.pid, SIGCONT);
		cr_assert_eq(rdl_run(link_, &reply, "ECHO next"), RDL_OK);
		cr_assert_str_eq(reply.text, "next", "%d overdue", n);
	}
}

/* Too long for the socket, so that half of it is here when the server stops. */
Test(link, reply_left_behind_half_read_is_skipped)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(link_, "EVAL %s 0",
			       "local a = {}; for i = 1, 300000 do "
			       "a[i] = 'element' end; return a"),
		     RDL_OK);
	cr_assert_eq(rdl_flush(link_), RDL_OK);
	rdl_sleep_ns(link_, 300000000);
	kill(support.cluster.servers[0].process.pid, SIGSTOP);
	cr_assert_eq(rdl_receive_until(link_, &reply, 1), RDL_UNKNOWN);
	kill(support.cluster.servers[0].process.pid, SIGCONT);
	cr_assert_eq(rdl_run(link_, &reply, "ECHO next"), RDL_OK);
	cr_assert_str_eq(reply.text, "next");
}

Test(link, dead_server_is_an_error)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
	cr_assert(rr_guardian_kill(&support.session.guardian, &support.cluster.servers[0].process));
	rdl_sleep_ns(link_, 5000000);
	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_ERROR, "nothing was sent");
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_UNREACHABLE);
	cr_assert_neq(rdl_link_error(link_)[0], '\0');
}

Test(link, connection_killed_by_the_server_is_opened_again)
{
	struct rdl_link *other = support_link(&support, 0);
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "CLIENT KILL TYPE normal SKIPME yes"), RDL_OK);
	rdl_sleep_ns(link_, 5000000);
	cr_assert_eq(rdl_run(link_, &reply, "PING"), RDL_OK);
	rdl_link_free(other);
}

/* Answers the first thing that comes with `begin`, and then `more` again and again,
 * each `pause_ms` after the last; 0 = nothing more. */
struct stub {
	const char *begin, *more;
	int pause_ms;
};

static void serve_stub(int server, const struct stub *stub)
{
	const int client = accept(server, NULL, NULL);
	char bytes[64];
	const struct timespec pause = { 0, stub->pause_ms * 1000000L };
	bool good = read(client, bytes, sizeof(bytes)) > 0 &&
		    write(client, stub->begin, strlen(stub->begin)) > 0;

	while (good && stub->more) {
		if (stub->pause_ms)
			nanosleep(&pause, NULL);
		good = send(client, stub->more, strlen(stub->more), MSG_NOSIGNAL) > 0;
	}
	_exit(0);
}

static pid_t start_stub(struct rdl_address *address, const struct stub *stub)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	*address = (struct rdl_address){ .is_unix = true };
	snprintf(address->host, sizeof(address->host), "%.90s.stub",
		 support.cluster.servers[0].address.host);
	snprintf(name.sun_path, sizeof(name.sun_path), "%.100s", address->host);
	unlink(name.sun_path);
	cr_assert_eq(bind(server, (struct sockaddr *)&name, sizeof(name)), 0);
	listen(server, 1);
	pid = fork();
	if (pid == 0)
		serve_stub(server, stub);
	close(server);
	return pid;
}

/* What becomes of a request to it, within a time-out. */
static void assert_stub_is_unknown(const struct stub *stub, int timeout_ms, const char *why)
{
	struct rdl_address address;
	const pid_t pid = start_stub(&address, stub);
	struct rdl_link *other = rdl_link_new(&address, timeout_ms);
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "PING"), RDL_UNKNOWN);
	cr_assert_not_null(strstr(rdl_link_error(other), why), "%s", rdl_link_error(other));
	rdl_link_free(other);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The time-out is one for the whole reply. */
Test(link, a_reply_that_drips_is_given_up_in_time)
{
	const struct stub drips = { "$100\r\n", "x", 50 };
	struct timespec begun, ended;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	assert_stub_is_unknown(&drips, 300, "no reply in time");
	clock_gettime(CLOCK_MONOTONIC, &ended);
	cr_assert_lt(ended.tv_sec - begun.tv_sec, 3);
}

/* Who subscribes is answered something else, without an end. */
Test(link, a_flood_of_other_replies_is_given_up_in_time, .timeout = 600)
{
	const struct stub floods = { "+OK\r\n", "+OK\r\n+OK\r\n", 0 };
	struct rdl_address address;
	const pid_t pid = start_stub(&address, &floods);
	struct rdl_link *other = rdl_link_new(&address, 300);
	struct rdl_fair *fair = rdl_fair_new(other, "lock", NULL);

	cr_assert_eq(rdl_fair_try(fair, 1000), RDL_ERROR);
	cr_assert_not_null(strstr(rdl_link_error(other), "cannot subscribe: "), "%s",
			   rdl_link_error(other));
	rdl_fair_free(fair);
	rdl_link_free(other);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

enum { PATIENT_MS = 60000 };

Test(link, replies_have_a_limit)
{
	char many[4096];

	assert_stub_is_unknown(&(struct stub){ "*2000000000\r\n", NULL, 0 }, PATIENT_MS,
			       "more than 1048576 elements");
	/* Each of them is allowed, and each has 48 bytes for an element. */
	assert_stub_is_unknown(&(struct stub){ "*2\r\n*1000000\r\n*1000000\r\n", NULL, 0 },
			       PATIENT_MS, "more than 1048576 elements");
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	assert_stub_is_unknown(&(struct stub){ "+", many, 0 }, 300, "");
}

Test(link, something_that_is_no_redis_is_said_so)
{
	struct rdl_address address;
	const struct stub http = { .begin = "HTTP/1.1 400 Bad\r\n\r\n" };
	const pid_t pid = start_stub(&address, &http);
	struct rdl_link *other = rdl_link_new(&address, PATIENT_MS);
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(other, &reply, "PING"), RDL_UNKNOWN);
	cr_assert(strstr(rdl_link_error(other), "Protocol error"), "%s", rdl_link_error(other));
	rdl_link_free(other);
	waitpid(pid, NULL, 0);
}

Test(link, script_is_sent_whole_when_forgotten)
{
	static const char source[] = "return ARGV[1]";
	struct rdl_reply reply;

	cr_assert_eq(rdl_run_script(link_, &reply, source, "0 %s", "a"), RDL_OK);
	cr_assert_str_eq(reply.text, "a");
	cr_assert_eq(rdl_run(link_, &reply, "SCRIPT FLUSH"), RDL_OK);
	cr_assert_eq(rdl_run_script(link_, &reply, source, "0 %s", "b"), RDL_OK);
	cr_assert_str_eq(reply.text, "b");
}

Test(link, password_and_database_are_used)
{
	struct rdl_reply reply;
	struct rdl_address address = support.cluster.servers[0].address;
	struct rdl_link *other;

	cr_assert_eq(rdl_run(link_, &reply, "CONFIG SET requirepass pw"), RDL_OK);
	snprintf(address.password, sizeof(address.password), "wrong");
	other = rdl_link_new(&address, PATIENT_MS);
	cr_assert_eq(rdl_link_connect(other), RDL_ERROR);
	cr_assert(strstr(rdl_link_error(other), "WRONGPASS"));
	rdl_link_free(other);
	snprintf(address.password, sizeof(address.password), "pw");
	address.db = 3;
	other = rdl_link_new(&address, PATIENT_MS);
	cr_assert_eq(rdl_run(other, &reply, "SET k v"), RDL_OK);
	cr_assert_str_eq(support_ask(link_, "EXISTS", "k"), "0");
	rdl_link_free(other);
}

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
static struct rl_link *link_;

static void setup(void)
{
	support_open(&support, 1);
	link_ = support_link(&support, 0);
}

static void teardown(void)
{
	rl_link_free(link_);
	support_close(&support);
}

TestSuite(link, .init = setup, .fini = teardown);

Test(link, reads_every_type_of_reply)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "SET k %s", "two words"), RL_OK);
	cr_assert_eq(reply.type, RL_REPLY_STATUS);
	cr_assert_str_eq(reply.text, "OK");
	cr_assert_eq(rl_run(link_, &reply, "GET k"), RL_OK);
	cr_assert_str_eq(reply.text, "two words");
	cr_assert_eq(reply.length, 9);
	cr_assert_eq(rl_run(link_, &reply, "GET other"), RL_OK);
	cr_assert(rl_reply_is_nil(&reply));
	cr_assert_eq(rl_run(link_, &reply, "DEL k"), RL_OK);
	cr_assert_eq(reply.integer, 1);
	cr_assert_eq(rl_run(link_, &reply, "EVAL %s 0", "return {1, 'a', {2, {3}}, false}"), RL_OK);
	cr_assert_eq(reply.length, 4);
	cr_assert_str_eq(reply.elements[1].text, "a");
	cr_assert_eq(reply.elements[2].elements[1].elements[0].integer, 3);
	cr_assert(rl_reply_is_nil(&reply.elements[3]));
}

Test(link, refused_command_is_an_error_and_the_link_goes_on)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "NOSUCH"), RL_ERROR);
	cr_assert_eq(reply.type, RL_REPLY_FAILED);
	cr_assert(strstr(rl_link_error(link_), "unknown command"));
	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_OK);
}

Test(link, pipeline_keeps_its_order)
{
	struct rl_reply reply;

	for (int i = 0; i < 100; i++)
		cr_assert_eq(rl_queue(link_, "ECHO %d", i), RL_OK);
	cr_assert_eq(rl_flush(link_), RL_OK);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(rl_receive(link_, &reply), RL_OK);
		cr_assert_eq(atoi(reply.text), i);
	}
}

Test(link, large_reply_arrives_whole)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "EVAL %s 0", "return string.rep('x', 1000000)"), RL_OK);
	cr_assert_eq(reply.length, 1000000);
	cr_assert_eq(reply.text[999999], 'x');
}

Test(link, silent_server_is_unknown_and_its_late_reply_is_never_read)
{
	struct rl_reply reply;

	rl_link_set_timeout(link_, 100);
	kill(support.cluster.servers[0].process.pid, SIGSTOP);
	cr_assert_eq(rl_run(link_, &reply, "ECHO late"), RL_UNKNOWN);
	cr_assert_str_eq(rl_link_error(link_), "no reply in time");
	kill(support.cluster.servers[0].process.pid, SIGCONT);
	cr_assert_eq(rl_run(link_, &reply, "ECHO next"), RL_OK);
	cr_assert_str_eq(reply.text, "next");
}

/* Asked `n` times while the server hangs, and never waited for. */
static void leave_behind(int n)
{
	struct rl_reply reply;

	for (int i = 0; i < n; i++) {
		cr_assert_eq(rl_queue(link_, "ECHO late"), RL_OK);
		cr_assert_eq(rl_flush(link_), RL_OK);
		cr_assert_eq(rl_receive_until(link_, &reply, 1), RL_UNKNOWN);
	}
}

Test(link, overdue_replies_are_skipped_however_many)
{
	struct rl_reply reply;

	for (int n = 1; n <= 1000; n *= 10) {
		kill(support.cluster.servers[0].process.pid, SIGSTOP);
		leave_behind(n);
		kill(support.cluster.servers[0].process.pid, SIGCONT);
		cr_assert_eq(rl_run(link_, &reply, "ECHO next"), RL_OK);
		cr_assert_str_eq(reply.text, "next", "%d overdue", n);
	}
}

/* Too long for the socket, so that half of it is here when the server stops. */
Test(link, reply_left_behind_half_read_is_skipped)
{
	struct rl_reply reply;

	cr_assert_eq(rl_queue(link_, "EVAL %s 0",
			      "local a = {}; for i = 1, 300000 do "
			      "a[i] = 'element' end; return a"),
		     RL_OK);
	cr_assert_eq(rl_flush(link_), RL_OK);
	rl_sleep_ns(link_, 300000000);
	kill(support.cluster.servers[0].process.pid, SIGSTOP);
	cr_assert_eq(rl_receive_until(link_, &reply, 1), RL_UNKNOWN);
	kill(support.cluster.servers[0].process.pid, SIGCONT);
	cr_assert_eq(rl_run(link_, &reply, "ECHO next"), RL_OK);
	cr_assert_str_eq(reply.text, "next");
}

Test(link, dead_server_is_unknown_then_error)
{
	struct rl_reply reply;

	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_OK);
	cr_assert(rr_guardian_kill(&support.session.guardian, &support.cluster.servers[0].process));
	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_UNKNOWN);
	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_ERROR);
	cr_assert_neq(rl_link_error(link_)[0], '\0');
}

Test(link, connection_killed_by_the_server_is_opened_again)
{
	struct rl_link *other = support_link(&support, 0);
	struct rl_reply reply;

	cr_assert_eq(rl_run(other, &reply, "CLIENT KILL TYPE normal SKIPME yes"), RL_OK);
	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_UNKNOWN);
	cr_assert_eq(rl_run(link_, &reply, "PING"), RL_OK);
	rl_link_free(other);
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

static pid_t start_stub(struct rl_address *address, const struct stub *stub)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	*address = (struct rl_address){ .is_unix = true };
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

/* What becomes of a request to it, within a time-out of 300 ms. */
static void assert_stub_is_unknown(const struct stub *stub, const char *why)
{
	struct rl_address address;
	const pid_t pid = start_stub(&address, stub);
	struct rl_link *other = rl_link_new(&address, 300);
	struct rl_reply reply;

	cr_assert_eq(rl_run(other, &reply, "PING"), RL_UNKNOWN);
	cr_assert_not_null(strstr(rl_link_error(other), why), "%s", rl_link_error(other));
	rl_link_free(other);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The time-out is one for the whole reply. */
Test(link, a_reply_that_drips_is_given_up_in_time)
{
	const struct stub drips = { "$100\r\n", "x", 50 };
	struct timespec begun, ended;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	assert_stub_is_unknown(&drips, "no reply in time");
	clock_gettime(CLOCK_MONOTONIC, &ended);
	cr_assert_lt(ended.tv_sec - begun.tv_sec, 3);
}

/* Who subscribes is answered something else, without an end. */
Test(link, a_flood_of_other_replies_is_given_up_in_time, .timeout = 600)
{
	const struct stub floods = { "+OK\r\n", "+OK\r\n+OK\r\n", 0 };
	struct rl_address address;
	const pid_t pid = start_stub(&address, &floods);
	struct rl_link *other = rl_link_new(&address, 300);
	struct rl_fair *fair = rl_fair_new(other, "lock", NULL);

	cr_assert_eq(rl_fair_try(fair, 1000), RL_ERROR);
	cr_assert_not_null(strstr(rl_link_error(other), "cannot subscribe: "), "%s",
			   rl_link_error(other));
	rl_fair_free(fair);
	rl_link_free(other);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(link, replies_have_a_limit)
{
	char many[4096];

	assert_stub_is_unknown(&(struct stub){ "*2000000000\r\n", NULL, 0 },
			       "more than 1048576 elements");
	/* Each of them is allowed, and each has 48 bytes for an element. */
	assert_stub_is_unknown(&(struct stub){ "*2\r\n*1000000\r\n*1000000\r\n", NULL, 0 },
			       "more than 1048576 elements");
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	assert_stub_is_unknown(&(struct stub){ "+", many, 0 }, "");
}

Test(link, something_that_is_no_redis_is_said_so)
{
	struct rl_address address;
	const struct stub http = { .begin = "HTTP/1.1 400 Bad\r\n\r\n" };
	const pid_t pid = start_stub(&address, &http);
	struct rl_link *other = rl_link_new(&address, 1000);
	struct rl_reply reply;

	cr_assert_eq(rl_run(other, &reply, "PING"), RL_UNKNOWN);
	cr_assert(strstr(rl_link_error(other), "Protocol error"), "%s", rl_link_error(other));
	rl_link_free(other);
	waitpid(pid, NULL, 0);
}

Test(link, script_is_sent_whole_when_forgotten)
{
	static const char source[] = "return ARGV[1]";
	struct rl_reply reply;

	cr_assert_eq(rl_run_script(link_, &reply, source, "0 %s", "a"), RL_OK);
	cr_assert_str_eq(reply.text, "a");
	cr_assert_eq(rl_run(link_, &reply, "SCRIPT FLUSH"), RL_OK);
	cr_assert_eq(rl_run_script(link_, &reply, source, "0 %s", "b"), RL_OK);
	cr_assert_str_eq(reply.text, "b");
}

Test(link, password_and_database_are_used)
{
	struct rl_reply reply;
	struct rl_address address = support.cluster.servers[0].address;
	struct rl_link *other;

	cr_assert_eq(rl_run(link_, &reply, "CONFIG SET requirepass pw"), RL_OK);
	snprintf(address.password, sizeof(address.password), "wrong");
	other = rl_link_new(&address, 1000);
	cr_assert_eq(rl_link_connect(other), RL_ERROR);
	cr_assert(strstr(rl_link_error(other), "WRONGPASS"));
	rl_link_free(other);
	snprintf(address.password, sizeof(address.password), "pw");
	address.db = 3;
	other = rl_link_new(&address, 1000);
	cr_assert_eq(rl_run(other, &reply, "SET k v"), RL_OK);
	cr_assert_str_eq(support_ask(link_, "EXISTS", "k"), "0");
	rl_link_free(other);
}

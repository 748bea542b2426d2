/* SPDX-License-Identifier: MIT */
/* The user's own servers: their passwords are seen nowhere, and what they say does
 * nothing to a terminal. */
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli.h"

TestSuite(own, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

static struct support support;

/* A server on $PORT of 127.0.0.1 and the socket $SOCKET; its password is
 * "s3cret,word". */
static void open_secret_server(void)
{
	struct rdl_link *link;
	struct rdl_reply reply;
	char port[16];

	support_open(&support, 1);
	link = support_link(&support, 0);
	snprintf(port, sizeof(port), "%u", support_listen(link));
	rdl_run(link, &reply, "CONFIG SET requirepass s3cret,word");
	rdl_link_free(link);
	setenv("PORT", port, 1);
	setenv("SOCKET", support.cluster.servers[0].address.host, 1);
	setenv("BENCH", "$REDRACE bench incr --increments 200 --warmup 10", 1);
}

static void expect_counted(const char *command)
{
	cr_assert_eq(cli_runf("rm -f $HERE/result.json; %s -o $HERE/result.json 2>&1", command), 0,
		     "%s", cli_output);
	cli_assert_json("$all.cases[0].verdict == \"passed\" and .lost == 0");
}

/* In ps: of the program, its guardian and its workers; and in the results. */
Test(own, a_password_is_in_no_command_line)
{
	open_secret_server();
	cr_assert_eq(
		cli_run("$REDRACE bench incr --increments 100000000 --processes 2 --redis redis://:s3cret,word@127.0.0.1:$PORT -o $HERE/a >$HERE/log 2>&1 & "
			"for i in $(seq 1000); do "
			"n=$(grep -azl \"$HERE/a\" /proc/[0-9]*/cmdline 2>/dev/null | wc -l); "
			"[ $n -ge 4 ] && break; sleep 0.01; done; "
			"cat $(grep -azl \"$HERE/a\" /proc/[0-9]*/cmdline 2>/dev/null) | tr '\\0' '\\n' | grep -e --redis -A 1 | grep redis://; "
			"kill $!; wait $!; echo; cat $HERE/log; grep -rn s3cret $HERE/a"),
		1, "%s", cli_output);
	cr_assert_null(strstr(cli_output, "s3cret"), "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "redis://************@127"), "%s", cli_output);
	support_close(&support);
}

Test(own, servers_and_passwords_of_the_environment_and_of_files)
{
	open_secret_server();
	expect_counted(
		"REDISCLI_AUTH=s3cret,word $REDRACE bench incr --increments 200 --redis unix://$SOCKET -o $HERE/a");
	expect_counted(
		"REDRACE_REDIS=redis://:s3cret,word@127.0.0.1:$PORT $REDRACE bench incr --increments 200 -o $HERE/a");
	expect_counted(
		"printf 's3cret,word\\r\\nmore\\n' >$HERE/pw; REDISCLI_AUTH=x $REDRACE bench incr --increments 200 --redis-password-file $HERE/pw --redis unix://$SOCKET -o $HERE/a");
	expect_counted(
		"mkfifo $HERE/fifo; (sleep 0.2; printf 's3cret,word\n' >$HERE/fifo) & $REDRACE bench incr --increments 200 --redis-password-file $HERE/fifo --redis unix://$SOCKET -o $HERE/a 2>&1");
	/* What stands in the URI counts. */
	expect_counted(
		"REDISCLI_AUTH=x $REDRACE bench incr --increments 200 --redis redis://:s3cret,word@127.0.0.1:$PORT -o $HERE/a 2>&1");
	cli_assert_one_line(
		"REDISCLI_AUTH=x $REDRACE bench incr --redis unix://$SOCKET -o $HERE/a 2>&1",
		RR_EXIT_REDIS, "WRONGPASS");
	support_close(&support);
}

Test(own, passwords_that_cannot_be_had)
{
	cli_assert_one_line(
		"$REDRACE bench incr --redis unix://x --redis-password-file $HERE/none 2>&1",
		RR_EXIT_USAGE, "/none");
	cli_assert_one_line(
		": >$HERE/empty; $REDRACE bench incr --redis unix://x --redis-password-file $HERE/empty 2>&1",
		RR_EXIT_USAGE, "/empty");
	cli_assert_one_line(
		"mkfifo $HERE/fifo; $REDRACE bench incr --redis unix://x --redis-password-file $HERE/fifo 2>&1",
		RR_EXIT_USAGE, "/fifo");
	cli_assert_one_line("$REDRACE bench incr --redis ftp://x 2>&1", RR_EXIT_USAGE, "redis://");
	cli_assert_one_line("setsid $REDRACE bench incr --redis unix://x --askpass 2>&1 </dev/null",
			    RR_EXIT_USAGE, "--redis-password-file");
	cli_assert_one_line("$REDRACE bench incr --askpass 2>&1", RR_EXIT_USAGE, "REDRACE_REDIS");
	cli_assert_one_line("REDRACE_REDIS=redis://:s3cret@h:x $REDRACE bench incr 2>&1",
			    RR_EXIT_USAGE, "REDRACE_REDIS");
	cr_assert_null(strstr(cli_output, "s3cret"), "%s", cli_output);
	/* An option that is none has a secret in it all the same. */
	cli_assert_one_line("$REDRACE bench incr --rediz=redis://:s3cret@h 2>&1", RR_EXIT_USAGE,
			    "redis://***@h");
}

/* Criterion's workers block and ignore what Ctrl-C sends. */
static void become_like_a_shells_child(void)
{
	sigset_t none;

	signal(SIGINT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Types a password when it is asked for; what is shown then until the end. */
static int type_password(const char *password, char *shown, size_t size)
{
	size_t n = 0;
	int terminal, status;
	bool is_typed = false;
	ssize_t got;
	const pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

	if (pid == 0) {
		become_like_a_shells_child();
		execl("/bin/sh", "sh", "-c",
		      "exec ${REDRACE:-build/redrace} bench incr --increments 200 --askpass --redis unix://$SOCKET -o $HERE/a",
		      NULL);
		_exit(127);
	}
	while (n + 1 < size && (got = read(terminal, shown + n, size - 1 - n)) > 0) {
		n += (size_t)got;
		shown[n] = '\0';
		if (!is_typed && strstr(shown, "Password of the servers: "))
			is_typed = write(terminal, password, strlen(password)) > 0;
	}
	close(terminal);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Test(own, a_password_is_asked_for_and_not_shown)
{
	static char shown[16384];

	open_secret_server();
	cr_assert_eq(type_password("s3cret,word\n", shown, sizeof(shown)), 0, "%s", shown);
	cr_assert_not_null(strstr(shown, "\r\nincr "), "%s", shown);
	cr_assert_null(strstr(shown, "s3cret"), "%s", shown);
	/* Ctrl-C ends the question. */
	cr_assert_eq(type_password("\x03", shown, sizeof(shown)), RR_EXIT_INTERRUPTED, "%s", shown);
	support_close(&support);
}

/* ---- What a user may not do ------------------------------------------------ */

static void add_user(const char *rules)
{
	struct rdl_address address = support.cluster.servers[0].address;
	struct rdl_link *link;
	char command[300], output[300];

	snprintf(address.password, sizeof(address.password), "s3cret,word");
	link = rdl_link_new(&address, RR_TIMEOUT_MS);
	cr_assert_eq(rdl_link_connect(link), RDL_OK, "%s", rdl_link_error(link));
	rdl_link_free(link);
	snprintf(command, sizeof(command),
		 "redis-cli -s $SOCKET -a s3cret,word --no-auth-warning ACL SETUSER %s", rules);
	cr_assert_eq(support_shell(command, output, sizeof(output)), 0, "%s", output);
}

/* Of all that were to run: "incr: passed, set-nx-ex: skipped". */
static void assert_verdicts(const char *expected)
{
	char filter[300];

	snprintf(filter, sizeof(filter),
		 "[$all.cases[] | .name + \": \" + .verdict] | sort | join(\", \") == \"%s\"",
		 expected);
	cli_assert_json(filter);
}

/* The first refusal names it; what can run, does. */
Test(own, what_a_user_may_not_do_is_named)
{
	open_secret_server();
	add_user("alice on '>pw' '~redrace:*' -@all +get +set +del +incr");
	cr_assert_eq(
		cli_run("$REDRACE bench incr set-nx-ex fair-queue multi-watch lua-incr --increments 200 --redis redis://alice:pw@127.0.0.1:$PORT -o $HERE/a -o $HERE/result.json 2>&1"),
		0, "%s", cli_output);
	assert_verdicts("fair-queue: skipped, incr: passed, lua-incr: skipped, "
			"multi-watch: skipped, set-nx-ex: passed");
	cli_assert_names("redis://127.0.0.1:");
	cli_assert_names("'watch'");
	cli_assert_names("'subscribe'");
	cli_assert_names("'eval'");
	add_user("bob on '>pw' '~redrace:*' -@all +get +del");
	cr_assert_eq(
		cli_run("$REDRACE bench incr set-nx-ex --redis redis://bob:pw@127.0.0.1:$PORT -o $HERE/b -o $HERE/result.json 2>&1"),
		RR_EXIT_SKIPPED, "%s", cli_output);
	assert_verdicts("incr: skipped, set-nx-ex: skipped");
	cli_assert_names("'incr'");
	cli_assert_names("'set'");
	add_user("carl on '>pw' '~other:*' -@all +@all");
	cli_assert_one_line(
		"$REDRACE bench incr --redis redis://carl:pw@127.0.0.1:$PORT -o $HERE/c 2>&1",
		RR_EXIT_REDIS, "redis://127.0.0.1:");
	support_close(&support);
}

/* ---- What a server says --------------------------------------------------- */

static void answer_with(const char *text, const char *path)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	const int server = socket(AF_UNIX, SOCK_STREAM, 0);
	char bytes[4096];
	int client;

	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	cr_assert_eq(bind(server, (struct sockaddr *)&name, sizeof(name)), 0);
	listen(server, 8);
	if (fork() == 0) {
		alarm(300);
		while ((client = accept(server, NULL, NULL)) >= 0) {
			while (read(client, bytes, sizeof(bytes)) > 0 &&
			       send(client, text, strlen(text), MSG_NOSIGNAL) > 0)
				continue;
			close(client);
		}
		_exit(0);
	}
	close(server);
}

Test(own, what_a_server_says_does_nothing_to_a_terminal)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/evil.sock", cli_home);
	answer_with("-ERR \x1b]0;title\x07\x1b[31mred\x7f\r\n", path);
	cli_assert_one_line("$REDRACE bench incr --redis unix://$HERE/evil.sock -o $HERE/a 2>&1",
			    RR_EXIT_REDIS, "\\x1b]0;title\\x07\\x1b[31mred\\x7f");
}

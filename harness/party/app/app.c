/* SPDX-License-Identifier: MIT */
/*
 * redrace-app: an app and its requests as one program that `redrace check` can follow.
 *
 *	redrace-app APP READY [REQUEST...]
 *
 * It starts the app, if there is any ("" = none), and waits until it is up. Then each request is a
 * process of its own, with a connection to Redis on which it tells redrace what happens, in marks
 * (base/marks.h): it may begin when that mark is answered, its answer is written down before the
 * next mark, and when the last mark of all, on one more connection, is answered the app is ended.
 * One whose connection is closed instead does not begin here, but has begun before a crash. An answer is a line that
 * begins with RR_MARK_RECORD, and what the request has printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "base/bytes.h"
#include "base/text.h"

/* Of an answer REDRACE keeps all bytes up to ANSWER_MAX, as many as all requests together may have,
 * and a digest of what is behind them. What is written in one piece of PIECE_MAX bytes is never mixed
 * with what others write. */
enum { REASON_MAX = 3900, PIECE_MAX = 3900, ANSWER_MAX = 1024 * 1024, POLLS_MAX = 30 };

/* Until the app is looked at for the first time again; then longer and longer. */
#define POLL_NS (10 * INT64_C(1000000))

struct app {
	size_t n_requests;
	unsigned port;
	const char *command, *ready;
	char *const *requests;
	pid_t pid;                        /* 0 = there is no app */
	int input;                        /* what it reads: the end for writing; -1 = nothing */
	int log;                          /* what it prints */
	int connections[RR_REQUESTS_MAX]; /* to Redis, of each request */
};

/* ---- The app ------------------------------------------------------------------- */

static void pause_for(int64_t ns)
{
	const struct timespec pause = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&pause, NULL);
}

static bool has_lines(const struct app *app)
{
	bool has = false;

	for (size_t i = 0; i < app->n_requests; i++)
		has |= app->requests[i][0] == RR_MARK_LINE;
	return has;
}

/* Where there are lines for it, it reads them from a pipe, which stays open. */
static void start_app(struct app *app)
{
	int ends[2] = { -1, -1 };

	if (has_lines(app) && pipe2(ends, O_CLOEXEC) != 0)
		exit(71);
	app->input = ends[1];
	app->log = memfd_create("log", MFD_CLOEXEC);
	app->pid = fork();
	if (app->pid != 0) {
		close(ends[0]);
		return;
	}
	if (ends[0] >= 0)
		dup2(ends[0], STDIN_FILENO);
	dup2(app->log, STDOUT_FILENO);
	dup2(app->log, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", app->command, NULL);
	_exit(127);
}

/* The line of the end of its log that says best why it failed, malloc'd. */
static char *reason_of(const struct app *app)
{
	char printed[REASON_MAX];
	const off_t end = lseek(app->log, 0, SEEK_END);
	const off_t from = end > REASON_MAX - 1 ? end - REASON_MAX + 1 : 0;
	const ssize_t n = pread(app->log, printed, sizeof(printed) - 1, from);

	printed[n > 0 ? n : 0] = '\0';
	return rr_reason_line(printed, n > 0 ? (size_t)n : 0);
}

static void end_failed(void)
{
	app_end_children();
	exit(RR_APP_FAILED);
}

/* Ends with the one line that redrace prints. */
static void fail(const struct app *app, const char *what)
{
	char *reason = reason_of(app);

	printf("%s%s%.300s%s\n", what, reason[0] ? "; it printed '" : "", reason,
	       reason[0] ? "'" : "");
	free(reason);
	fflush(stdout);
	end_failed();
}

/* What it has left behind is its business, and nobody knows what that waits for. `n_own`: children
 * of ours that are not the app's. */
static void refuse_daemon(int status, size_t n_own)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || app_count_children() <= n_own)
		return;
	puts("the app exited with 0 and goes on in the background: start it in the foreground");
	fflush(stdout);
	end_failed();
}

static void fail_ended(const struct app *app, int status)
{
	char text[120];

	refuse_daemon(status, 0);
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "the app was ended by signal %d before it was up",
			 WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "the app exited with %d before it was up%s",
			 WEXITSTATUS(status),
			 WEXITSTATUS(status) ? "" : ": an app listens on $PORT until it is ended");
	fail(app, text);
}

static void fail_not_up(const struct app *app)
{
	char text[200];
	const unsigned other = app_other_port(app->port);

	if (app->ready[0])
		snprintf(text, sizeof(text), "the command of --ready never exits with 0");
	else if (other)
		snprintf(text, sizeof(text),
			 "the app listens on port %u, and not on PORT, which is %u here", other,
			 app->port);
	else
		snprintf(text, sizeof(text), "the app does not listen on PORT, which is %u here",
			 app->port);
	fail(app, text);
}

static bool is_up(const struct app *app)
{
	char *command;
	int status;

	if (!app->ready[0])
		return app->input >= 0 || app_listens(app->port);
	command = app_fill_in(app->ready, app->port);
	status = app_run(command, app->port, app->log);
	free(command);
	return status == 0;
}

/* The clock stands still while anybody computes, and goes on when all wait. */
static void await_app(const struct app *app)
{
	int64_t pause_ns = POLL_NS;
	int status;

	for (int n = 0; n < POLLS_MAX; n++) {
		if (is_up(app))
			return;
		if (waitpid(app->pid, &status, WNOHANG) == app->pid)
			fail_ended(app, status);
		pause_for(pause_ns);
		pause_ns += pause_ns / 4;
	}
	fail_not_up(app);
}

/* ---- A request ----------------------------------------------------------------- */

/* Which of several workers takes a request would be up to the kernel. All of them are there when
 * a request begins: the app was at rest. */
static void refuse_workers(const struct app *app)
{
	const size_t n = app->pid ? app_count_workers(app->port) : 0;

	if (n < 2)
		return;
	printf("%zu processes of the app take requests at one port, and the kernel chooses which of them: start one worker, and see --apps\n",
	       n);
	fflush(stdout);
	end_failed();
}

/* Writes bytes of an answer in records of one piece each, with what could be taken for a record's
 * mark escaped. */
static void write_pieces(const char *heading, const char *bytes, size_t n)
{
	size_t at = 0;

	do {
		char piece[PIECE_MAX + 100];
		size_t length = (size_t)snprintf(piece, sizeof(piece), "%s", heading);

		for (; at < n && length < PIECE_MAX - 1; at++) {
			const bool escapes = bytes[at] == RR_MARK_RECORD ||
					     bytes[at] == RR_MARK_ESCAPE;

			if (escapes)
				piece[length++] = RR_MARK_ESCAPE;
			piece[length++] = escapes ? bytes[at] ^ RR_MARK_ESCAPED : bytes[at];
		}
		if (write(STDOUT_FILENO, piece, length) != (ssize_t)length)
			_exit(1);
	} while (at < n);
}

/* Writes what the command has printed. A child that it leaves behind may go on printing, which is not
 * waited for. */
static void write_printed(const char *heading, int output)
{
	const off_t end = lseek(output, 0, SEEK_END);
	const size_t length = end > 0 ? (size_t)end : 0;
	const char *bytes = length ? mmap(NULL, length, PROT_READ, MAP_SHARED, output, 0) : "";

	if (bytes == MAP_FAILED)
		_exit(1);
	write_pieces(heading, bytes, length < ANSWER_MAX ? length : ANSWER_MAX);
	if (length > ANSWER_MAX) {
		const size_t n_more = length - ANSWER_MAX;
		char line[120];
		const int n = snprintf(line, sizeof(line),
				       "\n[%zu more bytes, digest %016" PRIx64 "%016" PRIx64 "]\n",
				       n_more, rr_bytes_digest(0, bytes + ANSWER_MAX, n_more),
				       rr_bytes_digest(1, bytes + ANSWER_MAX, n_more));

		write_pieces(heading, line, (size_t)n);
	}
}

static void write_record(const struct app *app, size_t number)
{
	const struct app_forward *forward = app_forward_begin(app->pid ? app->port : 0);
	char *command = app_fill_in(app->requests[number - 1], forward ? forward->port : app->port);
	const int output = memfd_create("answer", MFD_CLOEXEC);
	const int status = app_run(command, forward ? forward->port : app->port, output);
	char heading[100];

	free(command);
	snprintf(heading, sizeof(heading), "%c%zu %d %d\n", RR_MARK_RECORD, number, status,
		 forward ? app_forward_status(forward) : 0);
	write_printed(heading, output);
	close(output);
}

/* Of an app that has ended nobody reads it. Written down is that there is no answer. */
static void write_line(const struct app *app, size_t number)
{
	char record[40];

	signal(SIGPIPE, SIG_IGN);
	dprintf(app->input, "%s\n", app->requests[number - 1] + 1);
	snprintf(record, sizeof(record), "%c%zu 0 0\n", RR_MARK_RECORD, number);
	if (write(STDOUT_FILENO, record, strlen(record)) < 0)
		_exit(1);
}

static void be_request(const struct app *app, size_t number)
{
	const int connection = app->connections[number - 1];
	char mark[64];

	if (!app_await_reply(connection))
		_exit(1);
	refuse_workers(app);
	if (app->requests[number - 1][0] == RR_MARK_LINE)
		write_line(app, number);
	else
		write_record(app, number);
	snprintf(mark, sizeof(mark), RR_MARK_ANSWER "%zu", number);
	app_send_mark(connection, mark);
	app_await_reply(connection);
	_exit(0);
}

/* ---- All of them --------------------------------------------------------------- */

/* Connections are opened one after the other, so that their order is always the same. */
static void begin_requests(struct app *app)
{
	for (size_t i = 0; i < app->n_requests; i++) {
		char mark[64];

		app->connections[i] = app_connect();
		snprintf(mark, sizeof(mark), RR_MARK_REQUEST "%zu", i + 1);
		app_send_mark(app->connections[i], mark);
	}
}

static bool take_out(pid_t *pids, size_t n, pid_t pid)
{
	size_t i = 0;

	while (i < n && pids[i] != pid)
		i++;
	if (i < n)
		pids[i] = 0;
	return i < n;
}

/* An app that ends while others ask it is no refusal, whatever they make of it. */
static void note_end_of_app(const struct app *app, int status)
{
	char *reason = reason_of(app), record[400];
	const int length = snprintf(
		record, sizeof(record), "%c0 %d\n%.300s", RR_MARK_RECORD,
		WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), reason);

	free(reason);
	if (write(STDOUT_FILENO, record, (size_t)length) < 0)
		exit(1);
}

/* Until so many processes of ours have ended. Others that end meanwhile belong to the app. */
static void await_children(const struct app *app, pid_t *pids, size_t n)
{
	size_t n_left = n;
	int status;

	while (n_left > 0) {
		const pid_t pid = wait(&status);

		if (pid == app->pid) {
			refuse_daemon(status, n_left);
			note_end_of_app(app, status);
		}
		if (!take_out(pids, n, pid))
			continue;
		if (WIFEXITED(status) && WEXITSTATUS(status) == RR_APP_FAILED)
			end_failed();
		n_left--;
	}
	if (app->pid && waitpid(app->pid, &status, WNOHANG) == app->pid)
		note_end_of_app(app, status);
}

static void await_requests(const struct app *app)
{
	pid_t requests[RR_REQUESTS_MAX];

	for (size_t i = 0; i < app->n_requests; i++) {
		requests[i] = fork();
		if (requests[i] == 0)
			be_request(app, i + 1);
	}
	await_children(app, requests, app->n_requests);
}

/* On a connection of its own: that of a request is closed if it does not come to this app. */
static void await_end(const struct app *app)
{
	const int connection = app_connect();
	pid_t end;

	app_send_mark(connection, RR_MARK_END);
	end = fork();
	if (end == 0) {
		app_await_reply(connection);
		_exit(0);
	}
	await_children(app, &end, 1);
}

int main(int argc, char **argv)
{
	const char *port = getenv("PORT");
	struct app app = { .n_requests = argc > 3 ? (size_t)argc - 3 : 0 };

	if (argc < 3 || app.n_requests > RR_REQUESTS_MAX)
		return 64;
	app.port = (unsigned)strtoul(port ? port : "", NULL, 10);
	app.command = argv[1];
	app.ready = argv[2];
	app.requests = argv + 3;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (app.command[0]) {
		start_app(&app);
		await_app(&app);
	}
	begin_requests(&app);
	await_requests(&app);
	await_end(&app);
	app_end_children();
	return 0;
}

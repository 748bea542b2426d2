/* SPDX-License-Identifier: MIT */
#include "pseudo.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

enum { TIMEOUT_S = 300 };

static void run(struct pseudo *pseudo, const char *arguments)
{
	const char *program = getenv("REDRACE");
	char command[600];

	snprintf(command, sizeof(command), "exec %s %s", program ? program : "build/redrace",
		 arguments);
	close(pseudo->master);
	if (login_tty(pseudo->slave) != 0)
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pseudo_open(struct pseudo *pseudo, const char *arguments)
{
	pseudo_open_in(pseudo, 100, arguments);
}

void pseudo_open_in(struct pseudo *pseudo, unsigned short columns, const char *arguments)
{
	char command[500];

	snprintf(command, sizeof(command), "play %s", arguments);
	pseudo_open_command(pseudo, columns, command);
}

void pseudo_open_command(struct pseudo *pseudo, unsigned short columns, const char *arguments)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };

	pseudo->used = 0;
	pseudo->screen = pseudo->seen;
	cr_assert_eq(openpty(&pseudo->master, &pseudo->slave, NULL, NULL, &size), 0);
	tcgetattr(pseudo->slave, &pseudo->before);
	pseudo->pid = fork();
	cr_assert_geq(pseudo->pid, 0);
	if (pseudo->pid == 0)
		run(pseudo, arguments);
}

void pseudo_type(struct pseudo *pseudo, const char *keys)
{
	cr_assert_eq(write(pseudo->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* What has come, for a tenth of a second at most. */
static void take(struct pseudo *pseudo)
{
	struct pollfd ready = { .fd = pseudo->master, .events = POLLIN };
	const size_t left = sizeof(pseudo->seen) - 1 - pseudo->used;
	ssize_t n = 0;

	cr_assert_gt(left, 0);
	if (poll(&ready, 1, 100) == 1)
		n = read(pseudo->master, pseudo->seen + pseudo->used, left);
	if (n > 0)
		pseudo->used += (size_t)n;
	pseudo->seen[pseudo->used] = '\0';
	for (char *at = pseudo->screen; (at = strstr(at, "\033[2J")); at += 4)
		pseudo->screen = at + 4;
}

void pseudo_await(struct pseudo *pseudo, const char *text)
{
	const time_t begin = time(NULL);

	do
		take(pseudo);
	while (!strstr(pseudo->screen, text) && time(NULL) - begin < TIMEOUT_S);
	cr_assert_not_null(strstr(pseudo->screen, text), "no '%s' on: %s", text, pseudo->screen);
}

static bool is_as_before(const struct pseudo *pseudo)
{
	struct termios now;

	return tcgetattr(pseudo->slave, &now) == 0 && now.c_lflag == pseudo->before.c_lflag &&
	       now.c_iflag == pseudo->before.c_iflag && now.c_oflag == pseudo->before.c_oflag;
}

int pseudo_close(struct pseudo *pseudo)
{
	const time_t begin = time(NULL);
	int status = 0;
	pid_t ended;

	do {
		take(pseudo);
		ended = waitpid(pseudo->pid, &status, WNOHANG);
	} while (ended == 0 && time(NULL) - begin < TIMEOUT_S);
	cr_assert_eq(ended, pseudo->pid, "it does not end: %s", pseudo->screen);
	take(pseudo);
	cr_assert(WIFSIGNALED(status) || is_as_before(pseudo));
	close(pseudo->master);
	close(pseudo->slave);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

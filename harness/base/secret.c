/* SPDX-License-Identifier: MIT */
#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "memory.h"

/* ---- In texts ------------------------------------------------------------ */

/* The next user and password; NULL = there is none. In a list of URIs, each ends
 * at the comma before the scheme of the next; hosts of one may have commas, and
 * so may a password. What an error says is expected is none. */
static const char *find_secret(const char *text, size_t *length)
{
	const char *start, *next, *at;

	for (; (start = strstr(text, "://")); text = start) {
		start += 3;
		next = strstr(start, "://");
		if (next)
			next = memrchr(start, ',', (size_t)(next - start));
		if (!next)
			next = start + strlen(start);
		at = memrchr(start, '@', (size_t)(next - start));
		if (at && strncmp(start, "[user[:password]@", 17) != 0) {
			*length = (size_t)(at - start);
			return start;
		}
	}
	return NULL;
}

void rr_secrets_blank(char *text)
{
	const char *secret;
	size_t length;

	while ((secret = find_secret(text, &length))) {
		text += secret - text;
		memset(text, '*', length);
		text += length;
	}
}

char *rr_secrets_hide(const char *text)
{
	char *copy = NULL;
	const char *secret;
	size_t length;
	FILE *file = rr_open_text(&copy);

	while ((secret = find_secret(text, &length))) {
		fwrite(text, 1, (size_t)(secret - text), file);
		fputs("***", file);
		text = secret + length;
	}
	fputs(text, file);
	fclose(file);
	return copy;
}

/* ---- Reading -------------------------------------------------------------- */

enum { READ_MS = 5000 };

static bool await_bytes(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n;

	while ((n = poll(&ready, 1, READ_MS)) < 0 && errno == EINTR)
		continue;
	return n > 0;
}

/* Up to the end of the line. False: it is empty, too long, holds a NUL or does not
 * come to its end. */
static bool read_line(int fd, char *secret, size_t size)
{
	size_t n = 0;
	char byte;
	ssize_t got;

	for (;;) {
		if (!await_bytes(fd))
			return false;
		got = read(fd, &byte, 1);
		if (got != 1 || byte == '\n')
			break;
		if (byte == '\0' || n + 1 == size)
			return false;
		secret[n++] = byte;
	}
	while (n > 0 && secret[n - 1] == '\r')
		n--;
	secret[n] = '\0';
	return got >= 0 && n > 0;
}

bool rr_secret_from_file(const char *path, char *secret, size_t size, struct rr_error *error)
{
	/* A FIFO that nobody writes to is opened, too. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool good;

	if (fd < 0)
		return rr_error_set(error, RR_ERROR_USAGE, "cannot read the password from '%s': %s",
				    path, strerror(errno));
	if (!await_bytes(fd)) {
		close(fd);
		return rr_error_set(error, RR_ERROR_USAGE, "no password came from '%s' within %d s",
				    path, READ_MS / 1000);
	}
	good = read_line(fd, secret, size);
	close(fd);
	return good ||
	       rr_error_set(error, RR_ERROR_USAGE,
			    "the first line of '%s' is not a password: it has 1 to %zu bytes", path,
			    size - 1);
}

/* A line has been typed, rather than a signal has come. */
static bool await_line(int terminal, const sigset_t *signals)
{
	struct pollfd fds[] = { { .fd = terminal, .events = POLLIN },
				{ .fd = signalfd(-1, signals, SFD_CLOEXEC), .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		continue;
	close(fds[1].fd);
	return fds[0].revents && !fds[1].revents;
}

/* Signals wait until the terminal shows again what is typed; then they act. */
static bool ask_on(int terminal, const char *prompt, char *secret, size_t size)
{
	struct termios before, silent;
	sigset_t signals, mask;
	bool good;

	if (tcgetattr(terminal, &before) != 0)
		return false;
	silent = before;
	silent.c_lflag &= ~(tcflag_t)ECHO;
	sigfillset(&signals);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	good = tcsetattr(terminal, TCSAFLUSH, &silent) == 0 &&
	       write(terminal, prompt, strlen(prompt)) > 0 && await_line(terminal, &signals) &&
	       read_line(terminal, secret, size);
	tcsetattr(terminal, TCSAFLUSH, &before);
	good &= write(terminal, "\n", 1) == 1;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return good;
}

bool rr_secret_ask(const char *prompt, char *secret, size_t size, struct rr_error *error)
{
	const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	bool good;

	if (terminal < 0)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"there is no terminal to ask for the password on; put it into a file (--redis-password-file) or REDISCLI_AUTH");
	good = ask_on(terminal, prompt, secret, size);
	close(terminal);
	return good || rr_error_set(error, RR_ERROR_USAGE,
				    "no password of 1 to %zu bytes was typed", size - 1);
}

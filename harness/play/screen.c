/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "play.h"

enum { COLUMNS = 80, COLUMNS_LEAST = 40, LINES = 24, LINES_LEAST = 8, TAIL_LEAST = 3 };

bool rr_screen_open(struct rr_screen *screen, struct rr_session *session)
{
	struct termios raw;

	*screen = (struct rr_screen){ .session = session };
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &raw) != 0)
		return false;
	/* Ctrl-C is a signal still, for nobody reads keys while a server is
	 * waited for. The others would stop the program like this. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	raw.c_cc[VQUIT] = _POSIX_VDISABLE;
	raw.c_iflag &= ~(tcflag_t)(IXON);
	raw.c_iflag |= ICRNL;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	screen->has_keys = rr_terminal_change(&raw);
	return screen->has_keys;
}

void rr_screen_close(struct rr_screen *screen)
{
	if (screen->has_keys)
		rr_terminal_restore();
	screen->has_keys = false;
}

/* ---- Keys ---------------------------------------------------------------------------- */

/* The next byte, if it comes at once; else 0. */
static char read_at_once(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (poll(&input, 1, 20) == 1 && read(STDIN_FILENO, &byte, 1) == 1)
		return byte;
	return 0;
}

int rr_screen_key(struct rr_screen *screen)
{
	struct rr_signals *signals = &screen->session->signals;
	/* Of the guardian nothing is read here: poll() says when it has hung up. */
	struct pollfd ready[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signals->fd, .events = POLLIN },
		{ .fd = screen->session->guardian.socket },
	};
	unsigned char key;
	char kind, last;

	while (!signals->interrupted) {
		poll(ready, 3, -1);
		rr_signals_wait(signals, 0);
		if (signals->interrupted || (!ready[0].revents && !ready[2].revents))
			continue;
		screen->has_ended = ready[2].revents || read(STDIN_FILENO, &key, 1) != 1;
		if (screen->has_ended)
			return RR_KEY_NONE;
		if (key != RR_KEY_ESCAPE || !screen->has_keys)
			return key;
		/* What follows an escape at once belongs to it: an arrow, a function key. */
		kind = read_at_once();
		if (kind != '[' && kind != 'O')
			return RR_KEY_ESCAPE;
		do
			last = read_at_once();
		while (last && !(last >= '@' && last <= '~'));
		return last == 'D' ? RR_KEY_LEFT : last == 'C' ? RR_KEY_RIGHT : RR_KEY_ESCAPE;
	}
	return RR_KEY_NONE;
}

void rr_screen_edit(char line[RR_LINE_SIZE], int key)
{
	size_t length = strlen(line);

	if (key == RR_KEY_ESCAPE) {
		line[0] = '\0';
	} else if (key == RR_KEY_DELETE || key == '\b') {
		/* A character's bytes but the first are 10xxxxxx in UTF-8. */
		while (length > 0 && (line[--length] & 0xc0) == 0x80)
			continue;
		line[length] = '\0';
	} else if (key >= ' ' && key < RR_KEY_LEFT && length + 1 < RR_LINE_SIZE) {
		line[length] = (char)key;
		line[length + 1] = '\0';
	}
}

void rr_screen_read(struct rr_screen *screen, char line[RR_LINE_SIZE])
{
	int key;

	line[0] = '\0';
	while ((key = rr_screen_key(screen)) != '\n' && key != RR_KEY_NONE)
		rr_screen_edit(line, key);
}

bool rr_press_key(struct rr_session *session, const char *prompt)
{
	struct rr_screen screen;
	int key;

	/* A key that was typed before does not answer. */
	if (!rr_screen_open(&screen, session))
		return true;
	tcflush(STDIN_FILENO, TCIFLUSH);
	fputs(prompt, stdout);
	fflush(stdout);
	key = rr_screen_key(&screen);
	rr_screen_close(&screen);
	fputs("\r\033[K", stdout);
	return key != 'q' && key != RR_KEY_NONE;
}

/* ---- Drawing ------------------------------------------------------------------------- */

void rr_screen_clear(void)
{
	fputs("\033[H\033[2J", stdout);
}

static struct winsize size_of_terminal(void)
{
	struct winsize size = rr_terminal_size(STDOUT_FILENO);

	if (size.ws_col < COLUMNS_LEAST)
		size.ws_col = size.ws_col ? COLUMNS_LEAST : COLUMNS;
	if (size.ws_row < LINES_LEAST)
		size.ws_row = size.ws_row ? LINES_LEAST : LINES;
	return size;
}

size_t rr_screen_rows(void)
{
	return size_of_terminal().ws_row;
}

void rr_screen_put(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	for (char *c = text; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	}
	printf("%.*s\n", (int)rr_plain_fit(text, size_of_terminal().ws_col - 1U), text);
	free(text);
}

size_t rr_screen_paragraph(const char *text)
{
	const size_t columns = size_of_terminal().ws_col;
	size_t n = 0;

	for (; text && *text; n++) {
		const char *line = text;

		printf("%.*s\n", (int)rr_plain_line(&text, columns), line);
	}
	return n;
}

void rr_screen_tail(const char *text, size_t n_heads, size_t n_others)
{
	const size_t lines = size_of_terminal().ws_row;
	const size_t room = lines > n_heads + n_others + TAIL_LEAST ? lines - n_heads - n_others :
								      TAIL_LEAST;
	size_t n = 0;

	for (const char *c = text; *c; c++)
		n += *c == '\n';
	for (size_t at = 0; *text; at++) {
		const size_t length = strcspn(text, "\n") + 1;

		if (at < n_heads || at + room >= n + 2)
			fwrite(text, 1, length, stdout);
		text += length;
	}
}

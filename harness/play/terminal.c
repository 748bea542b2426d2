/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { CTRL_C = 3, COLUMNS = 80, COLUMNS_LEAST = 40 };

bool rr_terminal_open(struct rr_terminal *terminal, struct rr_signals *signals)
{
	struct termios raw;

	*terminal = (struct rr_terminal){ .signals = signals };
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    tcgetattr(STDIN_FILENO, &terminal->before) != 0)
		return false;
	raw = terminal->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON);
	raw.c_iflag |= ICRNL;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	terminal->is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
	return terminal->is_raw;
}

void rr_terminal_close(struct rr_terminal *terminal)
{
	if (terminal->is_raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->before);
	terminal->is_raw = false;
}

/* What follows an escape at once belongs to it: an arrow, a function key. */
static void drop_sequence(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char rest[16];

	if (poll(&input, 1, 20) == 1 && read(STDIN_FILENO, rest, sizeof(rest)) < 0)
		return;
}

int rr_terminal_key(struct rr_terminal *terminal)
{
	struct pollfd ready[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = terminal->signals->fd, .events = POLLIN },
	};
	unsigned char key;

	while (!terminal->signals->interrupted) {
		poll(ready, 2, -1);
		rr_signals_wait(terminal->signals, 0);
		if (terminal->signals->interrupted || !ready[0].revents)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			return RR_KEY_NONE;
		if (key == CTRL_C)
			terminal->signals->interrupted = true;
		else if (key == RR_KEY_ESCAPE)
			drop_sequence();
		if (key != CTRL_C)
			return key;
	}
	return RR_KEY_NONE;
}

int rr_terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return COLUMNS;
	return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 80, COLUMNS_LEAST = 40, STEPS_SHOWN = 10, TEXT_SIZE = 1024 };

/* ---- The terminal ------------------------------------------------------------ */

bool rr_terminal_open(struct rr_terminal *terminal, struct rr_signals *signals)
{
	struct termios raw;

	*terminal = (struct rr_terminal){ .signals = signals };
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
	terminal->is_raw = rr_terminal_change(&raw);
	return terminal->is_raw;
}

void rr_terminal_close(struct rr_terminal *terminal)
{
	if (terminal->is_raw)
		rr_terminal_restore();
	terminal->is_raw = false;
}

/* The next byte, if it comes at once; else 0. */
static char read_at_once(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	if (poll(&input, 1, 20) == 1 && read(STDIN_FILENO, &byte, 1) == 1)
		return byte;
	return 0;
}

/* What follows an escape at once belongs to it: an arrow, a function key. */
static int read_sequence(void)
{
	const char kind = read_at_once();
	char last;

	if (kind != '[' && kind != 'O')
		return RR_KEY_ESCAPE;
	do
		last = read_at_once();
	while (last && !(last >= '@' && last <= '~'));
	return last == 'D' ? RR_KEY_LEFT : last == 'C' ? RR_KEY_RIGHT : RR_KEY_ESCAPE;
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
		return key == RR_KEY_ESCAPE ? read_sequence() : key;
	}
	return RR_KEY_NONE;
}

bool rr_press_key(struct rr_signals *signals, const char *prompt)
{
	struct rr_terminal terminal;
	int key;

	fputs(prompt, stdout);
	fflush(stdout);
	if (!rr_terminal_open(&terminal, signals))
		return true;
	key = rr_terminal_key(&terminal);
	rr_terminal_close(&terminal);
	fputs("\r\033[K", stdout);
	return key != 'q' && key != RR_KEY_NONE;
}

static int columns_of_terminal(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return COLUMNS;
	return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

static const char help[] =
	"Each client runs the strategy's own C code and stops before every command.\n"
	"  a, b, ...   this client does its next step; A, B, ...: its renewer does\n"
	"  t           time passes, until a client wakes up or a lease ends, or 1 s\n"
	"  T           time passes until the lock's lease has ended, or 1 s\n"
	"  x a         client A crashes           l a   the next reply to A is lost\n"
	"  u           take the last choice back  r     begin again\n"
	"  s           save as a .race file       q     quit\n";

/* ---- The goal -------------------------------------------------------------------- */

const char *rr_goal_text(const struct rr_strategy *strategy)
{
	if (rr_survives_faults(strategy))
		return "try to make it lose an update: nobody has yet";
	if (strategy->acquire)
		return "get two clients into the critical section, or make it lose an update";
	return "make it lose an update";
}

bool rr_goal_is_reached(const struct rr_guided *guided)
{
	const struct rr_strategy *strategy = guided->setup.strategy;
	rr_findings goal = 1U << RR_UPDATE_LOST;

	if (strategy->acquire && !rr_survives_faults(strategy))
		goal |= 1U << RR_EXCLUSION_BROKEN;
	return (guided->trace.findings & goal) != 0;
}

/* ---- Lines ---------------------------------------------------------------------------- */

/* One line, without control characters, cut where the terminal ends. */
static void put_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put_line(const char *format, ...)
{
	const size_t columns = (size_t)columns_of_terminal() - 1;
	char text[TEXT_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *c = text; *c; c++) {
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	}
	if (columns < sizeof(text))
		text[columns] = '\0';
	printf("%s\n", text);
}

static void put_keys(struct rr_guided *guided)
{
	const struct rr_race *race = guided->recorder.race;
	const int64_t lease_ns = rr_guided_lease_ns(guided);
	char duration[RR_DURATION_SIZE] = "";

	if (lease_ns)
		rr_race_duration_text(duration, lease_ns - RR_CLUSTER_LAPSE_NS);
	for (size_t i = 0; i < race->n_keys; i++) {
		const bool leased = race->keys[i] == race->lock && lease_ns;

		put_line("  %-12s %s%s%s", race->keys[i], guided->environment.keys[i],
			 leased ? "  for " : "", leased ? duration : "");
	}
}

static void put_thread(const struct rr_guided *guided, const struct rr_execution_view *view,
		       size_t i)
{
	const struct rr_thread_view *thread = &view->threads[i];
	const bool client = i < view->n_clients;
	const char key = (char)((client ? 'a' : 'A') + thread->client);
	const char *inside = client && rr_guided_is_inside(guided, (int)i) ? "  [inside]" : "";
	char name[RR_THREAD_NAME_SIZE], text[RR_THREAD_TEXT_SIZE];

	rr_thread_name(view, i, name);
	if (!rr_thread_is_alive(thread)) {
		put_line("  %c  %-3s %s", ' ', name,
			 thread->state == RR_THREAD_CRASHED ? "has crashed" : "has ended");
		return;
	}
	rr_thread_text(guided, thread, view->now_ns, text);
	put_line("  %c  %-3s %s%s%s%s", key, name,
		 thread->state == RR_THREAD_READY ? "" : "waits, ", text, inside,
		 guided->loses[thread->client] ? "  [its next reply is lost]" : "");
}

static void put_threads(const struct rr_guided *guided, const struct rr_execution_view *view)
{
	for (size_t i = 0; view && i < view->n; i++) {
		if (i < view->n_clients || rr_thread_is_alive(&view->threads[i]))
			put_thread(guided, view, i);
	}
	if (!view)
		put_line("  all clients have ended: u takes the last choice back, r begins again");
}

static void put_event(const struct rr_guided *guided, size_t i)
{
	const struct rr_event *event = &guided->trace.events[i];
	const char *remark = event->remark ? event->remark : "";
	char *line = NULL;
	size_t size;
	FILE *file = open_memstream(&line, &size);

	if (!file)
		return;
	if (event->step->kind == RR_STEP_RUN && event->command)
		fprintf(file, "%s> %.50s%s => %s",
			guided->recorder.race->clients[event->step->client].name, event->command,
			strlen(event->command) > 50 ? "..." : "", event->reply);
	else
		rr_race_write_step(file, guided->recorder.race, event->step);
	fclose(file);
	put_line("%4zu  %s%s%s", i + 1, line, remark[0] ? "   ! " : "", remark);
	free(line);
}

void rr_screen_draw(struct rr_guided *guided, const struct rr_execution_view *view, bool shows_help,
		    const char *message)
{
	const struct rr_strategy *strategy = guided->setup.strategy;
	const size_t n = guided->trace.n_events;

	printf("\033[H\033[2J");
	put_line("%s: %s", strategy->name, strategy->summary);
	put_line("goal: %s%s", rr_goal_text(strategy),
		 rr_goal_is_reached(guided) ? "   REACHED" : "");
	put_line(" ");
	put_keys(guided);
	put_line(" ");
	put_threads(guided, view);
	put_line(" ");
	if (shows_help)
		fputs(help, stdout);
	else
		for (size_t i = n > STEPS_SHOWN ? n - STEPS_SHOWN : 0; i < n; i++)
			put_event(guided, i);
	put_line(" ");
	put_line(
		"a b ... next step  t time  x crash  l lose  u undo  r reset  s save  q quit  ? help");
	put_line("%s", message);
	fflush(stdout);
}

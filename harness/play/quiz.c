/* SPDX-License-Identifier: MIT */
/* Questions about the replies of a race, and whether the answers are right. */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "draw/draw.h"
#include "play.h"

/* ---- Lines that somebody types ------------------------------------------ */

/* Waits until there is something to read, or its end. False: interrupted. */
static bool wait_for_input(struct rr_quiz *quiz)
{
	struct pollfd fds[] = { { .fd = quiz->in, .events = POLLIN },
				{ .fd = quiz->signals->fd, .events = POLLIN } };

	while (!quiz->signals->interrupted) {
		poll(fds, 2, -1);
		if (fds[1].revents)
			rr_signals_wait(quiz->signals, 0);
		else if (fds[0].revents)
			return true;
	}
	return false;
}

/* Takes the first line of what was read; false = there is no whole one. What
 * is longer than the room for it counts as a line. */
static bool take_typed(struct rr_quiz *quiz)
{
	char *newline = memchr(quiz->read, '\n', quiz->n_read);
	const bool full = quiz->n_read == sizeof(quiz->read) - 1;
	const size_t length = newline ? (size_t)(newline - quiz->read) :
					quiz->n_read;
	const size_t taken = length + (newline != NULL);

	if (!newline && !full && !(quiz->is_silent && length > 0))
		return false;
	memcpy(quiz->answer, quiz->read, length);
	quiz->answer[length] = '\0';
	quiz->n_read -= taken;
	memmove(quiz->read, quiz->read + taken, quiz->n_read);
	return true;
}

/* The next line into quiz->answer, "" at the end of the input. */
static void read_answer(struct rr_quiz *quiz)
{
	quiz->answer[0] = '\0';
	while (!take_typed(quiz) && !quiz->is_silent) {
		ssize_t n;

		if (!wait_for_input(quiz)) {
			quiz->has_quit = true;
			return;
		}
		n = read(quiz->in, quiz->read + quiz->n_read,
			 sizeof(quiz->read) - 1 - quiz->n_read);
		if (n > 0)
			quiz->n_read += (size_t)n;
		else
			quiz->is_silent = true;
	}
}

/* ---- Answers ------------------------------------------------------------ */

/* Without what nobody need type: (integer), quotes, brackets, blanks,
 * capital letters. */
static void reduce_answer(char *to, size_t size, const char *from)
{
	static const char integer[] = "(integer)";
	size_t n = 0;

	for (; *from && n + 1 < size; from++) {
		if (strncmp(from, integer, strlen(integer)) == 0)
			from += strlen(integer) - 1;
		else if (!strchr(" \t\r\"'()[]", *from))
			to[n++] = (char)tolower((unsigned char)*from);
	}
	to[n] = '\0';
}

bool rr_quiz_is_right(const char *answer, const char *reply)
{
	char a[RR_ANSWER_SIZE], b[RR_ANSWER_SIZE];

	reduce_answer(a, sizeof(a), answer);
	reduce_answer(b, sizeof(b), reply);
	if (strncmp(reply, "(error)", 7) == 0)
		return strncmp(a, "error", 5) == 0 ?
			       strncmp(b, a, strlen(a)) == 0 :
			       *a && strncmp(b + 5, a, strlen(a)) == 0;
	return *a && strcmp(a, b) == 0;
}

/* ---- Questions ---------------------------------------------------------- */

static bool has_question(const struct rr_step *step)
{
	return (step->kind == RR_STEP_RUN || step->kind == RR_STEP_READ) &&
	       !step->is_lost;
}

static void announce_step(const struct rr_trace *trace,
			  const struct rr_step *step)
{
	const int64_t now_ns =
		trace->n_events ? trace->events[trace->n_events - 1].at_ns : 0;
	const struct rr_race *race = trace->race;
	struct rr_event event = { .step = step, .at_ns = now_ns };
	char *text;

	if (step->kind == RR_STEP_TICK)
		event.at_ns += step->amount;
	text = rr_step_words(trace, &event);
	if (step->kind == RR_STEP_NOTE)
		printf("    --");
	else
		printf("%3zu", rr_step_number(race, step));
	if (step->client >= 0)
		printf(" %s:", race->clients[step->client].name);
	if (step->n_words > 0 && race->n_servers > 1)
		printf(" @%s", race->servers[step->server].name);
	printf(" %s\n", text ? text : "");
	free(text);
}

/* False: whoever answers has had enough. */
static bool ask_question(struct rr_quiz *quiz, const char *question)
{
	fputs(question, stdout);
	fflush(stdout);
	read_answer(quiz);
	if (!isatty(quiz->in))
		putchar('\n');
	if (strcmp(quiz->answer, "q") == 0)
		quiz->has_quit = true;
	return !quiz->has_quit;
}

static bool ask_before(void *context, const struct rr_trace *trace,
		       const struct rr_step *step)
{
	struct rr_quiz *quiz = context;

	announce_step(trace, step);
	quiz->answer[0] = '\0';
	if (quiz->is_silent || step->kind == RR_STEP_NOTE)
		return true;
	return ask_question(quiz, has_question(step) ? "    reply? " :
						       "    [Enter] ");
}

static void judge_answer(struct rr_quiz *quiz, const char *reply)
{
	const bool right = rr_quiz_is_right(quiz->answer, reply);

	quiz->answered++;
	quiz->right += right;
	printf("  %s", right ? "-- right" : "-- not what you said");
}

static void tell_after(void *context, const struct rr_trace *trace,
		       const struct rr_event *event)
{
	struct rr_quiz *quiz = context;
	char *remark = rr_plain(event->remark);

	(void)trace;
	if (has_question(event->step))
		quiz->asked++;
	if (event->reply) {
		char *reply = rr_plain(event->reply);

		printf("    => %s", reply ? reply : "");
		if (has_question(event->step) && quiz->answer[0])
			judge_answer(quiz, event->reply);
		putchar('\n');
		free(reply);
	}
	if (remark)
		printf("    X %s\n", remark);
	free(remark);
}

/* ---- The whole ---------------------------------------------------------- */

void rr_quiz_begin(struct rr_quiz *quiz, struct rr_signals *signals, int in)
{
	*quiz = (struct rr_quiz){ .signals = signals, .in = in };
	puts("Say what each reply will be, or press Enter for no idea; q ends.\n");
}

struct rr_listener rr_quiz_listener(struct rr_quiz *quiz)
{
	return (struct rr_listener){ .before = ask_before,
				     .after = tell_after,
				     .context = quiz };
}

void rr_quiz_score(const struct rr_quiz *quiz)
{
	printf("%s%zu of %zu predictions were right; %zu replies came.\n",
	       quiz->has_quit ? "\n" : "", quiz->right, quiz->answered,
	       quiz->asked);
}

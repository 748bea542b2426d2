/* SPDX-License-Identifier: MIT */
/* Questions about the replies of a race, line by line, and whether the answers
 * are right. At a terminal they are asked key by key: stepper.c. */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "draw/draw.h"
#include "stepper.h"

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
	const size_t length = newline ? (size_t)(newline - quiz->read) : quiz->n_read;
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
		return strncmp(a, "error", 5) == 0 ? strncmp(b, a, strlen(a)) == 0 :
						     *a && strncmp(b + 5, a, strlen(a)) == 0;
	return *a && strcmp(a, b) == 0;
}

/* ---- Questions ---------------------------------------------------------- */

bool quiz_has_question(const struct rr_step *step)
{
	return (step->kind == RR_STEP_RUN || step->kind == RR_STEP_READ) && !step->is_lost;
}

void quiz_announce(FILE *out, const struct rr_trace *trace, const struct rr_step *step)
{
	const int64_t now_ns = trace->n_events ? trace->events[trace->n_events - 1].at_ns : 0;
	const struct rr_race *race = trace->race;
	struct rr_event event = { .step = step, .at_ns = now_ns };
	char *text;

	if (step->kind == RR_STEP_TICK)
		event.at_ns += step->amount;
	text = rr_step_words(trace, &event);
	if (step->kind == RR_STEP_NOTE)
		fputs("    --", out);
	else
		fprintf(out, "%3zu", rr_step_number(race, step));
	if (step->client >= 0)
		fprintf(out, " %s:", race->clients[step->client].name);
	if (step->n_words > 0 && race->n_servers > 1)
		fprintf(out, " @%s", race->servers[step->server].name);
	fprintf(out, " %s\n", text ? text : "");
	free(text);
}

/* What there is before the first step. */
static void announce_race(const struct rr_trace *trace)
{
	char *title = rr_plain(trace->race->title);
	char *beginning = rr_beginning_words(trace);

	printf("%s\n%s\n\n", title ? title : "", beginning ? beginning : "");
	free(title);
	free(beginning);
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

static bool ask_before(void *context, const struct rr_trace *trace, const struct rr_step *step)
{
	struct rr_quiz *quiz = context;

	if (trace->n_events == 0)
		announce_race(trace);
	quiz_announce(stdout, trace, step);
	quiz->answer[0] = '\0';
	if (quiz->is_silent || step->kind == RR_STEP_NOTE)
		return true;
	return ask_question(quiz, quiz_has_question(step) ? "    reply? " : "    [Enter] ");
}

enum quiz_result quiz_judge(struct rr_quiz *quiz, const struct rr_trace *trace)
{
	const struct rr_event *event = &trace->events[trace->n_events - 1];
	enum quiz_result *result = &quiz->results[trace->n_events - 1];

	*result = !event->reply || !quiz_has_question(event->step) ? QUIZ_NO_REPLY :
		  !quiz->answer[0]                                 ? QUIZ_NO_ANSWER :
		  rr_quiz_is_right(quiz->answer, event->reply)     ? QUIZ_RIGHT :
								     QUIZ_WRONG;
	return *result;
}

static void tell_after(void *context, const struct rr_trace *trace, const struct rr_event *event)
{
	struct rr_quiz *quiz = context;
	char *remark = rr_plain(event->remark);
	const enum quiz_result result = quiz_judge(quiz, trace);

	if (event->reply) {
		char *reply = rr_plain(event->reply);

		printf("    => %s", reply ? reply : "");
		if (result == QUIZ_RIGHT || result == QUIZ_WRONG)
			printf("  -- %s", result == QUIZ_RIGHT ? "right" : "not what you said");
		putchar('\n');
		free(reply);
	}
	if (remark)
		printf("    X %s\n", remark);
	free(remark);
}

/* ---- The whole ---------------------------------------------------------- */

static void quiz_lines(struct rr_quiz *quiz, const struct rr_race *race, struct rr_cluster *cluster,
		       struct rr_trace *trace, struct rr_error *error)
{
	const struct rr_listener listener = { .before = ask_before,
					      .after = tell_after,
					      .context = quiz };

	puts("Say what each reply will be, or press Enter for no idea; q ends.\n");
	rr_player_play(race, cluster, &listener, trace, error);
}

bool rr_quiz_play(struct rr_quiz *quiz, const struct rr_race *race, struct rr_cluster *cluster,
		  struct rr_trace *trace, struct rr_error *error)
{
	quiz->signals = &cluster->session->signals;
	*trace = (struct rr_trace){ .race = race };
	if (!stepper_play(quiz, race, cluster, trace, error))
		quiz_lines(quiz, race, cluster, trace, error);
	return !error->kind;
}

static size_t count_results(const struct rr_quiz *quiz, enum quiz_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < RR_STEPS_MAX; i++)
		n += quiz->results[i] == result;
	return n;
}

void rr_quiz_score(const struct rr_quiz *quiz)
{
	const size_t right = count_results(quiz, QUIZ_RIGHT);
	const size_t answered = right + count_results(quiz, QUIZ_WRONG);

	printf("%s%zu of %zu predictions were right; %zu replies came.\n",
	       quiz->has_quit ? "\n" : "", right, answered,
	       answered + count_results(quiz, QUIZ_NO_ANSWER));
}

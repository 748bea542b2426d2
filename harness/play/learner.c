/* SPDX-License-Identifier: MIT */
#include "learner.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "draw/draw.h"

/* ---- Lines that somebody types --------------------------------------------------- */

/* Waits until there is something to read, or its end. False: interrupted. */
static bool wait_for_input(struct rr_learner *learner)
{
	struct pollfd fds[] = { { .fd = learner->in, .events = POLLIN },
				{ .fd = learner->signals->fd,
				  .events = POLLIN } };

	while (!learner->signals->interrupted) {
		poll(fds, 2, -1);
		if (fds[1].revents)
			rr_signals_wait(learner->signals, 0);
		else if (fds[0].revents)
			return true;
	}
	return false;
}

/* Takes the first line of what was read; false = there is no whole one. What
 * is longer than the room for it counts as a line. */
static bool take_line(struct rr_learner *learner)
{
	char *newline = memchr(learner->read, '\n', learner->n_read);
	const bool full = learner->n_read == sizeof(learner->read) - 1;
	const size_t length = newline ? (size_t)(newline - learner->read) :
					learner->n_read;
	const size_t taken = length + (newline != NULL);

	if (!newline && !full && !(learner->is_silent && length > 0))
		return false;
	memcpy(learner->answer, learner->read, length);
	learner->answer[length] = '\0';
	learner->n_read -= taken;
	memmove(learner->read, learner->read + taken, learner->n_read);
	return true;
}

/* The next line into learner->answer, "" at the end of the input. */
static void read_line(struct rr_learner *learner)
{
	learner->answer[0] = '\0';
	while (!take_line(learner) && !learner->is_silent) {
		ssize_t n;

		if (!wait_for_input(learner)) {
			learner->has_quit = true;
			return;
		}
		n = read(learner->in, learner->read + learner->n_read,
			 sizeof(learner->read) - 1 - learner->n_read);
		if (n > 0)
			learner->n_read += (size_t)n;
		else
			learner->is_silent = true;
	}
}

/* ---- Answers ------------------------------------------------------------------------ */

/* Without what a learner need not type: (integer), quotes, brackets, blanks,
 * capital letters. */
static void reduce(char *to, size_t size, const char *from)
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

bool rr_learner_is_right(const char *answer, const char *reply)
{
	char a[RR_ANSWER_SIZE], b[RR_ANSWER_SIZE];

	reduce(a, sizeof(a), answer);
	reduce(b, sizeof(b), reply);
	if (strncmp(reply, "(error)", 7) == 0)
		return strncmp(a, "error", 5) == 0 ?
			       strncmp(b, a, strlen(a)) == 0 :
			       *a && strncmp(b + 5, a, strlen(a)) == 0;
	return *a && strcmp(a, b) == 0;
}

/* ---- Questions ------------------------------------------------------------------------ */

static bool has_question(const struct rr_step *step)
{
	return (step->kind == RR_STEP_RUN || step->kind == RR_STEP_READ) &&
	       !step->is_lost;
}

static void announce(const struct rr_trace *trace, const struct rr_step *step)
{
	const int64_t now_ns = trace->n_events ?
				       trace->events[trace->n_events - 1].at_ns :
				       0;
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
	if (step->actor >= 0)
		printf(" %s:", race->actors[step->actor].name);
	if (step->n_words > 0 && race->n_servers > 1)
		printf(" @%s", race->servers[step->server].name);
	printf(" %s\n", text ? text : "");
	free(text);
}

/* False: the learner has had enough. */
static bool ask(struct rr_learner *learner, const char *question)
{
	fputs(question, stdout);
	fflush(stdout);
	read_line(learner);
	if (!isatty(learner->in))
		putchar('\n');
	if (strcmp(learner->answer, "q") == 0)
		learner->has_quit = true;
	return !learner->has_quit;
}

static bool before(void *context, const struct rr_trace *trace,
		   const struct rr_step *step)
{
	struct rr_learner *learner = context;

	announce(trace, step);
	learner->answer[0] = '\0';
	if (learner->is_silent || step->kind == RR_STEP_NOTE)
		return true;
	return ask(learner, has_question(step) ? "    reply? " :
						 "    [Enter] ");
}

static void judge(struct rr_learner *learner, const char *reply)
{
	const bool right = rr_learner_is_right(learner->answer, reply);

	learner->answered++;
	learner->right += right;
	printf("  %s", right ? "-- right" : "-- not what you said");
}

static void after(void *context, const struct rr_trace *trace,
		  const struct rr_event *event)
{
	struct rr_learner *learner = context;
	char *remark = rr_plain(event->remark);

	(void)trace;
	if (has_question(event->step))
		learner->asked++;
	if (event->reply) {
		char *reply = rr_plain(event->reply);

		printf("    => %s", reply ? reply : "");
		if (has_question(event->step) && learner->answer[0])
			judge(learner, event->reply);
		putchar('\n');
		free(reply);
	}
	if (remark)
		printf("    X %s\n", remark);
	free(remark);
}

/* ---- The whole -------------------------------------------------------------------------- */

void rr_learner_begin(struct rr_learner *learner, struct rr_signals *signals,
		      int in)
{
	*learner = (struct rr_learner){ .signals = signals, .in = in };
	puts("Say what each reply will be, or press Enter for no idea; q ends.\n");
}

struct rr_audience rr_learner_audience(struct rr_learner *learner)
{
	return (struct rr_audience){ .before = before, .after = after,
				     .context = learner };
}

void rr_learner_score(const struct rr_learner *learner)
{
	printf("%s%zu of %zu predictions were right; %zu replies came.\n",
	       learner->has_quit ? "\n" : "", learner->right,
	       learner->answered, learner->asked);
}

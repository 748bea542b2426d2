/* SPDX-License-Identifier: MIT */
/*
 * A race step by step, and a prediction of each reply. At a terminal what has happened
 * so far is drawn on a screen, a key goes on, and another one a step back: the race is
 * played again from its beginning, on real servers, up to the step before. Elsewhere
 * each step is a line that is printed, and one that is read.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "draw/draw.h"
#include "play.h"
#include "screen.h"

/* Lines of the table's head, and of what stands below it; one of these for a line that
 * is too long. */
enum { HEAD_LINES = 2, QUESTION_LINES = 6 };

enum wish { STEP_ON, STEP_BACK, STEP_QUIT };

/* What became of the question to a step. */
enum result { NO_REPLY, NO_ANSWER, RIGHT, WRONG };

struct quiz {
	struct rr_screen screen;
	bool ascii;
	enum wish wish;
	size_t again; /* so many steps are played again without a question */
	const struct rr_trace *trace;
	const struct rr_step *step; /* about to happen; NULL = there is none */
	char answer[RR_LINE_SIZE];  /* to the last question, "" = none */
	char message[RR_LINE_SIZE];
	enum result results[RR_STEPS_MAX];
};

/* ---- Answers ------------------------------------------------------------ */

/* Without what nobody need type: (integer), quotes, brackets, blanks,
 * capital letters. */
static void reduce_answer(char to[RR_LINE_SIZE], const char *from)
{
	static const char integer[] = "(integer)";
	size_t n = 0;

	for (; *from && n + 1 < RR_LINE_SIZE; from++) {
		if (strncmp(from, integer, strlen(integer)) == 0)
			from += strlen(integer) - 1;
		else if (!strchr(" \t\r\"'()[]", *from))
			to[n++] = (char)tolower((unsigned char)*from);
	}
	to[n] = '\0';
}

bool rr_quiz_is_right(const char *answer, const char *reply)
{
	char a[RR_LINE_SIZE], b[RR_LINE_SIZE];

	reduce_answer(a, answer);
	reduce_answer(b, reply);
	if (strncmp(reply, "(error)", 7) == 0)
		return strncmp(a, "error", 5) == 0 ? strncmp(b, a, strlen(a)) == 0 :
						     *a && strncmp(b + 5, a, strlen(a)) == 0;
	return *a && strcmp(a, b) == 0;
}

/* Does this step have a reply that can be predicted? */
static bool has_question(const struct rr_step *step)
{
	return step && (step->kind == RR_STEP_RUN || step->kind == RR_STEP_READ) && !step->is_lost;
}

static size_t count_results(const struct quiz *quiz, enum result result)
{
	size_t n = 0;

	for (size_t i = 0; i < RR_STEPS_MAX; i++)
		n += quiz->results[i] == result;
	return n;
}

/* ---- What is shown ------------------------------------------------------ */

/* The step that is about to be played, as a line. */
static void announce(const struct rr_trace *trace, const struct rr_step *step)
{
	const int64_t now_ns = trace->n_events ? trace->events[trace->n_events - 1].at_ns : 0;
	const struct rr_race *race = trace->race;
	struct rr_event event = { .step = step, .at_ns = now_ns };
	char *client = step->client >= 0 ? rr_plain(race->clients[step->client].name) : NULL;
	char *server = step->server >= 0 ? rr_plain(race->servers[step->server].name) : NULL;
	char *text;

	if (step->kind == RR_STEP_TICK)
		event.at_ns += step->amount;
	text = rr_step_words(trace, &event);
	if (step->kind == RR_STEP_NOTE)
		fputs("    --", stdout);
	else
		printf("%3zu", rr_step_number(race, step));
	if (step->client >= 0)
		printf(" %s:", client);
	if (step->n_words > 0 && race->n_servers > 1)
		printf(" @%s", server);
	printf(" %s\n", text);
	free(client);
	free(server);
	free(text);
}

/* ---- Key by key --------------------------------------------------------- */

/* True: the key, while nothing has been typed yet, says what to do. */
static bool take_wish(struct quiz *quiz, int key)
{
	quiz->message[0] = '\0';
	if (key == 'b' || key == RR_KEY_LEFT) {
		/* Goes back to the last step that is no note. */
		for (size_t i = quiz->trace->n_events; i-- > 0;) {
			if (quiz->trace->events[i].step->kind == RR_STEP_NOTE)
				continue;
			quiz->again = i;
			quiz->wish = STEP_BACK;
			return true;
		}
		snprintf(quiz->message, RR_LINE_SIZE, "This is the beginning.");
		return false;
	}
	if (key == 'q' && quiz->step)
		quiz->wish = STEP_QUIT;
	else if (has_question(quiz->step) && key > ' ' && key < RR_KEY_LEFT)
		rr_screen_edit(quiz->answer, key);
	return !quiz->answer[0];
}

/* Takes keys until it is known what to do; the prediction is the answer. */
static void await_wish(struct quiz *quiz)
{
	for (;;) {
		int key;

		/* The title, what there was at the beginning, and the table so far. */
		const struct rr_style style = rr_draw_style(stdout, quiz->ascii);
		char *title = rr_plain(quiz->trace->race->title);
		char *beginning = rr_beginning_words(quiz->trace), *table;
		size_t above;
		FILE *out = rr_open_text(&table);

		rr_draw_so_far(out, quiz->trace, &style);
		fclose(out);
		rr_screen_clear();
		above = rr_screen_paragraph(title) + rr_screen_paragraph(beginning) + 1;
		putchar('\n');
		rr_screen_tail(table, HEAD_LINES, above + QUESTION_LINES);
		free(title);
		free(beginning);
		free(table);

		const bool asks = has_question(quiz->step);

		putchar('\n');
		if (quiz->step)
			announce(quiz->trace, quiz->step);
		else
			puts("    That was the last step.");
		printf("%s\n%s\n", quiz->message,
		       !quiz->step ? "any key: the result   b or Left: a step back" :
		       asks        ? "type the reply and Enter, or a key for no idea"
				     "   b or Left: a step back   q: end" :
				     "any key: go on   b or Left: a step back   q: end");
		if (asks)
			printf("reply? %s", quiz->answer);
		fflush(stdout);
		key = rr_screen_key(&quiz->screen);
		if (key == RR_KEY_NONE)
			quiz->wish = STEP_QUIT;
		else if (quiz->answer[0] && key != RR_KEY_LEFT && key != '\n' && key != '\r') {
			rr_screen_edit(quiz->answer, key);
			continue;
		}
		if (key == RR_KEY_LEFT)
			quiz->answer[0] = '\0';
		if (key == RR_KEY_NONE || quiz->answer[0] || take_wish(quiz, key))
			return;
	}
}

/* ---- The whole ---------------------------------------------------------- */

static bool stop_before(void *context, const struct rr_trace *trace, const struct rr_step *step)
{
	struct quiz *quiz = context;

	quiz->trace = trace;
	quiz->step = step;
	quiz->answer[0] = '\0';
	if (quiz->screen.has_keys) {
		if (trace->n_events >= quiz->again && step->kind != RR_STEP_NOTE)
			await_wish(quiz);
		return quiz->wish == STEP_ON;
	}
	/* Line by line. */
	if (trace->n_events == 0) {
		char *title = rr_plain(trace->race->title);
		char *beginning = rr_beginning_words(trace);

		printf("Say what each reply will be, or press Enter for no idea; q ends.\n\n"
		       "%s\n%s\n\n",
		       title, beginning);
		free(title);
		free(beginning);
	}
	announce(trace, step);
	if (quiz->screen.has_ended || step->kind == RR_STEP_NOTE)
		return quiz->wish == STEP_ON;
	fputs(has_question(step) ? "    reply? " : "    [Enter] ", stdout);
	fflush(stdout);
	rr_screen_read(&quiz->screen, quiz->answer);
	if (!isatty(STDIN_FILENO))
		putchar('\n');
	if (quiz->screen.session->signals.interrupted || strcmp(quiz->answer, "q") == 0)
		quiz->wish = STEP_QUIT;
	return quiz->wish == STEP_ON;
}

static void judge_after(void *context, const struct rr_trace *trace, const struct rr_event *event)
{
	struct quiz *quiz = context;
	const enum result result = !event->reply || !has_question(event->step)  ? NO_REPLY :
				   !quiz->answer[0]                             ? NO_ANSWER :
				   rr_quiz_is_right(quiz->answer, event->reply) ? RIGHT :
										  WRONG;

	if (trace->n_events > quiz->again)
		quiz->results[trace->n_events - 1] = result;
	if (!quiz->screen.has_keys) {
		char *reply = rr_plain(event->reply), *remark = rr_plain(event->remark);

		if (reply)
			printf("    => %s%s\n", reply,
			       result == RIGHT ? "  -- right" :
			       result == WRONG ? "  -- not what you said" :
						 "");
		if (remark)
			printf("    X %s\n", remark);
		free(reply);
		free(remark);
	} else if (event->step->kind != RR_STEP_NOTE) {
		quiz->message[0] = '\0';
	}
	if (result == RIGHT || result == WRONG)
		snprintf(quiz->message, RR_LINE_SIZE, "You said %.60s: %s", quiz->answer,
			 result == RIGHT ? "right" : "that was not it");
}

enum rr_exit rr_quiz_play(const struct rr_race *race, struct rr_cluster *cluster, bool ascii,
			  rr_show show, void *context, struct rr_error *error)
{
	struct rr_signals *signals = &cluster->session->signals;
	struct quiz *quiz = rr_calloc(1, sizeof(*quiz));
	const struct rr_listener listener = { .before = stop_before,
					      .after = judge_after,
					      .context = quiz };
	struct rr_trace trace = { .race = race };
	enum rr_exit code = RR_EXIT_OK;
	size_t right, answered;

	quiz->ascii = ascii;
	quiz->screen.session = cluster->session;
	if (rr_terminal_is_smart())
		rr_screen_open(&quiz->screen, cluster->session);
	do {
		/* Plays once, up to a wish that ends it. What was said from there on is
		 * forgotten. */
		rr_trace_free(&trace);
		quiz->wish = STEP_ON;
		memset(&quiz->results[quiz->again], 0,
		       sizeof(quiz->results) - quiz->again * sizeof(quiz->results[0]));
		if (!rr_player_play(race, cluster, &listener, &trace, error))
			break;
		if (quiz->wish == STEP_ON && quiz->screen.has_keys) {
			quiz->trace = &trace;
			quiz->step = NULL;
			quiz->answer[0] = '\0';
			await_wish(quiz);
		}
	} while (quiz->wish == STEP_BACK);
	if (quiz->screen.has_keys)
		rr_screen_clear();
	rr_screen_close(&quiz->screen);
	if (signals->interrupted) {
		code = RR_EXIT_INTERRUPTED;
	} else if (!error->kind && rr_cluster_is_whole(cluster, error) && quiz->wish != STEP_QUIT) {
		putchar('\n');
		code = show(context, &trace);
	}
	right = count_results(quiz, RIGHT);
	answered = right + count_results(quiz, WRONG);
	printf("%s%zu of %zu predictions were right; %zu replies came.\n",
	       quiz->wish == STEP_QUIT ? "\n" : "", right, answered,
	       answered + count_results(quiz, NO_ANSWER));
	rr_trace_free(&trace);
	free(quiz);
	return code;
}

/* SPDX-License-Identifier: MIT */
/*
 * A race at a terminal, key by key: what has happened so far, the step that is
 * about to happen, and a prediction of its reply. To step back, the race is
 * played again from its beginning, on real servers, up to the step before.
 */
#include "stepper.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "draw/draw.h"
#include "screen.h"

enum {
	LINES = 24,
	LINES_LEAST = 8,
	HEAD_LINES = 2,     /* of the table */
	QUESTION_LINES = 6, /* one of them for a line that is too long */
	ROWS_LEAST = 3,
	MESSAGE_SIZE = 200
};

enum stepper_wish { STEP_ON, STEP_BACK, STEP_QUIT };

struct stepper {
	struct rr_terminal terminal;
	struct rr_quiz *quiz;
	enum stepper_wish wish;
	size_t again; /* so many steps are played again without a question */
	const struct rr_trace *trace;
	const struct rr_step *step; /* about to happen; NULL = there is none */
	char message[MESSAGE_SIZE];
};

/* ---- The screen --------------------------------------------------------- */

static size_t lines_of_terminal(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
		return LINES;
	return size.ws_row < LINES_LEAST ? LINES_LEAST : size.ws_row;
}

/* A paragraph; the number of its lines. */
static size_t put_paragraph(const char *text, size_t width)
{
	size_t n = 0;

	for (; text && *text; n++) {
		const char *line = text;

		printf("%.*s\n", (int)rr_plain_line(&text, width), line);
	}
	return n;
}

/* The title, and what there was at the beginning; so many lines. */
static size_t put_stepper_title(const struct rr_trace *trace, size_t width)
{
	char *title = rr_plain(trace->race->title);
	char *beginning = rr_beginning_words(trace);
	const size_t n = put_paragraph(title, width) + put_paragraph(beginning, width) + 1;

	putchar('\n');
	free(title);
	free(beginning);
	return n;
}

/* The heads of the columns, and of the rows the last ones: `room` lines. */
static void put_last_lines(const char *table, size_t room)
{
	size_t n = 0, at = 0;

	for (const char *c = table; *c; c++)
		n += *c == '\n';
	while (*table) {
		const size_t length = strcspn(table, "\n") + 1;

		if (at < 2 || at + room >= n + 2)
			fwrite(table, 1, length, stdout);
		table += length;
		at++;
	}
}

/* Below so many lines there have to be those of the question, too. */
static void put_stepper_table(const struct rr_trace *trace, const struct rr_style *style,
			      size_t above)
{
	const size_t lines = lines_of_terminal();
	const size_t others = above + HEAD_LINES + QUESTION_LINES;
	char *table = NULL;
	size_t size;
	FILE *out = open_memstream(&table, &size);

	if (!out)
		return;
	rr_draw_so_far(out, trace, style);
	fclose(out);
	put_last_lines(table, lines > others + ROWS_LEAST ? lines - others : ROWS_LEAST);
	free(table);
}

static void put_stepper_question(const struct stepper *stepper)
{
	const bool asks = stepper->step && quiz_has_question(stepper->step);

	putchar('\n');
	if (stepper->step)
		quiz_announce(stdout, stepper->trace, stepper->step);
	else
		puts("    That was the last step.");
	printf("%s\n%s\n", stepper->message,
	       !stepper->step ? "any key: the result   b or Left: a step back" :
	       asks           ? "type the reply and Enter, or a key for no idea"
				"   b or Left: a step back   q: end" :
				"any key: go on   b or Left: a step back   q: end");
	if (asks)
		printf("reply? %s", stepper->quiz->answer);
	fflush(stdout);
}

static void draw_stepper(const struct stepper *stepper)
{
	const struct rr_style style = rr_draw_style(stdout, stepper->quiz->ascii);
	size_t above;

	fputs("\033[H\033[2J", stdout);
	above = put_stepper_title(stepper->trace, style.width);
	put_stepper_table(stepper->trace, &style, above);
	put_stepper_question(stepper);
}

/* ---- Keys --------------------------------------------------------------- */

/* What has been typed, with one more key. */
static void edit_answer(char answer[RR_ANSWER_SIZE], int key)
{
	size_t length = strlen(answer);

	if (key == RR_KEY_ESCAPE) {
		answer[0] = '\0';
	} else if (key == RR_KEY_DELETE || key == '\b') {
		/* A character's bytes but the first are 10xxxxxx in UTF-8. */
		while (length > 0 && (answer[--length] & 0xc0) == 0x80)
			continue;
		answer[length] = '\0';
	} else if (key >= ' ' && key < RR_KEY_LEFT && length + 1 < RR_ANSWER_SIZE) {
		answer[length] = (char)key;
		answer[length + 1] = '\0';
	}
}

/* Does this key begin a prediction? */
static bool begins_answer(const struct stepper *stepper, int key)
{
	return stepper->step && quiz_has_question(stepper->step) && key > ' ' &&
	       key < RR_KEY_LEFT && key != RR_KEY_DELETE;
}

/* Goes back to the last step that is no note. False: there is none. */
static bool go_back(struct stepper *stepper)
{
	const struct rr_trace *trace = stepper->trace;

	for (size_t i = trace->n_events; i-- > 0;) {
		if (trace->events[i].step->kind == RR_STEP_NOTE)
			continue;
		stepper->again = i;
		stepper->wish = STEP_BACK;
		return true;
	}
	snprintf(stepper->message, sizeof(stepper->message), "This is the beginning.");
	return false;
}

/* A key while nothing has been typed yet. True: it says what to do. */
static bool take_wish(struct stepper *stepper, int key)
{
	stepper->message[0] = '\0';
	stepper->wish = STEP_ON;
	if (key == 'q' && stepper->step) {
		stepper->wish = STEP_QUIT;
	} else if (key == 'b' || key == RR_KEY_LEFT) {
		return go_back(stepper);
	} else if (begins_answer(stepper, key)) {
		edit_answer(stepper->quiz->answer, key);
		return false;
	}
	return true;
}

/* Takes keys until it is known what to do; the prediction is the answer. */
static void await_wish(struct stepper *stepper)
{
	char *answer = stepper->quiz->answer;
	bool is_known = false;

	answer[0] = '\0';
	while (!is_known) {
		int key;

		draw_stepper(stepper);
		key = rr_terminal_key(&stepper->terminal);
		if (key == RR_KEY_LEFT)
			answer[0] = '\0';
		if (key == RR_KEY_NONE) {
			stepper->wish = STEP_QUIT;
			is_known = true;
		} else if (!answer[0]) {
			is_known = take_wish(stepper, key);
		} else if (key == '\n' || key == '\r') {
			stepper->wish = STEP_ON;
			is_known = true;
		} else {
			edit_answer(answer, key);
		}
	}
	stepper->quiz->has_quit = stepper->wish == STEP_QUIT;
}

/* ---- Steps -------------------------------------------------------------- */

static bool stop_before(void *context, const struct rr_trace *trace, const struct rr_step *step)
{
	struct stepper *stepper = context;

	stepper->trace = trace;
	stepper->step = step;
	if (trace->n_events < stepper->again || step->kind == RR_STEP_NOTE)
		return true;
	await_wish(stepper);
	return stepper->wish == STEP_ON;
}

static void judge_after(void *context, const struct rr_trace *trace, const struct rr_event *event)
{
	struct stepper *stepper = context;
	enum quiz_result result;

	if (trace->n_events <= stepper->again || event->step->kind == RR_STEP_NOTE)
		return;
	stepper->message[0] = '\0';
	result = quiz_judge(stepper->quiz, trace);
	if (result == QUIZ_RIGHT || result == QUIZ_WRONG)
		snprintf(stepper->message, sizeof(stepper->message), "You said %.60s: %s",
			 stepper->quiz->answer, result == QUIZ_RIGHT ? "right" : "that was not it");
}

/* What was said from there on is forgotten. */
static void forget_results(struct rr_quiz *quiz, size_t from)
{
	for (size_t i = from; i < RR_STEPS_MAX; i++)
		quiz->results[i] = QUIZ_NO_REPLY;
}

/* Plays once, up to a wish that ends it. */
static bool step_through(struct stepper *stepper, const struct rr_race *race,
			 struct rr_cluster *cluster, struct rr_trace *trace, struct rr_error *error)
{
	const struct rr_listener listener = { .before = stop_before,
					      .after = judge_after,
					      .context = stepper };

	stepper->wish = STEP_ON;
	rr_trace_free(trace);
	forget_results(stepper->quiz, stepper->again);
	if (!rr_player_play(race, cluster, &listener, trace, error))
		return false;
	if (stepper->wish != STEP_ON)
		return true;
	stepper->trace = trace;
	stepper->step = NULL;
	await_wish(stepper);
	return true;
}

static bool is_dumb_terminal(void)
{
	const char *name = getenv("TERM");

	return !name || !*name || strcmp(name, "dumb") == 0;
}

bool stepper_play(struct rr_quiz *quiz, const struct rr_race *race, struct rr_cluster *cluster,
		  struct rr_trace *trace, struct rr_error *error)
{
	struct stepper stepper = { .quiz = quiz };
	bool good;

	if (is_dumb_terminal() || !rr_terminal_open(&stepper.terminal, quiz->signals))
		return false;
	do
		good = step_through(&stepper, race, cluster, trace, error);
	while (good && stepper.wish == STEP_BACK);
	fputs("\033[H\033[2J", stdout);
	rr_terminal_close(&stepper.terminal);
	return true;
}

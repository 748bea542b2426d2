/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "wording.h"

/* Rounds of a repeat that are drawn at its beginning and its end together. */
enum { ROUNDS_SHOWN = 2 };

/* What a row needs to know of those before it. */
struct maker {
	struct rr_rows *rows;
	const struct rr_trace *trace;
	size_t number;
	unsigned inside, down;
	const char *keys[RR_KEYS_SHOWN_MAX]; /* as last drawn, unworded */
};

/* ---- One row -------------------------------------------------------------------- */

static enum rr_row_kind kind_of(const struct rr_step *step)
{
	switch (step->kind) {
	case RR_STEP_RUN:
	case RR_STEP_WRITE:
	case RR_STEP_BYTES:
	case RR_STEP_READ:
		return RR_ROW_MESSAGE;
	case RR_STEP_NOTE:
		return RR_ROW_NOTE;
	case RR_STEP_TICK:
	case RR_STEP_CLOCK:
		return RR_ROW_TIME;
	case RR_STEP_FAULT:
		return RR_ROW_FAULT;
	default:
		return RR_ROW_MARK;
	}
}

static enum rr_fate fate_of(const struct rr_event *event)
{
	const struct rr_step *step = event->step;

	if (!event->reply || kind_of(step) != RR_ROW_MESSAGE)
		return RR_FATE_NONE;
	if (step->is_lost)
		return RR_FATE_LOST;
	return strcmp(event->reply, "(waits)") == 0 ? RR_FATE_WAITS :
						      RR_FATE_CAME;
}

/* What is wrong with this step, in a line. */
static char *broke(const struct rr_event *event)
{
	char *text = NULL, *plain;

	if (!event->differs)
		return rr_plain(event->remark);
	if (asprintf(&text, "expected %s%s%s", event->step->expected,
		     event->remark ? "; " : "",
		     event->remark ? event->remark : "") < 0)
		return NULL;
	plain = rr_plain(text);
	free(text);
	return plain;
}

/* Who is inside while this step is done: who leaves still is, and so is who
 * crashes. *next is for the steps after it. */
static unsigned inside(const struct rr_step *step, unsigned before,
		       unsigned *next)
{
	const unsigned bit = step->actor >= 0 ? 1U << step->actor : 0;

	*next = before;
	if (step->kind == RR_STEP_ENTER)
		*next |= bit;
	if (step->kind == RR_STEP_LEAVE || step->kind == RR_STEP_CRASH)
		*next &= ~bit;
	return before | *next;
}

static unsigned down(const struct rr_step *step, unsigned before)
{
	const unsigned bit = step->server >= 0 ? 1U << step->server : 0;

	if (step->kind != RR_STEP_FAULT)
		return before;
	switch (step->fault) {
	case RR_FAULT_KILL:
	case RR_FAULT_SHUT_DOWN:
	case RR_FAULT_AWAIT_END:
	case RR_FAULT_POWER:
	case RR_FAULT_HANG:
		return before | bit;
	case RR_FAULT_RESTART:
	case RR_FAULT_WIPE:
	case RR_FAULT_RESUME:
		return before & ~bit;
	default:
		return before;
	}
}

/* Values that are other than those last drawn. */
static void put_keys(struct maker *maker, struct rr_row *row,
		     const struct rr_event *event)
{
	for (size_t i = 0; i < maker->trace->race->n_keys; i++) {
		const char *value = event->keys[i];

		if (!value || strcmp(value, maker->keys[i]) == 0)
			continue;
		maker->keys[i] = value;
		row->keys[i] = rr_wording_value(value);
	}
}

static void put_event(struct maker *maker, const struct rr_event *event)
{
	const struct rr_step *step = event->step;
	struct rr_row *row = &maker->rows->rows[maker->rows->n++];

	*row = (struct rr_row){
		.kind = kind_of(step),
		.number = step->kind == RR_STEP_NOTE ? 0 : maker->number,
		.actor = step->actor,
		.server = step->server,
		.fate = fate_of(event),
		.text = rr_wording_step(maker->trace, event),
		.broke = broke(event),
		.why = rr_plain(step->remark),
		.event = event,
	};
	if (row->fate != RR_FATE_NONE)
		row->reply = rr_wording_reply(event->reply);
	row->inside = inside(step, maker->inside, &maker->inside);
	row->down = maker->down = down(step, maker->down);
	put_keys(maker, row, event);
}

/* ---- Rounds that are left out ---------------------------------------------------- */

/* The last round that was played of the repeat that events[i] is in. */
static int last_round(const struct rr_trace *trace, size_t i)
{
	int round = trace->events[i].step->repetition;

	for (; i < trace->n_events; i++) {
		const struct rr_step *step = trace->events[i].step;

		if (step->repetitions == 0 || step->repetition < round ||
		    step->repetition > round + 1)
			break;
		round = step->repetition;
	}
	return round;
}

static bool is_left_out(const struct rr_event *event, int last)
{
	return event->step->repetition > 1 && event->step->repetition < last &&
	       last > ROUNDS_SHOWN + 1;
}

static void put_fold(struct maker *maker, int rounds, size_t from, size_t to,
		     size_t n_broke)
{
	struct rr_row *row = &maker->rows->rows[maker->rows->n++];

	*row = (struct rr_row){ .kind = RR_ROW_FOLD, .actor = -1, .server = -1,
				.inside = maker->inside, .down = maker->down };
	if (asprintf(&row->text, "… %d more rounds, steps %zu to %zu", rounds,
		     from, to) < 0)
		row->text = NULL;
	if (n_broke > 0 &&
	    asprintf(&row->broke, "%zu of these steps broke something",
		     n_broke) < 0)
		row->broke = NULL;
}

/* Skips from events[i] to the last round; the index of its first event. */
static size_t skip_rounds(struct maker *maker, size_t i, int last)
{
	const size_t from = maker->number + 1;
	const int rounds = last - maker->trace->events[i].step->repetition;
	size_t n_broke = 0;

	for (; is_left_out(&maker->trace->events[i], last); i++) {
		const struct rr_event *event = &maker->trace->events[i];

		maker->number += event->step->kind != RR_STEP_NOTE;
		inside(event->step, maker->inside, &maker->inside);
		maker->down = down(event->step, maker->down);
		n_broke += event->remark != NULL;
	}
	put_fold(maker, rounds, from, maker->number, n_broke);
	return i;
}

static void put_events(struct maker *maker)
{
	const struct rr_trace *trace = maker->trace;

	for (size_t i = 0; i < trace->n_events;) {
		const struct rr_event *event = &trace->events[i];
		const int last = last_round(trace, i);

		if (is_left_out(event, last)) {
			i = skip_rounds(maker, i, last);
			continue;
		}
		maker->number += event->step->kind != RR_STEP_NOTE;
		put_event(maker, event);
		i++;
	}
}

/* ---- The whole ---------------------------------------------------------------------- */

static void put_note(struct maker *maker, char *text)
{
	struct rr_row *row = &maker->rows->rows[maker->rows->n++];

	*row = (struct rr_row){ .kind = RR_ROW_NOTE, .actor = -1, .server = -1,
				.text = text };
}

/* What was there before the first step. */
static void put_beginning(struct maker *maker)
{
	const struct rr_race *race = maker->trace->race;

	for (size_t i = 0; i < race->n_given; i++) {
		const struct rr_step *given = &race->given[i];
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (!out)
			continue;
		fputs("given:", out);
		for (size_t w = 0; w < given->n_words; w++)
			fprintf(out, " %s", given->words[w]);
		fclose(out);
		put_note(maker, rr_plain(text));
		free(text);
	}
	if (race->counter && race->counter_from) {
		char text[160];

		snprintf(text, sizeof(text), "given: %.100s is %lld",
			 race->counter, (long long)race->counter_from);
		put_note(maker, rr_plain(text));
	}
}

bool rr_rows_make(struct rr_rows *rows, const struct rr_trace *trace)
{
	struct maker maker = { .rows = rows, .trace = trace };

	*rows = (struct rr_rows){ .trace = trace };
	rows->rows = calloc(trace->n_events + RR_GIVEN_MAX + 1,
			    sizeof(*rows->rows));
	if (!rows->rows)
		return false;
	for (size_t i = 0; i < RR_KEYS_SHOWN_MAX; i++)
		maker.keys[i] = "(nil)";
	put_beginning(&maker);
	put_events(&maker);
	return true;
}

void rr_rows_free(struct rr_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct rr_row *row = &rows->rows[i];

		free(row->text);
		free(row->reply);
		free(row->broke);
		free(row->why);
		for (size_t k = 0; k < RR_KEYS_SHOWN_MAX; k++)
			free(row->keys[k]);
	}
	free(rows->rows);
}

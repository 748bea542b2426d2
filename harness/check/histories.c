/* SPDX-License-Identifier: MIT */
#include "histories.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Instead of the time that has passed: whenever it comes, for the clock is not read; and
 * that it is read, at one time at least. */
enum { AT_ANY_TIME = -1, IS_TIMED = -2 };

struct step {
	uint32_t from;
	uint8_t kind, lane;
	uint16_t padding;
	int64_t value, passed_ns;
};

bool rr_history_has_ended(const struct rr_history *history)
{
	return history->view.stops[0].kind == RR_STOP_ENDED;
}

static bool waits_for_the_same(const struct rr_stop *a, const struct rr_stop *b)
{
	return a->kind == b->kind && a->lane == b->lane && a->duration_ns == b->duration_ns;
}

bool rr_views_are_same(const struct rr_run_view *a, const struct rr_run_view *b)
{
	if (a->n_threads != b->n_threads || a->n_sent != b->n_sent ||
	    a->is_inside != b->is_inside || a->tally.ok != b->tally.ok)
		return false;
	for (uint32_t i = 0; i < a->n_threads; i++) {
		if (!waits_for_the_same(&a->stops[i], &b->stops[i]))
			return false;
	}
	for (uint32_t i = 0; i < a->n_sent; i++) {
		if (a->sent[i].lane != b->sent[i].lane || a->sent[i].command != b->sent[i].command)
			return false;
	}
	return true;
}

/* ---- Steps ------------------------------------------------------------------- */

static struct step step_of(uint32_t from, const struct rr_input *input, uint8_t lane,
			   int64_t passed_ns)
{
	return (struct step){ .from = from,
			      .kind = input->kind,
			      .lane = lane,
			      .value = input->value,
			      .passed_ns = passed_ns };
}

static uint32_t find_at(const struct rr_histories *histories, uint32_t from,
			const struct rr_input *input, uint8_t lane, int64_t passed_ns)
{
	const struct step step = step_of(from, input, lane, passed_ns);
	const uint32_t id = rr_intern_find(&histories->steps, &step, sizeof(step));

	return id == RR_NO_ID ? RR_NO_ID : histories->next[id];
}

uint32_t rr_histories_find(const struct rr_histories *histories, uint32_t from,
			   const struct rr_input *input, uint8_t lane, int64_t passed_ns)
{
	const uint32_t found = find_at(histories, from, input, lane, passed_ns);

	return found == RR_NO_ID ? find_at(histories, from, input, lane, AT_ANY_TIME) : found;
}

static uint32_t put_at(struct rr_histories *histories, const struct rr_history *history,
		       int64_t passed_ns, uint32_t to)
{
	const struct step step = step_of(history->parent, &history->input, history->lane,
					 passed_ns);
	uint32_t id;

	rr_array_grow(&histories->next, histories->steps.n, sizeof(*histories->next));
	id = rr_intern_put(&histories->steps, &step, sizeof(step), NULL);
	return id == RR_NO_ID ? RR_NO_ID : (histories->next[id] = to);
}

/* Some programs read a clock now and then: once is enough for all times. */
static bool is_timed(const struct rr_histories *histories, const struct rr_history *history)
{
	return history->view.has_read || find_at(histories, history->parent, &history->input,
						 history->lane, IS_TIMED) != RR_NO_ID;
}

/* ---- Loops ------------------------------------------------------------------- */

static bool is_same_step(const struct rr_history *a, const struct rr_history *b)
{
	return a->input.kind == b->input.kind && a->input.value == b->input.value &&
	       a->lane == b->lane && rr_views_are_same(&a->view, &b->view);
}

/* How often in a row it has done the same, and heard the same. */
static void count_polls(const struct rr_histories *histories, struct rr_history *history)
{
	const struct rr_history *parent = histories->all[history->parent];
	const struct rr_history *before = history;

	for (int period = 1; period <= RR_LOOP_MAX; period++) {
		before = histories->all[before->parent];
		if (before->parent == RR_NO_ID)
			return;
		if (is_same_step(history, before) && parent->repeats[period] < UINT8_MAX)
			history->repeats[period] = parent->repeats[period] + 1;
		if (history->repeats[period] / period > history->view.polls)
			history->view.polls = history->repeats[period] / (uint8_t)period;
	}
}

/* ---- Histories --------------------------------------------------------------- */

static uint32_t add_copy(struct rr_histories *histories, const struct rr_history *history)
{
	rr_array_grow(&histories->all, histories->n, sizeof(*histories->all));
	histories->all[histories->n] = rr_memdup(history, sizeof(*history));
	return histories->n++;
}

uint32_t rr_histories_add(struct rr_histories *histories, const struct rr_history *history)
{
	struct rr_history counted = *history;
	uint32_t id;

	if (history->parent == RR_NO_ID)
		return add_copy(histories, history);
	counted.view.has_read = is_timed(histories, history);
	count_polls(histories, &counted);
	id = add_copy(histories, &counted);
	if (id == RR_NO_ID)
		return id;
	if (!counted.view.has_read)
		return put_at(histories, &counted, AT_ANY_TIME, id);
	if (put_at(histories, &counted, IS_TIMED, id) == RR_NO_ID)
		return RR_NO_ID;
	return put_at(histories, &counted, counted.passed_ns, id);
}

static int length_of(const struct rr_histories *histories, uint32_t at)
{
	int length = 0;

	while (histories->all[at]->parent != RR_NO_ID) {
		at = histories->all[at]->parent;
		length++;
	}
	return length;
}

uint32_t rr_histories_longest_end(const struct rr_histories *histories)
{
	uint32_t longest = RR_NO_ID;

	for (uint32_t i = 0; i < histories->n; i++) {
		if (rr_history_has_ended(histories->all[i]) &&
		    (longest == RR_NO_ID ||
		     length_of(histories, i) > length_of(histories, longest)))
			longest = i;
	}
	return longest;
}

void rr_histories_release(struct rr_histories *histories)
{
	for (uint32_t i = 0; i < histories->n; i++)
		free(histories->all[i]);
	free(histories->all);
	free(histories->next);
	rr_intern_release(&histories->steps);
	*histories = (struct rr_histories){ .n = 0 };
}

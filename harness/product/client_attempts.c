/* SPDX-License-Identifier: MIT */
/* What a client may remember when an attempt is over: attempt states of the table. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "client_table.h"

/* What an attempt state is known by. */
struct attempt_key {
	long ok, unknown, failed, acknowledged, refused;
	uint64_t memory;                  /* a state + 1; 0 = nothing is remembered */
	uint64_t settled;                 /* attempts since then, so many at most */
	uint64_t histories[RR_HISTORIES]; /* of the last attempts */
	uint64_t opening;                 /* what was received before the first one */
	uint64_t has_ended;
	long ending;
};

/* Has the client nothing open but its next attempt? */
static bool is_at_rest(const struct rr_client_state *state)
{
	for (uint32_t i = 1; i < state->n_threads; i++) {
		if (state->stops[i].kind != RR_STOP_ENDED && state->stops[i].kind != RR_STOP_ABSENT)
			return false;
	}
	return state->n_sent == 0;
}

/* The memory of the attempt that has just ended: that of its beginning, unless it
 * had lost replies. */
static uint64_t memory_after(const struct rr_client_table *table, uint32_t id,
			     const struct rr_client_state *state)
{
	const struct rr_client_state *begin;

	if (!is_at_rest(state) || state->is_unheard || table->remembers < 0)
		return (uint64_t)id + 1;
	begin = &table->states[state->attempt];
	if (state->parent == RR_NO_ID || !begin->is_attempt || begin->is_forgetful)
		return 0;
	return begin->memory;
}

/* The first levels of memory are refusals in a row, the next attempts as a whole. */
static long n_refusals(const struct rr_client_table *table)
{
	return table->remembers < RR_REFUSALS ? table->remembers : RR_REFUSALS;
}

static void keep_histories(const struct rr_client_table *table, const struct rr_client_state *state,
			   uint64_t histories[RR_HISTORIES])
{
	const struct rr_client_state *begin = &table->states[state->attempt];
	const int n = table->remembers - RR_REFUSALS;

	for (int i = 0; i < n && i < RR_HISTORIES; i++)
		histories[i] = i == 0 ? state->history : begin->histories[i - 1];
}

/* How many attempts there have been since what it remembers; more than one more
 * than refusals are remembered do not matter. */
static uint64_t settled_after(const struct rr_client_table *table,
			      const struct rr_client_state *state)
{
	const uint64_t before = table->states[state->attempt].settled;

	return before <= (uint64_t)table->remembers ? before + 1 : before;
}

static struct attempt_key attempt_key_of(const struct rr_client_table *table, uint32_t id)
{
	const struct rr_client_state *state = &table->states[id];
	const struct rr_client_state *begin = &table->states[state->attempt];
	const struct rr_run_tally *tally = &state->tally;
	struct attempt_key key = { .ok = tally->ok,
				   .unknown = tally->unknown,
				   .failed = tally->failed,
				   .acknowledged = tally->acknowledged,
				   .refused = tally->refused,
				   .has_ended = state->has_ended,
				   .ending = tally->ending };

	if (state->has_ended)
		key.refused = 0;
	else if (table->remembers >= 0 && key.refused > n_refusals(table))
		key.refused = n_refusals(table);
	if (!state->has_ended || !is_at_rest(state))
		key.memory = memory_after(table, id, state);
	if (key.memory && key.memory != (uint64_t)id + 1)
		key.settled = settled_after(table, state);
	if (!state->has_ended) {
		keep_histories(table, state, key.histories);
		key.opening = begin->is_attempt ? begin->opening : state->history;
	}
	return key;
}

/* The attempt state of a new state at which an attempt is to begin: itself, or one
 * that was there. So with clients that have ended. */
uint32_t rr_client_table_merge(struct rr_client_table *table, uint32_t id)
{
	const struct attempt_key key = attempt_key_of(table, id);
	struct rr_client_state *state = &table->states[id];
	bool is_new;
	const uint32_t number = rr_intern_put(&table->attempts, &key, sizeof(key), &is_new);

	if (!is_new)
		return table->attempt[number];
	rr_array_grow(&table->attempt, number, sizeof(id));
	table->attempt[number] = id;
	state->attempt = id;
	memcpy(state->histories, key.histories, sizeof(key.histories));
	state->opening = key.opening;
	state->history = 0;
	state->memory = key.memory;
	state->settled = key.settled;
	state->is_forgetful = state->is_attempt && key.memory == 0;
	if (key.memory == 0)
		state->names = 0;
	return id;
}

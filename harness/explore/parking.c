/* SPDX-License-Identifier: MIT */
/* Waiters that would only be refused again. */
#include "search_inside.h"

static bool is_of(const struct rr_done *done, int actor)
{
	return rr_move_is_step(&done->move) && done->move.actor == actor;
}

/* The first move of the attempt that the actor has made before move `end`. */
static size_t attempt_begin(const struct rr_search *search, int actor,
			    size_t end)
{
	size_t i = end;

	while (i > 0 && !(is_of(&search->done[i - 1], actor) &&
			  search->done[i - 1].is_sleep))
		i--;
	return i;
}

static bool has_written(const struct rr_search *search, int actor, size_t begin)
{
	for (size_t i = begin; i < search->n_done; i++) {
		const struct rr_done *done = &search->done[i];

		if (is_of(done, actor) &&
		    (done->footprint.all || done->footprint.writes))
			return true;
	}
	return false;
}

/* Does move `by` change what move `of` has seen? */
static bool disturbs(const struct rr_done *by, const struct rr_done *of)
{
	return by->footprint.all ||
	       (by->footprint.writes & of->footprint.reads);
}

static bool is_disturbed(const struct rr_search *search, int actor,
			 size_t begin, size_t by)
{
	for (size_t i = begin; i < by; i++) {
		if (is_of(&search->done[i], actor) &&
		    disturbs(&search->done[by], &search->done[i]))
			return true;
	}
	return false;
}

/* Does time that passes change what it found out? */
static bool is_dated(const struct rr_search *search, int actor, size_t begin,
		     size_t by)
{
	for (size_t i = begin; i < by; i++) {
		if (is_of(&search->done[i], actor) &&
		    search->done[i].footprint.timed)
			return true;
	}
	return false;
}

/* Does this move make it worth trying again? */
static bool wakes(const struct rr_search *search, int actor, size_t begin,
		  size_t by)
{
	const struct rr_done *done = &search->done[by];

	return !is_of(done, actor) &&
	       (is_disturbed(search, actor, begin, by) ||
		(rr_move_is_time(&done->move) &&
		 is_dated(search, actor, begin, by)));
}

static bool is_woken(const struct rr_search *search, int actor, size_t begin)
{
	for (size_t i = begin; i < search->n_done; i++) {
		if (wakes(search, actor, begin, i))
			return true;
	}
	return false;
}

struct rr_set rr_search_wakers(const struct rr_search *search, size_t sleep)
{
	const int actor = search->done[sleep].move.actor;
	const size_t begin = attempt_begin(search, actor, sleep);
	struct rr_set wakers = { 0 };

	for (size_t i = begin; i < sleep; i++) {
		if (wakes(search, actor, begin, i))
			rr_set_put(&wakers, i);
	}
	return wakers;
}

/* A lost reply: what it read is not what it knows. */
static bool has_lost(const struct rr_search *search, int actor, size_t begin)
{
	for (size_t i = begin; i < search->n_done; i++) {
		if (is_of(&search->done[i], actor) &&
		    search->done[i].move.kind == RR_MOVE_LOSE)
			return true;
	}
	return false;
}

enum rr_parking rr_search_parking(const struct rr_search *search, int actor)
{
	const size_t begin = attempt_begin(search, actor, search->n_done);

	if (has_lost(search, actor, begin))
		return RR_AWAKE;
	if (has_written(search, actor, begin))
		return RR_ROUND;
	return is_woken(search, actor, begin) ? RR_WOKEN : RR_PARKED;
}

int rr_search_rounds(const struct rr_search *search, int actor)
{
	int rounds = 0;

	for (size_t i = 0; i < search->n_done; i++)
		rounds += is_of(&search->done[i], actor) &&
			  search->done[i].has_written;
	return rounds;
}

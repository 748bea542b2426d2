/* SPDX-License-Identifier: MIT */
/* Waiters that would only be refused again. */
#include "search_inside.h"

static bool is_of(const struct rr_done *done, int actor)
{
	return rr_move_is_step(&done->move) && done->move.actor == actor;
}

/* The first move of the attempt that the actor has just made. */
static size_t attempt_begin(const struct rr_search *search, int actor)
{
	size_t i = search->n_done;

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

/* The first move of another that makes it worth trying again, -1 = none. */
static int waker(const struct rr_search *search, int actor, size_t begin)
{
	for (size_t i = begin; i < search->n_done; i++) {
		const struct rr_done *done = &search->done[i];

		if (is_of(done, actor))
			continue;
		if (is_disturbed(search, actor, begin, i) ||
		    (rr_move_is_time(&done->move) &&
		     is_dated(search, actor, begin, i)))
			return (int)i;
	}
	return -1;
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

enum rr_parking rr_search_parking(const struct rr_search *search, int actor,
				  int *woken_by)
{
	const size_t begin = attempt_begin(search, actor);

	*woken_by = waker(search, actor, begin);
	if (has_lost(search, actor, begin))
		return RR_AWAKE;
	if (has_written(search, actor, begin))
		return RR_ROUND;
	return *woken_by >= 0 ? RR_AWAKE : RR_PARKED;
}

int rr_search_rounds(const struct rr_search *search, int actor)
{
	int rounds = 0;

	for (size_t i = 0; i < search->n_done; i++)
		rounds += is_of(&search->done[i], actor) &&
			  search->done[i].has_written;
	return rounds;
}

/* SPDX-License-Identifier: MIT */
/* How time passes in a search: how far, what ends meanwhile, and when it is of no
 * use any more. */
#include "search_inside.h"

/* Longer than a lease by more than the second that a timestamp is rounded by. */
#define LAPSE_NS INT64_C(2000000000)

/* Waits, in which nobody writes, for what no server knows of: a lease that a
 * timestamp stands for. */
enum { BLIND_WAITS_MAX = 2, WAITS_MAX = 100 };

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- How far -------------------------------------------------------------- */

/* To the next thing that happens by itself; RR_NEVER when nothing does. */
static int64_t to_next_ns(const struct rr_view *view, const int64_t *ends_ns)
{
	const int64_t end_ns = rr_access_first_end(ends_ns);

	if (view->next_ns == RR_NEVER)
		return end_ns;
	return earlier(end_ns, view->next_ns - view->now_ns);
}

static int64_t duration_of(const struct rr_search *search,
			   enum rr_move_kind kind, int64_t next_ns)
{
	const int64_t half_ns = search->config.lease_ns / 2 + LAPSE_NS;
	const int64_t whole_ns = search->config.lease_ns + LAPSE_NS;

	switch (kind) {
	case RR_MOVE_PAUSE:
		return whole_ns;
	case RR_MOVE_PAUSE_HALF:
		return half_ns;
	case RR_MOVE_HALF:
		return earlier(half_ns, next_ns);
	default:
		if (next_ns == RR_NEVER)
			return whole_ns;
		return search->cuts ? earlier(half_ns, next_ns) : next_ns;
	}
}

static void plan_time(struct rr_search *search, const struct rr_view *view,
		      struct rr_done *done)
{
	int64_t *ends_ns = search->ends_ns[search->n_done];
	int64_t next_ns, duration_ns;

	if (!rr_access_read_ends(search->config.access, ends_ns))
		search->is_gone = true;
	next_ns = to_next_ns(view, ends_ns);
	duration_ns = duration_of(search, done->move.kind, next_ns);
	done->until_ns = view->now_ns + duration_ns;
	done->is_blind = next_ns == RR_NEVER;
	done->footprint = (struct rr_footprint){
		.timed = true,
		.writes = rr_access_ends_within(ends_ns, duration_ns),
	};
}

/* For how long it is away, or how far it jumps. */
static void plan_server(struct rr_search *search, const struct rr_view *view,
			struct rr_done *done)
{
	const int64_t whole_ns = search->config.lease_ns + LAPSE_NS;

	done->footprint = rr_access_of_server(search->config.access,
					      done->move.actor);
	if (done->move.kind == RR_MOVE_JUMP) {
		done->footprint.timed = true;
		done->until_ns = whole_ns;
	} else if (search->config.stays_away) {
		done->until_ns = view->now_ns + whole_ns;
	}
}

/* Leaves the critical section, if anybody of the process may be in it. */
static void plan_crash(struct rr_search *search, struct rr_done *done)
{
	const uint64_t inside = 1;
	uint64_t within = 0; /* actors, as bits */

	for (size_t i = 0; i < search->n_done; i++) {
		const struct rr_done *other = &search->done[i];
		const uint64_t actor = UINT64_C(1) << other->move.actor;

		if (!rr_move_is_step(&other->move) ||
		    !rr_search_same_process(search, done->move.actor,
					    other->move.actor))
			continue;
		if (other->footprint.reads & inside)
			within |= actor;
		else if (other->footprint.writes & inside)
			within &= ~actor;
	}
	done->footprint = (struct rr_footprint){ .writes = within ? inside : 0 };
}

void rr_search_plan(struct rr_search *search, const struct rr_view *view,
		    struct rr_done *done)
{
	if (rr_move_is_time(&done->move))
		plan_time(search, view, done);
	else if (done->move.kind == RR_MOVE_CRASH)
		plan_crash(search, done);
	else if (rr_move_is_server(&done->move))
		plan_server(search, view, done);
}

/* ---- Starvation ----------------------------------------------------------- */

static size_t after_last_wait(const struct rr_search *search)
{
	size_t i = search->n_done;

	while (i > 0 && search->done[i - 1].move.kind != RR_MOVE_WAIT)
		i--;
	return i;
}

/* What has been looked at since then, as bits; 0 when somebody has got in. */
static uint64_t looked_at_since(const struct rr_search *search, size_t begin)
{
	const uint64_t inside = 1;
	uint64_t bits = 0;

	for (size_t i = begin; i < search->n_done; i++) {
		const struct rr_footprint *footprint =
			&search->done[i].footprint;

		bits |= footprint->reads | footprint->writes;
	}
	return bits & inside ? 0 : bits;
}

bool rr_search_is_starved(struct rr_search *search)
{
	const size_t begin = after_last_wait(search);
	const uint64_t bits = looked_at_since(search, begin);
	const int64_t *before_ns;
	int64_t ends_ns[RR_NAMES_MAX];

	if (begin == 0)
		return false;
	before_ns = search->ends_ns[begin - 1];
	if (!rr_access_read_ends(search->config.access, ends_ns))
		search->is_gone = true;
	for (size_t i = 1; i < RR_NAMES_MAX; i++) {
		if (bits >> i & 1 && before_ns[i] > 0 &&
		    ends_ns[i] >= before_ns[i])
			return true;
	}
	return false;
}

/* ---- The end -------------------------------------------------------------- */

bool rr_search_may_wait(struct rr_search *search, const struct rr_view *view)
{
	int64_t ends_ns[RR_NAMES_MAX];
	int blind = 0, waits = 0;

	for (size_t i = 0; i < search->n_done; i++) {
		const struct rr_done *done = &search->done[i];

		waits += done->move.kind == RR_MOVE_WAIT;
		blind += done->move.kind == RR_MOVE_WAIT && done->is_blind;
		if (rr_move_is_step(&done->move) && done->footprint.writes)
			blind = 0;
	}
	if (waits >= WAITS_MAX) {
		search->cuts = true;
		return false;
	}
	if (!rr_access_read_ends(search->config.access, ends_ns))
		search->is_gone = true;
	return to_next_ns(view, ends_ns) != RR_NEVER || blind < BLIND_WAITS_MAX;
}

/* ---- Choices -------------------------------------------------------------- */

struct rr_choice rr_search_choice(const struct rr_done *done)
{
	const int actor = done->move.actor;

	switch (done->move.kind) {
	case RR_MOVE_STEP:
		return (struct rr_choice){ RR_CHOOSE_STEP, actor, 0 };
	case RR_MOVE_LOSE:
		return (struct rr_choice){ RR_CHOOSE_LOSE, actor, 0 };
	case RR_MOVE_CRASH:
		return (struct rr_choice){ RR_CHOOSE_CRASH, actor, 0 };
	case RR_MOVE_RESTART:
		return (struct rr_choice){ RR_CHOOSE_RESTART, actor,
					   done->until_ns };
	case RR_MOVE_RETURN:
		return (struct rr_choice){ RR_CHOOSE_RETURN, actor, 0 };
	case RR_MOVE_JUMP:
		return (struct rr_choice){ RR_CHOOSE_JUMP, actor,
					   done->until_ns };
	default:
		return (struct rr_choice){ RR_CHOOSE_PASS, 0, done->until_ns };
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * The quiet states, in which time passes by itself: nobody is in the middle of anything, and
 * whoever begins an attempt is refused.
 */
#include "expansion.h"

/* Before a lease's end: who asks now asks before it is over. */
#define SHORTLY_NS INT64_C(2000000)

/* The millisecond in which a key's time is over. */
#define MOMENT_NS INT64_C(1000000)

/* How far a timestamp in a value may lie ahead, and how well its end is found. */
#define DAY_NS INT64_C(86400000000000)
#define SECOND_NS INT64_C(1000000000)

enum {
	BLIND_WAITS_MAX = 2,
	WAITS_MAX = 60,
	SOLO_STEPS_MAX = 20000,
	READS_BACK = 12,
	ROUND_STEPS_MAX = 64,
	SPIN_STEPS_MAX = 40
};

/* ---- One client alone ----------------------------------------------------- */

bool rr_state_step_alone(struct rr_state *state, size_t client, bool unbounded)
{
	struct rr_product *product = state->product;
	struct rr_expansion it = {
		.product = product,
		.alone = state,
		.unbounded = unbounded,
		.slice = product->log ? product->log->n : 0,
		.next_ns = RR_NEVER,
		.round_ns = RR_NEVER,
	};

	rr_expand_client(&it, state, client);
	return it.is_done;
}

/* One attempt of a client from this state, with nobody else going on. True: it was
 * refused, and `after` is what it left. What comes next depends on the state alone:
 * an attempt that comes back to where it has been never ends (Brent's algorithm finds
 * that out), and no more does one of too many steps. */
static bool attempt_is_refused(const struct rr_state *from, size_t client, struct rr_state *after)
{
	const long done = rr_client_state_n_done(rr_state_client(from, client));
	struct rr_state seen;

	rr_state_copy(after, from);
	rr_state_copy(&seen, from);
	for (int step = 1; step <= SOLO_STEPS_MAX; step++) {
		/* An attempt that does nothing at all is in vain. */
		if (!rr_state_step_alone(after, client, true))
			return step == 1 && !rr_product_failed(from->product);
		if (rr_state_client(after, client)->is_attempt)
			return rr_client_state_n_done(rr_state_client(after, client)) == done;
		if (rr_state_is_same(after, &seen))
			return false;
		if ((step & (step - 1)) == 0)
			rr_state_copy(&seen, after);
	}
	return false;
}

/* Is this client refused again and again, and servers are never as they were? */
static bool client_counts_up(const struct rr_state *from, size_t client)
{
	enum { TIMES = 12 };
	struct rr_state states[TIMES + 1];

	rr_state_copy(&states[0], from);
	for (int n = 0; n < TIMES; n++) {
		if (!rr_state_is_idle(&states[n], client) ||
		    !attempt_is_refused(&states[n], client, &states[n + 1]))
			return false;
		for (int i = 0; i <= n; i++) {
			if (rr_state_has_servers_of(&states[i], &states[n + 1]))
				return false;
		}
	}
	return true;
}

bool rr_product_counts_up(struct rr_product *product, const uint32_t *key)
{
	struct rr_state state;

	rr_state_unpack(product, key, &state);
	for (size_t i = 0; i < product->n_clients; i++) {
		if (client_counts_up(&state, i))
			return true;
	}
	return false;
}

/* ---- Clients that go round in loops ------------------------------------------- */

/* Goes on alone to where it has been (Brent's algorithm finds that out). *back: there,
 * the servers are as they were at the beginning; *stays: all the way. */
static bool comes_round(const struct rr_state *from, size_t client, bool *back, bool *stays)
{
	struct rr_state at, seen;

	rr_state_copy(&at, from);
	rr_state_copy(&seen, from);
	*back = *stays = true;
	for (int step = 1; step <= ROUND_STEPS_MAX; step++) {
		if (!rr_state_step_alone(&at, client, true))
			return false;
		*stays &= rr_state_has_servers_of(&at, from);
		*back |= rr_state_has_servers_of(&at, from);
		if (rr_state_is_same(&at, &seen))
			return true;
		if ((step & (step - 1)) == 0) {
			rr_state_copy(&seen, &at);
			*back = rr_state_has_servers_of(&at, from);
		}
	}
	return false;
}

static const struct rr_client_state *known_state(const struct rr_state *state, size_t client)
{
	return &state->product->clients[client].table->states[state->clients[client].state];
}

/* Time does not pass in the middle of a round in which something is done and undone. */
static bool goes_round(const struct rr_state *from, size_t client)
{
	bool back, stays;

	if (known_state(from, client)->spins) {
		struct rr_state at;

		/* It hears the same and does the same in each round, and changes nothing, although
		 * it is not known to be where it was: it may remember how often or how long it has
		 * waited. */
		rr_state_copy(&at, from);
		for (int step = 1; step <= SPIN_STEPS_MAX; step++) {
			if (!rr_state_step_alone(&at, client, true) ||
			    !rr_state_has_servers_of(&at, from))
				return false;
			if (known_state(&at, client)->spins)
				return true;
		}
		return false;
	}
	return rr_state_is_in_round(from, client) && comes_round(from, client, &back, &stays) &&
	       back && (stays || known_state(from, client)->is_loop_head);
}

static bool is_timed_blocked(const struct rr_state *state, size_t client)
{
	uint8_t lane;

	return rr_state_times_out_ns(state, client, &lane) != RR_NEVER;
}

/* Has it nothing to do but to wait? */
static bool is_waiting(const struct rr_state *from, size_t client)
{
	struct rr_state next;

	if (rr_state_asleep_ns(from, client) > 0)
		return true;
	rr_state_copy(&next, from);
	return !rr_state_step_alone(&next, client, true);
}

/* ---- Quiet states --------------------------------------------------------- */

/* Does each client that has begun wait, go round in a loop, or begin an attempt in which it is
 * refused? must_end: the leases that end next must not be put off by it. *changes: attempts leave
 * something. */
static bool is_quiet(const struct rr_state *from, bool must_end, bool *changes)
{
	const int64_t next_ns = rr_state_next_end_ns(from);
	struct rr_product *product = from->product;
	struct rr_actions *log = product->log;
	bool is = true, any = false;

	product->log = NULL; /* of what is only tried */
	for (size_t i = 0; i < product->n_clients && is; i++) {
		struct rr_state after;

		if (rr_state_has_ended(from, i) || !rr_state_has_begun(from, i))
			continue;
		any = true;
		if (!rr_state_is_idle(from, i)) {
			is = goes_round(from, i) || is_waiting(from, i);
			continue;
		}
		is = attempt_is_refused(from, i, &after);
		*changes |= is && !rr_state_has_servers_of(from, &after);
		is = is && !(must_end && rr_state_next_end_ns(&after) > next_ns);
	}
	product->log = log;
	return is && any && !rr_product_failed(product);
}

bool rr_expansion_is_quiet(struct rr_expansion *it)
{
	if (it->is_quiet == RR_QUIET_UNKNOWN)
		it->is_quiet = is_quiet(it->from, false, &it->changes) ? RR_IS_QUIET :
									 RR_IS_NOT_QUIET;
	return it->is_quiet == RR_IS_QUIET;
}

/* Whoever was refused as often as the bound says may ask again. */
static void add_wait(struct rr_expansion *it, const struct rr_state *from,
		     enum rr_transition_kind kind, int64_t ns, bool is_blind)
{
	struct rr_state next;
	struct rr_common *common = &next.common;

	if (!rr_expansion_wants(it, kind, 0, 0))
		return;
	rr_state_copy(&next, from);
	if (it->product->config.bounded && common->waits < INT8_MAX)
		common->waits++;
	if (common->waits > WAITS_MAX) {
		it->flags |= RR_STATE_CUT;
		return;
	}
	common->blind = (int8_t)(is_blind ? common->blind + 1 : 0);
	for (size_t i = 0; i < it->product->n_clients; i++)
		next.clients[i].rounds = 0;
	rr_state_pass_time(&next, ns, kind);
	rr_expansion_add(it, kind, 0, 0, &next);
}

/* Does a process that polls look at its clock each time? */
static bool reads_clock(const struct rr_state *state, size_t client)
{
	const struct rr_client_state *states = state->product->clients[client].states;
	uint32_t at = state->clients[client].state;
	bool reads = false;

	for (int i = 0; i <= READS_BACK && at != RR_NO_ID && !reads; i++) {
		reads = states[at].has_read;
		at = states[at].parent;
	}
	return reads;
}

/* After so long, is somebody let in, or do refused clients leave something where they do not
 * now, or the other way round? */
static bool is_other_after(const struct rr_state *from, int64_t ns, bool changes)
{
	struct rr_state later;
	bool changes_later = false;

	rr_state_copy(&later, from);
	rr_state_pass_time(&later, ns, RR_DO_WAIT);
	later.common.blind++;
	return !is_quiet(&later, false, &changes_later) || changes_later != changes;
}

/* Nothing that is known ends by itself. What a timestamp in a value stands for may: the
 * time until then; RR_NEVER: it does not within a day. Each look at processes is a start of
 * one, so those who would still poll a day later are looked at no more, and the time is found
 * less exactly. */
static int64_t find_unknown_end(const struct rr_state *from, bool changes)
{
	const struct rr_product_config *config = &from->product->config;
	int64_t too_early_ns = 0, ns = config->lease_ns + RR_LAPSE_NS;
	bool may = config->absolute;

	/* Can what somebody waits for end by what a clock says? */
	for (size_t i = 0; i < from->product->n_clients; i++)
		may |= !rr_state_has_ended(from, i) && reads_clock(from, i);
	if (!(may && from->common.blind < BLIND_WAITS_MAX) ||
	    !is_other_after(from, DAY_NS, changes))
		return RR_NEVER;
	while (!is_other_after(from, ns, changes)) {
		if (ns == DAY_NS || rr_product_failed(from->product))
			return RR_NEVER;
		too_early_ns = ns;
		ns = rr_lesser_ns(2 * ns, DAY_NS);
	}
	while (too_early_ns > 0 && ns - too_early_ns > (ns / 8 > SECOND_NS ? ns / 8 : SECOND_NS)) {
		const int64_t middle_ns = too_early_ns + (ns - too_early_ns) / 2;

		if (is_other_after(from, middle_ns, changes))
			ns = middle_ns;
		else
			too_early_ns = middle_ns;
	}
	return ns;
}

/* Does the client go round in a loop, and wait in each round by a command with a time-out? */
static bool blocks_in_round(const struct rr_state *from, size_t client)
{
	struct rr_state at;

	if (!rr_state_is_in_round(from, client))
		return false;
	rr_state_copy(&at, from);
	for (int step = 0; step < ROUND_STEPS_MAX; step++) {
		if (!rr_state_is_in_round(&at, client))
			return false;
		if (is_timed_blocked(&at, client))
			return true;
		if (!rr_state_step_alone(&at, client, true) || rr_state_is_same(&at, from))
			return false;
	}
	return false;
}

enum phase {
	PHASE_ANY,     /* time passes to the next end */
	PHASE_BETWEEN, /* to shortly before it */
	PHASE_ON_WAY   /* not here */
};

/* A round that waits by a command with a time-out takes time while the command blocks; which part of
 * that is over is not known. So time passes for many rounds between two of them, to shortly before
 * the next end, and to the end when all such commands block. */
static enum phase phase_of(const struct rr_state *from)
{
	enum phase phase = PHASE_ANY;

	for (size_t i = 0; i < from->product->n_clients && phase != PHASE_ON_WAY; i++) {
		if (rr_state_has_ended(from, i) || is_timed_blocked(from, i) ||
		    !blocks_in_round(from, i))
			continue;
		phase = known_state(from, i)->is_loop_head ? PHASE_BETWEEN : PHASE_ON_WAY;
	}
	return phase;
}

/* Would the end come, although those who are refused go on asking? */
static bool is_certain_end(const struct rr_state *from, int64_t next_ns)
{
	struct rr_state near;
	bool changes = false;

	rr_state_copy(&near, from);
	if (next_ns > SHORTLY_NS)
		rr_state_pass_time(&near, next_ns - SHORTLY_NS, RR_DO_NEAR);
	return is_quiet(&near, true, &changes);
}

void rr_expand_ending(struct rr_expansion *it, const struct rr_state *from)
{
	struct rr_state next;
	int64_t ns;

	if (!it->product->config.sleeps)
		return;
	ns = rr_state_run_on_ns(from, RR_NO_WAITER);
	if (ns > MOMENT_NS || !rr_state_may_pass_slowly(from, ns, RR_NO_WAITER) ||
	    !rr_expansion_wants(it, RR_DO_WAIT, 0, 0))
		return;
	rr_state_copy(&next, from);
	rr_state_pass_slowly(&next, ns, RR_NO_WAITER);
	rr_expansion_add(it, RR_DO_WAIT, 0, 0, &next);
}

void rr_expand_quiet(struct rr_expansion *it, const struct rr_state *from)
{
	struct rr_product *product = it->product;
	struct rr_actions *log = product->log;
	const int64_t end_ns = rr_state_next_end_ns(from);
	const int64_t next_ns = rr_lesser_ns(it->next_ns, end_ns);
	int64_t unknown_ns = RR_NEVER;
	bool is_certain;
	enum phase phase;

	/* The phase of a round is free: its command times out first. */
	if (it->round_ns < next_ns ||
	    (it->wanted && it->wanted->kind != RR_DO_WAIT && it->wanted->kind != RR_DO_NEAR))
		return;
	product->log = NULL; /* of what is only tried */
	is_certain = next_ns != RR_NEVER && (next_ns < end_ns || is_certain_end(from, next_ns));
	if (next_ns == RR_NEVER)
		unknown_ns = find_unknown_end(from, it->changes);
	phase = phase_of(from);
	product->log = log;
	if (rr_product_failed(product))
		return;
	if (unknown_ns != RR_NEVER) {
		add_wait(it, from, RR_DO_WAIT, unknown_ns, true);
	} else if (next_ns == RR_NEVER) {
		bool have_begun = true;

		/* A client that has not begun may still end what the others wait for. */
		for (size_t i = 0; i < it->product->n_clients; i++)
			have_begun &= rr_state_has_begun(from, i) || rr_state_has_ended(from, i);
		if (it->product->config.bounded && it->n_clients == 0)
			it->flags |= it->changes ? RR_STATE_STARVED : RR_STATE_DEAD;
		if (it->is_endless && have_begun)
			it->flags |= RR_STATE_STARVED;
	} else if (phase == PHASE_BETWEEN && next_ns > SHORTLY_NS) {
		add_wait(it, from, RR_DO_NEAR, next_ns - SHORTLY_NS, false);
	} else if (phase != PHASE_ANY) {
		return;
	} else if (is_certain) {
		const bool is_tie = it->product->config.sleeps && next_ns < end_ns &&
				    end_ns - next_ns <= SHORTLY_NS;

		/* To the end of a sleep; if a key expires just then, also to that. */
		add_wait(it, from, is_tie ? RR_DO_NEAR : RR_DO_WAIT, next_ns, false);
		if (is_tie)
			add_wait(it, from, RR_DO_WAIT, end_ns, false);
	} else {
		/* Somebody who asks shortly before the end puts it off, or gets in. */
		if (it->product->config.bounded && it->n_clients == 0 && it->next_ns == RR_NEVER) {
			it->flags |= RR_STATE_STARVED;
			/* Once more, to show it. */
			if (from->common.waits > 0)
				return;
		}
		if (next_ns > SHORTLY_NS)
			add_wait(it, from, RR_DO_NEAR, next_ns - SHORTLY_NS, false);
	}
}

/* SPDX-License-Identifier: MIT */
#include "holders.h"

#include <string.h>

#include "effects.h"
#include "search_inside.h"

struct holder {
	bool trying;
	int64_t begun_ns; /* its attempt */
	bool inside;
	uint64_t taken;   /* locks that it wrote on its way in, as bits */
	uint64_t lost;    /* locks that have ended since the attempt began */
	uint64_t own;     /* locks that are its own */
};

struct watch {
	const struct rr_explore_config *config;
	const struct rr_search *search;
	uint64_t locks; /* all of them, as bits */
	int64_t lease_ns;
	struct holder holders[RR_GATE_CLIENTS];
	unsigned broken;
};

static bool is_over(const struct watch *watch, const struct holder *holder,
		    int64_t now_ns)
{
	return watch->config->strategy->has_lease &&
	       now_ns >= holder->begun_ns + watch->lease_ns;
}

/* ---- Entering and leaving ------------------------------------------------- */

static void enter(struct watch *watch, struct holder *holder, int64_t now_ns)
{
	const struct rr_strategy *strategy = watch->config->strategy;

	for (size_t i = 0; i < watch->config->n_clients; i++) {
		const struct holder *other = &watch->holders[i];

		if (other != holder && other->inside && strategy->has_lease &&
		    !strategy->shares_late && !is_over(watch, other, now_ns))
			watch->broken |= RR_BREAKS_LEASE;
	}
	holder->inside = true;
	holder->own = strategy->lock_servers ? holder->taken : watch->locks;
	holder->own &= ~holder->lost;
}

/* All that it has is gone: it has crashed, or it is through. */
static void end(struct holder *holder)
{
	*holder = (struct holder){ 0 };
}

static void crash(struct watch *watch, int actor)
{
	for (size_t i = 0; i < watch->config->n_clients; i++) {
		if (rr_search_same_process(watch->search, actor, (int)i))
			end(&watch->holders[i]);
	}
}

/* ---- Writing -------------------------------------------------------------- */

/* It was the value already: two timestamps of the same second. */
static bool is_as_before(const struct rr_gate_event *event)
{
	return rr_op_is(&event->op, "GETSET") && event->reply.text &&
	       strcmp(event->reply.text, event->op.words[2].text) == 0;
}

static bool changes_a_lock(const struct watch *watch,
			   const struct rr_gate_event *event)
{
	const struct rr_op *op = &event->op;

	if (is_as_before(event) || op->kind != RR_OP_SEND)
		return false;
	return !watch->config->strategy->lock_is_count ||
	       !rr_op_is(op, "INCR");
}

static void write_own(struct holder *holder, uint64_t written)
{
	if (holder->inside)
		return;
	holder->taken ^= written;
	holder->own &= ~written;
}

static void change(struct watch *watch, const struct holder *holder,
		   uint64_t changed, int64_t now_ns)
{
	for (size_t i = 0; i < watch->config->n_clients; i++) {
		struct holder *other = &watch->holders[i];

		if (other == holder || !(other->own & changed))
			continue;
		if (!is_over(watch, other, now_ns))
			watch->broken |= RR_BREAKS_OWNERSHIP;
		other->own &= ~changed;
	}
}

static void step(struct watch *watch, const struct rr_gate_event *event,
		 const struct rr_done *done)
{
	const size_t client =
		(size_t)rr_search_client(watch->search, event->actor);
	struct holder *holder = &watch->holders[client];
	const uint64_t written = done->footprint.writes & watch->locks;
	const uint64_t changed = done->footprint.changes & watch->locks;

	if (!holder->trying && !holder->inside) {
		holder->begun_ns = event->at_ns;
		holder->lost = 0;
	}
	holder->trying = event->op.kind != RR_OP_SLEEP || !event->op.yields;
	if (changed && changes_a_lock(watch, event))
		change(watch, holder, changed, event->at_ns);
	write_own(holder, written);
}

/* Time has passed, or a server has lost what it held. */
static void lose(struct watch *watch, const struct rr_done *done)
{
	for (size_t i = 0; i < watch->config->n_clients; i++) {
		struct holder *holder = &watch->holders[i];

		holder->own &= ~done->footprint.writes;
		holder->taken &= ~done->footprint.writes;
		holder->lost |= done->footprint.writes;
	}
}

/* ---- The whole ------------------------------------------------------------ */

static bool is_move(const struct rr_gate_event *event)
{
	switch (event->kind) {
	case RR_EVENT_STEP:
	case RR_EVENT_PASS:
	case RR_EVENT_CRASH:
	case RR_EVENT_RESTART:
	case RR_EVENT_RETURN:
	case RR_EVENT_JUMP:
		return true;
	default:
		return false;
	}
}

static void look_at(struct watch *watch, const struct rr_gate_event *event,
		    const struct rr_done *done)
{
	const int actor = event->actor;
	struct holder *holder =
		actor < 0 ? NULL :
			    &watch->holders[rr_search_client(watch->search,
							     actor)];

	switch (event->kind) {
	case RR_EVENT_STEP:
		step(watch, event, done);
		break;
	case RR_EVENT_ENTER:
		enter(watch, holder, event->at_ns);
		break;
	case RR_EVENT_LEAVE:
		holder->inside = holder->trying = false;
		break;
	case RR_EVENT_END:
		if (actor < (int)watch->config->n_clients)
			end(holder);
		break;
	case RR_EVENT_CRASH:
		crash(watch, actor);
		break;
	case RR_EVENT_PASS:
	case RR_EVENT_RESTART:
	case RR_EVENT_JUMP:
		lose(watch, done);
		break;
	default:
		break;
	}
}

static uint64_t locks_of(const struct rr_explore_config *config,
			 struct rr_access *access)
{
	const size_t n = rr_explore_servers(config);
	uint64_t bits = 0;

	for (size_t i = n > 1; i < n; i++)
		bits |= rr_access_bit(access, (int)i, "lock:0");
	return bits;
}

unsigned rr_holders_judge(const struct rr_explore_config *config,
			  struct rr_access *access,
			  const struct rr_search *search,
			  const struct rr_gate_trace *trace)
{
	struct watch watch = {
		.config = config,
		.search = search,
		.lease_ns = config->ttl_ms * INT64_C(1000000),
	};
	size_t move = 0;

	if (!config->strategy->acquire || config->strategy->uses_mutex)
		return 0;
	watch.locks = locks_of(config, access);
	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_gate_event *event = &trace->events[i];

		look_at(&watch, event, &search->done[move]);
		move += is_move(event);
	}
	return watch.broken;
}

/* SPDX-License-Identifier: MIT */
#include "rehearsal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { LEASE_MS = 10000 };

/* ---- Failing -------------------------------------------------------------------- */

static void note_failure(struct rr_rehearsal *rehearsal, enum rr_exit code,
			 const char *format, va_list arguments)
{
	if (rehearsal->code != RR_EXIT_OK)
		return;
	rehearsal->code = code;
	vsnprintf(rehearsal->error, sizeof(rehearsal->error), format,
		  arguments);
}

struct rr_move rr_rehearsal_fail(struct rr_rehearsal *rehearsal,
				 enum rr_exit code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	note_failure(rehearsal, code, format, arguments);
	va_end(arguments);
	return (struct rr_move){ .kind = RR_MOVE_STOP };
}

/* ---- Time ------------------------------------------------------------------------ */

/* The warm-up's time is nobody's. */
static void advance(void *context, int64_t duration_ns)
{
	struct rr_rehearsal *rehearsal = context;

	if (rehearsal->is_live &&
	    rr_cluster_tick(rehearsal->cluster, duration_ns) == RR_TICK_FAILED)
		rr_rehearsal_fail(rehearsal, RR_EXIT_REDIS,
				  "the clocks do not move");
}

static int64_t whole_us(int64_t ns)
{
	return (ns + 999) / 1000 * 1000;
}

int64_t rr_rehearsal_lease_ns(const struct rr_rehearsal *rehearsal)
{
	const struct rr_lock_state *lock = &rehearsal->observer.lock;
	const int64_t left_ns =
		lock->expires_ns - rr_cluster_now_ns(rehearsal->cluster);

	if (strcmp(lock->value, "(nil)") == 0 || lock->expires_ns < 0)
		return 0;
	return left_ns > 0 ? left_ns + RR_CLUSTER_LAPSE_NS :
			     RR_CLUSTER_LAPSE_NS;
}

/* ---- Moves ------------------------------------------------------------------------ */

static void catch_up(struct rr_rehearsal *rehearsal,
		     const struct rr_gate_trace *trace)
{
	while (rehearsal->n_seen < trace->n_events && !rehearsal->is_full) {
		const struct rr_gate_event *event =
			&trace->events[rehearsal->n_seen++];

		rr_record_event(rehearsal, event);
		if (event->kind == RR_EVENT_STEP)
			rr_record_counts(rehearsal);
	}
}

/* A step; its reply gets lost if that was asked for. */
static struct rr_choice step(struct rr_rehearsal *rehearsal,
			     const struct rr_view *view, int actor)
{
	struct rr_choice choice = { .kind = RR_CHOOSE_STEP, .actor = actor };
	bool *losing;

	if (actor < 0 || (size_t)actor >= view->n_actors)
		return choice; /* the gate refuses it */
	losing = &rehearsal->losing[view->actors[actor].client];
	if (*losing && view->actors[actor].op &&
	    view->actors[actor].op->kind == RR_OP_SEND) {
		choice.kind = RR_CHOOSE_LOSE;
		*losing = false;
	}
	return choice;
}

/* Those moves that the gate has no part in: true. */
static bool do_aside(struct rr_rehearsal *rehearsal, const struct rr_move *move)
{
	if (move->kind == RR_MOVE_LOSE)
		rehearsal->losing[move->actor] = true;
	else if (move->kind == RR_MOVE_RESTART)
		rr_record_restart(rehearsal, move->server);
	else if (move->kind == RR_MOVE_NOTE)
		rr_record_note(rehearsal, move->note);
	else
		return false;
	return true;
}

static struct rr_choice choice_of(struct rr_rehearsal *rehearsal,
				  const struct rr_view *view,
				  const struct rr_move *move)
{
	struct rr_choice choice = { .actor = move->actor,
				    .until_ns = view->now_ns +
						whole_us(move->ns) };

	switch (move->kind) {
	case RR_MOVE_STEP:
		return step(rehearsal, view, move->actor);
	case RR_MOVE_PASS:
		choice.kind = RR_CHOOSE_PASS;
		break;
	case RR_MOVE_CRASH:
		choice.kind = RR_CHOOSE_CRASH;
		break;
	case RR_MOVE_PAUSE:
		choice.kind = RR_CHOOSE_PAUSE;
		break;
	default:
		choice.kind = RR_CHOOSE_STOP;
		break;
	}
	return choice;
}

static struct rr_choice choose(void *context, const struct rr_view *view)
{
	struct rr_rehearsal *rehearsal = context;
	struct rr_move move = { .kind = RR_MOVE_STOP };

	rehearsal->is_live = true;
	catch_up(rehearsal, view->trace);
	do {
		if (rehearsal->is_full)
			rr_rehearsal_fail(rehearsal, RR_EXIT_USAGE,
					  "more than %d steps", RR_STEPS_MAX);
		if (rehearsal->code == RR_EXIT_OK)
			move = rehearsal->ask(rehearsal->context, rehearsal,
					      view);
		else
			move.kind = RR_MOVE_STOP;
	} while (do_aside(rehearsal, &move));
	return choice_of(rehearsal, view, &move);
}

/* ---- Beginning and end --------------------------------------------------------------- */

static void finish(void *context)
{
	struct rr_rehearsal *rehearsal = context;

	catch_up(rehearsal, rr_gate_last_trace(
				    rr_subject_gate(rehearsal->subject)));
	rr_rehearsal_judge(rehearsal);
	rehearsal->is_over = true;
}

static bool set_stage(struct rr_rehearsal *rehearsal)
{
	struct rr_race *race = rr_record_race(&rehearsal->setup);
	struct rr_error error = { 0 };

	rehearsal->race = race;
	rehearsal->trace = (struct rr_trace){ .race = race, .time = "virtual" };
	rehearsal->trace.events =
		calloc(RR_STEPS_MAX, sizeof(*rehearsal->trace.events));
	if (!race || !rehearsal->trace.events) {
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
		return false;
	}
	if (!rr_cluster_has_time(rehearsal->cluster))
		rehearsal->trace.time = "real";
	rr_observer_begin(&rehearsal->observer, race);
	if (rr_scenery_begin(&rehearsal->scenery, race, rehearsal->cluster,
			     &rehearsal->observer, &error))
		return true;
	rr_rehearsal_fail(rehearsal, rr_exit_of(error.kind), "%s", error.text);
	return false;
}

static bool make_subject(struct rr_rehearsal *rehearsal)
{
	const struct rr_rehearsal_setup *setup = &rehearsal->setup;
	struct rl_address addresses[RR_RACE_SERVERS_MAX];
	const struct rr_subject_config config = {
		.strategy = setup->strategy,
		.addresses = addresses,
		.prefix = "",
		.n_clients = setup->n_clients,
		.separate = !setup->one_process,
		.increments = setup->increments,
		.ttl_ms = LEASE_MS,
		.day_ns = rr_cluster_now_ns(rehearsal->cluster),
		.advance = advance,
		.over = finish,
		.context = rehearsal,
	};

	for (size_t i = 0; i < rehearsal->race->n_servers; i++)
		addresses[i] = *rr_cluster_address(rehearsal->cluster, (int)i);
	rehearsal->subject = rr_subject_new(&config, rehearsal->error,
					    sizeof(rehearsal->error));
	if (!rehearsal->subject)
		rehearsal->code = RR_EXIT_REDIS;
	return rehearsal->subject != NULL;
}

static void act(struct rr_rehearsal *rehearsal)
{
	const bool done = rr_subject_run(rehearsal->subject, choose, rehearsal,
					 &rehearsal->result);

	/* A server that has been restarted ends what comes after the run. */
	if (!done && !rehearsal->is_over)
		rr_rehearsal_fail(rehearsal, RR_EXIT_REDIS, "%s",
				  rr_subject_error(rehearsal->subject));
	if (rehearsal->result.end == RR_GATE_DEADLOCK)
		rr_record_note(rehearsal, "nobody can go on, now or ever");
	if (rehearsal->result.end == RR_GATE_BAD_CHOICE)
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL,
				  "the clients did not do the same again");
	else if (rr_gate_failure(rehearsal->result.end))
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "%s",
				  rr_gate_failure(rehearsal->result.end));
}

/* What the strategy would need, if this server has less. */
static bool has_all(struct rr_rehearsal *rehearsal)
{
	const struct rr_strategy *strategy = rehearsal->setup.strategy;
	struct rl_link *link;
	const char *lacks;

	if (!strategy->lacks)
		return true;
	link = rl_link_new(rr_cluster_address(rehearsal->cluster, 0), 2000);
	if (!link) {
		rr_rehearsal_fail(rehearsal, RR_EXIT_INTERNAL, "out of memory");
		return false;
	}
	lacks = strategy->lacks(link, "spare");
	rl_link_free(link);
	if (lacks)
		rr_rehearsal_fail(rehearsal, RR_EXIT_SKIPPED, "%s: this server has %s",
				  strategy->name, lacks);
	return !lacks;
}

enum rr_exit rr_rehearsal_run(struct rr_rehearsal *rehearsal,
			      const struct rr_rehearsal_setup *setup,
			      struct rr_cluster *cluster, rr_ask ask,
			      void *context)
{
	*rehearsal = (struct rr_rehearsal){ .setup = *setup,
					    .cluster = cluster,
					    .ask = ask,
					    .context = context };
	if (set_stage(rehearsal) && has_all(rehearsal) &&
	    make_subject(rehearsal))
		act(rehearsal);
	rr_scenery_close(&rehearsal->scenery);
	return rehearsal->code;
}

void rr_rehearsal_close(struct rr_rehearsal *rehearsal)
{
	rr_subject_free(rehearsal->subject);
	rr_trace_free(&rehearsal->trace);
	rr_race_free(rehearsal->race);
	*rehearsal = (struct rr_rehearsal){ 0 };
}

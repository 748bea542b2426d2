/* SPDX-License-Identifier: MIT */
/* Plays a race: what each kind of step does, and what comes of them all. */
#include "player.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

bool player_fail(struct player *player, enum rr_error_kind kind, const struct rr_step *step,
		 const char *format, ...)
{
	char what[RR_ERROR_SIZE - 300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	/* What cannot be done the file asks for, not the command line. */
	if (kind == RR_ERROR_USAGE)
		kind = RR_ERROR_DATA;
	return rr_error_set(player->error, kind, "%.200s:%d: %s", player->race->path,
			    step ? step->line : 1, what);
}

/* ---- Steps -------------------------------------------------------------- */

/* False: the race cannot go on. */
static bool do_step(struct player *player, const struct rr_step *step, struct rr_event *event)
{
	if (step->client >= 0 && player->crashed[step->client] && step->kind != RR_STEP_CONNECT)
		return player_fail(player, RR_ERROR_USAGE, step,
				   "%s has crashed; '%s connects' first",
				   player->race->clients[step->client].name,
				   player->race->clients[step->client].name);
	switch (step->kind) {
	case RR_STEP_RUN:
		return player_run(player, step, event);
	case RR_STEP_WRITE:
		return player_send(player, step, event);
	case RR_STEP_BYTES:
		return player_write_bytes(player, step);
	case RR_STEP_READ:
		return player_read(player, step, event);
	case RR_STEP_LOCK:
	case RR_STEP_UNLOCK:
		return player_use_mutex(player, step);
	case RR_STEP_COMPUTE: {
		const int64_t now_ns = rr_cluster_now_ns(player->cluster) +
				       player->skew_ns[step->client];
		char value[32];

		snprintf(value, sizeof(value), "%lld",
			 (long long)(now_ns / 1000000000 + step->amount));
		event->reply = rr_strdup(value);
		return rr_variable_set(&player->variables, step->text, strlen(step->text), value,
				       strlen(value)) ||
		       player_fail(player, RR_ERROR_USAGE, step, "too many variables");
	}
	case RR_STEP_TICK:
		return rr_cluster_tick(player->cluster, step->amount) != RR_TICK_FAILED ||
		       player_fail(player, RR_ERROR_REDIS, step, "the clocks do not move");
	case RR_STEP_CLOCK: {
		struct rr_error error = { 0 };

		if (step->peer >= 0) {
			player->skew_ns[step->peer] = step->amount;
			return true;
		}
		return rr_cluster_skew(player->cluster, step->server, step->amount, &error) ||
		       player_fail(player, error.kind, step, "%s", error.text);
	}
	case RR_STEP_FAULT: {
		struct rr_error error = { 0 };

		return environment_fault(&player->environment, step, player->remark, &error) ||
		       player_fail(player, error.kind, step, "%s", error.text);
	}
	case RR_STEP_NOTE:
		return true;
	default: {
		if (step->kind == RR_STEP_CRASH)
			player_disconnect(player, step->client);
		player->crashed[step->client] = step->kind == RR_STEP_CRASH;
		rr_observer_mark(&player->observer, step, player->remark);
		return true;
	}
	}
}

/* False: the race ends here. */
static bool play_step(struct player *player, const struct rr_step *step,
		      const struct rr_listener *listener)
{
	struct rr_trace *trace = player->trace;
	struct rr_event *event = &trace->events[trace->n_events];

	if (listener && listener->before && !listener->before(listener->context, trace, step))
		return false;
	*event = (struct rr_event){ .step = step };
	player->remark[0] = '\0';
	trace->n_events++;
	if (!do_step(player, step, event))
		return false;
	if (step->kind != RR_STEP_NOTE) {
		environment_look(&player->environment, step->client, player->remark, event);
		event->at_ns = rr_cluster_now_ns(player->cluster) - RR_CLUSTER_START_NS;
	}
	trace->findings = player->observer.findings;
	if (listener && listener->after)
		listener->after(listener->context, trace, event);
	if (event->differs && step->skips)
		return player_fail(player, RR_ERROR_SKIPPED, step, "this server answers %.200s",
				   event->reply);
	return !event->differs;
}

/* ---- The whole ---------------------------------------------------------- */

/* Is the set of findings the one that was written down? */
static bool is_verdict_right(const struct rr_race *race, rr_findings findings)
{
	rr_findings wanted = 0;
	bool known;

	for (size_t i = 0; i < race->n_verdicts; i++) {
		for (int f = 0; f < RR_FINDINGS; f++) {
			if (strcmp(race->verdicts[i], rr_finding_name((enum rr_finding)f)) == 0)
				wanted |= 1U << f;
		}
	}
	if (race->n_verdicts == 1 && !wanted)
		return rr_finding_holds(race->verdicts[0], findings, &known) && known;
	return wanted == findings;
}

static void judge_race(struct player *player)
{
	struct rr_trace *trace = player->trace;
	const bool complete = trace->n_events == player->race->n_steps &&
			      !trace->events[trace->n_events - 1].differs;
	struct rr_observer end = player->observer;
	const struct rr_observer *seen = complete ? &end : &player->observer;

	environment_end(&player->environment, &end);
	trace->broken_off = end.findings;
	trace->findings = seen->findings;
	memcpy(trace->conclusion, seen->conclusion, sizeof(trace->conclusion));
	trace->as_written = complete && is_verdict_right(player->race, trace->findings);
}

/* A server's connections close a little before it counts as ended: has the race ended
 * because one was closed that was not to be? */
static bool is_whole(struct player *player, struct rr_error *error)
{
	const struct rr_trace *trace = player->trace;
	const struct rr_event *last = trace->n_events ? &trace->events[trace->n_events - 1] : NULL;
	const bool is_cut_off = last && last->differs && last->reply &&
				strcmp(last->reply, "(closed)") == 0;
	const struct timespec pause = { .tv_nsec = 10000000 };
	int left = is_cut_off ? 30 : 0;

	while (rr_cluster_is_whole(player->cluster, error)) {
		if (left-- == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* What a race shows without one of its servers is nothing. */
static void blame_servers(struct player *player)
{
	struct rr_error error = { 0 };

	if (player->trace->as_written || player->error->kind == RR_ERROR_INTERRUPTED ||
	    is_whole(player, &error))
		return;
	*player->error = (struct rr_error){ 0 };
	player_fail(player, error.kind, NULL, "%s", error.text);
}

static void play_all(struct player *player, const struct rr_listener *listener)
{
	const struct rr_race *race = player->race;
	struct rr_error error = { 0 };
	size_t i = 0;

	rr_observer_begin(&player->observer, race);
	if (environment_open(&player->environment, race, player->cluster, &player->observer,
			     &error)) {
		for (i = 0; i < race->n_keys; i++)
			player->trace->beginning[i] = rr_strdup(player->environment.keys[i]);
		i = 0;
		while (i < race->n_steps && play_step(player, &race->steps[i], listener))
			i++;
	} else {
		player_fail(player, error.kind, NULL, "%s", error.text);
	}
	if (!player->error->kind)
		judge_race(player);
	blame_servers(player);
	for (i = 0; i < race->n_clients; i++)
		player_disconnect(player, (int)i);
	environment_close(&player->environment);
}

bool rr_player_play(const struct rr_race *race, struct rr_cluster *cluster,
		    const struct rr_listener *listener, struct rr_trace *trace,
		    struct rr_error *error)
{
	struct player *player = rr_calloc(1, sizeof(*player));

	*trace = (struct rr_trace){ .race = race };
	trace->events = rr_calloc(race->n_steps, sizeof(*trace->events));
	player->race = race;
	player->cluster = cluster;
	player->trace = trace;
	player->error = error;
	play_all(player, listener);
	free(player);
	return !error->kind;
}

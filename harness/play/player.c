/* SPDX-License-Identifier: MIT */
#include "player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

/* Looks at the keys, and at the lock, after a step. */
static void look_around(struct rr_player *player, const struct rr_step *step,
			struct rr_event *event)
{
	if (step->kind == RR_STEP_NOTE)
		return;
	rr_scenery_look(&player->scenery, event->keys);
	rr_scenery_look_at_lock(&player->scenery, step->actor,
				&player->observer, player->remark);
	event->at_ns = rr_cluster_now_ns(player->cluster) - RR_CLUSTER_START_NS;
	if (player->remark[0])
		event->remark = strdup(player->remark);
}

/* False: the race ends here. */
static bool play_step(struct rr_player *player, const struct rr_step *step,
		      const struct rr_audience *audience)
{
	struct rr_trace *trace = player->trace;
	struct rr_event *event = &trace->events[trace->n_events];

	if (audience && audience->before &&
	    !audience->before(audience->context, trace, step))
		return false;
	*event = (struct rr_event){ .step = step };
	player->remark[0] = '\0';
	trace->n_events++;
	if (!rr_step_do(player, step, event))
		return false;
	look_around(player, step, event);
	trace->findings = player->observer.findings;
	if (audience && audience->after)
		audience->after(audience->context, trace, event);
	return !event->differs;
}

/* Is the set of findings the one that was written down? */
static bool is_verdict_right(const struct rr_race *race, rr_findings findings)
{
	rr_findings wanted = 0;
	bool known;

	for (size_t i = 0; i < race->n_verdicts; i++) {
		for (int f = 0; f < RR_FINDINGS; f++) {
			if (strcmp(race->verdicts[i],
				   rr_finding_name((enum rr_finding)f)) == 0)
				wanted |= 1U << f;
		}
	}
	if (race->n_verdicts == 1 && !wanted)
		return rr_finding_holds(race->verdicts[0], findings, &known) &&
		       known;
	return wanted == findings;
}

static void conclude(struct rr_player *player)
{
	struct rr_trace *trace = player->trace;
	const bool complete = trace->n_events == player->race->n_steps &&
			      !trace->events[trace->n_events - 1].differs;

	if (complete)
		rr_scenery_end(&player->scenery, &player->observer);
	trace->findings = player->observer.findings;
	memcpy(trace->conclusion, player->observer.conclusion,
	       sizeof(trace->conclusion));
	trace->as_written = complete &&
			    is_verdict_right(player->race, trace->findings);
}

static bool open_stage(struct rr_player *player)
{
	struct rr_error error = { 0 };

	return rr_scenery_begin(&player->scenery, player->race, player->cluster,
				&player->observer, &error) ||
	       rr_player_fail(player, rr_exit_of(error.kind), NULL, "%s",
			      error.text);
}

enum rr_exit rr_player_play(const struct rr_race *race,
			    struct rr_cluster *cluster,
			    const struct rr_audience *audience,
			    struct rr_trace *trace)
{
	struct rr_player *player = calloc(1, sizeof(*player));

	*trace = (struct rr_trace){ .race = race };
	trace->events = calloc(race->n_steps, sizeof(*trace->events));
	if (!player || !trace->events) {
		snprintf(trace->error, sizeof(trace->error), "out of memory");
		free(player);
		return RR_EXIT_INTERNAL;
	}
	player->race = race;
	player->cluster = cluster;
	player->trace = trace;
	rr_cast_begin(&player->cast, race);
	rr_observer_begin(&player->observer, race);
	if (open_stage(player)) {
		for (size_t i = 0; i < race->n_steps; i++) {
			if (!play_step(player, &race->steps[i], audience))
				break;
		}
	}
	if (player->code == RR_EXIT_OK)
		conclude(player);
	rr_cast_end(&player->cast);
	rr_scenery_close(&player->scenery);
	const enum rr_exit code = player->code;
	free(player);
	return code;
}

/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "wording_ops.h"

static bool is_script(const char *command)
{
	return strcasecmp(command, "EVAL") == 0 ||
	       strcasecmp(command, "EVALSHA") == 0;
}

static bool is_meant(const struct rr_cue *cue, const struct rr_op *op)
{
	const char *name = rr_op_name(op);

	return !cue->command[0] || strcasecmp(cue->command, name) == 0 ||
	       (is_script(cue->command) && is_script(name));
}

static struct rr_move refuse(const struct rr_schedule *schedule,
			     struct rr_rehearsal *rehearsal, const char *why)
{
	const struct rr_cue *cue = &schedule->cues[schedule->next];
	char name[RR_CUE_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(cue->word, ":"),
		 cue->word);
	return rr_rehearsal_fail(rehearsal, RR_EXIT_USAGE,
				 "schedule, word %zu, '%s': %s %s",
				 schedule->next + 1, cue->word, name, why);
}

/* It waits for somebody else, and not for a time. */
static struct rr_move refuse_waiting(const struct rr_schedule *schedule,
				     struct rr_rehearsal *rehearsal,
				     const struct rr_view *view,
				     const struct rr_op *op)
{
	const char *of = op->whom >= 0 ? view->actors[op->whom].name : "nobody";
	char why[80] = "waits for a message that has not come";

	if (op->kind == RR_OP_LOCK)
		snprintf(why, sizeof(why), "waits for the mutex, which %s holds",
			 of);
	else if (op->kind == RR_OP_JOIN)
		snprintf(why, sizeof(why), "waits for the end of %s", of);
	return refuse(schedule, rehearsal, why);
}

/* A step: when the actor is there, and it is the step it is about to make. */
static struct rr_move step(struct rr_schedule *schedule,
			   struct rr_rehearsal *rehearsal,
			   const struct rr_view *view)
{
	const struct rr_cue *cue = &schedule->cues[schedule->next];
	const struct rr_actor_view *actor = &view->actors[cue->actor];
	char about[RR_OP_TEXT_SIZE], why[RR_OP_TEXT_SIZE + 40];

	if ((size_t)cue->actor >= view->n_actors || actor->state == RR_ABSENT)
		return refuse(schedule, rehearsal, "is not there");
	if (!actor->op)
		return refuse(schedule, rehearsal,
			      actor->state == RR_CRASHED ? "has crashed" :
							   "has ended");
	rr_op_text(actor->op, view->now_ns, about);
	snprintf(why, sizeof(why), "is about to %s", about);
	if (!is_meant(cue, actor->op))
		return refuse(schedule, rehearsal, why);
	if (actor->ready_ns == RR_NEVER)
		return refuse_waiting(schedule, rehearsal, view, actor->op);
	if (actor->state != RR_READY)
		return (struct rr_move){ .kind = RR_MOVE_PASS,
					 .ns = actor->ready_ns - view->now_ns };
	schedule->next++;
	return (struct rr_move){ .kind = RR_MOVE_STEP, .actor = cue->actor };
}

struct rr_move rr_schedule_ask(void *context, struct rr_rehearsal *rehearsal,
			       const struct rr_view *view)
{
	struct rr_schedule *schedule = context;
	const struct rr_cue *cue = &schedule->cues[schedule->next];

	if (schedule->next == schedule->n_cues && schedule->stops)
		return (struct rr_move){ .kind = RR_MOVE_STOP };
	if (schedule->next == schedule->n_cues)
		return rr_rest_move(&schedule->rest, rehearsal, view);
	if (cue->kind == RR_MOVE_STEP)
		return step(schedule, rehearsal, view);
	if ((cue->kind == RR_MOVE_CRASH || cue->kind == RR_MOVE_PAUSE) &&
	    !view->actors[cue->actor].op)
		return rr_rehearsal_fail(rehearsal, RR_EXIT_USAGE,
					 "schedule, word %zu, '%s': %s is not there any more",
					 schedule->next + 1, cue->word,
					 view->actors[cue->actor].name);
	schedule->next++;
	return (struct rr_move){ .kind = cue->kind,
				 .actor = cue->actor,
				 .server = cue->server,
				 .ns = cue->ns };
}

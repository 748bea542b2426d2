/* SPDX-License-Identifier: MIT */
/* What each kind of step does. */
#include "steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool rr_player_fail(struct rr_player *player, enum rr_exit code,
		    const struct rr_step *step, const char *format, ...)
{
	char *error = player->trace->error;
	const size_t size = sizeof(player->trace->error);
	va_list arguments;
	int used;

	used = snprintf(error, size, "%.200s:%d: ", player->race->path,
			step ? step->line : 1);
	va_start(arguments, format);
	if (used >= 0 && (size_t)used < size)
		vsnprintf(error + used, size - (size_t)used, format, arguments);
	va_end(arguments);
	player->code = code;
	return false;
}

static bool compute(struct rr_player *player, const struct rr_step *step,
		    struct rr_event *event)
{
	const int64_t now_ns = rr_cluster_now_ns(player->cluster) +
			       player->cast.skew_ns[step->actor];
	char value[32];

	snprintf(value, sizeof(value), "%lld",
		 (long long)(now_ns / 1000000000 + step->amount));
	event->reply = strdup(value);
	return rr_cast_set(&player->cast, step->text, strlen(step->text), value,
			   strlen(value)) ||
	       rr_player_fail(player, RR_EXIT_USAGE, step,
			      "too many variables");
}

/* Bytes that begin a command are owed a reply; those that go on with one, or
 * are cut into somebody else's, are not. */
static bool write_bytes(struct rr_player *player, const struct rr_step *step)
{
	const bool begins = step->length > 0 && step->text[0] == '*';

	if (!rr_exchange_connect(player, step))
		return false;
	/* A closed connection shows at the next reply. */
	rr_wire_send_bytes(rr_exchange_line(player, step)->wire, step->text,
			   step->length);
	return !begins || rr_exchange_owe(player, step);
}

static bool use_mutex(struct rr_player *player, const struct rr_step *step)
{
	char error[200];
	const bool done =
		step->kind == RR_STEP_LOCK ?
			rr_cast_lock(&player->cast, step->text, step->actor,
				     error, sizeof(error)) :
			rr_cast_unlock(&player->cast, step->text, step->actor,
				       error, sizeof(error));

	return done || rr_player_fail(player, RR_EXIT_USAGE, step, "%s", error);
}

static bool set_clock(struct rr_player *player, const struct rr_step *step)
{
	struct rr_error error = { 0 };

	if (step->peer >= 0) {
		player->cast.skew_ns[step->peer] = step->amount;
		return true;
	}
	return rr_cluster_skew(player->cluster, step->server, step->amount,
			       &error) ||
	       rr_player_fail(player, rr_exit_of(error.kind), step, "%s",
			      error.text);
}

static bool mark(struct rr_player *player, const struct rr_step *step)
{
	if (step->kind == RR_STEP_CRASH)
		rr_cast_disconnect(&player->cast, step->actor);
	player->cast.crashed[step->actor] = step->kind == RR_STEP_CRASH;
	rr_observer_mark(&player->observer, step, player->remark);
	return true;
}

static bool fault(struct rr_player *player, const struct rr_step *step)
{
	struct rr_error error = { 0 };

	return rr_scenery_fault(&player->scenery, step, &player->observer,
				player->remark, &error) ||
	       rr_player_fail(player, rr_exit_of(error.kind), step, "%s",
			      error.text);
}

static bool tick(struct rr_player *player, const struct rr_step *step)
{
	return rr_cluster_tick(player->cluster, step->amount) !=
		       RR_TICK_FAILED ||
	       rr_player_fail(player, RR_EXIT_REDIS, step,
			      "the clocks do not move");
}

bool rr_step_do(struct rr_player *player, const struct rr_step *step,
		struct rr_event *event)
{
	if (step->actor >= 0 && player->cast.crashed[step->actor] &&
	    step->kind != RR_STEP_CONNECT)
		return rr_player_fail(player, RR_EXIT_USAGE, step,
				      "%s has crashed; '%s connects' first",
				      player->race->actors[step->actor].name,
				      player->race->actors[step->actor].name);
	switch (step->kind) {
	case RR_STEP_RUN:
		return rr_exchange_run(player, step, event);
	case RR_STEP_WRITE:
		return rr_exchange_send(player, step, event);
	case RR_STEP_BYTES:
		return write_bytes(player, step);
	case RR_STEP_READ:
		return rr_exchange_read(player, step, event);
	case RR_STEP_LOCK:
	case RR_STEP_UNLOCK:
		return use_mutex(player, step);
	case RR_STEP_COMPUTE:
		return compute(player, step, event);
	case RR_STEP_TICK:
		return tick(player, step);
	case RR_STEP_CLOCK:
		return set_clock(player, step);
	case RR_STEP_FAULT:
		return fault(player, step);
	case RR_STEP_NOTE:
		return true;
	default:
		return mark(player, step);
	}
}

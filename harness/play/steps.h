/* SPDX-License-Identifier: MIT */
/* A race while it is played: the player's inside, shared by its files. */
#ifndef RR_STEPS_H
#define RR_STEPS_H

#include "cast.h"
#include "base/error.h"
#include "race/race.h"
#include "scenery.h"

struct rr_player {
	const struct rr_race *race;
	struct rr_cluster *cluster;
	struct rr_trace *trace;
	struct rr_cast cast;
	struct rr_scenery scenery;
	struct rr_observer observer;
	char remark[RR_REMARK_SIZE]; /* of the step on its way */
	enum rr_exit code;
};

/* PATH:LINE and the message as the trace's error, `code` as the player's; false.
 * `step` NULL: of the race as a whole. */
bool rr_player_fail(struct rr_player *player, enum rr_exit code,
		    const struct rr_step *step, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Does a step of any kind (steps.c). False: the race cannot go on. */
bool rr_step_do(struct rr_player *player, const struct rr_step *step,
		struct rr_event *event);

/* ---- What clients say and hear (exchange.c) ------------------------------- */

/* The connection that the step's client uses. */
struct rr_line_to *rr_exchange_line(struct rr_player *player,
				    const struct rr_step *step);

/* Opens it if it is not open. */
bool rr_exchange_connect(struct rr_player *player, const struct rr_step *step);

/* One more reply will come over it. */
bool rr_exchange_owe(struct rr_player *player, const struct rr_step *step);

/* Sends the command, reads the next reply, or both, unless nobody listens. */
bool rr_exchange_send(struct rr_player *player, const struct rr_step *step,
		      struct rr_event *event);
bool rr_exchange_read(struct rr_player *player, const struct rr_step *step,
		      struct rr_event *event);
bool rr_exchange_run(struct rr_player *player, const struct rr_step *step,
		     struct rr_event *event);

#endif

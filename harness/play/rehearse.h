/* SPDX-License-Identifier: MIT */
/* `redrace play STRATEGY`: its clients under a schedule or under somebody's
 * fingers. */
#ifndef RR_REHEARSE_H
#define RR_REHEARSE_H

#include "schedule.h"

struct rr_rehearse_options {
	struct rr_guided_setup setup; /* strategy NULL = it is a race */
	const char *schedule; /* NULL = none was given */
	const char *save;     /* NULL = nowhere */
	bool stops;           /* at the schedule's end */
	bool interactive;
};

/* Shows an execution; what the program exits with. */
typedef enum rr_exit (*rr_show)(void *context, const struct rr_trace *trace);

/* What was asked for; what the program exits with, unless there is an error. */
enum rr_exit rr_rehearse(const struct rr_rehearse_options *options,
			 struct rr_cluster *cluster, rr_show show,
			 void *context, struct rr_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/* Commands that the user gives: those that are done first, and what the final data are
 * asked. They have the grammar of races. */
#ifndef RR_GIVEN_H
#define RR_GIVEN_H

#include "check.h"
#include "race/race.h"

struct rr_given {
	struct rr_race *init, *finals; /* their words; NULL = none */
	size_t n_commands;
	struct rl_command *commands; /* of --init, and what --setup leaves */
	struct rl_command questions[RR_CHECK_FINALS_MAX];
	struct rr_expected expected[RR_CHECK_FINALS_MAX]; /* of --final */
};

/* Those of --init and --final. False: the error. Release it in any case. */
bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error);
void rr_given_release(struct rr_given *given);

/* In the place of what is done first: lines of a race, "given SET x 1". `whose`: in errors. */
bool rr_given_take(struct rr_given *given, const char *lines, const char *whose,
		   struct rr_error *error);

#endif

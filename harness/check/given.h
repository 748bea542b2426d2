/* SPDX-License-Identifier: MIT */
/* Commands that the user gives: those that are done first, and what the final data are asked. */
#ifndef RR_GIVEN_H
#define RR_GIVEN_H

#include "check.h"

struct rr_given {
	struct rr_command_list init;      /* of --init, and what --setup leaves */
	struct rr_command_list questions; /* of --final */
	struct rr_expected expected[RR_CHECK_FINALS_MAX];
};

/* Those of --init and --final. False: the error. Release it in any case. */
bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error);
void rr_given_release(struct rr_given *given);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Private to claims/: what is left to chance, or a matter of speed, counted and
 * timed in short runs at full speed. Such a figure proves nothing when it is
 * not the expected one: then the measurement is open. Only what holds in every
 * order of events can be broken.
 */
#ifndef RR_MEASURE_H
#define RR_MEASURE_H

#include "claims.h"

/* Starts a server, measures, ends it. Fills the result. */
void rr_measure_take(enum rr_measure measure, struct rr_session *session, const char *program,
		     struct rr_job_result *result);

#endif

/* SPDX-License-Identifier: MIT */
/* What a step, a finding, a document's line is in words. */
#ifndef RR_WORDING_H
#define RR_WORDING_H

#include "race/trace.h"

/* All are malloc'd, printable UTF-8; NULL = out of memory. */

/* "GET x", "enters", "11 s pass, t = 11 s", "n1 is killed (kill -9)". */
char *rr_wording_step(const struct rr_trace *trace,
		      const struct rr_event *event);

/* A reply without "(integer) ". */
char *rr_wording_reply(const char *reply);

/* A key's value, quotes left out where nothing depends on them. */
char *rr_wording_value(const char *value);

/* TX-5 says of step 7 that the reply is OK. It does not hold: QUEUED came. */
char *rr_wording_saying(const struct rr_trace *trace,
			const struct rr_saying *saying);

/* "enters", "tick", "power-cut": the step's kind in one word. */
const char *rr_wording_kind(const struct rr_step *step);

#endif

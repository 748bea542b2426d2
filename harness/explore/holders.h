/* SPDX-License-Identifier: MIT */
/*
 * Whose lock it is, in a run that is over: did anybody enter while another one
 * was inside whose lease ran still, and did anybody remove or change a lock that
 * was another's?
 *
 * A client has the lock from its entering to its own first write to it after it
 * has left, unless it crashes or the lease ends before. Its lease begins with the
 * attempt that was granted. Setting a lease anew changes nothing in a lock, nor
 * does counting in one that everybody who asks adds to.
 */
#ifndef RR_HOLDERS_H
#define RR_HOLDERS_H

#include "explore.h"

/* A set of RR_BREAKS_LEASE and RR_BREAKS_OWNERSHIP. */
unsigned rr_holders_judge(const struct rr_explore_config *config,
			  struct rr_access *access,
			  const struct rr_search *search,
			  const struct rr_gate_trace *trace);

#endif

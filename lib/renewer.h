/* SPDX-License-Identifier: MIT */
/* How a lock, whatever kind it is, comes into a shared renewer's list. */
#ifndef RDL_RENEWER_H
#define RDL_RENEWER_H

#include "renewal.h"

/* rdl_renewer_add() for any lock. */
enum rdl_outcome rdl_renewer_enter(struct rdl_renewer *renewer,
				   const struct rdl_renewable *renewable, long hold_max_ms);

/* The renewer's own links to the servers of a quorum, which are the same for all its quorum
 * locks. NULL, and an error on the first of `nodes`: they are not, or there is no memory. */
struct rdl_link **rdl_renewer_nodes(struct rdl_renewer *renewer, struct rdl_link *const *nodes,
				    size_t n_nodes);

#endif

/* SPDX-License-Identifier: MIT */
/* What the user of somebody's own server may not do: found out before anything is
 * measured. */
#ifndef RR_BENCH_PERMISSIONS_H
#define RR_BENCH_PERMISSIONS_H

#include "cluster/cluster.h"
#include "strategy.h"

enum { RR_LACKS_SIZE = 400 };

/* What a strategy, NULL = every run, needs and is refused by the server that is
 * asked, in the words of ACL SETUSER: "user 'alice' lacks +set ~redrace:*". It is
 * tried: one increment on keys below `prefix`, which are deleted again. False: it
 * lacks nothing that a server has told. */
bool rr_lacks_permission(const struct rr_strategy *strategy, const struct rr_cluster *cluster,
			 const char *prefix, char lacks[RR_LACKS_SIZE]);

#endif

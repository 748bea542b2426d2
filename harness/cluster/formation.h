/* SPDX-License-Identifier: MIT */
/* What topology.c, wholeness.c and failover.c know of each other. */
#ifndef RR_FORMATION_H
#define RR_FORMATION_H

#include "server.h"

/* A server by its number in the cluster; the i-th of the formation. */
struct rr_server *rr_formation_server(const struct rr_formation *formation, int number);
struct rr_server *rr_formation_nth(const struct rr_formation *formation, int i);

/* Sets where clients find the primary: sentinels or nodes that tell, or a name
 * that leads to it from now on. */
bool rr_formation_point(struct rr_formation *formation, struct rr_error *error);

/* ---- wholeness.c: what the servers say of themselves and each other ------------ */

/* rr_role_ask() of a server by its number. */
bool rr_formation_look(const struct rr_formation *formation, int number,
		       struct rr_replication *found);

/* Does everybody know who is the primary, and have its replicas everything, so
 * that a fail-over can begin? */
bool rr_formation_is_whole(const struct rr_formation *formation);

#endif

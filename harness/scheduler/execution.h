/* SPDX-License-Identifier: MIT */
/*
 * The actions of a path that a search has found, once more: with the clients' own code,
 * all of them together, and on real servers.
 */
#ifndef RR_EXECUTION_H
#define RR_EXECUTION_H

#include "actions.h"

struct rr_execution_config {
	const struct rr_program *program; /* of RR_EXECUTION_CLIENTS at most */
	struct rr_cluster *cluster;
	struct rr_scripts *scripts; /* those that servers know */
};

enum { RR_EXECUTION_CLIENTS = 8 };

struct rr_execution;

/* The configuration is copied. */
struct rr_execution *rr_execution_new(const struct rr_execution_config *config);
void rr_execution_free(struct rr_execution *execution);

/* Begins anew and does these actions, as they were noted of a search: every reply,
 * and all that clients do next, must be what was noted. False: RR_ERROR_INTERNAL and
 * what differs, or why it could not be done. */
bool rr_execution_replay(struct rr_execution *execution, const struct rr_actions *actions);

const struct rr_error *rr_execution_error(const struct rr_execution *execution);

#endif

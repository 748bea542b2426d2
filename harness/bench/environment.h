/* SPDX-License-Identifier: MIT */
/* What figures were measured on, as JSON objects that the caller owns; a field
 * that this machine does not tell is null. */
#ifndef RR_ENVIRONMENT_H
#define RR_ENVIRONMENT_H

#include <jansson.h>

#include "cluster/cluster.h"

/* cpu, cores, cores_allowed, governor, kernel, architecture, clock_source. */
json_t *rr_environment_machine(void);

/* redis_version, server_name, ... as the data server says. */
json_t *rr_environment_server(const struct rr_cluster *cluster);

#endif

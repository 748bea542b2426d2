/* SPDX-License-Identifier: MIT */
/* The options of bench about the user's own servers. */
#ifndef RR_BENCH_OWN_SERVERS_H
#define RR_BENCH_OWN_SERVERS_H

#include "bench.h"
#include "cluster/cluster.h"

/* --redis: a list of URIs, whose users and passwords are overwritten. */
rr_take rr_take_own_servers;

/* When all options are taken: those of REDRACE_REDIS if there are none, and the
 * password for those that have none, of the file, the terminal or
 * REDISCLI_AUTH. */
bool rr_complete_own_servers(struct rr_bench_options *options, struct rr_error *error);

bool rr_check_own_servers(const struct rr_bench_options *options, struct rr_error *error);

#endif

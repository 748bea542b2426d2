/* SPDX-License-Identifier: MIT */
/* The tables of claims, a section each. */
#ifndef RR_CLAIMS_TABLES_H
#define RR_CLAIMS_TABLES_H

#include "claim.h"

extern const struct rr_claim rr_claims_updates[];
extern const struct rr_claim rr_claims_connections[];
extern const struct rr_claim rr_claims_mutexes[];
extern const struct rr_claim rr_claims_setnx[];
extern const struct rr_claim rr_claims_getset[];
extern const struct rr_claim rr_claims_leases[];
extern const struct rr_claim rr_claims_incr[];
extern const struct rr_claim rr_claims_waiting[];
extern const struct rr_claim rr_claims_cache[];
extern const struct rr_claim rr_claims_servers[];
extern const struct rr_claim rr_claims_watch[];
extern const struct rr_claim rr_claims_scripts[];
extern const struct rr_claim rr_claims_transactions[];
extern const struct rr_claim rr_claims_costs[];

extern const size_t rr_n_claims_updates;
extern const size_t rr_n_claims_connections;
extern const size_t rr_n_claims_mutexes;
extern const size_t rr_n_claims_setnx;
extern const size_t rr_n_claims_getset;
extern const size_t rr_n_claims_leases;
extern const size_t rr_n_claims_incr;
extern const size_t rr_n_claims_waiting;
extern const size_t rr_n_claims_cache;
extern const size_t rr_n_claims_servers;
extern const size_t rr_n_claims_watch;
extern const size_t rr_n_claims_scripts;
extern const size_t rr_n_claims_transactions;
extern const size_t rr_n_claims_costs;

#endif

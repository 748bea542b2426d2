/* SPDX-License-Identifier: MIT */
/* Who takes part in `redrace peers`, and what came of it: peers.c measures,
 * peers_table.c prints. */
#ifndef RR_BENCH_PEERS_H
#define RR_BENCH_PEERS_H

#include "comparison.h"

enum { RR_PEER_SWEEP = 3, RR_CONTESTANTS_MAX = 16 };

extern const int rr_peer_clients[RR_PEER_SWEEP];

/* Locks that give the same guarantee: only these are compared. */
enum rr_guarantee { RR_GUARANTEE_TOKEN, RR_GUARANTEE_QUORUM, RR_GUARANTEES };

/* Who may take part. */
struct rr_peer_lock {
	const char *name; /* of a strategy, or of a peer */
	enum rr_guarantee guarantee;
	bool is_ours;
	struct rr_lock_peer peer; /* of theirs */
	const char *note;         /* what it does differently; a sentence */
};

struct rr_contestant {
	const struct rr_peer_lock *lock;
	struct rr_strategy strategy;           /* ours, with the wait of all */
	struct rr_lock_peer_versions versions; /* theirs */
	struct rr_series *series[RR_PEER_SWEEP];
};

/* What one of ours is to reach, as a multiple of one of theirs. */
struct rr_peer_bar {
	const char *ours, *theirs;
	double times;
};

struct rr_peers {
	struct rr_comparison comparison;
	struct rr_contestant contestants[RR_CONTESTANTS_MAX];
	size_t n;
	struct rr_series series[RR_PEER_SWEEP * RR_CONTESTANTS_MAX];
	const struct rr_peer_bar *bars;
	size_t n_bars;
};

void rr_peers_print_text(const struct rr_peers *peers);
void rr_peers_print_document(const struct rr_peers *peers);

#endif

/* SPDX-License-Identifier: MIT */
/* The comparison of our locks with those of others: who takes part, what was
 * measured, and how it is printed. */
#ifndef RR_PEERS_H
#define RR_PEERS_H

#include "comparison.h"
#include "lock_peer.h"

enum { RR_PEERS_CLIENTS = 3, RR_CONTESTANTS_MAX = 8 };

/* How many clients, in the order of the figures. */
extern const int rr_peers_clients[RR_PEERS_CLIENTS];

/* One of ours or one of theirs. */
struct rr_contestant {
	const char *name;
	const struct rr_strategy *strategy; /* ours; NULL for theirs */
	struct rr_lock_peer peer;           /* theirs */
	struct rr_lock_peer_versions versions;
	double rates[RR_PEERS_CLIENTS][RR_ROUNDS_MAX]; /* increments/s */
};

struct rr_peers {
	struct rr_comparison comparison;
	struct rr_contestant contestants[RR_CONTESTANTS_MAX]; /* present ones */
	size_t n_contestants;
};

/* The table as plain text, or a whole document in Markdown. Sorts the rates. */
void rr_peers_print_text(struct rr_peers *peers);
void rr_peers_print_document(struct rr_peers *peers);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The servers of a run: the data server first, lock servers after it. Either
 * private ones, started on demand under a guardian and reached through unix
 * sockets, or the user's own, which are never configured, flushed or scanned.
 */
#ifndef RR_FLEET_H
#define RR_FLEET_H

#include "base/exit_code.h"
#include "guardian.h"
#include "base/signals.h"

enum { RR_FLEET_MAX = 16, RR_TIMEOUT_MS = 2000, RR_START_MS = 10000 };

enum rr_persistence {
	RR_PERSIST_NONE,
	RR_PERSIST_RDB,      /* a snapshot after every second with a write */
	RR_PERSIST_EVERYSEC, /* append-only file, synced every second */
	RR_PERSIST_ALWAYS,   /* append-only file, synced before every reply */
	RR_PERSIST_KINDS
};

/* "none", "rdb", "everysec", "always". */
extern const char *const rr_persistence_names[RR_PERSIST_KINDS];

struct rr_fleet {
	struct rr_guardian *guardian;
	struct rr_signals *signals;
	const char *program; /* private servers only, as all up to `cpu` */
	enum rr_persistence persistence;
	int cpu; /* -1 = not pinned */
	bool is_private;
	size_t n_servers;
	struct rl_address addresses[RR_FLEET_MAX];
	struct rr_ward wards[RR_FLEET_MAX];
};

/* Sees to it that `n` servers run and answer. RR_EXIT_OK, or what the program
 * should exit with, the complaint already printed. Own servers cannot be
 * added: the caller checks n_servers first. */
enum rr_exit rr_fleet_need(struct rr_fleet *fleet, size_t n);

/* Ends the private servers. */
void rr_fleet_stop(struct rr_fleet *fleet);

/* Is it "unix" or "tcp" to the data server? */
const char *rr_fleet_transport(const struct rr_fleet *fleet);

#endif

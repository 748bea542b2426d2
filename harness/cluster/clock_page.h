/* SPDX-License-Identifier: MIT */
/*
 * What the program and the shim inside one server share: a file in the server's
 * directory that both have mapped. The program writes the orders, the shim
 * writes what it did. It outlives the server, so that a restart goes on with
 * the same clock.
 */
#ifndef RR_CLOCK_PAGE_H
#define RR_CLOCK_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

/* The environment variable that names the file. */
#define RR_CLOCK_PAGE_VARIABLE "REDRACE_CLOCK_PAGE"

enum { RR_SYNCED_MAX = 32, RR_SYNCED_NAME = 64 };

/* How much of a file the last finished fsync covers. */
struct rr_synced {
	char name[RR_SYNCED_NAME]; /* without its directory */
	_Atomic int64_t length;
};

struct rr_clock_page {
	/* The server's wall clock: this if it is not 0, ... */
	_Atomic int64_t frozen_ns;
	/* ... else the real time plus this. */
	_Atomic int64_t offset_ns;
	_Atomic int64_t sync_delay_us; /* every fsync takes so much longer */
	_Atomic int die_in_sync;       /* kill -9 itself in the next one */
	/* What the server's random bytes are made of, and how often it has asked for some: the order
	 * in which it has the members of a set. 0 = they are those of the system. */
	_Atomic uint64_t seed, n_seeded;

	_Atomic int pid; /* of the server that has mapped the page */
	_Atomic unsigned n_synced;
	struct rr_synced synced[RR_SYNCED_MAX]; /* n_synced of them */
};

#endif

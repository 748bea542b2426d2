/* SPDX-License-Identifier: MIT */
/*
 * The servers of a race as it sees them: set up as its headings say, looked at
 * after every step over connections of our own, and struck by faults.
 */
#ifndef RR_SCENERY_H
#define RR_SCENERY_H

#include "race/race.h"
#include "wire.h"

struct rr_scenery {
	const struct rr_race *race;
	struct rr_cluster *cluster;
	struct rr_wire *wires[RR_RACE_SERVERS_MAX]; /* for looking */
	char keys[RR_KEYS_SHOWN_MAX][RR_VALUE_SIZE]; /* as last seen */
	int64_t ends_ns[RR_KEYS_SHOWN_MAX]; /* of their leases, -1 = never */
};

/* Resets the cluster, declares and starts the servers, sees whether they have what
 * the race needs (RR_ERROR_SKIPPED), does what is given. */
bool rr_scenery_begin(struct rr_scenery *scenery, const struct rr_race *race,
		      struct rr_cluster *cluster, struct rr_observer *observer,
		      struct rr_error *error);
void rr_scenery_close(struct rr_scenery *scenery);

/* The values of the keys shown, malloc'd; what cannot be asked stays as it was
 * last seen until its lease is over. */
void rr_scenery_look(struct rr_scenery *scenery,
		     char *keys[RR_KEYS_SHOWN_MAX]);

/* Tells the observer what the lock is like after a step of `actor`. */
void rr_scenery_look_at_lock(struct rr_scenery *scenery, int actor,
			     struct rr_observer *observer,
			     char remark[RR_REMARK_SIZE]);

/* Does a RR_STEP_FAULT, and tells the observer what it did to the keys shown. */
bool rr_scenery_fault(struct rr_scenery *scenery, const struct rr_step *step,
		      struct rr_observer *observer, char remark[RR_REMARK_SIZE],
		      struct rr_error *error);

/* Tells the observer what is there at the end. */
void rr_scenery_end(struct rr_scenery *scenery, struct rr_observer *observer);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Servers that stand in for one another: a primary with replicas, the same under
 * Sentinel, a Redis Cluster. The primary is killed, and whoever has to promotes
 * another. A part of cluster.h.
 *
 * Order: open a cluster, open the formation on it, fail_over and turn as often as
 * wanted; the cluster's end is the formation's. Nothing here blocks for longer
 * than a server takes to answer or to start, but for the opening: what takes time
 * is looked after by one turn after another, each of which has a limit.
 */
#ifndef RR_TOPOLOGY_H
#define RR_TOPOLOGY_H

#include "base/error.h"
#include "keys.h"

struct rr_cluster;

enum rr_topology {
	RR_TOPOLOGY_ALONE,    /* servers that do not know of each other */
	RR_TOPOLOGY_REPLICA,  /* a primary, two replicas; we promote */
	RR_TOPOLOGY_SENTINEL, /* and three sentinels, which promote */
	RR_TOPOLOGY_CLUSTER,  /* three primaries with a replica each */
	RR_TOPOLOGIES
};

/* "alone", "replica", "sentinel", "cluster". */
extern const char *const rr_topology_names[RR_TOPOLOGIES];

/* Its limits, as the servers are configured. */
enum {
	RR_DOWN_AFTER_MS = 500,        /* a server that is silent for so long is down */
	RR_FORMATION_LIMIT_MS = 30000, /* until it is whole, or has a primary */
	RR_OUTAGE_MS = 1000,           /* of a server that stands alone */
	RR_MEMBERS_MAX = 8
};

enum rr_formation_phase {
	RR_FORMATION_WHOLE,     /* a primary, and replicas that have all of it */
	RR_FORMATION_CUT,       /* replicas are cut off; the kill is to come */
	RR_FORMATION_HEADLESS,  /* the primary is dead, and nobody promoted */
	RR_FORMATION_REJOINING, /* another is; the old one comes as its replica */
};

/* What happened to it so far. */
struct rr_formation_tally {
	long kills;
	long fail_overs;                      /* others that were promoted, or came back alone */
	int64_t headless_ns, headless_max_ns; /* from a kill to a promotion */
};

struct rr_formation {
	struct rr_cluster *cluster;
	enum rr_topology kind;
	int first, n_servers; /* all of its servers: so many from that number on */
	/* Of these, one is the primary for the keys of a run, and the others are
	 * its replicas. Alone: one of them is killed after another. */
	int members[RR_MEMBERS_MAX];
	int n_members;
	/* Where clients find the primary: redis+sentinel://, redis+cluster://, or a
	 * socket that leads to it. */
	struct rdl_address address;
	enum rr_formation_phase phase;
	int primary;       /* a server's number, as far as we know */
	int killed;        /* the one that was killed last; -1 = none */
	int64_t since_ns;  /* the phase's begin, and the kill's time */
	int64_t looked_ns; /* the last look whether all servers are there */
	int64_t cut_ns;    /* how long the cut lasts */
	struct rr_formation_tally tally;
};

/*
 * Starts all servers of a topology beside those that the cluster has, and waits
 * until it is whole. `key` is one of those that clients will use: with a cluster
 * the members are those that have its slot.
 */
bool rr_formation_open(struct rr_formation *formation, struct rr_cluster *cluster,
		       enum rr_topology kind, const char *key, struct rr_error *error);

/* Servers that are there already and stand alone: so many from `first` on. */
void rr_formation_of_lone(struct rr_formation *formation, struct rr_cluster *cluster, int first,
			  int n);

/* How many replicas hold what the primary holds. */
int rr_formation_replicas(const struct rr_formation *formation);

/*
 * Begins a fail-over of a whole formation: kill -9 of the primary. With `cut_ns`
 * its links to its replicas are cut first, and it goes on without them for so
 * long: what it acknowledges then is on no other server. (Its user for replicas
 * is deleted, so that they cannot come back.)
 */
bool rr_formation_fail_over(struct rr_formation *formation, int64_t cut_ns, struct rr_error *error);

/* Looks after it: kills, promotes where that is our part, sees who is promoted,
 * starts the killed one again. At least every few milliseconds unless it is whole.
 * False: something did not happen within its limit. */
bool rr_formation_turn(struct rr_formation *formation, struct rr_error *error);

/* Turns until it is whole. */
bool rr_formation_await_whole(struct rr_formation *formation, struct rr_error *error);

#endif

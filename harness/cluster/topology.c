/* SPDX-License-Identifier: MIT */
/* Formations: which servers they are made of, their start, and whether they are
 * whole. What becomes of them when the primary dies is in failover.c. */
#include "base/files.h"
#include "base/text.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

const char *const rr_topology_names[RR_TOPOLOGIES] = {
	[RR_TOPOLOGY_ALONE] = "alone",
	[RR_TOPOLOGY_REPLICA] = "replica",
	[RR_TOPOLOGY_SENTINEL] = "sentinel",
	[RR_TOPOLOGY_CLUSTER] = "cluster",
};

enum { REPLICAS = 2, SENTINELS = 3, PRIMARIES = 3, SLOTS = 16384 };

struct rr_server *rr_formation_server(const struct rr_formation *formation, int number)
{
	return &formation->cluster->servers[number];
}

int rr_formation_replicas(const struct rr_formation *formation)
{
	return formation->kind == RR_TOPOLOGY_ALONE ? 0 : formation->n_members - 1;
}

struct rr_server *rr_formation_nth(const struct rr_formation *formation, int i)
{
	return rr_formation_server(formation, formation->first + i);
}

/* The servers that hold data come first. */
static int n_data_servers(enum rr_topology kind)
{
	return kind == RR_TOPOLOGY_CLUSTER ? 2 * PRIMARIES : 1 + REPLICAS;
}

/* ---- Declaring ---------------------------------------------------------------- */

static bool declare_in(struct rr_formation *formation, const char *name, enum rr_server_role role,
		       const char *of, struct rr_error *error)
{
	const struct rr_server_options options = {
		.role = role,
		.tcp = true,
		.replica_of = of,
	};
	int server;

	if (!rr_cluster_declare(formation->cluster, name, &options, &server, error))
		return false;
	formation->n_servers++;
	return true;
}

static bool declare_numbered(struct rr_formation *formation, const char *what, int n,
			     enum rr_server_role role, const char *of, struct rr_error *error)
{
	char name[RR_SERVER_NAME];

	for (int i = 1; i <= n; i++) {
		snprintf(name, sizeof(name), "%s-%d", what, i);
		if (!declare_in(formation, name, role, of, error))
			return false;
	}
	return true;
}

static bool declare_all(struct rr_formation *formation, struct rr_error *error)
{
	static const char primary[] = "primary";

	if (formation->kind == RR_TOPOLOGY_CLUSTER)
		return declare_numbered(formation, "node", 2 * PRIMARIES, RR_ROLE_NODE, NULL,
					error);
	return declare_in(formation, primary, RR_ROLE_MEMBER, NULL, error) &&
	       declare_numbered(formation, "replica", REPLICAS, RR_ROLE_MEMBER, primary, error) &&
	       (formation->kind != RR_TOPOLOGY_SENTINEL ||
		declare_numbered(formation, "sentinel", SENTINELS, RR_ROLE_SENTINEL, primary,
				 error));
}

/* ---- Making a Redis Cluster of nodes -------------------------------------------- */

/* Tried until the node knows the one whose replica it is to be. */
static bool make_node_replica(struct rr_formation *formation, int i, struct rr_error *error)
{
	struct rr_server *node = rr_formation_nth(formation, PRIMARIES + i);
	struct rr_server *of = rr_formation_nth(formation, i);
	int64_t deadline_ns = 0;
	struct rdl_reply reply;
	char id[64];

	if (rdl_run(of->admin, &reply, "CLUSTER MYID") != RDL_OK)
		return rr_server_refused(of, error);
	snprintf(id, sizeof(id), "%s", reply.text ? reply.text : "");
	while (rdl_run(node->admin, &reply, "CLUSTER REPLICATE %s", id) != RDL_OK) {
		if (!rr_cluster_is_whole(formation->cluster, error) ||
		    !rr_server_wait(formation->cluster, RR_FORMATION_LIMIT_MS, &deadline_ns,
				    "the making of a cluster", error))
			return false;
	}
	return true;
}

static bool make_redis_cluster(struct rr_formation *formation, const char *key,
			       struct rr_error *error)
{
	/* Each has an epoch of its own, so that none collide, and knows the first. */
	struct rr_server *first = rr_formation_nth(formation, 0);

	for (int i = 0; i < 2 * PRIMARIES; i++) {
		struct rr_server *node = rr_formation_nth(formation, i);

		if (!rr_server_run(node, error, "CLUSTER SET-CONFIG-EPOCH %d", i + 1) ||
		    (i > 0 && !rr_server_run(node, error, "CLUSTER MEET 127.0.0.1 %d %d",
					     first->port, first->bus_port)))
			return false;
	}
	for (int i = 0; i < PRIMARIES; i++) {
		if (!rr_server_run(rr_formation_nth(formation, i), error,
				   "CLUSTER ADDSLOTSRANGE %d %d", i * SLOTS / PRIMARIES,
				   (i + 1) * SLOTS / PRIMARIES - 1))
			return false;
	}
	for (int i = 0; i < PRIMARIES; i++) {
		if (!make_node_replica(formation, i, error))
			return false;
	}
	/* The pair that has the key's slot. */
	struct rdl_reply reply;
	int i = 0;

	if (rdl_run(first->admin, &reply, "CLUSTER KEYSLOT %s", key) != RDL_OK)
		return rr_server_refused(first, error);
	while (i + 1 < PRIMARIES && reply.integer >= (i + 1) * SLOTS / PRIMARIES)
		i++;
	formation->members[0] = formation->first + i;
	formation->members[1] = formation->first + PRIMARIES + i;
	formation->n_members = 2;
	return true;
}

/* ---- Opening ------------------------------------------------------------------- */

bool rr_formation_open(struct rr_formation *formation, struct rr_cluster *cluster,
		       enum rr_topology kind, const char *key, struct rr_error *error)
{
	*formation = (struct rr_formation){
		.cluster = cluster,
		.kind = kind,
		.first = (int)cluster->n_servers,
		.killed = -1,
		.phase = RR_FORMATION_REJOINING,
		.since_ns = rr_clock_ns(),
	};
	if (!declare_all(formation, error) || !rr_cluster_start(cluster, error))
		return false;
	/*
	 * Sentinels look at servers and at each other a few times a second rather than every ten,
	 * so that a formation is whole again soon after a fail-over, and a machine that is busy
	 * does not make them stop for half a minute (TILT). They connect again as often as they
	 * ping, and so a server that was just promoted seems down to them where they are told to be
	 * quicker than that with their verdict, and another fail-over follows; but what a replica
	 * told them counts no longer than five such periods, and they ask it once in a second when
	 * its primary is dead. A server that does not know this command takes longer.
	 */
	for (int i = n_data_servers(formation->kind); i < formation->n_servers; i++) {
		struct rdl_reply reply;

		rdl_run(rr_formation_nth(formation, i)->admin, &reply,
			"SENTINEL DEBUG PING-PERIOD 300 INFO-PERIOD 200 PUBLISH-PERIOD 200 TILT-PERIOD 1000");
	}
	if (kind == RR_TOPOLOGY_CLUSTER) {
		if (!make_redis_cluster(formation, key, error))
			return false;
	} else {
		formation->n_members = n_data_servers(kind);
		for (int i = 0; i < formation->n_members; i++)
			formation->members[i] = formation->first + i;
	}
	formation->primary = formation->members[0];
	formation->since_ns = rr_clock_ns();
	return rr_formation_point(formation, error) && rr_formation_await_whole(formation, error);
}

void rr_formation_of_lone(struct rr_formation *formation, struct rr_cluster *cluster, int first,
			  int n)
{
	*formation = (struct rr_formation){
		.cluster = cluster,
		.kind = RR_TOPOLOGY_ALONE,
		.first = first,
		.n_servers = n,
		.n_members = n,
		.primary = first,
		.killed = -1,
		.phase = RR_FORMATION_WHOLE,
	};
	for (int i = 0; i < n; i++)
		formation->members[i] = first + i;
}

/* ---- Where clients find the primary ---------------------------------------------- */

/* A name that leads to the primary's socket, as an operator moves the address of
 * a service: in one step. */
static bool move_name(struct rr_formation *formation, struct rr_error *error)
{
	struct rr_cluster *cluster = formation->cluster;
	const struct rr_server *primary = rr_formation_server(formation, formation->primary);
	char path[108];

	snprintf(path, sizeof(path), "%s/primary.sock", cluster->session->guardian.base);
	if (!rr_files_link(path, primary->address.host, error))
		return false;
	formation->address = primary->address;
	snprintf(formation->address.host, sizeof(formation->address.host), "%s", path);
	return true;
}

/* Those servers whom clients ask: the first as host and port, then the others. */
static void name_servers(struct rr_formation *formation, int first)
{
	const struct rr_cluster *cluster = formation->cluster;
	struct rdl_address *address = &formation->address;

	*address = (struct rdl_address){
		.host = "127.0.0.1",
		.port = cluster->servers[first].port,
	};
	memcpy(address->password, cluster->password, sizeof(cluster->password));
	for (int i = first + 1; i < formation->first + formation->n_servers; i++)
		rr_add_text(address->more, sizeof(address->more), "%s127.0.0.1:%d",
			    address->more[0] ? "," : "", cluster->servers[i].port);
}

bool rr_formation_point(struct rr_formation *formation, struct rr_error *error)
{
	struct rdl_address *address = &formation->address;

	switch (formation->kind) {
	case RR_TOPOLOGY_SENTINEL:
		name_servers(formation, formation->first + formation->n_members);
		address->kind = RDL_ADDRESS_SENTINEL;
		snprintf(address->service, sizeof(address->service), "%s", rr_service_name);
		return true;
	case RR_TOPOLOGY_CLUSTER:
		name_servers(formation, formation->first);
		address->kind = RDL_ADDRESS_CLUSTER;
		return true;
	default:
		return move_name(formation, error);
	}
}

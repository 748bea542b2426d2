/* SPDX-License-Identifier: MIT */
/* Links between a master and its replicas. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_parts.h"

/* tcpmux, which nobody has offered for decades. */
enum { DEAD_PORT = 1 };

/* A replica that runs, and the master that it was declared with. */
static struct rr_server *replica_of(struct rr_cluster *cluster, int replica,
				    const char *verb, struct rr_server **master,
				    char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, replica,
					      RR_SERVER_RUNNING, verb, error);

	if (!it)
		return NULL;
	if (!it->options.replica_of) {
		cluster_fail(error, RR_EXIT_USAGE, "%s is no replica",
			     it->name);
		return NULL;
	}
	*master = &cluster->servers[rr_cluster_find(cluster,
						    it->options.replica_of)];
	return it;
}

/* "name:12" in INFO replication; -1 = not there. */
static long long field(struct rr_server *server, const char *name,
		       bool *is_linked)
{
	struct rl_reply reply;
	const char *found;

	if (rl_run(server->admin, &reply, "INFO replication") != RL_OK ||
	    !reply.text)
		return -1;
	*is_linked = strstr(reply.text, "master_link_status:up") != NULL;
	found = strstr(reply.text, name);
	return found ? atoll(found + strlen(name)) : -1;
}

enum rr_exit rr_cluster_catch_up(struct rr_cluster *cluster, int replica,
				 char error[RR_CLUSTER_ERROR])
{
	struct rr_server *master;
	struct rr_server *it =
		replica_of(cluster, replica, "await", &master, error);
	long long wanted, has;
	int64_t deadline_ns = 0;
	bool is_linked;

	if (!it)
		return RR_EXIT_USAGE;
	for (;;) {
		wanted = field(master, "master_repl_offset:", &is_linked);
		has = field(it, "slave_repl_offset:", &is_linked);
		if (is_linked && wanted >= 0 && has >= wanted)
			return RR_EXIT_OK;
		if (!cluster_wait(cluster, RR_CATCH_UP_MS, &deadline_ns))
			return cluster_late(cluster,
					    "the replica's catching up", error);
	}
}

static enum rr_exit point_at(struct rr_server *server, int port,
			     char error[RR_CLUSTER_ERROR])
{
	struct rl_reply reply;

	if (rl_run(server->admin, &reply, "REPLICAOF 127.0.0.1 %d", port) !=
	    RL_OK)
		return cluster_refused(server, error);
	return RR_EXIT_OK;
}

enum rr_exit rr_cluster_cut(struct rr_cluster *cluster, int replica,
			    char error[RR_CLUSTER_ERROR])
{
	struct rr_server *master;
	struct rr_server *it =
		replica_of(cluster, replica, "cut off", &master, error);

	return it ? point_at(it, DEAD_PORT, error) : RR_EXIT_USAGE;
}

enum rr_exit rr_cluster_join(struct rr_cluster *cluster, int replica,
			     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *master;
	struct rr_server *it =
		replica_of(cluster, replica, "join", &master, error);

	return it ? point_at(it, master->port, error) : RR_EXIT_USAGE;
}

enum rr_exit rr_cluster_promote(struct rr_cluster *cluster, int replica,
				char error[RR_CLUSTER_ERROR])
{
	struct rr_server *master;
	struct rr_server *it =
		replica_of(cluster, replica, "promote", &master, error);
	struct rl_reply reply;

	if (!it)
		return RR_EXIT_USAGE;
	if (rl_run(it->admin, &reply, "REPLICAOF NO ONE") != RL_OK)
		return cluster_refused(it, error);
	return RR_EXIT_OK;
}

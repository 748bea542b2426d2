/* SPDX-License-Identifier: MIT */
/* What a server with a port is told of others: whose replica it is, which primary
 * it watches, that it is a node of a Redis Cluster; and what it says of itself. */
#include <stdlib.h>
#include <string.h>

#include "server.h"

const char rr_replica_user[] = "replication";
const char rr_service_name[] = "redrace";

void rr_role_write(FILE *file, const struct rr_cluster *cluster, const struct rr_server *server)
{
	const struct rr_server_options *options = &server->options;
	int master = -1;

	if (options->replica_of)
		master = rr_cluster_find(cluster, options->replica_of);
	if (options->role == RR_ROLE_SENTINEL) {
		/* Two of three agree. A fail-over that fails is tried again after two of its
		 * time-outs. */
		const int port = cluster->servers[master].port;
		const char *name = rr_service_name;

		fprintf(file,
			"sentinel monitor %s 127.0.0.1 %d 2\n"
			"sentinel auth-pass %s %s\n"
			"sentinel sentinel-pass %s\n"
			"sentinel down-after-milliseconds %s %d\n"
			"sentinel failover-timeout %s 1000\n"
			"sentinel parallel-syncs %s 2\n",
			name, port, name, cluster->password, cluster->password, name,
			RR_DOWN_AFTER_MS, name, name);
		return;
	}
	fprintf(file, "masterauth %s\n", cluster->password);
	/*
	 * Replicas come as a user of their own, so that this one can be taken away from
	 * them, and whatever password a race gives to others.
	 */
	fprintf(file,
		"user %s on >%s +psync +replconf +ping\n"
		"masteruser %s\n",
		rr_replica_user, cluster->password, rr_replica_user);
	/* They are sent a snapshot at once, not after five seconds, and what they miss is
	 * kept long enough that most need none. */
	if (options->role != RR_ROLE_ALONE)
		fprintf(file, "repl-diskless-sync-delay 0\n"
			      "repl-backlog-size 16mb\n"
			      "repl-ping-replica-period 1\n");
	if (options->role == RR_ROLE_NODE)
		fprintf(file,
			"cluster-enabled yes\n"
			"cluster-config-file nodes.conf\n"
			"cluster-port %d\n"
			"cluster-node-timeout %d\n"
			"cluster-replica-validity-factor 0\n"
			"cluster-migration-barrier 100\n",
			server->bus_port, RR_DOWN_AFTER_MS);
	if (master >= 0)
		fprintf(file, "replicaof 127.0.0.1 %d\n", cluster->servers[master].port);
}

/* The number after a name in INFO; -1 = it is not there. */
static long long info_number(const char *info, const char *name)
{
	const char *found = strstr(info, name);

	return found ? atoll(found + strlen(name)) : -1;
}

bool rr_role_ask(struct rr_server *server, struct rr_replication *found)
{
	struct rdl_reply reply;

	*found = (struct rr_replication){ .offset = -1 };
	if (server->state != RR_SERVER_RUNNING ||
	    rdl_run(server->admin, &reply, "INFO replication") != RDL_OK || !reply.text)
		return false;
	found->is_primary = strstr(reply.text, "role:master") != NULL;
	found->is_linked = strstr(reply.text, "master_link_status:up") != NULL;
	found->n_replicas = (int)info_number(reply.text, "connected_slaves:");
	found->offset = info_number(reply.text, found->is_primary ? "master_repl_offset:" :
								    "slave_repl_offset:");
	return true;
}

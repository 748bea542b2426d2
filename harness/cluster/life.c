/* SPDX-License-Identifier: MIT */
/* A server's ends and beginnings: killed, shut down, hung, started again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guardian_protocol.h"
#include "cluster_parts.h"

static enum rr_exit send_signal(struct rr_cluster *cluster,
				struct rr_server *server, int number,
				enum rr_server_state after,
				char error[RR_CLUSTER_ERROR])
{
	server->is_used_up = true;
	if (!rr_guardian_signal(&cluster->session->guardian, &server->ward,
				number))
		return cluster_fail(error, RR_EXIT_REDIS,
				    "%s has ended already", server->name);
	server->state = after;
	return RR_EXIT_OK;
}

enum rr_exit rr_cluster_kill(struct rr_cluster *cluster, int server,
			     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it;

	/* A server that hangs can be killed as well. */
	if (server >= 0 && (size_t)server < cluster->n_servers &&
	    rr_cluster_state(cluster, server) == RR_SERVER_HUNG)
		it = &cluster->servers[server];
	else
		it = cluster_server(cluster, server, RR_SERVER_RUNNING, "kill",
				    error);
	if (!it)
		return RR_EXIT_USAGE;
	return send_signal(cluster, it, SIGKILL, RR_SERVER_DOWN, error);
}

enum rr_exit rr_cluster_shut_down(struct rr_cluster *cluster, int server,
				  char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(
		cluster, server, RR_SERVER_RUNNING, "shut down", error);
	enum rr_exit code;

	if (!it)
		return RR_EXIT_USAGE;
	code = send_signal(cluster, it, SIGTERM, RR_SERVER_RUNNING, error);
	if (code != RR_EXIT_OK)
		return code;
	return rr_cluster_await_end(cluster, server, RR_START_MS, error);
}

enum rr_exit rr_cluster_await_end(struct rr_cluster *cluster, int server,
				  int timeout_ms, char error[RR_CLUSTER_ERROR])
{
	int64_t deadline_ns = 0;

	while (rr_cluster_state(cluster, server) == RR_SERVER_RUNNING) {
		if (!cluster_wait(cluster, timeout_ms, &deadline_ns))
			return cluster_late(cluster, "the end of a server",
					    error);
	}
	if (rr_cluster_state(cluster, server) == RR_SERVER_DOWN)
		return RR_EXIT_OK;
	cluster_server(cluster, server, RR_SERVER_DOWN, "await the end of",
		       error);
	return RR_EXIT_USAGE;
}

/* What the server has saved, and what the page says of it. */
static void remove_data(struct rr_server *server)
{
	static const char *const names[] = { "dump.rdb", "dump.rdb.aside",
					     "appendonlydir",
					     "appendonly.aof" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", server->ward.directory,
			 names[i]);
		guardian_remove_tree(path);
	}
	if (server->page)
		atomic_store(&server->page->n_synced, 0);
}

/* A torn file was cut by us, and again by the server that has read it. */
static void forget_torn(struct rr_server *server)
{
	char path[512];
	const char *name;

	if (server->page && cluster_aof_path(server, path, sizeof(path), &name))
		cluster_limit_synced(server, name, cluster_file_length(path));
}

enum rr_exit rr_cluster_restart(struct rr_cluster *cluster, int server,
				bool empty, char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;
	struct rr_server *it;

	if (server >= 0 && (size_t)server < cluster->n_servers &&
	    rr_cluster_state(cluster, server) != RR_SERVER_DOWN)
		code = rr_cluster_kill(cluster, server, error);
	/* It may have ended by itself just before it was killed. */
	if (code != RR_EXIT_OK &&
	    rr_cluster_state(cluster, server) != RR_SERVER_DOWN)
		return code;
	it = cluster_server(cluster, server, RR_SERVER_DOWN, "restart", error);
	if (!it)
		return RR_EXIT_USAGE;
	it->is_used_up = true;
	if (empty)
		remove_data(it);
	code = cluster_write_config(cluster, it, error);
	if (code == RR_EXIT_OK)
		code = cluster_launch(cluster, it, error);
	if (code == RR_EXIT_OK)
		code = cluster_await_up(cluster, it, error);
	forget_torn(it);
	return code;
}

enum rr_exit rr_cluster_restart_fails(struct rr_cluster *cluster, int server,
				      char error[RR_CLUSTER_ERROR])
{
	const enum rr_exit code =
		rr_cluster_restart(cluster, server, false, error);
	int status;

	if (code == RR_EXIT_OK)
		return cluster_fail(error, RR_EXIT_REDIS,
				    "%s has started, which it should not",
				    cluster->servers[server].name);
	if (code != RR_EXIT_REDIS ||
	    !rr_guardian_has_ended(&cluster->session->guardian,
				   &cluster->servers[server].ward, &status))
		return code;
	return RR_EXIT_OK;
}

enum rr_exit rr_cluster_hang(struct rr_cluster *cluster, int server,
			     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server,
					      RR_SERVER_RUNNING, "stop", error);

	return it ? send_signal(cluster, it, SIGSTOP, RR_SERVER_HUNG, error) :
		    RR_EXIT_USAGE;
}

enum rr_exit rr_cluster_go_on(struct rr_cluster *cluster, int server,
			      char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server, RR_SERVER_HUNG,
					      "go on with", error);

	return it ? send_signal(cluster, it, SIGCONT, RR_SERVER_RUNNING,
				error) :
		    RR_EXIT_USAGE;
}

/* SPDX-License-Identifier: MIT */
/* Faults of processes and of the network: servers killed, shut down, hung and
 * started again; links between a master and its replicas cut and joined. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

/* tcpmux, which nobody has offered for decades. */
enum { DEAD_PORT = 1 };

/* ---- Ends -------------------------------------------------------------------- */

static bool inject_signal(struct rr_cluster *cluster, struct rr_server *server,
			  int number, enum rr_server_state after,
			  struct rr_error *error)
{
	if (!server)
		return false;
	server->is_used_up = true;
	if (!rr_guardian_signal(&cluster->session->guardian, &server->process,
				number))
		return rr_error_set(error, RR_ERROR_REDIS,
				    "%s has ended already", server->name);
	server->state = after;
	return true;
}

/* Is there such a server, in that state? */
static bool is_in(struct rr_cluster *cluster, int server,
		  enum rr_server_state state)
{
	return server >= 0 && (size_t)server < cluster->n_servers &&
	       rr_cluster_state(cluster, server) == state;
}

bool rr_cluster_kill(struct rr_cluster *cluster, int server,
		     struct rr_error *error)
{
	/* A server that hangs can be killed as well. */
	const enum rr_server_state state =
		is_in(cluster, server, RR_SERVER_HUNG) ? RR_SERVER_HUNG :
							 RR_SERVER_RUNNING;

	return inject_signal(cluster,
			     rr_server_in_state(cluster, server, state, "kill",
						error),
			     SIGKILL, RR_SERVER_DOWN, error);
}

bool rr_cluster_shut_down(struct rr_cluster *cluster, int server,
			  struct rr_error *error)
{
	struct rr_server *it = rr_server_in_state(
		cluster, server, RR_SERVER_RUNNING, "shut down", error);

	return inject_signal(cluster, it, SIGTERM, RR_SERVER_RUNNING, error) &&
	       rr_cluster_await_end(cluster, server, RR_START_MS, error);
}

bool rr_cluster_await_end(struct rr_cluster *cluster, int server,
			  int timeout_ms, struct rr_error *error)
{
	int64_t deadline_ns = 0;

	while (rr_cluster_state(cluster, server) == RR_SERVER_RUNNING) {
		if (!rr_server_wait(cluster, timeout_ms, &deadline_ns,
				    "the end of a server", error))
			return false;
	}
	return rr_server_in_state(cluster, server, RR_SERVER_DOWN,
				  "await the end of", error) != NULL;
}

bool rr_cluster_hang(struct rr_cluster *cluster, int server,
		     struct rr_error *error)
{
	return inject_signal(cluster,
			     rr_server_in_state(cluster, server,
						RR_SERVER_RUNNING, "stop",
						error),
			     SIGSTOP, RR_SERVER_HUNG, error);
}

bool rr_cluster_go_on(struct rr_cluster *cluster, int server,
		      struct rr_error *error)
{
	return inject_signal(cluster,
			     rr_server_in_state(cluster, server, RR_SERVER_HUNG,
						"go on with", error),
			     SIGCONT, RR_SERVER_RUNNING, error);
}

/* ---- Beginnings ---------------------------------------------------------------- */

bool rr_cluster_restart(struct rr_cluster *cluster, int server, bool empty,
			struct rr_error *error)
{
	struct rr_error why = { 0 };
	struct rr_server *it;
	bool is_up;

	/* It may end by itself just before it is killed. */
	if (!is_in(cluster, server, RR_SERVER_DOWN) &&
	    !rr_cluster_kill(cluster, server, &why) &&
	    !is_in(cluster, server, RR_SERVER_DOWN))
		return rr_error_set(error, why.kind, "%s", why.text);
	it = &cluster->servers[server];
	it->is_used_up = true;
	if (empty)
		rr_disk_remove_data(it);
	is_up = rr_server_start_again(cluster, it, error);
	rr_disk_forget_torn(it);
	return is_up;
}

bool rr_cluster_restart_fails(struct rr_cluster *cluster, int server,
			      struct rr_error *error)
{
	struct rr_error why = { 0 };
	int status;

	if (rr_cluster_restart(cluster, server, false, &why))
		return rr_error_set(error, RR_ERROR_REDIS,
				    "%s has started, which it should not",
				    cluster->servers[server].name);
	return (why.kind == RR_ERROR_REDIS &&
		rr_guardian_has_ended(&cluster->session->guardian,
				      &cluster->servers[server].process,
				      &status)) ||
	       rr_error_set(error, why.kind, "%s", why.text);
}

/* ---- Replicas -------------------------------------------------------------------- */

/* A replica that runs, and the master that it was declared with. */
static struct rr_server *find_replica(struct rr_cluster *cluster, int replica,
				      const char *verb,
				      struct rr_server **master,
				      struct rr_error *error)
{
	struct rr_server *it = rr_server_in_state(
		cluster, replica, RR_SERVER_RUNNING, verb, error);

	if (!it)
		return NULL;
	if (!it->options.replica_of) {
		rr_error_set(error, RR_ERROR_USAGE, "%s is no replica",
			     it->name);
		return NULL;
	}
	*master = &cluster->servers[rr_cluster_find(cluster,
						    it->options.replica_of)];
	return it;
}

/* "name:12" in INFO replication; -1 = not there. */
static long long replication_field(struct rr_server *server, const char *name,
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

bool rr_cluster_catch_up(struct rr_cluster *cluster, int replica,
			 struct rr_error *error)
{
	struct rr_server *master;
	struct rr_server *it =
		find_replica(cluster, replica, "await", &master, error);
	long long wanted, has;
	int64_t deadline_ns = 0;
	bool is_linked = false;

	if (!it)
		return false;
	do {
		wanted = replication_field(master,
					   "master_repl_offset:", &is_linked);
		has = replication_field(it, "slave_repl_offset:", &is_linked);
		if (is_linked && wanted >= 0 && has >= wanted)
			return true;
	} while (rr_server_wait(cluster, RR_CATCH_UP_MS, &deadline_ns,
				"the replica's catching up", error));
	return false;
}

static bool point_at(struct rr_server *server, int port, struct rr_error *error)
{
	struct rl_reply reply;

	return rl_run(server->admin, &reply, "REPLICAOF 127.0.0.1 %d", port) ==
		       RL_OK ||
	       rr_server_refused(server, error);
}

bool rr_cluster_cut(struct rr_cluster *cluster, int replica,
		    struct rr_error *error)
{
	struct rr_server *master;
	struct rr_server *it =
		find_replica(cluster, replica, "cut off", &master, error);

	return it && point_at(it, DEAD_PORT, error);
}

bool rr_cluster_join(struct rr_cluster *cluster, int replica,
		     struct rr_error *error)
{
	struct rr_server *master;
	struct rr_server *it =
		find_replica(cluster, replica, "join", &master, error);

	return it && point_at(it, master->port, error);
}

bool rr_cluster_promote(struct rr_cluster *cluster, int replica,
			struct rr_error *error)
{
	struct rr_server *master;
	struct rr_server *it =
		find_replica(cluster, replica, "promote", &master, error);
	struct rl_reply reply;

	return it && (rl_run(it->admin, &reply, "REPLICAOF NO ONE") == RL_OK ||
		      rr_server_refused(it, error));
}

/* SPDX-License-Identifier: MIT */
/* A cluster: opening it, its list of servers, its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_parts.h"

/* ---- The list -------------------------------------------------------------- */

int rr_cluster_find(const struct rr_cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->n_servers; i++) {
		if (strcmp(cluster->servers[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

/* A master must listen on a port before its replica can be declared. */
static enum rr_exit check_master(const struct rr_cluster *cluster,
				 const struct rr_server_options *options,
				 char error[RR_CLUSTER_ERROR])
{
	int master;

	if (!options->replica_of)
		return RR_EXIT_OK;
	master = rr_cluster_find(cluster, options->replica_of);
	if (master < 0)
		return cluster_fail(error, RR_EXIT_USAGE,
				    "a replica of '%s', which is no server",
				    options->replica_of);
	if (!cluster->servers[master].options.tcp)
		return cluster_fail(error, RR_EXIT_USAGE,
				    "a replica of '%s', which has no TCP port",
				    options->replica_of);
	return RR_EXIT_OK;
}

enum rr_exit rr_cluster_declare(struct rr_cluster *cluster, const char *name,
				const struct rr_server_options *options,
				int *server, char error[RR_CLUSTER_ERROR])
{
	struct rr_server *new = &cluster->servers[cluster->n_servers];
	enum rr_exit code;

	if (cluster->n_servers == RR_CLUSTER_SERVERS)
		return cluster_fail(error, RR_EXIT_USAGE,
				    "more than %d servers", RR_CLUSTER_SERVERS);
	if (strlen(name) >= sizeof(new->name))
		return cluster_fail(error, RR_EXIT_USAGE,
				    "the name '%s' is too long", name);
	if (rr_cluster_find(cluster, name) >= 0)
		return cluster_fail(error, RR_EXIT_USAGE,
				    "two servers are called '%s'", name);
	code = check_master(cluster, options, error);
	if (code != RR_EXIT_OK)
		return code;
	*new = (struct rr_server){ .options = *options };
	if (options->replica_of)
		new->options.tcp = true;
	snprintf(new->name, sizeof(new->name), "%s", name);
	*server = (int)cluster->n_servers++;
	return RR_EXIT_OK;
}

const struct rl_address *rr_cluster_address(const struct rr_cluster *cluster,
					    int server)
{
	return &cluster->servers[server].address;
}

enum rr_server_state rr_cluster_state(struct rr_cluster *cluster, int server)
{
	struct rr_server *it = &cluster->servers[server];
	int status;

	if ((it->state == RR_SERVER_RUNNING || it->state == RR_SERVER_HUNG) &&
	    rr_guardian_has_ended(&cluster->session->guardian, &it->ward,
				  &status)) {
		it->state = RR_SERVER_DOWN;
		it->is_used_up = true;
	}
	return it->state;
}

struct rr_server *cluster_server(struct rr_cluster *cluster, int server,
				 enum rr_server_state state, const char *verb,
				 char error[RR_CLUSTER_ERROR])
{
	static const char *const are[] = {
		[RR_SERVER_DECLARED] = "was never started",
		[RR_SERVER_RUNNING] = "runs",
		[RR_SERVER_HUNG] = "hangs",
		[RR_SERVER_DOWN] = "is down",
	};
	enum rr_server_state now;

	if (server < 0 || (size_t)server >= cluster->n_servers) {
		cluster_fail(error, RR_EXIT_USAGE, "there is no such server");
		return NULL;
	}
	now = rr_cluster_state(cluster, server);
	if (now == state)
		return &cluster->servers[server];
	cluster_fail(error, RR_EXIT_USAGE, "cannot %s %s: it %s", verb,
		     cluster->servers[server].name, are[now]);
	return NULL;
}

/* ---- Starting all ------------------------------------------------------------ */

static bool take_from_pool(struct rr_cluster *cluster, struct rr_server *server)
{
	struct rr_server *warm;
	char name[RR_SERVER_NAME];

	if (!cluster_is_plain(&server->options) || cluster->n_pool == 0)
		return false;
	warm = &cluster->pool[--cluster->n_pool];
	memcpy(name, server->name, sizeof(name));
	*server = *warm;
	memcpy(server->name, name, sizeof(name));
	cluster_set_page(cluster, server);
	return true;
}

enum rr_exit rr_cluster_start(struct rr_cluster *cluster,
			      char error[RR_CLUSTER_ERROR])
{
	bool is_new[RR_CLUSTER_SERVERS] = { false };
	enum rr_exit code = RR_EXIT_OK;

	/* Launched in order, for a replica needs its master's port. */
	for (size_t i = 0; i < cluster->n_servers && code == RR_EXIT_OK; i++) {
		struct rr_server *server = &cluster->servers[i];

		if (server->state != RR_SERVER_DECLARED ||
		    take_from_pool(cluster, server))
			continue;
		is_new[i] = true;
		code = cluster_make(cluster, server, error);
	}
	for (size_t i = 0; i < cluster->n_servers && code == RR_EXIT_OK; i++) {
		if (is_new[i])
			code = cluster_await_up(cluster, &cluster->servers[i],
						error);
	}
	return code;
}

/* ---- Life ---------------------------------------------------------------------- */

static void set_epoch(struct rr_cluster *cluster)
{
	const int64_t real_ns = cluster_clock_ns(CLOCK_REALTIME);

	cluster->moved_ns = 0;
	cluster->epoch_ns = RR_CLUSTER_START_NS;
	if (!rr_cluster_has_time(cluster))
		cluster->epoch_ns = 0;
	else if (cluster->options.clock == RR_CLUSTER_RUNNING)
		cluster->epoch_ns -= real_ns;
}

bool rr_cluster_has_time(const struct rr_cluster *cluster)
{
	return cluster->shim[0] != '\0';
}

void rr_cluster_reset(struct rr_cluster *cluster)
{
	set_epoch(cluster);
	for (size_t i = 0; i < cluster->n_servers; i++) {
		struct rr_server *server = &cluster->servers[i];

		if (server->state == RR_SERVER_RUNNING &&
		    cluster->n_pool < RR_CLUSTER_POOL &&
		    cluster_scrub(cluster, server))
			cluster->pool[cluster->n_pool++] = *server;
		else
			cluster_discard(cluster, server);
	}
	cluster->n_servers = 0;
}

/* Does its clock show the cluster's time? */
static bool follows(const struct rr_cluster *cluster, struct rr_server *server)
{
	struct rl_reply reply;
	long long seconds;

	if (atomic_load(&server->page->pid) == 0 ||
	    rl_run(server->admin, &reply, "TIME") != RL_OK ||
	    reply.type != RL_REPLY_ARRAY || reply.length != 2 ||
	    !rl_reply_number(&reply.elements[0], &seconds))
		return false;
	return llabs(seconds - rr_cluster_now_ns(cluster) / 1000000000) <= 5;
}

/* Starts a first server and puts it into the pool. */
static enum rr_exit try_out(struct rr_cluster *cluster,
			    char error[RR_CLUSTER_ERROR])
{
	struct rr_server server = { 0 };
	enum rr_exit code = cluster_make(cluster, &server, error);

	if (code == RR_EXIT_OK)
		code = cluster_await_up(cluster, &server, error);
	if (code == RR_EXIT_OK && server.page && !follows(cluster, &server))
		code = cluster_fail(error, RR_EXIT_SKIPPED,
				    "the clock shim does nothing");
	if (code == RR_EXIT_OK)
		cluster->pool[cluster->n_pool++] = server;
	else
		cluster_discard(cluster, &server);
	return code;
}

enum rr_exit rr_cluster_open(struct rr_cluster *cluster,
			     struct rr_session *session,
			     const struct rr_cluster_options *options,
			     char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code;

	*cluster =
		(struct rr_cluster){ .session = session, .options = *options };
	if (!rl_token_fresh(NULL, cluster->password))
		return cluster_fail(error, RR_EXIT_INTERNAL, "no random bytes");
	if (options->clock != RR_CLUSTER_REAL)
		cluster_find_shim(options->shim, cluster->shim,
				  sizeof(cluster->shim));
	set_epoch(cluster);
	code = try_out(cluster, error);
	if (code == RR_EXIT_OK || code == RR_EXIT_INTERRUPTED ||
	    !rr_cluster_has_time(cluster))
		return code;
	cluster->shim[0] = '\0';
	set_epoch(cluster);
	return try_out(cluster, error);
}

void rr_cluster_version(const struct rr_cluster *cluster, char *version,
			size_t size)
{
	static const char field[] = "redis_version:";
	struct rl_reply reply;
	const char *found;

	version[0] = '\0';
	if (cluster->n_pool == 0 ||
	    rl_run(cluster->pool[0].admin, &reply, "INFO server") != RL_OK)
		return;
	found = reply.text ? strstr(reply.text, field) : NULL;
	if (found)
		snprintf(version, size, "%.*s",
			 (int)strcspn(found + strlen(field), "\r\n"),
			 found + strlen(field));
}

void rr_cluster_close(struct rr_cluster *cluster)
{
	if (!cluster->session)
		return;
	for (size_t i = 0; i < cluster->n_servers; i++)
		cluster_discard(cluster, &cluster->servers[i]);
	for (size_t i = 0; i < cluster->n_pool; i++)
		cluster_discard(cluster, &cluster->pool[i]);
	cluster->n_servers = cluster->n_pool = 0;
}

/* SPDX-License-Identifier: MIT */
/* The time of a cluster: the shim that is preloaded into its servers, the pages
 * that it shares with us, and their clocks moved by them, or made up without. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/files.h"
#include "base/machine.h"
#include "server.h"

enum { POKE_MS = 200 };

#define WAIT_AT_MOST_NS INT64_C(2000000000)

/* ---- The shim's file ------------------------------------------------------ */

/* path = what DIRECTORY/name resolves to; false if there is no such file. */
static bool resolve(const char *directory, const char *name, char *path, size_t size)
{
	char joined[PATH_MAX], resolved[PATH_MAX];

	if (snprintf(joined, sizeof(joined), "%s%s%s", directory, *directory ? "/" : "", name) >=
	    (int)sizeof(joined))
		return false;
	if (!realpath(joined, resolved) || strlen(resolved) >= size)
		return false;
	strcpy(path, resolved);
	return true;
}

void rr_preload_find(const char *name, char *path, size_t size)
{
	char directory[RR_PATH_SIZE], installed[64];

	path[0] = '\0';
	if (!rr_files_program_directory(directory))
		return;
	snprintf(installed, sizeof(installed), "../libexec/redrace/%s", name);
	if (!resolve(directory, name, path, size))
		resolve(directory, installed, path, size);
}

void rr_shim_find(const char *wanted, char *path, size_t size)
{
	path[0] = '\0';
	if (wanted)
		resolve("", wanted, path, size);
	else
		rr_preload_find("redrace-clock.so", path, size);
}

bool rr_shim_need(const struct rr_cluster *cluster, struct rr_error *error)
{
	return rr_cluster_has_time(cluster) ||
	       rr_error_set(error, RR_ERROR_SKIPPED,
			    "this needs the clock shim, which this server does not run with");
}

/* ---- Pages ---------------------------------------------------------------- */

bool rr_page_make(struct rr_cluster *cluster, struct rr_server *server, struct rr_error *error)
{
	char path[128];
	void *page;

	if (!rr_cluster_has_time(cluster))
		return true;
	/* LD_PRELOAD is split at spaces and colons; this path has none. */
	snprintf(path, sizeof(path), "%s/clock.so", server->process.directory);
	if (symlink(cluster->shim, path) != 0)
		return rr_error_file(error, "make", path);
	snprintf(path, sizeof(path), "%s/clock", server->process.directory);
	page = rr_files_map_new(path, sizeof(*server->page));
	if (!page)
		return rr_error_file(error, "make", path);
	server->page = page;
	if (cluster->options.clock == RR_CLUSTER_FROZEN)
		atomic_store(&server->page->seed, ++cluster->n_made);
	rr_page_set_time(cluster, server);
	return true;
}

void rr_page_set_time(const struct rr_cluster *cluster, struct rr_server *server)
{
	const int64_t ns = cluster->epoch_ns + cluster->moved_ns + server->skew_ns;

	if (!server->page)
		return;
	if (cluster->options.clock == RR_CLUSTER_FROZEN)
		atomic_store(&server->page->frozen_ns, ns);
	else
		atomic_store(&server->page->offset_ns, ns);
}

/* ---- The cluster's time ------------------------------------------------------ */

void rr_page_restart_time(struct rr_cluster *cluster)
{
	cluster->moved_ns = 0;
	cluster->epoch_ns = RR_CLUSTER_START_NS;
	if (!rr_cluster_has_time(cluster))
		cluster->epoch_ns = 0;
	else if (cluster->options.clock == RR_CLUSTER_RUNNING)
		cluster->epoch_ns -= rr_clock_wall_ns();
}

int64_t rr_cluster_now_ns(const struct rr_cluster *cluster)
{
	const int64_t now_ns = cluster->epoch_ns + cluster->moved_ns;

	if (rr_cluster_has_time(cluster) && cluster->options.clock == RR_CLUSTER_FROZEN)
		return now_ns;
	return now_ns + rr_clock_wall_ns();
}

/* A server that counts the time between two looks at the clock by itself is
 * noticed the second time, for that follows at once. */
bool rr_page_is_followed(const struct rr_cluster *cluster, struct rr_server *server)
{
	const int64_t allowed_ns = cluster->options.clock == RR_CLUSTER_FROZEN ?
					   999 :
					   INT64_C(5000000000);
	int64_t ns;

	if (atomic_load(&server->page->pid) == 0)
		return false;
	for (int i = 0; i < 2; i++) {
		/* The server's wall clock. */
		struct rdl_reply reply;
		long long seconds, us;

		if (rdl_run(server->admin, &reply, "TIME") != RDL_OK ||
		    reply.type != RDL_REPLY_ARRAY || reply.length != 2 ||
		    !rdl_reply_number(&reply.elements[0], &seconds) ||
		    !rdl_reply_number(&reply.elements[1], &us))
			return false;
		ns = seconds * INT64_C(1000000000) + us * 1000;
		if (llabs(ns - rr_cluster_now_ns(cluster)) > allowed_ns)
			return false;
	}
	return true;
}

/* ---- Ticks ------------------------------------------------------------------- */

/*
 * Before it answers this it has read what came earlier, and has looked at the
 * clock for whoever is blocked. False when it is too busy to, or gone.
 */
static bool poke(struct rr_server *server)
{
	struct rdl_reply reply;
	bool is_answered = false;

	rdl_link_set_timeout(server->admin, POKE_MS);
	/* The second time over a new connection, if a client closed it. */
	for (int i = 0; i < 2 && !is_answered; i++)
		is_answered = rdl_run(server->admin, &reply, "PING") == RDL_OK ||
			      reply.type == RDL_REPLY_FAILED;
	rdl_link_set_timeout(server->admin, RR_TIMEOUT_MS);
	return is_answered;
}

static void poke_all(struct rr_cluster *cluster, bool is_deaf[RR_CLUSTER_SERVERS])
{
	for (size_t i = 0; i < cluster->n_servers; i++) {
		struct rr_server *server = &cluster->servers[i];

		if (server->state == RR_SERVER_RUNNING && !is_deaf[i])
			is_deaf[i] = !poke(server);
	}
}

/* What rr_cluster_tick() says of it. */
static const char shorten_leases[] = "for _, key in ipairs(redis.call('KEYS', '*')) do\n"
				     "  local left = redis.call('PTTL', key)\n"
				     "  if left >= 0 then\n"
				     "    redis.call('PEXPIRE', key, math.max(0, left - ARGV[1]))\n"
				     "  end\n"
				     "end\n";

enum rr_tick rr_cluster_tick(struct rr_cluster *cluster, int64_t ns)
{
	const int ms = (int)((ns + 999999) / 1000000);
	int64_t deadline_ns = 0;

	if (rr_cluster_has_time(cluster)) {
		bool is_deaf[RR_CLUSTER_SERVERS] = { false };

		/* A new connection is accepted before the first answer; what came
		 * over it is read before the second. */
		poke_all(cluster, is_deaf);
		poke_all(cluster, is_deaf);
		cluster->moved_ns += ns;
		for (size_t i = 0; i < cluster->n_servers; i++)
			rr_page_set_time(cluster, &cluster->servers[i]);
		/* Whoever is due is answered beside the first answer, so before the
		 * second. */
		poke_all(cluster, is_deaf);
		poke_all(cluster, is_deaf);
		return RR_TICK_MOVED;
	}
	if (ns > WAIT_AT_MOST_NS) {
		enum rr_tick how = RR_TICK_EXPIRED;

		cluster->moved_ns += ns;
		for (size_t i = 0; i < cluster->n_servers; i++) {
			struct rdl_reply reply;

			if (rr_cluster_state(cluster, (int)i) == RR_SERVER_RUNNING &&
			    rdl_run(cluster->servers[i].admin, &reply, "EVAL %s 0 %lld",
				    shorten_leases, (long long)ns / 1000000) != RDL_OK)
				how = RR_TICK_FAILED;
		}
		return how;
	}
	while (rr_server_wait(cluster, ms, &deadline_ns, NULL, NULL))
		continue;
	return cluster->session->signals.interrupted ? RR_TICK_FAILED : RR_TICK_WAITED;
}

bool rr_cluster_skew(struct rr_cluster *cluster, int server, int64_t ns, struct rr_error *error)
{
	struct rr_server *it;

	if (!rr_shim_need(cluster, error))
		return false;
	if (server < 0 || (size_t)server >= cluster->n_servers)
		return rr_error_set(error, RR_ERROR_USAGE, "there is no such server");
	it = &cluster->servers[server];
	it->skew_ns = ns;
	rr_page_set_time(cluster, it);
	if (it->state == RR_SERVER_RUNNING)
		poke(it);
	return true;
}

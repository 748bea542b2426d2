/* SPDX-License-Identifier: MIT */
/* Faults of disks and of memory: power cuts, torn files, fsyncs that are slow or
 * deadly, snapshots that fail, memory that is full. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

enum { SAVE_MS = 10000 };

/* ---- The append-only file ------------------------------------------------------- */

void rr_disk_remove_data(struct rr_server *server)
{
	static const char *const names[] = { "dump.rdb", "dump.rdb.aside", "appendonlydir",
					     "appendonly.aof" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", server->process.directory, names[i]);
		rr_guardian_remove_tree(path);
	}
	if (server->page)
		atomic_store(&server->page->n_synced, 0);
}

static bool find_aof(const struct rr_server *server, char *path, size_t size, const char **name,
		     struct rr_error *error)
{
	return rr_aof_path(server, path, size, name) ||
	       rr_error_set(error, RR_ERROR_USAGE, "%s has no append-only file", server->name);
}

bool rr_disk_tear(struct rr_cluster *cluster, struct rr_server *server,
		  const struct rr_injection *injection, struct rr_error *error)
{
	const char *name;
	char path[512];

	(void)cluster;
	return find_aof(server, path, sizeof(path), &name, error) &&
	       (rr_aof_tear(path, injection->tear, (long)injection->amount, error) ||
		rr_error_set(error, RR_ERROR_USAGE,
			     "the append-only file of %s is too short: %lld bytes", server->name,
			     (long long)rr_aof_length(path)));
}

bool rr_disk_cut_power(const struct rr_server *server, struct rr_error *error)
{
	const char *name;
	char path[512];
	int64_t synced;

	if (!rr_aof_path(server, path, sizeof(path), &name))
		return true;
	synced = rr_aof_synced(server, name);
	return synced >= rr_aof_length(path) || rr_aof_shorten(path, synced, error);
}

bool rr_disk_await_sync(struct rr_cluster *cluster, struct rr_server *server,
			const struct rr_injection *injection, struct rr_error *error)
{
	const int limit_ms = rr_inject_limit_ms(injection);
	int64_t deadline_ns = 0;
	const char *name;
	char path[512];

	if (!find_aof(server, path, sizeof(path), &name, error))
		return false;
	while (rr_aof_synced(server, name) < rr_aof_length(path)) {
		if (!rr_server_wait(cluster, limit_ms, &deadline_ns,
				    "an fsync of all that was written", error))
			return false;
	}
	return true;
}

/* ---- fsync: what the shim is told ------------------------------------------------- */

bool rr_disk_slow_down(struct rr_cluster *cluster, struct rr_server *server,
		       const struct rr_injection *injection, struct rr_error *error)
{
	(void)cluster;
	(void)error;
	atomic_store(&server->page->sync_delay_us, injection->amount / 1000);
	return true;
}

bool rr_disk_die_in_sync(struct rr_cluster *cluster, struct rr_server *server,
			 const struct rr_injection *injection, struct rr_error *error)
{
	(void)cluster;
	(void)injection;
	(void)error;
	server->kills_itself = true;
	atomic_store(&server->page->die_in_sync, 1);
	return true;
}

/* ---- Snapshots -------------------------------------------------------------------- */

/* Waits until INFO has lost one line and has another. */
static bool await_line(struct rr_cluster *cluster, struct rr_server *server, const char *gone,
		       const char *there, int timeout_ms, struct rr_error *error)
{
	int64_t deadline_ns = 0;
	struct rdl_reply reply;

	do {
		if (!rr_server_wait(cluster, timeout_ms, &deadline_ns, "the end of a snapshot",
				    error))
			return false;
		if (rdl_run(server->admin, &reply, "INFO persistence") != RDL_OK)
			return rr_server_refused(server, error);
	} while (!reply.text || strstr(reply.text, gone) || !strstr(reply.text, there));
	return true;
}

/* Saves, and waits until INFO says what came of it. */
static bool save_snapshot(struct rr_cluster *cluster, struct rr_server *server, const char *result,
			  struct rr_error *error)
{
	return rr_server_run(server, error, "BGSAVE") &&
	       await_line(cluster, server, "rdb_bgsave_in_progress:1", result, SAVE_MS, error);
}

bool rr_disk_await_save(struct rr_cluster *cluster, struct rr_server *server,
			const struct rr_injection *injection, struct rr_error *error)
{
	const int limit_ms = rr_inject_limit_ms(injection);

	if (server->options.aof != RR_AOF_NONE)
		return await_line(cluster, server, "aof_rewrite_in_progress:1",
				  "aof_rewrite_scheduled:0", limit_ms, error);
	return await_line(cluster, server, "rdb_bgsave_in_progress:1",
			  "rdb_changes_since_last_save:0\r", limit_ms, error);
}

/* dump.rdb, and what it is called while a directory has its name. */
static void snapshot_paths(const struct rr_server *server, char path[128], char aside[128])
{
	snprintf(path, 128, "%s/dump.rdb", server->process.directory);
	snprintf(aside, 128, "%s/dump.rdb.aside", server->process.directory);
}

/* Without a save point nobody minds that saving fails; a declared one stays. */
static bool set_save_point(struct rr_server *server, const char *point, struct rr_error *error)
{
	return server->options.rdb || rr_server_run(server, error, "CONFIG SET save %s", point);
}

bool rr_disk_break(struct rr_cluster *cluster, struct rr_server *server,
		   const struct rr_injection *injection, struct rr_error *error)
{
	char path[128], aside[128];

	(void)injection;
	snapshot_paths(server, path, aside);
	if ((rename(path, aside) != 0 && errno != ENOENT) || mkdir(path, 0700) != 0)
		return rr_error_file(error, "make", path);
	return set_save_point(server, "1000000000 1", error) &&
	       save_snapshot(cluster, server, "rdb_last_bgsave_status:err", error);
}

bool rr_disk_mend(struct rr_cluster *cluster, struct rr_server *server,
		  const struct rr_injection *injection, struct rr_error *error)
{
	char path[128], aside[128];

	(void)injection;
	snapshot_paths(server, path, aside);
	rmdir(path);
	if (rename(aside, path) != 0 && errno != ENOENT)
		return rr_error_file(error, "make", path);
	return save_snapshot(cluster, server, "rdb_last_bgsave_status:ok", error) &&
	       set_save_point(server, "", error);
}

/* ---- Memory ------------------------------------------------------------------------ */

bool rr_memory_fill(struct rr_cluster *cluster, struct rr_server *server,
		    const struct rr_injection *injection, struct rr_error *error)
{
	const long long limit = injection->fault == RR_FAULT_FILL ? 1 : server->options.maxmemory;

	(void)cluster;
	return rr_server_run(server, error, "CONFIG SET maxmemory %lld", limit);
}

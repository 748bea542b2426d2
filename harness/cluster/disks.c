/* SPDX-License-Identifier: MIT */
/* What goes wrong with a disk, and with the memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster_parts.h"

enum { SAVE_MS = 10000 };

/* ---- The append-only file ----------------------------------------------------- */

static enum rr_exit shorten(const char *path, int64_t length,
			    char error[RR_CLUSTER_ERROR])
{
	if (truncate(path, length) == 0)
		return RR_EXIT_OK;
	return cluster_fail(error, RR_EXIT_FILE, "cannot cut '%s': %s", path,
			    strerror(errno));
}

/* Where to cut; -1 when the file does not have that. */
static int64_t tear_at(const char *path, enum rr_tear tear, long n)
{
	const int64_t length = cluster_file_length(path);
	int64_t start, end;

	if (n < 0)
		return -1;
	if (tear == RR_TEAR_LAST_BYTES)
		return n <= length ? length - n : -1;
	if (tear == RR_TEAR_AT_BYTE)
		return n <= length ? n : -1;
	if (tear == RR_TEAR_AFTER_COMMAND && n == 0)
		return 0;
	if (!cluster_aof_command(path, n, &start, &end))
		return -1;
	return tear == RR_TEAR_IN_COMMAND ? (start + end) / 2 : end;
}

/* One command in the middle, the later ones stay. */
static enum rr_exit damage(const char *path, enum rr_tear tear, int64_t start,
			   int64_t end, char error[RR_CLUSTER_ERROR])
{
	const bool done = tear == RR_TEAR_OVER_COMMAND ?
				  cluster_aof_overwrite(path, start) :
				  cluster_aof_take_out(path, start, end);

	if (done)
		return RR_EXIT_OK;
	return cluster_fail(error, RR_EXIT_FILE, "cannot change '%s': %s", path,
			    strerror(errno));
}

enum rr_exit rr_cluster_tear(struct rr_cluster *cluster, int server,
			     enum rr_tear tear, long n,
			     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server, RR_SERVER_DOWN,
					      "tear the append-only file of",
					      error);
	char path[512];
	const char *name;
	int64_t at, start, end;

	if (!it)
		return RR_EXIT_USAGE;
	if (!cluster_aof_path(it, path, sizeof(path), &name))
		return cluster_fail(error, RR_EXIT_USAGE,
				    "%s has no append-only file", it->name);
	if ((tear == RR_TEAR_OVER_COMMAND || tear == RR_TEAR_WITHOUT_COMMAND) &&
	    cluster_aof_command(path, n, &start, &end))
		return damage(path, tear, start, end, error);
	at = tear_at(path, tear, n);
	if (at < 0)
		return cluster_fail(
			error, RR_EXIT_USAGE,
			"the append-only file of %s is too short: %lld bytes",
			it->name, (long long)cluster_file_length(path));
	return shorten(path, at, error);
}

enum rr_exit rr_cluster_power_cut(struct rr_cluster *cluster, int server,
				  char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code = cluster_need_shim(cluster, error);
	const struct rr_server *it;
	char path[512];
	const char *name;
	int64_t synced;

	if (code == RR_EXIT_OK)
		code = rr_cluster_kill(cluster, server, error);
	if (code != RR_EXIT_OK)
		return code;
	it = &cluster->servers[server];
	if (!cluster_aof_path(it, path, sizeof(path), &name))
		return RR_EXIT_OK;
	synced = cluster_synced(it, name);
	if (synced >= cluster_file_length(path))
		return RR_EXIT_OK;
	return shorten(path, synced, error);
}

enum rr_exit rr_cluster_await_sync(struct rr_cluster *cluster, int server,
				   int timeout_ms, char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code = cluster_need_shim(cluster, error);
	struct rr_server *it = cluster_server(
		cluster, server, RR_SERVER_RUNNING, "await the sync of", error);
	int64_t deadline_ns = 0;
	char path[512];
	const char *name;

	if (code != RR_EXIT_OK || !it)
		return code != RR_EXIT_OK ? code : RR_EXIT_USAGE;
	if (!cluster_aof_path(it, path, sizeof(path), &name))
		return cluster_fail(error, RR_EXIT_USAGE,
				    "%s has no append-only file", it->name);
	while (cluster_synced(it, name) < cluster_file_length(path)) {
		if (!cluster_wait(cluster, timeout_ms, &deadline_ns))
			return cluster_late(cluster,
					    "an fsync of all that was written",
					    error);
	}
	return RR_EXIT_OK;
}

/* ---- Its orders to the shim ------------------------------------------------------ */

enum rr_exit rr_cluster_slow_disk(struct rr_cluster *cluster, int server,
				  int64_t delay_us,
				  char error[RR_CLUSTER_ERROR])
{
	const enum rr_exit code = cluster_need_shim(cluster, error);
	struct rr_server *it;

	if (code != RR_EXIT_OK)
		return code;
	it = cluster_server(cluster, server, RR_SERVER_RUNNING,
			    "slow down the disk of", error);
	if (!it)
		return RR_EXIT_USAGE;
	it->is_used_up = true;
	atomic_store(&it->page->sync_delay_us, delay_us);
	return RR_EXIT_OK;
}

enum rr_exit rr_cluster_die_in_sync(struct rr_cluster *cluster, int server,
				    char error[RR_CLUSTER_ERROR])
{
	const enum rr_exit code = cluster_need_shim(cluster, error);
	struct rr_server *it;

	if (code != RR_EXIT_OK)
		return code;
	it = cluster_server(cluster, server, RR_SERVER_RUNNING,
			    "arrange the death of", error);
	if (!it)
		return RR_EXIT_USAGE;
	it->is_used_up = true;
	atomic_store(&it->page->die_in_sync, 1);
	return RR_EXIT_OK;
}

/* ---- Snapshots -------------------------------------------------------------------- */

/* Waits until INFO has lost one line and has another. */
static enum rr_exit await_line(struct rr_cluster *cluster,
			       struct rr_server *server, const char *gone,
			       const char *there, int timeout_ms,
			       char error[RR_CLUSTER_ERROR])
{
	int64_t deadline_ns = 0;
	struct rl_reply reply;

	do {
		if (!cluster_wait(cluster, timeout_ms, &deadline_ns))
			return cluster_late(cluster, "the end of a snapshot",
					    error);
		if (rl_run(server->admin, &reply, "INFO persistence") != RL_OK)
			return cluster_refused(server, error);
	} while (!reply.text || strstr(reply.text, gone) ||
		 !strstr(reply.text, there));
	return RR_EXIT_OK;
}

/* Saves, and waits until INFO says what came of it. */
static enum rr_exit save(struct rr_cluster *cluster, struct rr_server *server,
			 const char *result, char error[RR_CLUSTER_ERROR])
{
	struct rl_reply reply;

	if (rl_run(server->admin, &reply, "BGSAVE") != RL_OK)
		return cluster_refused(server, error);
	return await_line(cluster, server, "rdb_bgsave_in_progress:1", result,
			  SAVE_MS, error);
}

enum rr_exit rr_cluster_await_save(struct rr_cluster *cluster, int server,
				   int timeout_ms, char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server,
					      RR_SERVER_RUNNING,
					      "await the snapshot of", error);

	if (!it)
		return RR_EXIT_USAGE;
	if (it->options.aof != RR_AOF_NONE)
		return await_line(cluster, it, "aof_rewrite_in_progress:1",
				  "aof_rewrite_scheduled:0", timeout_ms, error);
	return await_line(cluster, it, "rdb_bgsave_in_progress:1",
			  "rdb_changes_since_last_save:0\r", timeout_ms, error);
}

/* dump.rdb, and what it is called while a directory has its name. */
static void snapshot_paths(const struct rr_server *server, char path[128],
			   char aside[128])
{
	snprintf(path, 128, "%s/dump.rdb", server->ward.directory);
	snprintf(aside, 128, "%s/dump.rdb.aside", server->ward.directory);
}

enum rr_exit rr_cluster_break_saving(struct rr_cluster *cluster, int server,
				     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server,
					      RR_SERVER_RUNNING,
					      "break the snapshots of", error);
	char path[128], aside[128];
	struct rl_reply reply;

	if (!it)
		return RR_EXIT_USAGE;
	it->is_used_up = true;
	snapshot_paths(it, path, aside);
	if ((rename(path, aside) != 0 && errno != ENOENT) ||
	    mkdir(path, 0700) != 0)
		return cluster_fail(error, RR_EXIT_FILE, "cannot make '%s': %s",
				    path, strerror(errno));
	/* Without a save point nobody minds that saving fails. */
	if (!it->options.rdb &&
	    rl_run(it->admin, &reply, "CONFIG SET save %s",
		   "1000000000 1") != RL_OK)
		return cluster_refused(it, error);
	return save(cluster, it, "rdb_last_bgsave_status:err", error);
}

enum rr_exit rr_cluster_mend_saving(struct rr_cluster *cluster, int server,
				    char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server,
					      RR_SERVER_RUNNING,
					      "mend the snapshots of", error);
	char path[128], aside[128];
	struct rl_reply reply;
	enum rr_exit code;

	if (!it)
		return RR_EXIT_USAGE;
	snapshot_paths(it, path, aside);
	rmdir(path);
	if (rename(aside, path) != 0 && errno != ENOENT)
		return cluster_fail(error, RR_EXIT_FILE, "cannot make '%s': %s",
				    path, strerror(errno));
	code = save(cluster, it, "rdb_last_bgsave_status:ok", error);
	if (code == RR_EXIT_OK && !it->options.rdb &&
	    rl_run(it->admin, &reply, "CONFIG SET save %s", "") != RL_OK)
		return cluster_refused(it, error);
	return code;
}

/* ---- Memory ------------------------------------------------------------------------ */

enum rr_exit rr_cluster_fill(struct rr_cluster *cluster, int server, bool full,
			     char error[RR_CLUSTER_ERROR])
{
	struct rr_server *it = cluster_server(cluster, server,
					      RR_SERVER_RUNNING, "fill", error);
	struct rl_reply reply;

	if (!it)
		return RR_EXIT_USAGE;
	if (rl_run(it->admin, &reply, "CONFIG SET maxmemory %lld",
		   full ? 1LL : it->options.maxmemory) != RL_OK)
		return cluster_refused(it, error);
	return RR_EXIT_OK;
}

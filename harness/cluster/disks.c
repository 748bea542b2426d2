/* SPDX-License-Identifier: MIT */
/* Faults of disks and of memory: the append-only file cut or damaged, power cuts,
 * fsyncs that are slow or deadly, snapshots that fail, memory that is full. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

enum { SAVE_MS = 10000 };

/* ---- The append-only file: which it is, where its commands end -------------- */

/* -1 = there is no such file. */
static int64_t file_length(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_size : -1;
}

/* The last file of type `i` in the manifest: "file NAME seq 1 type i". */
static bool newest_part(const char *manifest, char *name, size_t size)
{
	FILE *file = fopen(manifest, "re");
	char line[512], part[256], type;
	bool is_found = false;

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "file %255s seq %*d type %c", part, &type) ==
			    2 &&
		    type == 'i') {
			snprintf(name, size, "%s", part);
			is_found = true;
		}
	}
	fclose(file);
	return is_found;
}

/* The part that commands are appended to: its path, and its name in it. */
static bool aof_path(const struct rr_server *server, char *path, size_t size,
		     const char **name)
{
	char manifest[192], part[256] = "appendonly.aof";

	/* Before Redis 7.0 it is one file beside dump.rdb. */
	snprintf(manifest, sizeof(manifest),
		 "%s/appendonlydir/appendonly.aof.manifest",
		 server->process.directory);
	if (newest_part(manifest, part, sizeof(part)))
		snprintf(path, size, "%s/appendonlydir/%s",
			 server->process.directory, part);
	else
		snprintf(path, size, "%s/%s", server->process.directory, part);
	*name = strrchr(path, '/') + 1;
	return file_length(path) >= 0;
}

/* "*3\r\n": the number after the sign; -1 if there is no such line. */
static long read_length(FILE *file, char sign)
{
	char line[32];

	if (!fgets(line, sizeof(line), file) || line[0] != sign)
		return -1;
	return strtol(line + 1, NULL, 10);
}

/* Over one whole command; false at the end and where none begins. */
static bool skip_command(FILE *file, int64_t length)
{
	const long words = read_length(file, '*');

	for (long i = 0; i < words; i++) {
		const long bytes = read_length(file, '$');

		if (bytes < 0 || fseek(file, bytes + 2, SEEK_CUR) != 0 ||
		    ftell(file) > length)
			return false;
	}
	return words > 0;
}

/* Where the n-th command begins and ends; false when there are fewer. */
static bool aof_command(const char *path, long n, int64_t *start, int64_t *end)
{
	const int64_t length = file_length(path);
	FILE *file = fopen(path, "re");
	bool is_there = file && n > 0;

	*start = *end = 0;
	for (long i = 0; is_there && i < n; i++) {
		is_there = skip_command(file, length);
		*start = *end;
		*end = is_there ? ftell(file) : *end;
	}
	if (file)
		fclose(file);
	return is_there;
}

/* Takes the bytes from `start` to `end` out: those behind move up. False with
 * errno. */
static bool aof_take_out(const char *path, int64_t start, int64_t end)
{
	const int64_t behind = file_length(path) - end;
	FILE *file = fopen(path, "r+e");
	char *bytes = malloc((size_t)behind + 1);
	bool done = file && bytes && fseek(file, end, SEEK_SET) == 0 &&
		    fread(bytes, 1, (size_t)behind, file) == (size_t)behind &&
		    fseek(file, start, SEEK_SET) == 0 &&
		    fwrite(bytes, 1, (size_t)behind, file) == (size_t)behind;

	free(bytes);
	if (file && fclose(file) != 0)
		done = false;
	return done && truncate(path, start + behind) == 0;
}

/* Makes one byte another. False with errno. */
static bool aof_overwrite(const char *path, int64_t at)
{
	FILE *file = fopen(path, "r+e");
	bool done = file && fseek(file, at, SEEK_SET) == 0 &&
		    fputc('?', file) == '?';

	if (file && fclose(file) != 0)
		done = false;
	return done;
}

/* ---- How much of it was synced ------------------------------------------------ */

static struct rr_synced *find_synced(const struct rr_server *server,
				     const char *name)
{
	const unsigned n = atomic_load(&server->page->n_synced);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(server->page->synced[i].name, name) == 0)
			return &server->page->synced[i];
	}
	return NULL;
}

/* How much of the file a finished fsync covers. */
static int64_t synced_length(const struct rr_server *server, const char *name)
{
	const struct rr_synced *file = find_synced(server, name);

	return file ? atomic_load(&file->length) : 0;
}

void rr_disk_forget_torn(struct rr_server *server)
{
	struct rr_synced *file;
	const char *name;
	char path[512];

	if (!server->page || !aof_path(server, path, sizeof(path), &name))
		return;
	file = find_synced(server, name);
	if (file && atomic_load(&file->length) > file_length(path))
		atomic_store(&file->length, file_length(path));
}

void rr_disk_remove_data(struct rr_server *server)
{
	static const char *const names[] = { "dump.rdb", "dump.rdb.aside",
					     "appendonlydir",
					     "appendonly.aof" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", server->process.directory,
			 names[i]);
		rr_guardian_remove_tree(path);
	}
	if (server->page)
		atomic_store(&server->page->n_synced, 0);
}

/* ---- Truncation and damage ------------------------------------------------------ */

static bool cannot_change(const char *verb, const char *path,
			  struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_FILE, "cannot %s '%s': %s", verb,
			    path, strerror(errno));
}

static bool cut_file(const char *path, int64_t length, struct rr_error *error)
{
	return truncate(path, length) == 0 || cannot_change("cut", path, error);
}

/* Where to cut; -1 when the file does not have that. */
static int64_t tear_at(const char *path, enum rr_tear tear, long n)
{
	const int64_t length = file_length(path);
	int64_t start, end;

	if (n < 0)
		return -1;
	if (tear == RR_TEAR_LAST_BYTES)
		return n <= length ? length - n : -1;
	if (tear == RR_TEAR_AT_BYTE)
		return n <= length ? n : -1;
	if (tear == RR_TEAR_AFTER_COMMAND && n == 0)
		return 0;
	if (!aof_command(path, n, &start, &end))
		return -1;
	return tear == RR_TEAR_IN_COMMAND ? (start + end) / 2 : end;
}

/* One command in the middle; the later ones stay. */
static bool damage_command(const char *path, enum rr_tear tear, int64_t start,
			   int64_t end, struct rr_error *error)
{
	const bool done = tear == RR_TEAR_OVER_COMMAND ?
				  aof_overwrite(path, start) :
				  aof_take_out(path, start, end);

	return done || cannot_change("change", path, error);
}

bool rr_cluster_tear(struct rr_cluster *cluster, int server, enum rr_tear tear,
		     long n, struct rr_error *error)
{
	struct rr_server *it =
		rr_server_in_state(cluster, server, RR_SERVER_DOWN,
				   "tear the append-only file of", error);
	char path[512];
	const char *name;
	int64_t at, start, end;

	if (!it)
		return false;
	if (!aof_path(it, path, sizeof(path), &name))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "%s has no append-only file", it->name);
	if ((tear == RR_TEAR_OVER_COMMAND || tear == RR_TEAR_WITHOUT_COMMAND) &&
	    aof_command(path, n, &start, &end))
		return damage_command(path, tear, start, end, error);
	at = tear_at(path, tear, n);
	if (at < 0)
		return rr_error_set(
			error, RR_ERROR_USAGE,
			"the append-only file of %s is too short: %lld bytes",
			it->name, (long long)file_length(path));
	return cut_file(path, at, error);
}

bool rr_cluster_power_cut(struct rr_cluster *cluster, int server,
			  struct rr_error *error)
{
	const struct rr_server *it;
	const char *name;
	char path[512];
	int64_t synced;

	if (!rr_shim_need(cluster, error) ||
	    !rr_cluster_kill(cluster, server, error))
		return false;
	it = &cluster->servers[server];
	if (!aof_path(it, path, sizeof(path), &name))
		return true;
	synced = synced_length(it, name);
	return synced >= file_length(path) || cut_file(path, synced, error);
}

/* ---- fsync: what the shim is told --------------------------------------------------- */

/* A server that runs with the shim. */
static struct rr_server *server_with_shim(struct rr_cluster *cluster,
					  int server, const char *verb,
					  struct rr_error *error)
{
	if (!rr_shim_need(cluster, error))
		return NULL;
	return rr_server_in_state(cluster, server, RR_SERVER_RUNNING, verb,
				  error);
}

bool rr_cluster_await_sync(struct rr_cluster *cluster, int server,
			   int timeout_ms, struct rr_error *error)
{
	struct rr_server *it =
		server_with_shim(cluster, server, "await the sync of", error);
	int64_t deadline_ns = 0;
	char path[512];
	const char *name;

	if (!it)
		return false;
	if (!aof_path(it, path, sizeof(path), &name))
		return rr_error_set(error, RR_ERROR_USAGE,
				    "%s has no append-only file", it->name);
	while (synced_length(it, name) < file_length(path)) {
		if (!rr_server_wait(cluster, timeout_ms, &deadline_ns,
				    "an fsync of all that was written", error))
			return false;
	}
	return true;
}

bool rr_cluster_slow_disk(struct rr_cluster *cluster, int server,
			  int64_t delay_us, struct rr_error *error)
{
	struct rr_server *it = server_with_shim(cluster, server,
						"slow down the disk of", error);

	if (!it)
		return false;
	it->is_used_up = true;
	atomic_store(&it->page->sync_delay_us, delay_us);
	return true;
}

bool rr_cluster_die_in_sync(struct rr_cluster *cluster, int server,
			    struct rr_error *error)
{
	struct rr_server *it = server_with_shim(cluster, server,
						"arrange the death of", error);

	if (!it)
		return false;
	it->is_used_up = true;
	atomic_store(&it->page->die_in_sync, 1);
	return true;
}

/* ---- Snapshots -------------------------------------------------------------------- */

/* Waits until INFO has lost one line and has another. */
static bool await_line(struct rr_cluster *cluster, struct rr_server *server,
		       const char *gone, const char *there, int timeout_ms,
		       struct rr_error *error)
{
	int64_t deadline_ns = 0;
	struct rl_reply reply;

	do {
		if (!rr_server_wait(cluster, timeout_ms, &deadline_ns,
				    "the end of a snapshot", error))
			return false;
		if (rl_run(server->admin, &reply, "INFO persistence") != RL_OK)
			return rr_server_refused(server, error);
	} while (!reply.text || strstr(reply.text, gone) ||
		 !strstr(reply.text, there));
	return true;
}

/* Saves, and waits until INFO says what came of it. */
static bool save_snapshot(struct rr_cluster *cluster, struct rr_server *server,
			  const char *result, struct rr_error *error)
{
	struct rl_reply reply;

	if (rl_run(server->admin, &reply, "BGSAVE") != RL_OK)
		return rr_server_refused(server, error);
	return await_line(cluster, server, "rdb_bgsave_in_progress:1", result,
			  SAVE_MS, error);
}

bool rr_cluster_await_save(struct rr_cluster *cluster, int server,
			   int timeout_ms, struct rr_error *error)
{
	struct rr_server *it =
		rr_server_in_state(cluster, server, RR_SERVER_RUNNING,
				   "await the snapshot of", error);

	if (!it)
		return false;
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
	snprintf(path, 128, "%s/dump.rdb", server->process.directory);
	snprintf(aside, 128, "%s/dump.rdb.aside", server->process.directory);
}

/* Without a save point nobody minds that saving fails; a declared one stays. */
static bool set_save_point(struct rr_server *server, const char *point,
			   struct rr_error *error)
{
	struct rl_reply reply;

	return server->options.rdb ||
	       rl_run(server->admin, &reply, "CONFIG SET save %s", point) ==
		       RL_OK ||
	       rr_server_refused(server, error);
}

bool rr_cluster_break_saving(struct rr_cluster *cluster, int server,
			     struct rr_error *error)
{
	struct rr_server *it =
		rr_server_in_state(cluster, server, RR_SERVER_RUNNING,
				   "break the snapshots of", error);
	char path[128], aside[128];

	if (!it)
		return false;
	it->is_used_up = true;
	snapshot_paths(it, path, aside);
	if ((rename(path, aside) != 0 && errno != ENOENT) ||
	    mkdir(path, 0700) != 0)
		return cannot_change("make", path, error);
	return set_save_point(it, "1000000000 1", error) &&
	       save_snapshot(cluster, it, "rdb_last_bgsave_status:err", error);
}

bool rr_cluster_mend_saving(struct rr_cluster *cluster, int server,
			    struct rr_error *error)
{
	struct rr_server *it =
		rr_server_in_state(cluster, server, RR_SERVER_RUNNING,
				   "mend the snapshots of", error);
	char path[128], aside[128];

	if (!it)
		return false;
	snapshot_paths(it, path, aside);
	rmdir(path);
	if (rename(aside, path) != 0 && errno != ENOENT)
		return cannot_change("make", path, error);
	return save_snapshot(cluster, it, "rdb_last_bgsave_status:ok", error) &&
	       set_save_point(it, "", error);
}

/* ---- Memory ------------------------------------------------------------------------ */

bool rr_cluster_fill(struct rr_cluster *cluster, int server, bool full,
		     struct rr_error *error)
{
	struct rr_server *it = rr_server_in_state(
		cluster, server, RR_SERVER_RUNNING, "fill", error);
	struct rl_reply reply;

	return it && (rl_run(it->admin, &reply, "CONFIG SET maxmemory %lld",
			     full ? 1LL : it->options.maxmemory) == RL_OK ||
		      rr_server_refused(it, error));
}

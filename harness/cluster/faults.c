/* SPDX-License-Identifier: MIT */
/* Faults: what each needs of a server, and what it does to processes, to links between a
 * master and its replicas, to disks and to memory. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "server.h"

/* The dead port is tcpmux's, which nobody has offered for decades. */
enum { DEAD_PORT = 1, LIMIT_MS = 2000, SAVE_MS = 10000, AOF_PATH = 512 };

/* Does what an injection says to a server in a fit state. */
typedef bool inject_function(struct rr_cluster *cluster, struct rr_server *server,
			     const struct rr_injection *injection, struct rr_error *error);

/* How long an await lasts at most. */
static int limit_of(const struct rr_injection *injection)
{
	return injection->amount ? (int)(injection->amount / 1000000) : LIMIT_MS;
}

/* ---- The append-only file ------------------------------------------------------ */

/* -1 = there is none. */
static int64_t aof_length(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_size : -1;
}

/* The part that commands are appended to: its path, and its name in it. False: there is none. */
static bool find_aof(const struct rr_server *server, char path[AOF_PATH], const char **name)
{
	const char *directory = server->process.directory;
	char manifest[192], line[512], part[256], type;
	FILE *file;

	/* Before Redis 7.0 it is one file beside dump.rdb. */
	snprintf(path, AOF_PATH, "%s/appendonly.aof", directory);
	snprintf(manifest, sizeof(manifest), "%s/appendonlydir/appendonly.aof.manifest", directory);
	file = fopen(manifest, "re");
	/* The last file of type `i`: "file NAME seq 1 type i". */
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "file %255s seq %*d type %c", part, &type) == 2 && type == 'i')
			snprintf(path, AOF_PATH, "%s/appendonlydir/%s", directory, part);
	}
	if (file)
		fclose(file);
	*name = strrchr(path, '/') + 1;
	return aof_length(path) >= 0;
}

static bool need_aof(const struct rr_server *server, char path[AOF_PATH], const char **name,
		     struct rr_error *error)
{
	return find_aof(server, path, name) ||
	       rr_error_set(error, RR_ERROR_USAGE, "%s has no append-only file", server->name);
}

static struct rr_synced *find_synced(const struct rr_server *server, const char *name)
{
	const unsigned n = atomic_load(&server->page->n_synced);

	for (unsigned i = 0; i < n; i++) {
		if (strcmp(server->page->synced[i].name, name) == 0)
			return &server->page->synced[i];
	}
	return NULL;
}

/* How much of the file a finished fsync covers. */
static int64_t aof_synced(const struct rr_server *server, const char *name)
{
	const struct rr_synced *file = find_synced(server, name);

	return file ? atomic_load(&file->length) : 0;
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

		if (bytes < 0 || fseek(file, bytes + 2, SEEK_CUR) != 0 || ftell(file) > length)
			return false;
	}
	return words > 0;
}

/* Where the n-th command begins and ends; false when there are fewer. */
static bool find_command(const char *path, long n, int64_t *start, int64_t *end)
{
	const int64_t length = aof_length(path);
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
static bool take_out(const char *path, int64_t start, int64_t end)
{
	const int64_t behind = aof_length(path) - end;
	FILE *file = fopen(path, "r+e");
	char *bytes = rr_malloc((size_t)behind + 1);
	bool done = file && fseek(file, end, SEEK_SET) == 0 &&
		    fread(bytes, 1, (size_t)behind, file) == (size_t)behind &&
		    fseek(file, start, SEEK_SET) == 0 &&
		    fwrite(bytes, 1, (size_t)behind, file) == (size_t)behind;

	free(bytes);
	if (file && fclose(file) != 0)
		done = false;
	return done && truncate(path, start + behind) == 0;
}

/* Makes one byte another. False with errno. */
static bool overwrite(const char *path, int64_t at)
{
	FILE *file = fopen(path, "r+e");
	bool done = file && fseek(file, at, SEEK_SET) == 0 && fputc('?', file) == '?';

	if (file && fclose(file) != 0)
		done = false;
	return done;
}

static bool inject_tear(struct rr_cluster *cluster, struct rr_server *server,
			const struct rr_injection *injection, struct rr_error *error)
{
	const enum rr_tear tear = injection->tear;
	const long n = (long)injection->amount;
	int64_t length, at, start, end;
	const char *name;
	char path[AOF_PATH];
	bool is_there;

	(void)cluster;
	if (!need_aof(server, path, &name, error))
		return false;
	length = aof_length(path);
	is_there = find_command(path, n, &start, &end);
	at = tear == RR_TEAR_LAST_BYTES              ? length - n :
	     tear == RR_TEAR_AT_BYTE                 ? n :
	     tear == RR_TEAR_AFTER_COMMAND && n == 0 ? 0 :
	     !is_there                               ? -1 :
	     tear == RR_TEAR_AFTER_COMMAND           ? end :
	     tear == RR_TEAR_IN_COMMAND              ? (start + end) / 2 :
						       start;
	if (n < 0 || at < 0 || at > length)
		return rr_error_set(error, RR_ERROR_USAGE,
				    "the append-only file of %s is too short: %lld bytes",
				    server->name, (long long)length);
	if (tear == RR_TEAR_OVER_COMMAND)
		return overwrite(path, start) || rr_error_file(error, "change", path);
	if (tear == RR_TEAR_WITHOUT_COMMAND)
		return take_out(path, start, end) || rr_error_file(error, "change", path);
	return truncate(path, at) == 0 || rr_error_file(error, "cut", path);
}

static bool await_sync(struct rr_cluster *cluster, struct rr_server *server,
		       const struct rr_injection *injection, struct rr_error *error)
{
	int64_t deadline_ns = 0;
	const char *name;
	char path[AOF_PATH];

	if (!need_aof(server, path, &name, error))
		return false;
	while (aof_synced(server, name) < aof_length(path)) {
		if (!rr_server_wait(cluster, limit_of(injection), &deadline_ns,
				    "an fsync of all that was written", error))
			return false;
	}
	return true;
}

/* ---- Ends -------------------------------------------------------------------- */

static bool send_signal(struct rr_cluster *cluster, struct rr_server *server, int number,
			enum rr_server_state after, struct rr_error *error)
{
	if (!rr_guardian_signal(&cluster->session->guardian, &server->process, number))
		return rr_error_set(error, RR_ERROR_REDIS, "%s has ended already", server->name);
	server->state = after;
	return true;
}

static bool inject_signal(struct rr_cluster *cluster, struct rr_server *server,
			  const struct rr_injection *injection, struct rr_error *error)
{
	const char *name;
	char path[AOF_PATH];
	int64_t synced;

	if (injection->fault == RR_FAULT_HANG)
		return send_signal(cluster, server, SIGSTOP, RR_SERVER_HUNG, error);
	if (injection->fault == RR_FAULT_RESUME)
		return send_signal(cluster, server, SIGCONT, RR_SERVER_RUNNING, error);
	if (!send_signal(cluster, server, SIGKILL, RR_SERVER_DOWN, error))
		return false;
	if (injection->fault != RR_FAULT_POWER || !find_aof(server, path, &name))
		return true;
	synced = aof_synced(server, name);
	return synced >= aof_length(path) || truncate(path, synced) == 0 ||
	       rr_error_file(error, "cut", path);
}

static bool inject_end(struct rr_cluster *cluster, struct rr_server *server,
		       const struct rr_injection *injection, struct rr_error *error)
{
	const bool is_told = injection->fault == RR_FAULT_SHUT_DOWN;
	const int limit_ms = is_told ? RR_START_MS : limit_of(injection);
	const int number = (int)(server - cluster->servers);
	int64_t deadline_ns = 0;

	if (is_told && !send_signal(cluster, server, SIGTERM, RR_SERVER_RUNNING, error))
		return false;
	while (rr_cluster_state(cluster, number) == RR_SERVER_RUNNING) {
		if (!rr_server_wait(cluster, limit_ms, &deadline_ns, "the end of a server", error))
			return false;
	}
	return true;
}

/* ---- Beginnings ---------------------------------------------------------------- */

static bool inject_restart(struct rr_cluster *cluster, struct rr_server *server,
			   const struct rr_injection *injection, struct rr_error *error)
{
	const bool is_in_vain = injection->fault == RR_FAULT_RESTART_FAILS;
	struct rr_error late = { 0 }, why = { 0 };
	struct rr_synced *file;
	const char *name;
	char path[AOF_PATH];
	bool good;
	int status;

	/* It may end by itself just before it is killed. */
	if (server->state != RR_SERVER_DOWN)
		send_signal(cluster, server, SIGKILL, RR_SERVER_DOWN, &late);
	server->state = RR_SERVER_DOWN;
	if (injection->fault == RR_FAULT_WIPE)
		rr_server_remove_data(server);
	good = rr_server_start_again(cluster, server, is_in_vain ? &why : error);
	if (is_in_vain && good)
		good = rr_error_set(error, RR_ERROR_REDIS, "%s has started, which it should not",
				    server->name);
	else if (is_in_vain)
		good = (why.kind == RR_ERROR_REDIS &&
			rr_guardian_has_ended(&cluster->session->guardian, &server->process,
					      &status)) ||
		       rr_error_set(error, why.kind, "%s", why.text);

	/* A torn file was cut by us, and again by the server that has read it: its page must not
	 * say that more of it was synced. */
	if (server->page && find_aof(server, path, &name) && (file = find_synced(server, name)) &&
	    atomic_load(&file->length) > aof_length(path))
		atomic_store(&file->length, aof_length(path));
	return good;
}

/* ---- Replicas -------------------------------------------------------------------- */

static bool inject_replica(struct rr_cluster *cluster, struct rr_server *server,
			   const struct rr_injection *injection, struct rr_error *error)
{
	struct rr_server *master;

	if (!server->options.replica_of)
		return rr_error_set(error, RR_ERROR_USAGE, "%s is not a replica", server->name);
	master = &cluster->servers[rr_cluster_find(cluster, server->options.replica_of)];
	if (injection->fault == RR_FAULT_CATCH_UP) {
		struct rr_replication wanted, has;
		int64_t deadline_ns = 0;

		do {
			if (rr_server_replication(master, &wanted) &&
			    rr_server_replication(server, &has) && has.is_linked &&
			    wanted.offset >= 0 && has.offset >= wanted.offset)
				return true;
		} while (rr_server_wait(cluster, RR_CATCH_UP_MS, &deadline_ns,
					"the replica's catching up", error));
		return false;
	}
	if (injection->fault == RR_FAULT_PROMOTE)
		return rr_server_run(server, error, "REPLICAOF NO ONE");
	return rr_server_run(server, error, "REPLICAOF 127.0.0.1 %d",
			     injection->fault == RR_FAULT_CUT ? DEAD_PORT : master->port);
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

static bool await_save(struct rr_cluster *cluster, struct rr_server *server,
		       const struct rr_injection *injection, struct rr_error *error)
{
	const int limit_ms = limit_of(injection);

	if (server->options.aof != RR_AOF_NONE)
		return await_line(cluster, server, "aof_rewrite_in_progress:1",
				  "aof_rewrite_scheduled:0", limit_ms, error);
	return await_line(cluster, server, "rdb_bgsave_in_progress:1",
			  "rdb_changes_since_last_save:0\r", limit_ms, error);
}

/* Without a save point nobody minds that saving fails; a declared one stays. */
static bool set_save_point(struct rr_server *server, const char *point, struct rr_error *error)
{
	return server->options.rdb || rr_server_run(server, error, "CONFIG SET save %s", point);
}

/* While a directory has the name of dump.rdb, no snapshot can be saved. */
static bool inject_disk(struct rr_cluster *cluster, struct rr_server *server,
			const struct rr_injection *injection, struct rr_error *error)
{
	const bool breaks = injection->fault == RR_FAULT_BREAK_DISK;
	const char *result = breaks ? "rdb_last_bgsave_status:err" : "rdb_last_bgsave_status:ok";
	char path[128], aside[128];
	bool is_moved;

	snprintf(path, sizeof(path), "%s/dump.rdb", server->process.directory);
	snprintf(aside, sizeof(aside), "%s/dump.rdb.aside", server->process.directory);
	if (!breaks)
		rmdir(path);
	is_moved = rename(breaks ? path : aside, breaks ? aside : path) == 0 || errno == ENOENT;
	if (!is_moved || (breaks && mkdir(path, 0700) != 0))
		return rr_error_file(error, "make", path);
	return (!breaks || set_save_point(server, "1000000000 1", error)) &&
	       rr_server_run(server, error, "BGSAVE") &&
	       await_line(cluster, server, "rdb_bgsave_in_progress:1", result, SAVE_MS, error) &&
	       (breaks || set_save_point(server, "", error));
}

/* ---- What a server, or its shim, is only told ---------------------------------------- */

static bool inject_setting(struct rr_cluster *cluster, struct rr_server *server,
			   const struct rr_injection *injection, struct rr_error *error)
{
	(void)cluster;
	switch (injection->fault) {
	case RR_FAULT_SLOW_DISK:
		atomic_store(&server->page->sync_delay_us, injection->amount / 1000);
		return true;
	case RR_FAULT_DIE_IN_SYNC:
		server->kills_itself = true;
		atomic_store(&server->page->die_in_sync, 1);
		return true;
	case RR_FAULT_FILL:
		return rr_server_run(server, error, "CONFIG SET maxmemory 1");
	default:
		return rr_server_run(server, error, "CONFIG SET maxmemory %lld",
				     server->options.maxmemory);
	}
}

/* ---- All of them ------------------------------------------------------------------ */

/* States that a server may be in, as a set. */
enum {
	RUNS = 1 << RR_SERVER_RUNNING,
	HANGS = 1 << RR_SERVER_HUNG,
	IS_DOWN = 1 << RR_SERVER_DOWN,
};

static const struct {
	const char *verb; /* what cannot be done to it otherwise */
	unsigned states;
	bool needs_shim;
	inject_function *inject;
} faults[RR_FAULT_KINDS] = {
	[RR_FAULT_KILL] = { "kill", RUNS | HANGS, false, inject_signal },
	[RR_FAULT_SHUT_DOWN] = { "shut down", RUNS, false, inject_end },
	[RR_FAULT_AWAIT_END] = { "await the end of", RUNS | IS_DOWN, false, inject_end },
	[RR_FAULT_RESTART] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_RESTART_FAILS] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_WIPE] = { "restart", RUNS | HANGS | IS_DOWN, false, inject_restart },
	[RR_FAULT_HANG] = { "stop", RUNS, false, inject_signal },
	[RR_FAULT_RESUME] = { "go on with", HANGS, false, inject_signal },
	[RR_FAULT_CUT] = { "cut off", RUNS, false, inject_replica },
	[RR_FAULT_JOIN] = { "join", RUNS, false, inject_replica },
	[RR_FAULT_PROMOTE] = { "promote", RUNS, false, inject_replica },
	[RR_FAULT_CATCH_UP] = { "await", RUNS, false, inject_replica },
	[RR_FAULT_POWER] = { "kill", RUNS | HANGS, true, inject_signal },
	[RR_FAULT_AWAIT_SYNC] = { "await the sync of", RUNS, true, await_sync },
	[RR_FAULT_AWAIT_SAVE] = { "await the snapshot of", RUNS, false, await_save },
	[RR_FAULT_TEAR] = { "tear the append-only file of", IS_DOWN, false, inject_tear },
	[RR_FAULT_SLOW_DISK] = { "slow down the disk of", RUNS, true, inject_setting },
	[RR_FAULT_DIE_IN_SYNC] = { "arrange the death of", RUNS, true, inject_setting },
	[RR_FAULT_BREAK_DISK] = { "break the snapshots of", RUNS, false, inject_disk },
	[RR_FAULT_MEND_DISK] = { "mend the snapshots of", RUNS, false, inject_disk },
	[RR_FAULT_FILL] = { "fill", RUNS, false, inject_setting },
	[RR_FAULT_EMPTY] = { "fill", RUNS, false, inject_setting },
};

bool rr_cluster_inject(struct rr_cluster *cluster, int server, const struct rr_injection *injection,
		       struct rr_error *error)
{
	static const char *const are[] = {
		[RR_SERVER_DECLARED] = "was never started",
		[RR_SERVER_RUNNING] = "runs",
		[RR_SERVER_HUNG] = "hangs",
		[RR_SERVER_DOWN] = "is down",
	};
	const enum rr_fault fault = injection->fault;
	enum rr_server_state state;
	struct rr_server *it;

	if (faults[fault].needs_shim && !rr_shim_need(cluster, error))
		return false;
	if (server < 0 || (size_t)server >= cluster->n_servers)
		return rr_error_set(error, RR_ERROR_USAGE, "there is no such server");
	it = &cluster->servers[server];
	state = rr_cluster_state(cluster, server);
	if (!(faults[fault].states >> state & 1))
		return rr_error_set(error, RR_ERROR_USAGE, "cannot %s %s: it %s",
				    faults[fault].verb, it->name, are[state]);
	it->is_used_up = true;
	return faults[fault].inject(cluster, it, injection, error);
}

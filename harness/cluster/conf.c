/* SPDX-License-Identifier: MIT */
/* The redis.conf of a private server. The settings are in a file rather than words of the
 * command line, which every user of the machine could read the password from. */
#include <stdio.h>
#include <sys/stat.h>

#include "server.h"

const char rr_own_user[RR_OWN_USER_SIZE] = "redrace";

static const char for_all[] = "unixsocket redis.sock\n"
			      "unixsocketperm 700\n"
			      "daemonize no\n"
			      "loglevel warning\n";

/*
 * Links do not time out when the clock leaps. Replicas are sent a file: sent
 * through a pipe, a snapshot waits for others to ask for it (by the clock) and
 * may then be taken as complete a second late. Who keeps nothing on disk does
 * not keep that file either. The timer, which the monotonic clock drives, is
 * made fast. Snapshots are not compressed, so that values can be found in a
 * DUMP. A script could connect to any server by MIGRATE, and a race may come from
 * anybody.
 */
static const char for_races[] = "hz 100\n"
				"repl-diskless-sync no\n"
				"rdb-del-sync-files yes\n"
				"repl-timeout 1000000000\n"
				"shutdown-timeout 0\n"
				"rdbcompression no\n"
				"rename-command MIGRATE \"\"\n";

/* How the program itself says DEBUG. Clients have none, unless the race wants it. */
static void debug_command(const struct rr_cluster *cluster, const struct rr_server *server,
			  char *name, size_t size)
{
	snprintf(name, size, "DEBUG%s%.16s", server->options.debug ? "" : "-",
		 server->options.debug ? "" : cluster->password);
}

/*
 * Where time stands still, keys that have expired go when a command asks for them,
 * and only then. What servers do in between depends on real time: Redis 8 removes
 * a key in the last millisecond in which commands still find it.
 */
static bool expires_lazily(const struct rr_cluster *cluster, const struct rr_server *server)
{
	return cluster->options.clock == RR_CLUSTER_FROZEN &&
	       server->options.role != RR_ROLE_SENTINEL;
}

void rr_conf_stop_expiry(const struct rr_cluster *cluster, struct rr_server *server)
{
	struct rdl_reply reply;
	char name[32];

	if (!expires_lazily(cluster, server))
		return;
	debug_command(cluster, server, name, sizeof(name));
	rdl_run(server->admin, &reply, "%s SET-ACTIVE-EXPIRE 0", name);
}

static void write_network(FILE *file, const struct rr_cluster *cluster,
			  const struct rr_server *server)
{
	fprintf(file, "port %d\n", server->port);
	if (!server->port)
		return;
	fprintf(file, "bind 127.0.0.1\nrequirepass %s\n", cluster->password);
	rr_role_write(file, cluster, server);
}

bool rr_conf_has_own_user(const struct rr_cluster *cluster, const struct rr_server *server)
{
	return cluster->options.clock != RR_CLUSTER_REAL && server->options.role == RR_ROLE_ALONE;
}

static void write_all(FILE *file, const struct rr_cluster *cluster, const struct rr_server *server)
{
	const struct rr_server_options *options = &server->options;

	fputs(for_all, file);
	if (options->role == RR_ROLE_SENTINEL) {
		write_network(file, cluster, server);
		return;
	}
	if (cluster->options.clock != RR_CLUSTER_REAL)
		fputs(for_races, file);
	fprintf(file, "save \"%s\"\n", options->rdb ? "1 1" : "");
	fprintf(file, "maxmemory %lld\n", options->maxmemory);
	/* The allocator's thread would spin under a clock that stands still. */
	if (rr_cluster_has_time(cluster))
		fputs("jemalloc-bg-thread no\n", file);
	if (rr_conf_has_own_user(cluster, server))
		fprintf(file, "user %s on >%s ~* &* +@all\n", rr_own_user, cluster->own_password);
	if (options->debug) {
		fputs("enable-debug-command yes\n", file);
	} else if (expires_lazily(cluster, server)) {
		char name[32];

		debug_command(cluster, server, name, sizeof(name));
		fprintf(file, "enable-debug-command local\nrename-command DEBUG %s\n", name);
	}
	static const char *const fsync[] = {
		[RR_AOF_NONE] = "no",
		[RR_AOF_NO] = "no",
		[RR_AOF_EVERYSEC] = "everysec",
		[RR_AOF_ALWAYS] = "always",
	};

	fprintf(file, "appendonly %s\nappendfsync %s\n", options->aof == RR_AOF_NONE ? "no" : "yes",
		fsync[options->aof]);
	write_network(file, cluster, server);
	for (size_t i = 0; options->config && options->config[i]; i++)
		fprintf(file, "%s\n", options->config[i]);
}

bool rr_conf_write(const struct rr_cluster *cluster, const struct rr_server *server,
		   struct rr_error *error)
{
	const mode_t mask = umask(077);
	char path[128];
	bool is_written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/redis.conf", server->process.directory);
	file = fopen(path, "we");
	umask(mask);
	if (file) {
		write_all(file, cluster, server);
		is_written = !ferror(file);
		if (fclose(file) == 0 && is_written)
			return true;
	}
	return rr_error_file(error, "write", path);
}

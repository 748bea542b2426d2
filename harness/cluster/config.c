/* SPDX-License-Identifier: MIT */
/* What a server is told to be: its redis.conf. A file rather than words of the
 * command line, which every user of the machine could read the password from. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster_parts.h"

/*
 * Links do not time out when the clock leaps. Replicas are sent a file: sent
 * through a pipe, a snapshot waits for others to ask for it (by the clock) and
 * may then be taken as complete a second late. Who keeps nothing on disk does
 * not keep that file either. The timer, which the monotonic clock drives, is
 * made fast.
 */
static const char common[] =
	"unixsocket redis.sock\n"
	"unixsocketperm 700\n"
	"daemonize no\n"
	"loglevel warning\n"
	"hz 100\n"
	"repl-diskless-sync no\n"
	"rdb-del-sync-files yes\n"
	"repl-timeout 1000000000\n"
	"shutdown-timeout 0\n";

static void write_aof(FILE *file, enum rr_aof aof)
{
	static const char *const fsync[] = {
		[RR_AOF_NONE] = "no",
		[RR_AOF_NO] = "no",
		[RR_AOF_EVERYSEC] = "everysec",
		[RR_AOF_ALWAYS] = "always",
	};

	fprintf(file, "appendonly %s\nappendfsync %s\n",
		aof == RR_AOF_NONE ? "no" : "yes", fsync[aof]);
}

static void write_network(FILE *file, const struct rr_cluster *cluster,
			  const struct rr_server *server)
{
	fprintf(file, "port %d\n", server->port);
	if (!server->port)
		return;
	fprintf(file, "bind 127.0.0.1\nrequirepass %s\nmasterauth %s\n",
		cluster->password, cluster->password);
	if (server->options.replica_of) {
		const int master =
			rr_cluster_find(cluster, server->options.replica_of);

		fprintf(file, "replicaof 127.0.0.1 %d\n",
			cluster->servers[master].port);
	}
}

static void write_all(FILE *file, const struct rr_cluster *cluster,
		      const struct rr_server *server)
{
	const struct rr_server_options *options = &server->options;

	fputs(common, file);
	/* So that values can be found in a DUMP. */
	fputs("rdbcompression no\n", file);
	fprintf(file, "save \"%s\"\n", options->rdb ? "1 1" : "");
	fprintf(file, "maxmemory %lld\n", options->maxmemory);
	/* The allocator's thread would spin under a clock that stands still. */
	if (rr_cluster_has_time(cluster))
		fputs("jemalloc-bg-thread no\n", file);
	if (options->debug)
		fputs("enable-debug-command yes\n", file);
	write_aof(file, options->aof);
	write_network(file, cluster, server);
	for (size_t i = 0; options->config && options->config[i]; i++)
		fprintf(file, "%s\n", options->config[i]);
}

enum rr_exit cluster_write_config(const struct rr_cluster *cluster,
				  const struct rr_server *server,
				  char error[RR_CLUSTER_ERROR])
{
	const mode_t mask = umask(077);
	char path[128];
	bool is_written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/redis.conf", server->ward.directory);
	file = fopen(path, "we");
	umask(mask);
	if (file) {
		write_all(file, cluster, server);
		is_written = !ferror(file);
		if (fclose(file) == 0 && is_written)
			return RR_EXIT_OK;
	}
	return cluster_fail(error, RR_EXIT_FILE, "cannot write '%s': %s", path,
			    strerror(errno));
}

int cluster_free_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int port = 0;

	if (fd < 0)
		return 0;
	if (bind(fd, (struct sockaddr *)&address, size) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

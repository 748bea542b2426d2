/* SPDX-License-Identifier: MIT */
/* Starting a server, for the first time and again. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cluster_parts.h"

enum { PORT_TRIES = 5 };

/* ---- A process -------------------------------------------------------------- */

/* The last line that a server wrote; "" when it wrote none. */
static void last_log_line(const struct rr_server *server, char *line,
			  size_t size)
{
	char path[128], read[512];
	FILE *log;

	line[0] = '\0';
	snprintf(path, sizeof(path), "%s/log", server->ward.directory);
	log = fopen(path, "re");
	if (!log)
		return;
	while (fgets(read, sizeof(read), log)) {
		read[strcspn(read, "\n")] = '\0';
		if (read[0])
			snprintf(line, size, ": %.300s", read);
	}
	fclose(log);
}

enum rr_exit cluster_launch(struct rr_cluster *cluster,
			    struct rr_server *server,
			    char error[RR_CLUSTER_ERROR])
{
	const char *const argv[] = { cluster->options.program, "redis.conf",
				     NULL };
	char page[128];
	const char *const environment[] = { "LD_PRELOAD=./clock.so", page,
					    NULL };
	char why[512];

	snprintf(page, sizeof(page), RR_CLOCK_PAGE_VARIABLE "=%s/clock",
		 server->ward.directory);
	if (server->page)
		atomic_store(&server->page->pid, 0);
	if (!rr_guardian_run(&cluster->session->guardian, &server->ward, argv,
			     server->page ? environment : NULL,
			     cluster->options.cpu, why, sizeof(why)))
		return cluster_fail(
			error, RR_EXIT_REDIS,
			"cannot start a server: %s; install redis-server (make deps) or name one with --redis-server PATH",
			why);
	return RR_EXIT_OK;
}

static enum rr_exit ended_early(const struct rr_cluster *cluster,
				const struct rr_server *server, int status,
				char error[RR_CLUSTER_ERROR])
{
	char line[320];

	last_log_line(server, line, sizeof(line));
	return cluster_fail(
		error, RR_EXIT_REDIS, "'%s'%s%s %s %d before it answered%s",
		cluster->options.program, server->name[0] ? " for server " : "",
		server->name,
		WIFEXITED(status) ? "exited with status" :
				    "was killed by signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
		line);
}

static bool answers(struct rl_link *link)
{
	struct rl_reply reply;

	return rl_run(link, &reply, "PING") == RL_OK;
}

enum rr_exit cluster_await_up(struct rr_cluster *cluster,
			      struct rr_server *server,
			      char error[RR_CLUSTER_ERROR])
{
	int64_t deadline_ns = 0;
	int status;

	while (!answers(server->admin)) {
		if (rr_guardian_has_ended(&cluster->session->guardian,
					  &server->ward, &status))
			return ended_early(cluster, server, status, error);
		if (!cluster_wait(cluster, RR_START_MS, &deadline_ns)) {
			rr_guardian_signal(&cluster->session->guardian,
					   &server->ward, SIGKILL);
			return cluster_late(cluster, "the start of a server",
					    error);
		}
	}
	server->state = RR_SERVER_RUNNING;
	if (server->pristine == 0)
		server->pristine = cluster_digest(server);
	return RR_EXIT_OK;
}

/* ---- The first time ---------------------------------------------------------- */

static enum rr_exit open_admin(const struct rr_cluster *cluster,
			       struct rr_server *server,
			       char error[RR_CLUSTER_ERROR])
{
	server->address = (struct rl_address){ .is_unix = true };
	snprintf(server->address.host, sizeof(server->address.host),
		 "%s/redis.sock", server->ward.directory);
	if (server->options.tcp)
		memcpy(server->address.password, cluster->password,
		       sizeof(cluster->password));
	server->admin = rl_link_new(&server->address, RR_TIMEOUT_MS);
	if (!server->admin)
		return cluster_fail(error, RR_EXIT_INTERNAL, "out of memory");
	return RR_EXIT_OK;
}

static enum rr_exit furnish(struct rr_cluster *cluster,
			    struct rr_server *server,
			    char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code = cluster_make_page(cluster, server, error);

	if (code == RR_EXIT_OK)
		code = open_admin(cluster, server, error);
	if (code == RR_EXIT_OK)
		code = cluster_write_config(cluster, server, error);
	if (code == RR_EXIT_OK)
		code = cluster_launch(cluster, server, error);
	return code;
}

/* Replicas are told the port before anybody has seen that it can be had, so one
 * with a port is waited for at once and may be given another. */
static enum rr_exit furnish_with_port(struct rr_cluster *cluster,
				      struct rr_server *server,
				      char error[RR_CLUSTER_ERROR])
{
	enum rr_exit code;

	server->port = cluster_free_port();
	code = furnish(cluster, server, error);
	if (code == RR_EXIT_OK)
		code = cluster_await_up(cluster, server, error);
	for (int i = 1; i < PORT_TRIES && code == RR_EXIT_REDIS; i++) {
		if (!strstr(error, "in use"))
			break;
		server->port = cluster_free_port();
		code = cluster_write_config(cluster, server, error);
		if (code == RR_EXIT_OK)
			code = cluster_launch(cluster, server, error);
		if (code == RR_EXIT_OK)
			code = cluster_await_up(cluster, server, error);
	}
	return code;
}

enum rr_exit cluster_make(struct rr_cluster *cluster, struct rr_server *server,
			  char error[RR_CLUSTER_ERROR])
{
	char why[512];

	if (!rr_guardian_prepare(&cluster->session->guardian, &server->ward,
				 why, sizeof(why)))
		return cluster_fail(error, RR_EXIT_FILE, "%s", why);
	server->state = RR_SERVER_DOWN;
	if (server->options.tcp)
		return furnish_with_port(cluster, server, error);
	return furnish(cluster, server, error);
}

void cluster_discard(struct rr_cluster *cluster, struct rr_server *server)
{
	if (server->ward.directory[0])
		rr_guardian_kill(&cluster->session->guardian, &server->ward);
	rl_link_free(server->admin);
	cluster_drop_page(server);
	*server = (struct rr_server){ .state = RR_SERVER_DECLARED };
}

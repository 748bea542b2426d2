/* SPDX-License-Identifier: MIT */
/* A server's ends and beginnings: killed, shut down, hung, started again. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guardian_protocol.h"
#include "world_parts.h"

static enum rr_exit send_signal(struct rr_world *world,
				struct rr_server *server, int number,
				enum rr_server_state after,
				char error[RR_WORLD_ERROR])
{
	server->is_used_up = true;
	if (!rr_guardian_signal(&world->session->guardian, &server->ward,
				number))
		return world_fail(error, RR_EXIT_REDIS, "%s has ended already",
				  server->name);
	server->state = after;
	return RR_EXIT_OK;
}

enum rr_exit rr_world_kill(struct rr_world *world, int server,
			   char error[RR_WORLD_ERROR])
{
	struct rr_server *it;

	/* A server that hangs can be killed as well. */
	if (server >= 0 && (size_t)server < world->n_servers &&
	    rr_world_state(world, server) == RR_SERVER_HUNG)
		it = &world->servers[server];
	else
		it = world_server(world, server, RR_SERVER_RUNNING, "kill",
				  error);
	if (!it)
		return RR_EXIT_USAGE;
	return send_signal(world, it, SIGKILL, RR_SERVER_DOWN, error);
}

enum rr_exit rr_world_shut_down(struct rr_world *world, int server,
				char error[RR_WORLD_ERROR])
{
	struct rr_server *it = world_server(world, server, RR_SERVER_RUNNING,
					    "shut down", error);
	enum rr_exit code;

	if (!it)
		return RR_EXIT_USAGE;
	code = send_signal(world, it, SIGTERM, RR_SERVER_RUNNING, error);
	if (code != RR_EXIT_OK)
		return code;
	return rr_world_await_end(world, server, RR_START_MS, error);
}

enum rr_exit rr_world_await_end(struct rr_world *world, int server,
				int timeout_ms, char error[RR_WORLD_ERROR])
{
	int64_t deadline_ns = 0;

	while (rr_world_state(world, server) == RR_SERVER_RUNNING) {
		if (!world_wait(world, timeout_ms, &deadline_ns))
			return world_late(world, "the end of a server", error);
	}
	if (rr_world_state(world, server) == RR_SERVER_DOWN)
		return RR_EXIT_OK;
	world_server(world, server, RR_SERVER_DOWN, "await the end of", error);
	return RR_EXIT_USAGE;
}

/* What the server has saved, and what the page says of it. */
static void remove_data(struct rr_server *server)
{
	static const char *const names[] = { "dump.rdb", "dump.rdb.aside",
					     "appendonlydir",
					     "appendonly.aof" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", server->ward.directory,
			 names[i]);
		guardian_remove_tree(path);
	}
	if (server->page)
		atomic_store(&server->page->n_synced, 0);
}

/* A torn file was cut by us, and again by the server that has read it. */
static void forget_torn(struct rr_server *server)
{
	char path[512];
	const char *name;

	if (server->page &&
	    world_aof_path(server, path, sizeof(path), &name))
		world_limit_synced(server, name, world_file_length(path));
}

enum rr_exit rr_world_restart(struct rr_world *world, int server, bool empty,
			      char error[RR_WORLD_ERROR])
{
	enum rr_exit code = RR_EXIT_OK;
	struct rr_server *it;

	if (server >= 0 && (size_t)server < world->n_servers &&
	    rr_world_state(world, server) != RR_SERVER_DOWN)
		code = rr_world_kill(world, server, error);
	/* It may have ended by itself just before it was killed. */
	if (code != RR_EXIT_OK &&
	    rr_world_state(world, server) != RR_SERVER_DOWN)
		return code;
	it = world_server(world, server, RR_SERVER_DOWN, "restart", error);
	if (!it)
		return RR_EXIT_USAGE;
	it->is_used_up = true;
	if (empty)
		remove_data(it);
	code = world_write_config(world, it, error);
	if (code == RR_EXIT_OK)
		code = world_launch(world, it, error);
	if (code == RR_EXIT_OK)
		code = world_await_up(world, it, error);
	forget_torn(it);
	return code;
}

enum rr_exit rr_world_restart_fails(struct rr_world *world, int server,
				    char error[RR_WORLD_ERROR])
{
	const enum rr_exit code =
		rr_world_restart(world, server, false, error);
	int status;

	if (code == RR_EXIT_OK)
		return world_fail(error, RR_EXIT_REDIS,
				  "%s has started, which it should not",
				  world->servers[server].name);
	if (code != RR_EXIT_REDIS ||
	    !rr_guardian_has_ended(&world->session->guardian,
				   &world->servers[server].ward, &status))
		return code;
	return RR_EXIT_OK;
}

enum rr_exit rr_world_hang(struct rr_world *world, int server,
			   char error[RR_WORLD_ERROR])
{
	struct rr_server *it = world_server(world, server, RR_SERVER_RUNNING,
					    "stop", error);

	return it ? send_signal(world, it, SIGSTOP, RR_SERVER_HUNG, error) :
		    RR_EXIT_USAGE;
}

enum rr_exit rr_world_go_on(struct rr_world *world, int server,
			    char error[RR_WORLD_ERROR])
{
	struct rr_server *it = world_server(world, server, RR_SERVER_HUNG,
					    "go on with", error);

	return it ? send_signal(world, it, SIGCONT, RR_SERVER_RUNNING, error) :
		    RR_EXIT_USAGE;
}

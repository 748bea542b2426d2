/* SPDX-License-Identifier: MIT */
/* A world: opening it, its list of servers, its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world_parts.h"

/* ---- The list -------------------------------------------------------------- */

int rr_world_find(const struct rr_world *world, const char *name)
{
	for (size_t i = 0; i < world->n_servers; i++) {
		if (strcmp(world->servers[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

/* A master must listen on a port before its replica can be declared. */
static enum rr_exit check_master(const struct rr_world *world,
				 const struct rr_server_options *options,
				 char error[RR_WORLD_ERROR])
{
	int master;

	if (!options->replica_of)
		return RR_EXIT_OK;
	master = rr_world_find(world, options->replica_of);
	if (master < 0)
		return world_fail(error, RR_EXIT_USAGE,
				  "a replica of '%s', which is no server",
				  options->replica_of);
	if (!world->servers[master].options.tcp)
		return world_fail(error, RR_EXIT_USAGE,
				  "a replica of '%s', which has no TCP port",
				  options->replica_of);
	return RR_EXIT_OK;
}

enum rr_exit rr_world_declare(struct rr_world *world, const char *name,
			      const struct rr_server_options *options,
			      int *server, char error[RR_WORLD_ERROR])
{
	struct rr_server *new = &world->servers[world->n_servers];
	enum rr_exit code;

	if (world->n_servers == RR_WORLD_SERVERS)
		return world_fail(error, RR_EXIT_USAGE,
				  "more than %d servers", RR_WORLD_SERVERS);
	if (strlen(name) >= sizeof(new->name))
		return world_fail(error, RR_EXIT_USAGE,
				  "the name '%s' is too long", name);
	if (rr_world_find(world, name) >= 0)
		return world_fail(error, RR_EXIT_USAGE,
				  "two servers are called '%s'", name);
	code = check_master(world, options, error);
	if (code != RR_EXIT_OK)
		return code;
	*new = (struct rr_server){ .options = *options };
	if (options->replica_of)
		new->options.tcp = true;
	snprintf(new->name, sizeof(new->name), "%s", name);
	*server = (int)world->n_servers++;
	return RR_EXIT_OK;
}

const struct rl_address *rr_world_address(const struct rr_world *world,
					  int server)
{
	return &world->servers[server].address;
}

enum rr_server_state rr_world_state(struct rr_world *world, int server)
{
	struct rr_server *it = &world->servers[server];
	int status;

	if ((it->state == RR_SERVER_RUNNING || it->state == RR_SERVER_HUNG) &&
	    rr_guardian_has_ended(&world->session->guardian, &it->ward,
				  &status)) {
		it->state = RR_SERVER_DOWN;
		it->is_used_up = true;
	}
	return it->state;
}

struct rr_server *world_server(struct rr_world *world, int server,
			       enum rr_server_state state, const char *verb,
			       char error[RR_WORLD_ERROR])
{
	static const char *const are[] = {
		[RR_SERVER_DECLARED] = "was never started",
		[RR_SERVER_RUNNING] = "runs",
		[RR_SERVER_HUNG] = "hangs",
		[RR_SERVER_DOWN] = "is down",
	};
	enum rr_server_state now;

	if (server < 0 || (size_t)server >= world->n_servers) {
		world_fail(error, RR_EXIT_USAGE, "there is no such server");
		return NULL;
	}
	now = rr_world_state(world, server);
	if (now == state)
		return &world->servers[server];
	world_fail(error, RR_EXIT_USAGE, "cannot %s %s: it %s", verb,
		   world->servers[server].name, are[now]);
	return NULL;
}

/* ---- Starting all ------------------------------------------------------------ */

static bool take_from_pool(struct rr_world *world, struct rr_server *server)
{
	struct rr_server *warm;
	char name[RR_SERVER_NAME];

	if (!world_is_plain(&server->options) || world->n_pool == 0)
		return false;
	warm = &world->pool[--world->n_pool];
	memcpy(name, server->name, sizeof(name));
	*server = *warm;
	memcpy(server->name, name, sizeof(name));
	world_set_page(world, server);
	return true;
}

enum rr_exit rr_world_start(struct rr_world *world, char error[RR_WORLD_ERROR])
{
	bool is_new[RR_WORLD_SERVERS] = { false };
	enum rr_exit code = RR_EXIT_OK;

	/* Launched in order, for a replica needs its master's port. */
	for (size_t i = 0; i < world->n_servers && code == RR_EXIT_OK; i++) {
		struct rr_server *server = &world->servers[i];

		if (server->state != RR_SERVER_DECLARED ||
		    take_from_pool(world, server))
			continue;
		is_new[i] = true;
		code = world_make(world, server, error);
	}
	for (size_t i = 0; i < world->n_servers && code == RR_EXIT_OK; i++) {
		if (is_new[i])
			code = world_await_up(world, &world->servers[i],
					      error);
	}
	return code;
}

/* ---- Life ---------------------------------------------------------------------- */

static void set_epoch(struct rr_world *world)
{
	const int64_t real_ns = world_clock_ns(CLOCK_REALTIME);

	world->moved_ns = 0;
	world->epoch_ns = RR_WORLD_START_NS;
	if (!rr_world_has_time(world))
		world->epoch_ns = 0;
	else if (world->options.clock == RR_WORLD_RUNNING)
		world->epoch_ns -= real_ns;
}

bool rr_world_has_time(const struct rr_world *world)
{
	return world->shim[0] != '\0';
}

void rr_world_reset(struct rr_world *world)
{
	set_epoch(world);
	for (size_t i = 0; i < world->n_servers; i++) {
		struct rr_server *server = &world->servers[i];

		if (server->state == RR_SERVER_RUNNING &&
		    world->n_pool < RR_WORLD_POOL &&
		    world_scrub(world, server))
			world->pool[world->n_pool++] = *server;
		else
			world_discard(world, server);
	}
	world->n_servers = 0;
}

/* Does its clock show the world's time? */
static bool follows(const struct rr_world *world, struct rr_server *server)
{
	struct rl_reply reply;
	long long seconds;

	if (atomic_load(&server->page->pid) == 0 ||
	    rl_run(server->admin, &reply, "TIME") != RL_OK ||
	    reply.type != RL_REPLY_ARRAY || reply.length != 2 ||
	    !rl_reply_number(&reply.elements[0], &seconds))
		return false;
	return llabs(seconds - rr_world_now_ns(world) / 1000000000) <= 5;
}

/* Starts a first server and puts it into the pool. */
static enum rr_exit try_out(struct rr_world *world, char error[RR_WORLD_ERROR])
{
	struct rr_server server = { 0 };
	enum rr_exit code = world_make(world, &server, error);

	if (code == RR_EXIT_OK)
		code = world_await_up(world, &server, error);
	if (code == RR_EXIT_OK && server.page && !follows(world, &server))
		code = world_fail(error, RR_EXIT_SKIPPED,
				  "the clock shim does nothing");
	if (code == RR_EXIT_OK)
		world->pool[world->n_pool++] = server;
	else
		world_discard(world, &server);
	return code;
}

enum rr_exit rr_world_open(struct rr_world *world, struct rr_session *session,
			   const struct rr_world_options *options,
			   char error[RR_WORLD_ERROR])
{
	enum rr_exit code;

	*world = (struct rr_world){ .session = session, .options = *options };
	if (!rl_token_fresh(NULL, world->password))
		return world_fail(error, RR_EXIT_INTERNAL, "no random bytes");
	if (options->clock != RR_WORLD_REAL)
		world_find_shim(options->shim, world->shim,
				sizeof(world->shim));
	set_epoch(world);
	code = try_out(world, error);
	if (code == RR_EXIT_OK || code == RR_EXIT_INTERRUPTED ||
	    !rr_world_has_time(world))
		return code;
	world->shim[0] = '\0';
	set_epoch(world);
	return try_out(world, error);
}

void rr_world_close(struct rr_world *world)
{
	if (!world->session)
		return;
	for (size_t i = 0; i < world->n_servers; i++)
		world_discard(world, &world->servers[i]);
	for (size_t i = 0; i < world->n_pool; i++)
		world_discard(world, &world->pool[i]);
	world->n_servers = world->n_pool = 0;
}

/* SPDX-License-Identifier: MIT */
#include "inspector.h"

#include <stdlib.h>
#include <string.h>

static enum rr_exit fail(const struct rr_inspector *inspector,
			 const struct rl_link *server, size_t i)
{
	char where[300];

	rl_address_print(&inspector->run->cluster->servers[i].address, where,
			 sizeof(where));
	return rr_complain(RR_EXIT_REDIS, "%s: cannot use %s: %s",
			   inspector->run->strategy->name, where,
			   rl_link_error(server));
}

enum rr_exit rr_inspector_open(struct rr_inspector *inspector,
			       const struct rr_run *run)
{
	*inspector = (struct rr_inspector){ .run = run };
	for (size_t i = 0; i < 1 + run->strategy->lock.servers; i++) {
		struct rl_link *server = rl_link_new(
			&run->cluster->servers[i].address, RR_TIMEOUT_MS);

		if (!server)
			return rr_complain(RR_EXIT_INTERNAL, "out of memory");
		inspector->servers[inspector->n_servers++] = server;
		if (rl_link_connect(server) != RL_OK)
			return fail(inspector, server, i);
	}
	return RR_EXIT_OK;
}

void rr_inspector_close(struct rr_inspector *inspector)
{
	for (size_t i = 0; i < inspector->n_servers; i++) {
		rr_keys_delete(inspector->servers[i], inspector->run->prefix,
			       inspector->run->keys);
		rl_link_free(inspector->servers[i]);
	}
}

enum rr_exit rr_inspector_clear(struct rr_inspector *inspector)
{
	for (size_t i = 0; i < inspector->n_servers; i++) {
		struct rl_link *server = inspector->servers[i];

		if (rr_keys_delete(server, inspector->run->prefix,
				   inspector->run->keys) != RL_OK)
			return fail(inspector, server, i);
	}
	return RR_EXIT_OK;
}

enum rr_exit rr_inspector_count(struct rr_inspector *inspector, long long *sum)
{
	struct rl_link *data = inspector->servers[0];

	*sum = 0;
	for (int i = 0; i < inspector->run->keys; i++) {
		char key[RR_KEY_SIZE];
		struct rl_reply reply;
		long long count;

		rr_keys_counter(key, inspector->run->prefix, i);
		if (rl_run(data, &reply, "GET %s", key) != RL_OK)
			return fail(inspector, data, 0);
		if (rl_reply_number(&reply, &count))
			*sum += count;
	}
	return RR_EXIT_OK;
}

/* A field of INFO cpu, given in seconds. */
static double seconds_of(const char *info, const char *field)
{
	const char *found = strstr(info, field);

	return found ? strtod(found + strlen(field), NULL) : 0;
}

int64_t rr_inspector_cpu_ns(struct rr_inspector *inspector)
{
	double seconds = 0;

	for (size_t i = 0; i < inspector->n_servers; i++) {
		struct rl_reply reply;

		if (rl_run(inspector->servers[i], &reply, "INFO cpu") !=
			    RL_OK ||
		    reply.type != RL_REPLY_STRING)
			continue;
		seconds += seconds_of(reply.text, "used_cpu_sys:") +
			   seconds_of(reply.text, "used_cpu_user:");
	}
	return (int64_t)(seconds * 1e9);
}

/* SPDX-License-Identifier: MIT */
/* Plain servers go from race to race: emptying one takes a fiftieth of the
 * time that a start takes. */
#include <string.h>

#include "cluster_parts.h"

bool cluster_is_plain(const struct rr_server_options *options)
{
	return options->aof == RR_AOF_NONE && !options->rdb &&
	       !options->debug && !options->tcp && options->maxmemory == 0 &&
	       !options->replica_of && !options->config;
}

/* FNV-1a, ends of texts included. */
static uint64_t mix(uint64_t digest, const struct rl_reply *reply)
{
	if (reply->type == RL_REPLY_ARRAY) {
		for (size_t i = 0; i < reply->length; i++)
			digest = mix(digest, &reply->elements[i]);
		return digest;
	}
	for (size_t i = 0; reply->text && i <= reply->length; i++)
		digest = (digest ^ (unsigned char)reply->text[i]) *
			 UINT64_C(1099511628211);
	return digest;
}

uint64_t cluster_digest(struct rr_server *server)
{
	uint64_t digest = UINT64_C(14695981039346656037);
	struct rl_reply reply;

	if (rl_run(server->admin, &reply, "CONFIG GET *") != RL_OK)
		return 0;
	digest = mix(digest, &reply);
	if (rl_run(server->admin, &reply, "ACL LIST") == RL_OK)
		digest = mix(digest, &reply);
	return digest;
}

/* All at once; some servers do not know all of these. */
static bool run_all(struct rl_link *admin)
{
	struct rl_reply reply;
	int n = 0;

	n += rl_queue(admin, "CLIENT UNPAUSE") == RL_OK;
	n += rl_queue(admin, "CLIENT KILL TYPE normal SKIPME yes") == RL_OK;
	n += rl_queue(admin, "CLIENT KILL TYPE pubsub") == RL_OK;
	n += rl_queue(admin, "CLIENT KILL TYPE replica") == RL_OK;
	n += rl_queue(admin, "FLUSHALL") == RL_OK;
	n += rl_queue(admin, "SCRIPT FLUSH") == RL_OK;
	n += rl_queue(admin, "FUNCTION FLUSH") == RL_OK;
	n += rl_queue(admin, "SLOWLOG RESET") == RL_OK;
	n += rl_queue(admin, "LATENCY RESET") == RL_OK;
	n += rl_queue(admin, "CONFIG RESETSTAT") == RL_OK;
	if (n != 10 || rl_flush(admin) != RL_OK)
		return false;
	while (n-- > 0) {
		if (rl_receive(admin, &reply) != RL_OK &&
		    reply.type != RL_REPLY_FAILED)
			return false;
	}
	return true;
}

bool cluster_scrub(struct rr_cluster *cluster, struct rr_server *server)
{
	struct rl_reply reply;

	if (server->is_used_up || !cluster_is_plain(&server->options))
		return false;
	server->skew_ns = 0;
	cluster_set_page(cluster, server);
	/* A client of the race may have closed this connection. */
	if (rl_run(server->admin, &reply, "PING") != RL_OK &&
	    rl_run(server->admin, &reply, "PING") != RL_OK)
		return false;
	return run_all(server->admin) && server->pristine != 0 &&
	       cluster_digest(server) == server->pristine;
}

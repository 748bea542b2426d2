/* SPDX-License-Identifier: MIT */
/* The time of a cluster: moved on every server's page, or made up without. */
#include "cluster_parts.h"

enum { POKE_MS = 200 };

#define WAIT_AT_MOST_NS INT64_C(2000000000)

/* What rr_cluster_tick() says of it. */
static const char shorten_leases[] =
	"for _, key in ipairs(redis.call('KEYS', '*')) do\n"
	"  local left = redis.call('PTTL', key)\n"
	"  if left >= 0 then\n"
	"    redis.call('PEXPIRE', key, math.max(0, left - ARGV[1]))\n"
	"  end\n"
	"end\n";

static bool runs(const struct rr_server *server)
{
	return server->state == RR_SERVER_RUNNING;
}

/*
 * Before it answers this it has read what came earlier, and has looked at the
 * clock for whoever is blocked. False when it is too busy to, or gone.
 */
static bool poke(struct rr_server *server)
{
	struct rl_reply reply;
	bool is_answered = false;

	rl_link_set_timeout(server->admin, POKE_MS);
	/* The second time over a new connection, if a client closed it. */
	for (int i = 0; i < 2 && !is_answered; i++)
		is_answered = rl_run(server->admin, &reply, "PING") == RL_OK ||
			      reply.type == RL_REPLY_FAILED;
	rl_link_set_timeout(server->admin, RR_TIMEOUT_MS);
	return is_answered;
}

static void poke_all(struct rr_cluster *cluster,
		     bool is_deaf[RR_CLUSTER_SERVERS])
{
	for (size_t i = 0; i < cluster->n_servers; i++) {
		if (runs(&cluster->servers[i]) && !is_deaf[i])
			is_deaf[i] = !poke(&cluster->servers[i]);
	}
}

static void set_pages(struct rr_cluster *cluster, int64_t ns)
{
	cluster->moved_ns += ns;
	for (size_t i = 0; i < cluster->n_servers; i++)
		cluster_set_page(cluster, &cluster->servers[i]);
}

static enum rr_tick move(struct rr_cluster *cluster, int64_t ns)
{
	bool is_deaf[RR_CLUSTER_SERVERS] = { false };

	/* A new connection is accepted before the first answer; what came
	 * over it is read before the second. */
	poke_all(cluster, is_deaf);
	poke_all(cluster, is_deaf);
	set_pages(cluster, ns);
	/* Whoever is due is answered beside the first answer, so before the
	 * second. */
	poke_all(cluster, is_deaf);
	poke_all(cluster, is_deaf);
	return RR_TICK_MOVED;
}

static enum rr_tick really_wait(struct rr_cluster *cluster, int64_t ns)
{
	const int ms = (int)((ns + 999999) / 1000000);
	int64_t deadline_ns = 0;

	while (cluster_wait(cluster, ms, &deadline_ns))
		continue;
	return cluster->session->signals.interrupted ? RR_TICK_FAILED :
						       RR_TICK_WAITED;
}

static enum rr_tick expire(struct rr_cluster *cluster, int64_t ns)
{
	enum rr_tick how = RR_TICK_EXPIRED;

	cluster->moved_ns += ns;
	for (size_t i = 0; i < cluster->n_servers; i++) {
		struct rl_reply reply;

		if (rr_cluster_state(cluster, (int)i) == RR_SERVER_RUNNING &&
		    rl_run(cluster->servers[i].admin, &reply, "EVAL %s 0 %lld",
			   shorten_leases, (long long)ns / 1000000) != RL_OK)
			how = RR_TICK_FAILED;
	}
	return how;
}

enum rr_tick rr_cluster_tick(struct rr_cluster *cluster, int64_t ns)
{
	if (rr_cluster_has_time(cluster))
		return move(cluster, ns);
	if (ns <= WAIT_AT_MOST_NS)
		return really_wait(cluster, ns);
	return expire(cluster, ns);
}

enum rr_exit rr_cluster_skew(struct rr_cluster *cluster, int server, int64_t ns,
			     char error[RR_CLUSTER_ERROR])
{
	const enum rr_exit code = cluster_need_shim(cluster, error);
	struct rr_server *it;

	if (code != RR_EXIT_OK)
		return code;
	if (server < 0 || (size_t)server >= cluster->n_servers)
		return cluster_fail(error, RR_EXIT_USAGE,
				    "there is no such server");
	it = &cluster->servers[server];
	it->skew_ns = ns;
	cluster_set_page(cluster, it);
	if (runs(it))
		poke(it);
	return RR_EXIT_OK;
}

int64_t rr_cluster_now_ns(const struct rr_cluster *cluster)
{
	const int64_t now_ns = cluster->epoch_ns + cluster->moved_ns;

	if (rr_cluster_has_time(cluster) &&
	    cluster->options.clock == RR_CLUSTER_FROZEN)
		return now_ns;
	return now_ns + cluster_clock_ns(CLOCK_REALTIME);
}

/* SPDX-License-Identifier: MIT */
/* Formations: which servers they are made of, their start, whether they are whole, and what
 * becomes of them when the primary dies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/text.h"
#include "server.h"

const char *const rr_topology_names[RR_TOPOLOGIES] = {
	[RR_TOPOLOGY_ALONE] = "alone",
	[RR_TOPOLOGY_REPLICA] = "replica",
	[RR_TOPOLOGY_SENTINEL] = "sentinel",
	[RR_TOPOLOGY_CLUSTER] = "cluster",
};

enum { REPLICAS = 2, SENTINELS = 3, PRIMARIES = 3, SLOTS = 16384, LOOK_MS = 250 };

static struct rr_server *server_of(const struct rr_formation *formation, int number)
{
	return &formation->cluster->servers[number];
}

/* The i-th of the formation. */
static struct rr_server *nth_of(const struct rr_formation *formation, int i)
{
	return server_of(formation, formation->first + i);
}

/* False: the server does not run or does not answer. */
static bool look(const struct rr_formation *formation, int number, struct rr_replication *found)
{
	return rr_server_replication(server_of(formation, number), found);
}

int rr_formation_replicas(const struct rr_formation *formation)
{
	return formation->kind == RR_TOPOLOGY_ALONE ? 0 : formation->n_members - 1;
}

/* ---- Is it whole? ---------------------------------------------------------------- */

static bool are_members_whole(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (!look(formation, number, &found))
			return false;
		if (number == formation->primary ?
			    !found.is_primary || found.n_replicas < formation->n_members - 1 :
			    found.is_primary || !found.is_linked)
			return false;
	}
	return true;
}

/* In a reply of names and values one after the other. */
static const char *value_of(const struct rdl_reply *reply, const char *name)
{
	for (size_t i = 0; i + 1 < reply->length; i += 2) {
		if (reply->elements[i].text && reply->elements[i + 1].text &&
		    strcmp(reply->elements[i].text, name) == 0)
			return reply->elements[i + 1].text;
	}
	return "";
}

/* Do all sentinels watch the primary, and know its replicas and each other? */
static bool are_sentinels_ready(const struct rr_formation *formation)
{
	const struct rr_server *primary = server_of(formation, formation->primary);

	for (int i = formation->n_members; i < formation->n_servers; i++) {
		struct rdl_link *sentinel = nth_of(formation, i)->admin;
		struct rdl_reply reply;

		if (rdl_run(sentinel, &reply, "SENTINEL MASTER %s", RR_SERVICE_NAME) != RDL_OK ||
		    strcmp(value_of(&reply, "flags"), "master") != 0 ||
		    atoi(value_of(&reply, "port")) != primary->port ||
		    atoi(value_of(&reply, "num-other-sentinels")) != SENTINELS - 1)
			return false;
		if (rdl_run(sentinel, &reply, "SENTINEL REPLICAS %s", RR_SERVICE_NAME) != RDL_OK ||
		    (int)reply.length != formation->n_members - 1)
			return false;
		for (size_t j = 0; j < reply.length; j++) {
			const struct rdl_reply *replica = &reply.elements[j];

			if (strcmp(value_of(replica, "flags"), "slave") != 0 ||
			    strcmp(value_of(replica, "master-link-status"), "ok") != 0 ||
			    atoi(value_of(replica, "master-port")) != primary->port)
				return false;
		}
	}
	return true;
}

/* Has each node of a cluster seen all others, and thinks badly of none? */
static bool are_nodes_content(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_servers; i++) {
		const int number = formation->first + i;
		struct rr_server *node = server_of(formation, number);
		struct rdl_reply reply;

		if (rdl_run(node->admin, &reply, "CLUSTER INFO") != RDL_OK || !reply.text ||
		    !strstr(reply.text, "cluster_state:ok") ||
		    !strstr(reply.text, "cluster_slots_ok:16384\r"))
			return false;
		if (rdl_run(node->admin, &reply, "CLUSTER NODES") != RDL_OK || !reply.text ||
		    strstr(reply.text, "fail") || strstr(reply.text, "handshake") ||
		    strstr(reply.text, "disconnected") || !look(formation, number, &found) ||
		    (!found.is_primary && !found.is_linked))
			return false;
	}
	return true;
}

/* Do all know who is the primary, and have its replicas everything, so that a fail-over can
 * begin? */
static bool is_whole(const struct rr_formation *formation)
{
	switch (formation->kind) {
	case RR_TOPOLOGY_ALONE:
		return true;
	case RR_TOPOLOGY_SENTINEL:
		return are_members_whole(formation) && are_sentinels_ready(formation);
	case RR_TOPOLOGY_CLUSTER:
		return are_members_whole(formation) && are_nodes_content(formation);
	default:
		return are_members_whole(formation);
	}
}

/* ---- Where clients find the primary ---------------------------------------------- */

/* Those servers whom clients ask: the first as host and port, then the others. */
static void name_servers(struct rr_formation *formation, int first)
{
	const struct rr_cluster *cluster = formation->cluster;
	struct rdl_address *address = &formation->address;

	*address = (struct rdl_address){
		.host = "127.0.0.1",
		.port = cluster->servers[first].port,
	};
	memcpy(address->password, cluster->password, sizeof(cluster->password));
	for (int i = first + 1; i < formation->first + formation->n_servers; i++)
		rr_add_text(address->more, sizeof(address->more), "%s127.0.0.1:%d",
			    address->more[0] ? "," : "", cluster->servers[i].port);
}

/* Sets where clients find it: sentinels or nodes that tell, or a name that leads to the primary's
 * socket, as an operator moves the address of a service: in one step. */
static bool point_at_primary(struct rr_formation *formation, struct rr_error *error)
{
	const struct rr_server *primary = server_of(formation, formation->primary);
	struct rdl_address *address = &formation->address;
	char path[sizeof(address->host)];

	switch (formation->kind) {
	case RR_TOPOLOGY_SENTINEL:
		name_servers(formation, formation->first + formation->n_members);
		address->kind = RDL_ADDRESS_SENTINEL;
		snprintf(address->service, sizeof(address->service), "%s", RR_SERVICE_NAME);
		return true;
	case RR_TOPOLOGY_CLUSTER:
		name_servers(formation, formation->first);
		address->kind = RDL_ADDRESS_CLUSTER;
		return true;
	default:
		snprintf(path, sizeof(path), "%s/primary.sock",
			 formation->cluster->session->guardian.base);
		if (!rr_files_link(path, primary->address.host, error))
			return false;
		*address = primary->address;
		memcpy(address->host, path, sizeof(path));
		return true;
	}
}

/* ---- The death of the primary, and what follows: one phase after another ------------- */

static void enter_phase(struct rr_formation *formation, enum rr_formation_phase phase)
{
	formation->phase = phase;
	formation->since_ns = rr_clock_ns();
}

/* Has no server ended but the one that was killed? */
static bool is_all_there(struct rr_formation *formation, struct rr_error *error)
{
	const int64_t now_ns = rr_clock_ns();

	if (now_ns - formation->looked_ns < LOOK_MS * INT64_C(1000000))
		return true;
	formation->looked_ns = now_ns;
	if (!rr_cluster_is_whole(formation->cluster, error))
		return false;
	for (int i = formation->first; i < formation->first + formation->n_servers; i++) {
		if (i != formation->killed &&
		    rr_cluster_state(formation->cluster, i) == RR_SERVER_DOWN)
			return rr_error_set(error, RR_ERROR_REDIS, "the server %s has ended",
					    server_of(formation, i)->name);
	}
	return true;
}

static bool kill_primary(struct rr_formation *formation, struct rr_error *error)
{
	const struct rr_injection injection = { .fault = RR_FAULT_KILL };

	formation->looked_ns = 0;
	if (!is_all_there(formation, error))
		return false;
	enter_phase(formation, RR_FORMATION_HEADLESS);
	formation->killed = formation->primary;
	formation->tally.kills++;
	return rr_cluster_inject(formation->cluster, formation->killed, &injection, error);
}

bool rr_formation_fail_over(struct rr_formation *formation, int64_t cut_ns, struct rr_error *error)
{
	if (formation->phase != RR_FORMATION_WHOLE)
		return rr_error_set(error, RR_ERROR_USAGE, "a fail-over during another");
	if (cut_ns == 0 || formation->kind == RR_TOPOLOGY_ALONE)
		return kill_primary(formation, error);
	formation->cut_ns = cut_ns;
	/* Who the replicas come as is no user any more: their links are closed, and they
	 * are refused when they come again. */
	if (!rr_server_run(server_of(formation, formation->primary), error, "ACL DELUSER %s",
			   RR_REPLICA_USER))
		return false;
	enter_phase(formation, RR_FORMATION_CUT);
	return true;
}

/* A member that says it is the primary, and is not the one that was; -1 = none. */
static int find_promoted(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->primary && look(formation, number, &found) &&
		    found.is_primary)
			return number;
	}
	return -1;
}

/* Do the replicas see that the primary is gone? By then they have read all that it
 * had sent them. */
static bool have_noticed(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->killed && look(formation, number, &found) &&
		    found.is_linked)
			return false;
	}
	return true;
}

/* What an operator does where no Sentinel is there to do it. */
static bool promote_by_hand(struct rr_formation *formation, struct rr_error *error)
{
	/* The one that has most of what was written, as Sentinel and Cluster do. */
	struct rr_replication found;
	long long most = -1;
	int best = -1;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (number != formation->killed && look(formation, number, &found) &&
		    found.offset > most) {
			most = found.offset;
			best = number;
		}
	}
	struct rr_server *chosen;

	if (best < 0)
		return rr_error_set(error, RR_ERROR_REDIS,
				    "no replica answers that could be promoted");
	chosen = server_of(formation, best);
	if (!rr_server_run(chosen, error, "REPLICAOF NO ONE"))
		return false;
	for (int i = 0; i < formation->n_members; i++) {
		struct rr_server *other = server_of(formation, formation->members[i]);

		if (other != chosen && other->state == RR_SERVER_RUNNING &&
		    !rr_server_run(other, error, "REPLICAOF 127.0.0.1 %d", chosen->port))
			return false;
	}
	return true;
}

static void tally_fail_over(struct rr_formation *formation)
{
	struct rr_formation_tally *tally = &formation->tally;
	const int64_t headless_ns = rr_clock_ns() - formation->since_ns;

	tally->fail_overs++;
	if (formation->killed < 0)
		return;
	tally->headless_ns += headless_ns;
	if (headless_ns > tally->headless_max_ns)
		tally->headless_max_ns = headless_ns;
}

static bool take_over(struct rr_formation *formation, int promoted, struct rr_error *error)
{
	tally_fail_over(formation);
	formation->primary = promoted;
	server_of(formation, promoted)->options.replica_of = NULL;
	enter_phase(formation, RR_FORMATION_REJOINING);
	if (!point_at_primary(formation, error))
		return false;
	/*
	 * The killed one comes back as a replica of the new primary. A node of a cluster learns
	 * from the others that it is one.
	 */
	struct rr_server *killed;

	if (formation->killed < 0)
		return true;
	killed = server_of(formation, formation->killed);
	if (killed->options.role == RR_ROLE_MEMBER)
		killed->options.replica_of = server_of(formation, formation->primary)->name;
	formation->killed = -1;
	return rr_server_start_again(formation->cluster, killed, error);
}

static bool is_late(const struct rr_formation *formation)
{
	return rr_clock_ns() - formation->since_ns > RR_FORMATION_LIMIT_MS * INT64_C(1000000);
}

/* A sentinel that hears nothing of a busy primary promotes another unasked. */
static bool watch_primary(struct rr_formation *formation, struct rr_error *error)
{
	struct rr_replication found;
	int promoted;

	if (look(formation, formation->primary, &found) && found.is_primary)
		return true;
	promoted = find_promoted(formation);
	return promoted < 0 || take_over(formation, promoted, error);
}

static bool await_promotion(struct rr_formation *formation, struct rr_error *error)
{
	int promoted;

	if (formation->kind == RR_TOPOLOGY_REPLICA &&
	    (have_noticed(formation) || is_late(formation)) && !promote_by_hand(formation, error))
		return false;
	promoted = find_promoted(formation);
	if (promoted >= 0)
		return take_over(formation, promoted, error);
	return !is_late(formation) ||
	       rr_error_set(error, RR_ERROR_REDIS,
			    "no replica was promoted within %d s of the primary's death",
			    RR_FORMATION_LIMIT_MS / 1000);
}

/* One that stands alone comes back by itself, with what it has saved. The next one
 * to be killed is another. */
static bool await_return(struct rr_formation *formation, struct rr_error *error)
{
	struct rr_server *killed;

	if (rr_clock_ns() - formation->since_ns < RR_OUTAGE_MS * INT64_C(1000000))
		return true;
	killed = server_of(formation, formation->killed);
	if (!rr_server_start_again(formation->cluster, killed, error))
		return false;
	tally_fail_over(formation);
	formation->killed = -1;
	formation->primary = formation->first +
			     (formation->primary + 1 - formation->first) % formation->n_members;
	enter_phase(formation, RR_FORMATION_WHOLE);
	return true;
}

bool rr_formation_turn(struct rr_formation *formation, struct rr_error *error)
{
	const bool is_alone = formation->kind == RR_TOPOLOGY_ALONE;

	if (!is_all_there(formation, error))
		return false;
	switch (formation->phase) {
	case RR_FORMATION_CUT:
		return rr_clock_ns() - formation->since_ns < formation->cut_ns ||
		       kill_primary(formation, error);
	case RR_FORMATION_HEADLESS:
		return is_alone ? await_return(formation, error) :
				  await_promotion(formation, error);
	case RR_FORMATION_REJOINING:
		if (is_whole(formation)) {
			enter_phase(formation, RR_FORMATION_WHOLE);
			return true;
		}
		if (formation->kind != RR_TOPOLOGY_REPLICA && !watch_primary(formation, error))
			return false;
		return !is_late(formation) ||
		       rr_error_set(error, RR_ERROR_REDIS, "the %s is not whole after %d s",
				    rr_topology_names[formation->kind],
				    RR_FORMATION_LIMIT_MS / 1000);
	default:
		return is_alone || watch_primary(formation, error);
	}
}

bool rr_formation_await_whole(struct rr_formation *formation, struct rr_error *error)
{
	int64_t deadline_ns = 0;

	while (rr_formation_turn(formation, error) && formation->phase != RR_FORMATION_WHOLE) {
		if (!rr_server_wait(formation->cluster, 2 * RR_FORMATION_LIMIT_MS, &deadline_ns,
				    "a whole formation", error))
			return false;
	}
	return !error->kind;
}

/* ---- Opening ------------------------------------------------------------------- */

/* Declares servers NAME-1, NAME-2, ..., or one of that name. */
static bool declare(struct rr_formation *formation, const char *name, int n,
		    enum rr_server_role role, const char *of, struct rr_error *error)
{
	const struct rr_server_options options = { .role = role, .tcp = true, .replica_of = of };
	char numbered[RR_SERVER_NAME];
	int server;

	for (int i = 1; i <= n; i++, formation->n_servers++) {
		snprintf(numbered, sizeof(numbered), n > 1 ? "%s-%d" : "%s", name, i);
		if (!rr_cluster_declare(formation->cluster, numbered, &options, &server, error))
			return false;
	}
	return true;
}

/* Makes a Redis Cluster of the nodes. */
static bool make_redis_cluster(struct rr_formation *formation, const char *key,
			       struct rr_error *error)
{
	/* Each has an epoch of its own, so that none collide, and knows the first. */
	struct rr_server *first = nth_of(formation, 0);
	struct rdl_reply reply;

	for (int i = 0; i < 2 * PRIMARIES; i++) {
		struct rr_server *node = nth_of(formation, i);

		if (!rr_server_run(node, error, "CLUSTER SET-CONFIG-EPOCH %d", i + 1) ||
		    (i > 0 && !rr_server_run(node, error, "CLUSTER MEET 127.0.0.1 %d %d",
					     first->port, first->bus_port)))
			return false;
	}
	for (int i = 0; i < PRIMARIES; i++) {
		if (!rr_server_run(nth_of(formation, i), error, "CLUSTER ADDSLOTSRANGE %d %d",
				   i * SLOTS / PRIMARIES, (i + 1) * SLOTS / PRIMARIES - 1))
			return false;
	}
	for (int i = 0; i < PRIMARIES; i++) {
		/* Tried until the replica knows the node that it is to follow. */
		struct rr_server *node = nth_of(formation, i);
		struct rr_server *replica = nth_of(formation, PRIMARIES + i);
		int64_t deadline_ns = 0;
		char id[64];

		if (rdl_run(node->admin, &reply, "CLUSTER MYID") != RDL_OK)
			return rr_server_refused(node, error);
		snprintf(id, sizeof(id), "%s", reply.text ? reply.text : "");
		while (rdl_run(replica->admin, &reply, "CLUSTER REPLICATE %s", id) != RDL_OK) {
			if (!rr_cluster_is_whole(formation->cluster, error) ||
			    !rr_server_wait(formation->cluster, RR_FORMATION_LIMIT_MS, &deadline_ns,
					    "the making of a cluster", error))
				return false;
		}
	}
	/* The pair that has the key's slot. */
	int i = 0;

	if (rdl_run(first->admin, &reply, "CLUSTER KEYSLOT %s", key) != RDL_OK)
		return rr_server_refused(first, error);
	while (i + 1 < PRIMARIES && reply.integer >= (i + 1) * SLOTS / PRIMARIES)
		i++;
	formation->members[0] = formation->first + i;
	formation->members[1] = formation->first + PRIMARIES + i;
	formation->n_members = 2;
	return true;
}

bool rr_formation_open(struct rr_formation *formation, struct rr_cluster *cluster,
		       enum rr_topology kind, const char *key, struct rr_error *error)
{
	static const char primary[] = "primary";
	const bool is_cluster = kind == RR_TOPOLOGY_CLUSTER;
	bool good;

	*formation = (struct rr_formation){
		.cluster = cluster,
		.kind = kind,
		.first = (int)cluster->n_servers,
		.killed = -1,
		.phase = RR_FORMATION_REJOINING,
		.since_ns = rr_clock_ns(),
	};
	/* Those that hold data come first. */
	if (is_cluster)
		good = declare(formation, "node", 2 * PRIMARIES, RR_ROLE_NODE, NULL, error);
	else
		good = declare(formation, primary, 1, RR_ROLE_MEMBER, NULL, error) &&
		       declare(formation, "replica", REPLICAS, RR_ROLE_MEMBER, primary, error) &&
		       (kind != RR_TOPOLOGY_SENTINEL || declare(formation, "sentinel", SENTINELS,
								RR_ROLE_SENTINEL, primary, error));
	if (!good || !rr_cluster_start(cluster, error))
		return false;
	if (is_cluster) {
		if (!make_redis_cluster(formation, key, error))
			return false;
	} else {
		formation->n_members = 1 + REPLICAS;
		for (int i = 0; i < formation->n_members; i++)
			formation->members[i] = formation->first + i;
	}
	/*
	 * Sentinels look at servers and at each other a few times a second rather than every ten,
	 * so that a formation is whole again soon after a fail-over, and a machine that is busy
	 * does not make them stop for half a minute (TILT). They connect again as often as they
	 * ping, and so a server that was just promoted seems down to them where they are told to be
	 * quicker than that with their verdict, and another fail-over follows; but what a replica
	 * told them counts no longer than five such periods, and they ask it once in a second when
	 * its primary is dead. A server that does not know this command takes longer.
	 */
	for (int i = formation->n_members; !is_cluster && i < formation->n_servers; i++) {
		struct rdl_reply reply;

		rdl_run(nth_of(formation, i)->admin, &reply,
			"SENTINEL DEBUG PING-PERIOD 300 INFO-PERIOD 200 PUBLISH-PERIOD 200 TILT-PERIOD 1000");
	}
	formation->primary = formation->members[0];
	formation->since_ns = rr_clock_ns();
	return point_at_primary(formation, error) && rr_formation_await_whole(formation, error);
}

void rr_formation_of_lone(struct rr_formation *formation, struct rr_cluster *cluster, int first,
			  int n)
{
	*formation = (struct rr_formation){
		.cluster = cluster,
		.kind = RR_TOPOLOGY_ALONE,
		.first = first,
		.n_servers = n,
		.n_members = n,
		.primary = first,
		.killed = -1,
		.phase = RR_FORMATION_WHOLE,
	};
	for (int i = 0; i < n; i++)
		formation->members[i] = first + i;
}

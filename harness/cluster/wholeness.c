/* SPDX-License-Identifier: MIT */
/* Is a formation whole? Asked of all that can tell: its servers, its sentinels,
 * the nodes of a cluster. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

/* ---- Primaries and replicas ------------------------------------------------ */

bool rr_formation_look(const struct rr_formation *formation, int number,
		       struct rr_replication *found)
{
	return rr_role_ask(rr_formation_server(formation, number), found);
}

static bool are_members_whole(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_members; i++) {
		const int number = formation->members[i];

		if (!rr_formation_look(formation, number, &found))
			return false;
		if (number == formation->primary ?
			    !found.is_primary || found.n_replicas < formation->n_members - 1 :
			    found.is_primary || !found.is_linked)
			return false;
	}
	return true;
}

/* ---- Sentinels ---------------------------------------------------------------- */

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

static bool watches_primary(const struct rr_formation *formation, struct rr_server *sentinel)
{
	const struct rr_server *primary = rr_formation_server(formation, formation->primary);
	struct rdl_reply reply;

	return rdl_run(sentinel->admin, &reply, "SENTINEL MASTER %s", rr_service_name) == RDL_OK &&
	       strcmp(value_of(&reply, "flags"), "master") == 0 &&
	       atoi(value_of(&reply, "port")) == primary->port &&
	       atoi(value_of(&reply, "num-other-sentinels")) == 2;
}

static bool knows_replicas(const struct rr_formation *formation, struct rr_server *sentinel)
{
	const struct rr_server *primary = rr_formation_server(formation, formation->primary);
	struct rdl_reply reply;

	if (rdl_run(sentinel->admin, &reply, "SENTINEL REPLICAS %s", rr_service_name) != RDL_OK ||
	    (int)reply.length != formation->n_members - 1)
		return false;
	for (size_t i = 0; i < reply.length; i++) {
		const struct rdl_reply *replica = &reply.elements[i];

		if (strcmp(value_of(replica, "flags"), "slave") != 0 ||
		    strcmp(value_of(replica, "master-link-status"), "ok") != 0 ||
		    atoi(value_of(replica, "master-port")) != primary->port)
			return false;
	}
	return true;
}

static bool are_sentinels_ready(const struct rr_formation *formation)
{
	for (int i = formation->n_members; i < formation->n_servers; i++) {
		struct rr_server *sentinel = rr_formation_nth(formation, i);

		if (!watches_primary(formation, sentinel) || !knows_replicas(formation, sentinel))
			return false;
	}
	return true;
}

/* ---- Nodes of a cluster -------------------------------------------------------- */

static bool are_nodes_content(const struct rr_formation *formation)
{
	struct rr_replication found;

	for (int i = 0; i < formation->n_servers; i++) {
		const int number = formation->first + i;

		/* Everybody has seen everybody, and thinks badly of nobody. */
		struct rr_server *node = rr_formation_server(formation, number);
		struct rdl_reply reply;

		if (rdl_run(node->admin, &reply, "CLUSTER INFO") != RDL_OK || !reply.text ||
		    !strstr(reply.text, "cluster_state:ok") ||
		    !strstr(reply.text, "cluster_slots_ok:16384\r"))
			return false;
		if (rdl_run(node->admin, &reply, "CLUSTER NODES") != RDL_OK || !reply.text ||
		    strstr(reply.text, "fail") || strstr(reply.text, "handshake") ||
		    strstr(reply.text, "disconnected") ||
		    !rr_formation_look(formation, number, &found) ||
		    (!found.is_primary && !found.is_linked))
			return false;
	}
	return true;
}

bool rr_formation_is_whole(const struct rr_formation *formation)
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

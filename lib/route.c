/* SPDX-License-Identifier: MIT */
/* Finding the node: the master that a Sentinel names, the owner of a slot. See
 * route.h; what servers answer to commands is in redirect.c. */
#include "route.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "link.h"

enum { PAUSE_NS = 20000000, SLOTS = 16384 };

struct rdl_route *rdl_route_new(const struct rdl_address *address)
{
	struct rdl_route *route = calloc(1, sizeof(*route));

	if (!route)
		return NULL;
	route->slot = -1;
	while (route->n_known < RDL_NODES_MAX &&
	       rdl_address_node(address, route->n_known, &route->known[route->n_known]))
		route->n_known++;
	route->node = route->known[0];
	return route;
}

void rdl_route_free(struct rdl_route *route)
{
	if (route)
		rdl_buffer_release(&route->batch.bytes);
	free(route);
}

/* ---- Slots ------------------------------------------------------------- */

/* CRC-16/XMODEM, as the specification of Redis Cluster has it. */
static unsigned crc16(const char *bytes, size_t n)
{
	unsigned crc = 0;

	while (n-- > 0) {
		crc ^= (unsigned)(unsigned char)*bytes++ << 8;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	return crc & 0xffff;
}

/* Of what stands in the first {}, if that is not empty. */
void rdl_route_aim(struct rdl_link *link, const char *key)
{
	const char *open = strchr(key, '{');
	const char *close = open ? strchr(open, '}') : NULL;
	size_t n = strlen(key);

	if (!link->route)
		return;
	if (close && close > open + 1) {
		key = open + 1;
		n = (size_t)(close - key);
	}
	link->route->slot = (int)(crc16(key, n) % SLOTS);
}

/* ---- Asking ------------------------------------------------------------ */

/* How a search ended. */
enum found { FOUND, NOT_YET, NEVER };

/* A server that refuses may be about to be ready, and do it then. */
static enum found refused_by(const struct rdl_reply *reply)
{
	static const char *const passing[] = { "LOADING", "MASTERDOWN", "CLUSTERDOWN" };

	if (reply->type != RDL_REPLY_FAILED)
		return NOT_YET;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (strncmp(reply->text, passing[i], strlen(passing[i])) == 0)
			return NOT_YET;
	}
	return NEVER;
}

/* A link to a Sentinel or a node, which is asked one question. With several of
 * them one that hangs may not take all of the time. */
static struct rdl_link *open_asker(const struct rdl_link *link, const struct rdl_address *address,
				   int64_t left_ns)
{
	const int64_t most_ns = link->timeout_ms * INT64_C(1000000) /
				(link->route->n_known > 1 ? 3 : 1);
	const int64_t timeout_ns = left_ns < most_ns ? left_ns : most_ns;

	return rdl_link_new(address, (int)(timeout_ns / 1000000) + 1);
}

static enum found fail_asking(struct rdl_link *link, const struct rdl_link *asker,
			      const struct rdl_reply *reply)
{
	char where[300];

	rdl_address_print(&asker->address, where, sizeof(where));
	rdl_link_fail(link, RDL_ERROR, "%s: %.120s", where, rdl_link_error(asker));
	link->reason = asker->reason;
	return refused_by(reply);
}

/* ---- Sentinel ---------------------------------------------------------- */

static enum rdl_outcome ask_for_master(struct rdl_link *asker, const char *service,
				       struct rdl_reply *reply)
{
	return rdl_run(asker, reply, "SENTINEL get-master-addr-by-name %s", service);
}

/* Not every Sentinel has a password of its own where the master has one. */
static enum rdl_outcome ask_sentinel(struct rdl_link *asker, const struct rdl_address *secret,
				     const char *service, struct rdl_reply *reply)
{
	enum rdl_outcome outcome = ask_for_master(asker, service, reply);

	if (outcome != RDL_ERROR || reply->type != RDL_REPLY_FAILED ||
	    strncmp(reply->text, "NOAUTH", 6) != 0 || !secret->password[0])
		return outcome;
	rdl_link_disconnect(asker);
	asker->address = *secret;
	return ask_for_master(asker, service, reply);
}

/* A text of a reply as a host; announced ones are taken as they are. */
static bool take_node(struct rdl_address *node, const struct rdl_reply *host,
		      const struct rdl_reply *port)
{
	long long number;

	if (host->type != RDL_REPLY_STRING || host->length == 0 ||
	    host->length >= sizeof(node->host) || !rdl_reply_number(port, &number) || number < 1 ||
	    number > 65535)
		return false;
	memcpy(node->host, host->text, host->length + 1);
	node->port = (int)number;
	return true;
}

static enum found take_master(struct rdl_link *link, const struct rdl_link *asker,
			      const struct rdl_reply *reply)
{
	struct rdl_address *node = &link->route->node;

	if (reply->type == RDL_REPLY_ARRAY && reply->length == 2 &&
	    take_node(node, &reply->elements[0], &reply->elements[1])) {
		node->db = link->address.db;
		return FOUND;
	}
	rdl_link_fail(link, RDL_ERROR, "the Sentinel at %.100s:%d knows no master of the name '%s'",
		      asker->address.host, asker->address.port, link->address.service);
	return NEVER;
}

static enum found ask_for_service(struct rdl_link *link, const struct rdl_address *sentinel,
				  int64_t left_ns)
{
	struct rdl_address plain = *sentinel;
	struct rdl_link *asker;
	struct rdl_reply reply;
	enum found found;

	plain.user[0] = plain.password[0] = '\0';
	asker = open_asker(link, &plain, left_ns);
	if (!asker) {
		rdl_link_fail(link, RDL_ERROR, "out of memory");
		return NEVER;
	}
	if (ask_sentinel(asker, sentinel, link->address.service, &reply) == RDL_OK)
		found = take_master(link, asker, &reply);
	else
		found = fail_asking(link, asker, &reply);
	rdl_link_free(asker);
	return found;
}

/* ---- Cluster ----------------------------------------------------------- */

static bool is_same_node(const struct rdl_address *a, const struct rdl_address *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

static void learn_node(struct rdl_route *route, const struct rdl_address *node)
{
	for (size_t i = 0; i < route->n_known; i++) {
		if (is_same_node(&route->known[i], node))
			return;
	}
	if (route->n_known < RDL_NODES_MAX)
		route->known[route->n_known++] = *node;
}

/* A node of CLUSTER SLOTS: host, port and more. A host that is not told is the
 * one that was asked. */
static bool read_node(const struct rdl_address *asked, const struct rdl_reply *told,
		      struct rdl_address *node)
{
	*node = *asked;
	if (told->type != RDL_REPLY_ARRAY || told->length < 2)
		return false;
	if (told->elements[0].type == RDL_REPLY_NIL ||
	    (told->elements[0].type == RDL_REPLY_STRING && told->elements[0].length == 0)) {
		node->port = (int)told->elements[1].integer;
		return true;
	}
	return take_node(node, &told->elements[0], &told->elements[1]);
}

/* One range: first slot, last slot, the owner, its replicas. Is the slot in it?
 * All of its nodes are known from now on. */
static bool take_range(struct rdl_route *route, const struct rdl_address *asked,
		       const struct rdl_reply *range)
{
	const struct rdl_reply *const elements = range->elements;
	struct rdl_address node;

	if (range->type != RDL_REPLY_ARRAY || range->length < 3)
		return false;
	for (size_t i = range->length; i-- > 2;) {
		if (read_node(asked, &elements[i], &node))
			learn_node(route, &node);
		else if (i == 2)
			return false;
	}
	if (route->slot < elements[0].integer || route->slot > elements[1].integer)
		return false;
	route->node = node; /* the last that was read: the owner */
	return true;
}

/* Until the slot is known, the node that answers will do: it says MOVED. */
static enum found take_owner(struct rdl_link *link, const struct rdl_address *asked,
			     const struct rdl_reply *reply)
{
	struct rdl_route *route = link->route;
	bool is_owned = false;

	for (size_t i = 0; reply->type == RDL_REPLY_ARRAY && i < reply->length; i++)
		is_owned |= take_range(route, asked, &reply->elements[i]);
	if (route->slot < 0) {
		route->node = *asked;
		return FOUND;
	}
	if (is_owned)
		return FOUND;
	rdl_link_fail(link, RDL_ERROR, "no node of the cluster owns slot %d", route->slot);
	link->reason = RDL_REASON_UNREACHABLE;
	return NOT_YET;
}

static enum found ask_for_owner(struct rdl_link *link, const struct rdl_address *node,
				int64_t left_ns)
{
	const struct rdl_address asked = *node; /* of a list that may change */
	struct rdl_link *asker = open_asker(link, &asked, left_ns);
	struct rdl_reply reply;
	enum found found;

	if (!asker) {
		rdl_link_fail(link, RDL_ERROR, "out of memory");
		return NEVER;
	}
	if (rdl_run(asker, &reply, "CLUSTER SLOTS") == RDL_OK)
		found = take_owner(link, &asked, &reply);
	else
		found = fail_asking(link, asker, &reply);
	rdl_link_free(asker);
	return found;
}

bool rdl_route_is_shared(const struct rdl_link *a, const struct rdl_link *b)
{
	return !a->route || !a->context || !b->context ||
	       is_same_node(&a->route->node, &b->route->node);
}

/* ---- Connecting -------------------------------------------------------- */

static int64_t left_until_ns(int64_t deadline_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return deadline_ns - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

static enum found find_node(struct rdl_link *link, int64_t left_ns)
{
	struct rdl_route *route = link->route;
	const struct rdl_address *asked = &route->known[route->next];

	return link->address.kind == RDL_ADDRESS_SENTINEL ? ask_for_service(link, asked, left_ns) :
							    ask_for_owner(link, asked, left_ns);
}

/* By the node, of AUTH or SELECT; not by the network. */
static bool is_refusal(const char *error)
{
	static const char *const codes[] = { "ERR ", "WRONGPASS", "NOAUTH", "NOPERM" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strncmp(error, codes[i], strlen(codes[i])) == 0)
			return true;
	}
	return false;
}

/* One attempt: asks the next of those that are known, and connects. */
static enum found find_and_connect(struct rdl_link *link, int64_t deadline_ns)
{
	struct rdl_route *route = link->route;
	enum found found = find_node(link, left_until_ns(deadline_ns));

	if (found == FOUND) {
		rdl_links_connect_to(&link, 1, deadline_ns);
		if (link->context)
			return FOUND;
		found = is_refusal(link->error) ? NEVER : NOT_YET;
	}
	route->next = (route->next + 1) % route->n_known;
	return found;
}

/* A route that has never led anywhere is not waited for: it is wrong. */
static bool is_hopeless(const struct rdl_route *route, size_t attempts)
{
	return !route->has_worked && attempts >= route->n_known;
}

/* With hardly any time left another attempt would say no more than that. */
enum rdl_outcome rdl_route_connect(struct rdl_link *link, int64_t deadline_ns)
{
	struct rdl_route *route = link->route;
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	size_t attempts = 0;

	route->is_asking = route->is_wrong = route->has_left = false;
	for (;;) {
		const enum found found = find_and_connect(link, deadline_ns);

		if (found == FOUND) {
			route->has_worked = true;
			return RDL_OK;
		}
		attempts++;
		if (left_until_ns(deadline_ns) <= PAUSE_NS || is_hopeless(route, attempts) ||
		    (found == NEVER && attempts >= route->n_known))
			return RDL_ERROR;
		if (attempts % route->n_known == 0)
			nanosleep(&pause, NULL);
	}
}

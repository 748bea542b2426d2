/* SPDX-License-Identifier: MIT */
/* What is known of keys, for the files that make it up. */
#ifndef RR_ACCESS_INSIDE_H
#define RR_ACCESS_INSIDE_H

#include "access.h"
#include "shapes.h"

enum {
	RR_LINKS_MAX = 64,
	RR_QUEUE_MAX = 16,
	RR_KEY_NAME_SIZE = 160,
	RR_SERVERS_MAX = 16
};

/* What a connection has queued and watches. */
struct rr_connection {
	const struct rl_link *link;
	struct rr_footprint watched;
	size_t n_queued;
	struct {
		struct rr_op op;
		struct rr_footprint footprint;
	} queued[RR_QUEUE_MAX];
};

/* What a name begins with that is no key: that of a server itself. */
enum { RR_NO_KEY = '\1' };

/* A key on a server, or a mutex. */
struct rr_name {
	int server; /* -1 = a mutex */
	char text[RR_KEY_NAME_SIZE];
};

struct rr_access {
	struct rl_link *links[RR_SERVERS_MAX];
	size_t n_servers;
	const struct rr_gate *gate;
	struct rr_shapes *shapes;
	struct rr_name names[RR_NAMES_MAX]; /* what bit i stands for */
	size_t n_names;
	uint64_t leases; /* the bits that stand for those */
	struct rr_connection connections[RR_LINKS_MAX];
	size_t n_connections;
};

/* ---- access_commands.c ---- */

/* Whatever it could write counts as written. */
struct rr_footprint rr_access_of_keys(struct rr_access *access,
				      const struct rr_op *op);

/* rr_access_of() of a command. What is queued touches nothing until EXEC. */
struct rr_footprint rr_access_of_command(struct rr_access *access,
					 const struct rr_gate_event *event,
					 bool proved);

/* ---- names.c ---- */

/* Of the keys' bits; 0 for those that are no keys'. */
uint64_t rr_names_lease(const struct rr_access *access, uint64_t keys);
uint64_t rr_names_server(struct rr_access *access, int server);
uint64_t rr_names_mutex(struct rr_access *access, const struct rl_mutex *mutex);

#endif

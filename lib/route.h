/* SPDX-License-Identifier: MIT */
/*
 * Where a link leads to whose address is a service of Sentinel or a Redis
 * Cluster: the node it is to be connected to now, found before each connection
 * and changed by what the server answers (MOVED, ASK, READONLY).
 *
 * What was refused is sent again, so the commands whose replies are to come are
 * kept here as they were sent. Links to one server have no route and none of
 * this.
 */
#ifndef RDL_ROUTE_H
#define RDL_ROUTE_H

#include "address.h"
#include "command.h"

struct rdl_link;

enum { RDL_BATCH_MAX = 64, RDL_BATCH_BYTES_MAX = 256 * 1024 };

/* What a command means for sending it, or those after it, again. */
enum rdl_sent_kind {
	RDL_SENT_PLAIN,
	RDL_SENT_MULTI,
	RDL_SENT_EXEC, /* or DISCARD: the end of a transaction and of a watch */
	RDL_SENT_WATCH,
	RDL_SENT_UNWATCH,
	RDL_SENT_HARMLESS, /* it may be done twice */
};

struct rdl_sent {
	enum rdl_sent_kind kind;
	size_t at;         /* where its bytes begin */
	bool is_asked_for; /* an ASKING of ours goes before it */
};

/* The commands sent since the last moment when no reply was to come and no
 * transaction was open. */
struct rdl_batch {
	size_t n, n_answered;
	struct rdl_sent commands[RDL_BATCH_MAX];
	struct rdl_buffer bytes;
	bool is_too_long; /* some of it is not here */
	bool is_watched;  /* since before it */
};

struct rdl_route {
	struct rdl_address node;                 /* to be connected to */
	struct rdl_address known[RDL_NODES_MAX]; /* Sentinels, or nodes */
	size_t n_known;
	size_t next;     /* of them to be asked */
	int slot;        /* of the keys; -1 = not known */
	bool has_worked; /* it was connected once */
	bool is_asking;  /* it is only there for one batch (ASK) */
	bool is_wrong;   /* this is not the node any more: to be closed */
	bool has_left;   /* closed for that, and not connected since */
	struct rdl_batch batch;
};

/* NULL when out of memory. `address` is not a single server's. */
struct rdl_route *rdl_route_new(const struct rdl_address *address);
void rdl_route_free(struct rdl_route *route);

/* The slot is that of `key`, for a link that sends no keys of its own. */
void rdl_route_aim(struct rdl_link *link, const char *key);

/* Do two links of one address lead to the same node, as far as they are
 * connected? */
bool rdl_route_is_shared(const struct rdl_link *a, const struct rdl_link *b);

/* Finds the node and connects, again and again until it succeeds or the time
 * (of the kernel's clock) is over. */
enum rdl_outcome rdl_route_connect(struct rdl_link *link, int64_t deadline_ns);

/* Remembers a command that was queued. False: out of memory. */
bool rdl_route_note(struct rdl_link *link, const struct rdl_command *command);

/* Of what was sent over a connection that is closed, nothing can be sent
 * again. */
void rdl_route_forget(struct rdl_link *link);

/* rdl_link_read(). A reply that sends us elsewhere is followed, if that is safe,
 * and *reply is what the right node said; else it stands. */
enum rdl_outcome rdl_route_receive(struct rdl_link *link, struct rdl_reply *reply,
				   int64_t deadline_ns);

#endif

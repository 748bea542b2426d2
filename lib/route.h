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
#ifndef RL_ROUTE_H
#define RL_ROUTE_H

#include "address.h"
#include "command.h"

struct rl_link;

enum { RL_BATCH_MAX = 64, RL_BATCH_BYTES_MAX = 256 * 1024 };

/* What a command means for sending it, or those after it, again. */
enum rl_sent_kind {
	RL_SENT_PLAIN,
	RL_SENT_MULTI,
	RL_SENT_EXEC, /* or DISCARD: the end of a transaction and of a watch */
	RL_SENT_WATCH,
	RL_SENT_UNWATCH,
	RL_SENT_HARMLESS, /* it may be done twice */
};

struct rl_sent {
	enum rl_sent_kind kind;
	size_t at;         /* where its bytes begin */
	bool is_asked_for; /* an ASKING of ours goes before it */
};

/* The commands sent since the last moment when no reply was to come and no
 * transaction was open. */
struct rl_batch {
	size_t n, n_answered;
	struct rl_sent commands[RL_BATCH_MAX];
	struct rl_buffer bytes;
	bool is_too_long; /* some of it is not here */
	bool is_watched;  /* since before it */
};

struct rl_route {
	struct rl_address node;                /* to be connected to */
	struct rl_address known[RL_NODES_MAX]; /* Sentinels, or nodes */
	size_t n_known;
	size_t next;     /* of them to be asked */
	int slot;        /* of the keys; -1 = not known */
	bool has_worked; /* it was connected once */
	bool is_asking;  /* it is only there for one batch (ASK) */
	bool is_wrong;   /* this is not the node any more: to be closed */
	bool has_left;   /* closed for that, and not connected since */
	struct rl_batch batch;
};

/* NULL when out of memory. `address` is not a single server's. */
struct rl_route *rl_route_new(const struct rl_address *address);
void rl_route_free(struct rl_route *route);

/* The slot is that of `key`, for a link that sends no keys of its own. */
void rl_route_aim(struct rl_link *link, const char *key);

/* Do two links of one address lead to the same node, as far as they are
 * connected? */
bool rl_route_is_shared(const struct rl_link *a, const struct rl_link *b);

/* Finds the node and connects, again and again until it succeeds or the time
 * (of the kernel's clock) is over. */
enum rl_outcome rl_route_connect(struct rl_link *link, int64_t deadline_ns);

/* Remembers a command that was queued. False: out of memory. */
bool rl_route_note(struct rl_link *link, const struct rl_command *command);

/* Of what was sent over a connection that is closed, nothing can be sent
 * again. */
void rl_route_forget(struct rl_link *link);

/* rl_link_read(). A reply that sends us elsewhere is followed, if that is safe,
 * and *reply is what the right node said; else it stands. */
enum rl_outcome rl_route_receive(struct rl_link *link, struct rl_reply *reply, int64_t deadline_ns);

#endif

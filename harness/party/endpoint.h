/* SPDX-License-Identifier: MIT */
/*
 * The Redis that a checked program connects to: a TCP port of 127.0.0.1 and a unix
 * socket, both ours. Whole requests are read from its connections and handed on in
 * their order; replies are written when the owner says so.
 */
#ifndef RR_ENDPOINT_H
#define RR_ENDPOINT_H

#include <poll.h>

#include "base/error.h"
#include "base/wire.h"

enum {
	RR_ENDPOINT_CONNECTIONS = 32,                          /* open at once */
	RR_ENDPOINT_DESCRIPTORS = RR_ENDPOINT_CONNECTIONS + 2, /* that are polled */
};

/* Who is told of what comes, and of connections that the program has closed: their
 * number may be used again. */
struct rr_endpoint_owner {
	const char *name; /* of the client, for errors */
	/* Told of each request in its order; `command` is valid until it returns.
	 * False: it cannot be dealt with (the owner knows why). */
	bool (*on_request)(void *context, int connection, const struct rdl_command *command);
	void (*on_close)(void *context, int connection);
	/* Is a connection that was accepted to be refused? NULL: none is. */
	bool (*is_stranger)(void *process, int fd);
	void *context;
	void *process;
};

struct rr_endpoint {
	struct rr_endpoint_owner owner;
	int tcp_fd, unix_fd;
	unsigned port;
	char socket_path[108];
	struct rr_wire connections[RR_ENDPOINT_CONNECTIONS];
	int64_t spent_ns; /* of its time by the program, since it connected or sent something last */
};

/* Listens; the unix socket lies in `directory`, whose owner removes it. False: errno. Close it in any case. */
bool rr_endpoint_open(struct rr_endpoint *endpoint, const struct rr_endpoint_owner *owner,
		      const char *directory);
void rr_endpoint_close(struct rr_endpoint *endpoint);

/* What has to be polled: RR_ENDPOINT_DESCRIPTORS entries. */
void rr_endpoint_list(const struct rr_endpoint *endpoint, struct pollfd *list);

/* Deals with what has come, by a polled list. False: the error, or the owner's. */
bool rr_endpoint_take(struct rr_endpoint *endpoint, const struct pollfd *list,
		      struct rr_error *error);

#endif

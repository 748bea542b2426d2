/* SPDX-License-Identifier: MIT */
/* The TCP sockets of the machine, as proc(5) tells. */
#ifndef RR_SOCKETS_H
#define RR_SOCKETS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { RR_SOCKET_LISTENS = 0x0a };

struct rr_socket {
	unsigned local, remote, state; /* ports */
	unsigned long sent, received;  /* bytes that wait: to be taken by the other side, by
					* this one; of one that listens, connections */
	unsigned user;
	unsigned long inode; /* 0 = no process has it, or none yet */
};

/* One after the other, of IPv4 and IPv6. All zero = at the beginning. */
struct rr_sockets {
	FILE *file;
	int n_files;
};

/* False: that were all, and nothing is left open. */
bool rr_sockets_next(struct rr_sockets *sockets, struct rr_socket *socket);

/* For who stops before that. */
void rr_sockets_end(struct rr_sockets *sockets);

/* Does a process have it open? */
bool rr_socket_is_of(unsigned long inode, pid_t pid);

/* Ports of 127.0.0.1, so many in a row, on which nobody listens: the first; 0 = none. */
unsigned rr_sockets_free_ports(size_t n);

/* Bytes under way on connections to so many ports from that one on. */
struct rr_queues {
	unsigned long sent, received;
};

struct rr_queues rr_sockets_queues(unsigned port, size_t n);

#endif

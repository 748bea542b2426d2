/* SPDX-License-Identifier: MIT */
/* The TCP sockets of the machine: the kernel lists those in some states (sock_diag(7)); where it
 * does not, proc(5) has all of them, which takes ten times as long and more. */
#ifndef RR_SOCKETS_H
#define RR_SOCKETS_H

#include <linux/inet_diag.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* States, as bits. Without those that no process has any more, of which there may be thousands. */
enum {
	RR_SOCKETS_CONNECTED = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 |
			       1 << 11,
	RR_SOCKET_LISTENS = 10,
	RR_SOCKETS_LISTENING = 1 << RR_SOCKET_LISTENS,
};

struct rr_socket {
	unsigned local, remote, state; /* ports; 1 << state is one of the above */
	unsigned long sent,
		received; /* bytes that wait: to be acknowledged by the other side, to be
					* read by this one; of one that listens, connections */
	unsigned user;
	unsigned long inode; /* 0 = no process has it, or none yet */
	bool has_counts;     /* the kernel has counted bytes: */
	uint64_t out, in;    /* that have left it, and come to it */
	bool holds_back;     /* some have not left it yet */
	/* As the kernel knows it; family 0 = it was read from proc(5). */
	unsigned char family;
	struct inet_diag_sockid id;
};

/* One after the other, of IPv4 and IPv6. All zero but for `states` and `port` = at the beginning. */
struct rr_sockets {
	unsigned states;
	unsigned port; /* at either end; 0 = any */
	bool is_begun;
	int fd;       /* of the kernel's list; -1 = proc(5) is read */
	size_t at, n; /* in `bytes` */
	char bytes[16 * 1024] __attribute__((aligned(8)));
	FILE *file;
	int n_files;
};

/* False: that were all, and nothing is left open. */
bool rr_sockets_next(struct rr_sockets *sockets, struct rr_socket *socket);

/* For who stops before that. */
void rr_sockets_end(struct rr_sockets *sockets);

/* That of 127.0.0.1 with these ports. False: there is none. */
bool rr_sockets_find(unsigned local, unsigned remote, struct rr_socket *socket);

/* Does a process have it open? */
bool rr_socket_is_of(unsigned long inode, pid_t pid);

/* Who may have given it to the process; 0: it has ended. */
pid_t rr_process_parent(pid_t pid);

/* A port of 127.0.0.1 on which nobody listens; 0 = none. */
unsigned rr_sockets_free_port(void);

/* ---- What is under way to and from an app ---------------------------------------- */

/*
 * On connections to a port of this machine, bytes: that have not come to the
 * other side, and that have come and were not read. The kernel counts what each side has sent and
 * got, so that nobody has to wait until it is acknowledged, which takes 40 ms. Where it does not,
 * or where the other side is gone, `sent` is what was not acknowledged.
 */
struct rr_queues {
	unsigned long sent, received;
};

/* The ends of these connections, kept from look to look: listing them walks through the kernel's table
 * of all connections, which has hundreds of thousands of places. All 0: none is known. */
struct rr_queue_ends {
	struct rr_socket *list;
	size_t n;
	bool are_all;      /* no other end can come but by a connect(2) */
	unsigned n_called; /* how many of these there were when the ends were listed */
	bool is_open;
	int fd;
};

/* `n_called`: how many connect(2) calls may have led to the port so far. Ends that are known are read
 * again; where that number has changed, or not all calls are counted (UINT_MAX), all are listed. */
struct rr_queues rr_queues_look(unsigned port, struct rr_queue_ends *ends, unsigned n_called);

void rr_queue_ends_release(struct rr_queue_ends *ends);

#endif

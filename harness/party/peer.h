/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection that was accepted, as proc(5) tells. */
#ifndef RR_PEER_H
#define RR_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* Connections of processes that are no part of a program. */
struct rr_strangers {
	unsigned long n;
	char first[100]; /* which process it was, in words */
};

/* Is it none of a program's? Those are the processes of its group, their children, and who
 * has its port in the environment; and who cannot be found any more. A stranger is noted. */
bool rr_peer_is_stranger(int fd, pid_t group, pid_t guardian, unsigned port,
			 struct rr_strangers *strangers);

/* Does a process of that group listen at a port of this machine? */
bool rr_peer_listens(unsigned port, pid_t group);

#endif

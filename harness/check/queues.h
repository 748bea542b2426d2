/* SPDX-License-Identifier: MIT */
/* What is under way to and from an app. */
#ifndef RR_QUEUES_H
#define RR_QUEUES_H

/*
 * On connections to a port of this machine, bytes: that have not come to the
 * other side, and that have come and were not read. The kernel counts what each side has sent and
 * got, so that nobody has to wait until it is acknowledged, which takes 40 ms. Where it does not,
 * or where the other side is gone, `sent` is what was not acknowledged.
 */
struct rr_queues {
	unsigned long sent, received;
};

struct rr_queues rr_queues_look(unsigned port);

#endif

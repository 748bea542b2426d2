/* SPDX-License-Identifier: MIT */
/*
 * Deletes or expires a key only if it holds a certain value, by the best means
 * that the server has and allows (enum rdl_release_method). Which one that is,
 * is found out along with the first use on a link and remembered there.
 */
#ifndef RDL_COMPARE_H
#define RDL_COMPARE_H

#include "redislock.h"

struct rdl_guarded {
	const char *key;
	const char *value;
	long ttl_ms; /* the key expires so long from now; 0 = it is deleted */
};

/* Outcomes as rdl_delete_if_equal(). It is not waited for beyond `deadline_ns`
 * of the monotonic clock; 0 = the link's time-out. */
enum rdl_outcome rdl_guarded_run(struct rdl_link *link, const struct rdl_guarded *guarded,
				 int64_t deadline_ns);

/* The same in two parts, for pipelines and fan-outs. */
enum rdl_outcome rdl_guarded_queue(struct rdl_link *link, const struct rdl_guarded *guarded);
enum rdl_outcome rdl_guarded_receive(struct rdl_link *link, const struct rdl_guarded *guarded,
				     int64_t deadline_ns);

/* Queues the script as a whole, which is one command with one reply, whatever the server has:
 * for who must not wait for a second one. The reply: 1 = it was done. */
enum rdl_outcome rdl_guarded_queue_whole(struct rdl_link *link, const struct rdl_guarded *guarded);

/*
 * The script that deletes: KEYS[1] goes only if it holds ARGV[1]. One script,
 * because between a GET and a DEL the lease may run out and the key may become
 * another client's.
 */
extern const char rdl_compare_and_delete[];

/* Asks now, in a round trip of its own, whether the server has a command for it:
 * then the first use on the link is as all others are. */
enum rdl_outcome rdl_link_learn_release(struct rdl_link *link);

/* The method by which this link's server deletes. */
enum rdl_release_method rdl_link_release_method(const struct rdl_link *link);

#endif

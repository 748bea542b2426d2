/* SPDX-License-Identifier: MIT */
/*
 * Deletes or expires a key only if it holds a certain value, by the best means
 * that the server has and allows (enum rl_release_method). Which one that is,
 * is found out along with the first use on a link and remembered there.
 */
#ifndef RL_COMPARE_H
#define RL_COMPARE_H

#include "redislock.h"

struct rl_guarded {
	const char *key;
	const char *value;
	long ttl_ms; /* the key expires so long from now; 0 = it is deleted */
};

/* Outcomes as rl_delete_if_equal(). It is not waited for beyond `deadline_ns`
 * of the monotonic clock; 0 = the link's time-out. */
enum rl_outcome rl_guarded_run(struct rl_link *link, const struct rl_guarded *guarded,
			       int64_t deadline_ns);

/* The same in two parts, for pipelines and fan-outs. */
enum rl_outcome rl_guarded_queue(struct rl_link *link, const struct rl_guarded *guarded);
enum rl_outcome rl_guarded_receive(struct rl_link *link, const struct rl_guarded *guarded,
				   int64_t deadline_ns);

/*
 * The script that deletes: KEYS[1] goes only if it holds ARGV[1]. One script,
 * because between a GET and a DEL the lease may run out and the key may become
 * somebody else's.
 */
extern const char rl_compare_and_delete[];

/* Asks now, in a round trip of its own, whether the server has a command for it:
 * then the first use on the link is as all others are. */
enum rl_outcome rl_link_learn_release(struct rl_link *link);

/* The method by which this link's server deletes. */
enum rl_release_method rl_link_release_method(const struct rl_link *link);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The keys of a run: everything it touches on a server lies under one fresh
 * prefix, and its names can be told from the prefix and a number, so nothing
 * ever has to be scanned for.
 */
#ifndef RR_KEYS_H
#define RR_KEYS_H

#include "redislock.h"

enum { RR_KEY_SIZE = 64, RR_KEYS_MAX = 4096 };

struct rr_key_set {
	struct rdl_address address;
	char prefix[32];
	int n_keys; /* counters, and as many locks */
};

/* "redrace:" and 8 random bytes in hexadecimal. False: no random bytes. */
bool rr_keys_fresh_prefix(char prefix[32]);

/* Makes it "{redrace:...}:", a hash tag: all keys under it are in one hash slot
 * of a Redis Cluster. */
void rr_keys_tag_prefix(char prefix[32]);

void rr_keys_counter(char name[RR_KEY_SIZE], const char *prefix, int i);
void rr_keys_lock(char name[RR_KEY_SIZE], const char *prefix, int i);

/* The delay queue's name, for rdl_delay_queue_new(); there is one. */
void rr_keys_queue(char name[RR_KEY_SIZE], const char *prefix);

/* Deletes all counters and locks of the prefix over `link`, what is kept beside
 * them, and the queue. */
enum rdl_outcome rr_keys_delete(struct rdl_link *link, const char *prefix, int n_keys);

#endif

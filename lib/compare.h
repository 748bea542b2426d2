/* SPDX-License-Identifier: MIT */
/*
 * Commands that do something to a key only if it holds a certain value, by the
 * best means the server has. See enum rl_release_method.
 */
#ifndef RL_COMPARE_H
#define RL_COMPARE_H

#include "redislock.h"

/* rl_delete_if_equal() in two parts, for pipelines and fan-outs. */
enum rl_outcome rl_queue_delete_if_equal(struct rl_link *link, const char *key,
					 const char *value);
enum rl_outcome rl_receive_delete_if_equal(struct rl_link *link,
					   const char *key, const char *value,
					   int64_t deadline_ns);

/* The same at once, not waiting beyond deadline_ns. */
enum rl_outcome rl_delete_if_equal_until(struct rl_link *link, const char *key,
					 const char *value,
					 int64_t deadline_ns);

/* Expires `key` ttl_ms from now if it holds `value`; outcomes as
 * rl_delete_if_equal(). In two parts as well. */
enum rl_outcome rl_expire_if_equal(struct rl_link *link, const char *key,
				   const char *value, long ttl_ms);
enum rl_outcome rl_queue_expire_if_equal(struct rl_link *link, const char *key,
					 const char *value, long ttl_ms);
enum rl_outcome rl_receive_expire_if_equal(struct rl_link *link,
					   const char *key, const char *value,
					   long ttl_ms, int64_t deadline_ns);

/* The method this link uses now. */
enum rl_release_method rl_link_release_method(const struct rl_link *link);

#endif

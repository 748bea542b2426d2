/* SPDX-License-Identifier: MIT */
#include "conformance.h"

#include "lock.h"

/* What the functions of one kind of lock look like from the table. */
#define COMMON(kind)                                                 \
	static enum rl_outcome kind##_try(void *lock, long ttl_ms)   \
	{                                                            \
		return rl_##kind##_try(lock, ttl_ms);                \
	}                                                            \
	static long kind##_remaining_ms(const void *lock)            \
	{                                                            \
		return rl_##kind##_remaining_ms(lock);               \
	}                                                            \
	static enum rl_outcome kind##_release(void *lock)            \
	{                                                            \
		return rl_##kind##_release(lock);                    \
	}                                                            \
	static void kind##_free(void *lock)                          \
	{                                                            \
		rl_##kind##_free(lock);                              \
	}                                                            \
	static const struct rl_stats *kind##_stats(const void *lock) \
	{                                                            \
		return rl_##kind##_stats(lock);                      \
	}

#define WITH_POLICY(kind)                                                     \
	static enum rl_outcome kind##_acquire(void *lock, long ttl_ms,        \
					      const struct rl_policy *policy) \
	{                                                                     \
		return rl_##kind##_acquire(lock, ttl_ms, policy);             \
	}

#define EXTENDED(kind)                                                \
	static enum rl_outcome kind##_extend(void *lock, long ttl_ms) \
	{                                                             \
		return rl_##kind##_extend(lock, ttl_ms);              \
	}

COMMON(lock)
WITH_POLICY(lock)
EXTENDED(lock)
COMMON(renewed)
WITH_POLICY(renewed)
COMMON(reentrant)
WITH_POLICY(reentrant)
COMMON(fair)
WITH_POLICY(fair)
COMMON(quorum)
WITH_POLICY(quorum)
EXTENDED(quorum)

static void *make_lock(struct rl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rl_lock_new(links[0], key);
}

static void *make_renewed(struct rl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	return rl_renewed_new(links[0], key, hold_max_ms);
}

static void *make_reentrant(struct rl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rl_reentrant_new(links[0], key);
}

static void *make_fair(struct rl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rl_fair_new(links[0], key, NULL);
}

enum { NODE_TIMEOUT_MS = 1000 };

static void *make_quorum(struct rl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)hold_max_ms;
	return rl_quorum_new(links, n, key, NODE_TIMEOUT_MS);
}

static enum rl_outcome try_fenced(void *lock, long ttl_ms)
{
	long long number;

	return rl_lock_try_fenced(lock, ttl_ms, &number);
}

/* The library has no call for it: its own waiting, around the fenced try. */
static enum rl_outcome acquire_fenced(void *lock, long ttl_ms, const struct rl_policy *policy)
{
	struct rl_askable askable = rl_lock_askable(lock);

	askable.ask = try_fenced;
	return rl_acquire(&askable, ttl_ms, policy);
}

#define OPS(kind)                                                                          \
	.try = kind##_try, .acquire = kind##_acquire, .remaining_ms = kind##_remaining_ms, \
	.release = kind##_release, .free = kind##_free, .stats = kind##_stats

#define QUORUM(n, how, ...)                                                                       \
	{                                                                                         \
		.name = "quorum of " #n how, .n_servers = n, __VA_ARGS__.may_be_unknown = true,   \
		.pause_max_us = 60000, .make = make_quorum, .extend = quorum_extend, OPS(quorum), \
	}

const struct lock_row lock_rows[] = {
	{ .name = "token lock",
	  .n_servers = 1,
	  .make = make_lock,
	  .extend = lock_extend,
	  OPS(lock) },
	{ .name = "token lock without scripts",
	  .n_servers = 1,
	  .acl = "-@scripting",
	  .method = RL_RELEASE_WATCH,
	  .make = make_lock,
	  .extend = lock_extend,
	  OPS(lock) },
	{ .name = "token lock without SCRIPT LOAD",
	  .n_servers = 1,
	  .acl = "-script|load",
	  .method = RL_RELEASE_EVAL,
	  .make = make_lock,
	  .extend = lock_extend,
	  OPS(lock) },
	{ .name = "fenced lock",
	  .n_servers = 1,
	  .may_be_unknown = true,
	  .make = make_lock,
	  .try = try_fenced,
	  .acquire = acquire_fenced,
	  .extend = lock_extend,
	  .remaining_ms = lock_remaining_ms,
	  .release = lock_release,
	  .free = lock_free,
	  .stats = lock_stats },
	{ .name = "renewed lock", .n_servers = 1, .make = make_renewed, OPS(renewed) },
	{ .name = "re-entrant lock",
	  .n_servers = 1,
	  .is_got_again = true,
	  .make = make_reentrant,
	  OPS(reentrant) },
	{ .name = "fair lock", .n_servers = 1, .make = make_fair, OPS(fair) },
	QUORUM(1, ""),
	QUORUM(3, ""),
	QUORUM(3, " without scripts", .acl = "-@scripting", ),
	QUORUM(5, ""),
};
const size_t n_lock_rows = sizeof(lock_rows) / sizeof(lock_rows[0]);

struct criterion_test_params every_lock(void)
{
	static size_t rows[sizeof(lock_rows) / sizeof(lock_rows[0])];

	for (size_t i = 0; i < n_lock_rows; i++)
		rows[i] = i;
	return cr_make_param_array(size_t, rows, n_lock_rows);
}

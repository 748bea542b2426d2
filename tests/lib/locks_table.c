/* SPDX-License-Identifier: MIT */
#include "conformance.h"

#include "lock.h"

/* What the functions of one kind of lock look like from the table. */
#define COMMON(kind)                                                  \
	static enum rdl_outcome kind##_try(void *lock, long ttl_ms)   \
	{                                                             \
		return rdl_##kind##_try(lock, ttl_ms);                \
	}                                                             \
	static long kind##_remaining_ms(const void *lock)             \
	{                                                             \
		return rdl_##kind##_remaining_ms(lock);               \
	}                                                             \
	static enum rdl_outcome kind##_release(void *lock)            \
	{                                                             \
		return rdl_##kind##_release(lock);                    \
	}                                                             \
	static void kind##_free(void *lock)                           \
	{                                                             \
		rdl_##kind##_free(lock);                              \
	}                                                             \
	static const struct rdl_stats *kind##_stats(const void *lock) \
	{                                                             \
		return rdl_##kind##_stats(lock);                      \
	}

#define WITH_POLICY(kind)                                                       \
	static enum rdl_outcome kind##_acquire(void *lock, long ttl_ms,         \
					       const struct rdl_policy *policy) \
	{                                                                       \
		return rdl_##kind##_acquire(lock, ttl_ms, policy);              \
	}

#define EXTENDED(kind)                                                 \
	static enum rdl_outcome kind##_extend(void *lock, long ttl_ms) \
	{                                                              \
		return rdl_##kind##_extend(lock, ttl_ms);              \
	}

#define RENEWED(kind, add)                                                            \
	static enum rdl_outcome kind##_renew(struct rdl_renewer *renewer, void *lock, \
					     long hold_max_ms)                        \
	{                                                                             \
		return add(renewer, lock, hold_max_ms);                               \
	}

/* A read-write lock, as its writers have it. */
#define rdl_rwlock_try rdl_rwlock_write_try
#define rdl_rwlock_acquire rdl_rwlock_write_acquire

COMMON(lock)
WITH_POLICY(lock)
EXTENDED(lock)
RENEWED(lock, rdl_renewer_add)
COMMON(renewed)
WITH_POLICY(renewed)
COMMON(reentrant)
WITH_POLICY(reentrant)
COMMON(fair)
WITH_POLICY(fair)
EXTENDED(fair)
RENEWED(fair, rdl_renewer_add_fair)
COMMON(semaphore)
WITH_POLICY(semaphore)
EXTENDED(semaphore)
RENEWED(semaphore, rdl_renewer_add_semaphore)
COMMON(rwlock)
WITH_POLICY(rwlock)
EXTENDED(rwlock)
RENEWED(rwlock, rdl_renewer_add_rwlock)
COMMON(quorum)
WITH_POLICY(quorum)
EXTENDED(quorum)
RENEWED(quorum, rdl_renewer_add_quorum)

static void *make_lock(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rdl_lock_new(links[0], key);
}

static void *make_renewed(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	return rdl_renewed_new(links[0], key, hold_max_ms);
}

static void *make_reentrant(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rdl_reentrant_new(links[0], key);
}

static void *make_fair(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rdl_fair_new(links[0], key, NULL);
}

static void *make_semaphore(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rdl_semaphore_new(links[0], key, 1);
}

static void *make_rwlock(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)n;
	(void)hold_max_ms;
	return rdl_rwlock_new(links[0], key);
}

enum { NODE_TIMEOUT_MS = 1000 };

static void *make_quorum(struct rdl_link **links, size_t n, const char *key, long hold_max_ms)
{
	(void)hold_max_ms;
	return rdl_quorum_new(links, n, key, NODE_TIMEOUT_MS);
}

static enum rdl_outcome try_fenced(void *lock, long ttl_ms)
{
	long long number;

	return rdl_lock_try_fenced(lock, ttl_ms, &number);
}

/* The library has no call for it: its own waiting, around the fenced try. */
static enum rdl_outcome acquire_fenced(void *lock, long ttl_ms, const struct rdl_policy *policy)
{
	struct rdl_askable askable = rdl_lock_askable(lock);

	askable.ask = try_fenced;
	return rdl_acquire(&askable, ttl_ms, policy);
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
	  .renew = lock_renew,
	  OPS(lock) },
	{ .name = "token lock without scripts",
	  .n_servers = 1,
	  .acl = "-@scripting",
	  .method = RDL_RELEASE_WATCH,
	  .make = make_lock,
	  .extend = lock_extend,
	  .renew = lock_renew,
	  OPS(lock) },
	{ .name = "token lock without SCRIPT LOAD",
	  .n_servers = 1,
	  .acl = "-script|load",
	  .method = RDL_RELEASE_EVAL,
	  .make = make_lock,
	  .extend = lock_extend,
	  OPS(lock) },
	{ .name = "fenced lock",
	  .n_servers = 1,
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
	{ .name = "fair lock",
	  .n_servers = 1,
	  .make = make_fair,
	  .extend = fair_extend,
	  .renew = fair_renew,
	  OPS(fair) },
	{ .name = "semaphore of one permit",
	  .n_servers = 1,
	  .make = make_semaphore,
	  .extend = semaphore_extend,
	  .renew = semaphore_renew,
	  OPS(semaphore) },
	{ .name = "read-write lock, to write",
	  .n_servers = 1,
	  .make = make_rwlock,
	  .extend = rwlock_extend,
	  .renew = rwlock_renew,
	  OPS(rwlock) },
	QUORUM(1, ""),
	QUORUM(3, "", .renew = quorum_renew, ),
	QUORUM(3, " without scripts", .acl = "-@scripting", .renew = quorum_renew, ),
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

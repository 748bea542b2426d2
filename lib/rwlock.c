/* SPDX-License-Identifier: MIT */
/*
 * The read-write lock:
 *
 *	KEY          the writer's token, PX ttl
 *	KEY:readers  sorted set, token -> end of its lease in the server's microseconds
 *	KEY:intent   a writer that waits, PX for a moment: no new readers meanwhile
 *
 *	read    no writer, no intent? ZADD readers
 *	write   no writer, no readers whose lease lasts? SET KEY; else SET intent
 *
 * Each is one script: between a look at the readers and a SET one more would come in.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "link.h"
#include "place.h"

enum {
	PAUSE_MAX_US = 5000, /* between a writer's attempts, where the policy has none */
	INTENT_MIN_MS = 100, /* and twice the longest pause */
	INTENT_MAX_MS = 1000,
};

struct rdl_rwlock {
	struct rdl_place place;
	long intent_ms;              /* for how long an attempt leaves one; 0 = it leaves none */
	char intent[RDL_TOKEN_SIZE]; /* whose it is */
	char key[];                  /* followed by those of the readers and the intent */
};

/* KEYS: the writer's, the readers', the intent's. */
/* clang-format off */
static const struct rdl_place_scripts reading = {
	.enter = RDL_PLACE_NOW RDL_PLACE_SWEEP("KEYS[2]")
		 "if redis.call('ZSCORE', KEYS[2], ARGV[1]) then return 1 end "
		 "if redis.call('EXISTS', KEYS[1]) + redis.call('EXISTS', KEYS[3]) > 0 "
		 "then return 0 end "
		 RDL_PLACE_LEASE("KEYS[2]"),
	.extend = RDL_PLACE_EXTEND("KEYS[2]"),
	.leave = RDL_PLACE_LEAVE("KEYS[2]"),
};

static const struct rdl_place_scripts writing = {
	.enter = RDL_PLACE_NOW RDL_PLACE_SWEEP("KEYS[2]")
		 "local holder = redis.call('GET', KEYS[1]) "
		 "if holder == ARGV[1] then return 1 end "
		 "if not holder and redis.call('ZCARD', KEYS[2]) == 0 then "
		 "if redis.call('GET', KEYS[3]) == ARGV[4] then redis.call('DEL', KEYS[3]) end "
		 "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1 end "
		 "if ARGV[3] ~= '0' then "
		 "redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[3]) end "
		 "return 0",
	.extend = "if redis.call('GET', KEYS[1]) == ARGV[1] then "
		  "return redis.call('PEXPIRE', KEYS[1], ARGV[2]) else return 0 end",
	.leave = rdl_compare_and_delete,
};
/* clang-format on */

struct rdl_rwlock *rdl_rwlock_new(struct rdl_link *link, const char *key)
{
	static const char *const suffixes[] = { ":readers", ":intent" };
	const size_t size = rdl_name_size(key, suffixes[0]); /* the longest */
	struct rdl_rwlock *lock = calloc(1, sizeof(*lock) + 3 * size);

	if (!lock)
		return NULL;
	memcpy(lock->key, key, strlen(key) + 1);
	lock->place.keys[0] = lock->key;
	for (size_t i = 0; i < 2; i++) {
		char *name = lock->key + (i + 1) * size;

		rdl_name_beside(link, key, suffixes[i], name, size);
		lock->place.keys[i + 1] = name;
	}
	lock->place.link = link;
	lock->place.hold.link = link;
	return lock;
}

void rdl_rwlock_free(struct rdl_rwlock *lock)
{
	if (lock)
		rdl_hold_detach(&lock->place.hold);
	free(lock);
}

enum rdl_outcome rdl_rwlock_read_try(struct rdl_rwlock *lock, long ttl_ms)
{
	const struct rdl_place_request request = { .scripts = &reading, .word = "" };

	return rdl_place_try(&lock->place, &request, ttl_ms);
}

enum rdl_outcome rdl_rwlock_write_try(struct rdl_rwlock *lock, long ttl_ms)
{
	const struct rdl_place_request request = { .scripts = &writing,
						   .number = lock->intent_ms,
						   .word = lock->intent };

	return rdl_place_try(&lock->place, &request, ttl_ms);
}

static enum rdl_outcome ask_to_read(void *lock, long ttl_ms)
{
	return rdl_rwlock_read_try(lock, ttl_ms);
}

static enum rdl_outcome ask_to_write(void *lock, long ttl_ms)
{
	return rdl_rwlock_write_try(lock, ttl_ms);
}

static enum rdl_outcome give_back(void *lock)
{
	return rdl_rwlock_release(lock);
}

static struct rdl_askable askable_of(struct rdl_rwlock *lock)
{
	return (struct rdl_askable){ .lock = lock,
				     .link = lock->place.link,
				     .hold = &lock->place.hold,
				     .ask = ask_to_read,
				     .give_back = give_back };
}

enum rdl_outcome rdl_rwlock_read_acquire(struct rdl_rwlock *lock, long ttl_ms,
					 const struct rdl_policy *policy)
{
	const struct rdl_askable askable = askable_of(lock);

	return rdl_acquire(&askable, ttl_ms, policy);
}

/* An intent lasts until the next attempt, unless the pauses are longer than it may last. */
static long intent_ms_of(const struct rdl_policy *policy)
{
	const long pause_max_ms = (policy->pause_max_us > 0 ? policy->pause_max_us : PAUSE_MAX_US) /
				  RDL_US_PER_MS;

	if (policy->wait_ms <= 0)
		return 0;
	return pause_max_ms > (INTENT_MAX_MS - INTENT_MIN_MS) / 2 ?
		       INTENT_MAX_MS :
		       INTENT_MIN_MS + 2 * pause_max_ms;
}

enum rdl_outcome rdl_rwlock_write_acquire(struct rdl_rwlock *lock, long ttl_ms,
					  const struct rdl_policy *policy)
{
	const struct rdl_policy pauses = rdl_policy_of(policy);
	struct rdl_askable askable = askable_of(lock);
	enum rdl_outcome outcome;

	if (!rdl_token_fresh(lock->place.link, lock->intent))
		return rdl_link_fail(lock->place.link, RDL_ERROR, "no random bytes");
	lock->intent_ms = intent_ms_of(&pauses);
	askable.ask = ask_to_write;
	outcome = rdl_acquire(&askable, ttl_ms, policy);
	lock->intent_ms = 0;
	return outcome;
}

enum rdl_outcome rdl_rwlock_extend(struct rdl_rwlock *lock, long ttl_ms)
{
	return rdl_place_extend(&lock->place, ttl_ms);
}

enum rdl_outcome rdl_renewer_add_rwlock(struct rdl_renewer *renewer, struct rdl_rwlock *lock,
					long hold_max_ms)
{
	const struct rdl_renewable renewable = rdl_place_renewable(&lock->place, lock);

	return rdl_renewer_enter(renewer, &renewable, hold_max_ms);
}

bool rdl_rwlock_set_label(struct rdl_rwlock *lock, const char *label)
{
	return rdl_label_take(lock->place.label, label);
}

enum rdl_outcome rdl_rwlock_release(struct rdl_rwlock *lock)
{
	return rdl_place_release(&lock->place);
}

long rdl_rwlock_remaining_ms(const struct rdl_rwlock *lock)
{
	return rdl_hold_remaining_ms(&lock->place.hold);
}

const struct rdl_stats *rdl_rwlock_stats(const struct rdl_rwlock *lock)
{
	return &lock->place.hold.stats;
}

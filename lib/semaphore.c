/* SPDX-License-Identifier: MIT */
/*
 * The semaphore: a sorted set, token -> end of its lease in the server's microseconds.
 *
 *	try      out with who has ended; ZCARD < permits? ZADD
 *	extend   out with who has ended; there still? ZADD
 *	release  out with who has ended; ZREM
 *
 * Each is one script: between ZCARD and ZADD another client would count as many holders.
 */
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "place.h"

struct rdl_semaphore {
	struct rdl_place place;
	long permits;
	char key[];
};

/* clang-format off */
static const struct rdl_place_scripts scripts = {
	.enter = RDL_PLACE_NOW RDL_PLACE_SWEEP("KEYS[1]")
		 "if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 1 end "
		 "if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end "
		 RDL_PLACE_LEASE("KEYS[1]"),
	.extend = RDL_PLACE_EXTEND("KEYS[1]"),
	.leave = RDL_PLACE_LEAVE("KEYS[1]"),
};
/* clang-format on */

static const char count_script[] = RDL_PLACE_NOW
	"return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf')";

struct rdl_semaphore *rdl_semaphore_new(struct rdl_link *link, const char *key, long permits)
{
	const size_t size = strlen(key) + 1;
	struct rdl_semaphore *semaphore = calloc(1, sizeof(*semaphore) + size);

	if (!semaphore)
		return NULL;
	memcpy(semaphore->key, key, size);
	semaphore->place.link = link;
	semaphore->place.hold.link = link;
	semaphore->place.keys[0] = semaphore->key;
	semaphore->permits = permits;
	return semaphore;
}

void rdl_semaphore_free(struct rdl_semaphore *semaphore)
{
	if (semaphore)
		rdl_hold_detach(&semaphore->place.hold);
	free(semaphore);
}

enum rdl_outcome rdl_semaphore_try(struct rdl_semaphore *semaphore, long ttl_ms)
{
	const struct rdl_place_request request = { .scripts = &scripts,
						   .number = semaphore->permits };

	if (semaphore->permits < 1)
		return rdl_link_fail(semaphore->place.link, RDL_ERROR,
				     "a semaphore of %ld permits: the fewest is 1",
				     semaphore->permits);
	return rdl_place_try(&semaphore->place, &request, ttl_ms);
}

static enum rdl_outcome ask(void *semaphore, long ttl_ms)
{
	return rdl_semaphore_try(semaphore, ttl_ms);
}

static enum rdl_outcome give_back(void *semaphore)
{
	return rdl_semaphore_release(semaphore);
}

enum rdl_outcome rdl_semaphore_acquire(struct rdl_semaphore *semaphore, long ttl_ms,
				       const struct rdl_policy *policy)
{
	const struct rdl_askable askable = { .lock = semaphore,
					     .link = semaphore->place.link,
					     .hold = &semaphore->place.hold,
					     .ask = ask,
					     .give_back = give_back };

	return rdl_acquire(&askable, ttl_ms, policy);
}

enum rdl_outcome rdl_semaphore_extend(struct rdl_semaphore *semaphore, long ttl_ms)
{
	return rdl_place_extend(&semaphore->place, ttl_ms);
}

enum rdl_outcome rdl_renewer_add_semaphore(struct rdl_renewer *renewer,
					   struct rdl_semaphore *semaphore, long hold_max_ms)
{
	const struct rdl_renewable renewable = rdl_place_renewable(&semaphore->place, semaphore);

	return rdl_renewer_enter(renewer, &renewable, hold_max_ms);
}

bool rdl_semaphore_set_label(struct rdl_semaphore *semaphore, const char *label)
{
	return rdl_label_take(semaphore->place.label, label);
}

enum rdl_outcome rdl_semaphore_release(struct rdl_semaphore *semaphore)
{
	return rdl_place_release(&semaphore->place);
}

long rdl_semaphore_remaining_ms(const struct rdl_semaphore *semaphore)
{
	return rdl_hold_remaining_ms(&semaphore->place.hold);
}

enum rdl_outcome rdl_semaphore_count(struct rdl_semaphore *semaphore, long long *n_holders)
{
	struct rdl_reply reply;
	const enum rdl_outcome outcome = rdl_run_script(semaphore->place.link, &reply, count_script,
							"1 %s", semaphore->key);

	if (outcome == RDL_OK)
		*n_holders = reply.integer;
	return outcome;
}

const struct rdl_stats *rdl_semaphore_stats(const struct rdl_semaphore *semaphore)
{
	return &semaphore->place.hold.stats;
}

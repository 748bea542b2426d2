/* SPDX-License-Identifier: MIT */
/*
 * What a permit of a semaphore, a reader and a writer have in common: a token with a lease of its
 * own that a script grants. Each case is run with all three; what only one of them has stands in
 * test_semaphore.c and test_rwlock.c.
 */
#include "pair.h"

#include <criterion/parameterized.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relay.h"

enum { TTL_MS = 60000 };

struct place_kind {
	const char *name;
	void *(*make)(struct rdl_link *link);
	void *(*make_alone)(struct rdl_link *link); /* one that shares with no holder */
	enum rdl_outcome (*try)(void *lock, long ttl_ms);
	enum rdl_outcome (*try_alone)(void *lock, long ttl_ms);
	enum rdl_outcome (*wait_alone)(void *lock, long ttl_ms, const struct rdl_policy *policy);
	enum rdl_outcome (*extend)(void *lock, long ttl_ms);
	enum rdl_outcome (*release)(void *lock);
	long (*remaining_ms)(const void *lock);
	void (*free)(void *lock);
};

#define PLACE(kind)                                                    \
	static enum rdl_outcome kind##_extend(void *lock, long ttl_ms) \
	{                                                              \
		return rdl_##kind##_extend(lock, ttl_ms);              \
	}                                                              \
	static enum rdl_outcome kind##_release(void *lock)             \
	{                                                              \
		return rdl_##kind##_release(lock);                     \
	}                                                              \
	static long kind##_remaining_ms(const void *lock)              \
	{                                                              \
		return rdl_##kind##_remaining_ms(lock);                \
	}                                                              \
	static void kind##_free(void *lock)                            \
	{                                                              \
		rdl_##kind##_free(lock);                               \
	}

#define ASK(name, call)                                       \
	static enum rdl_outcome name(void *lock, long ttl_ms) \
	{                                                     \
		return call(lock, ttl_ms);                    \
	}

#define WAIT(name, call)                                                                       \
	static enum rdl_outcome name(void *lock, long ttl_ms, const struct rdl_policy *policy) \
	{                                                                                      \
		return call(lock, ttl_ms, policy);                                             \
	}

PLACE(semaphore)
PLACE(rwlock)
ASK(enter, rdl_semaphore_try)
ASK(read_, rdl_rwlock_read_try)
ASK(write_, rdl_rwlock_write_try)
WAIT(wait_to_enter, rdl_semaphore_acquire)
WAIT(wait_to_write, rdl_rwlock_write_acquire)

static void *make_permit(struct rdl_link *link)
{
	return rdl_semaphore_new(link, "lock", 2);
}

static void *make_only_permit(struct rdl_link *link)
{
	return rdl_semaphore_new(link, "lock", 1);
}

static void *make_rwlock(struct rdl_link *link)
{
	return rdl_rwlock_new(link, "lock");
}

#define RWLOCK                                                                           \
	.make = make_rwlock, .make_alone = make_rwlock, .try_alone = write_,             \
	.wait_alone = wait_to_write, .extend = rwlock_extend, .release = rwlock_release, \
	.remaining_ms = rwlock_remaining_ms, .free = rwlock_free

static const struct place_kind kinds[] = {
	{ .name = "permit",
	  .make = make_permit,
	  .make_alone = make_only_permit,
	  .try = enter,
	  .try_alone = enter,
	  .wait_alone = wait_to_enter,
	  .extend = semaphore_extend,
	  .release = semaphore_release,
	  .remaining_ms = semaphore_remaining_ms,
	  .free = semaphore_free },
	{ .name = "reader", .try = read_, RWLOCK },
	{ .name = "writer", .try = write_, RWLOCK },
};

static struct criterion_test_params every_kind(void)
{
	static size_t rows[] = { 0, 1, 2 };

	return cr_make_param_array(size_t, rows, sizeof(rows) / sizeof(rows[0]));
}

#define FOR_EVERY_PLACE(name)                    \
	ParameterizedTestParameters(place, name) \
	{                                        \
		return every_kind();             \
	}                                        \
	ParameterizedTest(size_t *row, place, name)

/* A lock of that kind, and one that shares with no holder. */
static const struct place_kind *kind;
static void *lock, *alone;

static void begin(size_t row)
{
	pair_setup();
	kind = &kinds[row];
	lock = kind->make(link_);
	alone = kind->make_alone(other);
}

static void end(void)
{
	kind->free(lock);
	kind->free(alone);
	pair_teardown();
}

static void expect(const char *what, enum rdl_outcome got, enum rdl_outcome wanted)
{
	cr_assert_eq(got, wanted, "%s: %s: %s, not %s (%s)", kind->name, what,
		     rdl_outcome_name(got), rdl_outcome_name(wanted), rdl_link_error(link_));
}

static size_t n_holders(void)
{
	size_t n;

	cr_assert_eq(rdl_inspect_all(other, "lock", NULL, 0, &n), RDL_OK, "%s",
		     rdl_link_error(other));
	return n;
}

FOR_EVERY_PLACE(ended_lease_is_free_and_lost_to_its_holder)
{
	enum rdl_outcome outcome = RDL_BUSY;

	begin(*row);
	expect("try", kind->try(lock, TTL_MS), RDL_OK);
	expect("another", kind->try_alone(alone, TTL_MS), RDL_BUSY);
	expect("release of what is not held", kind->release(alone), RDL_LOST);
	expect("release", kind->release(lock), RDL_OK);
	/* A grant whose reply comes when the lease is over is none. */
	for (int i = 0; i < 1000 && outcome == RDL_BUSY; i++)
		outcome = kind->try(lock, 50);
	expect("try", outcome, RDL_OK);
	rdl_sleep_ns(other, 60000000);
	cr_assert_eq(kind->remaining_ms(lock), 0);
	expect("extend", kind->extend(lock, TTL_MS), RDL_LOST);
	expect("release", kind->release(lock), RDL_LOST);
	expect("another", kind->try_alone(alone, TTL_MS), RDL_OK);
	cr_assert_eq(n_holders(), 1);
	end();
}

FOR_EVERY_PLACE(extension_outlasts_the_first_lease)
{
	struct rdl_holder holder;
	size_t n;

	begin(*row);
	expect("try", kind->try(lock, 10000), RDL_OK);
	expect("extend", kind->extend(lock, TTL_MS), RDL_OK);
	cr_assert_gt(kind->remaining_ms(lock), 10000);
	cr_assert_eq(rdl_inspect_all(other, "lock", &holder, 1, &n), RDL_OK);
	cr_assert_gt(holder.remaining_ms, 10000);
	expect("release", kind->release(lock), RDL_OK);
	expect("extend", kind->extend(lock, TTL_MS), RDL_LOST);
	cr_assert_eq(n_holders(), 0);
	end();
}

FOR_EVERY_PLACE(leases_that_no_lock_has)
{
	uint64_t sent;

	begin(*row);
	sent = rdl_link_commands(link_);
	expect("no lease", kind->try(lock, 0), RDL_ERROR);
	expect("less than none", kind->try(lock, -1), RDL_ERROR);
	expect("too long a lease", kind->try(lock, LONG_MAX), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(link_), RDL_REASON_CALLER);
	cr_assert_eq(rdl_link_commands(link_), sent);
	end();
}

FOR_EVERY_PLACE(key_of_another_type_is_an_error)
{
	struct rdl_reply reply;

	begin(*row);
	cr_assert_eq(rdl_run(other, &reply, "LPUSH lock 1"), RDL_OK);
	cr_assert_eq(rdl_run(other, &reply, "LPUSH lock:readers 1"), RDL_OK);
	expect("try", kind->try(lock, TTL_MS), RDL_ERROR);
	cr_assert_eq(kind->remaining_ms(lock), 0);
	cr_assert_str_eq(support_ask(other, "LLEN", "lock"), "1");
	end();
}

/* Asked again with the same token, it is one holder. */
FOR_EVERY_PLACE(lost_reply_is_made_up_for)
{
	struct relay relay;
	struct rdl_link *through;
	void *cut;

	begin(*row);
	cr_assert(relay_start(&relay, &support.cluster.servers[0].address));
	through = rdl_link_new(&relay.address, RR_TIMEOUT_MS);
	cut = kind->make(through);
	expect("try", kind->try(cut, TTL_MS), RDL_OK); /* the script is known */
	expect("release", kind->release(cut), RDL_OK);
	relay_cut(&relay, RELAY_REPLIES, 0);
	expect("try", kind->try(cut, TTL_MS), RDL_OK);
	cr_assert(relay_spare(&relay), "nothing was cut");
	cr_assert_eq(n_holders(), 1, "%s", kind->name);
	expect("another", kind->try_alone(alone, TTL_MS), RDL_BUSY);
	expect("release", kind->release(cut), RDL_OK);
	cr_assert_eq(n_holders(), 0);
	kind->free(cut);
	rdl_link_free(through);
	relay_stop(&relay);
	end();
}

/* Its place is free after its lease, and not before. */
FOR_EVERY_PLACE(killed_holder_is_out_after_its_lease)
{
	const struct rdl_policy policy = { .wait_ms = 20000 };
	int pipes[2], status;
	char ready;
	pid_t pid;

	begin(*row);
	cr_assert_eq(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		if (kind->try(lock, 2000) == RDL_OK)
			(void)!write(pipes[1], "r", 1);
		pause();
	}
	close(pipes[1]);
	cr_assert_eq(read(pipes[0], &ready, 1), 1);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	expect("another", kind->try_alone(alone, TTL_MS), RDL_BUSY);
	expect("another waits", kind->wait_alone(alone, TTL_MS, &policy), RDL_OK);
	close(pipes[0]);
	end();
}

FOR_EVERY_PLACE(child_does_not_hold_what_its_parent_holds)
{
	int status;
	pid_t pid;

	begin(*row);
	expect("try", kind->try(lock, TTL_MS), RDL_OK);
	pid = fork();
	if (pid == 0)
		_exit(kind->remaining_ms(lock) != 0 || kind->extend(lock, TTL_MS) != RDL_LOST ||
		      kind->release(lock) != RDL_LOST);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%s", kind->name);
	cr_assert_eq(n_holders(), 1);
	expect("release", kind->release(lock), RDL_OK);
	end();
}

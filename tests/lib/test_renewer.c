/* SPDX-License-Identifier: MIT */
/* The shared renewer: many locks, one thread; losses, threads, forks. */
#include "pair.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../party.h"

enum { N_LOCKS = 20, N_THREADS = 8 };

TestSuite(renewer, .init = pair_setup, .fini = pair_teardown);

struct losses {
	_Atomic int n;
	_Atomic(void *) last;
};

static void on_loss(void *context, void *lock)
{
	struct losses *losses = context;

	losses->last = lock;
	losses->n++;
}

static void sleep_ms(long ms)
{
	rdl_sleep_ns(other, ms * INT64_C(1000000));
}

static int n_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;

	while (readdir(tasks))
		n++;
	closedir(tasks);
	return n - 2;
}

static struct rdl_lock *held_lock(struct rdl_link *link, const char *key, long ttl_ms)
{
	struct rdl_lock *lock = rdl_lock_new(link, key);

	cr_assert_eq(rdl_lock_try(lock, ttl_ms), RDL_OK, "%s", rdl_link_error(link));
	return lock;
}

/* Acquires it until the renewer has it: a short lease may be over before. */
static void hold_renewed(struct rdl_renewer *renewer, struct rdl_lock *lock, long ttl_ms)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MS };
	enum rdl_outcome outcome;

	do
		cr_assert_eq(rdl_lock_acquire(lock, ttl_ms, &policy), RDL_OK);
	while ((outcome = rdl_renewer_add(renewer, lock, LONG_MS)) == RDL_LOST);
	cr_assert_eq(outcome, RDL_OK);
}

static void await_losses(const struct losses *losses, int n)
{
	for (int i = 0; losses->n < n; i++) {
		cr_assert_lt(i, 2000, "%d of %d losses", losses->n, n);
		sleep_ms(5);
	}
}

Test(renewer, many_locks_are_kept_by_one_thread)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_lock *locks[N_LOCKS];
	const int before = n_threads();
	long long number;
	char key[32];

	for (int i = 0; i < N_LOCKS; i++) {
		snprintf(key, sizeof(key), "lock:%d", i);
		locks[i] = rdl_lock_new(link_, key);
		cr_assert_eq(rdl_renewer_add(renewer, locks[i], LONG_MS), RDL_LOST, "not held yet");
		cr_assert_eq(i % 2 ? rdl_lock_try(locks[i], 1500) :
				     rdl_lock_try_fenced(locks[i], 1500, &number),
			     RDL_OK);
		cr_assert_eq(rdl_renewer_add(renewer, locks[i], LONG_MS), RDL_OK, "%s",
			     rdl_link_error(link_));
		cr_assert_eq(rdl_renewer_add(renewer, locks[i], LONG_MS), RDL_BUSY);
	}
	cr_assert_eq(n_threads(), before + 1);
	sleep_ms(1800);
	for (int i = 0; i < N_LOCKS; i++) {
		cr_assert_gt(rdl_lock_remaining_ms(locks[i]), 0, "lock %d", i);
		cr_assert_eq(rdl_lock_extend(locks[i], LONG_MS), RDL_ERROR);
		cr_assert_eq(rdl_lock_try(locks[i], 600), RDL_BUSY);
		cr_assert_eq(rdl_lock_release(locks[i]), RDL_OK, "lock %d", i);
		cr_assert_eq(rdl_lock_remaining_ms(locks[i]), 0);
	}
	cr_assert_eq(losses.n, 0);
	for (int i = 0; i < N_LOCKS; i++)
		rdl_lock_free(locks[i]);
	rdl_renewer_free(renewer);
	cr_assert_eq(n_threads(), before);
	rdl_renewer_free(NULL);
}

Test(renewer, loss_is_told_once_and_of_that_lock_only)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_lock *kept = held_lock(link_, "kept", 1000),
			*lost = held_lock(link_, "lock", 1000);

	cr_assert_eq(rdl_renewer_add(renewer, kept, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_renewer_add(renewer, lost, LONG_MS), RDL_OK);
	cr_assert_str_eq(support_ask(other, "DEL", "lock"), "1");
	await_losses(&losses, 1);
	cr_assert_eq(losses.last, lost);
	cr_assert_eq(rdl_lock_remaining_ms(lost), 0);
	cr_assert_eq(rdl_lock_try(lost, 1000), RDL_OK, "a lost lock may be asked for again");
	cr_assert_eq(rdl_renewer_add(renewer, lost, LONG_MS), RDL_OK);
	sleep_ms(1200);
	cr_assert_eq(losses.n, 1);
	cr_assert_eq(rdl_lock_release(lost), RDL_OK);
	cr_assert_eq(rdl_lock_release(kept), RDL_OK);
	rdl_lock_free(kept);
	rdl_lock_free(lost);
	rdl_renewer_free(renewer);
}

/* All their leases end while the server is silent, however long its time-out. */
Test(renewer, silence_is_a_loss_when_the_lease_ends)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer;
	struct rdl_lock *locks[3];
	char key[32];

	rdl_link_set_timeout(link_, 30000);
	renewer = rdl_renewer_new(link_, on_loss, &losses);
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "lock:%d", i);
		locks[i] = held_lock(link_, key, 1000 + 200 * i);
		cr_assert_eq(rdl_renewer_add(renewer, locks[i], LONG_MS), RDL_OK);
	}
	servers_signal(&support, 0, 1, SIGSTOP);
	await_losses(&losses, 3);
	servers_signal(&support, 0, 1, SIGCONT);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rdl_lock_remaining_ms(locks[i]), 0);
		rdl_lock_free(locks[i]);
	}
	rdl_renewer_free(renewer);
}

Test(renewer, hold_has_its_limit)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_lock *lock = held_lock(link_, "lock", 1000);

	cr_assert_eq(rdl_renewer_add(renewer, lock, 0), RDL_ERROR);
	cr_assert_eq(rdl_renewer_add(renewer, lock, 2200), RDL_OK);
	sleep_ms(1200);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	await_losses(&losses, 1);
	sleep_ms(100);
	cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	rdl_lock_free(lock);
	rdl_renewer_free(renewer);
}

Test(renewer, lock_that_is_freed_or_removed_is_renewed_no_more)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_renewer *none = rdl_renewer_new(link_, NULL, NULL);

	for (int i = 0; i < 30; i++) {
		struct rdl_lock *lock = rdl_lock_new(link_, "lock");
		const bool is_removed = i % 2 == 0;

		hold_renewed(renewer, lock, 60);
		sleep_ms(i);
		if (is_removed) {
			cr_assert_eq(rdl_renewer_remove(none, lock), RDL_LOST);
			rdl_renewer_remove(renewer, lock);
			cr_assert_eq(rdl_renewer_remove(renewer, lock), RDL_LOST);
		}
		rdl_lock_free(lock);
		sleep_ms(80);
		cr_assert_str_eq(support_ask(other, "EXISTS", "lock"), "0");
	}
	rdl_renewer_free(none);
	rdl_renewer_free(renewer);
}

Test(renewer, removed_lock_is_held_for_the_lease_it_has)
{
	struct rdl_renewer *renewer = rdl_renewer_new(link_, NULL, NULL);
	struct rdl_lock *lock = held_lock(link_, "lock", 3000);

	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_OK);
	sleep_ms(3500);
	cr_assert_eq(rdl_renewer_remove(renewer, lock), RDL_OK);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(rdl_lock_extend(lock, LONG_MS), RDL_OK);
	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_OK);
	rdl_renewer_free(renewer);
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_lock_free(lock);
}

Test(renewer, lock_of_another_server_is_refused)
{
	struct rdl_renewer *renewer = rdl_renewer_new(link_, NULL, NULL);
	struct rdl_link *second;
	struct rdl_lock *lock;

	support_need(&support, 2);
	second = support_link(&support, 1);
	lock = held_lock(second, "lock", LONG_MS);
	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_ERROR);
	cr_assert_eq(rdl_link_reason(second), RDL_REASON_CALLER);
	rdl_lock_free(lock);
	rdl_link_free(second);
	rdl_renewer_free(renewer);
}

/* Readers and permits: of several holders each is renewed for itself. */
Test(renewer, holders_that_share_are_renewed_each)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_rwlock *readers[2];
	struct rdl_semaphore *permits[2];
	struct rdl_holder holders[2];
	size_t n;

	for (int i = 0; i < 2; i++) {
		readers[i] = rdl_rwlock_new(i ? other : link_, "rw");
		permits[i] = rdl_semaphore_new(i ? other : link_, "sem", 2);
		cr_assert_eq(rdl_rwlock_read_try(readers[i], 1000), RDL_OK);
		cr_assert_eq(rdl_semaphore_try(permits[i], 1000), RDL_OK);
	}
	cr_assert_eq(rdl_renewer_add_rwlock(renewer, readers[0], LONG_MS), RDL_OK);
	cr_assert_eq(rdl_renewer_add_semaphore(renewer, permits[0], LONG_MS), RDL_OK);
	sleep_ms(1200);
	for (int i = 0; i < 2; i++) { /* those without a renewer have ended */
		cr_assert_eq(rdl_inspect_all(other, i ? "rw" : "sem", holders, 2, &n), RDL_OK);
		cr_assert_eq(n, 1);
	}
	cr_assert_gt(rdl_rwlock_remaining_ms(readers[0]), 0);
	cr_assert_eq(rdl_rwlock_write_try(readers[1], 500), RDL_BUSY, "a reader is inside");
	cr_assert_eq(rdl_rwlock_write_acquire(readers[0], 500, NULL), RDL_BUSY, "itself");
	cr_assert_eq(rdl_rwlock_release(readers[0]), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(permits[0]), RDL_OK);
	cr_assert_eq(losses.n, 0);
	for (int i = 0; i < 2; i++) {
		rdl_rwlock_free(readers[i]);
		rdl_semaphore_free(permits[i]);
	}
	rdl_renewer_free(renewer);
}

/* Both hang: the quorum's silence, which takes its time-outs, does not hide the other loss. */
Test(renewer, quorums_share_a_renewer_with_others)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_lock *lock = held_lock(link_, "lock:1", 1500);
	struct party parties[3];
	long begun_ms;

	support_need(&support, 4);
	for (size_t i = 0; i < 3; i++)
		party_open(&parties[i], support.addresses + (i == 2), 3, NODE_MS);
	rdl_quorum_free(parties[1].quorum);
	parties[1].quorum = rdl_quorum_new(parties[1].links, 3, "second", NODE_MS);
	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(rdl_quorum_try(parties[i].quorum, 1500), RDL_OK);
		cr_assert_eq(rdl_renewer_add_quorum(renewer, parties[i].quorum, LONG_MS), RDL_OK,
			     "%s", rdl_quorum_error(parties[i].quorum));
	}
	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_OK);
	sleep_ms(2000);
	cr_assert_eq(losses.n, 0);
	cr_assert_eq(rdl_quorum_release(parties[0].quorum), RDL_OK);
	cr_assert_eq(rdl_quorum_try(parties[2].quorum, 1000), RDL_OK);
	cr_assert_eq(rdl_renewer_add_quorum(renewer, parties[2].quorum, LONG_MS), RDL_ERROR,
		     "other servers");
	cr_assert_neq(rdl_quorum_error(parties[2].quorum)[0], '\0');
	begun_ms = monotonic_ms();
	servers_signal(&support, 0, 4, SIGSTOP);
	await_losses(&losses, 2);
	cr_assert_lt(monotonic_ms() - begun_ms, 4500);
	servers_signal(&support, 0, 4, SIGCONT);
	rdl_renewer_free(renewer);
	rdl_lock_free(lock);
	for (size_t i = 0; i < 3; i++)
		party_close(&parties[i]);
}

/* ---- Forks --------------------------------------------------------------------- */

static int use_in_child(struct rdl_renewer *renewer, struct rdl_lock *lock)
{
	struct rdl_lock *own = rdl_lock_new(link_, "childs");

	if (rdl_lock_remaining_ms(lock) != 0 || rdl_lock_release(lock) != RDL_LOST)
		return 1;
	if (rdl_lock_try(own, LONG_MS) != RDL_OK)
		return 2;
	if (rdl_renewer_add(renewer, own, LONG_MS) != RDL_ERROR)
		return 3;
	rdl_lock_free(own);
	rdl_lock_free(lock);
	rdl_renewer_free(renewer);
	renewer = rdl_renewer_new(link_, NULL, NULL);
	own = rdl_lock_new(link_, "childs second");
	if (rdl_lock_try(own, 1000) != RDL_OK || rdl_renewer_add(renewer, own, LONG_MS) != RDL_OK)
		return 4;
	sleep_ms(1200);
	if (rdl_lock_release(own) != RDL_OK)
		return 5;
	rdl_lock_free(own);
	rdl_renewer_free(renewer);
	return 0;
}

Test(renewer, child_leaves_its_parents_locks_alone)
{
	struct losses losses = { 0 };
	struct rdl_renewer *renewer = rdl_renewer_new(link_, on_loss, &losses);
	struct rdl_lock *lock = held_lock(link_, "lock", 1000);
	int status;
	pid_t pid;

	cr_assert_eq(rdl_renewer_add(renewer, lock, LONG_MS), RDL_OK);
	pid = fork();
	if (pid == 0)
		_exit(use_in_child(renewer, lock));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%d", WEXITSTATUS(status));
	cr_assert_gt(rdl_lock_remaining_ms(lock), 0);
	cr_assert_eq(losses.n, 0);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_lock_free(lock);
	rdl_renewer_free(renewer);
}

/* ---- Threads -------------------------------------------------------------------- */

struct worker {
	struct rdl_renewer *renewer;
	int number;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct rdl_link *link = rdl_link_new(&support.cluster.servers[0].address, RR_TIMEOUT_MS);
	char key[32];

	snprintf(key, sizeof(key), "lock:%d", worker->number);
	for (int i = 0; i < 40; i++) {
		struct rdl_lock *lock = rdl_lock_new(link, key);
		const struct timespec pause = { 0, i % 4 * 30000000 };

		hold_renewed(worker->renewer, lock, 150);
		nanosleep(&pause, NULL);
		rdl_lock_remaining_ms(lock);
		if (i % 2)
			rdl_renewer_remove(worker->renewer, lock);
		rdl_lock_release(lock);
		rdl_lock_free(lock);
	}
	rdl_link_free(link);
	return NULL;
}

Test(renewer, threads_add_and_remove_at_any_time)
{
	struct rdl_renewer *renewer = rdl_renewer_new(link_, NULL, NULL);
	struct worker workers[N_THREADS];

	for (int i = 0; i < N_THREADS; i++) {
		workers[i] = (struct worker){ .renewer = renewer, .number = i };
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	rdl_renewer_free(renewer);
}

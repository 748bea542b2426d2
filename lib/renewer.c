/* SPDX-License-Identifier: MIT */
/*
 * The shared renewer: one thread and one connection that extend the leases of many locks.
 *
 *	holder    acquires it, rdl_renewer_add()
 *	renewer   of all locks the one that is due: extends it, if it holds our token still
 *	          said no, or unanswered until the lease is over: lost, the call-back
 *	holder    out of the list, after what is in flight for it; releases it
 *
 * The list is guarded by a mutex. It is not held while the server is asked, or in the
 * call-back: the lock that is being served is `busy` then, and its removal waits.
 */
#include "renewer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

/* A lock in the list. Owned by the lock's thread. While it is in the list the renewer's thread
 * alone uses what is not atomic, but `next`, which the mutex guards. */
struct rdl_attachment {
	struct rdl_renewal renewal;
	void *lock;                  /* as its user knows it */
	struct rdl_renewer *renewer; /* NULL = it was freed */
	struct rdl_hold *hold;       /* the lock's, for its thread */
	pid_t process;               /* whose renewer it is */
	int64_t next_ns;             /* when it is to be renewed */
	bool owns_lease, is_lost;
	struct rdl_attachment *next;
};

struct rdl_renewer {
	struct rdl_link *link; /* the thread's own */
	pid_t process;         /* whose thread it is */
	bool runs, stops;
	struct rdl_task task;
	pthread_mutex_t mutex; /* guards all below */
	pthread_cond_t changed, idle;
	struct rdl_attachment *first, *busy;
	struct rdl_link **nodes; /* the thread's own, to a quorum's servers; NULL = none yet */
	size_t n_nodes;
	rdl_loss on_loss;
	void *context;
};

struct rdl_renewer *rdl_renewer_new(const struct rdl_link *link, rdl_loss on_loss, void *context)
{
	struct rdl_renewer *renewer = calloc(1, sizeof(*renewer));
	pthread_condattr_t attributes;

	if (!renewer)
		return NULL;
	renewer->link = rdl_link_new(&link->address, link->timeout_ms);
	if (!renewer->link) {
		free(renewer);
		return NULL;
	}
	renewer->process = getpid();
	renewer->on_loss = on_loss;
	renewer->context = context;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&renewer->mutex, NULL);
	pthread_cond_init(&renewer->changed, &attributes);
	pthread_cond_init(&renewer->idle, NULL);
	pthread_condattr_destroy(&attributes);
	return renewer;
}

void rdl_renewer_free(struct rdl_renewer *renewer)
{
	if (!renewer)
		return;
	if (renewer->process == getpid()) { /* the thread and the list are the parent's otherwise */
		pthread_mutex_lock(&renewer->mutex);
		renewer->stops = true;
		pthread_cond_signal(&renewer->changed);
		pthread_mutex_unlock(&renewer->mutex);
		if (renewer->runs)
			rdl_join(renewer->link, &renewer->task);
		for (struct rdl_attachment *one = renewer->first; one; one = one->next)
			one->renewer = NULL;
		pthread_cond_destroy(&renewer->idle);
		pthread_cond_destroy(&renewer->changed);
		pthread_mutex_destroy(&renewer->mutex);
	}
	for (size_t i = 0; i < renewer->n_nodes; i++)
		rdl_link_free(renewer->nodes[i]);
	free(renewer->nodes);
	rdl_link_free(renewer->link);
	free(renewer);
}

/* ---- The thread -------------------------------------------------------- */

/* Until something changes, or `left_ns` are over; below 0: no limit. */
static void wait_for_change(struct rdl_renewer *renewer, int64_t left_ns)
{
	struct timespec until;

	if (left_ns < 0) {
		pthread_cond_wait(&renewer->changed, &renewer->mutex);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += left_ns / 1000000000;
	until.tv_nsec += left_ns % 1000000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&renewer->changed, &renewer->mutex, &until);
}

/* A lock whose lease has ended, or else the one that is due first; *end_ns is when the first of
 * all leases ends. */
static struct rdl_attachment *find_due(const struct rdl_renewer *renewer, int64_t now_ns,
				       int64_t *end_ns)
{
	struct rdl_attachment *due = NULL;

	*end_ns = INT64_MAX;
	for (struct rdl_attachment *one = renewer->first; one; one = one->next) {
		const int64_t until_ns = atomic_load(&one->renewal.until_ns);

		if (one->is_lost)
			continue;
		if (until_ns <= now_ns)
			return one;
		if (until_ns < *end_ns)
			*end_ns = until_ns;
		if (!due || one->next_ns < due->next_ns)
			due = one;
	}
	return due;
}

/* Without the mutex. One server that hangs must not hide that another lock's lease has ended, so
 * that the first of all ends is waited for. */
static void serve(struct rdl_renewer *renewer, struct rdl_attachment *one, int64_t end_ns)
{
	if (rdl_renewal_run(&one->renewal, renewer->link, end_ns)) {
		one->next_ns = rdl_now_ns(renewer->link, RDL_CLOCK_MONOTONIC) +
			       rdl_renewal_pause_ns(&one->renewal, renewer->link);
		return;
	}
	atomic_store(&one->renewal.until_ns, 0);
	one->is_lost = true;
	if (renewer->on_loss)
		renewer->on_loss(renewer->context, one->lock);
}

static void renew_all(void *argument)
{
	struct rdl_renewer *renewer = argument;

	pthread_mutex_lock(&renewer->mutex);
	while (!renewer->stops) {
		const int64_t now_ns = rdl_now_ns(renewer->link, RDL_CLOCK_MONOTONIC);
		int64_t end_ns;
		struct rdl_attachment *due = find_due(renewer, now_ns, &end_ns);
		const int64_t left_ns = due ? due->next_ns - now_ns : -1;

		if (!due || left_ns > 0) {
			wait_for_change(renewer, left_ns);
			continue;
		}
		renewer->busy = due;
		pthread_mutex_unlock(&renewer->mutex);
		serve(renewer, due, end_ns);
		pthread_mutex_lock(&renewer->mutex);
		renewer->busy = NULL;
		pthread_cond_broadcast(&renewer->idle);
	}
	pthread_mutex_unlock(&renewer->mutex);
}

/* ---- The holders ------------------------------------------------------- */

static bool is_same_server(const struct rdl_address *a, const struct rdl_address *b)
{
	return a->is_unix == b->is_unix && a->port == b->port && a->db == b->db &&
	       a->kind == b->kind && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->more, b->more) == 0 && strcmp(a->service, b->service) == 0;
}

/* Into the list, with the thread running. False: there can be none. */
static bool enter_list(struct rdl_renewer *renewer, struct rdl_attachment *one)
{
	bool runs;

	pthread_mutex_lock(&renewer->mutex);
	if (!renewer->runs) {
		renewer->task = (struct rdl_task){ .body = renew_all,
						   .argument = renewer,
						   .link = renewer->link };
		renewer->runs = rdl_spawn(renewer->link, &renewer->task);
	}
	runs = renewer->runs;
	if (runs) {
		one->next = renewer->first;
		renewer->first = one;
		pthread_cond_signal(&renewer->changed);
	}
	pthread_mutex_unlock(&renewer->mutex);
	return runs;
}

static const char parents_renewer[] = "the renewer is the parent's";

struct rdl_link **rdl_renewer_nodes(struct rdl_renewer *renewer, struct rdl_link *const *nodes,
				    size_t n_nodes)
{
	const char *error = NULL;

	if (renewer->process != getpid()) { /* the mutex may be locked for good */
		rdl_link_fail(nodes[0], RDL_ERROR, "%s", parents_renewer);
		return NULL;
	}
	pthread_mutex_lock(&renewer->mutex);
	if (!renewer->nodes) {
		renewer->nodes = calloc(n_nodes, sizeof(*renewer->nodes));
		renewer->n_nodes = renewer->nodes ? n_nodes : 0;
		for (size_t i = 0; i < renewer->n_nodes; i++)
			renewer->nodes[i] = rdl_link_new(&nodes[i]->address,
							 renewer->link->timeout_ms);
	}
	if (n_nodes != renewer->n_nodes)
		error = "the renewer has another quorum's locks";
	for (size_t i = 0; i < n_nodes && !error; i++) {
		if (!renewer->nodes[i])
			error = "out of memory";
		else if (!is_same_server(&nodes[i]->address, &renewer->nodes[i]->address))
			error = "the renewer has another quorum's locks";
	}
	pthread_mutex_unlock(&renewer->mutex);
	if (!error)
		return renewer->nodes;
	rdl_link_fail(nodes[0], RDL_ERROR, "%s", error);
	return NULL;
}

enum rdl_outcome rdl_renewer_enter(struct rdl_renewer *renewer,
				   const struct rdl_renewable *renewable, long hold_max_ms)
{
	struct rdl_link *link = renewable->link;
	struct rdl_hold *hold = renewable->hold;
	struct rdl_attachment *one = NULL;
	enum rdl_outcome outcome = rdl_link_fail(link, RDL_OK, "%s", "");

	if (rdl_hold_remaining_ms(hold) == 0)
		outcome = RDL_LOST;
	else if (hold->attachment)
		outcome = RDL_BUSY;
	else if (hold_max_ms < 1)
		outcome = rdl_link_fail(link, RDL_ERROR,
					"held for %ld ms at most: the shortest is 1 ms",
					hold_max_ms);
	else if (renewer->process != getpid())
		outcome = rdl_link_fail(link, RDL_ERROR, "%s", parents_renewer);
	else if (rdl_is_driven(link))
		outcome = rdl_link_fail(link, RDL_ERROR, "the link has a driver");
	else if (!renewable->is_on_nodes &&
		 !is_same_server(&link->address, &renewer->link->address))
		outcome = rdl_link_fail(link, RDL_ERROR, "the renewer is another server's");
	else if (!renewable->lease || !(one = calloc(1, sizeof(*one))))
		outcome = rdl_link_fail(link, RDL_ERROR, "out of memory");
	if (outcome == RDL_OK) {
		rdl_renewal_begin(&one->renewal, renewable, hold_max_ms);
		one->lock = renewable->lock;
		one->hold = hold;
		one->renewer = renewer;
		one->process = getpid();
		one->owns_lease = renewable->owns_lease;
		one->next_ns = rdl_now_ns(link, RDL_CLOCK_MONOTONIC) +
			       rdl_renewal_pause_ns(&one->renewal, link);
		hold->attachment = one;
		if (enter_list(renewer, one))
			return RDL_OK;
		hold->attachment = NULL;
		outcome = rdl_link_fail(link, RDL_ERROR, "cannot start the renewer's thread");
	}
	free(one);
	if (renewable->owns_lease)
		free(renewable->lease);
	return outcome;
}

static void leave_list(struct rdl_renewer *renewer, struct rdl_attachment *one)
{
	struct rdl_attachment **at = &renewer->first;

	pthread_mutex_lock(&renewer->mutex);
	while (renewer->busy == one)
		pthread_cond_wait(&renewer->idle, &renewer->mutex);
	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	pthread_mutex_unlock(&renewer->mutex);
}

void rdl_hold_detach(struct rdl_hold *hold)
{
	struct rdl_attachment *one = hold->attachment;

	if (!one)
		return;
	hold->attachment = NULL;
	if (one->process == getpid()) { /* after a fork the list is the parent's */
		if (one->renewer)
			leave_list(one->renewer, one);
		hold->until_ns = atomic_load(&one->renewal.until_ns);
	}
	if (one->owns_lease)
		free(one->renewal.lease);
	free(one);
}

int64_t rdl_hold_until_ns(const struct rdl_hold *hold)
{
	return hold->attachment ? atomic_load(&hold->attachment->renewal.until_ns) : hold->until_ns;
}

/* Only the lock's own thread may take it out, so that it does not go away meanwhile. */
static struct rdl_attachment *find_lock(struct rdl_renewer *renewer, const void *lock)
{
	struct rdl_attachment *one;

	pthread_mutex_lock(&renewer->mutex);
	one = renewer->first;
	while (one && one->lock != lock)
		one = one->next;
	pthread_mutex_unlock(&renewer->mutex);
	return one;
}

enum rdl_outcome rdl_renewer_remove(struct rdl_renewer *renewer, const void *lock)
{
	struct rdl_attachment *one = renewer->process == getpid() ? find_lock(renewer, lock) : NULL;
	struct rdl_hold *hold;

	if (!one)
		return RDL_LOST;
	hold = one->hold;
	rdl_hold_detach(hold);
	return rdl_hold_remaining_ms(hold) > 0 ? RDL_OK : RDL_LOST;
}

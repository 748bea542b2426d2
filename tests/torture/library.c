/* SPDX-License-Identifier: MIT */
/*
 * torture-library URI: every call of the library that asks a server, on one that may
 * be anything. Each has to come back within its time-outs, with an outcome; and who
 * is told that he has a lock has time left. Exit: 0 all of that holds; 1 it does not.
 */
#include <redislock.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What a call may take: connecting, SCRIPT LOAD and a reply that is asked for again
 * are round trips of their own. */
enum { TIMEOUT_MS = 300, TTL_MS = 2000, WAIT_MS = 200, TRIPS = 8 };

struct scene {
	struct rdl_address address;
	struct rdl_link *link;
	bool good;
};

static long long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* A call that has begun then has ended now. */
static void judge(struct scene *scene, const char *call, enum rdl_outcome outcome,
		  long long begun_ms)
{
	const long long ms = clock_ms() - begun_ms;
	const bool is_late = ms > TRIPS * TIMEOUT_MS + WAIT_MS;
	const bool is_mute = outcome == RDL_ERROR && !rdl_link_error(scene->link)[0] &&
			     strncmp(call, "rdl_quorum", 9) != 0;

	printf("%s: %s, %lld ms%s%s\n", call, rdl_outcome_name(outcome), ms,
	       is_late ? ": too long" : "", is_mute ? ": an error without a reason" : "");
	if (is_late || is_mute)
		scene->good = false;
}

static void judge_lease(struct scene *scene, const char *call, enum rdl_outcome outcome,
			long remaining_ms)
{
	if ((outcome == RDL_OK) == (remaining_ms > 0))
		return;
	printf("%s: %s, and %ld ms are left\n", call, rdl_outcome_name(outcome), remaining_ms);
	scene->good = false;
}

static const struct rdl_policy policy = { .wait_ms = WAIT_MS };

static void try_commands(struct scene *scene)
{
	struct rdl_reply reply;
	long long begun = clock_ms();

	judge(scene, "rdl_link_connect", rdl_link_connect(scene->link), begun);
	begun = clock_ms();
	judge(scene, "rdl_run", rdl_run(scene->link, &reply, "GET x"), begun);
	begun = clock_ms();
	judge(scene, "rdl_run_argv",
	      rdl_run_argv(scene->link, &reply, 2, (const char *const[]){ "GET", "x" }, NULL),
	      begun);
	begun = clock_ms();
	judge(scene, "rdl_delete_if_equal", rdl_delete_if_equal(scene->link, "x", "value"), begun);
	begun = clock_ms();
	judge(scene, "rdl_fenced_get", rdl_fenced_get(scene->link, "data", 1, &reply), begun);
	begun = clock_ms();
	judge(scene, "rdl_fenced_set", rdl_fenced_set(scene->link, "data", 1, "1"), begun);
}

static enum rdl_outcome change(void *context, const struct rdl_reply *old, char *value, size_t size)
{
	(void)context;
	(void)old;
	snprintf(value, size, "1");
	return RDL_OK;
}

static void try_update(struct scene *scene)
{
	const long long begun = clock_ms();

	judge(scene, "rdl_update", rdl_update(scene->link, "x", change, NULL, 3, &policy), begun);
}

/* Looks at a lock, and takes it away. */
static void try_to_look(struct scene *scene, const char *key)
{
	struct rdl_holder holder;
	long long begun = clock_ms();

	judge(scene, "rdl_inspect", rdl_inspect(scene->link, key, &holder), begun);
	begun = clock_ms();
	judge(scene, "rdl_force_release", rdl_force_release(scene->link, key, &holder), begun);
}

static void try_renewer(struct scene *scene)
{
	struct rdl_renewer *renewer = rdl_renewer_new(scene->link, NULL, NULL);
	struct rdl_lock *lock = rdl_lock_new(scene->link, "shared");
	long long begun;

	if (rdl_lock_try(lock, TTL_MS) == RDL_OK) {
		begun = clock_ms();
		judge(scene, "rdl_renewer_add", rdl_renewer_add(renewer, lock, 5000), begun);
	}
	begun = clock_ms();
	judge(scene, "rdl_lock_release", rdl_lock_release(lock), begun);
	rdl_lock_free(lock);
	begun = clock_ms();
	rdl_renewer_free(renewer);
	judge(scene, "rdl_renewer_free", RDL_OK, begun);
}

static void try_token(struct scene *scene)
{
	struct rdl_lock *lock = rdl_lock_new(scene->link, "token");
	long long begun = clock_ms(), number;
	enum rdl_outcome outcome = rdl_lock_acquire(lock, TTL_MS, &policy);

	judge(scene, "rdl_lock_acquire", outcome, begun);
	judge_lease(scene, "rdl_lock_acquire", outcome, rdl_lock_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rdl_lock_extend", rdl_lock_extend(lock, TTL_MS), begun);
	begun = clock_ms();
	judge(scene, "rdl_lock_release", rdl_lock_release(lock), begun);
	begun = clock_ms();
	judge(scene, "rdl_lock_acquire_fenced",
	      rdl_lock_acquire_fenced(lock, TTL_MS, &policy, &number), begun);
	begun = clock_ms();
	judge(scene, "rdl_lock_release", rdl_lock_release(lock), begun);
	rdl_lock_free(lock);
}

static void try_renewed(struct scene *scene)
{
	struct rdl_renewed *lock = rdl_renewed_new(scene->link, "renewed", 5000);
	long long begun = clock_ms();
	enum rdl_outcome outcome = rdl_renewed_acquire(lock, TTL_MS, &policy);

	judge(scene, "rdl_renewed_acquire", outcome, begun);
	judge_lease(scene, "rdl_renewed_acquire", outcome, rdl_renewed_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rdl_renewed_release", rdl_renewed_release(lock), begun);
	rdl_renewed_free(lock);
}

static void try_reentrant(struct scene *scene)
{
	struct rdl_reentrant *lock = rdl_reentrant_new(scene->link, "reentrant");
	long long begun = clock_ms();
	enum rdl_outcome outcome = rdl_reentrant_acquire(lock, TTL_MS, &policy);

	judge(scene, "rdl_reentrant_acquire", outcome, begun);
	judge_lease(scene, "rdl_reentrant_acquire", outcome, rdl_reentrant_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rdl_reentrant_release", rdl_reentrant_release(lock), begun);
	rdl_reentrant_free(lock);
}

static void try_fair(struct scene *scene)
{
	struct rdl_fair *lock = rdl_fair_new(scene->link, "fair", "data");
	long long begun = clock_ms(), number;
	enum rdl_outcome outcome = rdl_fair_acquire(lock, TTL_MS, &policy);

	judge(scene, "rdl_fair_acquire", outcome, begun);
	judge_lease(scene, "rdl_fair_acquire", outcome, rdl_fair_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rdl_fair_extend", rdl_fair_extend(lock, TTL_MS), begun);
	try_to_look(scene, "fair");
	begun = clock_ms();
	judge(scene, "rdl_fair_release", rdl_fair_release(lock), begun);
	begun = clock_ms();
	outcome = rdl_fair_acquire_fenced(lock, TTL_MS, &policy, &number);
	judge(scene, "rdl_fair_acquire_fenced", outcome, begun);
	judge_lease(scene, "rdl_fair_acquire_fenced", outcome, rdl_fair_remaining_ms(lock));
	begun = clock_ms();
	rdl_fair_free(lock);
	judge(scene, "rdl_fair_free", RDL_OK, begun);
}

static void try_quorum(struct scene *scene)
{
	struct rdl_link *node = rdl_link_new(&scene->address, TIMEOUT_MS);
	struct rdl_quorum *lock = rdl_quorum_new(&node, 1, "quorum", TIMEOUT_MS);
	struct rdl_holder holder;
	long long begun = clock_ms();
	enum rdl_outcome outcome = rdl_quorum_acquire(lock, TTL_MS, &policy);

	judge(scene, "rdl_quorum_acquire", outcome, begun);
	judge_lease(scene, "rdl_quorum_acquire", outcome, rdl_quorum_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rdl_quorum_query", rdl_quorum_query(lock), begun);
	begun = clock_ms();
	judge(scene, "rdl_quorum_inspect", rdl_quorum_inspect(lock, &holder), begun);
	begun = clock_ms();
	judge(scene, "rdl_quorum_release", rdl_quorum_release(lock), begun);
	rdl_quorum_free(lock);
	rdl_link_free(node);
}

static void try_queue(struct scene *scene)
{
	struct rdl_delay_queue *queue = rdl_delay_queue_new(scene->link, "queue");
	long long begun = clock_ms(), due, processing;
	char id[64];
	enum rdl_outcome outcome;

	judge(scene, "rdl_delay_queue_put", rdl_delay_queue_put(queue, "item", 0), begun);
	begun = clock_ms();
	outcome = rdl_delay_queue_take(queue, TTL_MS, id, sizeof(id));
	judge(scene, "rdl_delay_queue_take", outcome, begun);
	begun = clock_ms();
	if (outcome == RDL_OK)
		judge(scene, "rdl_delay_queue_done", rdl_delay_queue_done(queue, id, "INCR done"),
		      begun);
	begun = clock_ms();
	judge(scene, "rdl_delay_queue_length", rdl_delay_queue_length(queue, &due, &processing),
	      begun);
	rdl_delay_queue_free(queue);
}

int main(int argc, char **argv)
{
	struct scene scene = { .good = true };
	char error[128] = "usage: torture-library URI";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || !rdl_address_parse(&scene.address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "torture-library: %s\n", error);
		return 64;
	}
	scene.link = rdl_link_new(&scene.address, TIMEOUT_MS);
	if (!scene.link)
		return 70;
	try_commands(&scene);
	try_update(&scene);
	try_token(&scene);
	try_renewed(&scene);
	try_renewer(&scene);
	try_reentrant(&scene);
	try_fair(&scene);
	try_quorum(&scene);
	try_queue(&scene);
	rdl_link_free(scene.link);
	return scene.good ? 0 : 1;
}

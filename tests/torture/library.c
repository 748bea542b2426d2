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
	struct rl_address address;
	struct rl_link *link;
	bool good;
};

static long long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* A call that has begun then has ended now. */
static void judge(struct scene *scene, const char *call, enum rl_outcome outcome,
		  long long begun_ms)
{
	const long long ms = clock_ms() - begun_ms;
	const bool is_late = ms > TRIPS * TIMEOUT_MS + WAIT_MS;
	const bool is_mute = outcome == RL_ERROR && !rl_link_error(scene->link)[0] &&
			     strncmp(call, "rl_quorum", 9) != 0;

	printf("%s: %s, %lld ms%s%s\n", call, rl_outcome_name(outcome), ms,
	       is_late ? ": too long" : "", is_mute ? ": an error without a reason" : "");
	if (is_late || is_mute)
		scene->good = false;
}

static void judge_lease(struct scene *scene, const char *call, enum rl_outcome outcome,
			long remaining_ms)
{
	if ((outcome == RL_OK) == (remaining_ms > 0))
		return;
	printf("%s: %s, and %ld ms are left\n", call, rl_outcome_name(outcome), remaining_ms);
	scene->good = false;
}

static const struct rl_policy policy = { .wait_ms = WAIT_MS, .cancel_fd = -1 };

static void try_commands(struct scene *scene)
{
	struct rl_reply reply;
	long long begun = clock_ms();

	judge(scene, "rl_link_connect", rl_link_connect(scene->link), begun);
	begun = clock_ms();
	judge(scene, "rl_run", rl_run(scene->link, &reply, "GET x"), begun);
	begun = clock_ms();
	judge(scene, "rl_delete_if_equal", rl_delete_if_equal(scene->link, "x", "value"), begun);
	begun = clock_ms();
	judge(scene, "rl_fenced_get", rl_fenced_get(scene->link, "data", 1, &reply), begun);
	begun = clock_ms();
	judge(scene, "rl_fenced_set", rl_fenced_set(scene->link, "data", 1, "1"), begun);
}

static enum rl_outcome change(void *context, const struct rl_reply *old, char *value, size_t size)
{
	(void)context;
	(void)old;
	snprintf(value, size, "1");
	return RL_OK;
}

static void try_update(struct scene *scene)
{
	const long long begun = clock_ms();

	judge(scene, "rl_update", rl_update(scene->link, "x", change, NULL, 3, &policy), begun);
}

static void try_token(struct scene *scene)
{
	struct rl_lock *lock = rl_lock_new(scene->link, "token");
	long long begun = clock_ms(), number;
	enum rl_outcome outcome = rl_lock_acquire(lock, TTL_MS, &policy);

	judge(scene, "rl_lock_acquire", outcome, begun);
	judge_lease(scene, "rl_lock_acquire", outcome, rl_lock_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rl_lock_extend", rl_lock_extend(lock, TTL_MS), begun);
	begun = clock_ms();
	judge(scene, "rl_lock_release", rl_lock_release(lock), begun);
	begun = clock_ms();
	judge(scene, "rl_lock_acquire_fenced",
	      rl_lock_acquire_fenced(lock, TTL_MS, &policy, &number), begun);
	begun = clock_ms();
	judge(scene, "rl_lock_release", rl_lock_release(lock), begun);
	rl_lock_free(lock);
}

static void try_renewed(struct scene *scene)
{
	struct rl_renewed *lock = rl_renewed_new(scene->link, "renewed", 5000);
	long long begun = clock_ms();
	enum rl_outcome outcome = rl_renewed_acquire(lock, TTL_MS, &policy);

	judge(scene, "rl_renewed_acquire", outcome, begun);
	judge_lease(scene, "rl_renewed_acquire", outcome, rl_renewed_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rl_renewed_release", rl_renewed_release(lock), begun);
	rl_renewed_free(lock);
}

static void try_reentrant(struct scene *scene)
{
	struct rl_reentrant *lock = rl_reentrant_new(scene->link, "reentrant");
	long long begun = clock_ms();
	enum rl_outcome outcome = rl_reentrant_acquire(lock, TTL_MS, &policy);

	judge(scene, "rl_reentrant_acquire", outcome, begun);
	judge_lease(scene, "rl_reentrant_acquire", outcome, rl_reentrant_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rl_reentrant_release", rl_reentrant_release(lock), begun);
	rl_reentrant_free(lock);
}

static void try_fair(struct scene *scene)
{
	struct rl_fair *lock = rl_fair_new(scene->link, "fair", "data");
	long long begun = clock_ms();
	enum rl_outcome outcome = rl_fair_acquire(lock, TTL_MS, &policy);

	judge(scene, "rl_fair_acquire", outcome, begun);
	judge_lease(scene, "rl_fair_acquire", outcome, rl_fair_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rl_fair_release", rl_fair_release(lock), begun);
	begun = clock_ms();
	rl_fair_free(lock);
	judge(scene, "rl_fair_free", RL_OK, begun);
}

static void try_quorum(struct scene *scene)
{
	struct rl_link *node = rl_link_new(&scene->address, TIMEOUT_MS);
	struct rl_quorum *lock = rl_quorum_new(&node, 1, "quorum", TIMEOUT_MS);
	long long begun = clock_ms();
	enum rl_outcome outcome = rl_quorum_acquire(lock, TTL_MS, &policy);

	judge(scene, "rl_quorum_acquire", outcome, begun);
	judge_lease(scene, "rl_quorum_acquire", outcome, rl_quorum_remaining_ms(lock));
	begun = clock_ms();
	judge(scene, "rl_quorum_query", rl_quorum_query(lock), begun);
	begun = clock_ms();
	judge(scene, "rl_quorum_release", rl_quorum_release(lock), begun);
	rl_quorum_free(lock);
	rl_link_free(node);
}

static void try_queue(struct scene *scene)
{
	struct rl_delay_queue *queue = rl_delay_queue_new(scene->link, "queue");
	long long begun = clock_ms(), due, processing;
	char id[64];
	enum rl_outcome outcome;

	judge(scene, "rl_delay_queue_put", rl_delay_queue_put(queue, "item", 0), begun);
	begun = clock_ms();
	outcome = rl_delay_queue_take(queue, TTL_MS, id, sizeof(id));
	judge(scene, "rl_delay_queue_take", outcome, begun);
	begun = clock_ms();
	if (outcome == RL_OK)
		judge(scene, "rl_delay_queue_done", rl_delay_queue_done(queue, id, "INCR done"),
		      begun);
	begun = clock_ms();
	judge(scene, "rl_delay_queue_length", rl_delay_queue_length(queue, &due, &processing),
	      begun);
	rl_delay_queue_free(queue);
}

int main(int argc, char **argv)
{
	struct scene scene = { .good = true };
	char error[128] = "usage: torture-library URI";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || !rl_address_parse(&scene.address, argv[1], error, sizeof(error))) {
		fprintf(stderr, "torture-library: %s\n", error);
		return 64;
	}
	scene.link = rl_link_new(&scene.address, TIMEOUT_MS);
	if (!scene.link)
		return 70;
	try_commands(&scene);
	try_update(&scene);
	try_token(&scene);
	try_renewed(&scene);
	try_reentrant(&scene);
	try_fair(&scene);
	try_quorum(&scene);
	try_queue(&scene);
	rl_link_free(scene.link);
	return scene.good ? 0 : 1;
}

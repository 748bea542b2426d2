/* SPDX-License-Identifier: MIT */
/* A delay queue's items while they are taken: prolonged, given back, taken too often, waited
 * for, and left by workers that are killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue.h"

TestSuite(delay_queue_work, .init = queue_setup, .fini = queue_teardown);

static long long now_ms(void)
{
	return rdl_now_ns(queue_links[0], RDL_CLOCK_MONOTONIC) / 1000000;
}

/* ---- Prolonging ------------------------------------------------------------------------ */

Test(delay_queue_work, prolonged_hold_outlives_the_first)
{
	queue_put("a", 0);
	queue_assert_taken(0, 60, "a");
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", LONG_MS), RDL_OK);
	queue_sleep_ms(80);
	queue_assert_nothing_due(1);
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	queue_assert_effects("1");
}

Test(delay_queue_work, prolonging_never_shortens)
{
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", 1), RDL_OK);
	queue_sleep_ms(10);
	queue_assert_nothing_due(1);
}

Test(delay_queue_work, who_has_lost_the_item_cannot_prolong_it)
{
	queue_put("a", 0);
	queue_assert_taken(0, 20, "a");
	queue_sleep_ms(30);
	queue_assert_taken(1, 200, "a");
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", LONG_MS), RDL_LOST);
	queue_sleep_ms(210);
	queue_assert_taken(1, LONG_MS, "a");
	cr_assert_eq(queue_done(1, "a"), RDL_OK);
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[1], "a", LONG_MS), RDL_LOST);
}

Test(delay_queue_work, nothing_taken_is_nothing_to_prolong)
{
	queue_put("a", 0);
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", LONG_MS), RDL_LOST);
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_LOST);
	queue_assert_length(1, 0);
}

/* ---- Giving back ----------------------------------------------------------------------- */

Test(delay_queue_work, given_back_is_due_after_the_delay)
{
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 1000), RDL_OK);
	queue_assert_length(1, 0);
	queue_assert_nothing_due(1);
	queue_sleep_ms(1010);
	queue_assert_taken(1, LONG_MS, "a");
}

Test(delay_queue_work, given_back_is_not_ours_to_end)
{
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_OK);
	cr_assert_eq(queue_done(0, "a"), RDL_LOST);
	cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", LONG_MS), RDL_LOST);
	queue_assert_taken(1, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_LOST);
	cr_assert_eq(queue_done(1, "a"), RDL_OK);
	cr_assert_eq(queue_done(0, "a"), RDL_LOST, "another one's done is not ours");
	queue_assert_effects("1");
}

/* Loses the first reply: what was asked is done all the same. */
static enum rdl_outcome lose_first(void *context, struct rdl_link *link, struct rdl_reply *reply,
				   enum rdl_outcome outcome)
{
	int *left = context;

	(void)link;
	(void)reply;
	return (*left)-- > 0 ? RDL_UNKNOWN : outcome;
}

Test(delay_queue_work, lost_replies_are_asked_for_again)
{
	static const struct rdl_driver_ops ops = { .receive = lose_first };
	int left = 0;
	const struct rdl_driver driver = { .ops = &ops, .context = &left };

	for (int i = 0; i < 2; i++) { /* the first time loads the scripts */
		queue_put("a", 0);
		queue_assert_taken(0, LONG_MS, "a");
		rdl_link_set_driver(queue_links[0], i ? &driver : NULL);
		left = i;
		cr_assert_eq(rdl_delay_queue_prolong(queue_workers[0], "a", LONG_MS), RDL_OK);
		left = i;
		cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_OK);
		rdl_link_set_driver(queue_links[0], NULL);
		queue_assert_taken(1, LONG_MS, "a");
		cr_assert_eq(queue_done(1, "a"), RDL_OK);
	}
}

/* ---- The limit ------------------------------------------------------------------------- */

static void set_limit(long attempts)
{
	for (int i = 0; i < 2; i++)
		rdl_delay_queue_set_limit(queue_workers[i], attempts);
}

static void assert_dead(long index, const char *wanted)
{
	char id[ID_SIZE] = "";

	cr_assert_eq(rdl_delay_queue_dead(queue_workers[0], index, id, sizeof(id)), RDL_OK);
	cr_assert_str_eq(id, wanted);
	cr_assert_eq(rdl_delay_queue_dead(queue_workers[0], index + 1, id, sizeof(id)), RDL_BUSY);
}

Test(delay_queue_work, taken_too_often_goes_to_the_dead)
{
	set_limit(2);
	queue_put("a", 0);
	for (int i = 1; i <= 2; i++) {
		queue_assert_taken(1, LONG_MS, "a");
		cr_assert_eq(rdl_delay_queue_attempt(queue_workers[1]), i);
		cr_assert_eq(rdl_delay_queue_give_back(queue_workers[1], "a", 0), RDL_OK);
	}
	queue_put("b", 0);
	queue_assert_taken(0, LONG_MS, "b");
	assert_dead(0, "a");
	queue_assert_length(0, 1);
	cr_assert_eq(queue_done(0, "b"), RDL_OK);
	cr_assert_str_eq(support_ask(queue_links[0], "EXISTS", "q:attempts"), "0");
	cr_assert_str_eq(support_ask(queue_links[0], "EXISTS", "q:takes"), "0");
}

Test(delay_queue_work, dead_item_is_taken_once_or_revived)
{
	set_limit(1);
	queue_put("a", 0);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_revive(queue_workers[0], "a", 0), RDL_BUSY);
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_OK);
	queue_assert_nothing_due(0);
	assert_dead(0, "a");
	cr_assert_eq(rdl_delay_queue_revive(queue_workers[1], "a", 0), RDL_OK);
	cr_assert_eq(rdl_delay_queue_revive(queue_workers[1], "a", 0), RDL_BUSY);
	queue_assert_taken(1, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_attempt(queue_workers[1]), 1);
	cr_assert_eq(rdl_delay_queue_give_back(queue_workers[1], "a", 0), RDL_OK);
	queue_assert_nothing_due(0);
	cr_assert_eq(rdl_delay_queue_remove_dead(queue_workers[0], "a"), RDL_OK);
	cr_assert_eq(rdl_delay_queue_remove_dead(queue_workers[1], "a"), RDL_LOST);
	cr_assert_eq(rdl_delay_queue_revive(queue_workers[1], "a", 0), RDL_LOST);
	queue_assert_length(0, 0);
}

Test(delay_queue_work, without_a_limit_nothing_dies)
{
	queue_put("a", 0);
	for (int i = 1; i <= 20; i++) {
		queue_assert_taken(0, LONG_MS, "a");
		cr_assert_eq(rdl_delay_queue_attempt(queue_workers[0]), i);
		cr_assert_eq(rdl_delay_queue_give_back(queue_workers[0], "a", 0), RDL_OK);
	}
	queue_assert_length(1, 0);
}

/* ---- Workers that are killed ----------------------------------------------------------- */

/* A process that takes what is due and is killed before it is done. */
static void take_and_die(long hold_ms)
{
	const pid_t worker = fork();
	char id[ID_SIZE];
	int status;

	if (worker == 0) {
		if (rdl_delay_queue_take(queue_workers[1], hold_ms, id, sizeof(id)) != RDL_OK)
			_exit(1);
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(worker, &status, 0), worker);
	cr_assert(WIFSIGNALED(status), "nothing was taken");
}

Test(delay_queue_work, item_of_a_killed_worker_is_handed_out_again)
{
	queue_put("a", 0);
	take_and_die(100);
	queue_assert_length(0, 1);
	queue_sleep_ms(110);
	queue_assert_taken(0, LONG_MS, "a");
	cr_assert_eq(rdl_delay_queue_attempt(queue_workers[0]), 2);
	cr_assert_eq(queue_done(0, "a"), RDL_OK);
	queue_assert_effects("1");
}

Test(delay_queue_work, item_that_kills_its_workers_goes_to_the_dead)
{
	set_limit(3);
	queue_put("poison", 0);
	for (int i = 0; i < 3; i++) {
		take_and_die(20);
		queue_sleep_ms(30);
	}
	queue_assert_nothing_due(0);
	assert_dead(0, "poison");
	queue_assert_length(0, 0);
}

/* A worker without end: takes, holds longer or gives back at random, and does; never gives up. */
static void work_until_killed(unsigned seed)
{
	const struct rdl_policy policy = { .wait_ms = LONG_MS };
	struct rdl_delay_queue *queue = queue_workers[1];
	char id[ID_SIZE];

	for (;;) {
		if (rdl_delay_queue_wait(queue, 40, id, sizeof(id), &policy) != RDL_OK)
			continue;
		switch (rand_r(&seed) % 4) {
		case 0:
			rdl_delay_queue_give_back(queue, id, rand_r(&seed) % 10);
			continue;
		case 1:
			rdl_delay_queue_prolong(queue, id, 60);
			break;
		default:
			break;
		}
		usleep((useconds_t)(rand_r(&seed) % 3000));
		rdl_delay_queue_done(queue, id, "HINCRBY effects %s 1", id);
	}
}

static pid_t start_worker(unsigned seed)
{
	const pid_t worker = fork();

	if (worker == 0)
		work_until_killed(seed);
	return worker;
}

static void kill_worker(pid_t worker)
{
	kill(worker, SIGKILL);
	cr_assert_eq(waitpid(worker, NULL, 0), worker);
}

/* How many there were. */
static long revive_all(void)
{
	char id[ID_SIZE];
	long n = 0;

	for (; rdl_delay_queue_dead(queue_workers[0], 0, id, sizeof(id)) == RDL_OK; n++)
		cr_assert_eq(rdl_delay_queue_revive(queue_workers[0], id, 0), RDL_OK);
	return n;
}

Test(delay_queue_work, each_effect_is_done_once_whoever_is_killed)
{
	enum { ITEMS = 150, WORKERS = 3, KILLS = 60, TURNS = 16000 };
	long long due = 1, processing = 1, dead = 0;
	pid_t workers[WORKERS];
	struct rdl_reply reply;
	char id[ID_SIZE];
	unsigned seed = 1;

	set_limit(3);
	for (int i = 0; i < ITEMS; i++) {
		snprintf(id, sizeof(id), "item %d", i);
		queue_put(id, rand_r(&seed) % 100);
	}
	for (int i = 0; i < WORKERS; i++)
		workers[i] = start_worker(++seed);
	for (int i = 0; i < TURNS && (i < KILLS || due + processing + dead > 0); i++) {
		usleep((useconds_t)(rand_r(&seed) % 15000));
		if (i < KILLS) {
			kill_worker(workers[i % WORKERS]);
			workers[i % WORKERS] = start_worker(++seed);
		}
		cr_assert_eq(rdl_delay_queue_length(queue_workers[0], &due, &processing), RDL_OK);
		dead = revive_all();
	}
	for (int i = 0; i < WORKERS; i++)
		kill_worker(workers[i]);
	queue_assert_length(0, 0);
	cr_assert_eq(rdl_run(queue_links[0], &reply, "HVALS effects"), RDL_OK);
	cr_assert_eq(reply.length, ITEMS);
	for (size_t i = 0; i < reply.length; i++)
		cr_assert_str_eq(reply.elements[i].text, "1");
	cr_assert_str_eq(support_ask(queue_links[0], "EXISTS", "q:attempts"), "0");
	cr_assert_str_eq(support_ask(queue_links[0], "EXISTS", "q:takes"), "0");
}

/* ---- Waiting --------------------------------------------------------------------------- */

static enum rdl_outcome wait_for(struct rdl_policy policy, char id[ID_SIZE])
{
	return rdl_delay_queue_wait(queue_workers[0], LONG_MS, id, ID_SIZE, &policy);
}

Test(delay_queue_work, wait_ends_when_the_item_becomes_due)
{
	const long long begun_ms = now_ms();
	const uint64_t before = rdl_link_commands(queue_links[0]);
	char id[ID_SIZE] = "";

	queue_put("a", 150);
	cr_assert_eq(wait_for((struct rdl_policy){ .wait_ms = 5000 }, id), RDL_OK);
	cr_assert_str_eq(id, "a");
	cr_assert_geq(now_ms() - begun_ms, 150);
	cr_assert_lt(now_ms() - begun_ms, 2000);
	cr_assert_lt(rdl_link_commands(queue_links[0]) - before, 10, "it polls");
}

Test(delay_queue_work, wait_ends_when_a_hold_runs_out)
{
	char id[ID_SIZE] = "";

	queue_put("a", 0);
	take_and_die(100);
	cr_assert_eq(wait_for((struct rdl_policy){ .wait_ms = 5000 }, id), RDL_OK);
	cr_assert_str_eq(id, "a");
}

static void *put_later(void *argument)
{
	(void)argument;
	usleep(50000);
	rdl_delay_queue_put(queue_workers[1], "late", 0);
	return NULL;
}

Test(delay_queue_work, wait_finds_what_others_put)
{
	char id[ID_SIZE] = "";
	pthread_t thread;

	pthread_create(&thread, NULL, put_later, NULL);
	cr_assert_eq(wait_for((struct rdl_policy){ .wait_ms = 5000 }, id), RDL_OK);
	pthread_join(thread, NULL);
	cr_assert_str_eq(id, "late");
}

Test(delay_queue_work, wait_gives_up_after_its_time)
{
	const uint64_t before = rdl_link_commands(queue_links[0]);
	const long long begun_ms = now_ms();
	char id[ID_SIZE];

	queue_put("later", LONG_MS);
	cr_assert_eq(wait_for((struct rdl_policy){ .wait_ms = 500 }, id), RDL_BUSY);
	cr_assert_geq(now_ms() - begun_ms, 500);
	cr_assert_lt(now_ms() - begun_ms, 3000);
	cr_assert_lt(rdl_link_commands(queue_links[0]) - before, 12, "it polls");
	cr_assert_eq(rdl_delay_queue_wait(queue_workers[0], LONG_MS, id, sizeof(id), NULL),
		     RDL_BUSY);
}

static void *cancel_later(void *argument)
{
	usleep(50000);
	cr_assert_eq(write(*(const int *)argument, "", 1), 1);
	return NULL;
}

Test(delay_queue_work, wait_can_be_cancelled)
{
	const long long begun_ms = now_ms();
	char id[ID_SIZE];
	pthread_t thread;
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	pthread_create(&thread, NULL, cancel_later, &ends[1]);
	cr_assert_eq(wait_for((struct rdl_policy){ .wait_ms = 20000, .cancel_fd = &ends[0] }, id),
		     RDL_BUSY);
	cr_assert_lt(now_ms() - begun_ms, 5000);
	pthread_join(thread, NULL);
	close(ends[0]);
	close(ends[1]);
}

/* SPDX-License-Identifier: MIT */
/*
 * Links to a real Redis Cluster and to real Sentinels: any node will do to begin
 * with, slots move, primaries die. What is sent again and what is not stands in
 * test_redirect.c.
 */
#include <stdio.h>
#include <string.h>

#include "../cluster/stage.h"
#include "../support.h"

enum { ROUTE_MS = 10000 };

static const char key[] = "{t}x";

struct ground {
	struct stage stage;
	struct rr_formation formation;
	char uri[200];
};

static void open_ground(struct ground *ground, enum rr_topology kind)
{
	stage_open(&ground->stage, RR_CLUSTER_REAL);
	stage_good(&ground->stage, rr_formation_open(&ground->formation, &ground->stage.cluster,
						     kind, key, &ground->stage.error));
}

static struct rr_server *server_of(struct ground *ground, int number)
{
	return &ground->stage.cluster.servers[number];
}

/* One that has other slots. */
static int stranger(const struct ground *ground)
{
	const struct rr_formation *formation = &ground->formation;

	return formation->first + (formation->members[0] - formation->first + 1) % 3;
}

static struct rdl_link *link_to(const struct ground *ground)
{
	struct rdl_address address;
	char error[200];
	struct rdl_link *link;

	cr_assert(rdl_address_parse(&address, ground->uri, error, sizeof(error)), "%s", error);
	link = rdl_link_new(&address, ROUTE_MS);
	cr_assert_not_null(link);
	return link;
}

static void expect(struct rdl_link *link, const char *line, const char *reply)
{
	const char *said = stage_say(link, line);

	cr_assert_str_eq(said, reply, "%s: '%s', not '%s' (%s)", line, said, reply,
			 rdl_link_error(link));
}

/* ---- A cluster at rest --------------------------------------------------- */

static void check_commands(const struct ground *ground)
{
	struct rdl_link *link = link_to(ground);

	expect(link, "SET {t}x a", "OK");
	expect(link, "GET {t}x", "a");
	expect(link, "MSET {t}x b {t}y b", "OK");
	cr_assert(strncmp(stage_say(link, "MSET a 1 b 2"), "-CROSSSLOT", 10) == 0);
	expect(link, "DEL {t}x {t}y", "2");
	rdl_link_free(link);
}

/* Locks that have several keys, by a name without a hash tag. */
static void check_locks(const struct ground *ground)
{
	struct rdl_link *link = link_to(ground);
	struct rdl_lock *lock = rdl_lock_new(link, "fenced");
	struct rdl_fair *fair = rdl_fair_new(link, "fair", NULL);
	struct rdl_renewed *renewed = rdl_renewed_new(link, "renewed", 60000);
	struct rdl_holder holder;
	struct rdl_reply reply;
	long long number;

	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fenced_set(link, "data", number, "x"), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fenced_get(link, "data", number, &reply), RDL_OK);
	cr_assert_str_eq(reply.text, "x");
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_fair_acquire_fenced(fair, 60000, NULL, &number), RDL_OK, "%s",
		     rdl_link_error(link));
	cr_assert_eq(number, 1);
	cr_assert_eq(rdl_inspect(link, "fair", &holder), RDL_OK, "%s", rdl_link_error(link));
	cr_assert(holder.is_held);
	cr_assert_eq(rdl_fair_extend(fair, 60000), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	cr_assert_eq(rdl_renewed_acquire_fenced(renewed, 60000, NULL, &number), RDL_OK, "%s",
		     rdl_link_error(link));
	cr_assert_eq(number, 1);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
	rdl_fair_free(fair);
	rdl_lock_free(lock);
	rdl_link_free(link);
}

static void check_semaphore(const struct ground *ground)
{
	struct rdl_link *links[] = { link_to(ground), link_to(ground) };
	struct rdl_semaphore *semaphore = rdl_semaphore_new(links[0], "semaphore", 2);
	struct rdl_semaphore *second = rdl_semaphore_new(links[1], "semaphore", 2);
	struct rdl_renewer *renewer = rdl_renewer_new(links[0], NULL, NULL);
	struct rdl_holder holders[2];
	long long n_holders;
	size_t n;

	cr_assert_eq(rdl_semaphore_try(semaphore, 60000), RDL_OK, "%s", rdl_link_error(links[0]));
	cr_assert_eq(rdl_semaphore_try(second, 1500), RDL_OK, "%s", rdl_link_error(links[1]));
	cr_assert_eq(rdl_renewer_add_semaphore(renewer, second, 60000), RDL_OK);
	cr_assert_eq(rdl_semaphore_count(semaphore, &n_holders), RDL_OK);
	cr_assert_eq(n_holders, 2);
	rdl_sleep_ns(links[0], INT64_C(3000000000));
	cr_assert_eq(rdl_inspect_all(links[0], "semaphore", holders, 2, &n), RDL_OK, "%s",
		     rdl_link_error(links[0]));
	cr_assert_eq(n, 2, "no renewal over the cluster");
	cr_assert_eq(rdl_semaphore_extend(semaphore, 60000), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(semaphore), RDL_OK);
	cr_assert_eq(rdl_semaphore_release(second), RDL_OK);
	rdl_renewer_free(renewer);
	rdl_semaphore_free(second);
	rdl_semaphore_free(semaphore);
	rdl_link_free(links[0]);
	rdl_link_free(links[1]);
}

/* Its three keys are in one slot, whatever its name. */
static void check_rwlock(const struct ground *ground)
{
	const struct rdl_policy policy = { .wait_ms = 30 };
	struct rdl_link *links[] = { link_to(ground), link_to(ground) };
	struct rdl_rwlock *reader = rdl_rwlock_new(links[0], "rw");
	struct rdl_rwlock *writer = rdl_rwlock_new(links[1], "rw");
	struct rdl_holder holders[2];
	size_t n;

	cr_assert_eq(rdl_rwlock_read_try(reader, 60000), RDL_OK, "%s", rdl_link_error(links[0]));
	expect(links[0], "EXISTS {rw}:readers", "1");
	cr_assert_eq(rdl_rwlock_write_acquire(writer, 60000, &policy), RDL_BUSY);
	expect(links[0], "EXISTS {rw}:intent", "1");
	cr_assert_eq(rdl_rwlock_extend(reader, 60000), RDL_OK);
	cr_assert_eq(rdl_inspect_all(links[0], "rw", holders, 2, &n), RDL_OK, "%s",
		     rdl_link_error(links[0]));
	cr_assert_eq(n, 1);
	cr_assert_eq(rdl_rwlock_release(reader), RDL_OK);
	cr_assert_eq(rdl_rwlock_write_try(writer, 60000), RDL_OK, "%s", rdl_link_error(links[1]));
	cr_assert_eq(rdl_rwlock_extend(writer, 60000), RDL_OK);
	cr_assert_eq(rdl_rwlock_read_try(reader, 60000), RDL_BUSY);
	cr_assert_eq(rdl_rwlock_release(writer), RDL_OK);
	rdl_rwlock_free(writer);
	rdl_rwlock_free(reader);
	rdl_link_free(links[0]);
	rdl_link_free(links[1]);
}

/* Its five keys, and the key of an effect with the same tag. */
static void check_delay_queue(const struct ground *ground)
{
	struct rdl_link *link = link_to(ground);
	struct rdl_delay_queue *queue = rdl_delay_queue_new(link, "jobs");
	long long due, processing;
	char id[16];

	rdl_delay_queue_set_limit(queue, 2);
	cr_assert_eq(rdl_delay_queue_put(queue, "a", 0), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_delay_queue_take(queue, 60000, id, sizeof(id)), RDL_OK);
	cr_assert_eq(rdl_delay_queue_prolong(queue, "a", 60000), RDL_OK);
	cr_assert_eq(rdl_delay_queue_give_back(queue, "a", 0), RDL_OK);
	cr_assert_eq(rdl_delay_queue_take(queue, 60000, id, sizeof(id)), RDL_OK);
	cr_assert_eq(rdl_delay_queue_give_back(queue, "a", 0), RDL_OK);
	cr_assert_eq(rdl_delay_queue_take(queue, 60000, id, sizeof(id)), RDL_BUSY, "too often");
	cr_assert_eq(rdl_delay_queue_dead(queue, 0, id, sizeof(id)), RDL_OK);
	cr_assert_eq(rdl_delay_queue_revive(queue, "a", 0), RDL_OK);
	cr_assert_eq(rdl_delay_queue_take(queue, 60000, id, sizeof(id)), RDL_OK);
	cr_assert_eq(rdl_delay_queue_done(queue, "a", "INCR {jobs}:effects"), RDL_OK, "%s",
		     rdl_link_error(link));
	expect(link, "GET {jobs}:effects", "1");
	expect(link, "DEL {jobs}:effects", "1");
	cr_assert_eq(rdl_delay_queue_length(queue, &due, &processing), RDL_OK);
	cr_assert_eq(due + processing, 0);
	rdl_delay_queue_free(queue);
	rdl_link_free(link);
}

static void check_transaction(const struct ground *ground)
{
	struct rdl_link *link = link_to(ground);
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(link, "MULTI"), RDL_OK);
	cr_assert_eq(rdl_queue(link, "INCR %s", key), RDL_OK);
	cr_assert_eq(rdl_exec(link, 2, &reply), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(reply.elements[0].integer, 1);
	rdl_link_free(link);
}

static enum rdl_outcome add_one(void *context, const struct rdl_reply *old, char *value,
				size_t size)
{
	long long n;

	(void)context;
	if (!rdl_reply_number(old, &n))
		return RDL_ERROR;
	snprintf(value, size, "%lld", n + 1);
	return RDL_OK;
}

static void check_update_and_locks(const struct ground *ground)
{
	struct rdl_link *link = link_to(ground);
	struct rdl_lock *lock = rdl_lock_new(link, "{t}lock");

	cr_assert_eq(rdl_update_try(link, key, add_one, NULL), RDL_OK);
	cr_assert_eq(rdl_lock_try(lock, 60000), RDL_OK);
	expect(link, "GET {t}x", "2");
	cr_assert_eq(rdl_lock_release(lock), RDL_OK, "%s", rdl_link_error(link));
	expect(link, "EXISTS {t}lock", "0");
	rdl_lock_free(lock);
	rdl_link_free(link);
}

/* PUBLISH hands it over to those who listen at the same node. */
static void check_hand_over(const struct ground *ground)
{
	struct rdl_link *links[] = { link_to(ground), link_to(ground) };
	struct rdl_fair *first = rdl_fair_new(links[0], "{t}fair", NULL);
	struct rdl_fair *second = rdl_fair_new(links[1], "{t}fair", NULL);

	cr_assert_eq(rdl_fair_try(first, 60000), RDL_OK);
	cr_assert_eq(rdl_fair_try(second, 60000), RDL_BUSY);
	cr_assert_eq(rdl_fair_release(first), RDL_OK);
	cr_assert_eq(rdl_fair_wait(second, ROUTE_MS), RDL_OK);
	cr_assert_eq(rdl_fair_release(second), RDL_OK);
	rdl_fair_free(first);
	rdl_fair_free(second);
	rdl_link_free(links[0]);
	rdl_link_free(links[1]);
}

/* With all its keys in one slot; nothing is left. */
static void check_bench(const struct ground *ground)
{
	char command[500], output[4096];

	snprintf(
		command, sizeof(command),
		"out=$(mktemp -d) && $REDRACE bench incr multi-watch set-nx-ex lua-renewed --increments 200 --warmup 10 --redis '%s' -o $out/r; code=$?; rm -rf $out; exit $code",
		ground->uri);
	cr_assert_eq(support_shell(command, output, sizeof(output)), 0, "%s", output);
	cr_assert_not_null(strstr(output, "incr                       200"), "%s", output);
}

/* ---- A cluster that changes ---------------------------------------------- */

/* A slot on its way: what is not there any more is where it goes. */
static void check_migration(struct ground *ground)
{
	const int to = stranger(ground);
	struct rdl_link *old = stage_link(&ground->stage, ground->formation.primary);
	struct rdl_link *new = stage_link(&ground->stage, to);
	struct rdl_link *link = link_to(ground);
	char old_id[64], new_id[64], slot[24], line[160];

	snprintf(old_id, sizeof(old_id), "%s", stage_say(old, "CLUSTER MYID"));
	snprintf(new_id, sizeof(new_id), "%s", stage_say(new, "CLUSTER MYID"));
	snprintf(slot, sizeof(slot), "%s", stage_say(old, "CLUSTER KEYSLOT {t}x"));
	expect(link, "DEL {t}x", "1");
	snprintf(line, sizeof(line), "CLUSTER SETSLOT %s IMPORTING %s", slot, old_id);
	expect(new, line, "OK");
	snprintf(line, sizeof(line), "CLUSTER SETSLOT %s MIGRATING %s", slot, new_id);
	expect(old, line, "OK");
	expect(link, "SET {t}new 1", "OK");
	expect(link, "INCR {t}new", "2");
	snprintf(line, sizeof(line), "CLUSTER COUNTKEYSINSLOT %s", slot);
	expect(old, line, "0");
	expect(new, line, "1");
	snprintf(line, sizeof(line), "CLUSTER SETSLOT %s NODE %s", slot, new_id);
	expect(new, line, "OK");
	expect(old, line, "OK");
	expect(link, "INCR {t}new", "3");
	cr_assert_eq(rdl_update_try(link, "{t}new", add_one, NULL), RDL_OK);
	expect(link, "GET {t}new", "4");
	rdl_link_free(link);
	rdl_link_free(new);
	rdl_link_free(old);
}

/* The slot moves while locks in it are held: MIGRATE first, then the node that answers MOVED.
 * The new node knows no script. */
static void check_migration_of_locks(struct ground *ground)
{
	const int to = stranger(ground), from = ground->formation.primary;
	struct rdl_link *nodes[] = { stage_link(&ground->stage, to),
				     stage_link(&ground->stage, from) };
	struct rdl_link *link = link_to(ground), *waiting = link_to(ground);
	struct rdl_lock *lock = rdl_lock_new(link, "{t}lock");
	struct rdl_renewed *renewed = rdl_renewed_new(link, "{t}renewed", 60000);
	struct rdl_fair *fair = rdl_fair_new(link, "{t}fair", NULL);
	struct rdl_fair *next = rdl_fair_new(waiting, "{t}fair", NULL);
	struct rdl_reply reply;
	char ids[2][64], slot[24], line[300];
	long long number, later;

	for (int i = 0; i < 2; i++)
		snprintf(ids[i], sizeof(ids[i]), "%s", stage_say(nodes[i], "CLUSTER MYID"));
	snprintf(slot, sizeof(slot), "%s", stage_say(nodes[0], "CLUSTER KEYSLOT {t}x"));
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_renewed_try(renewed, 2000), RDL_OK);
	cr_assert_eq(rdl_fair_try(fair, 60000), RDL_OK);
	/* It is at the second node since the slot has moved once already. */
	snprintf(line, sizeof(line), "CLUSTER SETSLOT %s IMPORTING %s", slot, ids[0]);
	expect(nodes[1], line, "OK");
	snprintf(line, sizeof(line), "CLUSTER SETSLOT %s MIGRATING %s", slot, ids[1]);
	expect(nodes[0], line, "OK");
	cr_assert_eq(rdl_run(nodes[0], &reply, "CLUSTER GETKEYSINSLOT %s 100", slot), RDL_OK);
	{
		const char *words[110] = { "MIGRATE", "127.0.0.1",
					   NULL,      "",
					   "0",       "10000",
					   "AUTH",    ground->stage.cluster.password,
					   "KEYS" };
		struct rdl_link *asking = stage_link(&ground->stage, to);
		const size_t n = reply.length;
		char port[16];

		snprintf(port, sizeof(port), "%d", server_of(ground, from)->port);
		words[2] = port;
		for (size_t i = 0; i < n; i++)
			words[9 + i] = reply.elements[i].text;
		cr_assert_eq(rdl_run_argv(asking, &reply, 9 + n, words, NULL), RDL_OK, "%s",
			     rdl_link_error(asking));
		rdl_link_free(asking);
	}
	cr_assert_eq(rdl_lock_extend(lock, 60000), RDL_OK, "ASK: %s", rdl_link_error(link));
	for (int i = 1; i >= 0; i--) {
		snprintf(line, sizeof(line), "CLUSTER SETSLOT %s NODE %s", slot, ids[1]);
		expect(nodes[i], line, "OK");
	}
	cr_assert_eq(rdl_lock_extend(lock, 60000), RDL_OK, "MOVED: %s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_extend(fair, 60000), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_try(next, 60000), RDL_BUSY, "%s", rdl_link_error(waiting));
	cr_assert_eq(rdl_fair_release(fair), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_fair_wait(next, ROUTE_MS), RDL_OK, "not handed over at the new node");
	cr_assert_eq(rdl_fair_release(next), RDL_OK);
	rdl_sleep_ns(link, INT64_C(3000000000));
	cr_assert_eq(rdl_renewed_check(renewed), RDL_OK, "the renewer did not follow");
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &later), RDL_OK);
	cr_assert_eq(later, number + 1);
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	rdl_fair_free(next);
	rdl_fair_free(fair);
	rdl_renewed_free(renewed);
	rdl_lock_free(lock);
	rdl_link_free(waiting);
	rdl_link_free(link);
	rdl_link_free(nodes[0]);
	rdl_link_free(nodes[1]);
}

/* After a fail-over a lock is held or lost, and whatever it was, the next one is a lock. */
static void check_locks_after(struct rdl_link *link, struct rdl_lock *lock)
{
	struct rdl_fair *fair = rdl_fair_new(link, "{t}after", NULL);
	struct rdl_renewed *renewed = rdl_renewed_new(link, "{t}renewed after", 60000);
	const enum rdl_outcome outcome = rdl_lock_extend(lock, 60000);
	long long number;

	cr_assert(outcome == RDL_OK || outcome == RDL_LOST, "%s: %s", rdl_outcome_name(outcome),
		  rdl_link_error(link));
	cr_assert_eq(rdl_lock_release(lock), outcome);
	cr_assert_eq(rdl_lock_try_fenced(lock, 60000, &number), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(rdl_lock_release(lock), RDL_OK);
	cr_assert_eq(rdl_fair_acquire_fenced(fair, 60000, NULL, &number), RDL_OK, "%s",
		     rdl_link_error(link));
	cr_assert_eq(rdl_fair_release(fair), RDL_OK);
	cr_assert_eq(rdl_renewed_try(renewed, 1000), RDL_OK);
	rdl_sleep_ns(link, 1200000000);
	cr_assert_eq(rdl_renewed_release(renewed), RDL_OK);
	rdl_renewed_free(renewed);
	rdl_fair_free(fair);
}

/* The primary is killed: what is sent then is unknown or refused, and then its replica
 * is found, by a link that has been told of another node only. */
static void check_fail_over(struct ground *ground, struct rdl_link *link)
{
	struct stage *stage = &ground->stage;
	enum rdl_outcome outcome = RDL_OK;
	struct rdl_reply reply;
	long done = 0, unknown = 0;
	struct rdl_lock *lock = rdl_lock_new(link, "{t}held");
	long long n;

	expect(link, "SET {t}x 0", "OK");
	cr_assert_eq(rdl_lock_try(lock, 600000), RDL_OK);
	stage_good(stage, rr_formation_fail_over(&ground->formation, 0, &stage->error));
	while (ground->formation.phase != RR_FORMATION_WHOLE || outcome != RDL_OK) {
		stage_good(stage, rr_formation_turn(&ground->formation, &stage->error));
		rdl_link_set_timeout(link, 100);
		outcome = rdl_run(link, &reply, "INCR %s", key);
		done += outcome == RDL_OK;
		unknown += outcome == RDL_UNKNOWN;
	}
	cr_assert_eq(ground->formation.tally.fail_overs, 1);
	rdl_link_set_timeout(link, ROUTE_MS);
	cr_assert_eq(rdl_run(link, &reply, "GET %s", key), RDL_OK);
	cr_assert(rdl_reply_number(&reply, &n));
	cr_assert_leq(n, done + unknown);
	check_locks_after(link, lock);
	expect(link, "DEL {t}held:fence {t}after:fence", "2");
	rdl_lock_free(lock);
}

Test(route, a_cluster, .timeout = 600)
{
	struct ground ground;
	struct rdl_link *link;

	open_ground(&ground, RR_TOPOLOGY_CLUSTER);
	snprintf(ground.uri, sizeof(ground.uri), "redis+cluster://:%s@127.0.0.1:%d",
		 ground.stage.cluster.password, server_of(&ground, stranger(&ground))->port);
	check_commands(&ground);
	check_locks(&ground);
	check_semaphore(&ground);
	check_rwlock(&ground);
	check_delay_queue(&ground);
	check_transaction(&ground);
	check_update_and_locks(&ground);
	check_hand_over(&ground);
	check_bench(&ground);
	link = link_to(&ground);
	check_fail_over(&ground, link);
	rdl_link_free(link);
	check_migration(&ground);
	check_migration_of_locks(&ground);
	stage_close(&ground.stage);
}

/* ---- Sentinels ----------------------------------------------------------- */

Test(route, sentinels, .timeout = 600)
{
	struct ground ground;
	struct rdl_link *link;
	int first;

	open_ground(&ground, RR_TOPOLOGY_SENTINEL);
	first = ground.formation.first + 3;
	snprintf(ground.uri, sizeof(ground.uri),
		 "redis+sentinel://:%s@127.0.0.1:1,127.0.0.1:%d,127.0.0.1:%d/redrace/3",
		 ground.stage.cluster.password, server_of(&ground, first)->port,
		 server_of(&ground, first + 1)->port);
	link = link_to(&ground);
	expect(link, "SET {t}x 1", "OK");
	expect(link, "SELECT 0", "OK");
	expect(link, "EXISTS {t}x", "0"); /* it is in database 3 */
	check_fail_over(&ground, link);
	cr_assert_not_null(strstr(stage_say(link, "CLIENT INFO"), " db=3 "));
	rdl_link_free(link);
	stage_close(&ground.stage);
}

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

static struct rl_link *link_to(const struct ground *ground)
{
	struct rl_address address;
	char error[200];
	struct rl_link *link;

	cr_assert(rl_address_parse(&address, ground->uri, error, sizeof(error)), "%s", error);
	link = rl_link_new(&address, ROUTE_MS);
	cr_assert_not_null(link);
	return link;
}

static void expect(struct rl_link *link, const char *line, const char *reply)
{
	const char *said = stage_say(link, line);

	cr_assert_str_eq(said, reply, "%s: '%s', not '%s' (%s)", line, said, reply,
			 rl_link_error(link));
}

/* ---- A cluster at rest --------------------------------------------------- */

static void check_commands(const struct ground *ground)
{
	struct rl_link *link = link_to(ground);

	expect(link, "SET {t}x a", "OK");
	expect(link, "GET {t}x", "a");
	expect(link, "MSET {t}x b {t}y b", "OK");
	cr_assert(strncmp(stage_say(link, "MSET a 1 b 2"), "-CROSSSLOT", 10) == 0);
	expect(link, "DEL {t}x {t}y", "2");
	rl_link_free(link);
}

static void check_transaction(const struct ground *ground)
{
	struct rl_link *link = link_to(ground);
	struct rl_reply reply;

	cr_assert_eq(rl_queue(link, "MULTI"), RL_OK);
	cr_assert_eq(rl_queue(link, "INCR %s", key), RL_OK);
	cr_assert_eq(rl_exec(link, 2, &reply), RL_OK, "%s", rl_link_error(link));
	cr_assert_eq(reply.elements[0].integer, 1);
	rl_link_free(link);
}

static enum rl_outcome add_one(void *context, const struct rl_reply *old, char *value, size_t size)
{
	long long n;

	(void)context;
	if (!rl_reply_number(old, &n))
		return RL_ERROR;
	snprintf(value, size, "%lld", n + 1);
	return RL_OK;
}

static void check_update_and_locks(const struct ground *ground)
{
	struct rl_link *link = link_to(ground);
	struct rl_lock *lock = rl_lock_new(link, "{t}lock");

	cr_assert_eq(rl_update_try(link, key, add_one, NULL), RL_OK);
	cr_assert_eq(rl_lock_try(lock, 60000), RL_OK);
	expect(link, "GET {t}x", "2");
	cr_assert_eq(rl_lock_release(lock), RL_OK, "%s", rl_link_error(link));
	expect(link, "EXISTS {t}lock", "0");
	rl_lock_free(lock);
	rl_link_free(link);
}

/* PUBLISH hands it over to those who listen at the same node. */
static void check_hand_over(const struct ground *ground)
{
	struct rl_link *links[] = { link_to(ground), link_to(ground) };
	struct rl_fair *first = rl_fair_new(links[0], "{t}fair", NULL);
	struct rl_fair *second = rl_fair_new(links[1], "{t}fair", NULL);

	cr_assert_eq(rl_fair_try(first, 60000), RL_OK);
	cr_assert_eq(rl_fair_try(second, 60000), RL_BUSY);
	cr_assert_eq(rl_fair_release(first), RL_OK);
	cr_assert_eq(rl_fair_wait(second, ROUTE_MS), RL_OK);
	cr_assert_eq(rl_fair_release(second), RL_OK);
	rl_fair_free(first);
	rl_fair_free(second);
	rl_link_free(links[0]);
	rl_link_free(links[1]);
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
	struct rl_link *old = stage_link(&ground->stage, ground->formation.primary);
	struct rl_link *new = stage_link(&ground->stage, to);
	struct rl_link *link = link_to(ground);
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
	cr_assert_eq(rl_update_try(link, "{t}new", add_one, NULL), RL_OK);
	expect(link, "GET {t}new", "4");
	rl_link_free(link);
	rl_link_free(new);
	rl_link_free(old);
}

/* The primary is killed: what was on its way is unknown, and then its replica
 * is found, by a link that has been told of another node only. */
static void check_fail_over(struct ground *ground, struct rl_link *link)
{
	struct stage *stage = &ground->stage;
	enum rl_outcome outcome = RL_OK;
	struct rl_reply reply;
	long done = 0, unknown = 0;
	long long n;

	expect(link, "SET {t}x 0", "OK");
	stage_good(stage, rr_formation_fail_over(&ground->formation, 0, &stage->error));
	while (ground->formation.phase != RR_FORMATION_WHOLE || outcome != RL_OK) {
		stage_good(stage, rr_formation_turn(&ground->formation, &stage->error));
		rl_link_set_timeout(link, 100);
		outcome = rl_run(link, &reply, "INCR %s", key);
		done += outcome == RL_OK;
		unknown += outcome == RL_UNKNOWN;
	}
	cr_assert_eq(ground->formation.tally.fail_overs, 1);
	cr_assert_geq(unknown, 1);
	rl_link_set_timeout(link, ROUTE_MS);
	cr_assert_eq(rl_run(link, &reply, "GET %s", key), RL_OK);
	cr_assert(rl_reply_number(&reply, &n));
	cr_assert_leq(n, done + unknown);
}

Test(route, a_cluster, .timeout = 600)
{
	struct ground ground;
	struct rl_link *link;

	open_ground(&ground, RR_TOPOLOGY_CLUSTER);
	snprintf(ground.uri, sizeof(ground.uri), "redis+cluster://:%s@127.0.0.1:%d",
		 ground.stage.cluster.password, server_of(&ground, stranger(&ground))->port);
	check_commands(&ground);
	check_transaction(&ground);
	check_update_and_locks(&ground);
	check_hand_over(&ground);
	check_bench(&ground);
	link = link_to(&ground);
	check_fail_over(&ground, link);
	rl_link_free(link);
	check_migration(&ground);
	stage_close(&ground.stage);
}

/* ---- Sentinels ----------------------------------------------------------- */

Test(route, sentinels, .timeout = 600)
{
	struct ground ground;
	struct rl_link *link;
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
	rl_link_free(link);
	stage_close(&ground.stage);
}

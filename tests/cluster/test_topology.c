/* SPDX-License-Identifier: MIT */
/* Formations: each is whole when it is open, fails over more than once, keeps what
 * its replicas have and loses what they have not. */
#include <stdio.h>

#include "stage.h"

static void open_formation(struct stage *stage, struct rr_formation *formation,
			   enum rr_topology kind)
{
	stage_open(stage, RR_CLUSTER_REAL);
	stage_good(stage,
		   rr_formation_open(formation, &stage->cluster, kind, "key", &stage->error));
	cr_assert_eq(formation->phase, RR_FORMATION_WHOLE);
}

static void fail_over(struct stage *stage, struct rr_formation *formation, int64_t cut_ns)
{
	stage_good(stage, rr_formation_fail_over(formation, cut_ns, &stage->error));
	stage_good(stage, rr_formation_await_whole(formation, &stage->error));
}

/* By a client that knows no more than where clients find the primary. */
static void expect_at_primary(const struct rr_formation *formation, const char *line,
			      const char *reply)
{
	struct rdl_link *link = rdl_link_new(&formation->address, RR_TIMEOUT_MS);

	cr_assert_str_eq(stage_say(link, line), reply, "%s", line);
	rdl_link_free(link);
}

/* All replicas have what was written; if not, a fail-over may lose it. */
static void write_everywhere(const struct rr_formation *formation, const char *line)
{
	const char *n = rr_formation_replicas(formation) == 2 ? "2" : "1";
	struct rdl_link *link = rdl_link_new(&formation->address, RR_TIMEOUT_MS);
	char wait[32];

	snprintf(wait, sizeof(wait), "WAIT %s 10000", n);
	cr_assert_str_eq(stage_say(link, line), "OK");
	cr_assert_str_eq(stage_say(link, wait), n);
	rdl_link_free(link);
}

/* WAIT has no key: it is asked where the write went. */
static void expect_nowhere_else(const struct rr_formation *formation, const char *line)
{
	struct rdl_link *link = rdl_link_new(&formation->address, RR_TIMEOUT_MS);

	cr_assert_str_eq(stage_say(link, line), "OK");
	cr_assert_str_eq(stage_say(link, "WAIT 1 20"), "0");
	rdl_link_free(link);
}

static void check_topology(enum rr_topology kind)
{
	struct rr_formation formation;
	struct stage stage;
	int first, second;

	open_formation(&stage, &formation, kind);
	first = formation.primary;
	write_everywhere(&formation, "SET key before");
	fail_over(&stage, &formation, 0);
	second = formation.primary;
	cr_assert_neq(second, first);
	cr_assert_eq(formation.tally.kills, 1);
	cr_assert_geq(formation.tally.fail_overs, 1);
	cr_assert_gt(formation.tally.headless_ns, 0);
	expect_at_primary(&formation, "GET key", "before");
	write_everywhere(&formation, "SET key after");
	fail_over(&stage, &formation, 0);
	cr_assert_neq(formation.primary, second);
	cr_assert_eq(formation.tally.kills, 2);
	expect_at_primary(&formation, "GET key", "after");
	stage_close(&stage);
}

Test(cluster_topology, replicas_are_promoted_by_us, .timeout = 600)
{
	check_topology(RR_TOPOLOGY_REPLICA);
}

Test(cluster_topology, sentinel_promotes, .timeout = 600)
{
	check_topology(RR_TOPOLOGY_SENTINEL);
}

Test(cluster_topology, a_cluster_promotes, .timeout = 600)
{
	check_topology(RR_TOPOLOGY_CLUSTER);
}

/* What is acknowledged after the cut is nowhere else. */
static void check_cut(enum rr_topology kind)
{
	struct rr_formation formation;
	struct stage stage;

	open_formation(&stage, &formation, kind);
	write_everywhere(&formation, "SET key before");
	stage_good(&stage, rr_formation_fail_over(&formation, 300000000, &stage.error));
	cr_assert_eq(formation.phase, RR_FORMATION_CUT);
	expect_nowhere_else(&formation, "SET key late");
	stage_good(&stage, rr_formation_await_whole(&formation, &stage.error));
	expect_at_primary(&formation, "GET key", "before");
	stage_close(&stage);
}

Test(cluster_topology, what_a_cut_off_primary_acknowledges_is_lost, .timeout = 600)
{
	check_cut(RR_TOPOLOGY_REPLICA);
}

Test(cluster_topology, so_it_is_in_a_cluster, .timeout = 600)
{
	check_cut(RR_TOPOLOGY_CLUSTER);
}

Test(cluster_topology, those_who_stand_alone_come_back_empty, .timeout = 600)
{
	struct rr_formation formation;
	struct stage stage;

	stage_open(&stage, RR_CLUSTER_REAL);
	stage_good(&stage, rr_cluster_need(&stage.cluster, 3, &stage.error));
	rr_formation_of_lone(&formation, &stage.cluster, 1, 2);
	cr_assert_str_eq(stage_ask(&stage, 1, "SET key 1"), "OK");
	cr_assert_str_eq(stage_ask(&stage, 2, "SET key 2"), "OK");
	fail_over(&stage, &formation, 0);
	cr_assert_str_eq(stage_ask(&stage, 1, "GET key"), "(nil)");
	cr_assert_str_eq(stage_ask(&stage, 2, "GET key"), "2");
	fail_over(&stage, &formation, 0);
	cr_assert_str_eq(stage_ask(&stage, 2, "GET key"), "(nil)");
	stage_close(&stage);
}

Test(cluster_topology, a_fail_over_comes_after_another)
{
	struct rr_formation formation;
	struct stage stage;

	open_formation(&stage, &formation, RR_TOPOLOGY_REPLICA);
	stage_good(&stage, rr_formation_fail_over(&formation, 0, &stage.error));
	stage_bad(&stage, rr_formation_fail_over(&formation, 0, &stage.error), RR_ERROR_USAGE);
	stage_good(&stage, rr_formation_await_whole(&formation, &stage.error));
	stage_close(&stage);
}

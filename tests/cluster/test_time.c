/* SPDX-License-Identifier: MIT */
/* The servers' clocks: frozen, running, apart, and without the shim. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stage.h"

Test(cluster_time, begins_where_the_header_says)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	cr_assert_str_eq(stage_ask(&stage, a, "TIME"), "[1900000000,0]");
	cr_assert_eq(rr_cluster_now_ns(&stage.cluster), RR_CLUSTER_START_NS);
	stage_tick_ms(&stage, 1500);
	cr_assert_str_eq(stage_ask(&stage, a, "TIME"), "[1900000001,500000]");
	cr_assert_eq(rr_cluster_now_ns(&stage.cluster), RR_CLUSTER_START_NS + 1500000000);
	stage_close(&stage);
}

Test(cluster_time, leases_end_to_the_millisecond)
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	link = stage_link(&stage, stage_server(&stage, "a", (struct rr_server_options){ 0 }));
	stage_say(link, "SET lock a NX PX 10000");
	usleep(30000);
	cr_assert_str_eq(stage_say(link, "PTTL lock"), "10000");
	stage_tick_ms(&stage, 10000);
	cr_assert_str_eq(stage_say(link, "GET lock"), "a");
	cr_assert_str_eq(stage_say(link, "PTTL lock"), "0");
	stage_tick_ms(&stage, 1);
	cr_assert_str_eq(stage_say(link, "GET lock"), "(nil)");
	cr_assert_str_eq(stage_say(link, "SET lock b NX"), "OK");
	cr_assert_str_eq(stage_say(link, "EXPIRE lock 7"), "1");
	stage_tick_ms(&stage, 7000);
	cr_assert_str_eq(stage_say(link, "EXISTS lock"), "1");
	stage_tick_ms(&stage, 1);
	cr_assert_str_eq(stage_say(link, "EXISTS lock"), "0");
	rdl_link_free(link);
	stage_close(&stage);
}

/* Real time, in which the server looks for keys to remove, changes nothing; also
 * after a restart. */
Test(cluster_time, keys_that_have_expired_stay_until_they_are_asked_for)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	for (int i = 0; i < 2; i++) {
		stage_ask(&stage, a, "SET lock a PX 1000");
		stage_tick_ms(&stage, 2000);
		usleep(100000);
		cr_assert_str_eq(stage_ask(&stage, a, "DBSIZE"), "1");
		cr_assert_str_eq(stage_ask(&stage, a, "EXISTS lock"), "0");
		cr_assert_str_eq(stage_ask(&stage, a, "DBSIZE"), "0");
		stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	}
	stage_close(&stage);
}

Test(cluster_time, a_watched_lease_that_ends_aborts_exec)
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	link = stage_link(&stage, stage_server(&stage, "a", (struct rr_server_options){ 0 }));
	stage_say(link, "SET lock a PX 1000");
	cr_assert_str_eq(stage_say(link, "WATCH lock"), "OK");
	stage_tick_ms(&stage, 1001);
	stage_say(link, "MULTI");
	stage_say(link, "SET done 1");
	cr_assert_str_eq(stage_say(link, "EXEC"), "(nil)");
	rdl_link_free(link);
	stage_close(&stage);
}

/* A blocking command has its answer after more than `ms` and not before. */
static void blocks_for(struct stage *stage, struct rdl_link *link, int64_t ms,
		       enum rdl_reply_type type)
{
	struct rdl_reply reply;

	cr_assert_eq(rdl_flush(link), RDL_OK);
	stage_tick_ms(stage, ms);
	usleep(30000);
	cr_assert_not_null(strstr(stage_ask(stage, 0, "INFO clients"), "blocked_clients:1"));
	stage_tick_ms(stage, 1);
	/* There already: not waited for. */
	cr_assert_eq(rdl_receive_until(link, &reply, 1), RDL_OK, "%s", rdl_link_error(link));
	cr_assert_eq(reply.type, type);
}

/* The program's own connection to the server is one of those. */
Test(cluster_time, moves_although_clients_disconnect_everybody)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "CLIENT KILL TYPE normal SKIPME yes");
	stage_tick_ms(&stage, 1000);
	cr_assert_str_eq(stage_ask(&stage, a, "TIME"), "[1900000001,0]");
	rr_cluster_reset(&stage.cluster);
	cr_assert_eq(stage.cluster.n_spare, 1);
	stage_close(&stage);
}

Test(cluster_time, blocking_commands_wait_by_it)
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	link = stage_link(&stage, stage_server(&stage, "a", (struct rr_server_options){ 0 }));
	cr_assert_eq(rdl_queue(link, "BLPOP q 5"), RDL_OK);
	blocks_for(&stage, link, 5000, RDL_REPLY_NIL);
	cr_assert_eq(rdl_queue(link, "WAIT 1 200"), RDL_OK);
	blocks_for(&stage, link, 200, RDL_REPLY_INTEGER);
	rdl_link_free(link);
	stage_close(&stage);
}

/* A clock jump ends a lease early; put right, the next one lives too long. */
Test(cluster_time, servers_may_disagree)
{
	struct stage stage;
	int a, b;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	b = stage_server(&stage, "b", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SET lock a NX PX 30000");
	stage_ask(&stage, b, "SET lock a NX PX 30000");
	stage_good(&stage, rr_cluster_skew(&stage.cluster, a, 60000000000, &stage.error));
	cr_assert_str_eq(stage_ask(&stage, a, "SET lock b NX PX 30000"), "OK");
	cr_assert_str_eq(stage_ask(&stage, b, "SET lock b NX PX 30000"), "(nil)");
	cr_assert_str_eq(stage_ask(&stage, b, "TIME"), "[1900000000,0]");
	cr_assert_str_eq(stage_ask(&stage, a, "TIME"), "[1900000060,0]");
	stage_good(&stage, rr_cluster_skew(&stage.cluster, a, 0, &stage.error));
	cr_assert_str_eq(stage_ask(&stage, a, "PTTL lock"), "90000");
	stage_close(&stage);
}

/* What a lease of 1500 ms does while 50 and then 1500 ms pass. */
static void live_through(enum rr_cluster_clock clock, enum rr_tick how, char story[4][16])
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, clock);
	link = stage_link(&stage, stage_server(&stage, "a", (struct rr_server_options){ 0 }));
	strcpy(story[0], stage_say(link, "SET lock a NX PX 1500"));
	cr_assert_eq(rr_cluster_tick(&stage.cluster, 50000000), how);
	strcpy(story[1], stage_say(link, "SET lock b NX PX 1500"));
	cr_assert_eq(rr_cluster_tick(&stage.cluster, 1500000000), how);
	strcpy(story[2], stage_say(link, "GET lock"));
	strcpy(story[3], stage_say(link, "SET lock b NX PX 1500"));
	rdl_link_free(link);
	stage_close(&stage);
}

Test(cluster_time, does_what_a_real_wait_does)
{
	char frozen[4][16], real[4][16];

	live_through(RR_CLUSTER_FROZEN, RR_TICK_MOVED, frozen);
	live_through(RR_CLUSTER_REAL, RR_TICK_WAITED, real);
	for (int i = 0; i < 4; i++)
		cr_assert_str_eq(frozen[i], real[i], "%d", i);
	cr_assert_str_eq(frozen[2], "(nil)");
}

Test(cluster_time, without_the_shim_leases_are_shortened)
{
	struct stage stage;
	int a, left;

	stage_open(&stage, RR_CLUSTER_REAL);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SET soon a PX 5000");
	stage_ask(&stage, a, "SET later a PX 100000");
	stage_ask(&stage, a, "SET never a");
	cr_assert_eq(rr_cluster_tick(&stage.cluster, 10000000000), RR_TICK_EXPIRED);
	cr_assert_str_eq(stage_ask(&stage, a, "GET soon"), "(nil)");
	left = atoi(stage_ask(&stage, a, "PTTL later"));
	cr_assert(left > 1000 && left <= 90000, "%d", left);
	cr_assert_str_eq(stage_ask(&stage, a, "PTTL never"), "-1");
	stage_bad(&stage, rr_cluster_skew(&stage.cluster, a, 1, &stage.error), RR_ERROR_SKIPPED);
	stage_close(&stage);
}

Test(cluster_time, a_running_clock_goes_on_and_leaps)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_RUNNING);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SET short a PX 20");
	stage_ask(&stage, a, "SET long a PX 3600000");
	usleep(40000);
	cr_assert_str_eq(stage_ask(&stage, a, "GET short"), "(nil)");
	cr_assert_str_eq(stage_ask(&stage, a, "GET long"), "a");
	stage_tick_ms(&stage, 3600000);
	cr_assert_str_eq(stage_ask(&stage, a, "GET long"), "(nil)");
	cr_assert_gt(rr_cluster_now_ns(&stage.cluster), RR_CLUSTER_START_NS + 3600000000000);
	stage_close(&stage);
}

/* A library that takes hold of nothing is as good as none. */
Test(cluster_time, a_shim_that_does_nothing_is_found_out)
{
	struct rr_cluster_options options = { .program = "redis-server",
					      .shim = "/bin/sh",
					      .cpu = -1 };
	struct stage stage;

	stage.error = (struct rr_error){ 0 };
	stage_good(&stage, rr_session_open(&stage.session, &stage.error));
	stage_good(&stage, rr_cluster_open(&stage.cluster, &stage.session, &options, &stage.error));
	cr_assert_not(rr_cluster_has_time(&stage.cluster));
	stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_bad(&stage, stage_inject(&stage, 0, RR_FAULT_DIE_IN_SYNC), RR_ERROR_SKIPPED);
	stage_close(&stage);
}

/* ---- Random bytes ---------------------------------------------------------------------------- */

/* Two names of servers, and the order in which a set has its members, of a new cluster. */
static void draw(char names[3][64], char members[400])
{
	struct stage stage;
	int a, b;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	b = stage_server(&stage, "b", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SADD set a b c d e f g h i j k l m n o p");
	snprintf(members, 400, "%s", stage_ask(&stage, a, "SMEMBERS set"));
	for (int i = 0; i < 3; i++) {
		const char *info = stage_ask(&stage, i == 1 ? b : a, "INFO server");
		const char *name = strstr(info, "run_id:");

		cr_assert(name, "%s", info);
		snprintf(names[i], 64, "%.47s", name);
		if (i == 1) {
			stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
			stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
		}
	}
	stage_close(&stage);
}

/* So that a search of commands on sets sees the same states in each run. */
Test(cluster_time, frozen_servers_draw_the_same_in_each_run)
{
	char names[2][3][64], members[2][400];

	draw(names[0], members[0]);
	draw(names[1], members[1]);
	cr_assert_str_eq(members[0], members[1]);
	for (int i = 0; i < 3; i++)
		cr_assert_str_eq(names[0][i], names[1][i]);
	cr_assert_str_neq(names[0][0], names[0][1], "two servers are not one");
	cr_assert_str_neq(names[0][0], names[0][2], "nor are two lives of one");
}

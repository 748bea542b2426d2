/* SPDX-License-Identifier: MIT */
/* Failover: what the replica did not get. */
#include <string.h>
#include <unistd.h>

#include "stage.h"

struct pair {
	int master, replica;
};

static struct pair open_pair(struct stage *stage)
{
	struct pair pair;

	stage_open(stage, RR_CLUSTER_FROZEN);
	pair.master = stage_server(stage, "m", (struct rr_server_options){ .tcp = true });
	pair.replica = stage_server(stage, "r",
				    (struct rr_server_options){ .replica_of = "m", .debug = true });
	stage_good(stage, stage_inject(stage, pair.replica, RR_FAULT_CATCH_UP));
	return pair;
}

Test(cluster_replicas, an_acknowledged_lock_is_lost_by_a_failover)
{
	struct stage stage;
	const struct pair pair = open_pair(&stage);

	stage_ask(&stage, pair.master, "SET before 1");
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_CATCH_UP));
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "GET before"), "1");
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_CUT));
	cr_assert_str_eq(stage_ask(&stage, pair.master, "SET lock c1 NX PX 30000"), "OK");
	stage_good(&stage, stage_inject(&stage, pair.master, RR_FAULT_KILL));
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_PROMOTE));
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "GET before"), "1");
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "SET lock c2 NX PX 30000"), "OK");
	stage_close(&stage);
}

Test(cluster_replicas, joined_again_a_replica_catches_up)
{
	struct stage stage;
	const struct pair pair = open_pair(&stage);

	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_CUT));
	stage_ask(&stage, pair.master, "SET a 1");
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "GET a"), "(nil)");
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_JOIN));
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_CATCH_UP));
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "GET a"), "1");
	stage_close(&stage);
}

Test(cluster_replicas, a_long_tick_does_not_break_the_link)
{
	struct stage stage;
	const struct pair pair = open_pair(&stage);
	const char *stats;

	stage_tick_ms(&stage, 3600000);
	usleep(1200000); /* links are looked at every second, really */
	stats = stage_ask(&stage, pair.master, "INFO stats");
	cr_assert_not_null(strstr(stats, "sync_full:1\r"));
	cr_assert_not_null(strstr(stats, "sync_partial_ok:0\r"));
	stage_close(&stage);
}

/* The replica sleeps while the master writes more than it can read at once. */
Test(cluster_replicas, caught_up_it_has_everything)
{
	enum { INCREMENTS = 20000 };
	struct stage stage;
	const struct pair pair = open_pair(&stage);
	struct rdl_link *link = stage_link(&stage, pair.master);
	struct rdl_link *sleeper = stage_link(&stage, pair.replica);
	struct rdl_reply reply;

	cr_assert_eq(rdl_queue(sleeper, "DEBUG SLEEP 0.3"), RDL_OK);
	cr_assert_eq(rdl_flush(sleeper), RDL_OK);
	usleep(20000);
	for (int i = 0; i < INCREMENTS; i++)
		cr_assert_eq(rdl_queue(link, "INCR n"), RDL_OK);
	cr_assert_eq(rdl_flush(link), RDL_OK);
	for (int i = 0; i < INCREMENTS; i++)
		cr_assert_eq(rdl_receive(link, &reply), RDL_OK);
	stage_good(&stage, stage_inject(&stage, pair.replica, RR_FAULT_CATCH_UP));
	cr_assert_str_eq(stage_ask(&stage, pair.replica, "GET n"), "20000");
	rdl_link_free(link);
	rdl_link_free(sleeper);
	stage_close(&stage);
}

Test(cluster_replicas, strangers_are_kept_out)
{
	struct rdl_address address = { .host = "127.0.0.1" };
	struct stage stage;
	const struct pair pair = open_pair(&stage);
	struct rdl_reply reply;
	struct rdl_link *link;

	address.port = stage.cluster.servers[pair.master].port;
	link = rdl_link_new(&address, RR_TIMEOUT_MS);
	cr_assert_eq(rdl_run(link, &reply, "PING"), RDL_ERROR);
	cr_assert_eq(strncmp(reply.text, "NOAUTH", 6), 0);
	rdl_link_free(link);
	stage_close(&stage);
}

Test(cluster_replicas, a_master_needs_a_port)
{
	struct rr_server_options options = { .replica_of = "a" };
	struct stage stage;
	int server;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_bad(&stage, rr_cluster_declare(&stage.cluster, "r", &options, &server, &stage.error),
		  RR_ERROR_USAGE);
	stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_bad(&stage, rr_cluster_declare(&stage.cluster, "r", &options, &server, &stage.error),
		  RR_ERROR_USAGE);
	stage_bad(&stage, stage_inject(&stage, 0, RR_FAULT_PROMOTE), RR_ERROR_USAGE);
	stage_close(&stage);
}

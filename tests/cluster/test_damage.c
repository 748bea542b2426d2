/* SPDX-License-Identifier: MIT */
/* Files that are damaged in the middle, and snapshots that are waited for. */
#include <stdlib.h>
#include <string.h>

#include "stage.h"

/* On disk: SELECT, SET a, SET b, SET c. It is down then. */
static int fill_and_kill(struct stage *stage)
{
	const struct rr_server_options options = { .aof = RR_AOF_ALWAYS };
	const int server = stage_server(stage, "a", options);

	stage_ask(stage, server, "SET a 1");
	stage_ask(stage, server, "SET b 2");
	stage_ask(stage, server, "SET c 3");
	stage_good(stage, stage_inject(stage, server, RR_FAULT_KILL));
	return server;
}

Test(cluster_damage, a_command_is_taken_out_and_the_later_ones_stay)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = fill_and_kill(&stage);
	stage_good(&stage, stage_tear(&stage, a, RR_TEAR_WITHOUT_COMMAND, 3));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "MGET a b c"), "[1,(nil),3]");
	stage_close(&stage);
}

Test(cluster_damage, a_server_does_not_start_with_an_overwritten_command)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = fill_and_kill(&stage);
	stage_good(&stage, stage_tear(&stage, a, RR_TEAR_OVER_COMMAND, 3));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART_FAILS));
	cr_assert_eq(rr_cluster_state(&stage.cluster, a), RR_SERVER_DOWN);
	stage_good(&stage, stage_tear(&stage, a, RR_TEAR_AFTER_COMMAND, 2));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "MGET a b c"), "[1,(nil),(nil)]");
	stage_close(&stage);
}

Test(cluster_damage, a_start_that_succeeds_is_not_the_failure_expected)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = fill_and_kill(&stage);
	stage_bad(&stage, stage_inject(&stage, a, RR_FAULT_RESTART_FAILS), RR_ERROR_REDIS);
	cr_assert(strstr(stage.error.text, "a has started"), "%s", stage.error.text);
	stage_close(&stage);
}

Test(cluster_damage, there_must_be_such_a_command)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = fill_and_kill(&stage);
	stage_bad(&stage, stage_tear(&stage, a, RR_TEAR_WITHOUT_COMMAND, 5), RR_ERROR_USAGE);
	stage_bad(&stage, stage_tear(&stage, a, RR_TEAR_OVER_COMMAND, 0), RR_ERROR_USAGE);
	stage_close(&stage);
}

Test(cluster_damage, a_snapshot_that_was_waited_for_is_on_disk)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SET a 1");
	stage_ask(&stage, a, "BGSAVE");
	stage_good(&stage, stage_inject_ms(&stage, a, RR_FAULT_AWAIT_SAVE, 60000));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "GET a"), "1");
	stage_close(&stage);
}

Test(cluster_damage, a_snapshot_that_nobody_asked_for_does_not_come)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_ask(&stage, a, "SET a 1");
	stage_bad(&stage, stage_inject_ms(&stage, a, RR_FAULT_AWAIT_SAVE, 100), RR_ERROR_REDIS);
	stage_close(&stage);
}

/* SPDX-License-Identifier: MIT */
/* Power cuts, torn files, slow and deadly disks, snapshots that fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stage.h"

static const struct rr_server_options always = { .aof = RR_AOF_ALWAYS };
static const struct rr_server_options everysec = { .aof = RR_AOF_EVERYSEC };

static void kill_and_restart(struct stage *stage, int server)
{
	stage_good(stage, stage_inject(stage, server, RR_FAULT_KILL));
	stage_good(stage, stage_inject(stage, server, RR_FAULT_RESTART));
}

/* ---- The power goes --------------------------------------------------------------- */

/* The two keys after a power cut, the second written after more than a second
 * and what follows from it for everysec. */
static void lives_through_power_cut(enum rr_aof aof, const char *expected)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ .aof = aof });
	stage_ask(&stage, a, "SET early 1");
	stage_tick_ms(&stage, 2000);
	if (aof != RR_AOF_NO)
		stage_good(&stage, stage_inject_ms(&stage, a, RR_FAULT_AWAIT_SYNC, 60000));
	stage_ask(&stage, a, "SET late 1");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_POWER));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "MGET early late"), expected, "aof %d", aof);
	stage_close(&stage);
}

Test(cluster_disks, a_power_cut_leaves_what_was_synced)
{
	lives_through_power_cut(RR_AOF_NO, "[(nil),(nil)]");
	lives_through_power_cut(RR_AOF_EVERYSEC, "[1,(nil)]");
	lives_through_power_cut(RR_AOF_ALWAYS, "[1,1]");
}

/* ---- Torn files -------------------------------------------------------------------- */

/* SELECT, SET before, MULTI, SET a, SET b, EXEC: six commands in the file. */
static int with_a_transaction(struct stage *stage)
{
	const int a = stage_server(stage, "a", always);
	struct rdl_link *link = stage_link(stage, a);

	stage_say(link, "SET before 1");
	stage_say(link, "MULTI");
	stage_say(link, "SET a 1");
	stage_say(link, "SET b 2");
	cr_assert_str_eq(stage_say(link, "EXEC"), "[OK,OK]");
	rdl_link_free(link);
	return a;
}

static void torn(struct stage *stage, enum rr_tear tear, long n, const char *expected)
{
	const int a = with_a_transaction(stage);

	stage_good(stage, stage_inject(stage, a, RR_FAULT_KILL));
	stage_good(stage, stage_tear(stage, a, tear, n));
	stage_good(stage, stage_inject(stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(stage, a, "MGET before a b"), expected, "%d %ld", tear, n);
	rr_cluster_reset(&stage->cluster);
}

Test(cluster_disks, a_torn_transaction_is_dropped_whole)
{
	static const char dropped[] = "[1,(nil),(nil)]";
	struct stage stage;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	torn(&stage, RR_TEAR_LAST_BYTES, 0, "[1,1,2]");
	torn(&stage, RR_TEAR_LAST_BYTES, 1, dropped);
	for (long n = 3; n <= 6; n++)
		torn(&stage, RR_TEAR_IN_COMMAND, n, dropped);
	for (long n = 2; n <= 5; n++)
		torn(&stage, RR_TEAR_AFTER_COMMAND, n, dropped);
	torn(&stage, RR_TEAR_AFTER_COMMAND, 6, "[1,1,2]");
	torn(&stage, RR_TEAR_AFTER_COMMAND, 0, "[(nil),(nil),(nil)]");
	torn(&stage, RR_TEAR_AT_BYTE, 30, "[(nil),(nil),(nil)]");
	stage_close(&stage);
}

Test(cluster_disks, only_a_file_that_is_there_can_be_torn)
{
	struct stage stage;
	int a, b;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = with_a_transaction(&stage);
	b = stage_server(&stage, "b", (struct rr_server_options){ 0 });
	stage_bad(&stage, stage_tear(&stage, a, RR_TEAR_LAST_BYTES, 1), RR_ERROR_USAGE);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_good(&stage, stage_inject(&stage, b, RR_FAULT_KILL));
	stage_bad(&stage, stage_tear(&stage, a, RR_TEAR_AFTER_COMMAND, 7), RR_ERROR_USAGE);
	stage_bad(&stage, stage_tear(&stage, b, RR_TEAR_LAST_BYTES, 1), RR_ERROR_USAGE);
	cr_assert_str_eq(stage.error.text, "b has no append-only file");
	stage_close(&stage);
}

/* Redis 7.0 cuts a torn file after its last whole command and so leaves MULTI
 * open in it: what is written later does not survive the next restart. */
Test(cluster_disks, after_a_torn_transaction_7_0_loses_later_writes)
{
	struct stage stage;
	const char *info;
	bool is_7_0;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = with_a_transaction(&stage);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_good(&stage, stage_tear(&stage, a, RR_TEAR_IN_COMMAND, 5));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	info = stage_ask(&stage, a, "INFO server");
	is_7_0 = strstr(info, "redis_version:7.0.") != NULL;
	cr_assert_str_eq(stage_ask(&stage, a, "MGET before a b"), "[1,(nil),(nil)]");
	cr_assert_str_eq(stage_ask(&stage, a, "SET later acked"), "OK");
	kill_and_restart(&stage, a);
	if (is_7_0)
		cr_assert_str_eq(stage_ask(&stage, a, "GET later"), "(nil)");
	cr_assert_str_eq(stage_ask(&stage, a, "GET before"), "1");
	stage_close(&stage);
}

Test(cluster_disks, a_torn_file_can_be_refused)
{
	static const char *const config[] = { "aof-load-truncated no", NULL };
	struct rr_server_options options = always;
	struct stage stage;
	int a;

	options.config = config;
	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", options);
	stage_ask(&stage, a, "SET a 1");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_good(&stage, stage_tear(&stage, a, RR_TEAR_LAST_BYTES, 3));
	stage_bad(&stage, stage_inject(&stage, a, RR_FAULT_RESTART), RR_ERROR_REDIS);
	cr_assert_eq(rr_cluster_state(&stage.cluster, a), RR_SERVER_DOWN);
	stage_close(&stage);
}

/* ---- Slow and deadly ------------------------------------------------------------------ */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

Test(cluster_disks, a_slow_disk_delays_replies_under_always)
{
	struct stage stage;
	double begin;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", always);
	stage_good(&stage, stage_inject_ms(&stage, a, RR_FAULT_SLOW_DISK, 300));
	begin = seconds();
	cr_assert_str_eq(stage_ask(&stage, a, "SET a 1"), "OK");
	cr_assert_geq(seconds() - begin, 0.3);
	stage_close(&stage);
}

/* Until INFO persistence says `what`, two minutes at most. */
static void await_info(struct stage *stage, int server, const char *what)
{
	for (int i = 0; i < 12000; i++) {
		if (strstr(stage_ask(stage, server, "INFO persistence"), what))
			return;
		usleep(10000);
	}
	cr_assert_fail("no %s", what);
}

/* While a background fsync is under way everysec postpones its writes. */
Test(cluster_disks, a_slow_disk_makes_everysec_lose_to_kill)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", everysec);
	stage_good(&stage, stage_inject_ms(&stage, a, RR_FAULT_SLOW_DISK, 60000));
	stage_ask(&stage, a, "SET early 1");
	stage_tick_ms(&stage, 2000);
	await_info(&stage, a, "aof_pending_bio_fsync:1");
	cr_assert_str_eq(stage_ask(&stage, a, "SET lock c1 NX PX 30000"), "OK");
	kill_and_restart(&stage, a);
	cr_assert_str_eq(stage_ask(&stage, a, "SET lock c2 NX PX 30000"), "OK");
	cr_assert_str_eq(stage_ask(&stage, a, "GET early"), "1");
	stage_close(&stage);
}

Test(cluster_disks, death_in_a_sync_comes_after_the_write_before_the_reply)
{
	struct stage stage;
	struct rdl_link *link;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", always);
	link = stage_link(&stage, a);
	stage_say(link, "SET n 10");
	stage_say(link, "MULTI");
	stage_say(link, "INCR n");
	stage_say(link, "INCR m");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_DIE_IN_SYNC));
	cr_assert_str_eq(stage_say(link, "EXEC"), "(lost)");
	stage_good(&stage, stage_inject_ms(&stage, a, RR_FAULT_AWAIT_END, 60000));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_say(link, "MGET n m"), "[11,1]");
	cr_assert_str_eq(stage_say(link, "SET n 12"), "OK");
	rdl_link_free(link);
	stage_close(&stage);
}

/* ---- Snapshots and memory ----------------------------------------------------------------- */

static void refuses_writes_until_mended(struct rr_server_options options)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", options);
	stage_ask(&stage, a, "SET a 1");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_BREAK_DISK));
	cr_assert_eq(strncmp(stage_ask(&stage, a, "SET a 2"), "-MISCONF", 8), 0);
	cr_assert_str_eq(stage_ask(&stage, a, "GET a"), "1");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_MEND_DISK));
	cr_assert_str_eq(stage_ask(&stage, a, "SET a 2"), "OK");
	stage_close(&stage);
}

Test(cluster_disks, a_failed_snapshot_refuses_writes)
{
	refuses_writes_until_mended((struct rr_server_options){ 0 });
	refuses_writes_until_mended((struct rr_server_options){ .rdb = true });
}

Test(cluster_disks, a_full_memory_refuses_writes)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_FILL));
	cr_assert_eq(strncmp(stage_ask(&stage, a, "SET a 1"), "-OOM", 4), 0);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_EMPTY));
	cr_assert_str_eq(stage_ask(&stage, a, "SET a 1"), "OK");
	stage_close(&stage);
}

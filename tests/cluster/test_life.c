/* SPDX-License-Identifier: MIT */
/* Servers that end, hang, begin again, and are handed on from race to race. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

/* ---- kill -9 and restart ------------------------------------------------------ */

/* What GET a says after a write, kill -9 and a restart. */
static void lives_through_kill(struct rr_server_options options, bool empty, const char *expected)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", options);
	cr_assert_str_eq(stage_ask(&stage, a, "SET a 1 PX 5000"), "OK");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	cr_assert_eq(rr_cluster_state(&stage.cluster, a), RR_SERVER_DOWN);
	stage_good(&stage, stage_inject(&stage, a, empty ? RR_FAULT_WIPE : RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "GET a"), expected, "aof %d", options.aof);
	if (expected[0] == '1')
		cr_assert_str_eq(stage_ask(&stage, a, "PTTL a"), "5000");
	stage_close(&stage);
}

Test(cluster_life, kill_loses_what_is_not_kept_on_disk)
{
	lives_through_kill((struct rr_server_options){ 0 }, false, "(nil)");
	lives_through_kill((struct rr_server_options){ .rdb = true }, false, "(nil)");
}

Test(cluster_life, kill_keeps_an_append_only_file_however_it_is_synced)
{
	for (int aof = RR_AOF_NO; aof <= RR_AOF_ALWAYS; aof++)
		lives_through_kill((struct rr_server_options){ .aof = aof }, false, "1");
}

Test(cluster_life, restarted_empty_it_has_forgotten_all)
{
	lives_through_kill((struct rr_server_options){ .aof = RR_AOF_ALWAYS }, true, "(nil)");
}

Test(cluster_life, shut_down_with_save_points_it_saves)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ .rdb = true });
	stage_ask(&stage, a, "SET a 1");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_SHUT_DOWN));
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "GET a"), "1");
	stage_close(&stage);
}

Test(cluster_life, clocks_move_while_a_server_is_down)
{
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ .aof = RR_AOF_ALWAYS });
	stage_ask(&stage, a, "SET a 1 PX 5000");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_tick_ms(&stage, 3000);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	cr_assert_str_eq(stage_ask(&stage, a, "PTTL a"), "2000");
	stage_close(&stage);
}

/* ---- Hanging -------------------------------------------------------------------- */

Test(cluster_life, a_hung_server_answers_when_it_goes_on)
{
	struct stage stage;
	struct rdl_link *link;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	link = stage_link(&stage, a);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_HANG));
	rdl_link_set_timeout(link, 100);
	cr_assert_str_eq(stage_say(link, "SET a 1"), "(lost)");
	stage_tick_ms(&stage, 1000);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESUME));
	rdl_link_set_timeout(link, RR_TIMEOUT_MS);
	cr_assert_str_eq(stage_say(link, "GET a"), "1");
	rdl_link_free(link);
	stage_close(&stage);
}

Test(cluster_life, what_cannot_be_done_is_said)
{
	struct stage stage;
	struct rr_cluster *cluster = &stage.cluster;
	int a, other;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	stage_bad(&stage, stage_inject(&stage, a, RR_FAULT_RESUME), RR_ERROR_USAGE);
	cr_assert_str_eq(stage.error.text, "cannot go on with a: it runs");
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_KILL));
	stage_bad(&stage, stage_inject(&stage, a, RR_FAULT_KILL), RR_ERROR_USAGE);
	cr_assert_str_eq(stage.error.text, "cannot kill a: it is down");
	stage_bad(&stage, stage_inject(&stage, 7, RR_FAULT_HANG), RR_ERROR_USAGE);
	stage_bad(&stage,
		  rr_cluster_declare(cluster, "a", &(struct rr_server_options){ 0 }, &other,
				     &stage.error),
		  RR_ERROR_USAGE);
	cr_assert_eq(rr_cluster_find(cluster, "a"), a);
	cr_assert_eq(rr_cluster_find(cluster, "b"), -1);
	stage_close(&stage);
}

Test(cluster_life, a_server_that_does_not_start_says_why)
{
	static const char *const config[] = { "no-such-option yes", NULL };
	const struct rr_server_options options = { .config = config };
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	stage_good(&stage, rr_cluster_declare(&stage.cluster, "a", &options, &a, &stage.error));
	stage_bad(&stage, rr_cluster_start(&stage.cluster, &stage.error), RR_ERROR_REDIS);
	cr_assert_not_null(strstr(stage.error.text, "before it answered"), "%s", stage.error.text);
	stage_close(&stage);
}

/* ---- From race to race ------------------------------------------------------------ */

static void run_id(struct stage *stage, int server, char id[64])
{
	const char *found = strstr(stage_ask(stage, server, "INFO server"), "run_id:");

	cr_assert_not_null(found);
	snprintf(id, 64, "%.47s", found);
}

/* Is the server of the next race the one that `line` was said to? */
static bool is_handed_on(const char *line)
{
	struct stage stage;
	char before[64], after[64];
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	run_id(&stage, a, before);
	cr_assert_str_eq(stage_ask(&stage, a, line), "OK");
	stage_tick_ms(&stage, 5000);
	rr_cluster_reset(&stage.cluster);
	cr_assert_eq(rr_cluster_find(&stage.cluster, "a"), -1);
	a = stage_server(&stage, "b", (struct rr_server_options){ 0 });
	run_id(&stage, a, after);
	cr_assert_str_eq(stage_ask(&stage, a, "TIME"), "[1900000000,0]");
	cr_assert_str_eq(stage_ask(&stage, a, "GET a"), "(nil)");
	stage_close(&stage);
	return strcmp(before, after) == 0;
}

Test(cluster_life, a_reset_empties_plain_servers_and_keeps_them)
{
	cr_assert(is_handed_on("SET a 1"));
}

Test(cluster_life, a_reset_keeps_no_server_that_was_configured)
{
	cr_assert_not(is_handed_on("CONFIG SET maxmemory 100mb"));
	cr_assert_not(is_handed_on("ACL SETUSER bob on"));
}

Test(cluster_life, a_reset_disconnects_and_forgets_scripts)
{
	struct stage stage;
	struct rdl_link *link;
	char sha[41];
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	link = stage_link(&stage, a);
	snprintf(sha, sizeof(sha), "%s", stage_say(link, "SCRIPT LOAD return(1)"));
	stage_say(link, "MULTI");
	rr_cluster_reset(&stage.cluster);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	cr_assert_str_eq(stage_say(link, "PING"), "(lost)");
	cr_assert_str_eq(stage_say(link, "PING"), "PONG");
	cr_assert_str_eq(stage_say(link, "FLUSHALL"), "OK");
	{
		char line[64];

		snprintf(line, sizeof(line), "SCRIPT EXISTS %s", sha);
		cr_assert_str_eq(stage_say(link, line), "[0]");
	}
	rdl_link_free(link);
	stage_close(&stage);
}

/* More servers, one after the other, than the guardian has numbers for. */
Test(cluster_life, directories_are_used_again)
{
	struct stage stage;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	for (int race = 0; race < 80; race++) {
		stage_server(&stage, "a", (struct rr_server_options){ .debug = true });
		rr_cluster_reset(&stage.cluster);
	}
	stage_close(&stage);
}

/* ---- Nothing outlives the program --------------------------------------------------- */

struct left {
	char base[80];
	pid_t servers[2];
};

/* Two servers, one of them hung; never returns. */
static void use_a_cluster(int to)
{
	struct stage stage;
	struct left left = { .base = "" };
	int a, b;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ 0 });
	b = stage_server(&stage, "b", (struct rr_server_options){ .aof = RR_AOF_ALWAYS });
	stage_inject(&stage, b, RR_FAULT_HANG);
	strcpy(left.base, stage.session.guardian.base);
	left.servers[0] = stage.cluster.servers[a].process.pid;
	left.servers[1] = stage.cluster.servers[b].process.pid;
	if (write(to, &left, sizeof(left)) < 0)
		_exit(1);
	for (;;)
		pause();
}

static bool is_left(const struct left *left)
{
	return access(left->base, F_OK) == 0 || kill(left->servers[0], 0) == 0 ||
	       kill(left->servers[1], 0) == 0;
}

Test(cluster_life, nothing_outlives_a_killed_program)
{
	struct left left;
	int ends[2];
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		use_a_cluster(ends[1]);
	}
	cr_assert_eq(read(ends[0], &left, sizeof(left)), sizeof(left));
	cr_assert(is_left(&left));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 12000 && is_left(&left); i++)
		usleep(10000);
	cr_assert_not(is_left(&left));
}

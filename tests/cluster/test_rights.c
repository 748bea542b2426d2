/* SPDX-License-Identifier: MIT */
/* What the clients of a race may do to its servers, whatever its file has got past the
 * parser: the second wall. */
#include <string.h>

#include "race/race.h"
#include "stage.h"

static void expect_refused(struct rdl_link *link, const char *command)
{
	const char *reply = stage_say(link, command);

	cr_expect(strstr(reply, "NOPERM") || strstr(reply, "unknown command"), "%s: %s", command,
		  reply);
}

static void expect_held(struct rdl_link *link)
{
	static const char *const refused[] = {
		"CONFIG SET port 0",
		"CONFIG SET dir /",
		"CONFIG REWRITE",
		"DEBUG SET-DISABLE-DENY-SCRIPTS 1",
		"DEBUG MALLCTL a 1",
		"REPLICAOF 127.0.0.1 1",
		"SLAVEOF 127.0.0.1 1",
		"FAILOVER",
		"MODULE LIST",
		"MIGRATE a 1 k 0 1",
		"ACL SETUSER default +@all",
		"ACL LOAD",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		expect_refused(link, refused[i]);
	cr_expect_not_null(strstr(stage_say(link, "AUTH redrace x"), "WRONGPASS"));
	cr_expect_str_eq(stage_say(link, "CONFIG GET port"), "[port,0]");
	cr_expect_str_eq(stage_say(link, "SET a 1"), "OK");
}

Test(rights, clients_of_a_race_cannot_reach_out_of_it)
{
	char *rights = rr_race_rights();
	struct stage stage;
	struct rdl_link *link;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ .rights = rights });
	link = stage_link(&stage, a);
	expect_held(link);
	rdl_link_free(link);
	stage_good(&stage, stage_inject(&stage, a, RR_FAULT_RESTART));
	link = stage_link(&stage, a);
	expect_held(link);
	rdl_link_free(link);
	stage_close(&stage);
	free(rights);
}

Test(rights, who_comes_after_a_race_begins_anew)
{
	char *rights = rr_race_rights();
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	link = stage_link(&stage, stage_server(&stage, "a",
					       (struct rr_server_options){ .rights = rights }));
	expect_refused(link, "CONFIG SET timeout 0");
	expect_refused(link, "DEBUG SLEEP 0");
	rdl_link_free(link);
	rr_cluster_reset(&stage.cluster);
	cr_expect_eq(stage.cluster.n_spare, 1);
	link = stage_link(&stage, stage_server(&stage, "a", (struct rr_server_options){ 0 }));
	cr_expect_str_eq(stage_say(link, "REPLICAOF NO ONE"), "OK");
	rdl_link_free(link);
	stage_close(&stage);
	free(rights);
}

/* The password is the clients' own affair; what looks at keys comes as another user. */
Test(rights, a_race_can_set_a_password)
{
	static const char *const config[] = { "requirepass secret", NULL };
	struct stage stage;
	struct rdl_link *link;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	a = stage_server(&stage, "a", (struct rr_server_options){ .tcp = true, .config = config });
	stage_server(&stage, "b", (struct rr_server_options){ .replica_of = "a" });
	stage_good(&stage, stage_inject(&stage, 1, RR_FAULT_CATCH_UP));
	link = stage_link(&stage, a);
	cr_expect_not_null(strstr(stage_say(link, "GET a"), "NOAUTH"));
	cr_expect_str_eq(stage_say(link, "AUTH secret"), "OK");
	cr_expect_str_eq(stage_say(link, "GET a"), "(nil)");
	rdl_link_free(link);
	stage_close(&stage);
}

/* Not all servers have all commands and subcommands: none is a hole. */
Test(rights, what_a_server_does_not_have_need_not_be_forbidden)
{
	struct stage stage;
	struct rdl_link *link;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	link = stage_link(
		&stage,
		stage_server(&stage, "a",
			     (struct rr_server_options){
				     .rights = "-nosuch +nosuch|get\n"
					       "-config +config|nosuch +config|resetstat\n" }));
	cr_expect_str_eq(stage_say(link, "CONFIG RESETSTAT"), "OK");
	expect_refused(link, "CONFIG GET port");
	rdl_link_free(link);
	stage_close(&stage);
}

static void expect_not_started(bool is_new)
{
	/* One that saves is none that was kept from before. */
	const struct rr_server_options options = { .rights = "xconfig\n", .rdb = is_new };
	struct stage stage;
	int a;

	stage_open(&stage, RR_CLUSTER_FROZEN);
	cr_assert_eq(stage.cluster.n_spare, 1);
	stage_good(&stage, rr_cluster_declare(&stage.cluster, "a", &options, &a, &stage.error));
	stage_bad(&stage, rr_cluster_start(&stage.cluster, &stage.error), RR_ERROR_REDIS);
	cr_expect_not_null(strstr(stage.error.text, "cannot be kept from config"), "%s",
			   stage.error.text);
	cr_expect_eq(stage.cluster.n_spare, is_new);
	stage_close(&stage);
}

Test(rights, a_server_that_cannot_be_restricted_is_an_error)
{
	expect_not_started(true);
	expect_not_started(false);
}

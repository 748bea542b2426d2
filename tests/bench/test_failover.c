/* SPDX-License-Identifier: MIT */
/* bench under fail-overs: what is lost is counted, what WAIT has confirmed is not,
 * and a WAIT that is ignored is noticed. */
#include "../support.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

struct scene {
	struct support support;
	struct rr_formation formation;
	struct rr_run run;
};

/* A primary with two replicas, and a run with one fail-over before which these are
 * cut off. Where something has to be lost, the strategy writes only what it has read on the same
 * connection: with GET and SET, which may meet different primaries, a SET puts back what was lost. */
static void open_scene(struct scene *scene, const char *strategy)
{
	struct rr_error error = { .kind = RR_ERROR_NONE };

	support_open(&scene->support, 1);
	cr_assert(rr_formation_open(&scene->formation, &scene->support.cluster, RR_TOPOLOGY_REPLICA,
				    "key", &error),
		  "%s", error.text);
	scene->run = support_run(&scene->support, rr_strategy_find(strategy), 2, 2000);
	scene->run.hold_us = 500;
	scene->run.ttl_ms = 3000;
	scene->run.formation = &scene->formation;
	scene->run.fail_overs = 1;
	scene->run.cut_ns = 1000000000;
}

static void close_scene(struct scene *scene, struct rr_measurement *measurement)
{
	support_close(&scene->support);
	free(measurement);
}

Test(failover, what_only_the_primary_has_is_lost, .timeout = 600)
{
	struct rr_measurement *m;
	struct scene scene;

	open_scene(&scene, "multi-watch");
	m = support_measure(&scene.support, &scene.run);
	cr_assert_eq(m->verdict, RR_VERDICT_FAILED_OVER, "%s", m->remark);
	cr_assert_gt(m->lost, 0);
	cr_assert_eq(m->final_value + m->lost, (long long)m->ok);
	cr_assert_eq(m->tally.fail_overs, 1);
	cr_assert_gt(m->tally.headless_ns, 0);
	cr_assert_eq(m->attempted, 2000);
	cr_assert_eq(rr_verdict_exit(m->verdict), RR_EXIT_OK);
	close_scene(&scene, m);
}

Test(failover, what_all_replicas_have_confirmed_is_not, .timeout = 600)
{
	struct rr_measurement *m;
	struct scene scene;

	open_scene(&scene, "set-nx-ex");
	scene.run.wait_replicas = 2;
	m = support_measure(&scene.support, &scene.run);
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	cr_assert_eq(m->lost + m->extra, 0);
	cr_assert_gt(m->unconfirmed, 0);
	cr_assert_eq(m->tally.fail_overs, 1);
	close_scene(&scene, m);
}

Test(failover, without_a_lock_a_write_is_confirmed_too, .timeout = 600)
{
	struct rr_measurement *m;
	struct scene scene;

	open_scene(&scene, "incr");
	scene.run.increments = 3000;
	scene.run.wait_replicas = 2;
	m = support_measure(&scene.support, &scene.run);
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	cr_assert_gt(m->unknown, 0);
	close_scene(&scene, m);
}

/* ---- A WAIT that is ignored ------------------------------------------------- */

static _Thread_local bool waits;

/* It waits for nobody ... */
static enum rdl_outcome send_ignoring(void *context, struct rdl_link *link,
				      struct rdl_command *command)
{
	(void)context;
	(void)link;
	waits = strncmp(command->words[0].text, "WAIT", 4) == 0 && command->words[0].length == 4;
	if (waits)
		command->words[1] = command->words[2] = (struct rdl_word){ "0", 1 };
	return RDL_OK;
}

/* ... and says that everybody has it. */
static enum rdl_outcome receive_ignoring(void *context, struct rdl_link *link,
					 struct rdl_reply *reply, enum rdl_outcome outcome)
{
	(void)context;
	(void)link;
	if (waits && outcome == RDL_OK)
		reply->integer = 2;
	return outcome;
}

Test(failover, a_wait_that_is_ignored_is_noticed, .timeout = 600)
{
	static const struct rdl_driver_ops ops = {
		.send = send_ignoring,
		.receive = receive_ignoring,
	};
	const struct rdl_driver driver = { .ops = &ops };
	struct rr_measurement *m;
	struct scene scene;

	open_scene(&scene, "multi-watch");
	scene.run.driver = &driver;
	scene.run.wait_replicas = 2;
	m = support_measure(&scene.support, &scene.run);
	cr_assert_eq(m->verdict, RR_VERDICT_VIOLATED, "%s", m->remark);
	cr_assert_gt(m->lost, 0);
	cr_assert_not_null(strstr(m->remark, "all replicas had confirmed"));
	close_scene(&scene, m);
}

/* ---- Others ------------------------------------------------------------------- */

Test(failover, lock_servers_that_restart_empty_lose_nothing, .timeout = 600)
{
	struct rr_formation lone;
	struct rr_measurement *m;
	struct support support;
	struct rr_run run;

	support_open(&support, 6);
	rr_formation_of_lone(&lone, &support.cluster, 1, 5);
	run = support_run(&support, rr_strategy_find("redlock"), 2, 6000);
	run.hold_us = 500;
	run.formation = &lone;
	run.fail_overs = 2;
	m = support_measure(&support, &run);
	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s", m->remark);
	cr_assert_eq(m->tally.kills, 2);
	cr_assert_eq(m->tally.fail_overs, 2);
	support_close(&support);
	free(m);
}

Test(failover, too_short_a_run_is_inconclusive, .timeout = 600)
{
	struct rr_measurement *m;
	struct scene scene;

	open_scene(&scene, "incr");
	scene.run.increments = 20;
	scene.run.fail_overs = 20;
	scene.run.cut_ns = 0;
	m = support_measure(&scene.support, &scene.run);
	cr_assert_lt(m->tally.kills, 20);
	cr_assert(m->verdict == RR_VERDICT_INCONCLUSIVE || m->verdict == RR_VERDICT_FAILED_OVER,
		  "%s", m->remark);
	close_scene(&scene, m);
}

/* ---- What nobody was to end -------------------------------------------------------- */

/* What its next turns say. Where that is noticed only when the half minute is over that a
 * fail-over may last, it is something else. */
static void expect_turn_to_say(struct scene *scene, const char *words)
{
	struct rr_error error = { .kind = RR_ERROR_NONE };

	for (int i = 0; i < 12000 && rr_formation_turn(&scene->formation, &error); i++)
		usleep(10000);
	cr_expect_eq(error.kind, RR_ERROR_REDIS);
	cr_expect_not_null(strstr(error.text, words), "%s", error.text);
}

static void expect_end_noticed(int number, const char *words)
{
	struct scene scene;

	open_scene(&scene, "incr");
	kill(scene.support.cluster.servers[scene.formation.members[1]].process.pid, number);
	expect_turn_to_say(&scene, words);
	close_scene(&scene, NULL);
}

Test(failover, a_replica_that_somebody_ends_is_named_at_once, .timeout = 600)
{
	expect_end_noticed(SIGKILL, "another process has killed the server replica-1");
	expect_end_noticed(SIGTERM, "the server replica-1 has ended");
}

Test(failover, a_killed_guardian_is_noticed_at_once, .timeout = 600)
{
	struct scene scene;

	open_scene(&scene, "incr");
	kill(scene.support.cluster.session->guardian.pid, SIGKILL);
	expect_turn_to_say(&scene, "the guardian process, and with it the servers, is gone");
	close_scene(&scene, NULL);
}

/* Between two looks: it is not we who have killed it. */
Test(failover, a_primary_that_is_dead_already_is_not_killed, .timeout = 600)
{
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct scene scene;
	int status = 0;

	open_scene(&scene, "incr");
	kill(scene.support.cluster.servers[scene.formation.primary].process.pid, SIGKILL);
	while (!rr_guardian_has_ended(
		&scene.support.cluster.session->guardian,
		&scene.support.cluster.servers[scene.formation.primary].process, &status))
		usleep(1000);
	cr_expect_not(rr_formation_fail_over(&scene.formation, 0, &error));
	cr_expect_eq(error.kind, RR_ERROR_REDIS);
	cr_expect_str_eq(error.text, "another process has killed the server primary");
	close_scene(&scene, NULL);
}

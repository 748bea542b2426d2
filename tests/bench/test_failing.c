/* SPDX-License-Identifier: MIT */
/* Strategies that cannot give their lock back, or lack a command: named, and
 * not waited for. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/client.h"

TestSuite(failing, .init = cli_setup, .fini = cli_teardown);

/* The lock is a string: WRONGTYPE. */
static enum rdl_outcome release_by_mistake(struct rr_client *client)
{
	struct rdl_reply reply;

	return rdl_run(client->data, &reply, "LPUSH %s x", client->lock);
}

static enum rdl_outcome release_unheard(struct rr_client *client)
{
	(void)client;
	return RDL_UNKNOWN;
}

/* Says so, but does not. */
static enum rdl_outcome pretend_to_release(struct rr_client *client)
{
	(void)client;
	return RDL_OK;
}

/* set-nx-ex with another release: why the run gives up, or what is measured. */
static struct rr_error run_with(enum rdl_outcome (*release)(struct rr_client *), long ttl_ms,
				struct rr_measurement *measurement)
{
	struct rr_strategy strategy = *rr_strategy_find("set-nx-ex");
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct support support;
	struct rr_run run;

	strategy.release = release;
	support_open(&support, 1);
	run = support_run(&support, &strategy, 2, 100);
	run.ttl_ms = ttl_ms;
	run.patience_ms = 1000;
	cr_assert_eq(rr_bench_run(&run, &support.session.signals, NULL, measurement, NULL, &error),
		     !error.kind);
	support_close(&support);
	return error;
}

Test(failing, release_that_fails_ends_the_run, .timeout = 600)
{
	struct rr_measurement measurement = { 0 };
	const struct rr_error error = run_with(release_by_mistake, 60000, &measurement);

	cr_assert_eq(error.kind, RR_ERROR_REDIS);
	cr_assert_not_null(strstr(error.text, "set-nx-ex: stopped: the lock cannot be released: "),
			   "%s", error.text);
}

Test(failing, release_that_is_never_answered_ends_the_run, .timeout = 600)
{
	struct rr_measurement measurement = { 0 };
	const struct rr_error error = run_with(release_unheard, 1000, &measurement);

	cr_assert_eq(error.kind, RR_ERROR_REDIS);
	cr_assert_not_null(strstr(error.text, "set-nx-ex: gave up "), "%s", error.text);
}

/* An increment for each lease is no progress: a million would take weeks. */
Test(failing, release_that_is_pretended_ends_the_run, .timeout = 600)
{
	struct rr_measurement measurement = { 0 };
	const struct rr_error error = run_with(pretend_to_release, 1000, &measurement);

	cr_assert_eq(error.kind, RR_ERROR_NONE, "%s", error.text);
	cr_assert(measurement.deadlocked);
	cr_assert_eq(measurement.verdict, RR_VERDICT_VIOLATED);
	cr_assert_str_eq(measurement.remark,
			 "no progress: each increment waits for a lease to end");
}

/* What happens to two clients, and when: before one of their calls. */
static struct {
	const struct rr_strategy *strategy;
	const char *right;
	int calls, pause_ms;
} loss;

/* ---- A disk that is slow ------------------------------------------------- */

/* Nobody is answered for longer than a reply usually takes: as while an fsync(2) lasts. */
static enum rdl_outcome stall_and_increment(struct rr_client *client)
{
	struct rdl_reply reply;

	if (loss.calls-- == 0)
		rdl_run(client->data, &reply, "CLIENT PAUSE %d ALL", loss.pause_ms);
	return loss.strategy->increment(client);
}

static enum rr_verdict verdict_on_a_stall(enum rr_persistence persistence, int pause_ms)
{
	struct rr_strategy strategy = *rr_strategy_find("set-nx-ex");
	struct rr_measurement *measurement;
	struct support support;
	enum rr_verdict verdict;
	struct rr_run run;

	loss.strategy = rr_strategy_find("set-nx-ex");
	loss.calls = 100;
	loss.pause_ms = pause_ms;
	strategy.increment = stall_and_increment;
	support_open(&support, 1);
	support.cluster.options.persistence = persistence;
	run = support_run(&support, &strategy, 2, 200);
	measurement = support_measure(&support, &run);
	verdict = measurement->verdict;
	free(measurement);
	support_close(&support);
	return verdict;
}

Test(failing, reply_that_waits_for_the_disk_is_not_lost, .timeout = 600)
{
	cr_assert_eq(verdict_on_a_stall(RR_PERSIST_ALWAYS, 2500), RR_VERDICT_EXACT);
	cr_assert_eq(verdict_on_a_stall(RR_PERSIST_EVERYSEC, 2500), RR_VERDICT_EXACT);
}

Test(failing, reply_of_a_server_in_memory_is_lost_after_two_seconds, .timeout = 600)
{
	cr_assert_eq(verdict_on_a_stall(RR_PERSIST_NONE, 4000), RR_VERDICT_INCONCLUSIVE);
}

/* ---- Permissions --------------------------------------------------------- */

static enum rdl_outcome acquire_and_forbid(struct rr_client *client)
{
	struct rdl_reply reply;

	if (loss.calls-- == 0)
		rdl_run(client->data, &reply, "ACL SETUSER default %s", loss.right);
	return loss.strategy->acquire(client);
}

static struct rr_error run_until_forbidden(const char *name, const char *right, int calls)
{
	struct rr_strategy strategy = *rr_strategy_find(name);
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct rr_measurement measurement;
	struct support support;
	struct rr_run run;

	loss.strategy = rr_strategy_find(name);
	loss.right = right;
	loss.calls = calls;
	strategy.acquire = acquire_and_forbid;
	support_open(&support, 1);
	run = support_run(&support, &strategy, 2, 1000);
	rr_bench_run(&run, &support.session.signals, NULL, &measurement, NULL, &error);
	support_close(&support);
	return error;
}

static void assert_loss_ends_the_run(const char *name, const char *right)
{
	const struct rr_error error = run_until_forbidden(name, right, 300);
	char said[128];

	snprintf(said, sizeof(said), "%s: stopped: the lock cannot be released: ", name);
	cr_assert_eq(error.kind, RR_ERROR_REDIS, "%s", error.text);
	cr_assert_not_null(strstr(error.text, said), "%s", error.text);
}

Test(failing, right_that_is_lost_in_mid_run_ends_it_with_69, .timeout = 600)
{
	assert_loss_ends_the_run("set-nx-ex", "-del");
}

/* The increment was done, and only the lock is not given back. */
Test(failing, lock_that_a_writing_release_keeps_ends_the_run, .timeout = 600)
{
	assert_loss_ends_the_run("fair-queue", "-publish");
}

Test(failing, right_that_was_never_there_skips_the_strategy, .timeout = 600)
{
	const struct rr_error error = run_until_forbidden("set-nx-ex", "-del", 0);

	cr_assert_eq(error.kind, RR_ERROR_SKIPPED, "%s", error.text);
}

/* ---- Progress ------------------------------------------------------------ */

/* What is said of so many increments each second, for so long; NULL: nothing. */
static const char *said_of(const struct rr_run *run, double per_s, int seconds)
{
	struct rr_motion motion = rr_motion_begin(0);
	const char *said = NULL;

	for (int i = 1; i <= seconds && !said; i++)
		said = rr_motion_look(&motion, run, (uint64_t)(i * per_s), i * INT64_C(1000000000));
	return said;
}

Test(failing, progress_is_measured_against_the_lease)
{
	struct rr_strategy strategy = *rr_strategy_find("set-nx-ex");
	struct rr_run run = { .strategy = &strategy, .keys = 1, .ttl_ms = 2000 };

	cr_assert_str_eq(said_of(&run, 0, 25), "no progress: deadlock");
	cr_assert_str_eq(said_of(&run, 0.5, 21),
			 "no progress: each increment waits for a lease to end");
	cr_assert_null(said_of(&run, 1.5, 600));
	run.keys = 4;
	cr_assert_not_null(said_of(&run, 2, 21));
	cr_assert_null(said_of(&run, 3, 600));
	run.hold_us = 1000000; /* work that is as slow */
	cr_assert_null(said_of(&run, 0.5, 600));
	run.hold_us = 0;
	run.ttl_ms = 10;
	cr_assert_null(said_of(&run, 5, 600));
	strategy.lock.lease = RR_LEASE_NONE;
	cr_assert_null(said_of(&run, 0.5, 600));
}

/* SPDX-License-Identifier: MIT */
/* Runs under --wait, with and without killed workers, and what they add up to. */
#include "../cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../planted.h"
#include "bench/client.h"

TestSuite(waiting_runs, .init = cli_setup, .fini = cli_teardown);

/* ---- Runs --------------------------------------------------------------------------- */

/* A run of `name` under a policy; what else, the caller sets. */
struct trial {
	const char *name;
	enum rr_policy policy;
	int threads, processes, keys;
	long increments, hold_us, kill_workers;
	const struct rdl_driver *driver;
};

static struct rr_measurement *measure(const struct trial *trial)
{
	const struct rr_strategy *strategy = rr_strategy_find(trial->name);
	struct rr_measurement *m;
	struct support support;
	struct rr_run run;

	support_open(&support, 1 + strategy->lock.servers);
	run = support_run(&support, strategy, trial->threads, trial->increments);
	run.processes = trial->processes ? trial->processes : 1;
	run.keys = trial->keys ? trial->keys : 1;
	run.hold_us = trial->hold_us;
	run.policy = trial->policy;
	run.kill_workers = trial->kill_workers;
	run.driver = trial->driver;
	m = support_measure(&support, &run);
	support_close(&support);
	return m;
}

/* Every increment was done once, and counted once. */
static void assert_exact(const struct trial *trial)
{
	struct rr_measurement *m = measure(trial);

	cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s, %d threads: %s", trial->name,
		     trial->threads, m->remark);
	cr_assert_eq(m->ok, (uint64_t)trial->increments);
	cr_assert_eq(m->final_value, trial->increments);
	cr_assert_eq(m->overlaps, 0);
	cr_assert_eq(m->killed, trial->kill_workers);
	free(m);
}

Test(waiting_runs, fail_fast_counts_what_it_did_not_give_up)
{
	static const char *const names[] = { "lua-delifequals", "multi-watch", "redlock" };

	for (size_t i = 0; i < 3; i++) {
		struct rr_measurement *m = measure(&(struct trial){
			.name = names[i],
			.policy = RR_POLICY_FAIL_FAST,
			.threads = 4,
			.hold_us = 1000,
			.increments = 400,
		});

		cr_assert_eq(m->verdict, RR_VERDICT_EXACT, "%s: %s", names[i], m->remark);
		cr_assert_eq(m->ok + m->failed, 400);
		cr_assert_gt(m->failed, 0, "%s refused nobody", names[i]);
		cr_assert_eq(m->final_value, (long long)m->ok);
		cr_assert_eq(m->retries, 0);
		free(m);
	}
}

/* No lock server can be asked. */
static enum rdl_outcome refuse_nx(void *context, struct rdl_link *link, struct rdl_command *command)
{
	(void)context;
	(void)link;
	for (size_t i = 0; i < command->n_words; i++) {
		if (strncmp(command->words[i].text, "NX", 2) == 0)
			return RDL_ERROR;
	}
	return RDL_OK;
}

Test(waiting_runs, fail_fast_goes_on_without_a_quorum)
{
	static const struct rdl_driver_ops ops = { .send = refuse_nx };
	const struct rdl_driver driver = { .ops = &ops };
	struct rr_measurement *m = measure(&(struct trial){
		.name = "redlock",
		.policy = RR_POLICY_FAIL_FAST,
		.threads = 1,
		.increments = 50,
		.driver = &driver,
	});

	cr_assert_eq(m->failed, 50);
	cr_assert_eq(m->final_value, 0);
	free(m);
}

Test(waiting_runs, sleep_is_exact)
{
	assert_exact(&(struct trial){ .name = "lua-delifequals",
				      .policy = RR_POLICY_SLEEP,
				      .threads = 4,
				      .increments = 400 });
}

Test(waiting_runs, delay_queue_does_everything_once)
{
	static const struct trial trials[] = {
		{ .name = "lua-delifequals", .threads = 1 },
		{ .name = "lua-delifequals", .threads = 2 },
		{ .name = "lua-delifequals", .threads = 8, .hold_us = 100 },
		{ .name = "set-nx-ex", .threads = 2, .processes = 2 },
		{ .name = "setnx-getset", .threads = 4, .keys = 3 },
		{ .name = "redlock", .threads = 3 },
	};

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct trial trial = trials[i];

		trial.policy = RR_POLICY_DELAY_QUEUE;
		trial.increments = 403;
		assert_exact(&trial);
	}
}

/* ---- Killed workers --------------------------------------------------------------------- */

/* A worker dies with what it took from the queue: so held for long that others are refused, and put
 * off, all the time. */
static const struct trial kills = {
	.name = "lua-delifequals",
	.policy = RR_POLICY_DELAY_QUEUE,
	.threads = 1,
	.processes = 3,
	.hold_us = 2000,
	.increments = 301,
	.kill_workers = 3,
};

Test(waiting_runs, killed_workers_lose_nothing)
{
	assert_exact(&kills);
}

Test(waiting_runs, planted_pop_loses_what_killed_workers_took)
{
	struct trial trial = kills;
	struct rr_measurement *m;

	trial.driver = &planted_pop;
	m = measure(&trial);
	cr_assert_eq(m->verdict, RR_VERDICT_VIOLATED, "%s", m->remark);
	cr_assert_gt(m->lost, 0);
	free(m);
}

Test(waiting_runs, table_tells_how_many_were_killed)
{
	cr_assert_eq(
		cli_run("$REDRACE bench set-nx-ex --wait delay-queue --threads 1 --processes 3 --hold-us 2000 --increments 301 --kill-workers 2 --output $HERE/a"),
		0, "%s", cli_output);
	cr_assert(strstr(cli_output, "exact, as expected; 2 workers killed\n"), "%s", cli_output);
}

Test(waiting_runs, queue_is_gone_from_an_own_server_after_kill_9)
{
	struct support support;

	support_open(&support, 1);
	setenv("SOCK", support.cluster.servers[0].address.host, 1);
	cli_run("$REDRACE bench set-nx-ex --wait delay-queue --threads 8 --hold-us 2000 --warmup 0 --redis unix://$SOCK --increments 10000000 --output $HERE/a & P=$!;"
		"R=\"redis-cli -s $SOCK\"; for i in $(seq 1200); do $R KEYS '*:queue:due' | grep . && break; sleep 0.1; done; kill -9 $P;"
		"for i in $(seq 1200); do sleep 0.1; [ $($R DBSIZE) = 0 ] && break; done; $R KEYS '*'; echo end");
	cr_assert(strstr(cli_output, ":queue:due\n"), "%s", cli_output);
	cr_assert(strstr(cli_output, ":queue:due\n\nend\n"), "left: %s", cli_output);
	support_close(&support);
}

/* ---- Adding up ---------------------------------------------------------------------------- */

/* The measurement of one client that did `ok` of ten increments. */
static struct rr_measurement gather(uint64_t ok, uint64_t unsettled, long long final_value)
{
	const struct rr_run run = { .strategy = rr_strategy_find("set-nx-ex"),
				    .threads = 1,
				    .processes = 1,
				    .keys = 1,
				    .increments = 10,
				    .policy = RR_POLICY_DELAY_QUEUE };
	struct rr_board *board = rr_board_new(&run);
	struct rr_spectra *spectra = calloc(1, sizeof(*spectra));
	struct rr_measurement m;

	board->slots[0].ok = ok;
	board->slots[0].unsettled = unsettled;
	rr_measurement_gather(&m, spectra, &run, board);
	m.final_value = final_value;
	rr_measurement_judge(&m);
	cr_assert_eq(m.attempted, 10);
	free(spectra);
	rr_board_free(board);
	return m;
}

Test(waiting_runs, what_a_queue_loses_or_doubles_is_a_violation)
{
	cr_assert_eq(gather(10, 0, 10).verdict, RR_VERDICT_EXACT);
	cr_assert_eq(gather(8, 0, 8).verdict, RR_VERDICT_VIOLATED);
	cr_assert_eq(gather(8, 0, 8).lost, 2);
	cr_assert_eq(gather(11, 0, 11).verdict, RR_VERDICT_VIOLATED);
	cr_assert_eq(gather(11, 0, 11).extra, 1);
}

Test(waiting_runs, lost_replies_of_a_queue_leave_it_open)
{
	cr_assert_eq(gather(10, 3, 10).verdict, RR_VERDICT_EXACT);
	cr_assert_eq(gather(8, 3, 9).verdict, RR_VERDICT_INCONCLUSIVE);
	cr_assert_eq(gather(8, 1, 8).verdict, RR_VERDICT_VIOLATED);
}

Test(waiting_runs, fewer_kills_than_asked_for_prove_nothing)
{
	struct rr_measurement m = { .run.strategy = rr_strategy_find("set-nx-ex"),
				    .promise = RR_EXACT,
				    .ok = 10,
				    .final_value = 10,
				    .killed = 2,
				    .run.kill_workers = 3 };

	rr_measurement_judge(&m);
	cr_assert_eq(m.verdict, RR_VERDICT_INCONCLUSIVE);
}

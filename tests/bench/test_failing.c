/* SPDX-License-Identifier: MIT */
/* Strategies that cannot give their lock back, or lack a command: named, and
 * not waited for. */
#include "../cli.h"

#include <stdlib.h>
#include <string.h>

TestSuite(failing, .init = cli_setup, .fini = cli_teardown);

/* The lock is a string: WRONGTYPE. */
static enum rl_outcome release_by_mistake(struct rr_client *client)
{
	struct rl_reply reply;

	return rl_run(client->data, &reply, "LPUSH %s x", client->lock);
}

static enum rl_outcome release_unheard(struct rr_client *client)
{
	(void)client;
	return RL_UNKNOWN;
}

/* set-nx-ex with another release: why the run gives up. */
static struct rr_error run_with(enum rl_outcome (*release)(struct rr_client *),
				long ttl_ms)
{
	struct rr_strategy strategy = *rr_strategy_find("set-nx-ex");
	struct rr_measurement *measurement = calloc(1, sizeof(*measurement));
	struct rr_error error = { .kind = RR_ERROR_NONE };
	struct support support;
	struct rr_run run;

	strategy.release = release;
	support_open(&support, 1);
	run = support_run(&support, &strategy, 2, 100);
	run.ttl_ms = ttl_ms;
	cr_assert_not(rr_bench_run(&run, &support.session.signals, NULL,
				   measurement, NULL, &error));
	support_close(&support);
	free(measurement);
	return error;
}

Test(failing, release_that_fails_ends_the_run, .timeout = 30)
{
	const struct rr_error error = run_with(release_by_mistake, 60000);

	cr_assert_eq(error.kind, RR_ERROR_REDIS);
	cr_assert_not_null(strstr(error.text, "set-nx-ex: stopped: the lock cannot be released: "),
			   "%s", error.text);
}

Test(failing, release_that_is_never_answered_ends_the_run, .timeout = 30)
{
	const struct rr_error error = run_with(release_unheard, 1000);

	cr_assert_eq(error.kind, RR_ERROR_REDIS);
	cr_assert_not_null(strstr(error.text, "set-nx-ex: gave up "), "%s",
			   error.text);
}

Test(failing, floor_compares_the_basic_strategies, .timeout = 60)
{
	cr_assert_eq(cli_run("$REDRACE floor --repeats 1 --increments 100 2>&1"),
		     0, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "\nmulti-watch "), "%s",
			   cli_output);
	cr_assert_null(strstr(cli_output, "\nfenced "), "%s", cli_output);
}

Test(failing, floor_leaves_out_what_the_server_lacks, .timeout = 60)
{
	const char *native;
	struct support support;
	bool is_lacking;

	support_open(&support, 1);
	is_lacking = support_lacks(&support, rr_strategy_find("native-cad"));
	support_close(&support);
	cr_assert_eq(cli_run("$REDRACE floor --all --repeats 1 --increments 100 2>&1"),
		     0, "%s", cli_output);
	native = strstr(cli_output, "native-cad");
	cr_assert_not_null(native, "%s", cli_output);
	cr_assert_eq(strncmp(native, "native-cad skipped: ", 20) == 0,
		     is_lacking, "%s", cli_output);
	cr_assert_not_null(strstr(cli_output, "\nfenced "), "%s", cli_output);
}

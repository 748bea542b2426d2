/* SPDX-License-Identifier: MIT */
/* redrace demo: lost updates, live, for a class. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench.h"
#include "commands.h"
#include "base/machine.h"
#include "cluster/cluster.h"
#include "base/option.h"
#include "base/text.h"

enum { DEFAULT_SECONDS = 15 };

struct demo_options {
	const char *redis_server;
	long seconds; /* of each act, about */
};

/* One act: a strategy in a setting, and what to say before and after. */
struct act {
	const char *strategy;
	int threads, processes;
	const char *before, *after;
};

static const struct act acts[] = {
	{ "none", 2, 1,
	  "Two threads, each: GET the counter, add 1, SET it. Redis runs one command at a time.",
	  "Each command was atomic. The two together were not." },
	{ "incr", 2, 1,
	  "The same two threads, with INCR: reading, adding and writing in one command.",
	  "Nothing can come in between, so nothing is lost." },
	{ "local-mutex", 2, 1,
	  "GET and SET again, inside a mutex of the program's own.",
	  "Within one process that is enough." },
	{ "local-mutex", 1, 2,
	  "The same program started twice: two processes, a mutex each.",
	  "Each mutex was correct, and useless against the other." },
};

/* ---- Options ------------------------------------------------------------- */

static const struct rr_option options_table[] = {
	{ .common = RR_OPTION_SECONDS,
	  .help = "seconds that each of the four acts takes (15)",
	  .at = offsetof(struct demo_options, seconds), .min = 1, .max = 600 },
	{ .common = RR_OPTION_REDIS_SERVER,
	  .at = offsetof(struct demo_options, redis_server) },
};

static const struct rr_command_line command_line = {
	.about = "Shows lost updates while they happen: no lock, INCR, a local mutex, and the same mutex in two processes.",
	.options = options_table,
	.n_options = sizeof(options_table) / sizeof(options_table[0]),
};

/* ---- The live line ------------------------------------------------------- */

struct demo {
	const struct demo_options *options;
	struct rr_session *session;
	struct rr_cluster cluster;
	struct rl_link *data; /* the demo's own connection */
	bool is_terminal;
	int64_t shown_ns; /* when the last line was printed */
	struct rr_error *error;
};

static long long read_counter(struct demo *demo, const struct rr_run *run)
{
	char key[RR_KEY_SIZE];
	struct rl_reply reply;
	long long count;

	rr_keys_counter(key, run->prefix, 0);
	if (rl_run(demo->data, &reply, "GET %s", key) != RL_OK ||
	    !rl_reply_number(&reply, &count))
		return 0;
	return count;
}

static void print_counts(long long expected, long long actual)
{
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char gone[RR_GROUPED_SIZE];

	printf("   expected %11s   actual %11s   lost %11s",
	       rr_grouped(left, expected), rr_grouped(right, actual),
	       rr_grouped(gone, expected > actual ? expected - actual : 0));
}

/*
 * Redrawn in place on a terminal, a line every two seconds elsewhere. Clients
 * go on while the counter is read: what was done before must be in it, and what
 * was done since may be. So the expected value is known to be between the two,
 * and as long as the counter is there as well, nothing has been lost.
 */
static void show_counts(void *context, const struct rr_run *run, uint64_t done,
			int64_t elapsed_ns)
{
	struct demo *demo = context;
	const long long before = (long long)done;
	long long actual;

	if (!demo->is_terminal &&
	    elapsed_ns < demo->shown_ns + INT64_C(2000000000))
		return;
	demo->shown_ns = elapsed_ns;
	printf("%s", demo->is_terminal ? "\r" : "");
	actual = read_counter(demo, run);
	print_counts(actual > before ? actual : before, actual);
	printf("%s", demo->is_terminal ? "\033[K" : "\n");
	fflush(stdout);
}

/* ---- Acts ---------------------------------------------------------------- */

static bool run_act(struct demo *demo, const struct act *act, long increments,
		    bool is_shown, struct rr_measurement *measurement)
{
	const struct rr_run run = {
		.strategy = rr_strategy_find(act->strategy),
		.cluster = &demo->cluster,
		.prefix = demo->session->prefix,
		.threads = act->threads,
		.processes = act->processes,
		.increments = increments,
		.warmup = 100,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	const struct rr_watcher watcher = { show_counts, demo };

	demo->shown_ns = 0;
	return rr_bench_run(&run, &demo->session->signals,
			    is_shown ? &watcher : NULL, measurement, NULL,
			    demo->error);
}

/* How many increments this machine does in the act's time is tried out
 * first. */
static enum rr_exit play_act(struct demo *demo, const struct act *act)
{
	const double seconds = (double)demo->options->seconds;
	struct rr_measurement m;
	long increments;

	printf("%s\n   %s, %d x %d %s\n", act->before, act->strategy,
	       act->processes, act->threads,
	       act->threads == 1 ? "thread" : "threads");
	fflush(stdout);
	if (!run_act(demo, act, 2000, false, &m))
		return RR_EXIT_OK;
	increments = (long)(rr_increments_per_s(&m) * seconds) / 1000 * 1000 +
		     1000;
	if (!run_act(demo, act, increments, true, &m))
		return RR_EXIT_OK;
	printf("%s", demo->is_terminal ? "\r" : "");
	print_counts(m.expected_value, m.final_value);
	printf("%s   %s\n%s\n\n", demo->is_terminal ? "\033[K" : "", m.remark,
	       act->after);
	return rr_verdict_exit(m.verdict);
}

static enum rr_exit play_acts(struct demo *demo)
{
	enum rr_exit worst = RR_EXIT_OK;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]) &&
			   !demo->error->kind && worst != RR_EXIT_VIOLATED;
	     i++)
		worst = rr_exit_worse(worst, play_act(demo, &acts[i]));
	return worst;
}

static enum rr_exit show_demo(struct demo *demo)
{
	const struct rr_cluster_options servers = {
		.program = demo->options->redis_server,
		.clock = RR_CLUSTER_REAL,
		.cpu = rr_placement_cpu(),
	};
	enum rr_exit code = RR_EXIT_OK;

	if (!rr_cluster_open(&demo->cluster, demo->session, &servers,
			     demo->error) ||
	    !rr_cluster_need(&demo->cluster, 1, demo->error))
		return RR_EXIT_OK;
	demo->data = rl_link_new(rr_cluster_address(&demo->cluster, 0),
				 RR_TIMEOUT_MS);
	if (demo->data)
		code = play_acts(demo);
	else
		rr_error_no_memory(demo->error);
	rl_link_free(demo->data);
	return code;
}

static enum rr_exit run_demo(int argc, char **argv, struct rr_error *error)
{
	struct demo_options options = { .redis_server = "redis-server",
					.seconds = DEFAULT_SECONDS };
	struct rr_session session;
	struct demo demo = { .options = &options,
			     .session = &session,
			     .is_terminal = isatty(STDOUT_FILENO) == 1,
			     .error = error };
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&command_line, &options, argc, argv);
	if (rr_session_open(&session, error))
		code = show_demo(&demo);
	rr_cluster_close(&demo.cluster);
	rr_session_close(&session);
	return code;
}

const struct rr_command rr_cmd_demo = {
	.name = "demo",
	.summary = "show lost updates, live",
	.line = &command_line,
	.run = run_demo,
};

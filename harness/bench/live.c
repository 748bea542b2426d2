/* SPDX-License-Identifier: MIT */
/* Counting to look at: what is expected and what is there, meanwhile. */
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "bench.h"
#include "measures.h"

struct live_count {
	const struct rr_live *live;
	struct rr_session *session;
	struct rr_cluster *cluster;
	struct rdl_link *data; /* its own connection */
	bool is_terminal;
	int64_t shown_ns; /* when the last line was printed */
	struct rr_error *error;
};

static void print_counts(long long expected, long long actual)
{
	char left[RR_GROUPED_SIZE], right[RR_GROUPED_SIZE];
	char gone[RR_GROUPED_SIZE];

	printf("   expected %10s   actual %10s   lost %9s", rr_grouped(left, expected),
	       rr_grouped(right, actual),
	       rr_grouped(gone, expected > actual ? expected - actual : 0));
}

/*
 * Redrawn in place on a terminal, a line every two seconds elsewhere. Clients
 * go on while the counter is read: what was done before must be in it, and what
 * was done since may be. So the expected value is known to be between the two,
 * and as long as the counter is there as well, nothing has been lost.
 */
static void show_counts(void *context, const struct rr_run *run, uint64_t done, int64_t elapsed_ns)
{
	struct live_count *count = context;
	const long long before = (long long)done;
	char key[RR_KEY_SIZE];
	struct rdl_reply reply;
	long long actual = 0;

	if (!count->is_terminal && elapsed_ns < count->shown_ns + INT64_C(2000000000))
		return;
	count->shown_ns = elapsed_ns;
	rr_keys_counter(key, run->prefix, 0);
	/* There may be none yet. */
	if (rdl_run(count->data, &reply, "GET %s", key) != RDL_OK ||
	    (reply.type != RDL_REPLY_NIL && (!rdl_reply_number(&reply, &actual) || actual < 0)))
		return;
	printf("%s", count->is_terminal ? "\r" : "");
	print_counts(actual > before ? actual : before, actual);
	printf("%s", count->is_terminal ? "\033[K" : "\n");
	fflush(stdout);
}

static bool run_live(struct live_count *count, long increments, bool is_shown,
		     struct rr_measurement *measurement)
{
	const struct rr_run run = {
		.strategy = rr_strategy_find(count->live->strategy),
		.cluster = count->cluster,
		.prefix = count->session->prefix,
		.threads = count->live->threads,
		.processes = count->live->processes,
		.increments = increments,
		.warmup = 100,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	const struct rr_watcher watcher = { show_counts, count };

	count->shown_ns = 0;
	return rr_bench_run(&run, &count->session->signals, is_shown ? &watcher : NULL, measurement,
			    NULL, count->error);
}

enum rr_exit rr_live_count(const struct rr_live *live, struct rr_cluster *cluster,
			   struct rr_error *error)
{
	struct live_count count = { .live = live,
				    .session = cluster->session,
				    .cluster = cluster,
				    .is_terminal = isatty(STDOUT_FILENO) == 1,
				    .error = error };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_measurement m;
	long increments;

	if (!rr_cluster_need(cluster, 1, error))
		return code;
	count.data = rdl_link_new(rr_cluster_address(cluster, 0), RR_TIMEOUT_MS);
	if (!count.data)
		rr_out_of_memory();
	printf("   %s, %d x %d %s\n", live->strategy, live->processes, live->threads,
	       live->threads == 1 ? "thread" : "threads");
	fflush(stdout);
	/* How many increments this machine does in that time is tried out first. */
	if (run_live(&count, 2000, false, &m)) {
		increments = (long)(rr_increments_per_s(&m) * (double)live->seconds) / 1000 * 1000 +
			     1000;
		if (run_live(&count, increments, true, &m)) {
			printf("%s", count.is_terminal ? "\r" : "");
			print_counts(m.expected_value, m.final_value);
			printf("%s   %s\n", count.is_terminal ? "\033[K" : "", m.remark);
			code = rr_verdict_exit(m.verdict);
		}
	}
	rdl_link_free(count.data);
	return code;
}

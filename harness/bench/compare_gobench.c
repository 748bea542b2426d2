/* SPDX-License-Identifier: MIT */
/* The runs of a results directory as the text of Go's benchmarks, which benchstat
 * and other tools read. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare.h"

/* Of the Go world's names for machines, those that differ. */
static const char *go_architecture(const char *machine)
{
	if (strcmp(machine, "x86_64") == 0)
		return "amd64";
	return strcmp(machine, "aarch64") == 0 ? "arm64" : machine;
}

static void print_gobench_head(const struct rr_compared_runs *runs)
{
	char text[128];

	printf("goos: linux\n");
	printf("goarch: %s\n",
	       go_architecture(rr_compared_environment(runs, "machine", "architecture", text)));
	printf("pkg: redrace\n");
	printf("cpu: %s\n", rr_compared_environment(runs, "machine", "cpu", text));
	printf("server: %s\n", rr_compared_environment(runs, "server", "redis_version", text));
}

/* A run is a line; nothing was done in one without an increment. */
static void print_gobench_row(const struct rr_compared_row *row)
{
	const double ok = (double)row->ok;
	char *strategy, *policy;

	if (row->ok <= 0)
		return;
	strategy = rr_plain(row->strategy);
	policy = rr_plain(row->policy);
	printf("BenchmarkIncrement/strategy=%s/wait=%s/processes=%ld/threads=%ld \t%lld\t%.1f ns/op\t%.0f p50-ns\t%.0f p99-ns\t%.4f commands/op\t%lld lost\n",
	       strategy, policy, row->processes, row->threads, row->ok, row->wall_ns / ok,
	       row->p50_ns, row->figures[RR_COMPARED_P99], row->commands / ok, row->lost);
	free(strategy);
	free(policy);
}

bool rr_print_gobench(const char *directory, struct rr_error *error)
{
	struct rr_compared_runs runs;
	const bool good = rr_compared_read(&runs, directory, error);

	if (good) {
		print_gobench_head(&runs);
		for (size_t i = 0; i < runs.n_rows; i++)
			print_gobench_row(&runs.rows[i]);
	}
	rr_compared_release(&runs);
	return good;
}

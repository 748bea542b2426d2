/* SPDX-License-Identifier: MIT */
/* The runs of a results directory as the text of Go's benchmarks, which benchstat
 * and other tools read. */
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/text.h"
#include "compare.h"

/* Of the Go world's names for machines, those that differ. */
static const char *go_architecture(const char *machine)
{
	if (strcmp(machine, "x86_64") == 0)
		return "amd64";
	return strcmp(machine, "aarch64") == 0 ? "arm64" : machine;
}

static void print_gobench(const void *what, enum rr_format format, FILE *out,
			  struct rr_error *error)
{
	const struct rr_compared_runs *runs = what;

	(void)format;
	(void)error;

	char text[128];

	fprintf(out, "goos: linux\n");
	fprintf(out, "goarch: %s\n",
		go_architecture(rr_compared_environment(runs, "machine", "architecture", text)));
	fprintf(out, "pkg: redrace\n");
	fprintf(out, "cpu: %s\n", rr_compared_environment(runs, "machine", "cpu", text));
	fprintf(out, "server: %s\n",
		rr_compared_environment(runs, "server", "redis_version", text));
	for (size_t i = 0; i < runs->n_rows; i++) {
		/* A run is a line; nothing was done in one without an increment. */
		const struct rr_compared_row *row = &runs->rows[i];
		const double ok = (double)row->ok;
		char *strategy, *policy;

		if (row->ok <= 0)
			continue;
		strategy = rr_plain(row->strategy);
		policy = rr_plain(row->policy);
		fprintf(out,
			"BenchmarkIncrement/strategy=%s/wait=%s/processes=%ld/threads=%ld \t%lld\t%.1f ns/op\t%.0f p50-ns\t%.0f p99-ns\t%.4f commands/op\t%lld lost\n",
			strategy, policy, row->processes, row->threads, row->ok, row->wall_ns / ok,
			row->p50_ns, row->figures[RR_COMPARED_P99], row->commands / ok, row->lost);
		free(strategy);
		free(policy);
	}
}

void rr_write_gobench(const struct rr_compare_options *options, struct rr_error *error)
{
	struct rr_compared_runs runs;

	if (rr_compared_read(&runs, options->directories[0], error))
		rr_outputs_write(&options->outputs, print_gobench, &runs, error);
	rr_compared_release(&runs);
}

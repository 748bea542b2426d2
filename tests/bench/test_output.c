/* SPDX-License-Identifier: MIT */
/* What goes to the terminal. */
#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/results.h"

/* A finished run made up from round figures. */
static struct rr_finished *finished(const char *name, int commands, long long final,
				    int64_t wall_ns)
{
	struct rr_finished *f = calloc(1, sizeof(*f));
	struct rr_measurement *m = &f->measurement;

	f->repeat = f->order_idx = 1;
	m->run.strategy = rr_strategy_find(name);
	m->run.threads = 2;
	m->run.processes = 1;
	m->run.ttl_ms = 10000;
	m->promise = rr_promise_for(m->run.strategy, 2, 1);
	m->attempted = m->ok = 100000;
	m->final_value = final;
	m->wall_ns = wall_ns;
	m->commands = 100000 * commands;
	m->times.p99 = 99000;
	rr_measurement_judge(m);
	return f;
}

Test(table, is_as_documented)
{
	struct rr_bench_options options = { .strategies.n = 4, .threads = { 2 }, .n_threads = 1 };
	struct rr_finished *all[5];
	struct rr_results results = {
		.options = &options, .finished = all, .n_finished = 5, .rows = -1
	};
	char *actual = NULL;
	size_t size;
	FILE *file = open_memstream(&actual, &size);

	options.strategies.all[0] = rr_strategy_find("none");
	options.strategies.all[1] = rr_strategy_find("local-mutex");
	options.strategies.all[2] = rr_strategy_find("local-mutex-per-op");
	options.strategies.all[3] = rr_strategy_find("redlock");
	all[0] = finished("none", 2, 65141, 4000000000);
	all[1] = finished("local-mutex", 2, 100000, 3000000000);
	all[2] = finished("local-mutex-per-op", 2, 100000, 3500000000);
	all[3] = finished("redlock", 12, 99998, 20000000000);
	all[4] = finished("redlock", 12, 100000, 10000000000);
	rr_results_table(&results, file);
	fclose(file);
	support_assert_golden("table.txt", actual);
	for (int i = 0; i < 5; i++)
		free(all[i]);
	free(actual);
}

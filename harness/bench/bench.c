/* SPDX-License-Identifier: MIT */
/* The whole of a bench: what is run, in which order, and what is made of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"
#include "results.h"

/* A strategy with a number of threads, and in an open loop with a rate. */
struct cell {
	const struct rr_strategy *strategy;
	int threads;
	const struct rr_rate *rate; /* NULL: a closed loop */
	long increments;            /* of a closed loop */
	double rate_per_s, capacity_per_s;
	bool is_refused; /* by the server, while it ran; or without a capacity */
};

struct bench {
	const struct rr_bench_options *options;
	struct rr_session *session;
	struct rr_cluster cluster;
	struct rr_formation formation;    /* with a topology ... */
	struct rr_formation lock_servers; /* ... and those beside it */
	struct rr_results results;
	struct rr_spectra spectra; /* of the run that has just ended */
	struct rr_holds trace;     /* the same, if it is wanted */
	struct cell cells[RR_CHOSEN_MAX *
			  RR_SWEEP_MAX]; /* there is one number of threads, or one rate */
	size_t n_cells;
	size_t n_begun; /* runs */
	struct rr_progress progress;
	enum rr_exit verdict;  /* the worst so far */
	struct rr_cases cases; /* those without figures */
	struct rr_error *error;
};

/* A strategy that has no figures, and why. */
static void add_skipped(struct bench *bench, const char *name, const char *why)
{
	rr_cases_add(&bench->cases, &(struct rr_case){ .suite = "bench",
						       .name = name,
						       .verdict = RR_CASE_SKIPPED,
						       .message = why });
}

/* ---- What is run --------------------------------------------------------- */

static void add_cells(struct bench *bench, const struct rr_strategy *strategy, int threads)
{
	const struct rr_bench_options *options = bench->options;

	for (size_t r = 0; r < (options->n_rates ? options->n_rates : 1); r++)
		bench->cells[bench->n_cells++] = (struct cell){
			.strategy = strategy,
			.threads = threads,
			.rate = options->n_rates ? &options->rates[r] : NULL,
			.increments = options->increments,
			.rate_per_s = options->n_rates ? options->rates[r].value : 0,
		};
}

/* What these servers or the policy do not allow is named. Returns how many servers the strategies
 * need that are left. */
static size_t choose_cells(struct bench *bench)
{
	const struct rr_bench_options *options = bench->options;
	size_t servers = 0;

	for (size_t i = 0; i < options->strategies.n; i++) {
		const struct rr_strategy *strategy = options->strategies.all[i];
		const size_t need = 1 + strategy->lock.servers;
		const char *objection = rr_policy_objection(options->policy, strategy,
							    options->kill_workers);
		char why[300] = "";

		if (options->n_redis && options->n_redis < need)
			snprintf(why, sizeof(why),
				 "it needs a data server and %zu lock servers, --redis names %zu",
				 strategy->lock.servers, options->n_redis);
		else if (objection)
			snprintf(why, sizeof(why), "%s", objection);
		if (why[0]) {
			rr_complain(RR_EXIT_SKIPPED, "%s skipped: %s", strategy->name, why);
			add_skipped(bench, strategy->name, why);
			continue;
		}
		servers = need > servers ? need : servers;
		for (size_t t = 0; t < options->n_threads; t++)
			add_cells(bench, strategy, (int)options->threads[t]);
	}
	return servers;
}

static bool open_servers(struct bench *bench, size_t servers)
{
	const struct rr_bench_options *options = bench->options;
	const bool is_alone = options->topology == RR_TOPOLOGY_ALONE;
	const struct rr_cluster_options servers_options = {
		.program = options->redis_server,
		.clock = RR_CLUSTER_REAL,
		.persistence = options->persistence,
		/* A topology is more processes than one processor should have. */
		.cpu = options->pin == RR_PIN_SAME || (options->pin == RR_PIN_DEFAULT && is_alone) ?
			       rr_placement_cpu() :
			       -1,
	};
	char key[RR_KEY_SIZE];

	if (options->n_redis)
		return rr_cluster_open_own(&bench->cluster, bench->session, options->redis,
					   options->n_redis, (int)options->keys, bench->error);
	if (!rr_cluster_open(&bench->cluster, bench->session, &servers_options, bench->error) ||
	    !rr_cluster_need(&bench->cluster, servers, bench->error))
		return false;
	if (is_alone)
		return true;
	/* Beside the data server and the lock servers of strategies that have such. */
	if (options->topology == RR_TOPOLOGY_CLUSTER)
		rr_keys_tag_prefix(bench->session->prefix);
	rr_formation_of_lone(&bench->lock_servers, &bench->cluster, 1, (int)servers - 1);
	rr_keys_counter(key, bench->session->prefix, 0);
	return rr_formation_open(&bench->formation, &bench->cluster, options->topology, key,
				 bench->error);
}

/* ---- How far it is ------------------------------------------------------- */

/* Runs are taken to be of one length. */
static void show_run(void *context, const struct rr_run *run, uint64_t done, int64_t elapsed_ns)
{
	struct bench *bench = context;
	const size_t n = bench->n_cells * (size_t)bench->options->repeats;
	const double elapsed_s = (double)elapsed_ns / 1e9;
	const double rate = elapsed_s > 0 ? (double)done / elapsed_s : 0;
	const double share = (double)done / (double)run->increments;
	char speed[RR_GROUPED_SIZE];

	if (!rr_progress_is_due(&bench->progress))
		return;
	rr_progress_show(&bench->progress,
			 rr_progress_left(&bench->progress,
					  ((double)bench->n_begun - 1 + share) / (double)n),
			 "%zu of %zu, %s: %.0f %%, %s/s", bench->n_begun, n, run->strategy->name,
			 100 * share, rr_grouped(speed, (long long)rate));
}

/* ---- Runs ---------------------------------------------------------------- */

static struct rr_run run_of_cell(struct bench *bench, const struct cell *cell, long repeat)
{
	const struct rr_bench_options *options = bench->options;
	struct rr_formation *killed = cell->strategy->lock.servers ? &bench->lock_servers :
								     &bench->formation;
	struct rr_run run = {
		.strategy = cell->strategy,
		.cluster = &bench->cluster,
		.prefix = bench->session->prefix,
		.threads = cell->threads,
		.processes = (int)options->processes,
		.increments = cell->increments,
		.warmup = options->warmup,
		.keys = (int)options->keys,
		.ttl_ms = options->ttl_ms,
		.hold_us = options->hold_us,
		.seed = (uint64_t)(options->seed + repeat),
		.policy = rr_policy_for(options->policy, cell->strategy),
		.dead_holder = options->dead_holder,
		.kill_workers = options->kill_workers,
		.trace = options->trace && cell->strategy->acquire ? &bench->trace : NULL,
		.formation = options->topology == RR_TOPOLOGY_ALONE ? NULL : killed,
		.fail_overs = options->fail_overs,
		.cut_ns = options->cut_ms * INT64_C(1000000),
		.wait_replicas = options->wait_replicas,
	};

	if (cell->rate) {
		run.rate_asked = cell->rate->text;
		run.capacity_per_s = cell->capacity_per_s;
		rr_run_open(&run, cell->rate_per_s, options->seconds_per_cell, options->arrivals);
	}
	return run;
}

/* No more of a strategy of which the server has refused a command. */
static void refuse_strategy(struct bench *bench, const struct rr_strategy *strategy)
{
	for (size_t i = 0; i < bench->n_cells; i++) {
		if (bench->cells[i].strategy == strategy)
			bench->cells[i].is_refused = true;
	}
}

/* False after an error that ends the bench. */
static bool run_cell(struct bench *bench, const struct cell *cell, long repeat, long order_idx)
{
	const struct rr_run run = run_of_cell(bench, cell, repeat);
	const bool is_traced = run.trace != NULL;
	const struct rr_watcher watcher = { show_run, bench };
	struct rr_finished *finished = rr_calloc(1, sizeof(*finished));
	bool measured;

	finished->repeat = repeat;
	finished->order_idx = order_idx;
	bench->n_begun++;
	measured = rr_bench_run(&run, &bench->session->signals, &watcher, &finished->measurement,
				&bench->spectra, bench->error);
	rr_progress_end(&bench->progress);
	if (measured) {
		/* A verdict does not end the bench. */
		const struct rr_measurement *m = &finished->measurement;

		bench->verdict = rr_exit_worse(bench->verdict, rr_verdict_exit(m->verdict));
		if (!m->deadlocked)
			return rr_results_add(&bench->results, finished, &bench->spectra,
					      bench->error) &&
			       (!is_traced || rr_results_trace(&bench->results, finished,
							       &bench->trace, bench->error));
		rr_complain(rr_verdict_exit(m->verdict), "%s: %s", m->run.strategy->name,
			    m->remark);
		rr_cases_add(&bench->cases, &(struct rr_case){ .suite = "bench",
							       .name = m->run.strategy->name,
							       .verdict = rr_case_verdict_of(
								       rr_verdict_exit(m->verdict)),
							       .seconds = (double)m->wall_ns / 1e9,
							       .message = m->remark });
		free(finished);
		return true;
	}
	free(finished);
	if (bench->error->kind == RR_ERROR_SKIPPED)
		add_skipped(bench, run.strategy->name, bench->error->text);
	if (!rr_error_set_aside(bench->error, RR_ERROR_SKIPPED))
		return false;
	refuse_strategy(bench, run.strategy);
	return true;
}

/* ---- How many increments, and at which rate ------------------------------- */

enum { TRIAL_INCREMENTS = 2000, PROBES = 7 };

/* A run that leaves no results. False: it is not made, or the bench ends. */
static bool try_run(struct bench *bench, const struct rr_run *run, struct rr_measurement *m)
{
	const bool measured = rr_bench_run(run, &bench->session->signals, NULL, m, NULL,
					   bench->error);

	if (measured)
		return !m->deadlocked;
	if (bench->error->kind == RR_ERROR_SKIPPED) {
		add_skipped(bench, run->strategy->name, bench->error->text);
		rr_error_set_aside(bench->error, RR_ERROR_SKIPPED);
		refuse_strategy(bench, run->strategy);
	}
	return false;
}

/* Increments a second in a closed loop; 0: there are none. */
static double try_closed_loop(struct bench *bench, const struct cell *cell)
{
	struct rr_run run = run_of_cell(bench, cell, 0);
	struct rr_measurement m;
	double rate = 0;

	run.rate_per_s = 0;
	run.trace = NULL;
	/* The second lasts half a second. */
	for (int i = 0; i < 2; i++) {
		run.increments = i == 0 ? TRIAL_INCREMENTS : (long)(rate / 2) + 1;
		if (!try_run(bench, &run, &m))
			return 0;
		rate = rr_increments_per_s(&m);
	}
	return rate;
}

/*
 * The highest rate that is sustained, by bisection: clients that are always busy do not do more in
 * an open loop than in a closed one. The probes are as long as the runs, five seconds at most.
 */
static double find_capacity(struct bench *bench, const struct cell *cell)
{
	const struct rr_bench_options *options = bench->options;
	const long seconds = options->seconds_per_cell < 5 ? options->seconds_per_cell : 5;
	double low = 0, high = 1.05 * try_closed_loop(bench, cell);
	struct rr_run run = run_of_cell(bench, cell, 0);
	struct rr_measurement m;

	run.trace = NULL;
	for (int i = 0; i < PROBES && high > 1; i++) {
		const double rate = (low + high) / 2;

		rr_run_open(&run, rate, seconds, options->arrivals);
		run.seed = (uint64_t)(options->seed - 1 - i);
		if (!try_run(bench, &run, &m))
			return 0;
		if (m.is_sustained)
			low = rate;
		else
			high = rate;
		if (rr_progress_is_due(&bench->progress))
			rr_progress_show(&bench->progress, 0, "%s: capacity, %.0f to %.0f/s",
					 cell->strategy->name, low, high);
	}
	rr_progress_end(&bench->progress);
	return low;
}

/* By trials before all runs, so that repeats are alike. The cells of a strategy with the same
 * threads follow one another. */
static bool settle_cells(struct bench *bench)
{
	const struct rr_bench_options *options = bench->options;
	const struct cell *seen = NULL;
	bool is_relative = false;

	for (size_t i = 0; i < options->n_rates; i++)
		is_relative = is_relative || options->rates[i].is_pct;
	for (size_t i = 0; i < bench->n_cells && !bench->error->kind; i++) {
		struct cell *cell = &bench->cells[i];
		const bool is_next = !seen || seen->strategy != cell->strategy ||
				     seen->threads != cell->threads;

		if (cell->is_refused ||
		    (!is_relative && (cell->rate || !options->seconds_per_cell)))
			continue;
		if (!cell->rate) {
			cell->increments = 1 + (long)(try_closed_loop(bench, cell) *
						      (double)options->seconds_per_cell);
			continue;
		}
		cell->capacity_per_s = is_next ? find_capacity(bench, cell) : seen->capacity_per_s;
		seen = cell;
		if (cell->rate->is_pct)
			cell->rate_per_s = cell->rate->value / 100 * cell->capacity_per_s;
		if (cell->capacity_per_s > 0 || !cell->rate->is_pct || cell->is_refused ||
		    bench->error->kind)
			continue;
		cell->is_refused = true;
		if (is_next) {
			rr_complain(RR_EXIT_SKIPPED, "%s skipped: no rate was sustained",
				    cell->strategy->name);
			add_skipped(bench, cell->strategy->name, "no rate was sustained");
		}
	}
	return !bench->error->kind;
}

static void run_cells(struct bench *bench)
{
	struct rr_random random = { (uint64_t)bench->options->seed };
	bool goes_on = true;

	for (long repeat = 1; repeat <= bench->options->repeats; repeat++) {
		/* Fisher and Yates. */
		for (size_t i = bench->n_cells; i > 1; i--) {
			const size_t j = rr_random_below(&random, i);
			const struct cell other = bench->cells[j];

			bench->cells[j] = bench->cells[i - 1];
			bench->cells[i - 1] = other;
		}
		for (size_t i = 0; i < bench->n_cells && goes_on; i++) {
			if (!bench->cells[i].is_refused)
				goes_on = run_cell(bench, &bench->cells[i], repeat, (long)i + 1);
		}
	}
}

/* ---- The whole ----------------------------------------------------------- */

static const char *plural(long n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

static void print_bench(const void *what, enum rr_format format, FILE *out, struct rr_error *error)
{
	const struct bench *bench = what;
	char *directory;

	(void)format;
	(void)error;
	if (bench->results.n_finished == 0)
		return;

	char *heading;
	FILE *text = rr_open_text(&heading);
	const struct rr_bench_options *options = bench->options;
	char increments[RR_GROUPED_SIZE];

	if (options->n_rates || options->seconds_per_cell)
		fprintf(text, "%ld s of each", options->seconds_per_cell);
	else
		fprintf(text, "%s %s", rr_grouped(increments, options->increments),
			plural(options->increments, "increment", "increments"));
	if (options->n_threads == 1)
		fprintf(text, ", %ld %s", options->threads[0],
			plural(options->threads[0], "thread", "threads"));
	fprintf(text, ", %ld %s, %ld %s, %s loop, %s, pin %s", options->processes,
		plural(options->processes, "process", "processes"), options->repeats,
		plural(options->repeats, "repeat", "repeats"), options->n_rates ? "open" : "closed",
		bench->results.transport, bench->results.placement);
	if (options->policy != RR_POLICY_BACKOFF)
		fprintf(text, ", wait %s", rr_policy_names[options->policy]);
	if (options->dead_holder)
		fputs(", dead holder", text);
	if (options->topology != RR_TOPOLOGY_ALONE) {
		/* What is done to the servers, and who promotes. */
		fprintf(text, ", topology %s", rr_topology_names[options->topology]);
		if (options->topology == RR_TOPOLOGY_REPLICA && options->fail_overs)
			fprintf(text, " (redrace promotes)");
		if (options->fail_overs)
			fprintf(text, ", %ld %s by kill -9", options->fail_overs,
				plural(options->fail_overs, "fail-over", "fail-overs"));
		if (options->cut_ms)
			fprintf(text, ", replicas cut off %ld ms before", options->cut_ms);
		if (options->wait_replicas)
			fprintf(text, ", WAIT %ld", options->wait_replicas);
	}
	fprintf(text, ", seed %ld", options->seed);
	fclose(text);
	rr_print_verdict(out, heading);
	fputc('\n', out);
	free(heading);
	rr_results_table(&bench->results, out);
	fputc('\n', out);
	rr_disturbance_print(&bench->results.disturbance, out);
	if (bench->options->fail_overs)
		rr_results_fail_overs(&bench->results, out);
	directory = rr_plain(bench->results.directory);
	fprintf(out, "\nresults: %s\n", directory);
	free(directory);
}

/* False: it could not begin. */
static bool prepare_bench(struct bench *bench, const char *command_line)
{
	const size_t servers = choose_cells(bench);
	const struct rr_strategy *seen = NULL;
	const struct rdl_address *data;
	const char *missing = NULL;
	char spare[RR_KEY_SIZE];
	size_t kept = 0;

	if (!bench->n_cells)
		return true;
	if (!open_servers(bench, servers))
		return false;
	/* What the data server has no commands for is named, too. The cells of a strategy follow
	 * one another. */
	rr_keys_lock(spare, bench->session->prefix, 0);
	for (size_t i = 0; i < bench->n_cells; i++) {
		const struct rr_strategy *strategy = bench->cells[i].strategy;

		if (strategy != seen) {
			missing = rr_strategy_lacking(
				strategy, rr_cluster_address(&bench->cluster, 0), spare);
			if (missing) {
				rr_complain(RR_EXIT_SKIPPED, "%s skipped: this server has %s",
					    strategy->name, missing);
				add_skipped(bench, strategy->name,
					    "the server lacks a command of it");
			}
		}
		seen = strategy;
		if (!missing)
			bench->cells[kept++] = bench->cells[i];
	}
	bench->n_cells = kept;
	if (!kept)
		return true;
	data = bench->options->topology == RR_TOPOLOGY_ALONE ?
		       rr_cluster_address(&bench->cluster, 0) :
		       &bench->formation.address;
	return rr_results_open(&bench->results, bench->options, &bench->cluster, data,
			       bench->error) &&
	       rr_results_environment(&bench->results, &bench->cluster, command_line, bench->error);
}

enum rr_exit rr_bench(const struct rr_bench_options *options, struct rr_session *session,
		      const char *command_line, struct rr_error *error)
{
	struct bench *bench = rr_calloc(1, sizeof(*bench));
	struct rr_error unwritten = { .kind = RR_ERROR_NONE };
	enum rr_exit code;
	bool good;

	bench->options = options;
	bench->trace.most = (size_t)options->trace;
	bench->session = session;
	bench->results.rows = -1;
	rr_progress_begin(&bench->progress);
	bench->error = error;
	rr_cases_init(&bench->cases, "redrace bench");
	good = prepare_bench(bench, command_line);
	if (good && settle_cells(bench))
		run_cells(bench);
	/* Finished runs of a bench that was broken off are results, too. */
	code = bench->verdict;
	if (bench->results.n_finished) {
		rr_results_summarise(&bench->results, &unwritten);
		rr_results_disturbance(&bench->results, &unwritten);
	} else {
		code = rr_exit_worse(code, RR_EXIT_SKIPPED);
	}
	bench->cases.is_called_off = error->kind == RR_ERROR_INTERRUPTED;
	if (error->kind && !bench->cases.is_called_off)
		rr_cases_add_error(&bench->cases, "bench", "bench", error);
	if (bench->results.n_finished)
		rr_results_as_cases(&bench->results, &bench->cases);
	rr_cases_publish(&bench->cases, &options->report, print_bench, bench, &unwritten);
	code = rr_exit_worse(code, rr_report_error(&unwritten));
	rr_cases_release(&bench->cases);
	rr_results_close(&bench->results);
	rr_cluster_close(&bench->cluster);
	free(bench->trace.holds);
	free(bench);
	return good ? code : RR_EXIT_OK;
}

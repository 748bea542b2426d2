/* SPDX-License-Identifier: MIT */
#include "results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"

enum { SCHEMA = 1, ROW_SIZE = 2048 };

static const char header[] =
	"schema,run_id,ts_utc,strategy,expectation,threads,processes,"
	"increments,repeat,order_idx,seed,transport,placement,warmup,hold_us,"
	"ttl_ms,attempted,ok,failed,unknown,expected_value,final_value,lost,"
	"extra,lost_pct,verdict,wall_ns,increments_per_s,lat_min_ns,"
	"lat_mean_ns,lat_p50_ns,lat_p90_ns,lat_p99_ns,lat_p999_ns,lat_max_ns,"
	"wait_p50_ns,wait_p99_ns,retries,retry_max,commands,"
	"commands_per_increment,overlaps,thread_ops_min,thread_ops_max,"
	"fairness_jain,client_user_ns,client_sys_ns,server_cpu_ns,policy,"
	"persistence,keys,overruns\n";

/* ---- The directory -------------------------------------------------------- */

static void make_run_id(char id[RR_RUN_ID_SIZE])
{
	const time_t now = time(NULL);
	unsigned short tail = 0;
	struct tm utc;
	size_t length;

	if (getrandom(&tail, sizeof(tail), 0) < 0)
		tail = (unsigned short)getpid();
	gmtime_r(&now, &utc);
	length = strftime(id, RR_RUN_ID_SIZE, "%Y%m%dT%H%M%SZ", &utc);
	snprintf(id + length, RR_RUN_ID_SIZE - length, "-%04x", tail);
}

static void path_in(const struct rr_results *results, char path[RR_PATH_SIZE],
		    const char *name)
{
	snprintf(path, RR_PATH_SIZE, "%s/%s", results->directory, name);
}

static enum rr_exit choose_directory(struct rr_results *results,
				     const char *output)
{
	const int length =
		snprintf(results->directory, sizeof(results->directory), "%s%s",
			 output ? "" : "results/",
			 output ? output : results->run_id);

	if (length >= (int)sizeof(results->directory))
		return rr_complain(RR_EXIT_USAGE, "--output: the name is too long");
	return RR_EXIT_OK;
}

enum rr_exit rr_results_open(struct rr_results *results,
			     const struct rr_bench_options *options)
{
	char path[RR_PATH_SIZE];
	enum rr_exit code;

	*results = (struct rr_results){ .rows = -1, .options = options };
	make_run_id(results->run_id);
	code = choose_directory(results, options->output);
	path_in(results, path, "percentiles");
	if (code == RR_EXIT_OK)
		code = rr_files_make_directory(path);
	if (code != RR_EXIT_OK)
		return code;
	path_in(results, path, "runs.csv");
	results->rows = rr_files_open_rows(path, header);
	if (results->rows < 0)
		return RR_EXIT_FILE;
	if (!options->output)
		return rr_files_link("results/latest", results->run_id);
	return RR_EXIT_OK;
}

void rr_results_close(struct rr_results *results)
{
	for (size_t i = 0; i < results->n_finished; i++)
		free(results->finished[i]);
	free(results->finished);
	if (results->rows >= 0)
		close(results->rows);
	results->rows = -1;
}

/* ---- Rows -------------------------------------------------------------------- */

static void utc_now(char text[32])
{
	const time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static int print_setting(char *row, size_t size,
			 const struct rr_results *results,
			 const struct rr_finished *finished)
{
	const struct rr_bench_options *options = results->options;
	const struct rr_measurement *m = &finished->measurement;
	char now[32];

	utc_now(now);
	return snprintf(row, size,
			"%d,%s,%s,%s,%s,%d,%d,%ld,%ld,%ld,%llu,%s,%s,%ld,%ld,%ld,",
			SCHEMA, results->run_id, now, m->strategy->name,
			m->promise == RR_EXACT ? "exact" : "lossy", m->threads,
			m->processes, options->increments, finished->repeat,
			finished->order_idx, (unsigned long long)options->seed,
			results->transport, results->placement, options->warmup,
			m->hold_us, m->ttl_ms);
}

static int print_count(char *row, size_t size, const struct rr_measurement *m)
{
	return snprintf(row, size,
			"%llu,%llu,%llu,%llu,%lld,%lld,%lld,%lld,%.4f,%s,%lld,%.1f,",
			(unsigned long long)m->attempted,
			(unsigned long long)m->ok,
			(unsigned long long)m->failed,
			(unsigned long long)m->unknown, m->expected_value,
			m->final_value, m->lost, m->extra, rr_lost_pct(m),
			rr_verdict_name(m->verdict), (long long)m->wall_ns,
			rr_increments_per_s(m));
}

static int print_times(char *row, size_t size, const struct rr_times *times)
{
	return snprintf(row, size,
			"%llu,%.0f,%llu,%llu,%llu,%llu,%llu,%llu,%llu,",
			(unsigned long long)times->min, times->mean,
			(unsigned long long)times->p50,
			(unsigned long long)times->p90,
			(unsigned long long)times->p99,
			(unsigned long long)times->p999,
			(unsigned long long)times->max,
			(unsigned long long)times->wait_p50,
			(unsigned long long)times->wait_p99);
}

/* A count that only some strategies have; nothing for the others. */
static const char *count_if(bool has, uint64_t value, char text[24])
{
	text[0] = '\0';
	if (has)
		snprintf(text, 24, "%llu", (unsigned long long)value);
	return text;
}

static int print_cost(char *row, size_t size, const struct rr_results *results,
		      const struct rr_measurement *m)
{
	char policy[RR_POLICY_TEXT_SIZE], spare[2][24];
	const char *overlaps =
		count_if(m->strategy->acquire, m->overlaps, spare[0]);
	const char *overruns =
		count_if(m->strategy->lock.lease, m->overruns, spare[1]);

	return snprintf(row, size,
			"%llu,%llu,%llu,%.4f,%s,%llu,%llu,%.4f,%lld,%lld,%lld,%s,%s,%ld,%s\n",
			(unsigned long long)m->retries,
			(unsigned long long)m->retry_max,
			(unsigned long long)m->commands,
			rr_commands_per_increment(m), overlaps,
			(unsigned long long)m->thread_ops_min,
			(unsigned long long)m->thread_ops_max,
			m->fairness_jain, (long long)m->client_user_ns,
			(long long)m->client_sys_ns,
			(long long)m->server_cpu_ns,
			rr_policy_text(m->policy, m->strategy, policy),
			results->options->n_redis ?
				"own" :
				rr_persistence_names[results->options
							     ->persistence],
			results->options->keys, overruns);
}

static enum rr_exit append_row(const struct rr_results *results,
			       const struct rr_finished *finished)
{
	const struct rr_measurement *m = &finished->measurement;
	char row[ROW_SIZE], path[RR_PATH_SIZE];
	size_t used = 0;

	used += (size_t)print_setting(row, sizeof(row), results, finished);
	used += (size_t)print_count(row + used, sizeof(row) - used, m);
	used += (size_t)print_times(row + used, sizeof(row) - used,
				    &m->times);
	print_cost(row + used, sizeof(row) - used, results, m);
	path_in(results, path, "runs.csv");
	return rr_files_append_row(results->rows, path, row);
}

/* ---- Percentiles -------------------------------------------------------------- */

/* Five steps in each halving of the distance to 100 %, as long as there are
 * values left to tell apart. */
static void print_percentiles(FILE *file, const struct rr_histogram *histogram)
{
	double left = 1;

	fprintf(file, "value_ns,percentile,count,one_over_1_minus_p\n");
	while (left * (double)histogram->count >= 1) {
		for (int step = 0; step < 5; step++) {
			const double rest = left * (1 - step * 0.1);
			const double p = 1 - rest;

			fprintf(file, "%llu,%.6f,%.0f,%.3f\n",
				(unsigned long long)rr_histogram_quantile(
					histogram, p),
				100 * p, p * (double)histogram->count,
				1 / rest);
		}
		left /= 2;
	}
	fprintf(file, "%llu,100.000000,%llu,%.3f\n",
		(unsigned long long)histogram->max_ns,
		(unsigned long long)histogram->count,
		(double)histogram->count);
}

static enum rr_exit write_percentiles(const struct rr_results *results,
				      const struct rr_finished *finished,
				      const struct rr_histogram *latency)
{
	const struct rr_measurement *m = &finished->measurement;
	char name[160], path[RR_PATH_SIZE], *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	enum rr_exit code;

	if (!file)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	print_percentiles(file, latency);
	fclose(file);
	snprintf(name, sizeof(name), "percentiles/%s-t%d-p%d-r%ld.csv",
		 m->strategy->name, m->threads, m->processes,
		 finished->repeat);
	path_in(results, path, name);
	code = rr_files_replace(path, text, length);
	free(text);
	return code;
}

enum rr_exit rr_results_add(struct rr_results *results,
			    struct rr_finished *finished,
			    const struct rr_spectra *spectra)
{
	struct rr_finished **more =
		realloc(results->finished,
			(results->n_finished + 1) * sizeof(*more));
	enum rr_exit code;

	if (!more) {
		free(finished);
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	}
	results->finished = more;
	results->finished[results->n_finished++] = finished;
	code = append_row(results, finished);
	if (code != RR_EXIT_OK)
		return code;
	return write_percentiles(results, finished, &spectra->latency);
}

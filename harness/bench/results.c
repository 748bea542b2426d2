/* SPDX-License-Identifier: MIT */
/* A results directory, and the rows and percentiles of finished runs in it. */
#include "results.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/csv.h"
#include "base/memory.h"

enum { SCHEMA = 5 };

/* ---- The directory ------------------------------------------------------- */

/* Now, in UTC. */
static size_t print_time(char *text, size_t size, const char *format)
{
	const time_t now = time(NULL);
	struct tm utc;

	return strftime(text, size, format, gmtime_r(&now, &utc));
}

static void path_in(const struct rr_results *results, char path[RR_PATH_SIZE], const char *name)
{
	snprintf(path, RR_PATH_SIZE, "%s/%s", results->directory, name);
}

bool rr_results_replace(const struct rr_results *results, const char *name, struct rr_draft *draft,
			struct rr_error *error)
{
	char path[RR_PATH_SIZE];

	path_in(results, path, name);
	return rr_draft_replace(draft, path, error);
}

bool rr_results_replace_own(const struct rr_results *results, const struct rr_run *run, long repeat,
			    const char *folder, struct rr_draft *draft, struct rr_error *error)
{
	char name[200], rate[32] = "", tail[24] = "";

	if (run->rate_asked)
		snprintf(rate, sizeof(rate), "-%.*s%s", (int)strcspn(run->rate_asked, "%"),
			 run->rate_asked, strchr(run->rate_asked, '%') ? "pct" : "ps");
	if (repeat)
		snprintf(tail, sizeof(tail), "-r%ld", repeat);
	snprintf(name, sizeof(name), "%s/%s-t%d-p%d%s%s.csv", folder, run->strategy->name,
		 run->threads, run->processes, rate, tail);
	return rr_results_replace(results, name, draft, error);
}

bool rr_results_make_folder(const struct rr_results *results, const char *name,
			    struct rr_error *error)
{
	char path[RR_PATH_SIZE];
	struct stat info;

	path_in(results, path, name);
	if (mkdir(path, 0777) == 0)
		return true;
	if (errno != EEXIST)
		return rr_error_file(error, "create", path);
	return (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) ||
	       rr_error_set(error, RR_ERROR_FILE,
			    "'%s' is a link or no directory; choose another --output", path);
}

/* ---- Rows ---------------------------------------------------------------- */

/* A row, and the names of its columns: both come from the same calls. */
struct row {
	FILE *names, *values; /* of the texts below */
	char *names_text, *values_text;
	bool has_fields;
};

__attribute__((format(printf, 3, 4))) static void add_field(struct row *row, const char *name,
							    const char *format, ...)
{
	const char *comma = row->has_fields ? "," : "";
	va_list arguments;

	row->has_fields = true;
	fprintf(row->names, "%s%s", comma, name);
	fputs(comma, row->values);
	va_start(arguments, format);
	vfprintf(row->values, format, arguments);
	va_end(arguments);
}

static void add_count(struct row *row, const char *name, uint64_t value)
{
	add_field(row, name, "%llu", (unsigned long long)value);
}

/* A count that only some runs have; nothing for the others. */
static void add_count_if(struct row *row, const char *name, bool has, uint64_t value)
{
	if (has)
		add_count(row, name, value);
	else
		add_field(row, name, "%s", "");
}

static void add_pct_if_known(struct row *row, const char *name, double pct)
{
	if (pct >= 0)
		add_field(row, name, "%.1f", pct);
	else
		add_field(row, name, "%s", "");
}

/* Opens runs.csv, if it is not open yet, with the names as its first line; else the row is
 * appended. */
static bool write_row(struct rr_results *results, const struct rr_finished *finished,
		      struct rr_error *error)
{
	const struct rr_measurement *m = &finished->measurement;
	const bool is_open = results->rows >= 0;
	char path[RR_PATH_SIZE];
	const struct rr_bench_options *options = results->options;
	const struct rr_formation_tally *tally = &m->tally;
	const struct rr_times *times = &m->times;
	/* Nothing stands there where nothing was killed or waited for. */
	const bool dies = m->run.fail_overs > 0 || tally->fail_overs > 0;
	struct row row = { .has_fields = false };
	char now[32], policy[RR_POLICY_TEXT_SIZE];
	bool good = true;
	/* Of an open loop that was not sustained no latency is given. */
	const bool is_open_loop = m->run.rate_asked != NULL;
	const bool has_times = !is_open_loop || m->is_sustained;

	row.names = rr_open_text(&row.names_text);
	row.values = rr_open_text(&row.values_text);
	print_time(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ");
	add_field(&row, "schema", "%d", SCHEMA);
	add_field(&row, "run_id", "%s", results->run_id);
	add_field(&row, "ts_utc", "%s", now);
	add_field(&row, "strategy", "%s", m->run.strategy->name);
	add_field(&row, "expectation", "%s", m->promise == RR_EXACT ? "exact" : "lossy");
	add_field(&row, "threads", "%d", m->run.threads);
	add_field(&row, "processes", "%d", m->run.processes);
	add_field(&row, "increments", "%llu",
		  (unsigned long long)(is_open_loop ? m->offered : (uint64_t)m->run.increments));
	add_field(&row, "repeat", "%ld", finished->repeat);
	add_field(&row, "order_idx", "%ld", finished->order_idx);
	add_field(&row, "seed", "%ld", options->seed);
	add_field(&row, "transport", "%s", results->transport);
	add_field(&row, "placement", "%s", results->placement);
	add_field(&row, "warmup", "%ld", options->warmup);
	add_field(&row, "hold_us", "%ld", m->run.hold_us);
	add_field(&row, "ttl_ms", "%ld", m->run.ttl_ms);
	add_count(&row, "attempted", m->attempted);
	add_count(&row, "ok", m->ok);
	add_count(&row, "failed", m->failed);
	add_count(&row, "unknown", m->unknown);
	add_field(&row, "expected_value", "%lld", m->expected_value);
	add_field(&row, "final_value", "%lld", m->final_value);
	add_field(&row, "lost", "%lld", m->lost);
	add_field(&row, "extra", "%lld", m->extra);
	add_field(&row, "lost_pct", "%.4f", rr_lost_pct(m));
	add_field(&row, "verdict", "%s", rr_verdict_name(m->verdict));
	add_field(&row, "wall_ns", "%lld", (long long)m->wall_ns);
	add_field(&row, "increments_per_s", "%.1f", rr_increments_per_s(m));
	add_count_if(&row, "lat_min_ns", has_times, times->min);
	add_count_if(&row, "lat_mean_ns", has_times, (uint64_t)(times->mean + 0.5));
	add_count_if(&row, "lat_p50_ns", times->p50, times->p50);
	add_count_if(&row, "lat_p90_ns", times->p90, times->p90);
	add_count_if(&row, "lat_p99_ns", times->p99, times->p99);
	add_count_if(&row, "lat_p999_ns", times->p999, times->p999);
	add_count_if(&row, "lat_max_ns", has_times, times->max);
	add_count_if(&row, "wait_p50_ns", times->p50, times->wait_p50);
	add_count_if(&row, "wait_p99_ns", times->p99, times->wait_p99);
	add_count(&row, "retries", m->retries);
	add_count(&row, "retry_max", m->retry_max);
	add_count(&row, "commands", m->commands);
	add_field(&row, "commands_per_increment", "%.4f", rr_commands_per_increment(m));
	add_count_if(&row, "overlaps", m->run.strategy->acquire, m->overlaps);
	add_count(&row, "thread_ops_min", m->thread_ops_min);
	add_count(&row, "thread_ops_max", m->thread_ops_max);
	add_field(&row, "fairness_jain", "%.4f", m->fairness_jain);
	add_field(&row, "client_user_ns", "%lld", (long long)m->client_user_ns);
	add_field(&row, "client_sys_ns", "%lld", (long long)m->client_sys_ns);
	add_field(&row, "server_cpu_ns", "%lld", (long long)m->server_cpu_ns);
	add_field(&row, "policy", "%s", rr_policy_text(m->run.policy, m->run.strategy, policy));
	add_field(&row, "persistence", "%s",
		  options->n_redis ? "own" : rr_persistence_names[options->persistence]);
	add_field(&row, "keys", "%ld", options->keys);
	add_count_if(&row, "overruns", m->run.strategy->lock.lease, m->overruns);
	add_field(&row, "lock", "%s", rr_lock_kind_names[m->run.strategy->lock.kind]);
	add_field(&row, "topology", "%s", rr_topology_names[m->topology]);
	add_count_if(&row, "fail_overs_asked", dies, (uint64_t)m->run.fail_overs);
	add_count_if(&row, "kills", dies, (uint64_t)tally->kills);
	add_count_if(&row, "fail_overs", dies, (uint64_t)tally->fail_overs);
	add_count_if(&row, "without_primary_ns", dies, (uint64_t)tally->headless_ns);
	add_count_if(&row, "without_primary_max_ns", dies, (uint64_t)tally->headless_max_ns);
	add_field(&row, "cut_ms", "%lld", (long long)m->run.cut_ns / 1000000);
	add_field(&row, "wait_replicas", "%ld", m->run.wait_replicas);
	add_count_if(&row, "unconfirmed", m->run.wait_replicas, m->unconfirmed);
	add_field(&row, "dead_holders", "%d", m->dead_holders);
	add_count_if(&row, "recovery_ns", m->recovery_ns, (uint64_t)m->recovery_ns);
	add_count_if(&row, "lat_time_p50_ns", times->time_p50, times->time_p50);
	add_count_if(&row, "wait_max_ns", has_times, times->wait_max);
	add_field(&row, "luckiest_pct", "%.2f", m->luckiest_pct);
	add_field(&row, "loop", "%s", is_open_loop ? "open" : "closed");
	add_field(&row, "seconds_per_cell", "%ld", options->seconds_per_cell);
	add_field(&row, "arrivals", "%s", is_open_loop ? rr_arrivals_names[m->run.arrivals] : "");
	add_field(&row, "rate_asked", "%s", is_open_loop ? m->run.rate_asked : "");
	add_count_if(&row, "rate_per_s", is_open_loop, (uint64_t)(m->run.rate_per_s + 0.5));
	add_count_if(&row, "capacity_per_s", m->run.capacity_per_s > 0,
		     (uint64_t)(m->run.capacity_per_s + 0.5));
	add_count_if(&row, "offered", is_open_loop, m->offered);
	add_count_if(&row, "in_time", is_open_loop, m->in_time);
	add_count_if(&row, "unfinished", is_open_loop, m->unfinished);
	add_count_if(&row, "undone", is_open_loop, m->undone);
	add_field(&row, "sustained", "%s", !is_open_loop ? "" : m->is_sustained ? "yes" : "no");
	add_count_if(&row, "wake_p50_ns", m->wake_p50_ns, m->wake_p50_ns);
	add_count_if(&row, "wake_p99_ns", m->wake_p99_ns, m->wake_p99_ns);
	add_pct_if_known(&row, "others_pct", rr_disturbance_others_pct(&m->disturbance));
	add_pct_if_known(&row, "steal_pct", rr_disturbance_steal_pct(&m->disturbance));
	add_count_if(&row, "throttled", m->disturbance.knows_throttling,
		     (uint64_t)m->disturbance.throttled);
	add_count_if(&row, "frequency_mhz", m->disturbance.most_khz,
		     (uint64_t)m->disturbance.most_khz / 1000);
	fputc('\n', row.names);
	fputc('\n', row.values);
	fclose(row.names);
	fclose(row.values);
	path_in(results, path, "runs.csv");
	if (is_open)
		good = rr_csv_append_row(results->rows, path, row.values_text, error);
	else
		results->rows = rr_csv_open_rows(path, row.names_text, error);
	free(row.names_text);
	free(row.values_text);
	return good && results->rows >= 0;
}

/* ---- Percentiles --------------------------------------------------------- */

bool rr_results_spectrum(const struct rr_results *results, const struct rr_run *run, long repeat,
			 const struct rr_histogram *latency, struct rr_error *error)
{
	double *longer = rr_calloc(RR_HISTOGRAM_BUCKETS, sizeof(*longer)), left = 1;
	struct rr_draft draft;
	FILE *file;

	rr_histogram_time_longer(latency, longer);
	rr_draft_open(&draft);
	file = draft.out;
	/* Five steps in each halving of the distance to 100 %, as long as there are
	 * values left to tell apart. */
	fprintf(file, "value_ns,percentile,count,one_over_1_minus_p,time_longer_pct\n");
	while (left * (double)latency->count >= 1) {
		for (int step = 0; step < 5; step++) {
			const double rest = left * (1 - step * 0.1);
			const double p = 1 - rest;
			const uint64_t value = rr_histogram_quantile(latency, p);

			fprintf(file, "%llu,%.6f,%.0f,%.3f,%.4f\n", (unsigned long long)value,
				100 * p, p * (double)latency->count, 1 / rest,
				100 * longer[rr_histogram_index(value)]);
		}
		left /= 2;
	}
	fprintf(file, "%llu,100.000000,%llu,%.3f,0.0000\n", (unsigned long long)latency->max_ns,
		(unsigned long long)latency->count, (double)latency->count);
	free(longer);
	return rr_results_replace_own(results, run, repeat, "percentiles", &draft, error);
}

/* Those of another repeat. */
static void pool_latencies(struct rr_results *results, const struct rr_run *run,
			   const struct rr_histogram *latency)
{
	size_t i = 0;

	while (i < results->n_pools && (results->pools[i]->run.strategy != run->strategy ||
					results->pools[i]->run.threads != run->threads ||
					results->pools[i]->run.rate_asked != run->rate_asked))
		i++;
	if (i == results->n_pools) {
		rr_array_grow(&results->pools, i, sizeof(*results->pools));
		results->pools[i] = rr_calloc(1, sizeof(**results->pools));
		results->pools[i]->run = *run;
		results->n_pools++;
	}
	rr_histogram_merge(&results->pools[i]->latency, latency);
}

/* ---- The whole ----------------------------------------------------------- */

bool rr_results_open(struct rr_results *results, const struct rr_bench_options *options,
		     const struct rr_cluster *cluster, const struct rdl_address *data,
		     struct rr_error *error)
{
	const struct rr_finished blank = { .measurement.run.strategy = rr_strategies[0] };
	const char *output = options->output;
	unsigned short tail = 0;
	size_t length;

	*results = (struct rr_results){
		.rows = -1,
		.options = options,
		.transport = data->is_unix ? "unix" : "tcp",
		.placement = cluster->options.cpu >= 0 ? "same" : "none",
	};
	length = print_time(results->run_id, RR_RUN_ID_SIZE, "%Y%m%dT%H%M%SZ");
	if (getrandom(&tail, sizeof(tail), 0) < 0)
		tail = (unsigned short)getpid();
	snprintf(results->run_id + length, RR_RUN_ID_SIZE - length, "-%04x", tail);
	if (snprintf(results->directory, sizeof(results->directory), "%s%s",
		     output ? "" : "results/",
		     output ? output : results->run_id) >= (int)sizeof(results->directory))
		return rr_error_set(error, RR_ERROR_USAGE, "--output: the name is too long");
	if (!output && (!rr_files_make_directory("results", error) ||
			!rr_files_make_new_directory(results->directory, error)))
		return false;
	if (!rr_files_make_directory(results->directory, error) ||
	    !rr_results_make_folder(results, "percentiles", error) ||
	    !write_row(results, &blank, error))
		return false;
	return output || rr_files_link("results/latest", results->run_id, error);
}

void rr_results_close(struct rr_results *results)
{
	for (size_t i = 0; i < results->n_finished; i++)
		free(results->finished[i]);
	free(results->finished);
	for (size_t i = 0; i < results->n_pools; i++)
		free(results->pools[i]);
	free(results->pools);
	json_decref(results->environment);
	if (results->rows >= 0)
		close(results->rows);
	results->rows = -1;
}

bool rr_results_add(struct rr_results *results, struct rr_finished *finished,
		    const struct rr_spectra *spectra, struct rr_error *error)
{
	rr_array_grow(&results->finished, results->n_finished, sizeof(*results->finished));
	results->finished[results->n_finished++] = finished;
	rr_histogram_merge(&results->wake, &spectra->wake);
	rr_disturbance_merge(&results->disturbance, &finished->measurement.disturbance);
	if (!write_row(results, finished, error))
		return false;
	if (finished->measurement.run.rate_asked && !finished->measurement.is_sustained)
		return true;
	pool_latencies(results, &finished->measurement.run, &spectra->latency);
	return rr_results_spectrum(results, &finished->measurement.run, finished->repeat,
				   &spectra->latency, error);
}

/* SPDX-License-Identifier: MIT */
#include "shard.h"

/* The buckets that are not empty: [index, count, ...]. */
static json_t *json_of_histogram(const struct rr_histogram *histogram)
{
	json_t *buckets = json_array();

	for (size_t i = 0; i < RR_HISTOGRAM_BUCKETS; i++) {
		if (!histogram->buckets[i])
			continue;
		json_array_append_new(buckets, json_integer((json_int_t)i));
		json_array_append_new(buckets, json_integer(histogram->buckets[i]));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)histogram->count,
			 "sum_ns", (json_int_t)histogram->sum_ns, "min_ns",
			 (json_int_t)histogram->min_ns, "max_ns", (json_int_t)histogram->max_ns,
			 "buckets", buckets);
}

json_t *rr_bench_shard_run(const struct rr_measurement *m, const struct rr_spectra *spectra,
			   const struct rr_meeting *meeting, long repeat)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:{s:f, s:f, s:f}, s:o, s:o}",
		"repeat", (json_int_t)repeat, "ok", (json_int_t)m->ok, "failed",
		(json_int_t)m->failed, "unknown", (json_int_t)m->unknown, "final",
		(json_int_t)m->final_value, "wall_ns", (json_int_t)m->wall_ns, "retries",
		(json_int_t)m->retries, "commands", (json_int_t)m->commands, "overlaps",
		(json_int_t)m->overlaps, "overruns", (json_int_t)m->overruns, "clock", "offset_us",
		(double)meeting->offset_ns / 1e3, "half_width_us",
		(double)meeting->half_width_ns / 1e3, "late_us", (double)meeting->late_ns / 1e3,
		"latency", json_of_histogram(&spectra->latency), "waiting",
		json_of_histogram(&spectra->waiting));
}

/* The first ones get what is left over. */
long rr_bench_share(const struct rr_shard *shard, long all)
{
	return all / shard->of + (shard->index <= all % shard->of);
}

json_t *rr_bench_shard_options(const struct rr_bench_options *options)
{
	json_t *strategies = json_array(), *threads = json_array();

	for (size_t i = 0; i < options->n_strategies; i++)
		json_array_append_new(strategies, json_string(options->strategies[i]->name));
	for (size_t i = 0; i < options->n_threads; i++)
		json_array_append_new(threads, json_integer(options->threads[i]));
	return json_pack("{s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:s}",
			 "shards", options->shard.of, "strategies", strategies, "threads", threads,
			 "processes", (json_int_t)options->processes, "increments",
			 (json_int_t)options->increments, "repeats", (json_int_t)options->repeats,
			 "warmup", (json_int_t)options->warmup, "keys", (json_int_t)options->keys,
			 "ttl_ms", (json_int_t)options->ttl_ms, "hold_us",
			 (json_int_t)options->hold_us, "wait", rr_policy_names[options->policy],
			 "seed", (json_int_t)options->seed, "run", options->run_name);
}

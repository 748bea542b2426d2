/* SPDX-License-Identifier: MIT */
/*
 * The load of several machines, put together: what all shards were told was counted,
 * compared with what the server held when all of them had ended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/shards.h"
#include "base/text.h"
#include "measures.h"

/* All repeats of one case, the shards' parts of each added up. */
struct load {
	const struct rr_shards *shards;
	const struct rr_case *first; /* the case in the first shard */
	const struct rr_strategy *strategy;
	size_t n_repeats;
	struct rr_measurement *runs; /* one for each repeat */
	struct rr_spectra spectra;   /* of all of them */
	json_t *clocks;
};

static json_int_t count_in(const json_t *run, const char *name)
{
	return json_integer_value(json_object_get(run, name));
}

/* False: it is no histogram. */
static bool add_histogram(struct rr_histogram *into, const json_t *histogram)
{
	const json_t *buckets = json_object_get(histogram, "buckets");
	struct rr_histogram *part = calloc(1, sizeof(*part));
	bool good = part && json_is_array(buckets);

	if (good) {
		part->count = (uint64_t)count_in(histogram, "count");
		part->sum_ns = (uint64_t)count_in(histogram, "sum_ns");
		part->min_ns = (uint64_t)count_in(histogram, "min_ns");
		part->max_ns = (uint64_t)count_in(histogram, "max_ns");
	}
	for (size_t i = 0; good && i + 1 < json_array_size(buckets); i += 2) {
		const json_int_t bucket = json_integer_value(json_array_get(buckets, i));
		const json_int_t n = json_integer_value(json_array_get(buckets, i + 1));

		good = bucket >= 0 && bucket < RR_HISTOGRAM_BUCKETS && n > 0 && n <= UINT32_MAX;
		if (good)
			part->buckets[bucket] = (uint32_t)n;
	}
	if (good && part->count)
		rr_histogram_merge(into, part);
	free(part);
	return good;
}

/* The longest one's time, and the sum of all else. False: it is no run of a shard. */
static bool add_run(struct load *load, struct rr_measurement *m, const json_t *run)
{
	const int64_t wall_ns = count_in(run, "wall_ns");

	m->ok += (uint64_t)count_in(run, "ok");
	m->failed += (uint64_t)count_in(run, "failed");
	m->unknown += (uint64_t)count_in(run, "unknown");
	m->retries += (uint64_t)count_in(run, "retries");
	m->commands += (uint64_t)count_in(run, "commands");
	m->overlaps += (uint64_t)count_in(run, "overlaps");
	m->overruns += (uint64_t)count_in(run, "overruns");
	m->final_value = count_in(run, "final");
	if (wall_ns > m->wall_ns)
		m->wall_ns = wall_ns;
	return add_histogram(&load->spectra.latency, json_object_get(run, "latency")) &&
	       add_histogram(&load->spectra.waiting, json_object_get(run, "waiting"));
}

static void add_clock(struct load *load, const struct rr_shard_results *shard, const json_t *run)
{
	json_t *clock = json_copy(json_object_get(run, "clock"));

	json_object_set_new(clock, "shard", json_integer(shard->index));
	json_object_set(clock, "repeat", json_object_get(run, "repeat"));
	json_array_append_new(load->clocks, clock);
}

static bool refuse_load(const struct load *load, const struct rr_shard_results *shard,
			const char *why, struct rr_error *error)
{
	return rr_error_set(error, RR_ERROR_DATA, "'%s' (shard %d/%d): %s: %s", shard->path,
			    shard->index, shard->of, load->first->name, why);
}

static const json_t *runs_of(const struct rr_shard_results *shard, const struct load *load)
{
	const struct rr_case *one = rr_shard_case(shard, "bench", load->first->name);

	return one ? json_object_get(one->properties, "shard_runs") : NULL;
}

/* All shards have as many runs of the case as the first, or all have none. */
static bool have_same_runs(const struct load *load, struct rr_error *error)
{
	for (size_t i = 0; i < load->shards->n; i++) {
		const struct rr_shard_results *shard = &load->shards->all[i];

		if (json_array_size(runs_of(shard, load)) != load->n_repeats)
			return refuse_load(load, shard, "it has other runs than the first shard",
					   error);
	}
	return true;
}

/* Repeat `i` of all shards. All have read the same value from the server. */
static bool add_repeat(struct load *load, size_t i, struct rr_error *error)
{
	const struct rr_case *first = load->first;
	struct rr_measurement *m = &load->runs[i];

	*m = (struct rr_measurement){
		.strategy = load->strategy,
		.threads = (int)count_in(first->properties, "threads"),
		.processes = (int)count_in(first->properties, "processes"),
	};
	m->promise = rr_promise_for(m->strategy, m->threads, m->processes * (int)load->shards->n);
	for (size_t k = 0; k < load->shards->n; k++) {
		const struct rr_shard_results *shard = &load->shards->all[k];
		const json_t *run = json_array_get(runs_of(shard, load), i);

		if (k > 0 && count_in(run, "final") != m->final_value)
			return refuse_load(load, shard,
					   "it has read another final count than the first shard",
					   error);
		if (!add_run(load, m, run))
			return refuse_load(load, shard, "its durations cannot be read", error);
		add_clock(load, shard, run);
	}
	m->attempted = m->ok + m->failed + m->unknown;
	rr_measurement_judge(m);
	return true;
}

/* ---- The case --------------------------------------------------------------------- */

static const struct rr_measurement *worst_run(const struct load *load)
{
	const struct rr_measurement *found = &load->runs[0];

	for (size_t i = 1; i < load->n_repeats; i++) {
		const enum rr_exit code = rr_verdict_exit(found->verdict);
		const struct rr_measurement *m = &load->runs[i];

		if (rr_verdict_exit(m->verdict) != code &&
		    rr_exit_worse(code, rr_verdict_exit(m->verdict)) != code)
			found = m;
	}
	return found;
}

static double median_rate(const struct load *load)
{
	double rates[1000];

	for (size_t i = 0; i < load->n_repeats; i++)
		rates[i] = rr_increments_per_s(&load->runs[i]);
	return rr_statistics_of(rates, load->n_repeats, 1).median;
}

static json_t *properties_of_load(const struct load *load, const struct rr_measurement *m)
{
	const struct rr_histogram *latency = &load->spectra.latency;
	const struct rr_histogram *waiting = &load->spectra.waiting;

	return json_pack(
		"{s:s, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:O}",
		"expectation", m->promise == RR_EXACT ? "exact" : "lossy", "threads", m->threads,
		"processes", m->processes, "shards", (json_int_t)load->shards->n, "repeats",
		(json_int_t)load->n_repeats, "attempted", (json_int_t)m->attempted, "expected",
		(json_int_t)m->expected_value, "final", (json_int_t)m->final_value, "lost",
		(json_int_t)m->lost, "extra", (json_int_t)m->extra, "overlaps",
		(json_int_t)m->overlaps, "failed", (json_int_t)m->failed, "unknown",
		(json_int_t)m->unknown, "increments_per_s", median_rate(load),
		"commands_per_increment", rr_commands_per_increment(m), "lat_p50_ns",
		(json_int_t)rr_histogram_quantile(latency, 0.5), "lat_p90_ns",
		(json_int_t)rr_histogram_quantile(latency, 0.9), "lat_p99_ns",
		(json_int_t)rr_histogram_quantile(latency, 0.99), "lat_max_ns",
		(json_int_t)latency->max_ns, "wait_p99_ns",
		(json_int_t)rr_histogram_quantile(waiting, 0.99), "clocks", load->clocks);
}

static enum rr_exit add_load(const struct load *load, struct rr_cases *whole)
{
	const struct rr_measurement *m = worst_run(load);
	struct rr_case one = *load->first;
	char final[RR_GROUPED_SIZE], expected[RR_GROUPED_SIZE];
	char rate[RR_GROUPED_SIZE], tail[RR_GROUPED_SIZE], message[300];

	snprintf(message, sizeof(message), "%s: %s of %s, %s increments/s, p99 %s, %zu shards",
		 m->remark, rr_grouped(final, m->final_value),
		 rr_grouped(expected, m->expected_value),
		 rr_grouped(rate, (long long)median_rate(load)),
		 rr_duration(tail, rr_histogram_quantile(&load->spectra.latency, 0.99)),
		 load->shards->n);
	one.verdict = rr_case_verdict_of(rr_verdict_exit(m->verdict));
	one.message = message;
	one.properties = properties_of_load(load, m);
	rr_cases_add(whole, &one);
	return rr_verdict_exit(m->verdict);
}

/* What a shard has ended with, if the figures do not tell: it found something
 * broken in its own part, or was broken off. */
static enum rr_exit trouble_of(const struct rr_shard_results *shard)
{
	return shard->code == RR_EXIT_INCONCLUSIVE || shard->code == RR_EXIT_SKIPPED ? RR_EXIT_OK :
										       shard->code;
}

static enum rr_exit worst_trouble(const struct rr_shards *shards)
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < shards->n; i++)
		code = rr_exit_worse(code, trouble_of(&shards->all[i]));
	return code;
}

/* A strategy without figures, which the server refused, or which got stuck; or what
 * broke the run off, of which the shards' exit codes tell. */
static enum rr_exit add_unmeasured(const struct rr_case *one, const struct rr_shards *shards,
				   struct rr_cases *whole)
{
	const enum rr_exit trouble = worst_trouble(shards);
	const enum rr_exit codes[RR_CASE_VERDICTS] = {
		[RR_CASE_PASSED] = RR_EXIT_INTERNAL,
		[RR_CASE_FAILED] = RR_EXIT_VIOLATED,
		[RR_CASE_INCONCLUSIVE] = RR_EXIT_INCONCLUSIVE,
		[RR_CASE_SKIPPED] = RR_EXIT_SKIPPED,
		[RR_CASE_ERROR] = trouble ? trouble : RR_EXIT_INTERNAL,
	};

	json_incref(one->properties);
	rr_cases_add(whole, one);
	return codes[one->verdict];
}

/* False: the error. */
static bool merge_case(const struct rr_shards *shards, const struct rr_case *first,
		       struct rr_cases *whole, enum rr_exit *code, struct rr_error *error)
{
	struct load *load = calloc(1, sizeof(*load));
	const json_t *runs = json_object_get(first->properties, "shard_runs");
	char name[80];

	if (!load)
		return rr_error_no_memory(error);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(first->name, ","), first->name);
	load->shards = shards;
	load->first = first;
	load->strategy = rr_strategy_find(name);
	load->n_repeats = json_array_size(runs);
	load->runs = calloc(load->n_repeats + 1, sizeof(*load->runs));
	load->clocks = json_array();
	if (!load->runs)
		rr_error_no_memory(error);
	else if (load->n_repeats > 1000 || (load->n_repeats && !load->strategy))
		refuse_load(load, &shards->all[0], "it is no strategy", error);
	else
		have_same_runs(load, error);
	for (size_t i = 0; !error->kind && i < load->n_repeats; i++)
		add_repeat(load, i, error);
	if (!error->kind)
		*code = load->n_repeats ? add_load(load, whole) :
					  add_unmeasured(first, shards, whole);
	json_decref(load->clocks);
	free(load->runs);
	free(load);
	return !error->kind;
}

/* Each shard has the same cases; the order is that of the first. */
bool rr_bench_merge(const struct rr_shards *shards, struct rr_cases *whole, enum rr_exit *code,
		    struct rr_error *error)
{
	const struct rr_cases *first = &shards->all[0].cases;
	size_t n_skipped = 0;

	*code = worst_trouble(shards);
	for (size_t i = 1; i < shards->n; i++) {
		if (shards->all[i].cases.n != first->n)
			return rr_error_set(
				error, RR_ERROR_DATA,
				"'%s' has %zu cases and '%s' has %zu: one of the shards was broken off",
				shards->all[0].path, first->n, shards->all[i].path,
				shards->all[i].cases.n);
	}
	for (size_t i = 0; i < first->n; i++) {
		enum rr_exit one = RR_EXIT_OK;

		if (!merge_case(shards, &first->cases[i], whole, &one, error))
			return false;
		if (one == RR_EXIT_SKIPPED)
			n_skipped++;
		else
			*code = rr_exit_worse(*code, one);
	}
	if (n_skipped == whole->n && *code == RR_EXIT_OK)
		*code = RR_EXIT_SKIPPED;
	return true;
}

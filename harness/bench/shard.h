/* SPDX-License-Identifier: MIT */
/* Private to bench/: what a shard of a bench keeps of each run, for redrace merge. */
#ifndef RR_BENCH_SHARD_H
#define RR_BENCH_SHARD_H

#include "measures.h"
#include "meeting.h"

/* All counts, every duration, and the clock. NULL: out of memory. */
json_t *rr_bench_shard_run(const struct rr_measurement *measurement,
			   const struct rr_spectra *spectra, const struct rr_meeting *meeting,
			   long repeat);

/* A shard's part of so many. */
long rr_bench_share(const struct rr_shard *shard, long all);

/* What has to be the same in all shards. */
json_t *rr_bench_shard_options(const struct rr_bench_options *options);

#endif

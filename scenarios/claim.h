/* SPDX-License-Identifier: MIT */
/*
 * The claims that five documents make about Redis, clients and locks, and what
 * became of each. `redrace claims` finds out again, by playing races and by
 * measuring, and compares.
 *
 * A claim that the documents only imply, or that is needed to test one of
 * theirs, is `derived`. To add a claim: one entry in a table of
 * scenarios/claims_*.c, and a race whose heading `claim` names it.
 */
#ifndef RR_CLAIM_H
#define RR_CLAIM_H

#include <stdbool.h>
#include <stddef.h>

enum rr_claim_verdict {
	RR_CLAIM_TRUE,
	RR_CLAIM_FALSE,
	RR_CLAIM_TRUE_IF,    /* under a condition */
	RR_CLAIM_OUTDATED,   /* was true, or was the way to do it */
	RR_CLAIM_INCOMPLETE, /* a case that matters is not spoken of */
	RR_CLAIM_VERDICTS
};

/* What is counted or timed beside, or instead of, playing races. */
enum rr_measure {
	RR_MEASURE_NOTHING,
	RR_MEASURE_LOST_UPDATES,
	RR_MEASURE_INCR,
	RR_MEASURE_TORN_READS,
	RR_MEASURE_OWN_CONNECTIONS,
	RR_MEASURE_SHARED_CONNECTION,
	RR_MEASURE_MUTEX_PER_OPERATION,
	RR_MEASURE_MUTEX_ON_CONNECTION,
	RR_MEASURE_MUTEX_IN_PROCESSES,
	RR_MEASURE_LOCK_IN_REDIS,
	RR_MEASURE_TAKE_OVER,
	RR_MEASURE_STALLED_GETSET,
	RR_MEASURE_EVALSHA,
	RR_MEASURE_PIPELINE_SIZE,
	RR_MEASURE_PIPELINE_GAIN,
	RR_MEASURE_METHODS,
	RR_MEASURE_PERSISTENCE,
	RR_MEASURES
};

struct rr_claim {
	const char *id;
	const char *text;  /* what is claimed, in a line */
	const char *where; /* document:lines; what it is derived from */
	bool derived;
	enum rr_claim_verdict verdict; /* as found on Redis 7.0.15 */
	/* TRUE_IF: the condition; OUTDATED: since when; INCOMPLETE: what is
	 * missing. NULL for others. */
	const char *remark;
	/* The verdict is about servers from here on ("6.2"); NULL = all. */
	const char *least_version;
	/* Its races are about different servers: those that are skipped, because
	 * this server answers otherwise, do not count. */
	bool by_server;
	/* The verdict on servers where `race` is not skipped; NULL = the same. */
	struct rr_claim_elsewhere {
		const char *race;
		enum rr_claim_verdict verdict;
		const char *since; /* "Valkey 9.1" */
	} elsewhere;
	enum rr_measure measure;
};

struct rr_claim_section {
	const char *title;
	const struct rr_claim *claims;
	const size_t *n_claims;
};

extern const struct rr_claim_section rr_claim_sections[];
extern const size_t rr_n_claim_sections;

/* Of all sections together, in their order; NULL from the last one on. */
const struct rr_claim *rr_claim_at(size_t index);

/* NULL = there is none. */
const struct rr_claim *rr_claim_find(const char *id);

/* "true", "false", "true if", "outdated", "incomplete". */
const char *rr_claim_verdict_name(enum rr_claim_verdict verdict);

#endif

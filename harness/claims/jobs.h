/* SPDX-License-Identifier: MIT */
/*
 * What has to be done to check claims: races to play, things to measure. Done
 * by several worker processes with servers of their own; results are left in
 * memory that all share, so that what is known stays known when a run is
 * called off.
 */
#ifndef RR_JOBS_H
#define RR_JOBS_H

#include <stdatomic.h>

#include "claims.h"
#include "base/error.h"

struct rr_race;
struct rr_signals;

enum {
	RR_JOB_NAME = 80,
	RR_JOB_TEXT = 512,
	RR_JOB_SAYINGS = 32, /* of one race */
	RR_JOB_REPLY = 100,
	RR_JOB_WORKERS_MAX = 64,
};

enum rr_job_state { RR_JOB_WAITING, RR_JOB_RUNNING, RR_JOB_DONE };

/* What a measurement came to. */
enum rr_measured {
	RR_MEASURED_SHOWN,  /* what is claimed was seen */
	RR_MEASURED_OPEN,   /* it was not, which proves nothing */
	RR_MEASURED_BROKEN, /* what must always hold did not */
};

struct rr_saying_result {
	bool holds;
	char reply[RR_JOB_REPLY]; /* "SET x 1 => OK", "" = about the end */
};

struct rr_job_result {
	_Atomic int state;
	int worker;
	enum rr_exit code;      /* OK: it was played, or measured */
	char text[RR_JOB_TEXT]; /* the verdict, or figures, or what is wrong */
	bool as_written;
	struct rr_saying_result sayings[RR_JOB_SAYINGS];
	enum rr_measured measured;
};

struct rr_job {
	char name[RR_JOB_NAME];
	struct rr_race *race; /* NULL: one that cannot be read, or a measure */
	enum rr_measure measure;
	struct rr_job_result *result;
};

struct rr_jobs {
	size_t n;
	struct rr_job *jobs;
	struct rr_jobs_shared *shared;
	const char *program; /* redis-server */
};

/* Which claims are asked for. */
struct rr_claims_choice {
	size_t n; /* 0 = all */
	const struct rr_claim **claims;
};
bool rr_claims_chosen(const struct rr_claims_choice *choice,
		      const struct rr_claim *claim);

/* Does the race's heading name it? */
bool rr_race_names_claim(const struct rr_race *race, const char *id);

/* Is it one of the claim's races, or its measurement? */
bool rr_job_is_about(const struct rr_job *job, const struct rr_claim *claim);

/* What the chosen claims need: measurements first, for they take longest. A
 * race that cannot be read is done, with its code. False: out of memory. */
bool rr_jobs_collect(struct rr_jobs *jobs, const char *program,
		     const struct rr_claims_choice *choice);
void rr_jobs_free(struct rr_jobs *jobs);

/*
 * Does them, with so many workers. RR_EXIT_INTERRUPTED: a signal came, and some
 * are not done. Other codes: no workers, complained of. What becomes of the
 * single jobs is in their results. Nothing is left when it returns.
 */
enum rr_exit rr_jobs_run(struct rr_jobs *jobs, long workers,
			 struct rr_signals *signals);

/* The server's version, "" = none was asked; and how time passed there. */
const char *rr_jobs_version(const struct rr_jobs *jobs);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The claims of the documents (scenarios/claim.h), checked: their races are
 * played, what is left to chance is measured, and what is true of each is
 * computed and compared with what is recorded.
 *
 * Order: collect, run, judge, any of the formats, free. One thread; the jobs
 * are done by a pool of workers (base/pool.h) with servers of their own. What
 * is known stays known when a run is called off.
 */
#ifndef RR_CLAIMS_H
#define RR_CLAIMS_H

#include <stdio.h>

#include "base/cases.h"
#include "base/error.h"
#include "base/markdown.h"
#include "base/shard.h"
#include "claim.h"
#include "cluster/cluster.h"

struct rr_race;

/* ---- Jobs ---------------------------------------------------------------------- */

enum {
	RR_JOB_NAME = 80,
	RR_JOB_TEXT = 512,
	RR_JOB_SAYINGS = 32, /* of one race */
	RR_JOB_REPLY = 100,
};

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
	bool is_done;
	enum rr_exit code;      /* OK: it was played, or measured */
	char text[RR_JOB_TEXT]; /* the verdict, or figures, or what is wrong */
	bool as_written;
	struct rr_saying_result sayings[RR_JOB_SAYINGS];
	enum rr_measured measured;
	double seconds;
};

/* A race to play, or something to measure. */
struct rr_job {
	char name[RR_JOB_NAME];
	struct rr_race *race; /* NULL: one that cannot be read, or a measure */
	enum rr_measure measure;
	struct rr_job_result result;
};

struct rr_jobs {
	size_t n;
	struct rr_job *jobs;
	const char *program;           /* redis-server */
	char version[RR_VERSION_SIZE]; /* "Redis 7.0.15", "" = none was asked */
};

/* Which claims are asked for. */
struct rr_claims_choice {
	size_t n; /* 0 = all */
	const struct rr_claim **claims;
	struct rr_shard shard; /* and of these, once they are dealt out, only its own */
};
bool rr_claims_chosen(const struct rr_claims_choice *choice, const struct rr_claim *claim);

/* How the case of a claim is called. */
enum { RR_CLAIM_CASE = 300 };
const char *rr_claim_case_name(const struct rr_claim *claim, char name[RR_CLAIM_CASE]);

/* Deals the chosen claims out. False: the error. */
bool rr_claims_deal(struct rr_claims_choice *choice, struct rr_error *error);

/* Does the race's heading name it? */
bool rr_race_names_claim(const struct rr_race *race, const char *id);

/* What the chosen claims need: measurements first, for they take longest. A
 * race that cannot be read is done, with its code. */
bool rr_jobs_collect(struct rr_jobs *jobs, const char *program,
		     const struct rr_claims_choice *choice, struct rr_error *error);
void rr_jobs_free(struct rr_jobs *jobs);

/*
 * Does them, with so many workers. What becomes of the single jobs is in their
 * results. False: some are not done; RR_ERROR_INTERRUPTED: for a signal came.
 * Nothing is left when it returns.
 */
bool rr_jobs_run(struct rr_jobs *jobs, int n_workers, struct rr_signals *signals,
		 struct rr_error *error);

/* ---- Rows: what became of the claims --------------------------------------------- */

enum rr_standing {
	RR_STANDS,         /* what is recorded was found again */
	RR_DIFFERS,        /* something else was found */
	RR_NOT_AS_WRITTEN, /* a race did not go as it is written */
	RR_NOT_SHOWN,      /* there is neither a race nor a measurement */
	RR_NOT_PLAYED,     /* a race could not be played */
	RR_OPEN,           /* a measurement showed nothing this time */
	RR_SKIPPED,        /* the server lacks what a race needs */
	RR_UNFINISHED,     /* called off before */
	RR_STANDINGS
};

struct rr_claim_row {
	const struct rr_claim *claim;
	enum rr_standing standing;
	enum rr_exit code;
	enum rr_claim_verdict recorded; /* of this server */
	bool is_computed;               /* from races; else the measurement decides */
	enum rr_claim_verdict computed;
	const char *section; /* that the row begins; NULL = it goes on */
	/* In words, malloc'd: */
	char *where;    /* "001:53 (derived)" */
	char *verdict;  /* what is recorded: "true if clocks agree" */
	char *observed; /* findings, replies, figures */
	char *races;    /* names, comma separated */
	char *problem;  /* "" where it stands */
	double seconds; /* that its races and its measurement took */
};

struct rr_claim_rows {
	size_t n;
	struct rr_claim_row *rows;
	size_t counts[RR_STANDINGS]; /* how many stand like that */
	const char *version;         /* of the server, the jobs' */
};

/* Rows of the chosen claims, in the table's order. */
void rr_judge(struct rr_claim_rows *rows, const struct rr_jobs *jobs,
	      const struct rr_claims_choice *choice);
void rr_claim_rows_free(struct rr_claim_rows *rows);

/* What the program exits with for them. */
enum rr_exit rr_claim_rows_exit(const struct rr_claim_rows *rows);

/* Is version `have` at least `least`, "Redis 7.0.15" and "6.2"? */
bool rr_version_reaches(const char *have, const char *least);

/* ---- Formats ----------------------------------------------------------------------- */

/* "121 claims: 118 as recorded (80 true, 38 false), 2 skipped, 1 differs". */
void rr_claim_rows_summarise(const struct rr_claim_rows *rows, FILE *file);

void rr_claims_text(const struct rr_claim_rows *rows, FILE *file);
void rr_claims_markdown(const struct rr_claim_rows *rows, FILE *file);
void rr_claims_html(const struct rr_claim_rows *rows, FILE *file);

/* What stands on the page, as a part of a site (site/site.h): `how` says where the links of
 * docs/claims.md lead there. */
void rr_claims_html_part(const struct rr_claim_rows *rows, struct rr_markdown how, FILE *file);

/* A case each, for the other formats. Release them in any case. */
void rr_claim_rows_as_cases(const struct rr_claim_rows *rows, struct rr_cases *cases);

/* ---- Measurements (measure.c) ------------------------------------------------- */

/*
 * What is left to chance, or a matter of speed, counted and timed in short runs at full speed.
 * Such a figure proves nothing when it is not the expected one: then the measurement is open.
 * Only what holds in every order of events can be broken.
 */

/* Starts a server, measures, ends it. Fills the result. */
void rr_measure_take(enum rr_measure measure, struct rr_session *session, const char *program,
		     struct rr_job_result *result);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Two results directories compared: what is read of them, and the statistics of two
 * samples. For compare*.c alone.
 */
#ifndef RR_BENCH_COMPARE_H
#define RR_BENCH_COMPARE_H

#include <stdio.h>

#include "base/csv.h"
#include "bench.h"

/* ---- Two samples (compare_statistics.c) ---------------------------------- */

enum { RR_SAMPLE_MAX = 1000 };

/* The two-sided test of Mann and Whitney, and the shift of Hodges and Lehmann. */
struct rr_mann_whitney {
	double u;          /* pairs in which b is larger; ties count half */
	double p;          /* two-sided */
	bool is_exact;     /* p: from all arrangements, not by approximation */
	double least_p;    /* the least that samples of these sizes can give */
	double ratio;      /* b / a: median of all quotients */
	double low, high;  /* 95 % interval of it; all quotients if few */
	bool has_interval; /* it is one of 95 %, and not less */
};

/* Positive figures; 1 to RR_SAMPLE_MAX of each. */
void rr_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
		     struct rr_mann_whitney *result);

/* ---- Results directories (compare_read.c) -------------------------------- */

enum { RR_COMPARED_SETTINGS = 15 };

enum rr_compared_figure { RR_COMPARED_RATE, RR_COMPARED_P99, RR_COMPARED_FIGURES };

/* A row of runs.csv. */
struct rr_compared_row {
	const char *strategy, *policy, *verdict, *expectation;
	const char *rate_asked; /* of an open loop, or "" */
	bool is_unsustained;
	long threads, processes;
	long long ok, lost, extra;
	double wall_ns, p50_ns, commands, lost_pct;
	double figures[RR_COMPARED_FIGURES];
	/* What has to be equal for a comparison, as it stands there. */
	const char *settings[RR_COMPARED_SETTINGS];
};

struct rr_compared_runs {
	char *directory;   /* as it is shown */
	struct rr_csv csv; /* what the rows point into */
	struct rr_compared_row *rows;
	size_t n_rows;
	struct json_t *environment; /* env.json; NULL = there is none */
};

/* Reads runs.csv and env.json. Release it in any case. */
bool rr_compared_read(struct rr_compared_runs *runs, const char *directory, struct rr_error *error);
void rr_compared_release(struct rr_compared_runs *runs);

/* A text or number at OBJECT.NAME of env.json, plain; "" if it is not there. */
const char *rr_compared_environment(const struct rr_compared_runs *runs, const char *object,
				    const char *name, char text[128]);

/* Prints all that differs between both besides the program, a line each; how many. */
size_t rr_compared_differences(const struct rr_compared_runs *before,
			       const struct rr_compared_runs *after, FILE *out);

#endif

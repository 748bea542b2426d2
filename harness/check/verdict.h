/* SPDX-License-Identifier: MIT */
/* What came of a check: its verdict in words, its exit code, and all that is written. */
#ifndef RR_VERDICT_H
#define RR_VERDICT_H

#include "check.h"
#include "programs.h"

/* A check that has come to its end. */
struct rr_checked {
	const struct rr_check_options *options;
	size_t n_clients;
	const struct rr_explore_result *result; /* NULL = there is an error */
	const struct rr_programs *programs;
	struct rr_cluster *cluster; /* where the schedule is played to be drawn */
	bool is_interrupted, is_out_of_time;
};

/* Prints the verdict and what belongs to it, but for the schedule. */
void rr_checked_print(FILE *out, const struct rr_checked *check);

/* What the program exits with for it. */
enum rr_exit rr_checked_exit(const struct rr_checked *check);

/* Why nothing is shown: there may be more states, or there was nothing to be found;
 * NULL = all has been seen. */
const char *rr_checked_limit(const struct rr_checked *check);

/* ---- Reports (report.c) ------------------------------------------------------------- */

/* Where people are told something: stdout, unless that is for something else. */
FILE *rr_check_report_file(const struct rr_check_options *options);

/* Prints what came of it, and writes the files that were asked for. */
enum rr_exit rr_check_report(const struct rr_checked *check, struct rr_error *error);

/* It came to nothing: tells other programs, too. */
void rr_check_report_error(const struct rr_checked *check, const struct rr_error *error);

#endif

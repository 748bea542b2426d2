/* SPDX-License-Identifier: MIT */
/* What the files of check share: one call of rr_check(). */
#ifndef RR_CHECK_PARTS_H
#define RR_CHECK_PARTS_H

#include "base/files.h"
#include "base/progress.h"
#include "check.h"
#include "programs.h"
#include "race/race.h"

struct rr_check {
	const struct rr_check_options *options;
	struct rr_session session;
	struct rr_cluster cluster;
	struct rr_programs *programs;
	struct rr_programs *checker; /* NULL = there is none */
	char preload[RR_PATH_SIZE];
	struct rr_race *given; /* its `given` are the commands of --init */
	struct rl_command commands[RR_GIVEN_MAX];
	struct rr_expected expected[RR_CHECK_FINALS_MAX];
	struct rl_command asked[RR_CHECK_FINALS_MAX];
	struct rr_race *finals; /* their words */
	double begun;
	int64_t until_ns; /* --seconds, by rr_clock_ns(); 0 = there is no end */
	bool is_out_of_time;
	struct rr_progress progress;
	unsigned long last_open; /* states that were to be looked at when it was
				  * shown last */
};

size_t rr_check_n_clients(const struct rr_check *check);

/* Shows how far the search is, now and then; for rr_explore_config. */
void rr_check_show_progress(struct rr_check *check, unsigned long states, double share);

/* Where people are told something: stdout, unless that is for something else. */
FILE *rr_check_report_file(const struct rr_check_options *options);

/* Writes the comments that make a race of a finding one to be replayed. */
void rr_replay_write(FILE *out, const struct rr_check_options *options, const char *words);

/* Prints what came of it, and writes the files that were asked for. */
enum rr_exit rr_check_report(struct rr_check *check, const struct rr_explore_result *result,
			     struct rr_error *error);

/* It came to nothing: tells other programs, too. */
void rr_check_report_error(struct rr_check *check, const struct rr_error *error);

/* ---- The verdict in words (words.c) -------------------------------------------------- */

/* Prints the verdict and what belongs to it, but for the schedule. */
void rr_check_print_words(FILE *out, const struct rr_check *check,
			  const struct rr_explore_result *result);

/* What the program exits with for it. */
enum rr_exit rr_check_exit(const struct rr_check *check, const struct rr_explore_result *result);

/* Why nothing is shown: there may be more states, or there was nothing to be found;
 * NULL = all has been seen. */
const char *rr_check_cut(const struct rr_check *check, const struct rr_explore_result *result);

#endif

/* SPDX-License-Identifier: MIT */
/* A check, and what came of it: its verdict in words, its exit code, and all that is
 * written. */
#ifndef RR_VERDICT_H
#define RR_VERDICT_H

#include "apps.h"
#include "base/files.h"
#include "given.h"
#include "client/client.h"
#include "record.h"
#include "skeptic/skeptic.h"

struct rr_check {
	const struct rr_check_options *options;
	size_t n_operations;                                /* clients, or requests to an app */
	char requests[RR_CHECK_CLIENTS_MAX][RR_CHECK_NAME]; /* their names */
	struct rr_apps apps;
	struct rr_session session;
	struct rr_cluster cluster; /* where the schedule is played to be drawn, too */
	struct rr_programs *programs;
	struct rr_programs *checker;                   /* NULL = there is none */
	struct rr_programs *successors[RR_SUCCESSORS]; /* of those that crash; NULL = none do */
	struct rr_given given;
	char preload[RR_PATH_SIZE], node_preload[RR_PATH_SIZE];
	const char *names[RR_CHECK_CLIENTS_MAX]; /* of operations, in messages */
	struct rr_strangers strangers;
	int unwatched;          /* an errno: what programs connected to was not seen; 0 = it was */
	uint64_t seed;          /* of the programs' random values, in the search that is reported */
	size_t n_searches;      /* each with another seed */
	unsigned n_seeds;       /* with which a program was run in the first of them */
	unsigned long n_starts; /* of programs, in those before */
	enum rr_pids pids;      /* that programs see */
	int unfixed;            /* an errno: their addresses were random; 0 = they were not */
	struct rr_explore_progress progress;
	const struct rr_explore_result *result; /* NULL = there is an error */
	struct rr_explore_result *explored;     /* what result points to, if there is one */
	struct rr_record record;                /* of its verdict, from one check to the next */
	struct rr_opened opened;                /* by all programs of the check */
	int64_t begun_ns;                       /* the time of day, as it is written to files */
	char **left_out;                        /* variables that programs are not given */
	struct rr_skeptic_result skeptic;       /* after a search without a finding */
	struct rr_starts starts;                /* of --starts */
	unsigned long n_pairs;     /* of requests that were searched before all of them */
	bool is_of_pair;           /* what is found was found so */
	unsigned long n_skeptical; /* runs for it */
	char out_of_budget[120];   /* of seconds or starts, and what was not finished */
	struct rr_cases cases;
};

/* Prints the verdict and what belongs to it, but for the schedule; and of that the verdict alone. */
void rr_checked_print(FILE *out, const struct rr_check *check);
void rr_checked_print_verdict(FILE *out, const struct rr_check *check);

/* What the findings are called, each once: "lost update (counter)"; or their kinds alone, by
 * identifiers that stay the same: "lost_update" (finding_text.c). */
json_t *rr_checked_findings(const struct rr_check *check, bool are_kinds);

/* What the program exits with for it. */
enum rr_exit rr_checked_exit(const struct rr_check *check);

/* What the search alone comes to, without the skeptic: its exit code, its verdict and why it is no
 * more than that. An object, the caller's to release. */
json_t *rr_checked_search(const struct rr_check *check);

/* Why nothing is shown: there may be more states, or there was nothing to be found. An identifier
 * that stays the same, and a sentence; NULL = all has been seen. */
struct rr_limit {
	const char *id, *text;
};
struct rr_limit rr_checked_limit(const struct rr_check *check);

/* In what ends differ from those of serial executions, and was not compared because it moves with
 * the clock: keys, and "the output of B". A JSON array, the caller's to release. */
json_t *rr_checked_not_compared(const struct rr_check *check);

/* Operations that were refused, in how many ends, and how: a JSON array, the caller's to release. */
json_t *rr_checked_refused(const struct rr_check *check);

/* "python3 app/counter.py", or all commands of --client; or the app. malloc'd (report.c). */
char *rr_checked_programs_words(const struct rr_check_options *options);

/* Writes what --game asks for, if it does (game.c). */
bool rr_check_write_game(const struct rr_check *check, struct rr_error *error);

/* ---- What a schedule ends in (finding_text.c) --------------------------------------- */

/* Of one more finding, or a schedule that was followed, what it ends in. */
void rr_checked_print_end(FILE *out, const struct rr_check *check,
			  const struct rr_outcome *finding);

/* As rr_process_end() says it. */
void rr_checked_print_status(FILE *out, int status);

/* What the worst of these is called: by an identifier that stays the same, "not_serializable", and
 * as a verdict begins, "not serializable"; NULL = nothing is found. */
struct rr_checked_kind {
	const char *id, *name;
};
struct rr_checked_kind rr_checked_kind(unsigned found);

/* Of a finding: its anomaly, or if that has no name the worst that is found. */
struct rr_checked_kind rr_checked_kind_of(const struct rr_outcome *finding);

/* The keys that a serial order leaves otherwise: those that are there, or, if there are none,
 * those that are missing. A JSON array, the caller's to release. */
json_t *rr_checked_keys(const struct rr_outcome *finding);

/* The heading and then the lines, indented; nothing if there are none (NULL). */
void rr_checked_print_lines(FILE *out, const char *heading, const char *lines);

/* What an operation is: "client", or "request" to an app. */
const char *rr_checked_noun(const struct rr_check *check);

/* ---- Its programs (check.c, given.c) ------------------------------------------------- */

/* How its programs are started. */
struct rr_instance_config rr_check_instances(struct rr_check *check);

/* Opens them for the check's options, with nothing learned; closes them. */
void rr_check_open_programs(struct rr_check *check);
void rr_check_close_programs(struct rr_check *check);

/* The search for all of its schedules. */
struct rr_explore_config rr_check_search(struct rr_check *check);

/* Runs the command of --setup on what is given, and gives what it leaves. False: the error. */
bool rr_check_set_up(struct rr_check *check, struct rr_error *error);

/* Searches each two of three or more requests to one app, with half of the time and of the starts
 * that are left each. True: check->result is a schedule of all requests that ends wrong. (pairs.c) */
bool rr_check_search_pairs(struct rr_check *check);

/* ---- The second judge (skeptical.c) ---------------------------------------------------- */

/* Asks the skeptic, if the search is about to say yes, or was bounded. */
void rr_check_ask_skeptic(struct rr_check *check);

/* Runs it, for so many seconds after the first schedules, and so many schedules at most; each serial
 * execution once or twice. */
void rr_check_run_skeptic(struct rr_check *check, double seconds, size_t most, int serial_runs);

/* The exit code of the search, and what the skeptic makes of it where it judges. */
enum rr_exit rr_check_exit_with_skeptic(const struct rr_check *check, enum rr_exit code);

/* A line about it, and what differs. */
void rr_check_print_skeptic(FILE *out, const struct rr_check *check);
json_t *rr_check_skeptic_as_json(const struct rr_check *check);

/* ---- Reports (report.c) ------------------------------------------------------------- */

/* Where what people read is printed: stdout, unless that is for something else. */
FILE *rr_check_report_file(const struct rr_check_options *options);

/* What other programs are told of it in JSON, a new reference. */
json_t *rr_checked_properties(const struct rr_check *check);

/* Prints what came of it, and writes the files that were asked for. */
enum rr_exit rr_check_report(struct rr_check *check, struct rr_error *error);

/* It came to nothing: tells other programs, too. */
void rr_check_report_error(struct rr_check *check, const struct rr_error *error);

#endif

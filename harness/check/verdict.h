/* SPDX-License-Identifier: MIT */
/* A check, and what came of it: its verdict in words, its exit code, and all that is
 * written. */
#ifndef RR_VERDICT_H
#define RR_VERDICT_H

#include <jansson.h>

#include "base/files.h"
#include "base/marks.h"
#include "check.h"
#include "client/client.h"
#include "party/party.h"
#include "skeptic/skeptic.h"

/*
 * Apps and their requests as clients of a search. Each process of the app is one, with those
 * requests that it gets, and so is each request that asks Redis and no app: what they have in
 * common is Redis alone, so that each is learned by itself. All together they are run when
 * something is played. A client is a program, redrace-app (app/app.c). An app that is started
 * again when it has crashed is a client of its own, with the same requests: those that have begun
 * before never come to it.
 */
enum { RR_APP_WORDS = RR_REQUESTS_MAX + 5 };

struct rr_apps {
	size_t n; /* clients; 0 = there is no app */
	struct rr_instance_app clients[RR_RUN_CLIENTS];
	struct rr_request_place places[RR_REQUESTS_MAX];    /* of each request */
	uint8_t again[RR_RUN_CLIENTS];                      /* see rr_program */
	const char *commands[RR_RUN_CLIENTS][RR_APP_WORDS]; /* of each client */
	char names[RR_RUN_CLIENTS][RR_CLIENT_NAME];
	const char *name_of[RR_RUN_CLIENTS];
	char *lines[RR_REQUESTS_MAX]; /* of requests those that are no commands, malloc'd */
	const char *requests[RR_REQUESTS_MAX]; /* all of them */
	char driver[RR_PATH_SIZE];             /* "" = it is missing */
};

/* Commands that the user gives: those that are done first, and what the final data are asked. */
struct rr_given {
	struct rr_command_list init;      /* of --init, and what --setup leaves */
	struct rr_command_list questions; /* of --final */
	struct rr_expected expected[RR_CHECK_FINALS_MAX];
};

/* The verdict as it is kept from one check to the next (record.c). */
struct rr_record {
	char *path;       /* NULL = nothing is kept, or was */
	bool may_be_kept; /* in a directory: what programs look at has to be noted */
	char *key;        /* what is known before the programs run */
	size_t n_key;
	char why[RR_OPENED_WHY];    /* nothing was used, or is kept; "" = it is */
	char remark[RR_OPENED_WHY]; /* that the user should see; "" = none */
	bool is_refused;            /* this verdict is not kept, and that is about the programs */
	bool is_used;               /* what is reported is the verdict of the record */
	const char *earlier; /* what became of the one that was kept: "none", "used", "changed",
				     * "broken", "refuted"; NULL = none was looked for */
	/* Why one that was kept for the same programs was not used, as far as that is known: a sentence,
	 * "" = it is not; and a list of identifiers, NULL = none. */
	char again[RR_OPENED_WHY];
	json_t *changed;
	json_t *content; /* of one that is used */
};

struct rr_check {
	const struct rr_check_options *options;
	size_t n_operations;                          /* clients, or requests to an app */
	char requests[RR_RUN_CLIENTS][RR_CHECK_NAME]; /* their names */
	struct rr_apps apps;
	struct rr_session session;
	struct rr_cluster cluster; /* where the schedule is played to be drawn, too */
	struct rr_programs *programs;
	struct rr_programs *checker;                   /* NULL = there is none */
	struct rr_programs *successors[RR_SUCCESSORS]; /* of those that crash; NULL = none do */
	struct rr_given given;
	char jar[RR_PATH_SIZE]; /* the cookies that --setup leaves; "" = it leaves none */
	char *cookies;          /* what is in it, malloc'd; or NULL */
	char **answer;          /* of --setup, which may be any (rr_check_ask()); or NULL */
	char preload[RR_PATH_SIZE], node_preload[RR_PATH_SIZE];
	const char *names[RR_RUN_CLIENTS]; /* of operations, in messages */
	struct rr_strangers strangers;
	struct rr_redis_places places; /* where programs take Redis to be */
	int unwatched;         /* an errno: what programs connected to was not seen; 0 = it was */
	struct rr_fresh fresh; /* of --fresh */
	bool depends_on_fresh; /* what a client does: the search could not follow it */
	struct rr_touched touched;                 /* besides Redis */
	char *allowed_paths[RR_CHECK_OUTSIDE_MAX]; /* whole ones, of --allow-outside */
	size_t n_allowed_paths;
	struct rr_redis_places allowed_servers;
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
	char nothing_sent[3 * RR_ADDRESS_SIZE]; /* where Redis may be, if no command came */
	char out_of_budget[120]; /* of seconds or starts, and what was not finished */
	struct rr_cases cases;
};

/* Prints the lines above the schedule: the verdict and, of a finding, what went wrong; and of
 * these the verdict alone. */
void rr_checked_print(FILE *out, const struct rr_check *check);
void rr_checked_print_verdict(FILE *out, const struct rr_check *check);

/* And below it: why, what would fix it, and how to go on. The advice is the first two. */
void rr_checked_print_rest(FILE *out, const struct rr_check *check);
void rr_checked_print_advice(FILE *out, const struct rr_check *check);

/* What the findings are called, each once: "lost update (counter)"; or their kinds alone, by
 * identifiers that stay the same: "lost_update" (finding_text.c). */
json_t *rr_checked_findings(const struct rr_check *check, bool are_kinds);

/* What the program exits with for it. */
enum rr_exit rr_checked_exit(const struct rr_check *check);

/* What the search alone comes to, without the skeptic: its exit code, its verdict and why it is no
 * more than that. An object, the caller's to release. */
json_t *rr_checked_search(const struct rr_check *check);

/* ---- How far it goes (limits.c) ------------------------------------------------------ */

/* Why nothing is shown, of several reasons the largest: there may be more states, or there was nothing
 * to be found. An identifier that stays the same, and a sentence; NULL = all has been seen. */
enum { RR_LIMIT_OPTION = 40 };

struct rr_limit {
	const char *id, *text;
	bool is_vacuous;   /* there was nothing to be found: the sentence says all */
	char because[200]; /* "not all schedules were searched, because ..."; "" = it is not so */
	char option[RR_LIMIT_OPTION]; /* that would help; "" = there is none */
	char next[160]; /* what to do, the option included; "" = it is said elsewhere */
};
struct rr_limit rr_checked_limit(const struct rr_check *check);

/* Prints what to try next, unless that is said elsewhere. */
void rr_checked_print_limit(FILE *out, const struct rr_check *check);

/* In what ends differ from those of serial executions, and was not compared because it moves with
 * the clock: keys, and "the output of B". A JSON array, the caller's to release. */
json_t *rr_checked_moving_values(const struct rr_check *check);

/* The same, and state outside Redis that no option allows: "the file /tmp/log"; and how many. */
json_t *rr_checked_not_compared(const struct rr_check *check);
size_t rr_checked_count_not_compared(const struct rr_check *check);

/* As bits, clients that always failed, which have shown nothing. */
uint32_t rr_checked_failing_clients(const struct rr_check *check);

/* The orders in which commands were executed, and what was not tried: docs/formats.md. Null: it is
 * not known. And the most interesting of it, in ten lines or so, indented. */
json_t *rr_checked_coverage(const struct rr_check *check);
void rr_checked_print_coverage(FILE *out, const struct rr_check *check, size_t indent);

/* ---- Clients that fail (verdict.c) ------------------------------------------------------ */

/* Clients that never succeeded, if any: how each ended, as in `endings`. */
json_t *rr_checked_failing(const struct rr_check *check);

/* Operations that were refused, in how many ends, and how: a JSON array, the caller's to release. */
json_t *rr_checked_refused(const struct rr_check *check);

/* "python3 app/counter.py", or all commands of --client; or the app. malloc'd (report.c). */
char *rr_checked_programs_words(const struct rr_check_options *options);

/* The command that makes this check: what was typed, without --no-cache, --skeptic and what says where
 * to write; of a suite its file and the name of the check. With two more words after the first, or
 * NULL. malloc'd (game.c). */
char *rr_checked_command(const struct rr_check_options *options, char *first, char *second);

/* That command with --replay, of the file that is saved or "FILE"; malloc'd (verdict.c). */
char *rr_checked_replay(const struct rr_check_options *options);

/* Writes what --game asks for, if it does (game.c). */
bool rr_check_write_game(const struct rr_check *check, struct rr_error *error);

/* ---- What a schedule ends in (finding_text.c) --------------------------------------- */

/* Of one more finding, or a schedule that was followed, what it ends in. */
void rr_checked_print_end(FILE *out, const struct rr_check *check,
			  const struct rr_outcome *finding);

/* Why it is wrong, if that is known. */
void rr_checked_print_why(FILE *out, const struct rr_outcome *finding);

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

/* Those; or, where only outputs differ or nothing is compared, the keys that the steps name. */
json_t *rr_checked_keys_or_named(const struct rr_outcome *finding);

/* The heading and then the lines, indented; nothing if there are none (NULL). */
void rr_checked_print_lines(FILE *out, const char *heading, const char *lines);

/* What an operation is: "client", or "request" to an app. */
const char *rr_checked_noun(const struct rr_check *check);

/* ---- Its programs (check.c, apps.c, given.c) ------------------------------------------ */

/* Runs the command of --build, if there is one. False: the error. (build.c) */
bool rr_check_build(struct rr_check *check, struct rr_error *error);

/* Deals the requests out, and says in the configuration of programs who is whose. Clients that do
 * the same have the same command line there. `jar`: a file of cookies, of which each request gets a
 * copy; "" = there are none. It and the apps must outlive the programs. */
void rr_apps_make(struct rr_apps *apps, const struct rr_check_options *options, size_t n_requests,
		  const char *jar, struct rr_programs_config *config);
void rr_apps_release(struct rr_apps *apps);

/* Those of --init and --final. False: the error. Release it in any case. */
bool rr_given_read(struct rr_given *given, const struct rr_check_options *options,
		   struct rr_error *error);
void rr_given_release(struct rr_given *given);

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

/* ---- State outside Redis (outside.c) ----------------------------------------------------- */

/* Reads what --allow-outside names. */
void rr_check_outside_open(struct rr_check *check);
void rr_check_outside_release(struct rr_check *check);

/* Lists the files and servers that programs have touched besides Redis, by kind and name. A JSON array, the caller's to release. */
json_t *rr_checked_outside(const struct rr_check *check);

/* Is there any that no option allows? Adds those to what is not compared. */
bool rr_checked_has_outside(const struct rr_check *check);
void rr_checked_add_outside(json_t *not_compared, const struct rr_check *check);

void rr_checked_print_outside(FILE *out, const struct rr_check *check);

/* ---- The verdict that is kept (record.c) ------------------------------------------------ */

/* Decides whether the verdict of this check may be kept, before any program of it is started. */
void rr_record_open(struct rr_check *check);

/* Looks for a verdict of the same check. False: there is none that holds, and the check has to be made;
 * else check->result is as the check had come to its end. */
bool rr_record_use(struct rr_check *check);

/* Keeps what the check has come to, if it may be kept. */
void rr_record_keep(struct rr_check *check);

void rr_record_release(struct rr_record *record);

/* Of a finding that is used: who was refused, as rr_checked_refused() has it; NULL = there is none. */
json_t *rr_record_refused(const struct rr_record *record);

/* Of what is used: what was touched besides Redis, as rr_checked_outside() has it; NULL = none is
 * used. */
json_t *rr_record_outside(const struct rr_record *record);

/* Of a yes that is used: its text, also as --verbose has it, and its properties in JSON, a new reference; NULL = there is none. */
const char *rr_record_text(const struct rr_record *record, bool is_verbose);
json_t *rr_record_properties(const struct rr_record *record);

/* ---- Reports (report.c) ------------------------------------------------------------- */

/* Where what people read is printed: stdout, unless that is for something else. */
FILE *rr_check_report_file(const struct rr_check_options *options);

/* What other programs are told of it in JSON, a new reference. */
json_t *rr_checked_properties(const struct rr_check *check);

/* Prints what came of it, and writes the files that were asked for. */
enum rr_exit rr_check_report(struct rr_check *check, struct rr_error *error);

/* It came to nothing: tells other programs, too. */
void rr_check_report_error(struct rr_check *check, const struct rr_error *error);

/* ---- Scripts (scripts.c) ------------------------------------------------------------- */

/* Are the programs and scripts there that the commands name? False: the error names one. */
bool rr_check_finds_scripts(const struct rr_check_options *options, struct rr_error *error);

#endif

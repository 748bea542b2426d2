/* SPDX-License-Identifier: MIT */
/*
 * `redrace check`: all interleavings of programs in any language, unmodified. They are
 * started alone, again and again, with a port of ours for their Redis, and learned by
 * what they ask when they hear what (programs.h); explore.h searches their product.
 * The default property needs no assertion: the final data must be those that some
 * serial order of the clients gives.
 */
#ifndef RR_CHECK_H
#define RR_CHECK_H

#include "base/error.h"
#include "cluster/cluster.h"
#include "draw/draw.h"
#include "explore/explore.h"
#include "party/party.h"
#include "suite/suite.h"

enum {
	RR_CHECK_NAME = 40,
	RR_CHECK_FINALS_MAX = 16,
	RR_CHECK_IGNORED_MAX = 16,
	RR_CHECK_GIVEN_MAX = 64,
	RR_CHECK_OUTSIDE_MAX = 16
};

/* What a check is printed and written in: for people and other programs, and
 * pictures of the schedule that is found. */
enum {
	RR_CHECK_PICTURES = RR_ONLY(RR_FORMAT_HTML) | RR_ONLY(RR_FORMAT_SVG) |
			    RR_ONLY(RR_FORMAT_MERMAID) | RR_ONLY(RR_FORMAT_RACE)
};

/* What a game of a check is made of (game.c): the writer of its page is above. */
struct rr_checked_game {
	const struct rr_explore_result *result; /* with the graph of all states */
	const char *programs;                   /* "sh counter.sh" */
	const char *command;                    /* "redrace check -- sh counter.sh" */
	const char *replay;                     /* the same with --replay schedule.race */
	const char *schedule;    /* what that file begins with; words of a schedule follow */
	const char *verdict;     /* lines; "" = nothing was found */
	const char *path, *text; /* the program, if it is one file of text; or NULL */
	size_t n_clients;        /* or requests */
	bool is_app;
};

/* So many states are shown at most. */
enum { RR_CHECKED_GAME_STATES = 6000 };

struct rr_check_options {
	int argc; /* the words of the command line that names the programs */
	char **argv;
	const char *suite; /* of a check of a suite the file, NULL = RR_SUITE_FILE, */
	const char *name;  /* and its name; NULL = it is of none */
	long n_clients;
	const char *const *command; /* of all clients, ends in NULL */
	size_t n_named;             /* or each has its own, for the shell */
	struct rr_check_client {
		char name[RR_CHECK_NAME];
		const char *shell[4]; /* sh -c COMMAND */
	} named[RR_RUN_CLIENTS];
	const char *app;   /* a shell command; NULL = the programs are no requests to an app */
	const char *build; /* a shell command that makes the programs; or NULL */
	struct rr_builds *builds; /* those of the suite; NULL = it is a check of its own */
	const char *ready; /* one that exits with 0 when the app is up; NULL = its port is open */
	long n_apps;
	size_t n_requests;
	const char *requests[RR_RUN_CLIENTS]; /* shell commands */
	bool is_line[RR_RUN_CLIENTS];         /* or what the app reads */
	struct rr_explore_config search;      /* its bounds; without what is of programs */
	long seconds;                         /* after which it stops */
	long starts;          /* of programs, after which it stops; 0 = any number */
	long patience_s;      /* until a program that does nothing hangs */
	long seed;            /* of the programs' random values */
	bool fixes_pids;      /* their process ids are the same in each run, from the beginning */
	const char *init;     /* a file of commands that are done first; or NULL */
	const char *setup;    /* a shell command that goes on from there; or NULL */
	const char *refused;  /* a client with this status, or whose output matches this regular
			      * expression, did not do its work; or NULL */
	bool holds_day;       /* the time of day stands still while they wait */
	bool accepts_bounded; /* exits with 0 although clients have no end */
	bool data_only;       /* what clients print, and their statuses, need not
			    * be those of a serial order */
	const char *allowed[RR_CHECK_IGNORED_MAX]; /* lines of outputs that are not
						    * compared: regular expressions */
	size_t n_allowed;
	bool no_cache;                         /* no verdict is kept for another check, or was */
	const char *cache;                     /* the directory for it; NULL = one of the user's */
	const char *given[RR_CHECK_GIVEN_MAX]; /* variables of the environment that programs are
						* given although they are left out elsewhere */
	size_t n_given;
	const char *redis_at[RR_REDIS_AT_MAX]; /* where the programs take Redis to be, beside
						* REDIS_URL and port 6379 */
	size_t n_redis_at;
	const char *outside[RR_CHECK_OUTSIDE_MAX]; /* state that need not be compared: PATH or
						    * HOST:PORT */
	size_t n_outside;
	const char *fresh; /* a directory of which each run has a copy; or NULL */
	bool stats;        /* says where the time went */
	bool verbose;      /* says what was assumed, in figures */
	size_t n_finals;   /* what the data have to be if all did their work */
	struct rr_check_final {
		const char *command, *value;
	} finals[RR_CHECK_FINALS_MAX];
	const char *checker[4]; /* sh -c COMMAND, on all final data; or NULL */
	const char *ignored[RR_CHECK_IGNORED_MAX];
	enum rr_skeptic_mode { RR_SKEPTIC_REPORTS, RR_SKEPTIC_IS_OFF, RR_SKEPTIC_JUDGES } skeptic;
	const char *replay; /* the file of search.schedule; or NULL */
	const char *save;   /* a file for the schedule that is found; or NULL */
	const char *game;   /* a file for the game of it; or NULL */
	bool (*write_game)(FILE *out, const struct rr_checked_game *game, struct rr_error *error);
	struct rr_outputs report;
	const char *redis_server;
};

/* Notes which commands of --build have been run, for checks in processes that are forked afterwards:
 * each runs once. NULL: out of memory, and each check builds. (build.c) */
struct rr_builds *rr_builds_new(void);
void rr_builds_free(struct rr_builds *builds);

/* Checks, and prints what came of it: RR_EXIT_OK (serializable), RR_EXIT_VIOLATED or
 * RR_EXIT_INCONCLUSIVE. Before there is any thread. Errors are the error's. */
enum rr_exit rr_check(const struct rr_check_options *options, struct rr_error *error);

/* Starts the app of these options once and sends it one request alone, in which {app} is its address. Returns
 * what that has printed, however it was answered, malloc'd; NULL: the error, as a check has it. */
char *rr_check_ask(const struct rr_check_options *options, const char *request,
		   struct rr_error *error);

/* ---- Schedules that were saved (replay.c) ---------------------------------------- */

/*
 * A schedule that was found, in the file that --save writes, for --replay: a race, whose
 * last lines say in comments
 *
 *	# redrace check --clients 2 --crashes 1
 *	# schedule A:GET B:GET A:SET B:SET
 */
struct rr_replay {
	char *options; /* " --clients 2 --crashes 1" */
	char *words;
};

/* Writes these lines. */
void rr_replay_write(FILE *out, const struct rr_check_options *options, bool holds_day,
		     bool fixes_pids, uint64_t seed, const char *words);

/* What --replay names among the words, if they have it: what was read, and its options, which
 * are taken as `line` says. Release it in any case. */
bool rr_replay_take(struct rr_replay *replay, const struct rr_command_line *line, void *into, int n,
		    char **argv, struct rr_error *error);

void rr_replay_release(struct rr_replay *replay);

/* ---- The command line (options.c) ------------------------------------------------- */

/* What it says of one check, and of a suite of them: the options of a check are keys of a
 * suite, too. */
struct rr_check_command {
	struct rr_check_options each;
	struct rr_suite_options whole;
	struct rr_replay replay; /* of each.search.schedule */
};

extern const struct rr_command_line rr_check_command_line;

/* "report", "off", "judge", by enum rr_skeptic_mode. */
extern const char *const rr_check_skeptic_modes[];

struct rr_check_command rr_check_defaults(void);

/* Takes what is said, which is kept, not copied; release chosen->replay in any case. */
bool rr_check_take_words(struct rr_check_command *chosen, int argc, char **argv,
			 struct rr_error *error);

/* Is it a PATH, HOST:PORT or unix:PATH, as --allow-outside has it? (outside.c) */
bool rr_check_outside_reads(const char *text);

bool rr_check_has_program(const struct rr_check_options *options);

/* Do the options of one check go together? */
bool rr_check_fits(const struct rr_check_options *options, struct rr_error *error);

/* ---- Suites (suites.c) ------------------------------------------------------------- */

/* Runs the checks that were chosen: of what a file says of each, and what the command line
 * says of all of them, which is told once more. */
enum rr_exit rr_check_run_suite(struct rr_check_command *chosen, int argc, char **argv,
				struct rr_error *error);

/* False: there is a program, and something is said that is of a suite. */
bool rr_check_refuse_suite(const struct rr_suite_options *whole, struct rr_error *error);

/* The names of the checks in RR_SUITE_FILE, malloc'd as each is; none if it cannot be read. */
char **rr_check_names(size_t *n);

/* The JSON schema of such a file. */
void rr_check_write_schema(FILE *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The skeptic: a second judge of a check that is about to say yes. It knows no table of a
 * search, no cache, no names of random values: it runs the real programs on a real server.
 *
 *	serial executions	every order of the operations (clients, or requests to apps), 24 at
 *			most, each twice with one seed of random values, and once with
 *			another one; or once, if the caller says so. One in which an operation does not end is no
 *			member of the set. Orders without an operation are added where
 *			that operation failed in a schedule and had changed no data.
 *	schedules	ten kinds (schedules.h), then more of them until a third of the
 *			search's time is used.
 *	comparison	by the rule at the head of end.h: a schedule's end is explained if
 *			some serial execution has the same data, outputs and exit statuses.
 *
 * What no serial execution explains is run again, with the serial set computed again. If it
 * comes again the skeptic disagrees; otherwise it is inconclusive. A schedule that is stuck is
 * treated the same way.
 *
 * There is one clock. A program that sleeps for 5 s goes on when the server's clock is 5 s later,
 * where a key expires, a command that blocks times out, or TIME is asked. Time passes while no
 * operation can act: to the end of a sleep, of a time-out or of a key; and while others could act,
 * which are late: their keys last for longer, and their clocks stand still, unless TIME is asked. A
 * client that polls does so at any time. A serial execution may let operations begin later, at
 * times at which they acted in the schedule. An app's sleeps pass on its own clock only, unless it
 * outsleeps a key.
 */
#ifndef RR_SKEPTIC_H
#define RR_SKEPTIC_H

#include <jansson.h>
#include <stdint.h>

#include "cluster/cluster.h"
#include "party/party.h"
#include "server/server.h"

/* RR_SKEPTIC_RUNS: of a serial execution; the last one with other random values. */
enum { RR_SKEPTIC_TEXTS = 16, RR_SKEPTIC_RUNS = 3 };

/* How an operation ended. */
struct rr_skeptic_answer {
	bool has_ended;
	int status;       /* of wait(2) */
	int http;         /* the status of an answer by HTTP; 0 = it is none */
	bool is_good;     /* and not refused */
	bool is_declared; /* what it failed with is a refusal, whatever it has done */
	const char *text; /* what it printed, or what the request was answered */
	size_t length;
};

/*
 * The programs, as processes without any renaming. A party runs until it waits for us; view()
 * says for what. `operation` is a client's number, or that of a request.
 */
struct rr_skeptic_parties {
	void *context;
	size_t n; /* processes */
	size_t n_operations;
	const char *const *names; /* of operations */
	/* Of each the first one with the same command line. */
	uint8_t same_as[RR_RUN_CLIENTS];
	/* Its terms and, for apps, its requests and their places. The skeptic fills in `ask`. */
	struct rr_program *program;
	/* All parties of an execution are about to begin, and share state outside Redis that begins
	 * again: then each begins when its turn comes. NULL: they share none. False: the error. */
	bool (*together)(void *context, struct rr_error *error);
	/* It waits for us when this returns, and draws other random values in each `world` (0 is
	 * that of the search). NULL: the error. */
	void *(*begin)(void *context, size_t party, uint64_t world, struct rr_error *error);
	bool (*feed)(void *party, const struct rr_input *input, uint8_t lane, int64_t passed_ns,
		     struct rr_error *error);
	void (*end)(void *party);
	struct rr_run_view (*view)(void *party);
	struct rr_skeptic_answer (*answer)(void *context, void *party, size_t operation);
	int64_t (*slept_ns)(void *party); /* by its own clock, since it began */
};

struct rr_skeptic_config {
	struct rr_skeptic_parties parties;
	struct rr_cluster *cluster;
	struct rr_command_list given; /* the caller's: done on the empty server at first */
	const char *const *ignored;   /* patterns of what is not compared, see rr_ignored_field() */
	size_t n_ignored;
	const char *const *allowed; /* lines of output that are not: regular expressions */
	size_t n_allowed;
	bool data_only;
	bool strict_exits;   /* only declared failures may be absent from serial executions */
	bool has_faults;     /* the search has some, which the skeptic has not: a limit */
	double seconds;      /* after the first ten schedules it ends after so many */
	double most_seconds; /* and at any point after these */
	size_t most_schedules;
	int serial_runs; /* of each serial execution: RR_SKEPTIC_RUNS; or 1, and random values are
			  * not known */
	struct rr_signals *signals;
	uint64_t seed;
};

enum rr_skeptic_verdict {
	RR_SKEPTIC_OFF,
	RR_SKEPTIC_AGREES,
	RR_SKEPTIC_DISAGREES,
	RR_SKEPTIC_INCONCLUSIVE
};

extern const char *const rr_skeptic_verdict_names[];

struct rr_skeptic_result {
	enum rr_skeptic_verdict verdict;
	unsigned serial_executions, schedules;
	uint64_t seed;
	double seconds;
	char *why;  /* a sentence: what differs, or why nothing was shown; NULL = it agrees */
	char *kind; /* of the schedule that differs: "lockstep from A" */
	char *data, *serial_data; /* lines: what it left, and the nearest serial execution */
	size_t n_steps;
	struct rr_skeptic_step {
		char *who, *command, *reply; /* who is NULL: time passed */
	} * steps;
	/* The same steps and ends as docs/formats.md has those of a finding; NULL = none. */
	json_t *trace, *final, *nearest_serial, *keys;
	bool is_stuck; /* not all of it came to an end */
	size_t n_limits, n_not_compared;
	char *limits[RR_SKEPTIC_TEXTS], *not_compared[RR_SKEPTIC_TEXTS];
	struct rr_error error; /* why it was inconclusive, if an error was the reason */
};

/* Runs them. Release the result in any case. */
void rr_skeptic(const struct rr_skeptic_config *config, struct rr_skeptic_result *result);
void rr_skeptic_release(struct rr_skeptic_result *result);

/* {"mode": ..., "verdict": ..., ...}; `mode`: as the option says it. */
json_t *rr_skeptic_json(const struct rr_skeptic_result *result, const char *mode);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Processes as clients of a search: what each does next, known by what it has received.
 *
 * What a command line does is a table (client/client_table.h), which is learned by
 * instances: processes, alone with us, that have received just that. A process is started
 * about once for each leaf of the histories, and some are kept where they stand. Whatever
 * one does on the way must be what was seen before; if it is not, the program is not
 * deterministic, and both commands are named.
 *
 * Clients with the same command line share a table, as long as they do the same under
 * each name (REDRACE_CLIENT). A client that is run with one seed draws the same in each run; what it
 * draws otherwise with another seed is random (random_values.h). The table has what the first client
 * draws: what another one draws in its place is exchanged with it in all that this one sends and
 * receives. Values in which two runs with one seed differ, as in process ids, are those of the run
 * that was first, and are renamed in others.
 */
#ifndef RR_PROGRAMS_H
#define RR_PROGRAMS_H

#include "client_table.h"
#include "party/party.h"

/* RR_SEEDS: of random values, with which a client is run that draws any. */
enum { RR_CLIENT_NAME = 40, RR_SEEDS = 8 };

/* A budget of starts, which all programs of a check have in common. What is found by then is played
 * all the same. Runs that are started ahead of their use, of which there are more or fewer where the
 * machine is busy, count when they are used. */
struct rr_starts {
	uint64_t most; /* 0 = there is none */
	uint64_t n;
	bool was_refused; /* one more, because all were used */
};

struct rr_programs_config {
	/* Without its program and endings, which are filled in here. */
	struct rr_instance_config instances;
	size_t n_clients;
	struct rr_requests requests;
	bool compares_outputs;      /* what clients print counts */
	enum rr_pids *pids;         /* of all programs of a check, which are fixed where
						* two runs differ; NULL = never */
	bool tries_seeds;           /* other ones of random values, before a yes */
	const char *const *allowed; /* lines that are not compared: regular
						   * expressions */
	size_t n_allowed;
	unsigned long n_audits;   /* paths that are played at random, by which loops are left */
	struct rr_starts *starts; /* NULL = as many as it takes */
	const char *const *argv[RR_RUN_CLIENTS]; /* of each client; the same
						   * pointer: the same table */
	char names[RR_RUN_CLIENTS][RR_CLIENT_NAME];
};

struct rr_programs;

/* The configuration is copied, but not what it points to. */
struct rr_programs *rr_programs_new(const struct rr_programs_config *config);
void rr_programs_free(struct rr_programs *programs);

struct rr_programs_figures {
	unsigned long starts; /* processes that were started and used */
	unsigned long unused; /* and those that were started ahead, and not used (ahead.h) */
	struct rr_instance_times times;
	struct rr_learning_figures {
		unsigned long states; /* of clients */
		unsigned long merges, tests, refinements, loops, walks, untested;
		uint64_t left; /* numbers of rounds after which loops were left, as bits */
		bool has_pairs, lacks_pairs;
	} learning;           /* see client/learning.h */
	bool has_own_clock;   /* some have not loaded the shim, or are in Go */
	bool has_uv;          /* some have libuv */
	bool reads_day;       /* some have read the time of day after they had waited */
	bool holds_day;       /* it stands still while they wait */
	bool is_uncontrolled; /* some draw random values of their own, or as they like */
	unsigned n_seeds;     /* with which one has been run */
	bool hands_over;      /* threads of an app let each other go on (instance.h) */
};

struct rr_programs_figures rr_programs_figures(const struct rr_programs *programs);

/* How a client's program, or a request, ended after the longest history. False: it never did. */
bool rr_programs_last_ending(struct rr_programs *programs, size_t operation,
			     struct rr_ending *ending);

/* Seeds with which some client does something else than with its own, so many. */
size_t rr_programs_other_seeds(const struct rr_programs *programs, uint64_t seeds[RR_SEEDS - 1]);

/* Has any client sent a command that is a step? On several connections at once? */
bool rr_programs_send(const struct rr_programs *programs);
bool rr_programs_use_connections(const struct rr_programs *programs);

/* Of a state that has ended, by its tally. */
struct rr_ending rr_programs_ending(const struct rr_programs *programs, long ending);

/* ---- For a search ---------------------------------------------------------------------- */

/* How the outputs of two ends are compared. */
enum rr_likeness {
	RR_LIKE_PLAIN,    /* as they are */
	RR_LIKE_THOROUGH, /* but for what another run with the same replies prints otherwise, and
			   * what says only how long a client has waited: clients are run for that */
	RR_LIKE_BUT_TIMES /* and but for times of day */
};

/* What is left out, as bits, when what is believed of programs is verified. */
enum rr_left_out {
	RR_LEAVE_HISTORIES = 1, /* that are the same: what was found is played, or nothing is
				 * said of others */
	RR_LEAVE_NAMES = 2      /* of equal clients: they play what was found, or nothing is
				 * judged yet */
};

/* What is played for real. */
enum rr_play {
	RR_PLAY_NOTHING,
	RR_PLAY_PATHS,   /* at random, of which there are many */
	RR_PLAY_FINDING, /* by all clients */
	RR_PLAY_ORDER    /* a serial one, which nothing new is played for */
};

/*
 * The clients of a search that run elsewhere than in fibers. How they are learned is a table, for
 * tests have clients of their own; whatever else is asked is asked of processes, which are there
 * or not.
 */
struct rr_explored_programs {
	const struct rr_explored_ops *ops; /* NULL: there are none */
	void *context;                     /* theirs */
	struct rr_programs *processes;     /* NULL: they are none */
};

struct rr_explored_ops {
	void (*init)(void *context, struct rr_program *program);
	/* Before each search: what was learned of them counts from now on. `withdrawn`: by the search
	 * before it, see rr_beliefs_begin(). True: what is known of servers must be learned anew. */
	bool (*begin_search)(void *context, unsigned withdrawn);
	/* Behind each. `left_out`: enum rr_left_out. */
	enum rr_going (*verify)(void *context, unsigned left_out, struct rr_error *error);
	/* Has a client that has ended in a state of its table ended as one with that tally did? */
	bool (*end_alike)(void *context, size_t operation, uint32_t state, long ending,
			  enum rr_likeness likeness);
	/* That ending of an operation with its client's own random values in what it has printed. */
	long (*own_ending)(void *context, size_t operation, long ending);
};

/* Of processes; NULL: none. */
struct rr_explored_programs rr_programs_explored(struct rr_programs *programs);

/* Looks, last place first, whether what is sent there is random: of what is to be played. */
enum rr_going rr_programs_verify_places(struct rr_programs *programs,
					const struct rr_client_place *places, size_t n,
					struct rr_error *error);

/* Before paths are played at random: after how many rounds a client has to leave a loop in the next
 * one; 0 = it need not. After them: tries what was not tried by that. */
int rr_programs_next_rounds(const struct rr_programs *programs);
enum rr_going rr_programs_verify_rounds(struct rr_programs *programs, struct rr_error *error);

/* There is no end to what they do: from now on the time of day stands still while they wait, and they
 * are learned anew. False: it stands still already, or none of them has read it. */
bool rr_programs_hold_day(struct rr_programs *programs);

/* What is played now is played by real processes, and not by what is known of them: each client is
 * told all of it, and must do what is known already. In a serial order a client is only started if
 * it has not itself, by its own name, received all of that before: what it did then is a fact. */
void rr_programs_set_live(struct rr_programs *programs, enum rr_play play);

/* Is a search judged that has not come to its end? */
void rr_programs_set_unfinished(struct rr_programs *programs, bool are_unfinished);

/* Renames a client's random values that only the second reply has to those that only the first has,
 * in their order, if there are as many and no history has both. */
void rr_programs_pair_values(struct rr_programs *programs, size_t client, const struct rdl_reply *a,
			     const struct rdl_reply *b, struct rr_renaming *renaming);

/* Gives a client's random values that are others in each run, although the seed is the same, names
 * that are the same in each check: "<A1>"; and that ending of an operation, with these. */
void rr_programs_name_uncontrolled(const struct rr_programs *programs, size_t client,
				   struct rr_renaming *renaming);
long rr_programs_named_ending(struct rr_programs *programs, size_t operation, long ending);

/* May times of day be compared as any other number? Not if time has passed in the search, or if a
 * client has read the time of day after it had waited. */
bool rr_programs_compare_times(struct rr_programs *programs, bool has_passed);

/* An operation that has not ended well: is that a failure, and no refusal? So it is after a signal,
 * and after the client has changed data (`is_strict`: in any case), unless the user has declared it.
 * And have both exited, or been answered, with the same status? */
bool rr_programs_fails(struct rr_programs *programs, size_t operation, uint32_t state, long ending,
		       bool is_strict);
bool rr_programs_have_same_status(struct rr_programs *programs, long a, long b);

/* Of an app: what a request is, in a few words, or its answer; malloc'd. `ending` -1: it is the
 * request. */
char *rr_programs_describe_request(struct rr_programs *programs, size_t request, long ending);

/* "exited with 1: the last line that it has printed". */
void rr_programs_print_ending(const struct rr_programs *programs, long ending, FILE *out);

#endif

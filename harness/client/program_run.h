/* SPDX-License-Identifier: MIT */
/* What is known of programs, for the files that deal with them; and their runs, as the
 * tables of clients ask for them (program_run.c). */
#ifndef RR_PROGRAM_RUN_H
#define RR_PROGRAM_RUN_H

#include "ahead.h"
#include "learning.h"
#include "programs.h"
#include "random_values.h"
#include "party/party.h"

enum { UNWAITED_MAX = 8 };

/* What is known of a command line. */
struct command_line {
	const char *const *argv;
	uint32_t clients; /* whose it is, as bits */
	struct rr_client_table table;
	struct rr_random_values values;
	/* What a client draws where the first one draws that value; NULL = nobody has seen it. */
	struct rdl_word drawn[RR_RUN_CLIENTS][RR_NAMES_MAX];
	size_t n_named; /* of them, that have names in terms */
	int n_namings;
	bool lacks_shim; /* a process of it has not loaded the shim: nobody knows what it draws */
	bool draws;      /* random bytes, from the shim */
	int next_equal;  /* of equal clients, that is run to see whether it is */
	int n_seeds;     /* with which it was run to the end of a history, beside its own */
};

/* How a client that has ended would have, had it not waited. */
struct unwaited {
	uint32_t n, endings[UNWAITED_MAX];
};

struct rr_programs {
	struct rr_programs_config config;
	struct rr_instance_config instances;
	struct rr_ahead ahead;
	struct rr_program program; /* of the tables: each client as the one that they are
				    * about */
	size_t n_lines;
	struct command_line lines[RR_RUN_CLIENTS];
	struct command_line *line_of[RR_RUN_CLIENTS];
	struct rr_client_table *tables[RR_RUN_CLIENTS]; /* of each client */
	struct rr_kept_runs kept;
	struct rr_renaming own[RR_RUN_CLIENTS]; /* the table's values and the client's,
						  * exchanged */
	bool is_verified[RR_RUN_CLIENTS];       /* under that name a program did in a
					    * whole history what another did */
	bool has_own_tables;                    /* clients do different things */
	uint32_t drawing;    /* clients that share a table in which the first one draws, as bits */
	enum rr_pids pids;   /* that programs saw when the tables were made */
	bool plays_order;    /* of clients, one after the other */
	bool shows_finding;  /* what is played is a finding, or belongs to it */
	int n_wrong_names;   /* so many times a value with the name of another was not random, */
	bool keeps_names;    /* until no name is given again */
	uint64_t other_seed; /* of the run that is started next; 0 = that of all */
	uint64_t n_other_seeds;
	uint64_t left_with[RR_SEEDS - 1]; /* seeds with which a client does something else */
	size_t n_left_with;
	struct rr_endings endings;
	struct rr_intern ended;    /* states of tables in which a client has ended */
	struct unwaited *unwaited; /* by their numbers */
	struct rr_waiting waiting; /* what shows that a client only waits, in this search */
	bool change_data;          /* some server has changed its data, in any search */
	bool time_has_passed;      /* in the search: see rr_programs_compare_times() */
	uint32_t unlike[2];        /* endings of two clients with the same history */
	struct rr_tokens tokens;
	struct rr_programs_figures figures;
	struct rr_learning_figures learned; /* before the time of day stood still, if that */
	bool is_taken_back; /* that came to nothing, and what was found out before stands */
	struct rr_error problem;
};

/* Does a command line draw the same at each start with the same seed? */
static inline bool rr_programs_control(const struct rr_programs *programs,
				       const struct command_line *line)
{
	return !line->lacks_shim && !(line->clients & programs->ahead.free);
}

/* Has it equal clients, each of which draws the same at each start? Then its table has what the
 * first of them draws. */
static inline bool rr_programs_share(const struct rr_programs *programs,
				     const struct command_line *line)
{
	return rr_programs_control(programs, line) && line->clients & (line->clients - 1);
}

static inline struct rr_terms *rr_programs_terms(const struct rr_programs *programs)
{
	return programs->instances.program->terms;
}

/* Rows of struct rr_explored_ops; the context is the programs. Each client must do under its own name
 * what the others do, and nothing that it sends may be random, but for what is known to be. Names are
 * verified all the same where histories are taken for each other, for what one client does is compared
 * with what another does then. */
enum rr_going rr_programs_verify(void *context, unsigned left_out, struct rr_error *error);
bool rr_programs_end_alike(void *context, size_t operation, uint32_t state, long ending,
			   enum rr_likeness likeness);
long rr_programs_own_ending(void *context, size_t operation, long ending);

/* A run of a client, as rr_client_table_run_again(), which draws other random values, if they are
 * under control. */
bool rr_programs_run_otherwise(struct rr_programs *programs, struct command_line *line,
			       uint32_t state, const struct rr_client_row *row);

static inline void rr_programs_withdraw(const struct rr_programs *programs, enum rr_belief kind)
{
	rr_belief_withdraw(programs->program.beliefs, kind, &programs->program);
}

static inline bool rr_programs_have_withdrawn(const struct rr_programs *programs,
					      enum rr_belief kind)
{
	return rr_beliefs_withdrawn_of(programs->program.beliefs, &programs->program) >> kind & 1;
}

/* Do they no longer run: after a problem, or because the search begins again? */
static inline bool rr_programs_stand(const struct rr_programs *programs)
{
	return programs->problem.kind ||
	       rr_beliefs_withdrawn_of(programs->program.beliefs, &programs->program) &
		       RR_BELIEFS_STOP;
}

/* Do they see other process ids now than when the tables were made? */
static inline bool rr_programs_see_other_pids(const struct rr_programs *programs)
{
	return programs->config.pids && programs->pids != *programs->config.pids;
}

/* A run compares itself with what is known already; it may rename random values, or note
 * that clients do different things. */
extern const struct rr_run_ops rr_program_run_ops;

/* Have two ended alike, an app with the same answers in the same order? `context`: the programs. */
bool rr_program_run_ends_alike(void *context, long a, long b);

#endif

/* SPDX-License-Identifier: MIT */
/* What is known of programs, for the files that deal with them; and their runs, as the
 * tables of clients ask for them (program_run.c). */
#ifndef RR_PROGRAM_RUN_H
#define RR_PROGRAM_RUN_H

#include "ahead.h"
#include "answers.h"
#include "kept.h"
#include "product/product.h"
#include "programs.h"
#include "random_values.h"
#include "names.h"

enum { UNWAITED_MAX = 8 };

/* What is known of a command line. */
struct command_line {
	const char *const *argv;
	uint32_t clients; /* whose it is, as bits */
	struct rr_client_table table;
	struct rr_random_values values;
	size_t n_named; /* of them, that have names in terms */
	int n_namings;
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
	struct command_line lines[RR_PROGRAMS_MAX];
	struct command_line *line_of[RR_PROGRAMS_MAX];
	struct rr_client_table *tables[RR_PROGRAMS_MAX]; /* of each client */
	struct rr_kept_runs kept;
	struct rr_renaming own[RR_PROGRAMS_MAX]; /* the table's values and the client's,
						  * exchanged */
	bool is_verified[RR_PROGRAMS_MAX];       /* under that name a program did in a
					    * whole history what another did */
	bool has_own_tables;                     /* clients do different things */
	bool wants_own_tables, has_new_values;
	bool plays_order;     /* of clients, one after the other */
	bool has_wrong_names; /* a value that was given the name of another is not random; */
	int n_wrong_names;    /* so many times, */
	bool keeps_names;     /* until no name is given again */
	struct rr_endings endings;
	struct rr_intern ended;    /* states of tables in which a client has ended */
	struct unwaited *unwaited; /* by their numbers */
	struct rr_waiting waiting; /* what shows that a client only waits, in this search */
	bool change_data;          /* in any search */
	bool time_has_passed;      /* in the search: see rr_programs_compare_times() */
	uint32_t unlike[2];        /* endings of two clients with the same history */
	struct rr_tokens tokens;
	struct rr_kept kept_file; /* from another check */
	uint32_t (*ask)(void *ask_context, int server, const struct rl_command *command);
	void *ask_context; /* both the program's */
	struct rr_programs_figures figures;
	struct rr_learning_figures learned; /* before the time of day stood still, if that */
	bool is_taken_back;                 /* came to nothing */
	struct rr_error problem;
};

/* All clients, as bits. */
static inline uint32_t rr_programs_all(const struct rr_programs *programs)
{
	return (1U << programs->config.n_clients) - 1;
}

static inline struct rr_terms *rr_programs_terms(const struct rr_programs *programs)
{
	return programs->instances.program->terms;
}

/*
 * program_names.c, before a search. A client that draws a new value for each attempt never does
 * the same twice. But a value that is on no server, with no other client and not on its way is the
 * client's alone: to call it something else, and the next one by its name, changes nothing that
 * anybody can see. So values get names in terms where histories have no end; where they are is
 * an input of a client from then on (rr_input), and instances rename them. True: there are more
 * such names than before.
 */
bool rr_programs_name_values(struct rr_programs *programs);

/* Nothing is known of programs any more. */
void rr_programs_make_tables_anew(struct rr_programs *programs);

/* Has a program heard what it would not, were the scripts that servers know their state, or the
 * other way round? */
bool rr_programs_depend_on_scripts(const struct rr_programs *programs);

/* A run compares itself with what is known already; it may rename random values, or note
 * that clients do different things. */
extern const struct rr_run_ops rr_program_run_ops;

#endif
